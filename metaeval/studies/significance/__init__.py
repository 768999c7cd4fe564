"""Significance tests of metrics against metrics (also two metrics in depth) and of systems against systems."""
