"""How often the interval of a gap to the anchor holds the truth, by the number of systems.

    python -m benchmarks.gap_coverage [N_WORLDS]

A world is N systems with normal human scores, and an anchor and eight metrics that see them through normal errors,
which they share in part. In half of the worlds each metric misjudges a system with a probability of 12%: its error
there is far larger. The truth is the difference of the population's values. For each measure and N, prints the share of
intervals that hold it, among defined intervals: there is none if leaving out any one system never changes the
difference.
"""

import sys
import time
from collections.abc import Iterator
from itertools import product

import numpy as np
import numpy.typing as npt

from metaeval.kernels.resampling.difference_tests import TOLERANCE, from_z, jackknife_test
from metaeval.kernels.resampling.resampled_statistics import accuracy_resample, system_resample

Floats = npt.NDArray[np.float64]
ERRORS = np.array([0.6, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9, 1.2])[:, np.newaxis]  # the anchor's first
MEASURES = ("pa", "pearson")
WORLDS = ("alike", "misjudged")
N_SYSTEMS = (4, 5, 6, 7, 8, 10, 12, 20)
POPULATION = 400_000


def scores(rng: np.random.Generator, n: int, world: str) -> tuple[Floats, Floats]:
    """Human (n,) and metric (M, n) scores of n systems."""
    human, shared = rng.normal(size=n), rng.normal(size=n)
    errors = ERRORS * (np.sqrt(0.4) * shared + np.sqrt(0.6) * rng.normal(size=(len(ERRORS), n)))
    if world == "misjudged":
        misjudged = rng.random((len(ERRORS), n)) < 0.12
        errors = 0.5 * errors
        errors[1:] += (2.0 * rng.normal(size=(len(ERRORS), n)) * misjudged)[1:]
    return human, human + errors


def truth(measure: str, world: str) -> Floats:
    """(M,) values in the population."""
    rng = np.random.default_rng(7)
    human, metrics = scores(rng, POPULATION, world)
    if measure == "pearson":
        return np.asarray(np.corrcoef(human, metrics)[0, 1:])
    other, others = scores(rng, POPULATION, world)
    return np.asarray(((human > other) == (metrics > others)).mean(axis=1))


def interval(measure: str, human: Floats, metrics: Floats) -> tuple[Floats, Floats]:
    """(M,) ends of the intervals of the gaps to the first metric, as in `trend`; NaN if there is none."""
    n = len(human)
    if measure == "pearson":
        tested = jackknife_test(
            system_resample(human[:, np.newaxis], metrics[..., np.newaxis], "pearson"), "systems", fisher=1
        )
    else:
        tested = jackknife_test(
            accuracy_resample(human[:, np.newaxis], metrics[..., np.newaxis]), "systems", pairs_once=True
        )
    reach = np.where(tested.reach[:, 0] > TOLERANCE, tested.reach[:, 0], np.nan)
    if measure == "pearson":
        return from_z(tested.values, 0, reach, n - 1, 1.0)
    gap = tested.values - tested.values[0]
    return gap - reach, gap + reach


def coverage(measure: str, world: str, n_systems: int, n_worlds: int, seed: int = 0) -> tuple[float, float]:
    """Share of the intervals that hold the truth, and share of gaps with an interval."""
    true = truth(measure, world)
    gap = (true - true[0])[1:]
    rng = np.random.default_rng([seed, n_systems])
    held, given = 0, 0
    for _ in range(n_worlds):
        low, high = (end[1:] for end in interval(measure, *scores(rng, n_systems, world)))
        held += int(np.count_nonzero((low <= gap) & (gap <= high)))
        given += int(np.count_nonzero(~np.isnan(low)))
    return held / given, given / (n_worlds * len(gap))


def rows(n_worlds: int) -> Iterator[tuple[str, str, int, float, float, float]]:
    for measure, world, n in product(MEASURES, WORLDS, N_SYSTEMS):
        started = time.process_time()
        yield measure, world, n, *coverage(measure, world, n, n_worlds), time.process_time() - started


def main() -> None:
    n_worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    print(f"{n_worlds} worlds of {len(ERRORS) - 1} gaps: share of intervals that hold the truth, share that is given")
    for measure, world, n, held, given, seconds in rows(n_worlds):
        print(f"{measure}, errors {world}, {n} systems: {held:.3f} {given:.3f} ({seconds:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
