"""The score that marked errors make: minus the sum of their weights; of errors without weights, 5 for a major one."""

import math
from collections.abc import Iterable

OF_SEVERITY = {"minor": 1.0, "major": 5.0, "critical": 5.0}  # what an error without a weight counts, of a metric
DECIMALS = 9  # sums of weights such as 0.1 are rounded to so many, so that equal errors make equal scores


def score_of_errors(weights: Iterable[float | None]) -> float:
    """Minus the sum of the weights, in whatever order they stand; an error without a weight counts nothing.

    >>> score_of_errors([1.0, 0.1, 0.1]) == score_of_errors([0.1, 1.0, 0.1, None]) == -1.2
    True
    >>> score_of_errors([])
    0.0
    """
    return 0.0 - round(math.fsum(weight for weight in weights if weight is not None), DECIMALS)


def weight_of(severity: str | None) -> float | None:
    """What an error counts that has a severity and no weight; None where the severity is another.

    >>> weight_of("Major"), weight_of(" minor"), weight_of("undecided")
    (5.0, 1.0, None)
    """
    return OF_SEVERITY.get((severity or "").strip().lower())
