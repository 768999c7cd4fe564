"""Papers, their items and their results as tables."""

from collections.abc import Sequence

import polars as pl

from metaeval.results.answer import Table
from metaeval.results.inputs import WarehouseOpener
from metaeval.results.notes import Partial
from metaeval.results.signature import signed
from metaeval.studies.papers import PAPERS
from metaeval.studies.papers.items import VERDICTS, Item, Paper, printed_values
from metaeval.studies.papers.running import Outcome, available, outcome_frame, outcome_signature
from queries.longitudinal import EvalsetState, evalset_states
from warehouse.wording import are, counted, option


def papers_table(opened: WarehouseOpener) -> Table:
    """One row per paper.

    Columns: paper, title, n_items, n_computable (on evaluation sets of the paper that are loaded), n_printed values.
    """
    states = _states(opened)
    rows = [
        {
            "paper": one.name,
            "n_items": len(one.items),
            "n_computable": sum(_is_computable(item, states) for item in one.items),
            "n_printed": len(printed_values(one.name)),
            "title": one.title,
        }
        for one in PAPERS.values()
    ]
    return Table(pl.DataFrame(rows), signed(("papers", "all")))


def items_table(opened: WarehouseOpener, paper: Paper) -> Table:
    """One row per table or figure of a paper.

    Columns: item, title, n_printed values, sets of the paper that it can be computed on here, and what is missing.
    """
    states = _states(opened)
    rows = []
    for item in paper.items:
        there = available(item, states)
        n_printed = sum(one.item == item.name for one in printed_values(paper.name))
        loaded = {testset: [] for testset, _ in there.sets}  # type: dict[str, list[str]]
        for testset, lp in there.sets:
            loaded[testset].append(lp)
        missing = [item.unavailable] if item.unavailable else []
        rows.append(
            {
                "item": item.name,
                "title": item.title,
                "n_printed": n_printed,
                "computable_on": "; ".join(f"{testset} {_several(lps)}" for testset, lps in loaded.items())
                or ("needs no scores" if not item.needs_data else None),
                "missing": "; ".join([*(error.reason for error in there.excluded.values()), *missing]) or None,
            }
        )
    schema = {name: pl.Int64 if name == "n_printed" else pl.String for name in rows[0]}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    notes = (f"{option('testset')} and {option('lp')} compute any item that reads scores on other evaluation sets",)
    return Table(frame, signed(("paper", paper.name)), notes)


def _several(lps: Sequence[str], most: int = 4) -> str:
    return ", ".join(lps) if len(lps) <= most else counted(len(lps), "language pair")


def _states(opened: WarehouseOpener) -> list[EvalsetState]:
    with opened() as warehouse:
        return evalset_states(warehouse, "all", "all")


def _is_computable(item: Item, states: Sequence[EvalsetState]) -> bool:
    return not item.needs_data or bool(available(item, states).sets)


def results_table(outcomes: Sequence[Outcome], *, summary: bool = False, for_reading: bool = False) -> Table:
    """The cells of items with the printed values, or with summary a row for each item that counts its verdicts.

    for_reading: an item without printed values as a table with its own columns.
    """
    frame = summary_frame(outcomes) if summary else outcome_frame(outcomes)
    if for_reading and not summary and not any(row.printed for one in outcomes for row in one.rows):
        frame = wide_frame(outcomes)
    several = len(outcomes) > 1
    notes = [f"{one.paper.name} {one.item.name}: {note}" if several else note for one in outcomes for note in one.notes]
    total = {name: sum(one.count(name) for one in outcomes) for name in VERDICTS}
    words = ", ".join(f"{n} {VERDICTS[name]}" for name, n in total.items() if n)
    signatures = [outcome_signature(one) for one in outcomes if one.rows]
    notes.append(words or "nothing to compute")
    n_printed = sum(row.printed is not None for one in outcomes for row in one.rows)
    of_all = f"{total['not_loaded']} of {counted(n_printed, 'printed value')}"
    missing = [
        Partial(f"partial: {of_all} {are(total['not_loaded'])} not compared, as what they depend on is not loaded")
    ]
    missing = missing if total["not_loaded"] else []
    if summary:
        signatures = [signed(("paper", ",".join(dict.fromkeys(one.paper.name for one in outcomes))))]
        notes = [words]
    return Table(_in_words(frame) if for_reading else frame, "\n".join(signatures), (*missing, *notes))


def _in_words(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with its verdicts as a reader's words."""
    if "verdict" in frame.columns:
        frame = frame.with_columns(pl.col("verdict").replace({"met": "reproduced", "not_loaded": "not loaded"}))
    return frame.rename({"n_met": "n_reproduced"}, strict=False)


def wide_frame(outcomes: Sequence[Outcome]) -> pl.DataFrame:
    """One line per item row and evaluation set, one column per item column; whole numbers without decimals.

    Columns: testset and lp if the items read scores, row, the items' own, note (those of the row's cells).
    """
    lines: dict[tuple[str, str, str], dict[str, float | None]] = {}
    notes: dict[tuple[str, str, str], dict[str, None]] = {}
    columns: dict[str, None] = {}
    for cell in (row.cell for one in outcomes for row in one.rows):
        place = (cell.testset, cell.lp, cell.row)
        lines.setdefault(place, {})[cell.column] = cell.value
        columns[cell.column] = None
        if cell.note:
            notes.setdefault(place, {})[cell.note] = None
    frame = pl.DataFrame(
        [[*place, *(values.get(name) for name in columns), "; ".join(notes.get(place, {})) or None]
         for place, values in lines.items()],
        schema={**dict.fromkeys(("testset", "lp", "row"), pl.String), **dict.fromkeys(columns, pl.Float64),
                "note": pl.String},
        orient="row",
    )  # fmt: skip
    whole = [name for name in columns if (frame[name].drop_nulls() % 1 == 0).all()]
    empty = [name for name in ("testset", "lp") if not (frame[name] != "").any()]
    empty += [] if notes else ["note"]
    return frame.with_columns(pl.col(whole).cast(pl.Int64)).drop(empty)


def summary_frame(outcomes: Sequence[Outcome]) -> pl.DataFrame:
    """One row per item. Columns: paper, item, title, n_printed, a count for each verdict, missing."""
    rows = [
        {
            "paper": one.paper.name,
            "item": one.item.name,
            "title": one.item.title,
            "n_printed": sum(row.printed is not None for row in one.rows),
            **{f"n_{name}": one.count(name) for name in VERDICTS},
            "missing": "; ".join(dict.fromkeys(_missing(one))) or None,
        }
        for one in outcomes
    ]
    text = ("paper", "item", "title", "missing")
    return pl.DataFrame(rows, schema={name: pl.String if name in text else pl.Int64 for name in rows[0]}, orient="row")


def _missing(outcome: Outcome) -> list[str]:
    reasons = [*outcome.excluded.values()]
    reasons += [row.remark for row in outcome.rows if row.verdict == "not_loaded" and row.printed]
    return reasons if len(set(reasons)) <= 4 else [*dict.fromkeys(reasons)][:4]
