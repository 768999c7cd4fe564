"""Readers: one module a file format, and how a file finds its reader."""
