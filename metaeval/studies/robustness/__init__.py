"""Robustness of measures: what noise in a metric does to its value, and how oracles made of errors are ordered."""
