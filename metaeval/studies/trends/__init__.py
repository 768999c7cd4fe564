"""Trends of a measure over the years: gaps and slopes on the same data, and bridges between protocols."""
