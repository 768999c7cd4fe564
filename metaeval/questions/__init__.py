"""The questions of the command line as functions: plain strings in, a table with its signature and notes out."""
