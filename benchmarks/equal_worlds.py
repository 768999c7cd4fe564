"""Worlds in which two metrics of different kinds are equally good: a measure's expected value is the same for both.

The metrics of `benchmarks.null_worlds` are exchangeable: they err alike. Two metrics may be equally good and yet err on
different systems or outputs; users ask whether one metric is as good as another, not whether the two are of the same
kind. Here a *pool* is a pair of metrics, from which worlds are drawn:

- `segments`: segments are drawn with replacement, as many as the evaluation set has, 300 of the pool's 900 where it is
  simulated. Systems stay.
- `documents`: the same with whole documents.
- `annotators`: the same with everything an annotator judged: 20 of the pool's 60 (`null_worlds.annotated_pair`).
- `systems`: 12 of the pool's 200 simulated systems; its 300 segments stay.
- `both`: 12 of the 200 systems, and 300 segments drawn with replacement.

Evaluation sets have too few systems to draw from, so `systems` and `both` exist for simulated data only.

The expected difference of the two metrics over such worlds is below `TOLERANCE` of its standard deviation from world to
world, found on `N_DRAWN` worlds (`spa`: by the limit of many sign vectors; what calibrating thresholds adds: on fewer).
On 200 of them it is known to .07 standard deviations; an error of that size makes a test find .051 instead of .050.
Pools are made in two ways:

- two metrics of an evaluation set are as good as each other by nature (of all its pairs, those that are);
- one of two is better and is made worse (`null_worlds.worsened`) by just enough noise: two metrics of an evaluation
  set, or two simulated ones, of which one errs more by system and the other more by output.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
from scipy.special import ndtr

from benchmarks.null_worlds import (
    DOCUMENT,
    N_ANNOTATORS,
    N_SEGMENTS,
    N_SYSTEMS,
    Floats,
    Ints,
    Pair,
    Population,
    annotated_pair,
    block_of,
    documents_drawn,
    options_of,
    simulated_pair,
    worsened,
)
from metaeval.kernels.resampling.permutation import standardise
from metaeval.measures.decisions import OutputMeasure
from metaeval.measures.measure import Measure
from metaeval.results.evaluation import Evaluation, evaluate

TOLERANCE = 0.05  # of the difference's standard deviation from world to world
#: Worlds on which the expected difference is known, and worlds that share a pool.
N_DRAWN = MappingProxyType({"segments": 1000, "documents": 500, "systems": 200, "both": 200, "annotators": 1000})
N_DRAWN_SOFT = 200  # of what takes long: spa, and decisions, whose thresholds are chosen anew
CALIBRATED = 50  # worlds on which tie thresholds are calibrated
SHARING = MappingProxyType({"segments": 10, "documents": 50, "systems": 10, "both": 10, "annotators": 10})
POOL_SYSTEMS, POOL_SEGMENTS, POOL_ANNOTATORS = 200, 900, 60
#: Own errors of system, document, segment and output: one metric prefers some systems, the other is noisy.
KINDS = ((0.15, 0.2, 0.4, 0.4), (0.05, 0.2, 0.4, 0.8))
MOST_NOISE, MOST_STEPS = 4.0, 12
SAME = 0.98  # metrics whose scores correlate more are one metric under two names

Draw = tuple[Ints | None, Ints | None]  # places of systems and of segments; None = all
Pools = Callable[[Measure, Population, int], Pair]


def n_drawn(measure: Measure, population: Population) -> int:
    """Number of worlds from which an expected difference is computed."""
    if measure.name == "brier":  # fitted anew in each
        return CALIBRATED
    takes_long = measure.name == "spa" or isinstance(measure, OutputMeasure)
    return min(N_DRAWN_SOFT, N_DRAWN[population]) if takes_long else N_DRAWN[population]


def draw(pool: Pair, population: Population, rng: np.random.Generator) -> tuple[Draw, Ints]:
    """Draw a world's systems and segments from the pool, with the documents of its segments."""
    n_systems, n_segments = pool.shape
    if population == "annotators":
        segments, annotators = documents_drawn(pool.documents, rng, N_ANNOTATORS)
        return (None, segments), annotators
    systems = rng.permutation(n_systems)[:N_SYSTEMS] if population in ("systems", "both") else None
    if population == "systems":
        return (systems, None), pool.documents
    size = N_SEGMENTS if pool.is_simulated else n_segments
    if population == "documents":
        segments, documents = documents_drawn(pool.documents, rng, size // DOCUMENT if pool.is_simulated else None)
        return (None, segments), documents
    return (systems, rng.integers(0, n_segments, size)), np.arange(size) // DOCUMENT


def drawn(pool: Pair, population: Population, rng: np.random.Generator) -> Pair:
    """A world of the pool."""
    (systems, segments), documents = draw(pool, population, rng)
    world = pool if segments is None else pool.of_segments(segments, documents)
    if systems is None:
        return world
    return replace(world, human=world.human[systems], metrics=world.metrics[:, systems])


@dataclass(frozen=True)
class Expected:
    """A measure of a pool's metrics on worlds that are drawn once and stay the same whatever noise the metrics get."""

    measure: Measure
    population: Population
    draws: tuple[Draw, ...]

    @classmethod
    def of(cls, pool: Pair, measure: Measure, population: Population, rng: np.random.Generator) -> Expected:
        """Draw new worlds of the pool."""
        n = n_drawn(measure, population)
        return cls(measure, population, tuple(draw(pool, population, rng)[0] for _ in range(n)))

    def values(self, pool: Pair) -> Floats:
        """(number of worlds, M) values.

        Tie thresholds are those of the first world; what calibrating them on each world adds on average is known from
        some worlds, and added to all.
        """
        if self.measure.name == "spa":
            return np.stack([_soft_limit(_part(pool, one)) for one in self.draws])
        options, epsilon = options_of(self.measure), None
        if self.measure.is_calibrated:
            epsilon = self._evaluated(pool, self.draws[0]).epsilon
        if self.population in ("segments", "annotators"):
            statistic = self.measure.resampled(block_of(pool), options, epsilon)
            drawn = [places for _, places in self.draws if places is not None]
            segments = np.full((len(drawn), max(map(len, drawn))), -1)  # -1 is none
            for row, places in zip(segments, drawn, strict=True):
                row[: len(places)] = places
            values = statistic.values(None, segments, len(self.draws))
        else:
            parts = (block_of(_part(pool, one)) for one in self.draws)
            kept = [self.measure.resampled(part, options, epsilon).values(None, None, 1) for part in parts]
            values = np.concatenate(kept)
        if epsilon is not None:
            calibrated = [self._evaluated(pool, one).value for one in self.draws[:CALIBRATED]]
            values = values + (np.stack(calibrated) - values[:CALIBRATED]).mean(axis=0)
        return values

    def _evaluated(self, pool: Pair, one: Draw) -> Evaluation:
        return evaluate(self.measure, block_of(_part(pool, one)), options_of(self.measure))

    def gap(self, pool: Pair) -> float:
        """Expected value of the first metric minus that of the second, in standard deviations of the difference.

        For recall the sign is reversed, as noise raises it: more and more outputs are called good.
        """
        first, second = self.values(pool).T[:: -1 if self.measure.name == "recall" else 1]
        return float(gaps(first[:, np.newaxis], second[:, np.newaxis])[0])


def gaps(first: Floats, second: Floats) -> Floats:
    """Mean differences of columns over their standard deviations; NaN if the columns are equal or not defined."""
    difference = first - second
    spread = np.nanstd(difference, axis=0)
    return np.divide(np.nanmean(difference, axis=0), spread, out=np.full(spread.shape, np.nan), where=spread > 1e-9)


def _part(pool: Pair, draw: Draw) -> Pair:
    systems, segments = draw
    part = pool if segments is None else pool.of_segments(segments, np.arange(len(segments)) // DOCUMENT)
    if systems is None:
        return part
    return replace(part, human=part.human[systems], metrics=part.metrics[:, systems])


def _soft_limit(world: Pair) -> Floats:
    """(M,) soft pairwise accuracy with normal p-values; faster than the kernel, which rounds with care."""
    scores = np.where(np.isnan(world.human), np.nan, np.concatenate([world.human[np.newaxis], world.metrics]))
    first, second = np.triu_indices(len(world.human), 1)
    distances = np.nan_to_num(scores[:, first] - scores[:, second])
    spread = np.sqrt(np.einsum("kps,kps->kp", distances, distances))
    p = ndtr(-distances.sum(axis=2) / np.where(spread > 0, spread, 1.0))
    return np.asarray(1.0 - np.abs(p[1:] - p[0]).mean(axis=1), dtype=np.float64)


def made_equal(pool: Pair, expected: Expected, rng: np.random.Generator) -> Pair | None:
    """The pool with noise on its better metric, which becomes the second; None if no amount of it makes them equal."""
    below = expected.gap(pool)
    if below > 0:
        pool, below = replace(pool, metrics=pool.metrics[::-1].copy()), -below
    seed = int(rng.integers(2**32))

    def noisy(effect: float) -> Pair:
        return worsened(pool, effect, np.random.default_rng(seed))

    low, high = 0.0, 0.25
    while not (above := expected.gap(noisy(high))) > 0:
        low, high, below = high, 2 * high, above
        if not high <= MOST_NOISE:
            return None
    for _ in range(MOST_STEPS):
        middle = low + (high - low) * min(max(below / (below - above), 0.1), 0.9)
        gap = expected.gap(noisy(middle))
        if abs(gap) < TOLERANCE / 2:
            return noisy(middle)
        if gap < 0:
            low, below = middle, gap
        else:
            high, above = middle, gap
    return None


def simulated_pool(measure: Measure, population: Population, number: int) -> Pair:
    """Two simulated metrics of different kinds that are equally good by the measure."""
    rng = np.random.default_rng([number, 0, 0, 2])
    shape = (N_SYSTEMS, POOL_SEGMENTS) if population in ("segments", "documents") else (POOL_SYSTEMS, N_SEGMENTS)
    while True:
        if population == "annotators":
            pool = annotated_pair(rng, POOL_ANNOTATORS, own=KINDS)
        else:
            pool = simulated_pair(rng, *shape, KINDS)
        found = made_equal(pool, Expected.of(pool, measure, population, rng), rng)
        if found is not None:
            return found


@dataclass(frozen=True)
class RealPools:
    """Pools of an evaluation set: human (N, S), metrics (M, N, S), documents (S,)."""

    human: Floats
    metrics: Floats
    documents: Ints
    known: dict[tuple[str, Population], list[tuple[int, int]]] = field(default_factory=dict)

    def __call__(self, measure: Measure, population: Population, number: int) -> Pair:
        """Every other pool of metrics that are equally good by nature, if there are any."""
        rng = np.random.default_rng([number, 0, 0, 3])
        natural = self.equal(measure, population) if number % 2 == 0 else []
        if natural:
            return self._pair(*natural[rng.integers(len(natural))])
        while True:
            pool = self.some(rng)
            found = made_equal(pool, Expected.of(pool, measure, population, rng), rng)
            if found is not None:
                return found

    def some(self, rng: np.random.Generator) -> Pair:
        """Any two metrics that are not the same metric under two names."""
        while True:
            first, second = rng.choice(len(self.metrics), 2, replace=False).tolist()
            if _differ(pool := self._pair(first, second)):
                return pool

    def equal(self, measure: Measure, population: Population) -> list[tuple[int, int]]:
        """The pairs of metrics whose expected values are equal."""
        key = (str(measure), population)
        if key not in self.known:
            every = Pair(self.human, standardise(self.human, self.metrics), self.documents)
            values = Expected.of(every, measure, population, np.random.default_rng(3)).values(every)
            first, second = np.triu_indices(len(self.metrics), 1)
            near = np.flatnonzero(np.abs(gaps(values[:, first], values[:, second])) < TOLERANCE)
            pairs = [(int(first[place]), int(second[place])) for place in near]
            self.known[key] = [pair for pair in pairs if _differ(self._pair(*pair))]
        return self.known[key]

    def _pair(self, first: int, second: int) -> Pair:
        return Pair(self.human, standardise(self.human, self.metrics[[first, second]]), self.documents)


def _differ(pair: Pair) -> bool:
    judged = ~np.isnan(pair.human)
    return float(np.corrcoef(pair.metrics[0][judged], pair.metrics[1][judged])[0, 1]) < SAME
