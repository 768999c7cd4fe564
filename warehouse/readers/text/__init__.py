"""Parsing of tables and values for readers of several formats."""
