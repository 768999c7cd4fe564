"""Simulated histories of a sample of metrics: how often the interval of the slope over years misses the truth.

    python -m benchmarks.bench_progress [N_HISTORIES]

Metrics differ in quality for reasons that have nothing to do with their year. The same metrics return in many
evaluation sets; the oldest are in every campaign. A value is the pairwise accuracy of 8 to 16 systems. Part of the
error is shared by all metrics of a set, part by its older and part by its newer metrics. Metrics belong to families
published at about the same time, which may share half or most of the variance of their quality. For each number of
metrics and sets, spread of metrics, share of families and true slope, it prints the share of histories whose 95%
interval misses the true slope, with three kinds of intervals: families of metrics and sets as samples, single metrics
and sets as samples, and sets alone.
"""

import sys
import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.slopes import crossed_slope
from metaeval.kernels.agreement.studies import random_effects
from metaeval.studies.trends.within import weights_of_slope

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
MIDDLE, BASE = 2014, 0.8  # true accuracy of a metric of that year
NEWER = 2016
N_METRICS, N_SETS = (8, 20, 40), (3, 10, 40)
# standard deviation of metrics, share of its square that is of families, true slope
WORLDS = (
    *((0.007, 0.0, 0.0), (0.014, 0.0, 0.002), (0.042, 0.0, 0.0), (0.042, 0.0, 0.004)),
    *((0.042, 0.5, 0.0), (0.042, 0.8, 0.0), (0.014, 0.8, 0.0)),
)
FEWEST = 5
FAMILY_SIZES, FAMILY_YEARS = (1, 2, 3, 4, 6), 2.0


def design(rng: np.random.Generator, n_metrics: int, n_sets: int) -> tuple[Floats, Bools]:
    """Publication years (M,), and which metrics are in which set (S, M)."""
    n_old = max(2, int(0.3 * n_metrics))
    while True:
        old, new = rng.integers(2002, NEWER, n_old), rng.integers(NEWER, 2024, n_metrics - n_old)
        years = np.sort(np.concatenate([old, new])).astype(np.float64)
        years[0] = 2002
        n_campaigns = min(8, max(1, (n_sets + 4) // 5))
        campaigns = np.sort(rng.choice(np.arange(NEWER, 2024), n_campaigns, replace=False))
        campaigns[-1] = 2023
        of_set = rng.integers(0, n_campaigns, n_sets)
        there = np.zeros((n_sets, n_metrics), dtype=np.bool_)
        always = np.arange(n_metrics) < 3
        for number, year in enumerate(campaigns):
            enters = (years == year) | (years <= year) & (always | (rng.random(n_metrics) < 0.45))
            more = rng.permutation(np.flatnonzero((years <= year) & ~enters))[: max(0, FEWEST + 1 - int(enters.sum()))]
            enters[more] = True
            for place in np.flatnonzero(of_set == number):
                there[place] = enters & (always | (rng.random(n_metrics) < 0.92))
        enough = all(own.sum() >= FEWEST and len(set(years[own])) > 1 for own in there)
        if enough and there.any(axis=0).sum() >= 0.9 * min(n_metrics, 8):
            return years, there


def drawn_families(rng: np.random.Generator, years: Floats) -> Ints:
    """(M,) numbers of families: 1 to 6 metrics of about the same years."""
    found = np.empty(len(years), dtype=np.int64)
    order, place = np.argsort(years + rng.normal(0, FAMILY_YEARS, len(years))), 0
    for family in range(len(years)):
        size = int(rng.choice(FAMILY_SIZES))
        found[order[place : place + size]] = family
        place += size
    return found


def simulated(
    rng: np.random.Generator, n_metrics: int, n_sets: int, spread: float, slope: float, shared: float = 0.0
) -> tuple[Floats, Floats, Floats, Ints]:
    """Pairwise accuracies (S, M), NaN where a metric is not in a set, years (M,), systems (S,) and families (M,)."""
    years, there = design(rng, n_metrics, n_sets)
    (of_families,) = rng.spawn(1)
    families = drawn_families(of_families, years)
    alike = of_families.normal(0, spread, n_metrics)[families]
    off = np.sqrt(shared) * alike + np.sqrt(1 - shared) * rng.normal(0, spread, n_metrics)
    true = np.clip(BASE + slope * (years - MIDDLE) + off, 0.55, 0.985)
    noise = np.sqrt(1 / np.sin((true - 0.5) * np.pi) ** 2 - 1)  # of normal scores with that accuracy
    values, n_systems = np.full(there.shape, np.nan), rng.integers(8, 17, n_sets).astype(np.float64)
    for place, n in enumerate(n_systems.astype(int)):
        human, shared, of_age = rng.normal(size=n), rng.normal(size=n), rng.normal(size=(2, n))
        own = rng.normal(size=(n_metrics, n))
        errors = np.sqrt(0.3) * (shared + of_age[(years >= NEWER).astype(int)]) + np.sqrt(0.4) * own
        scores = human + noise[:, np.newaxis] * errors
        first, second = np.triu_indices(n, 1)
        right = (human[first] > human[second]) == (scores[:, first] > scores[:, second])
        values[place, there[place]] = right.mean(axis=1)[there[place]]
    return values, years, n_systems, families


def misses(values: Floats, years: Floats, n_systems: Floats, families: Ints, slope: float) -> tuple[bool, ...]:
    """Whether each interval misses the true slope: over families, over single metrics, and with the metrics fixed."""
    scales = n_systems.mean() / n_systems
    of_families, sampled = (crossed_slope(values, years, scales, labels).pooled for labels in (families, None))
    weights = [weights_of_slope(years[~np.isnan(own)]) for own in values]
    slopes = [float(c @ own[~np.isnan(own)]) for c, own in zip(weights, values, strict=True)]
    given = random_effects(slopes, [0.02 * float(c @ c) / n for c, n in zip(weights, n_systems, strict=True)])
    return tuple(found.low > slope or found.high < slope for found in (of_families, sampled, given))


def shares(
    n_histories: int, n_metrics: int, n_sets: int, spread: float, slope: float, shared: float = 0.0, seed: int = 0
) -> tuple[float, float, float]:
    """Shares of histories whose intervals miss the true slope, as of `misses`."""
    rng = np.random.default_rng([seed, n_metrics, n_sets, round(1000 * spread), round(1000 * slope)])
    found = [misses(*simulated(rng, n_metrics, n_sets, spread, slope, shared), slope) for _ in range(n_histories)]
    of_families, sampled, given = np.mean(found, axis=0)
    return float(of_families), float(sampled), float(given)


def rows(n_histories: int) -> Iterator[tuple[int, int, float, float, float, tuple[float, float, float], float]]:
    for n_metrics in N_METRICS:
        for n_sets in N_SETS:
            for spread, shared, slope in WORLDS:
                started = time.process_time()
                found = shares(n_histories, n_metrics, n_sets, spread, slope, shared)
                yield n_metrics, n_sets, spread, shared, slope, found, time.process_time() - started


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    print(f"{n} histories; share of 95% intervals that miss the true slope: by family, each metric, these metrics")
    for n_metrics, n_sets, spread, shared, slope, found, seconds in rows(n):
        where = f"{n_metrics} metrics, {n_sets} sets, spread {spread}, of families {shared}, slope {slope}"
        print(f"{where}: {' '.join(f'{one:.3f}' for one in found)} ({seconds:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
