"""How often 95% intervals over new systems hold the value over all systems, when there are few systems.

    python -m benchmarks.few_systems [N_WORLDS]

A world is N systems with a human and a metric score each. Both are `normal`; or the metric's error is four times as
large for one system in ten (`misjudged`); or human scores have a long tail of bad systems (`skewed`). The truth is the
measure on 20,000 systems (pairs: 2,000). docs/levels.md has the shares.
"""

import sys
from collections.abc import Mapping
from functools import cache

import numpy as np

from benchmarks.null_worlds import Floats
from metaeval.kernels.agreement.correlation import Correlation, system_correlation
from metaeval.kernels.agreement.systems import pairwise_accuracy
from metaeval.kernels.resampling.prepared import Kind, ResampleStatistic
from metaeval.kernels.resampling.resampled_statistics import accuracy_resample, system_resample
from metaeval.kernels.resampling.system_intervals import interval_over_systems

KINDS: Mapping[str, Kind] = {"pearson": "linear", "spearman": "ranks", "kendall": "pairs", "pa": "pairs"}
SHAPES = ("normal", "misjudged", "skewed")
SIZES = (6, 8, 12, 20)
TRUE = (0.6, 0.9, 0.97)
MANY, MANY_PAIRS = 20_000, 2_000


def world(shape: str, r: float, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Human and metric scores of n systems. r: their correlation if both are normal."""
    human, error = rng.normal(size=n), rng.normal(size=n)
    if shape == "misjudged":
        error = np.where(rng.random(n) < 0.1, 4 * error, error)
    if shape == "skewed":
        human = -np.exp(0.8 * human)
        human = (human + np.exp(0.32)) / np.sqrt((np.exp(0.64) - 1) * np.exp(0.64))
    return human, human + np.sqrt(1 / r**2 - 1) * error


@cache
def truth(measure: str, shape: str, r: float) -> float:
    """The value over all systems."""
    rng = np.random.default_rng([1, SHAPES.index(shape), round(100 * r)])
    if measure in ("pearson", "spearman"):
        human, metric = world(shape, r, MANY, rng)
        return float(system_correlation(human, metric[np.newaxis], measure)[0])  # type: ignore[arg-type]
    human, metric = world(shape, r, MANY_PAIRS, rng)
    found = float(pairwise_accuracy(human, metric[np.newaxis], "organisers").accuracy[0])
    return found if measure == "pa" else 2 * found - 1


def statistic(measure: str, human: Floats, metric: Floats) -> ResampleStatistic:
    """The measure on system scores."""
    columns = human[:, np.newaxis], metric[np.newaxis, :, np.newaxis]
    if measure == "pa":
        return accuracy_resample(*columns)
    name: Correlation = measure  # type: ignore[assignment]
    return system_resample(*columns, name)


def share_held(measure: str, n: int, shape: str, r: float, n_worlds: int) -> float:
    """The share of intervals that hold the truth."""
    rng = np.random.default_rng([2, n, SHAPES.index(shape), round(100 * r)])
    n_held, true = 0, truth(measure, shape, r)
    for _ in range(n_worlds):
        one = statistic(measure, *world(shape, r, n, rng))
        low, high = interval_over_systems(one, KINDS[measure], is_share=measure == "pa")
        n_held += bool(low[0] <= true <= high[0])
    return n_held / n_worlds


def main(n_worlds: int) -> None:
    """Print the shares, for true correlations from low to high."""
    for shape in SHAPES:
        for measure in KINDS:
            for n in SIZES:
                shares = [f"{share_held(measure, n, shape, r, n_worlds):.3f}" for r in TRUE]
                print(f"{shape}, {measure}, {n} systems: {', '.join(shares)}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
