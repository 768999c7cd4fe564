"""Split-half reliability of human scores of systems and outputs."""

from dataclasses import dataclass

import numpy as np

from metaeval.kernels.agreement.reliability import spearman_brown
from metaeval.kernels.arrays.checks import Floats
from metaeval.people.halves import RANGE, Halves, Judged, splits
from metaeval.system_scores import without_noise

NAN = float("nan")
FEWEST = 3  # systems, or outputs, with a score by both halves


@dataclass(frozen=True)
class Reliability:
    """Pearson's r of one half of the judgements with the other, over splits.

    r, low, high: mean and 2.5 and 97.5% quantiles over splits; NaN where no split has a value. n: what both halves
    scored, mean over splits.
    """

    r: float
    low: float
    high: float
    n: float

    @property
    def corrected(self) -> float:
        """Reliability of all judgements together, by Spearman and Brown; NaN where r is negative."""
        return float(spearman_brown(self.r))


def reliability(judged: Judged, seed: int, halves: Halves | None = None) -> tuple[Reliability, Reliability]:
    """The reliability of system scores and of output scores.

    A half's score of an output is the mean of its judgements, its score of a system the mean over its outputs' scores.
    System scores are compared over the systems that both halves judged, whatever segments they did; outputs over those
    that both judged. At least 3 are needed.
    """
    of_systems, of_outputs = [], []
    for first, second in splits(judged, seed, halves):
        of_systems.append(_agreement(_means(first), _means(second)))
        of_outputs.append(_agreement(first.ravel(), second.ravel()))
    return _over_splits(of_systems), _over_splits(of_outputs)


def _means(scores: Floats) -> Floats:
    """(N,) mean of each row's scores, NaN where there are none."""
    n = (~np.isnan(scores)).sum(axis=1)
    total = np.nansum(scores, axis=1)
    return np.asarray(np.divide(total, n, out=np.full(len(scores), np.nan), where=n > 0))


def _agreement(first: Floats, second: Floats) -> tuple[float, int]:
    """Pearson's r over what both scored, NaN where either is constant or both scored fewer than 3; and how many."""
    both = ~np.isnan(first) & ~np.isnan(second)
    n = int(both.sum())
    one, other = without_noise(first[both]), without_noise(second[both])
    if n < FEWEST or one.min() == one.max() or other.min() == other.max():
        return NAN, n
    return float(np.corrcoef(one, other)[0, 1]), n


def _over_splits(found: list[tuple[float, int]]) -> Reliability:
    r, n = np.array([one for one, _ in found]), np.array([one for _, one in found])
    r = r[~np.isnan(r)]
    if not r.size:
        return Reliability(NAN, NAN, NAN, float(n.mean()))
    low, high = np.quantile(r, RANGE)
    return Reliability(float(r.mean()), float(low), float(high), float(n.mean()))
