"""Readers: one module per file format, and the search for the reader of a file."""
