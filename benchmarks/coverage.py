"""How often 95% intervals hold the truth, for every type of interval that a command prints.

    python -m benchmarks.coverage                              # the results so far
    python -m benchmarks.coverage --minutes 10 --db all.duckdb # more worlds
    python -m benchmarks.coverage --minutes 5 --only "systems pearson"

A world is a sample of a pool, and the truth is the measure on the whole pool:

- `inputs`: 300 segments, drawn with replacement from 1,000 simulated ones of 12 systems, or from all segments of an
  evaluation set of WMT23;
- `systems`: 12 of 200 simulated systems, on all 300 segments of the pool;
- `both`: 12 of 200 simulated systems, on 300 segments drawn with replacement from the pool's 300.

Intervals of the values of two metrics, and of their difference, are made as in `compare`: the same kernel, 399
resamples, tie thresholds calibrated on the world. Five worlds share a pool. A run adds worlds to the kind with the
fewest, and goes on where the last one ended. docs/levels.md summarises coverage.csv.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from benchmarks import span_worlds
from benchmarks.counted import add_to_fewest, read_counts, run_counting, share_in_words, write_counts
from benchmarks.levels import DECISIONS, EVALSETS, SIMULATED, SPAN_MEASURES, Source, sources
from benchmarks.null_worlds import N_SEGMENTS, N_SYSTEMS, Pair, block_of, options_of, simulated_pair
from metaeval.kernels.agreement.reliability import Interval
from metaeval.kernels.resampling.bootstrap import Bootstrap, Resample, bootstrap
from metaeval.kernels.resampling.difference_tests import NORMAL
from metaeval.kernels.resampling.prepared import IntervalMethod
from metaeval.measures.judged import units_of
from metaeval.measures.measure import Measure
from metaeval.measures.registry import parse_measure
from metaeval.results.evaluation import evaluate
from queries.blocks import Block

Floats = npt.NDArray[np.float64]
COVERAGE = Path(__file__).with_name("coverage.csv")
FIELDS = ("data", "resample", "measure", "method", "of", "n_intervals", "n_holding", "n_undefined")
MEASURES = (
    "pearson",
    "spearman",
    "kendall",
    "pa",
    "spa(n=99)",
    "acc_eq(by=item)",
    "tau_b(by=item)",
    "pearson(by=item)",
    "pearson(by=none)",
    "pdp",
    *DECISIONS,
    *SPAN_MEASURES,
)
DRAWS, SHARING = 399, 5
POOL_SYSTEMS, POOL_SEGMENTS = 200, 1000
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Row:
    """One type of interval. of: "value", or "difference" of two metrics. method: "known": `Measure.standard_errors`."""

    data: str
    resample: Resample
    measure: str
    method: IntervalMethod | Literal["known"]
    of: str


@dataclass
class Count:
    """Numbers of intervals so far, of those that hold the truth, and of undefined ones (which hold nothing)."""

    n_intervals: int = 0
    n_holding: int = 0
    n_undefined: int = 0

    def add(self, found: Interval, truth: float) -> None:
        self.n_intervals += 1
        self.n_holding += found.low - TOLERANCE <= truth <= found.high + TOLERANCE
        self.n_undefined += bool(np.isnan(found.low))


def read(path: Path = COVERAGE) -> dict[Row, Count]:
    """The results so far."""
    return read_counts(path, Row, Count)


def write(found: dict[Row, Count], path: Path = COVERAGE) -> None:
    """Write the results, in the order of the simulation."""
    ordered = (row for kind in kinds([SIMULATED, *(" ".join(one) for one in EVALSETS)]) for row in rows(*kind))
    write_counts(path, FIELDS, [(*astuple(row), *astuple(found[row])) for row in ordered if row in found])


Kind = tuple[str, Resample, str]  # data, what is resampled, measure


def kinds(data: Sequence[str]) -> Iterator[Kind]:
    """The kinds of worlds, each simulated together; evaluation sets have too few systems to draw some of them.

    Only segments are resampled for decisions, which have no test over systems, and for error spans, whose worlds come
    from `benchmarks.span_worlds`.
    """
    for name in data:
        for resample in get_args(Resample) if name == SIMULATED else ("inputs",):
            for measure in MEASURES:
                is_limited = measure in DECISIONS + SPAN_MEASURES
                if (resample == "inputs" or not is_limited) and (name == SIMULATED or measure not in SPAN_MEASURES):
                    yield name, resample, measure


def methods(measure: Measure) -> list[IntervalMethod]:
    """Types of intervals that a command computes from resamples; none for a measure that takes minutes to resample."""
    if not measure.is_quick_to_resample and measure.n_draws is None:
        return []
    return [how for how in get_args(IntervalMethod) if how != "centred" or measure.interval == "centred"]


def rows(data: str, resample: Resample, measure: str) -> list[Row]:
    """The rows of a kind."""
    found = methods(parse_measure(measure))
    if not found:
        return [Row(data, resample, measure, "known", "value")]
    return [Row(data, resample, measure, method, of) for method in found for of in ("value", "difference")]


def pool(data: str, resample: Resample, source: Source, rng: np.random.Generator) -> Pair:
    """The pool that worlds are drawn from."""
    if data != SIMULATED:
        return source(rng)
    if resample == "inputs":
        return simulated_pair(rng, N_SYSTEMS, POOL_SEGMENTS)
    return simulated_pair(rng, POOL_SYSTEMS, N_SEGMENTS)


def drawn(whole: Pair, resample: Resample, rng: np.random.Generator) -> Pair:
    """Draw a world."""
    n_systems, n_segments = whole.shape
    systems = np.arange(n_systems) if resample == "inputs" else rng.permutation(n_systems)[:N_SYSTEMS]
    segments = np.arange(n_segments) if resample == "systems" else rng.integers(0, n_segments, N_SEGMENTS)
    human, metrics = whole.human[np.ix_(systems, segments)], whole.metrics[:, systems][:, :, segments]
    return Pair(human, metrics, np.arange(len(segments)))


def bootstrapped(world: Pair | Block, resample: Resample, measure: Measure, seed: int, draws: int = DRAWS) -> Bootstrap:
    """The resamples from which `compare` computes its intervals."""
    block, options = world if isinstance(world, Block) else block_of(world), options_of(measure, seed)
    epsilon = evaluate(measure, block, options).epsilon if measure.is_calibrated else None
    return bootstrap(
        measure.resampled(block, options, epsilon),
        resample,
        rng=np.random.default_rng([seed, 2]),
        n_draws=draws,
        n_threads=1,
    )


def known(world: Pair | Block, measure: Measure) -> list[Interval]:
    """Intervals of the values of both metrics from their standard errors."""
    block, options = world if isinstance(world, Block) else block_of(world), options_of(measure)
    units = units_of(block.selection, block.judged.any(axis=0), "segment")
    values, errors = evaluate(measure, block, options).value, measure.standard_errors(block, options, units)
    assert errors is not None
    ends = zip(values, values - NORMAL * errors, values + NORMAL * errors, strict=True)
    return [Interval(*map(float, one)) for one in ends]


def true_values(whole: Pair, measure: Measure) -> Floats:
    """(2,) the measure on the pool."""
    return evaluate(measure, block_of(whole), options_of(measure)).value


def worlds(
    kind: Kind, number: int, source: Source, rng: np.random.Generator
) -> tuple[Floats, Callable[[], Pair | Block]]:
    """The measure of both metrics on a new pool, and the function that draws a world from it."""
    data, resample, text = kind
    measure = parse_measure(text)
    if text in SPAN_MEASURES:
        marked = span_worlds.pool(measure, "exchangeable", number)
        return marked.values(measure), lambda: marked.world("equal", rng)
    whole = pool(data, resample, source, rng)
    return true_values(whole, measure), lambda: drawn(whole, resample, rng)


def add_worlds(kind: Kind, number: int, n_worlds: int, source: Source, found: dict[Row, Count]) -> None:
    """Draw worlds of one pool and count their intervals."""
    resample, measure = kind[1], parse_measure(kind[2])
    rng = np.random.default_rng([number, get_args(Resample).index(resample)])
    truth, next_world = worlds(kind, number, source, rng)
    for place in range(n_worlds):
        world = next_world()
        if not methods(measure):
            (row,) = rows(*kind)
            for metric, found_here in enumerate(known(world, measure)):
                found.setdefault(row, Count()).add(found_here, float(truth[metric]))
            continue
        resamples = bootstrapped(world, resample, measure, SHARING * number + place)
        for row in rows(*kind):
            count = found.setdefault(row, Count())
            if row.of == "difference":
                of_two = resamples.difference_interval(0, 1, method=row.method)
                count.add(of_two, float(truth[0] - truth[1]))
            else:
                for metric in range(2):
                    count.add(resamples.interval(metric, method=row.method), float(truth[metric]))


def simulate(minutes: float, database: Path | None, only: str, most: int, path: Path = COVERAGE) -> None:
    """Add worlds to the kinds with the fewest of them, until the time is over or all have the most."""
    found, known = read(path), sources(database)
    asked = [kind for kind in kinds(list(known)) if only in " ".join(kind)]

    def so_far(kind: Kind) -> int:
        last = rows(*kind)[-1]
        return found.get(last, Count()).n_intervals // (1 if last.of == "difference" else 2)

    def add(kind: Kind) -> None:
        add_worlds(kind, so_far(kind) // SHARING, SHARING, known[kind[0]].any, found)
        write(found, path)

    add_to_fewest(minutes, asked, so_far, most, add)


def main(arguments: Sequence[str]) -> int:
    """Run, or print the results so far."""
    return run_counting(arguments, "benchmarks.coverage", COVERAGE, simulate, lines)


def lines(path: Path) -> Iterator[str]:
    """The share of each row in words."""
    for row, count in read(path).items():
        yield (
            f"{row.data}, {row.resample}, {row.measure}, {row.method}, {row.of}: "
            f"{share_in_words(count.n_holding, count.n_intervals)}, {count.n_undefined} not defined"
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
