"""Limits of the numbers that a question takes, wherever it is asked; light, for the help of the commands."""

LEAST = {"draws": 1, "seed": 0, "round_human": 0, "n_threads": 1}
"""Numbers that have a least value."""
MOST = {"draws": 1_000_000, "simulations": 10_000, "points": 10_000, "n_threads": 1024, "round_human": 15}
"""Greatest values: of what sizes the work, since more would not end or find no memory; and the decimals of a double."""
LEAST_SIMULATED = 20
"""Data sets, and resamples of each, below which a simulated power says nothing."""
