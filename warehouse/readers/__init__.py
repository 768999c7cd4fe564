"""Readers: one module per file format, and how a file finds its reader."""
