"""WMT20's `input/details/LP.txt`: the document and segment of each line of a test set.

Tab-separated, without a header: line of the test set, test set, language pair, document, number within the document.
Both numbers start at 1.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from warehouse.errors import MOST_FAULTS, Fault
from warehouse.facts.languages import language_pair_called
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.records import Records, TextReader
from warehouse.readers.text.bytes import head_of
from warehouse.readers.text.tables import constants, first_faults, repeated_faults, table_of
from warehouse.readers.vocabulary import testset_called, testset_of
from warehouse.wording import option

_PAIR = re.compile("[a-z]{2,3}-[a-z]{2,3}")
_COLUMNS = ("N", "TESTSET", "LP", "DOC", "SEGNO")


class SegmentDetailsReader(TextReader):
    """Reader of declared segments of a test set; scores are checked against them."""

    name = "wmt-details/1"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        is_placed = path.suffix == ".txt" and path.parent.name == "details"
        row = _first_row(head) if is_placed else None
        if row is None:
            named = _neighbour(path) if is_placed and _PAIR.fullmatch(path.stem) else None
            if named is None:
                return None
            row = ["", named, path.stem]  # a damaged file: its faults keep out what it declares the segments of
        testset = testset_called(row[1], path) or given.testset
        if testset is None:
            return f"segments of {row[1]!r}, an unrecognised test set; name it with {option('testset')}"
        lp = language_pair_called(row[2])
        return Claim(path, self.name, f"{testset}/input/details/{lp}.txt", ((testset, lp),), declares="segments")

    def read(self, text: str, faults: list[Fault], claim: Claim, given: LoadHints) -> Records:
        table = table_of(text, _COLUMNS, "\t", claim.path, faults, integers=("N", "SEGNO"))
        ((testset, lp),) = claim.evalsets
        table = table.with_columns(named=pl.concat_str("TESTSET", "LP", separator=" "))
        others = [
            " ".join(name)
            for name in table.select("TESTSET", "LP").unique().rows()
            if (testset_called(name[0], claim.path) or given.testset, language_pair_called(name[1])) != (testset, lp)
        ]
        strange = table.filter(pl.col("named").is_in(others))
        faults += repeated_faults(strange, "named", "a segment of {}", f"segments of {testset} {lp} alone", claim.path)
        faults += _misplaced(table, claim.path)
        segments = table.rename({"N": "segment", "DOC": "document", "SEGNO": "index"})
        return Records(segments=segments.with_columns(constants(testset=testset, lp=lp)), faults=faults)


def _first_row(head: Sequence[str]) -> list[str] | None:
    return next((row for row in (line.split("\t") for line in head) if _fits(row)), None)


def _neighbour(path: Path) -> str | None:
    """The test set named by the details next to a file, or else by its folders."""
    for other in sorted(path.parent.glob("*.txt")):
        if _PAIR.fullmatch(other.stem) and (row := _first_row(head_of(other))) is not None:
            return row[1]
    return testset_of(path)


def _fits(row: Sequence[str]) -> bool:
    return len(row) == len(_COLUMNS) and row[0].isdecimal() and row[4].isdecimal() and "-" in row[2]


def _misplaced(table: pl.DataFrame, path: Path) -> list[Fault]:
    """Faults of numbers out of sequence: lines must be 1, 2, …, and so must the numbers in each document.

    Lines with other faults have no row in the table; any of them may have belonged to the document.
    """
    n_lost = pl.col("line") - pl.int_range(1, pl.len() + 1)
    rows = table.with_columns(n_lost=n_lost).with_columns(
        at=pl.col("line") + (pl.col("N") - pl.col("line")).shift(1, fill_value=0),
        within=pl.col("SEGNO").shift(1, fill_value=0).over("DOC") + 1,
        n_between=pl.col("n_lost") - pl.col("n_lost").shift(1, fill_value=0).over("DOC"),
    )
    n_skipped = pl.col("SEGNO") - pl.col("within")
    wrong = rows.filter((pl.col("N") != pl.col("at")) | (n_skipped < 0) | (n_skipped > pl.col("n_between")))
    first = wrong.select("line", "N", "DOC", "SEGNO", "at", "within").head(MOST_FAULTS).iter_rows()
    faults = [
        Fault(
            *(str(path), line, f"segment {n}, number {segno} of document {doc!r}", f"{at}, number {within}"),
            kind="numbers",
        )
        for line, n, doc, segno, at, within in first
    ]
    return first_faults(faults, wrong.height)
