"""How often tests of metric against metric find a difference where there is none, and how often a real one.

    python -m benchmarks.levels                              # what there is, as a table
    python -m benchmarks.levels --minutes 30                 # more worlds, made-up data
    python -m benchmarks.levels --minutes 30 --db all.duckdb # and evaluation sets of the warehouse
    python -m benchmarks.levels --minutes 5 --only spa --most 500

Worlds are those of `benchmarks.null_worlds`. Each is tested by the code that `compare` runs, two-sided, with 199
resamples (p ≤ .05 is then 10 of the 200 places that the data can take among them: 5%), spa with 99 and as many sign
vectors. A run adds worlds to the kind (data, population, effect) with the fewest of them; a world's numbers follow
from its place, so that a run goes on where the last one ended.
`python -m docs.generate` makes docs/levels.md of the file.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.counted import run_counting, share_in_words
from benchmarks.null_worlds import NULLS, Null, Pair, null_world, real_pair, simulated_pair, worsened
from metaeval.evaluation import evaluate
from metaeval.inputs import Inputs
from metaeval.measures import parse_measure
from metaeval.measures.applicable import JACKKNIVES, Test
from metaeval.options import Options
from metaeval.significance.levels import MID_P
from metaeval.significance.options import TestOptions
from metaeval.significance.runner import run
from queries.blocks import Block
from queries.selection import MetricChoice, Selection, Slice
from warehouse import Warehouse

ROOT = Path(__file__).resolve().parents[1]
LEVELS = ROOT / "metaeval" / "significance" / "levels.csv"
FIELDS = ("data", "null", "effect", "measure", "test", "n_worlds", "n_found", "n_undefined")
SIMULATED = "simulated"
EVALSETS = (("wmt23", "en-de"), ("wmt23", "he-en"))
ALPHA = 0.05
_ONLY_SEGMENTS = "wmt23 he-en"
EFFECTS = (0.25, 0.5)
BATCH = 10  # worlds of a kind before the next kind's turn
DRAWS = {True: 99, False: 199}  # resamples: of spa, of everything else
_SYSTEM_TESTS: tuple[Test, ...] = ("perm-inputs", "perm-systems", "perm-both", "bootstrap", *JACKKNIVES)
_WITH_TIES: tuple[Test, ...] = ("perm-inputs", "perm-systems")
_TIES_HALF = tuple(f"{test}{MID_P}" for test in _WITH_TIES)
TESTED: dict[str, tuple[str, ...]] = {
    "acc_eq(by=item)": ("pairs", "perm-inputs", "bootstrap", *JACKKNIVES),
    "acc_eq(by=none)": ("pairs", "jackknife-segments"),
    "acc_eq(by=doc)": ("pairs", "jackknife-segments"),
    "tau_b(by=item)": ("perm-inputs", "perm-systems", "bootstrap", *JACKKNIVES),
    "tau_b(by=system)": ("perm-systems",),
    "pearson(by=item)": ("perm-inputs", "perm-systems", "bootstrap", *JACKKNIVES),
    "pearson(by=none)": ("perm-inputs", "perm-systems", "perm-both", "bootstrap", *JACKKNIVES),
    "pdp": ("perm-inputs", "perm-systems", "bootstrap", *JACKKNIVES),
    "pearson": ("williams", *_SYSTEM_TESTS),
    "spearman": (*_WITH_TIES, *_TIES_HALF),
    "kendall": (*_WITH_TIES, *_TIES_HALF, "jackknife-systems"),
    "tau_ap": (*_WITH_TIES, *_TIES_HALF),
    "pa": (*_SYSTEM_TESTS, *_TIES_HALF, f"perm-both{MID_P}"),
    "spa(n=99)": _SYSTEM_TESTS,
}
_LEFT_OUT = ("acc_eq(by=none)", "acc_eq(by=doc)")  # tested by leaving segments out


@dataclass(frozen=True)
class Row:
    """A line of the results: one measure and its test in one kind of world.

    effect: 0 = both metrics equally good. test: its name, with `MID_P` after it where ties count half.
    """

    data: str
    null: Null
    effect: float
    measure: str
    test: str


@dataclass
class Count:
    """Worlds so far, those with p ≤ .05, and those where p is not defined (which find nothing)."""

    n_worlds: int = 0
    n_found: int = 0
    n_undefined: int = 0


def read(path: Path = LEVELS) -> dict[Row, Count]:
    """The results so far."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {
            Row(line["data"], line["null"], float(line["effect"]), line["measure"], line["test"]): Count(  # type: ignore[arg-type]
                int(line["n_worlds"]), int(line["n_found"]), int(line["n_undefined"])
            )
            for line in csv.DictReader(file)
        }


def write(found: dict[Row, Count], path: Path = LEVELS) -> None:
    """Keep the results; a file half written is never in their place."""
    beside = path.with_suffix(".part")
    order = [row for row in rows([SIMULATED, *(f"{one} {lp}" for one, lp in EVALSETS)]) if row in found]
    with beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for row in order:
            count = found[row]
            kind = (row.data, row.null, f"{row.effect:g}", row.measure, row.test)
            writer.writerow([*kind, count.n_worlds, count.n_found, count.n_undefined])
    beside.replace(path)


def rows(data: Sequence[str]) -> Iterator[Row]:
    """Every row that can be filled; of the last evaluation set only new segments."""
    for name in data:
        for null in NULLS if name != _ONLY_SEGMENTS else NULLS[:1]:
            for effect in (0.0, *EFFECTS) if null in ("segments", "both") and name != _ONLY_SEGMENTS else (0.0,):
                for measure, tests in TESTED.items():
                    for test in tests:
                        if _is_wanted(null, effect, measure, test):
                            yield Row(name, null, effect, measure, test)


def _is_wanted(null: Null, effect: float, measure: str, test: str) -> bool:
    """Documents, and real differences, matter to tests of that population; tests made for one population only to it."""
    parsed = parse_measure(measure)
    claimed = parsed.claims(plain(test))
    if measure in _LEFT_OUT:
        return null == "segments" and effect == 0
    if effect:
        return claimed == null or (test in ("perm-both", "williams") and null == "segments")
    if null == "documents":
        return claimed == "segments"
    if measure.startswith("spa") and test in ("perm-inputs", "perm-both") and null == "systems":
        return False
    return claimed == null or test not in JACKKNIVES or test == parsed.holding_test(null)


Source = Callable[[np.random.Generator], Pair]


def sources(database: Path | None) -> dict[str, Source]:
    """Where pairs of metrics come from, by name."""
    found: dict[str, Source] = {SIMULATED: simulated_pair}
    if database is None:
        return found
    with Warehouse.open(database) as warehouse:
        for testset, lp in EVALSETS:
            block = Inputs(warehouse, Slice(testset, lp)).judged_segments()
            kept = block.judged.any(axis=0)
            named = [name for name, is_kept in zip(block.selection.documents, kept, strict=True) if is_kept]
            documents = np.unique(np.array(named, dtype=str), return_inverse=True)[1]
            found[f"{testset} {lp}"] = _Real(block.human[:, kept], block.scores[:, :, kept], documents)
    return found


@dataclass(frozen=True)
class _Real:
    human: Any
    metrics: Any
    documents: Any

    def __call__(self, rng: np.random.Generator) -> Pair:
        return real_pair(self.human, self.metrics, self.documents, rng)


_NAMED = ((1, "A"), (2, "B"))


def block_of(world: Pair) -> Block:
    """The world as `compare` would have it from a warehouse."""
    n_systems, n_segments = world.shape
    metrics = tuple(MetricChoice.made_up(name, place) for place, name in _NAMED)
    segments = tuple(range(1, n_segments + 1))
    documents = tuple(f"{number}" for number in world.documents)
    nothing = (None,) * n_segments
    selection = Selection(
        Slice("world", "xx-yy"), 1, "human", 3, None, (), metrics, segments, nothing, documents, n_segments
    )
    return Block(
        selection,
        tuple(f"{number:02}" for number in range(n_systems)),
        np.array(segments),
        metrics,
        world.human,
        world.metrics,
        np.full(n_systems, np.nan),
        np.full((2, n_systems), np.nan),
    )


def plain(test: str) -> Test:
    """A test's name without the way in which ties are counted."""
    name: Test = test.removesuffix(MID_P)  # type: ignore[assignment]
    return name


def p_values(world: Pair, tested: Sequence[tuple[str, str]], seed: int) -> Iterator[float]:
    """p that the two metrics differ, by each measure and test; NaN where not defined."""
    block = block_of(world)
    thresholds: dict[str, Any] = {}
    for text, test in tested:
        measure = parse_measure(text)
        options = Options(system_score="judged-mean" if measure.level == "sys" else None, seed=seed)
        if measure.is_calibrated and text not in thresholds:
            thresholds[text] = evaluate(measure, block, options).epsilon
        testing = TestOptions(
            test=plain(test),
            alternative="two-sided",
            draws=DRAWS[text.startswith("spa")],
            mid_p=test.endswith(MID_P),
            n_threads=1,
        )
        rng = np.random.default_rng([seed, 1])
        yield float(run(measure, [block], thresholds.get(text), options, testing, rng).p[0, 1])


def add_world(number: int, tested: dict[Row, Count], source: Source) -> None:
    """One more world for rows of one kind (data, null and effect)."""
    kind = next(iter(tested))
    rng = np.random.default_rng([number, NULLS.index(kind.null), round(100 * kind.effect)])
    world = worsened(null_world(source(rng), kind.null, rng), kind.effect, rng)
    found = p_values(world, [(row.measure, row.test) for row in tested], number)
    for count, p in zip(tested.values(), found, strict=True):
        count.n_worlds += 1
        count.n_found += p <= ALPHA
        count.n_undefined += bool(np.isnan(p))


Kind = tuple[str, str, float, bool]  # data, null, effect, and whether its rows take long


def simulate(minutes: float, database: Path | None, only: str, most: int, path: Path = LEVELS) -> None:
    """Add worlds to the kinds with the fewest of them, until the time is over or all rows have the most.

    Where a kind's rows take long, or are there for comparison alone, it gets a part of the worlds of the others.
    """
    end = time.monotonic() + 60 * minutes
    found, known = read(path), sources(database)
    kinds: dict[Kind, list[Row]] = {}
    for row in rows(list(known)):
        if only in f"{row.data} {row.null} {row.effect:g} {row.measure} {row.test}":
            found.setdefault(row, Count())
            kinds.setdefault((row.data, row.null, row.effect, is_dear(row)), []).append(row)

    def waiting(kind: Kind) -> list[Row]:
        return [row for row in kinds[kind] if found[row].n_worlds < most]

    while time.monotonic() < end and (left := {kind: rest for kind in kinds if (rest := waiting(kind))}):
        kind = min(left, key=lambda one: weight(one) * (1 + min(found[row].n_worlds for row in left[one])))
        for _ in range(BATCH):
            number = min(found[row].n_worlds for row in waiting(kind))
            chosen = {row: found[row] for row in waiting(kind) if found[row].n_worlds == number}
            add_world(number, chosen, known[kind[0]])
            if time.monotonic() > end or not waiting(kind):
                break
        write({row: count for row, count in found.items() if count.n_worlds}, path)


def is_dear(row: Row) -> bool:
    """Whether a test takes some hundredths of a second."""
    return row.measure.startswith("spa") and row.test not in ("perm-systems", "jackknife-systems")


def weight(kind: Kind) -> int:
    """How many worlds others get for one of these."""
    data, null, effect, dear = kind
    return (3 if effect or null == "documents" or data == _ONLY_SEGMENTS else 1) * (2 if dear else 1)


def main(arguments: Sequence[str]) -> int:
    """Run, or print what there is."""
    return run_counting(arguments, "benchmarks.levels", LEVELS, simulate, lines)


def lines(path: Path) -> Iterator[str]:
    """The share of each row in words."""
    for row, count in read(path).items():
        yield (
            f"{row.data}, {row.null}, {row.effect:g}, {row.measure}, {row.test}: "
            f"{share_in_words(count.n_found, count.n_worlds)}, {count.n_undefined} not defined"
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
