"""Precision, recall and F of sums over outputs."""

from typing import Literal

import numpy as np

from metaeval.kernels.arrays.checks import Floats

Average = Literal["micro", "macro"]


def averaged(sums: Floats, average: Average) -> Floats:
    """What is added up over outputs: (..., 4) sums as they are, or for macro precision, recall, F and 1 of each.

    Macro: an output without any span has 1, 1, 1, one with predictions alone 0, 1, 0, with gold spans alone 1, 0, 0.
    """
    if average == "micro":
        return sums
    p, r, f = rates(sums, "micro")
    return np.stack([p, r, f, np.ones(p.shape)], axis=-1)


def rates(totals: Floats, average: Average) -> tuple[Floats, Floats, Floats]:
    """Precision, recall and F of (..., 4) totals of `averaged`.

    An empty denominator gives 1; F is 0 where precision and recall are. Macro: NaN of no outputs.
    """
    if average == "macro":
        n = totals[..., 3]
        p, r, f = (np.divide(totals[..., at], n, out=np.full(n.shape, np.nan), where=n > 0) for at in range(3))
        return p, r, f
    p, r = (
        np.divide(totals[..., at], totals[..., at + 1], out=np.ones(totals.shape[:-1]), where=totals[..., at + 1] > 0)
        for at in (0, 2)
    )
    return p, r, np.divide(2 * p * r, p + r, out=np.zeros(p.shape), where=p + r > 0)
