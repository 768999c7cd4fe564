"""An item of a paper on the loaded data: computed or taken from the store, and compared with the printed values."""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import polars as pl

from metaeval.results.cache import FROM_STORE, CacheEntry, keep, key_of
from metaeval.results.signature import signed
from metaeval.studies.papers.items import (
    Cell,
    Item,
    ItemValues,
    Paper,
    PrintedValue,
    Request,
    Verdict,
    printed_values,
    verdict,
)
from queries.longitudinal import EvalsetState, evalset_states
from queries.slices import Slice
from warehouse import QuestionError
from warehouse.errors import IT
from warehouse.progress import Progress
from warehouse.wording import are, counted

Set = tuple[str, str]  # test set, language pair
COLUMNS = (
    *("paper", "item", "row", "column", "testset", "lp", "printed", "decimals", "value", "difference", "verdict"),
    "note",
)


@dataclass(frozen=True)
class Row:
    """A cell of an item with its printed value. remarks: on the cell, and on what is not loaded or differs."""

    cell: Cell
    printed: PrintedValue | None
    verdict: Verdict
    remarks: tuple[str, ...]

    @property
    def note(self) -> str:
        """The page of the printed value, then the remarks."""
        page = () if self.printed is None else (_page(self.printed),)
        return _listed((*page, *self.remarks))

    @property
    def remark(self) -> str:
        """The remarks alone."""
        return _listed(self.remarks)


@dataclass(frozen=True)
class Outcome:
    """An item on the loaded data. excluded: the paper's evaluation sets without values, with the reason."""

    paper: Paper
    item: Item
    rows: tuple[Row, ...]
    signatures: tuple[str, ...]
    notes: tuple[str, ...]
    excluded: Mapping[Set, str]

    def count(self, wanted: Verdict) -> int:
        """Cells with a verdict."""
        return len([row for row in self.rows if row.verdict == wanted])


class Availability(NamedTuple):
    """Which evaluation sets an item can be computed on, with the data loaded for each, and why not on others."""

    sets: Mapping[Set, EvalsetState]
    excluded: Mapping[Set, QuestionError]


def available(item: Item, states: Sequence[EvalsetState]) -> Availability:
    """The evaluation sets of the paper that are loaded."""
    by_set = {(one.testset, one.lp): one for one in states}
    sets: dict[Set, EvalsetState] = {}
    excluded: dict[Set, QuestionError] = {}
    for testset, lp in item.sets:
        every = [one for one in states if one.testset == testset]
        found = every if lp == "all" else [by_set[testset, lp]] if (testset, lp) in by_set else []
        usable = [one for one in found if item.can_use(one)]
        sets |= {(one.testset, one.lp): one for one in usable}
        if not usable:
            excluded[testset, lp] = _without_scores(testset, lp) if found else _not_loaded(testset, lp)
    return Availability(sets, excluded)


def _not_loaded(testset: str, lp: str) -> QuestionError:
    return QuestionError(f"{IT} is not loaded", where=_name(testset, lp))


def _without_scores(testset: str, lp: str) -> QuestionError:
    return QuestionError(f"{IT} has no human or no metric scores", where=_name(testset, lp))


def _name(testset: str, lp: str) -> str:
    return testset if lp == "all" else f"{testset} {lp}"


def chosen(item: Item, states: Sequence[EvalsetState], testset: str, lp: str) -> Availability:
    """The requested evaluation sets, and why others that were named one by one cannot be used.

    testset, lp: joined by commas or "all".
    Raises QuestionError: none has both human and metric scores.
    """
    usable = {(one.testset, one.lp): one for one in states if item.can_use(one)}
    if not usable:
        names = ", ".join(f"{one.testset} {one.lp}" for one in states)
        raise QuestionError(f"an item of a paper needs human and metric scores; not both are loaded for {names}")
    there = {(one.testset, one.lp) for one in states}
    excluded = {name: _without_scores(*name) for name in there - set(usable)}
    if "all" not in (testset, lp):
        named = product(testset.split(","), lp.split(","))
        excluded |= {name: _not_loaded(*name) for name in named if name not in there}
    return Availability(usable, dict(sorted(excluded.items())))


def loaded(request: Request, testset: str = "all", lp: str = "all") -> list[EvalsetState]:
    """The evaluation sets of some names.

    Raises QuestionError: unknown names.
    """
    with request.opened() as warehouse:
        return evalset_states(warehouse, testset, lp)


def run(
    request: Request,
    paper: Paper,
    item: Item,
    testset: str | None = None,
    lp: str | None = None,
    human: str | None = None,
    *,
    states: Sequence[EvalsetState] | None = None,
) -> Outcome:
    """Compute an item: on the paper's own evaluation sets, or on others that are named.

    testset, lp: joined by commas or "all". states: of all evaluation sets, if they are known and none is named.
    Raises QuestionError: unknown names, or nothing can be computed on what was named.
    """
    is_own = testset is None and lp is None
    if not item.needs_data and not is_own:
        raise QuestionError(f"{paper.name} {item.name} needs no scores; leave test set and language pair out")
    if states is None or not is_own:
        states = loaded(request, testset or "all", lp or "all")
    there = available(item, states) if is_own else chosen(item, states, testset or "all", lp or "all")
    wanted = human or item.human
    asked = [Slice(*one, human=wanted if is_own or human else None) for one in there.sets]
    results, excluded = _results(request, paper, item, asked, there)
    if not is_own and not results:
        raise QuestionError("; ".join(dict.fromkeys(error.reason for error in excluded.values())))
    computed = [found for found, _ in results]
    comparable = human in (None, item.human)
    printed = [one for one in printed_values(paper.name) if one.item == item.name] if comparable else []
    if not is_own:
        shown = {(cell.testset, cell.lp) for found in computed for cell in found.cells}
        printed = [one for one in printed if (one.testset, one.lp) in shown]
    notes = [note for found, more in results for note in (*found.notes, *more)]
    notes += _on_excluded(excluded) if results else []
    reasons = {one: error.reason for one, error in excluded.items()}
    return Outcome(
        paper,
        item,
        tuple(
            with_printed(
                [cell for found in computed for cell in found.cells],
                printed,
                reasons,
                item.unavailable,
                relative=item.relative,
            )
        ),
        tuple(dict.fromkeys(found.signature for found in computed)),
        tuple(dict.fromkeys(notes)),
        reasons,
    )


def _on_excluded(excluded: Mapping[Set, QuestionError]) -> list[str]:
    """A line for each reason why evaluation sets have no values."""
    by_reason: dict[str, list[str]] = {}
    for (testset, lp), error in excluded.items():
        by_reason.setdefault(error.brief, []).append(_name(testset, lp))
    return [f"{', '.join(names)} {are(len(names))} excluded: {why}" for why, names in by_reason.items()]


def _results(
    request: Request, paper: Paper, item: Item, asked: Sequence[Slice], there: Availability
) -> tuple[list[tuple[ItemValues, list[str]]], dict[Set, QuestionError]]:
    """The results, with notes on where they came from, and why there are none for the other sets."""
    excluded = dict(there.excluded)
    if not item.needs_data:
        assert item.compute_together is not None
        return [(item.compute_together(request, []), [])], excluded
    found: list[tuple[ItemValues, list[str]]] = []
    groups = [asked] if item.compute_together is not None and asked else [[one] for one in asked]
    for place, group in enumerate(groups):
        part = replace(request, progress=_progress_of_group(request, f"{paper.name} {item.name}", place, len(groups)))
        try:
            found.append(_stored(part, paper, item, group, there))
        except QuestionError as error:
            excluded |= {(one.testset, one.lp): error for one in group}
    return found, excluded


def _progress_of_group(request: Request, what: str, place: int, total: int) -> Progress | None:
    """The progress function for one of several parts."""
    if request.progress is None:
        return None
    tell = request.progress
    tell(what, place, total)
    return lambda inner, done, of: tell(f"{what}: {inner}", place * max(of, 1) + done, total * max(of, 1))


def _stored(
    request: Request, paper: Paper, item: Item, group: Sequence[Slice], there: Availability
) -> tuple[ItemValues, list[str]]:
    """The result from the store, or computed now and kept if it takes long."""
    states = [there.sets[one.testset, one.lp] for one in group]
    key = key_of(
        "paper",
        [state.fingerprint for state in states],
        paper.name,
        item.name,
        *(f"{one.testset} {one.lp} {one.human}" for one in group),
        request.seed,
        request.draws,
        str(request.metrics),
    )
    joined = [",".join(dict.fromkeys(names)) for names in zip(*((one.testset, one.lp) for one in group), strict=True)]
    entry = CacheEntry(key, "paper", joined[0], joined[1], ItemValues)
    # `keep` writes below, so the warehouse may not stay open on the file.
    if item.is_stored and not request.fresh:
        with request.opened() as warehouse:
            kept = entry.stored(warehouse)
        if kept is not None:
            return kept, [FROM_STORE]
    started = time.perf_counter()
    if item.compute_together is not None:
        computed = item.compute_together(request, group)
    else:
        assert item.compute is not None
        computed = item.compute(request, group[0])
    if item.is_stored and request.database is not None:
        return computed, [*entry.notes, *keep(request.database, [(entry, computed, time.perf_counter() - started)])]
    return computed, list(entry.notes)


def with_printed(
    cells: Sequence[Cell],
    printed: Sequence[PrintedValue],
    excluded: Mapping[Set, str],
    unavailable: str = "",
    *,
    relative: Collection[str] = (),
) -> list[Row]:
    """Cells with their printed values and verdicts; then printed values without a computed one.

    excluded: evaluation set -> why it has no values. unavailable: why the paper's data cannot be loaded at all.
    relative: columns that depend on all rows.
    """
    by_place = {one.place: one for one in printed}
    short, without = _short_inputs(cells, printed), _missing_rows(cells, printed)
    rows: list[Row] = []
    for cell in cells:
        one = by_place.pop(_place(cell), None)
        if one is None:
            rows.append(Row(cell, None, "new", (cell.note,)))
            continue
        why = short.get((cell.testset, cell.lp))
        why = why or (without.get((cell.testset, cell.lp)) if cell.column in relative else None)
        found: Verdict = "not_loaded" if why else verdict(cell, one)
        rows.append(Row(cell, one, found, _remarks(cell, one, found, why)))
    for one in by_place.values():
        why = (
            excluded.get((one.testset, one.lp))
            or excluded.get((one.testset, "all"))
            or short.get((one.testset, one.lp))
            or unavailable
            or f"{one.row} is not among what is loaded for {one.testset} {one.lp}"
        )
        empty = Cell(one.row, one.column, one.testset, one.lp, None)
        rows.append(Row(empty, one, "not_loaded", (why,)))
    return rows


def _place(cell: Cell) -> tuple[str, str, str, str]:
    return (cell.row.casefold(), cell.column, cell.testset, cell.lp)


def _short_inputs(cells: Iterable[Cell], printed: Iterable[PrintedValue]) -> dict[Set, str]:
    """Evaluation sets with less data loaded than the paper had."""
    needed = {one.place: one.value for one in printed if one.kind == "input"}
    found: dict[Set, str] = {}
    for cell in cells:
        n = needed.get(_place(cell))
        if n is not None and (cell.value is None or cell.value < n):
            what = cell.column.removeprefix("n_")
            found[cell.testset, cell.lp] = f"{cell.value or 0:g} of {n:g} {what} are loaded"
    return found


def _missing_rows(cells: Iterable[Cell], printed: Iterable[PrintedValue]) -> dict[Set, str]:
    """Evaluation sets without some of the printed rows."""
    there: dict[Set, set[str]] = {}
    for cell in cells:
        there.setdefault((cell.testset, cell.lp), set()).add(cell.row.casefold())
    wanted: dict[Set, set[str]] = {}
    for one in printed:
        wanted.setdefault((one.testset, one.lp), set()).add(one.row.casefold())
    found = {}
    for place, rows in wanted.items():
        if place in there and (n := len(rows & there[place])) < len(rows):
            found[place] = f"{n} of {counted(len(rows), 'row')} {are(n)} loaded, and the value depends on all"
    return found


def _page(printed: PrintedValue) -> str:
    return f"p. {printed.page}" if printed.page.isdecimal() else printed.page


def _remarks(cell: Cell, printed: PrintedValue, found: Verdict, why: str | None) -> tuple[str, ...]:
    remarks = [cell.note]
    remarks += [f"standard error {cell.error:.2g}"] if cell.error else []
    remarks += [why] if why else []
    remarks += [printed.reason] if found == "explained" else []
    return tuple(remarks)


def _listed(parts: Iterable[str]) -> str:
    return "; ".join(part for part in parts if part)


def outcome_frame(outcomes: Sequence[Outcome]) -> pl.DataFrame:
    """One row per cell.

    Columns: paper, item, row, column, testset, lp, printed, decimals, value, difference (ours minus printed), verdict,
    note.
    """
    rows = [
        {
            "paper": one.paper.name,
            "item": one.item.name,
            "row": row.cell.row,
            "column": row.cell.column,
            "testset": row.cell.testset or None,
            "lp": row.cell.lp or None,
            "printed": row.printed.value if row.printed else None,
            "decimals": row.printed.decimals if row.printed else None,
            "value": row.cell.value,
            "difference": None
            if row.printed is None or row.cell.value is None or row.verdict == "not_loaded"
            else row.cell.value - row.printed.value,
            "verdict": row.verdict,
            "note": row.note or None,
        }
        for one in outcomes
        for row in one.rows
    ]
    numbers = ("printed", "value", "difference")
    schema = {
        name: pl.Float64 if name in numbers else pl.Int64 if name == "decimals" else pl.String for name in COLUMNS
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def outcome_signature(outcome: Outcome) -> str:
    """What an item was computed from, a line for each evaluation set."""
    own = signed(("paper", outcome.paper.name), ("item", outcome.item.name))
    return "\n".join(dict.fromkeys(outcome.signatures)) or own
