"""How often a protocol's overall score differs "significantly" between two metrics that are equally good by it.

    python -m benchmarks.overall_levels                         # simulated, 300 worlds of each null
    python -m benchmarks.overall_levels --db all.duckdb -n 1000 # and WMT23 en-de, he-en

Worlds are of new segments: those of `benchmarks.equal_worlds`, where the expected *overall score* of the two metrics is
the same, and those of `benchmarks.null_worlds`, where the metrics are exchangeable. The score is the mean of pairwise
accuracy, Pearson of systems and Pearson of outputs, correlations as (r + 1) / 2. Each world is tested by swapping
segments in all tasks together, and by the standard deviation of resamples that all tasks share.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.equal_worlds import KINDS, POOL_SEGMENTS, SHARING, Expected, RealPools, drawn, gaps, made_equal
from benchmarks.levels import ALPHA, sources
from benchmarks.null_worlds import N_SYSTEMS, Floats, Pair, block_of, null_world, options_of, simulated_pair
from metaeval.kernels.resampling.difference_tests import bootstrap_test
from metaeval.kernels.resampling.joint import JointResample, joint_swap
from metaeval.kernels.resampling.permutation import permutation_test
from metaeval.measures.registry import parse_measure

TASKS = ((parse_measure("pa"), 1.0), (parse_measure("pearson"), 0.5), (parse_measure("pearson(by=none)"), 0.5))
DRAWS = 199


@dataclass(frozen=True)
class ExpectedOverall:
    """The overall score of a pool's metrics on worlds that are drawn once; replaces `Expected`."""

    tasks: Sequence[tuple[Expected, float]]

    def gap(self, pool: Pair) -> float:
        first, second = sum(weight * expected.values(pool) for expected, weight in self.tasks).T
        return float(gaps(first[:, np.newaxis], second[:, np.newaxis])[0])


def equal_pool(pair: Callable[[np.random.Generator], Pair], number: int) -> Pair:
    """Two metrics whose expected overall score is the same."""
    rng = np.random.default_rng([number, 0, 0, 5])
    while True:
        pool = pair(rng)
        expected = Expected.of(pool, TASKS[0][0], "segments", rng)
        overall = ExpectedOverall([(replace(expected, measure=measure), weight) for measure, weight in TASKS])
        found = made_equal(pool, overall, rng)  # type: ignore[arg-type]
        if found is not None:
            return found


def p_values(world: Pair, rng: np.random.Generator) -> tuple[float, float]:
    """Two-sided p by joint swaps, and by joint resamples."""
    block, n_segments = block_of(world), world.shape[1]
    weights, places = [weight for _, weight in TASKS], [np.arange(n_segments)] * len(TASKS)
    options = [options_of(measure) for measure, _ in TASKS]
    swaps = [measure.swapped(block, "inputs", one, None) for (measure, _), one in zip(TASKS, options, strict=True)]
    resamples = [measure.resampled(block, one, None) for (measure, _), one in zip(TASKS, options, strict=True)]
    found = (
        permutation_test(
            joint_swap(swaps, weights, places, n_segments), rng=rng, n_draws=DRAWS, alternative="two-sided"
        ).p,
        bootstrap_test(
            JointResample(resamples, weights, places, n_segments), rng=rng, n_draws=DRAWS, alternative="two-sided"
        ).p,
    )
    return float(found[0][0, 1]), float(found[1][0, 1])


def _simulated(rng: np.random.Generator) -> Pair:
    return simulated_pair(rng, N_SYSTEMS, POOL_SEGMENTS, KINDS)


def equal(pair: Callable[[np.random.Generator], Pair], n_worlds: int) -> Iterator[Pair]:
    """Worlds of two metrics whose expected overall score is the same."""
    for number in range(n_worlds):
        if number % SHARING["segments"] == 0:
            pool = equal_pool(pair, number)
        yield drawn(pool, "segments", np.random.default_rng([number, 0, 0, 6]))


def exchangeable(pair: Callable[[np.random.Generator], Pair], n_worlds: int) -> Iterator[Pair]:
    """Worlds of two metrics whose errors have the same distribution."""
    for number in range(n_worlds):
        rng = np.random.default_rng([number, 0, 0, 7])
        yield null_world(pair(rng), "segments", rng)


def shares(worlds: Iterator[Pair]) -> Floats:
    """Shares of worlds with p ≤ .05, by either test."""
    found = [p_values(world, np.random.default_rng([number, 0, 0, 8])) for number, world in enumerate(worlds)]
    return np.asarray((np.array(found) <= ALPHA).mean(axis=0))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--db", type=Path)
    parser.add_argument("-n", type=int, default=300)
    asked = parser.parse_args()
    for name, source in sources(asked.db).items():
        pools = source.equal
        kinds = equal(pools.some if isinstance(pools, RealPools) else _simulated, asked.n)
        for null, worlds in (("equal", kinds), ("exchangeable", exchangeable(source.any, asked.n))):
            swapped, resampled = shares(worlds)
            print(
                f"{name}, {null}: of {asked.n} joint swaps {swapped:.3f}, joint resamples {resampled:.3f}", flush=True
            )


if __name__ == "__main__":
    main()
