"""Split-half reliability of human scores: judgements split at random into two halves that score outputs and systems."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.reliability import spearman_brown
from metaeval.kernels.arrays.checks import Floats, Ints, ratio
from metaeval.kernels.resampling.draws import half_of_annotators, half_of_judgements
from metaeval.measures.system_scores import without_noise

Halves = Literal["annotators", "judgements"]
N_SPLITS = 100
RANGE = (0.025, 0.975)  # of values over splits
FEWEST_RATERS = 4  # with fewer, single judgements are split
_STREAM = 6  # of the seed


@dataclass(frozen=True)
class Judgements:
    """Judgements of outputs: rows (systems) and columns (segments) of a grid of this shape, values, annotators.

    raters: numbers from 0 without gaps; None if some annotators are unknown.
    """

    rows: Ints
    columns: Ints
    values: Floats
    raters: Ints | None
    shape: tuple[int, int]

    @property
    def n_raters(self) -> int:
        return 0 if self.raters is None else int(self.raters.max(initial=-1)) + 1

    @property
    def halves(self) -> Halves:
        """What is split: annotators if there are at least 4 and all are known, else single judgements."""
        return "annotators" if self.n_raters >= FEWEST_RATERS else "judgements"

    @property
    def outputs(self) -> Ints:
        return self.rows * self.shape[1] + self.columns

    def means(self, chosen: npt.NDArray[np.bool_]) -> Floats:
        """(N, S) means of some of the judgements; NaN where an output has none."""
        size = self.shape[0] * self.shape[1]
        n = np.bincount(self.outputs[chosen], minlength=size)
        total = np.bincount(self.outputs[chosen], self.values[chosen], minlength=size)
        return ratio(total, n).reshape(self.shape)


def numbered(raters: Sequence[str | None]) -> Ints | None:
    """The number of each judgement's annotator; None if some are unknown."""
    number = {rater: place for place, rater in enumerate(dict.fromkeys(raters))}
    return None if None in number else np.array([number[rater] for rater in raters], dtype=np.int64)


def normalised(values: Floats, raters: Ints) -> Floats:
    """z-scores by annotator: 0 if an annotator's judgements are all equal."""
    n = np.bincount(raters)
    mean = (np.bincount(raters, values) / n)[raters]
    sd = np.sqrt(np.bincount(raters, (values - mean) ** 2) / n)[raters]
    return np.divide(values - mean, sd, out=np.zeros_like(values), where=sd > 0)


def splits(judged: Judgements, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """The (N, S) scores of both halves in each of 100 random splits.

    Judgements of one output are divided evenly between the halves.
    """
    rng = np.random.default_rng([seed, _STREAM])
    raters = judged.raters if judged.halves == "annotators" else None
    for _ in range(N_SPLITS):
        first = half_of_judgements(rng, judged.outputs) if raters is None else half_of_annotators(rng, raters)
        yield judged.means(first), judged.means(~first)


NAN = float("nan")
FEWEST = 3  # systems, or outputs, with a score by both halves


@dataclass(frozen=True)
class Reliability:
    """Pearson's r between the two halves of the judgements, over splits.

    r, low, high: mean and 2.5 and 97.5% quantiles over splits; NaN if no split has a value. n: number of systems or
    outputs that both halves scored, mean over splits.
    """

    r: float
    low: float
    high: float
    n: float

    @property
    def corrected(self) -> float:
        """Reliability of all judgements together, by the Spearman-Brown formula; NaN if r is negative."""
        return float(spearman_brown(self.r))


def reliability(judged: Judgements, seed: int) -> tuple[Reliability, Reliability]:
    """The reliability of system scores and of output scores.

    A half scores an output by the mean of its judgements, and a system by the mean of its output scores. System scores
    are compared over the systems that both halves judged, even on different segments; output scores over the outputs
    that both judged. At least 3 are needed.
    """
    of_systems, of_outputs = [], []
    for first, second in splits(judged, seed):
        of_systems.append(_agreement(_means(first), _means(second)))
        of_outputs.append(_agreement(first.ravel(), second.ravel()))
    return _over_splits(of_systems), _over_splits(of_outputs)


def _means(scores: Floats) -> Floats:
    """(N,) mean of each row's scores, NaN if it has none."""
    return ratio(np.nansum(scores, axis=1), (~np.isnan(scores)).sum(axis=1))


def _agreement(first: Floats, second: Floats) -> tuple[float, int]:
    """Pearson's r over what both scored (NaN if either is constant or there are fewer than 3), and their number."""
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
