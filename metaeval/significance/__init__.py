"""Significance: metrics against metrics, two metrics in depth, systems against systems."""
