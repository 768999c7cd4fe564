"""The score that marked errors make: minus the sum of their weights."""

import math
from collections.abc import Iterable

DECIMALS = 9  # sums of weights such as 0.1 are rounded to so many, so that equal errors make equal scores


def score_of_errors(weights: Iterable[float | None]) -> float:
    """Minus the sum of the weights, in whatever order they stand; an error without a weight counts nothing.

    >>> score_of_errors([1.0, 0.1, 0.1]) == score_of_errors([0.1, 1.0, 0.1, None]) == -1.2
    True
    >>> score_of_errors([])
    0.0
    """
    return 0.0 - round(math.fsum(weight for weight in weights if weight is not None), DECIMALS)
