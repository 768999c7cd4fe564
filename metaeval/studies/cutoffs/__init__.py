"""Decisions by a threshold."""
