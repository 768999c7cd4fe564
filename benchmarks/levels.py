"""How often tests of metric against metric find a difference that does not exist, and how often a real one.

    python -m benchmarks.levels                              # the results so far, as a table
    python -m benchmarks.levels --minutes 30                 # more worlds, made-up data
    python -m benchmarks.levels --minutes 30 --db all.duckdb # and evaluation sets of the warehouse
    python -m benchmarks.levels --minutes 5 --only "spa,equal" --most 500

Worlds come from `benchmarks.equal_worlds` (metrics of different kinds that are equally good) and
`benchmarks.null_worlds` (exchangeable metrics); those of error spans come from `benchmarks.span_worlds`. Each is tested
by the code that `compare` runs, two-sided, with 199 resamples (p ≤ .05 is then 10 of the data's 200 possible ranks
among them: 5%); spa with 99 resamples and as many sign vectors. A run adds worlds to the kind (data, null, population,
effect; of equal metrics also the measure) with the fewest of them; a world's numbers follow from its place, so that a
run goes on where the last one ended. `python -m docs.generate` puts defaults into docs/levels.md.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import span_worlds
from benchmarks.counted import run_counting, share_in_words
from benchmarks.equal_worlds import SHARING, Pools, RealPools, drawn, simulated_pool
from benchmarks.null_worlds import (
    POPULATIONS,
    Pair,
    Population,
    annotated_pair,
    block_of,
    null_world,
    options_of,
    real_pair,
    simulated_pair,
    worsened,
)
from metaeval.measures.applicable import JACKKNIVES
from metaeval.measures.options import Test, TestOptions, TestUnit
from metaeval.measures.registry import parse_measure
from metaeval.results.evaluation import evaluate
from metaeval.results.inputs import Inputs
from metaeval.studies.significance.metric_tests import BY_ANNOTATOR, BY_DOCUMENT, MID_P, Null
from metaeval.studies.significance.runner import run
from queries.blocks import Block
from queries.slices import Slice
from warehouse import Warehouse

ROOT = Path(__file__).resolve().parents[1]
LEVELS = ROOT / "metaeval" / "studies" / "significance" / "levels.csv"
FIELDS = ("data", "null", "population", "effect", "measure", "test", "n_worlds", "n_found", "n_undefined")
SIMULATED = "simulated"
EVALSETS = (("wmt23", "en-de"), ("wmt23", "he-en"))
ALPHA = 0.05
_ONLY_SEGMENTS = "wmt23 he-en"  # of exchangeable metrics
EFFECTS = (0.25, 0.5)
BATCH = 10  # worlds of a kind before the next kind's turn
MOST_DEAR = 400  # worlds of equal metrics for tests that take long
DRAWS = {True: 99, False: 199}  # resamples: of spa, of everything else
_NORMAL: Test = "bootstrap-normal"
_SYSTEM_TESTS: tuple[Test, ...] = ("perm-inputs", "perm-systems", "perm-both", "bootstrap", _NORMAL, *JACKKNIVES)
_OF_ONE_POPULATION: tuple[str, ...] = (*JACKKNIVES, _NORMAL, "jackknife-segments")
_WITH_TIES: tuple[Test, ...] = ("perm-inputs", "perm-systems")
_NORMAL_BY_DOCUMENT = f"{_NORMAL}{BY_DOCUMENT}"
_SWAPPED_BY_DOCUMENT = f"perm-inputs{BY_DOCUMENT}"
_TIES_HALF = tuple(f"{test}{MID_P}" for test in _WITH_TIES)
TESTED: dict[str, tuple[str, ...]] = {
    "acc_eq(by=item)": ("pairs", "perm-inputs", _SWAPPED_BY_DOCUMENT, "bootstrap", *JACKKNIVES),
    **dict.fromkeys(("acc_eq(by=none)", "acc_eq(by=doc)"), ("jackknife-segments",)),
    "tau_b(by=item)": ("perm-inputs", _SWAPPED_BY_DOCUMENT, "perm-systems", "bootstrap", *JACKKNIVES),
    "tau_b(by=system)": ("perm-systems",),
    "pearson(by=item)": ("perm-inputs", _SWAPPED_BY_DOCUMENT, "perm-systems", "bootstrap", *JACKKNIVES),
    "pearson(by=none)": ("perm-inputs", _SWAPPED_BY_DOCUMENT, "perm-systems", "perm-both", "bootstrap", *JACKKNIVES),
    "pdp": ("perm-inputs", _SWAPPED_BY_DOCUMENT, "perm-systems", "bootstrap", *JACKKNIVES),
    "pearson": (
        "williams",
        *_SYSTEM_TESTS,
        _NORMAL_BY_DOCUMENT,
        "jackknife-segments",
        f"jackknife-segments{BY_DOCUMENT}",
    ),
    "spearman": (*_WITH_TIES, *_TIES_HALF, _NORMAL, _NORMAL_BY_DOCUMENT, "jackknife-systems"),
    "kendall": (*_WITH_TIES, *_TIES_HALF, _NORMAL, _NORMAL_BY_DOCUMENT, "jackknife-systems"),
    "tau_ap": (*_WITH_TIES, *_TIES_HALF, _NORMAL, _NORMAL_BY_DOCUMENT, "jackknife-systems"),
    "pa": (*_SYSTEM_TESTS, _NORMAL_BY_DOCUMENT, *_TIES_HALF, f"perm-both{MID_P}"),
    "spa(n=99)": (*_SYSTEM_TESTS, _NORMAL_BY_DOCUMENT),
    "mpp": ("perm-inputs", "jackknife-segments"),
    "char_f1": ("perm-inputs", "jackknife-segments"),
    **dict.fromkeys(
        ("tau_rr", "acc_rr"),
        tuple(
            f"{test}{by}"
            for by in ("", BY_ANNOTATOR)
            for test in ("perm-inputs", "jackknife-segments", _NORMAL, "bootstrap")
        ),
    ),
    **dict.fromkeys(
        ("mcc", "f_beta", "average_precision", "roc_auc", "rrp", "rmse", "mae"), (_NORMAL, "jackknife-segments")
    ),
    **dict.fromkeys(("precision", "recall"), ("bootstrap", _NORMAL, "jackknife-segments")),
    "brier": ("jackknife-segments",),
}
DECISIONS = tuple(TESTED)[-10:]  # which have tests of new segments alone
SPAN_MEASURES = ("mpp", "char_f1")  # in worlds of their own, `benchmarks.span_worlds`
PREFERENCES = ("tau_rr", "acc_rr")
_SIMULATED_ONLY = (*SPAN_MEASURES, *PREFERENCES)
_LEFT_OUT = ("acc_eq(by=none)", "acc_eq(by=doc)")  # tested by leaving segments out
_NOT_MATCHED = (*_LEFT_OUT, "tau_b(by=system)")  # an expected value takes minutes


@dataclass(frozen=True)
class Row:
    """A line of the results: one measure and its test in one kind of world.

    null: what the metrics have in common. effect: 0 = no difference, else B is worse. test: its name, followed by
    `MID_P` if ties count half, and by `BY_DOCUMENT` or `BY_ANNOTATOR` if these are its units.
    """

    data: str
    null: Null
    population: Population
    effect: float
    measure: str
    test: str


@dataclass
class Count:
    """Number of worlds so far, of those with p ≤ .05, and of those whose p is not defined (which find nothing)."""

    n_worlds: int = 0
    n_found: int = 0
    n_undefined: int = 0


def read(path: Path = LEVELS) -> dict[Row, Count]:
    """The results so far."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {
            Row(  # type: ignore[arg-type]
                line["data"], line["null"], line["population"], float(line["effect"]), line["measure"], line["test"]
            ): Count(int(line["n_worlds"]), int(line["n_found"]), int(line["n_undefined"]))
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
            kind = (row.data, row.null, row.population, f"{row.effect:g}", row.measure, row.test)
            writer.writerow([*kind, count.n_worlds, count.n_found, count.n_undefined])
    beside.replace(path)


def rows(data: Sequence[str]) -> Iterator[Row]:
    """Every row that can be filled. Spans, preferences and decisions exist for new segments only (preferences also for
    new annotators); spans and preferences are always simulated."""
    for row in _rows(data):
        has_all = row.measure not in _SIMULATED_ONLY + DECISIONS
        is_there = row.data == SIMULATED or row.measure not in _SIMULATED_ONLY
        is_new = row.population == "segments" or (row.population == "annotators" and row.measure in PREFERENCES)
        if (has_all and row.population != "annotators") or (is_new and row.effect == 0 and is_there):
            yield row


def _rows(data: Sequence[str]) -> Iterator[Row]:
    for name in data:
        for population in POPULATIONS if name != _ONLY_SEGMENTS else POPULATIONS[:1]:
            has_effects = population in ("segments", "both") and name != _ONLY_SEGMENTS
            for effect in (0.0, *EFFECTS) if has_effects else (0.0,):
                for measure, test in _tested():
                    if _is_wanted(population, effect, measure, test):
                        yield Row(name, "exchangeable", population, effect, measure, test)
    for name in data:
        for population in POPULATIONS if name == SIMULATED else ("segments", "documents"):
            for measure, test in _tested():
                if measure not in _NOT_MATCHED and is_for(population, measure, test):
                    yield Row(name, "equal", population, 0.0, measure, test)  # type: ignore[arg-type]


def _tested() -> Iterator[tuple[str, str]]:
    return ((measure, test) for measure, tests in TESTED.items() for test in tests)


def _is_wanted(population: Population, effect: float, measure: str, test: str) -> bool:
    """Whether a test is run on such worlds: documents and real differences concern only tests of that population."""
    parsed = parse_measure(measure)
    claimed = parsed.claims(plain(test))
    if by_unit := _POPULATION_OF.get(unit_of(test)):
        return population == by_unit
    if measure in _LEFT_OUT:
        return population == "segments" and effect == 0
    if effect:
        return claimed == population or (test in ("perm-both", "williams") and population == "segments")
    if population in _POPULATION_OF.values():
        return claimed == "segments"
    if measure.startswith("spa") and test in ("perm-inputs", "perm-both") and population == "systems":
        return False
    return claimed == population or test not in _OF_ONE_POPULATION or test == parsed.holding_test(population)


def is_for(population: Population, measure: str, test: str) -> bool:
    """Whether a test belongs to this population: named for it, or its default."""
    if by_unit := _POPULATION_OF.get(unit_of(test)):
        return population == by_unit
    parsed = parse_measure(measure)
    of_tests = "segments" if population in _POPULATION_OF.values() else population
    return parsed.claims(plain(test)) == of_tests or plain(test) == parsed.holding_test(of_tests)


Source = Callable[[np.random.Generator], Pair]


class Sources(NamedTuple):
    """Sources of pairs of metrics: any pairs, and pairs that are equally good by a measure."""

    any: Source
    equal: Pools


def sources(database: Path | None) -> dict[str, Sources]:
    """The sources of pairs of metrics, by the data's name."""
    found = {SIMULATED: Sources(simulated_pair, simulated_pool)}
    if database is None:
        return found
    with Warehouse.open(database) as warehouse:
        for testset, lp in EVALSETS:
            block = Inputs(warehouse, Slice(testset, lp)).judged_segments()
            kept = block.judged.any(axis=0)
            named = [name for name, is_kept in zip(block.selection.documents, kept, strict=True) if is_kept]
            documents = np.unique(np.array(named, dtype=str), return_inverse=True)[1]
            scores = (block.human[:, kept], block.scores[:, :, kept], documents)
            found[f"{testset} {lp}"] = Sources(_Real(*scores), RealPools(*scores))
    return found


@dataclass(frozen=True)
class _Real:
    human: Any
    metrics: Any
    documents: Any

    def __call__(self, rng: np.random.Generator) -> Pair:
        return real_pair(self.human, self.metrics, self.documents, rng)


def plain(test: str) -> Test:
    """A test's name without its unit and the way it counts ties."""
    name: Test = test.removesuffix(BY_DOCUMENT).removesuffix(BY_ANNOTATOR).removesuffix(MID_P)  # type: ignore[assignment]
    return name


def unit_of(test: str) -> TestUnit:
    """The unit that a test swaps, resamples or leaves out, by its name."""
    return "document" if test.endswith(BY_DOCUMENT) else "annotator" if test.endswith(BY_ANNOTATOR) else "segment"


_POPULATION_OF: dict[TestUnit, Population] = {"document": "documents", "annotator": "annotators"}


def p_values(world: Pair | Block, tested: Sequence[tuple[str, str]], seed: int) -> Iterator[float]:
    """p that the two metrics differ, by each measure and test; NaN if not defined."""
    block = world if isinstance(world, Block) else block_of(world)
    thresholds: dict[str, Any] = {}
    for text, test in tested:
        measure = parse_measure(text)
        options = options_of(measure, seed)
        if measure.is_calibrated and text not in thresholds:
            thresholds[text] = evaluate(measure, block, options).epsilon
        testing = TestOptions(
            test=plain(test),
            alternative="two-sided",
            resamples=DRAWS[text.startswith("spa")],
            mid_p=test.endswith(MID_P),
            unit=unit_of(test),
            threads=1,
        )
        rng = np.random.default_rng([seed, 1])
        yield float(run(measure, [block], thresholds.get(text), options, testing, rng).p[0, 1])


class Kind(NamedTuple):
    """Rows that are tested in the same worlds. measure: by which metrics are equal, or that of spans; else none.

    is_dear: whether its rows take long.
    """

    data: str
    null: Null
    population: Population
    effect: float
    measure: str
    is_dear: bool

    @classmethod
    def of(cls, row: Row) -> Kind:
        measure = row.measure if row.null == "equal" or row.measure in SPAN_MEASURES else ""
        return cls(row.data, row.null, row.population, row.effect, measure, is_dear(row))


@dataclass
class Worlds:
    """Worlds of a kind by their number."""

    kind: Kind
    source: Sources
    pool: tuple[int, Pair] | None = field(default=None, repr=False)
    span_pool: tuple[int, span_worlds.Pool] | None = field(default=None, repr=False)

    def world(self, number: int) -> Pair | Block:
        kind = self.kind
        if kind.measure in SPAN_MEASURES:
            return self._of_spans(number)
        if kind.null == "exchangeable":
            rng = np.random.default_rng([number, POPULATIONS.index(kind.population), round(100 * kind.effect)])
            pair = annotated_pair(rng) if kind.population == "annotators" else self.source.any(rng)
            return worsened(null_world(pair, kind.population, rng), kind.effect, rng)
        place = number // SHARING[kind.population]
        if self.pool is None or self.pool[0] != place:
            self.pool = place, self.source.equal(parse_measure(kind.measure), kind.population, place)
        return drawn(
            self.pool[1], kind.population, np.random.default_rng([number, POPULATIONS.index(kind.population), 0, 1])
        )

    def _of_spans(self, number: int) -> Block:
        place = number // SHARING["segments"]
        if self.span_pool is None or self.span_pool[0] != place:
            self.span_pool = place, span_worlds.pool(parse_measure(self.kind.measure), self.kind.null, place)
        return self.span_pool[1].world(self.kind.null, np.random.default_rng([number, 0, 0, 7]))


def add_world(number: int, tested: dict[Row, Count], world: Pair | Block) -> None:
    """One more world for rows of one kind."""
    found = p_values(world, [(row.measure, row.test) for row in tested], number)
    for count, p in zip(tested.values(), found, strict=True):
        count.n_worlds += 1
        count.n_found += p <= ALPHA
        count.n_undefined += bool(np.isnan(p))


def simulate(minutes: float, database: Path | None, only: str, most: int, path: Path = LEVELS) -> None:
    """Add worlds to the kinds with the fewest of them, until the time is over or all rows have the most.

    A kind whose rows take long, or serve only as a comparison, gets fewer worlds than the others.
    """
    end = time.monotonic() + 60 * minutes
    found, known = read(path), sources(database)
    kinds: dict[Kind, list[Row]] = {}
    for row in rows(list(known)):
        kind = f"{row.data} {row.null} {row.population} {row.effect:g} {row.measure} {row.test}"
        if all(part in kind for part in only.split(",")):
            found.setdefault(row, Count())
            kinds.setdefault(Kind.of(row), []).append(row)

    def waiting(kind: Kind) -> list[Row]:
        least = MOST_DEAR if kind.is_dear and kind.null == "equal" else most
        return [row for row in kinds[kind] if found[row].n_worlds < min(least, most)]

    while time.monotonic() < end and (left := {kind: rest for kind in kinds if (rest := waiting(kind))}):
        kind = min(left, key=lambda one: weight(one) * (1 + min(found[row].n_worlds for row in left[one])))
        worlds = Worlds(kind, known[kind.data])
        for _ in range(SHARING[kind.population] if kind.null == "equal" else BATCH):
            number = min(found[row].n_worlds for row in waiting(kind))
            chosen = {row: found[row] for row in waiting(kind) if found[row].n_worlds == number}
            add_world(number, chosen, worlds.world(number))
            if time.monotonic() > end or not waiting(kind):
                break
        write({row: count for row, count in found.items() if count.n_worlds}, path)


def is_dear(row: Row) -> bool:
    """Whether a test takes some hundredths of a second."""
    if row.null == "equal" and (row.measure, row.test) == ("tau_b(by=item)", "perm-systems"):
        return True
    return row.measure.startswith("spa") and row.test not in ("perm-systems", "jackknife-systems")


def weight(kind: Kind) -> int:
    """How many worlds other kinds get for each world of this one."""
    if kind.null == "equal":
        return 1
    is_beside = kind.effect or kind.population == "documents" or kind.data == _ONLY_SEGMENTS
    return (3 if is_beside else 1) * (2 if kind.is_dear else 1)


def main(arguments: Sequence[str]) -> int:
    """Run, or print the results so far."""
    return run_counting(arguments, "benchmarks.levels", LEVELS, simulate, lines)


def lines(path: Path) -> Iterator[str]:
    """The share of each row in words."""
    for row, count in read(path).items():
        yield (
            f"{row.data}, {row.null}, {row.population}, {row.effect:g}, {row.measure}, {row.test}: "
            f"{share_in_words(count.n_found, count.n_worlds)}, {count.n_undefined} not defined"
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
