"""How often the tests of `systems` find one of two exchangeable systems better.

    python -m benchmarks.system_levels                              # the results so far
    python -m benchmarks.system_levels --minutes 5 --db all.duckdb  # more worlds

A world is two systems' scores by one scorer: human scores (most outputs have no error, so differences tie) or a metric.
The systems are two of `benchmarks.null_worlds.simulated_pair`, or two of an evaluation set of WMT23, picked at random.
They are exchangeable because a fair coin for each unit exchanges their scores: `segments` are drawn with replacement,
each with its coin; or whole `documents` are. Turning all coins exchanges the systems, so the difference of their means
is symmetric around 0. The tests are the command's, one-sided for the system that is first by chance, with 199
resamples; the nominal level is 5%. docs/levels.md summarises system_levels.csv.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from benchmarks.counted import add_to_fewest, read_counts, run_counting, share_in_words, write_counts
from benchmarks.levels import ALPHA, EVALSETS, SIMULATED, Count, Source, sources
from benchmarks.null_worlds import Pair, null_world
from metaeval.measures.options import Options
from metaeval.studies.significance.systems import SystemTest, system_p_values

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
SYSTEM_LEVELS = Path(__file__).with_name("system_levels.csv")
FIELDS = ("data", "scorer", "null", "test", "unit", "n_worlds", "n_found", "n_undefined")
SCORERS = ("human", "metric")
NULLS: tuple[Literal["segments", "documents"], ...] = ("segments", "documents")
UNITS = ("segment", "document")
DRAWS, BATCH = 199, 20


@dataclass(frozen=True)
class Row:
    """One test and its unit in one kind of world."""

    data: str
    scorer: str
    null: Literal["segments", "documents"]
    test: SystemTest
    unit: str


def rows(data: str, scorer: str, null: Literal["segments", "documents"]) -> list[Row]:
    """The rows of a kind. Independent segments have no documents."""
    units = UNITS if null == "documents" else UNITS[:1]
    return [Row(data, scorer, null, test, unit) for test in get_args(SystemTest) for unit in units]


Kind = tuple[str, str, Literal["segments", "documents"]]


def kinds(data: Sequence[str]) -> Iterator[Kind]:
    """The kinds of worlds, each simulated together."""
    for name in data:
        for scorer in SCORERS:
            for null in NULLS:
                yield name, scorer, null


def read(path: Path = SYSTEM_LEVELS) -> dict[Row, Count]:
    """The results so far."""
    return read_counts(path, Row, Count)


def write(found: dict[Row, Count], path: Path = SYSTEM_LEVELS) -> None:
    """Write the results, in the order of the simulation."""
    ordered = (row for kind in kinds([SIMULATED, *(" ".join(one) for one in EVALSETS)]) for row in rows(*kind))
    write_counts(path, FIELDS, [(*astuple(row), *astuple(found[row])) for row in ordered if row in found])


def world(pair: Pair, scorer: str, null: Literal["segments", "documents"], rng: np.random.Generator) -> Pair:
    """Two systems, exchanged by coins: `null_world` with systems instead of metrics."""
    systems = rng.choice(pair.shape[0], 2, replace=False)
    scores = pair.human[systems] if scorer == "human" else pair.metrics[0, systems]
    judged = ~np.isnan(scores).any(axis=0)
    scores, documents = scores[:, judged], pair.documents[judged]
    return null_world(Pair(np.zeros((1, scores.shape[1])), scores[:, np.newaxis], documents), null, rng)


def add_world(kind: Kind, number: int, source: Source, found: dict[Row, Count]) -> None:
    """Add one world, and count what each test finds in it."""
    _, scorer, null = kind
    rng = np.random.default_rng([number, SCORERS.index(scorer), NULLS.index(null)])
    drawn = world(source(rng), scorer, null, rng)
    scores = drawn.metrics[:, 0]
    for row in rows(*kind):
        documents = drawn.documents if row.unit == "document" else None
        there = np.ones(scores.shape, dtype=np.bool_)
        p = system_p_values(scores, there, row.test, Options(seed=number), DRAWS, documents)[0, 1]
        count = found.setdefault(row, Count())
        count.n_worlds += 1
        count.n_found += bool(p <= ALPHA)
        count.n_undefined += bool(np.isnan(p))


def simulate(minutes: float, database: Path | None, only: str, most: int, path: Path = SYSTEM_LEVELS) -> None:
    """Add worlds to the kinds with the fewest of them, until the time is over or all have the most."""
    found, known = read(path), sources(database)
    asked = [kind for kind in kinds(list(known)) if only in " ".join(kind)]

    def so_far(kind: Kind) -> int:
        return found.get(rows(*kind)[0], Count()).n_worlds

    def add(kind: Kind) -> None:
        for _ in range(BATCH):
            add_world(kind, so_far(kind), known[kind[0]].any, found)
        write(found, path)

    add_to_fewest(minutes, asked, so_far, most, add)


def main(arguments: Sequence[str]) -> int:
    """Run, or print the results so far."""
    return run_counting(arguments, "benchmarks.system_levels", SYSTEM_LEVELS, simulate, lines)


def lines(path: Path) -> Iterator[str]:
    """The share of each row in words."""
    for row, count in read(path).items():
        yield (
            f"{row.data}, {row.scorer}, {row.null}, {row.test}, {row.unit}: "
            f"{share_in_words(count.n_found, count.n_worlds)}"
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
