"""Charts of answers, put into files and pages."""
