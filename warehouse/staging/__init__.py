"""Staging of evaluation sets: names are joined, segments placed, and everything is checked."""
