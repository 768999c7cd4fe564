"""Limits of numbers that are asked for, wherever that is; light, for the help of the commands."""

MOST_DRAWS = 1_000_000
"""More resamples would not end."""
MOST_SIMULATED = 10_000
MOST_DECIMALS = 15
"""Those of a double."""
LEAST_SIMULATED = 20
"""Data sets, and resamples of each, below which a simulated power says nothing."""
