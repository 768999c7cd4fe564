"""Simulated histories: how often the interval of a trend holds the truth, and how often a trend is found without one.

    python -m benchmarks.bench_trends [N_HISTORIES]

A history is two dozen evaluation sets over twelve years. Each metric sees the human scores of systems through noise
that it partly shares with the others; with progress, metrics published later see them better. Prints the share of
histories whose interval of the slope within the data holds the true slope, the share whose interval excludes 0, and the
share of tests of the yearly gap, within one protocol, that find a trend at 5%. All metrics of a year are equally good;
`bench_progress` has those that are not.
"""

import sys
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.correlation import system_correlation
from metaeval.kernels.agreement.slopes import year_trend
from metaeval.kernels.agreement.studies import random_effects
from metaeval.measures.options import Options, TestOptions
from metaeval.measures.registry import parse_measure
from metaeval.studies.trends.gaps import pool_gaps
from metaeval.studies.trends.history import Entry, History, SetHistory
from metaeval.studies.trends.points import Context, Point
from metaeval.studies.trends.within import within
from queries.slices import Slice

Floats = npt.NDArray[np.float64]
YEARS = tuple(range(2012, 2024))
SETS_A_YEAR = 2
PUBLISHED = (2002, 2006, 2010, 2014, 2016, 2018, 2019, 2020)
BASE, SHARED = 0.75, 0.5  # correlation of a metric of 2012, and the share of its noise that all metrics have
N_DRAWS = 200


@dataclass(frozen=True)
class World:
    """progress: change of a metric's true correlation for each year of publication. drift: of the gap of the newest
    metric to the anchor (the oldest) for each year of the evaluation set. protocol_step: of every metric's correlation
    from the seventh year on, when the human protocol changes.
    """

    progress: float = 0.0
    drift: float = 0.0
    protocol_step: float = 0.0


def qualities(world: World, year: int) -> Floats:
    """True correlation of each metric with human scores in one year."""
    found = BASE + world.progress * (np.array(PUBLISHED, dtype=np.float64) - 2012)
    found[-1] += world.drift * (year - YEARS[0])
    return np.clip(found + (world.protocol_step if year >= YEARS[6] else 0.0), 0.0, 0.98)


def scores(rng: np.random.Generator, world: World, year: int) -> tuple[Floats, Floats]:
    """Human (N,) and metric (M, N) system scores of one evaluation set."""
    n = int(rng.integers(9, 16))
    human, shared = rng.normal(size=n), rng.normal(size=n)
    true = qualities(world, year)[:, np.newaxis]
    noise = np.sqrt(SHARED) * shared + np.sqrt(1 - SHARED) * rng.normal(size=(len(true), n))
    return human, true * human + np.sqrt(1 - true**2) * noise


def resampled_pearson(rng: np.random.Generator, human: Floats, metrics: Floats, n_draws: int) -> Floats:
    """(M, n) correlations on resampled systems: the program's bootstrap, for all draws at once."""
    picks = rng.integers(0, len(human), (n_draws, len(human)))
    h, m = human[picks], metrics[:, picks]  # (n, N), (M, n, N)
    h, m = h - h.mean(axis=1, keepdims=True), m - m.mean(axis=2, keepdims=True)
    draws: Floats = (m * h).sum(axis=2) / np.sqrt((m**2).sum(axis=2) * (h**2).sum(axis=1))
    return draws[:, np.isfinite(draws).all(axis=0)]


def simulated_point(rng: np.random.Generator, world: World, year: int, lp: str, n_draws: int = N_DRAWS) -> Point:
    human, metrics = scores(rng, world, year)
    values = system_correlation(human, metrics, "pearson")
    draws = resampled_pearson(rng, human, metrics, n_draws)
    low, high = np.quantile(draws, (0.025, 0.975), axis=1)
    gap_low, gap_high = np.quantile(draws - draws[0], (0.025, 0.975), axis=1)
    names = tuple(f"m{one}" for one in PUBLISHED)
    return Point(
        testset=f"wmt{year % 100}",
        lp=lp,
        human="mqm" if world.protocol_step and year >= YEARS[6] else "wmt-z",
        bridge=None,
        measure="pearson",
        metrics=names,
        base_names=names,
        reference_free=(False,) * len(names),
        value=values,
        low=low,
        high=high,
        anchor=names[0],
        gap=values - values[0],
        gap_low=gap_low,
        gap_high=gap_high,
        gap_error=(draws - draws[0]).std(axis=1, ddof=1),
        gap_p=np.full(len(names), np.nan),
        covariance=np.cov(draws),
        excluded={},
        context=Context(len(human), 0, float(human.std(ddof=1)), np.nan, np.nan, np.nan),
        ceiling=None,
        signature="simulated",
        notes=(),
    )


def simulated_history(rng: np.random.Generator, world: World, n_draws: int = N_DRAWS) -> History:
    entries = tuple(
        Entry(one.testset, one.lp, year, SetHistory((one,), None, "simulated"))
        for year in YEARS
        for lp in [f"en-{letter}" for letter in "ab"[:SETS_A_YEAR]]
        for one in [simulated_point(rng, world, year, lp, n_draws)]
    )
    return History(
        asked=Slice("all", "all"),
        measure=parse_measure("pearson"),
        options=Options(),
        testing=TestOptions(),
        anchor="m2002",
        entries=entries,
    )


def published() -> tuple[tuple[str, int], ...]:
    return tuple((f"m{year}", year) for year in PUBLISHED)


def true_slope(world: World, n: int = 40_000) -> float:
    """Expected slope of an evaluation set over publication years, by simulation: correlations of few systems are on
    average a little smaller than the true ones.
    """
    rng = np.random.default_rng(99)
    x = np.array(PUBLISHED) - np.mean(PUBLISHED)
    weights = x / (x**2).sum()
    slopes = []
    for k in range(n):
        human, metrics = scores(rng, world, YEARS[k % len(YEARS)])
        slopes.append(float(weights @ system_correlation(human, metrics, "pearson")))
    return float(np.mean(slopes))


def trend_ps(found: History, rng: np.random.Generator) -> list[float]:
    """p of the newest metric's yearly gap within each protocol, years permuted."""
    ps = []
    for human in dict.fromkeys(one.human for _, one in found.official):
        years, gaps, variances = [], [], []
        for year in YEARS:
            points = [one for entry, one in found.official if entry.year == year and one.human == human]
            if points:
                pooled = pool_gaps(
                    np.array([one.gap[-1] for one in points]),
                    np.array([one.gap_error[-1] for one in points]),
                    np.array([one.context.n_systems for one in points], dtype=np.float64),
                )
                years.append(year)
                gaps.append(pooled.mean)
                variances.append(pooled.variance)
        between = random_effects(gaps, variances).tau2
        ps.append(year_trend(years, gaps, np.array(variances) + between, rng=rng, n_draws=999).p)
    return ps


def coverage(world: World, n: int, seed: int) -> tuple[float, float, float]:
    """Shares of n histories: interval holds the true slope; interval excludes 0; trend of the gap found at 5%."""
    rng = np.random.default_rng(seed)
    truth = true_slope(world) if world.progress or world.drift else 0.0
    n_held = n_found = 0
    n_trends = 0.0
    for _ in range(n):
        found = simulated_history(rng, world)
        pooled = within(found, published(), of="these-metrics").slopes[0].pooled
        n_held += pooled.low <= truth <= pooled.high
        n_found += not pooled.low <= 0 <= pooled.high
        n_trends += np.mean([p <= 0.05 for p in trend_ps(found, rng)])
    return n_held / n, n_found / n, float(n_trends / n)


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    for words, world in (
        ("no progress", World()),
        ("progress of .008 a year", World(progress=0.008)),
        ("drift of the gap by .03 a year", World(drift=0.03)),
        ("another protocol in the second half, no progress", World(protocol_step=0.12)),
    ):
        started = time.process_time()
        held, found, trends = coverage(world, n, 5)
        print(
            f"{words}: interval holds the truth in {held:.1%}, without 0 in {found:.1%}, trend of gaps in {trends:.1%} "
            f"of {n} histories ({time.process_time() - started:.0f} s)"
        )


if __name__ == "__main__":
    main()
