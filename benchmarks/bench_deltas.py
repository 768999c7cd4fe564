"""Simulated pairs of systems: how often the interval of the difference for 80, 90 or 95% agreement holds the truth.

    python -m benchmarks.bench_deltas [N_WORLDS]

In each world a metric scores the systems of some evaluation sets. Human scores are the metric's times a slope, plus an
error of each system with a Gumbel distribution. The difference of two such errors is logistic, so the true
agreement at a difference x is 1 / (1 + exp(-slope * x)) exactly, while pairs that share a system depend on each other.
With `spread` the slope differs between sets (log-normal), and the truth is the mean over sets.
"""

import math
import sys
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.kernels.resampling.agreement_curve import PairsOfSet, agreement_thresholds

Floats = npt.NDArray[np.float64]
LEVELS = (0.8, 0.9, 0.95)
N_DRAWS = 300


@dataclass(frozen=True)
class World:
    """n_sets of n_systems; metric: standard deviation of a metric's system scores. spread: of the log of slopes."""

    n_sets: int
    n_systems: int = 12
    metric: float = 1.5
    spread: float = 0.0


WORLDS = (World(24), World(24, spread=0.4), World(10), World(10, spread=0.4), World(5), World(40, n_systems=8))


def truths(world: World) -> Floats:
    """The differences at which the true curve reaches each level, by bisection over the mean curve of many slopes."""
    slopes = np.exp(world.spread * np.random.default_rng(0).normal(size=20_001 if world.spread else 1))
    found = []
    for level in LEVELS:
        low, high = 0.0, 100.0
        for _ in range(60):
            middle = (low + high) / 2
            reached = float(np.mean(1 / (1 + np.exp(-slopes * middle)))) >= level
            low, high = (low, middle) if reached else (middle, high)
        found.append(high)
    return np.array(found)


def drawn(world: World, rng: np.random.Generator) -> list[PairsOfSet]:
    """Draw one world."""
    sets = []
    first, second = np.triu_indices(world.n_systems, 1)
    for _ in range(world.n_sets):
        metric = rng.normal(0, world.metric, world.n_systems)
        slope = math.exp(world.spread * rng.normal())
        human = slope * metric + rng.gumbel(size=world.n_systems)
        gaps = metric[first] - metric[second]
        agrees = np.sign(gaps) == np.sign(human[first] - human[second])
        sets.append(PairsOfSet(world.n_systems, first, second, np.abs(gaps), agrees))
    return sets


def held(world: World, n_worlds: int) -> tuple[Floats, Floats, Floats]:
    """Share of worlds whose interval holds the truth, median interval width over the truth, median estimate over it."""
    truth, inside, widths, estimates = truths(world), [], [], []
    for number in range(n_worlds):
        rng = np.random.default_rng([7, number])
        found = agreement_thresholds(drawn(world, rng), LEVELS, rng=rng, n_draws=N_DRAWS, n_grid=2).thresholds
        low = np.array([one.low for one in found])
        high = np.array([np.inf if math.isnan(one.high) else one.high for one in found])
        inside.append((np.where(np.isnan(low), np.inf, low) <= truth) & (truth <= high))
        widths.append((high - low) / truth)
        estimates.append(np.array([np.inf if math.isnan(one.difference) else one.difference for one in found]) / truth)
    return np.mean(inside, axis=0), np.median(widths, axis=0), np.median(estimates, axis=0)


def main() -> None:
    n_worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print("| sets | systems | spread of slopes | held 80 / 90 / 95% | width | estimate |")
    print(f"|{' --- |' * 6}")
    started = time.process_time()
    for world in WORLDS:
        columns = (" / ".join(f"{value:.3f}" for value in found) for found in held(world, n_worlds))
        print(f"| {world.n_sets} | {world.n_systems} | {world.spread} | {' | '.join(columns)} |", flush=True)
    print(f"{n_worlds} worlds each, {time.process_time() - started:.0f} s of CPU; widths and estimates over the truth")


if __name__ == "__main__":
    main()
