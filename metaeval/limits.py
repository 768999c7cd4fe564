"""Limits of numbers that are asked for, wherever that is; light, for the help of the commands."""


def in_words(least: float | None, most: float | None) -> str:
    """Limits of a number; empty where there are none.

    >>> in_words(1, 1024), in_words(0, None), in_words(None, 15)
    ('from 1 to 1,024', 'from 0 on', 'of at most 15')
    """
    if least is None:
        return "" if most is None else f"of at most {most:,}"
    return f"from {least:,} on" if most is None else f"from {least:,} to {most:,}"


MOST_DRAWS = 1_000_000
"""More resamples would not end."""
MOST_SIMULATED = 10_000
MOST_DECIMALS = 15
"""Those of a double."""
LEAST_SIMULATED = 20
"""Data sets, and resamples of each, below which a simulated power says nothing."""
