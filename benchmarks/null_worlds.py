"""Worlds in which two metrics are exchangeable: how they are drawn, and how one is made worse.

A *pair* is a human score and two metrics on the same systems and segments, in standard deviations of each metric. It is
either simulated (`simulated_pair`: new systems, segments, annotators and metrics each time) or two metrics picked at
random from an evaluation set of the warehouse (`real_pair`). A null world is a pair in which fair coins decide which of
the two metrics is called A:

- `segments`: segments are drawn with replacement, and each drawn segment has a coin, which exchanges the two metrics'
  scores of all systems on it. Systems stay. Segments are independent and identically distributed, and each is as likely
  with A and B exchanged: over new segments of these systems, every statistic of A and of B has the same distribution.
- `documents`: the same with whole documents: they are drawn, and each has one coin.
- `systems`: each system has a coin, for all its segments. Segments stay. Over new systems on these segments A and B
  have the same distribution.
- `annotators`: the same with all segments that an annotator judged; simulated pairs only (`annotated_pair`).
- `both`: simulated pairs need no coin: the systems, the segments, and each metric's errors on them are drawn anew, by
  the same distribution for A and B. In real pairs, segments are drawn with replacement; a fixed half of the scores,
  chosen by fair coins, follows the coin of its system, the other half the coin of its segment. Turning all coins
  exchanges A and B, so they have the same distribution; the advantage of either comes partly from whole systems, partly
  from whole segments.

In each world the value of A minus the value of B is symmetric around 0, whatever the measure; a test that says
p ≤ .05 more often than in 5% of such worlds finds differences that are not there.

`worsened` makes B the worse metric, for power: noise of `effect` standard deviations of the metric is added to each of
its scores, and noise of `effect` standard deviations of its system means to each of its systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from metaeval.kernels.resampling.permutation import standardise
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options
from queries.blocks import Block
from queries.preferences import NOBODY, Preferences
from queries.selection import MetricChoice, Selection
from queries.slices import Slice

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Population = Literal["segments", "systems", "both", "documents", "annotators"]  # what is new
POPULATIONS: tuple[Population, ...] = get_args(Population)
N_SYSTEMS, N_SEGMENTS, DOCUMENT = 12, 300, 6
N_SHOWN, TIED = 5, 0.3  # outputs in a ranking, and how many standard deviations apart people tie them
N_ANNOTATORS, TASTE = 20, 0.3  # of a world; how much more annotators like what one of the metrics likes, in sds


@dataclass(frozen=True)
class Pair:
    """human (N, S), NaN = not judged; metrics (2, N, S); documents (S,), the document of each segment, in order.

    Whoever judges a document judges all of it, so if annotators matter, a document is everything that one has judged.

    places: (S,) places of the segments in the pair from which they were drawn; None = all, in order.
    """

    human: Floats
    metrics: Floats
    documents: Ints
    is_simulated: bool = False
    places: Ints | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(N systems, S segments)."""
        return int(self.human.shape[0]), int(self.human.shape[1])

    def of_segments(self, places: Ints, documents: Ints) -> Pair:
        """Some segments, in the given order, with these documents."""
        human, metrics = self.human[:, places], self.metrics[:, :, places]
        origin = places if self.places is None else self.places[places]
        return replace(self, human=human, metrics=metrics, documents=documents, places=origin)

    def exchanged(self, where: Bools) -> Pair:
        """The two metrics exchanged in some scores; `where` broadcasts to (N, S)."""
        return replace(self, metrics=np.where(where, self.metrics[::-1], self.metrics))


ALIKE = ((0.1, 0.2, 0.4, 0.6), (0.1, 0.2, 0.4, 0.6))  # errors of both metrics of system, document, segment, output


def simulated_pair(
    rng: np.random.Generator,
    n_systems: int = N_SYSTEMS,
    n_segments: int = N_SEGMENTS,
    own: Sequence[tuple[float, float, float, float]] = ALIKE,
) -> Pair:
    """Human scores count errors (most outputs have none, so ties are many); the two metrics partly share their errors.

    Documents have six segments; each is judged by one of four annotators, who have their own severity. Metrics see the
    quality of an output and each of its parts (system, document, segment, the output itself) with errors, of which they
    share half the variance. One metric is rounded to halves of a standard deviation of the quality, so it has ties,
    too.
    own: standard deviations of each metric's own errors.
    """
    documents = np.arange(n_segments) // DOCUMENT
    n_documents = int(documents[-1]) + 1

    def parts(system: float, document: float, segment: float, output: float) -> Floats:
        """(N, S) normal effects with these standard deviations."""
        return np.asarray(
            rng.normal(0, system, (n_systems, 1))
            + rng.normal(0, document, n_documents)[documents]
            + rng.normal(0, segment, n_segments)
            + rng.normal(0, output, (n_systems, n_segments)),
            dtype=np.float64,
        )

    quality = parts(0.3, 0.3, 0.5, 0.6)
    severity = rng.normal(0, 0.4, 4)[rng.integers(0, 4, n_documents)][documents]
    rate = np.exp(-0.9 - quality + severity)
    human = -(rng.poisson(rate) + 5.0 * rng.poisson(0.35 * rate))
    human = np.maximum(human, -25.0) + 0.0
    shared = parts(*ALIKE[0])
    metrics = np.stack([quality + shared + parts(*errors) for errors in own])
    if rng.random() < 0.5:
        metrics = np.round(2 * metrics) / 2
    return Pair(human, standardise(human, metrics), documents, is_simulated=True)


def annotated_pair(
    rng: np.random.Generator,
    n_annotators: int = N_ANNOTATORS,
    n_systems: int = N_SYSTEMS,
    own: Sequence[tuple[float, float, float, float]] = ALIKE,
) -> Pair:
    """`simulated_pair` in which each document is an annotator with their own taste, who judges more or fewer segments.

    An annotator prefers outputs that one of the metrics scores higher than the other: by their difference, in standard
    deviations, times a taste that favours each metric equally often.
    """
    sizes = np.maximum(1, np.rint(N_SEGMENTS / N_ANNOTATORS * rng.lognormal(-0.32, 0.8, n_annotators))).astype(int)
    annotators = np.repeat(np.arange(n_annotators), sizes)
    pair = simulated_pair(rng, n_systems, len(annotators), own)
    gap = pair.metrics[0] - pair.metrics[1]
    taste = rng.normal(0, TASTE, n_annotators)[annotators]
    human = pair.human + taste * gap / gap.std() * np.nanstd(pair.human)
    return replace(pair, human=human, documents=annotators)


def real_pair(human: Floats, metrics: Floats, documents: Ints, rng: np.random.Generator) -> Pair:
    """Two metrics of an evaluation set: human (N, S), metrics (M, N, S), documents (S,)."""
    chosen = rng.choice(len(metrics), 2, replace=False)
    return Pair(human, standardise(human, metrics[chosen]), documents)


def null_world(pair: Pair, population: Population, rng: np.random.Generator) -> Pair:
    """A world in which both metrics are exchangeable; see the top of this module."""
    n_systems, n_segments = pair.shape
    if population == "segments":
        drawn = pair.of_segments(rng.integers(0, n_segments, n_segments), np.arange(n_segments) // DOCUMENT)
        return drawn.exchanged(_coins(rng, n_segments))
    if population in ("documents", "annotators"):
        return _of_documents(pair, rng)
    if population == "systems":
        return pair.exchanged(_coins(rng, n_systems)[:, np.newaxis])
    if pair.is_simulated:
        return pair
    drawn = pair.of_segments(rng.integers(0, n_segments, n_segments), np.arange(n_segments))
    by_system, by_segment = _coins(rng, n_systems)[:, np.newaxis], _coins(rng, n_segments)
    return drawn.exchanged(np.where(_coins(rng, (n_systems, n_segments)), by_system, by_segment))


def worsened(world: Pair, effect: float, rng: np.random.Generator) -> Pair:
    """The pair with noise added to B; see the top of this module."""
    if effect == 0:
        return world
    metrics = world.metrics.copy()
    judged = ~np.isnan(world.human)
    means = np.where(judged, metrics[1], 0.0).sum(axis=1) / np.maximum(judged.sum(axis=1), 1)
    of_systems = rng.normal(0, effect * means.std(), (len(means), 1))
    metrics[1] += of_systems + rng.normal(0, effect, metrics[1].shape)
    return replace(world, metrics=metrics)


def _coins(rng: np.random.Generator, shape: int | tuple[int, int]) -> Bools:
    return np.asarray(rng.random(shape) < 0.5)


def _of_documents(pair: Pair, rng: np.random.Generator) -> Pair:
    """Documents drawn with replacement, each with a coin."""
    places, documents = documents_drawn(pair.documents, rng)
    return pair.of_segments(places, documents).exchanged(_coins(rng, int(documents[-1]) + 1)[documents])


def documents_drawn(documents: Ints, rng: np.random.Generator, n_drawn: int | None = None) -> tuple[Ints, Ints]:
    """Documents drawn with replacement, as many as there are: places of their segments, and each segment's document."""
    names, index = np.unique(documents, return_inverse=True)
    members = [np.flatnonzero(index == pick) for pick in rng.integers(0, len(names), n_drawn or len(names))]
    return np.concatenate(members), np.repeat(np.arange(len(members)), [len(one) for one in members])


def block_of(world: Pair) -> Block:
    """The world as the block that `compare` would read from a warehouse; with any number of metrics."""
    n_systems, n_segments = world.shape
    metrics = tuple(MetricChoice.made_up(f"metric {place}", place) for place in range(1, len(world.metrics) + 1))
    segments = tuple(range(1, n_segments + 1))
    documents = tuple(f"{number}" for number in world.documents)
    nothing = (None,) * n_segments
    systems = tuple(f"{number:03}" for number in range(n_systems))
    selection = Selection(
        Slice("world", "xx-yy"), 1, "human", 3, None, (), metrics, segments, nothing, documents, n_segments
    )
    return Block(
        selection,
        systems,
        np.array(segments),
        metrics,
        world.human,
        world.metrics,
        np.full(n_systems, np.nan),
        np.full((len(metrics), n_systems), np.nan),
        preferences=preferences_of(world.human, systems, world.places, world.documents),
    )


def preferences_of(
    human: Floats, systems: tuple[str, ...], places: Ints | None = None, annotators: Ints | None = None
) -> Preferences:
    """All pairs of a ranking of up to five outputs on each segment by their human scores; close scores tie.

    annotators: (S,) who ranked; None = not known. places: see `Pair`. Whenever a segment is drawn, the same outputs of
    it are ranked, so that a measure's expected value over drawn segments is its value over the segments that they are
    drawn from.
    """
    n_systems, n_segments = human.shape
    numbers = np.arange(n_segments) if places is None else places
    order = np.random.default_rng(n_systems).random((int(numbers.max()) + 1, n_systems)).argsort(axis=1)
    shown = order[numbers, :N_SHOWN]
    one, other = np.triu_indices(shown.shape[1], 1)
    first, second = shown[:, one].ravel(), shown[:, other].ravel()
    segment = np.repeat(np.arange(n_segments), one.size)
    gap = human[first, segment] - human[second, segment]
    answer = np.where(np.abs(gap) <= TIED * np.nanstd(human), 0, np.sign(np.nan_to_num(gap))).astype(np.int64)
    rater = np.full(segment.size, NOBODY) if annotators is None else np.asarray(annotators)[segment]
    raters = tuple(map(str, range(int(rater.max(initial=-1)) + 1)))
    here = Preferences(
        systems, raters, first, second, segment, segment, rater, answer, np.zeros(segment.size, dtype=np.bool_)
    )
    return here.only(~np.isnan(gap))


def options_of(measure: Measure, seed: int = 0) -> Options:
    """How `compare` computes the measure of a world."""
    return Options(system_score="judged-mean" if measure.level == "sys" else None, seed=seed)
