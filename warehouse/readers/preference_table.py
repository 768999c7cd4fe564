"""A user's preferences: a table with one row per pair of outputs compared by an annotator or a metric.

Columns: a segment (or document and index), `system_a`, `system_b`, and the answer: `answer` (A, B or tie, or the
name of the better system) or `score` (above 0 if A is better, 0 for a tie); if known, `annotator`, `testset`, `lp`,
and `metric` or `human`, which say whose preferences they are.
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from warehouse.errors import Fault
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.long_table import claim_of_named, with_evalset, with_place, with_references
from warehouse.readers.records import Records
from warehouse.readers.text.named_columns import Header, columns_of, placed, table_under, unread
from warehouse.readers.text.tables import cells_that_are, numbers
from warehouse.wording import counted, option

_SIDES = {
    side: tuple(f"{word}{of}" for word in ("system", "sys", "model", "output") for of in (letter, number))
    for side, letter, number in (("system_a", "a", "1"), ("system_b", "b", "2"))
}
_ANSWER = ("answer", "preference", "winner", "choice", "verdict", "preferred")
_WORDS = {
    **dict.fromkeys(("a", "1", "systema", "modela", "outputa", "system1", "left"), "a"),
    **dict.fromkeys(("b", "2", "systemb", "modelb", "outputb", "system2", "right"), "b"),
    **dict.fromkeys(("tie", "0", "=", "equal", "draw", "both", "same", "none", "neither"), "tie"),
}
_EXPECTED = "A, B or tie, or the name of the better system"


class PreferenceTableReader:
    """Reader of tables of preferences."""

    name = "preferences/1"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        header = _header(path, head)
        if header is None:
            return None
        named = f"name a human score with {option('human')}"
        unnamed = f"preferences without a metric or human score: {named}, or add a column 'metric' or 'human'"
        return claim_of_named(path, self.name, header, given, ("metric", "human"), unnamed)

    def parse(self, data: bytes, claim: Claim, given: LoadHints) -> Records:
        head = data[:65536].decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n")
        header = _header(claim.path, head)
        if header is None:
            found = "no columns for two systems and an answer"
            return Records(faults=[Fault(str(claim.path), 1, found, "system_a, system_b and answer")])
        header, table, faults = table_under(header, data, claim.path)
        if table.is_empty():
            return Records(faults=faults or [Fault(str(claim.path), 0, "no rows", "preferences below the header")])
        columns = _columns(header)
        table = table.rename({_opened(header, column): ours for ours, column in columns.items()})
        table = _answered(table, claim.path, faults)
        table = _named(table, claim.path, given, faults)
        table, more = placed(table, claim.path, given.first_segment)
        faults += more
        for side in _SIDES:
            table = cells_that_are(table, side, pl.col(side).is_not_null(), "a system", claim.path, faults)
        is_other = pl.col("system_a") != pl.col("system_b")
        table = cells_that_are(table, "system_b", is_other, "another system than system_a", claim.path, faults)
        table = with_evalset(with_references(table, given), with_place(given, claim.path), claim.path.parent)
        if "rater" not in table.columns:
            table = table.with_columns(rater=pl.lit(None, pl.String))
        n_ties = table.filter(answer="tie").height
        n_raters = table["rater"].drop_nulls().n_unique()
        raters = counted(n_raters, "annotator") if n_raters else "annotators unknown"
        notes = [f"{counted(table.height, 'preference')}, {counted(n_ties, 'tie')}, {raters}"]
        notes += unread([name for name in header.unknown if name not in columns.values()], header.columns)
        return Records(preferences=table.with_columns(ranking="line"), faults=faults, notes=notes)


def _folded(column: str) -> str:
    return "".join(sign for sign in column.lower() if sign.isalnum())


def _columns(header: Header) -> dict[str, str]:
    """Our name -> the table's, for the columns that only a table of preferences has."""
    folded: dict[str, str] = {}
    for column in header.columns:
        folded.setdefault(_folded(column), column)
    wanted = {**_SIDES, "answer": _ANSWER}
    found = {ours: next((folded[name] for name in names if name in folded), None) for ours, names in wanted.items()}
    return {ours: column for ours, column in found.items() if column is not None}


def _opened(header: Header, column: str) -> str:
    """A column's name in the opened table."""
    return header.names[header.columns.index(column)]


def _header(path: Path, head: Sequence[str]) -> Header | None:
    """The header of a table with two systems in each row and an answer or a score."""

    def is_fit(header: Header) -> bool:
        there = _columns(header).keys()
        return there >= _SIDES.keys() and ("answer" in there or "value" in header.known)

    return columns_of(path, head, is_fit)


def _answered(table: pl.DataFrame, path: Path, faults: list[Fault]) -> pl.DataFrame:
    """Rows with `answer`: a, b or tie."""
    if "answer" not in table.columns:
        table = numbers(table, "value", path, faults)
        table = cells_that_are(table, "value", pl.col("value").is_not_null(), "a score", path, faults)
        score = pl.col("value")
        sign = pl.when(score > 0).then(pl.lit("a")).when(score < 0).then(pl.lit("b")).otherwise(pl.lit("tie"))
        return table.with_columns(answer=sign)
    said = pl.col("answer").str.strip_chars()
    words = said.str.to_lowercase().str.replace_all(r"[ _-]", "")
    answer = (
        pl.when(said == pl.col("system_a"))
        .then(pl.lit("a"))
        .when(said == pl.col("system_b"))
        .then(pl.lit("b"))
        .otherwise(words.replace_strict(_WORDS, default=None, return_dtype=pl.String))
    )
    table = cells_that_are(
        table.with_columns(pl.col("answer").fill_null("")), "answer", answer.is_not_null(), _EXPECTED, path, faults
    )
    return table.with_columns(answer=answer)


def _named(table: pl.DataFrame, path: Path, given: LoadHints, faults: list[Fault]) -> pl.DataFrame:
    """Rows with `named` and `kind` of the scorer; for a user's own metric only the rows with its name."""
    for column in ("metric", "human", "reference"):
        if column not in table.columns:
            table = table.with_columns(pl.lit(None, pl.String).alias(column))
    is_human = pl.col("human").is_not_null() if given.is_own or given.metric else pl.col("metric").is_null()
    said = given.metric if given.is_own else given.metric or given.human
    named = pl.coalesce("metric", "human", pl.lit(said, pl.String))
    table = table.with_columns(named=named, kind=pl.when(is_human).then(pl.lit("human")).otherwise(pl.lit("metric")))
    table = cells_that_are(table, "named", pl.col("named").is_not_null(), "a metric or a human score", path, faults)
    if given.is_own:
        is_said = pl.col("named") == given.metric
        table = cells_that_are(table, "named", is_said, f"{given.metric}, as specified", path, faults)
    return table
