"""Charts of answers, written to files and pages."""
