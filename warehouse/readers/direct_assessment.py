"""Direct assessment as WMT published it: `ad-LEVEL-scores-xx-yy.csv` and `metrics-ad-LEVEL-scores-xx-yy.csv`.

Columns are separated by blanks and named by a header; levels are seg, doc, sys. A segment's SID is a test-set line,
counted from 1, or `DOCUMENT_INDEX` with indices from 0 where whole documents were judged; its SEGID is
`DOCUMENT::INDEX` with indices from 1, and goes before SID. A document's SEGID is its name. RAW.SCR is the human score
`wmt-raw`, Z.SCR `wmt-z`.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from warehouse.errors import Fault
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.records import Records, TextReader
from warehouse.readers.text.tables import cells_that_are, constants, table_of, whole_numbers
from warehouse.readers.vocabulary import testset_of
from warehouse.wording import option

_FILE = re.compile(r"(metrics-)?ad-(?P<level>seg|doc|sys)(-scores)?-(?P<lp>[a-z]{2,3}-[a-z]{2,3})\.csv")
_RAW_JUDGEMENTS = re.compile(r"(metrics-)?ad-.*good-stnd-redup.*")
_NEEDED = {"seg": {"SYS", "N"}, "doc": {"SYS", "SEGID"}, "sys": {"SYS"}}
_PLACES = {"SID", "SEGID"}
_SCORERS = {"RAW.SCR": "wmt-raw", "Z.SCR": "wmt-z"}
_KNOWN = {"SYS", "N", "N.ALL", *_PLACES, *_SCORERS}


class DirectAssessmentReader(TextReader):
    """Reader of WMT's averaged direct assessments."""

    name = "wmt-da/1"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        if _RAW_JUDGEMENTS.fullmatch(path.name):
            return "single standardised judgements; only the files of averages are read"
        named = _FILE.fullmatch(path.name)
        if named is None:
            return None
        testset = given.testset or testset_of(path)
        if testset is None:
            return f"direct assessments of an unknown test set; name it with {option('testset')}"
        lp = given.lp or named["lp"]
        return Claim(path, self.name, f"{testset}/{lp}/{path.name}", ((testset, lp),), level=named["level"])

    def read(self, text: str, faults: list[Fault], claim: Claim, given: LoadHints) -> Records:
        assert claim.level is not None
        level, columns = claim.level, text.split("\n", 1)[0].split()
        if not _is_header(columns, level):
            found, expected = " ".join(columns[:10]), "SYS, RAW.SCR, Z.SCR, N and SID or SEGID"
            return Records(faults=[*faults, Fault(str(claim.path), 1, f"the header {found!r}", expected)])
        table = table_of(text, columns, " ", claim.path, faults, n_header=1, may_trail=True, floats=_SCORERS)
        if "N" in columns:
            table = whole_numbers(table, "N", claim.path, faults)
        ((testset, lp),) = claim.evalsets
        table = table.rename({"SYS": "system"}).with_columns(
            constants(testset=testset, lp=lp, level=level, kind="human")
        )
        if level == "seg":
            table = _of_one_kind(table, claim.path, faults)
            table = _placed(table)
        if level == "doc":
            table = table.with_columns(document=pl.col("SEGID"))
        scores = pl.concat(
            [table.with_columns(scorer=pl.lit(scorer), value=pl.col(column)) for column, scorer in _SCORERS.items()]
        )
        judgements = None
        if level == "seg":
            judged = constants(scorer="wmt-raw", status="valid")
            judgements = table.with_columns(*judged, judgement="line", value="RAW.SCR", n="N")
        return Records(scores=scores, judgements=judgements, faults=faults)


def _is_header(columns: Sequence[str], level: str) -> bool:
    """Whether these columns are valid: each occurs once, all are known, and none that the level needs is missing."""
    found = set(columns)
    needed = _NEEDED[level] | set(_SCORERS)
    is_placed = level != "seg" or bool(found & _PLACES)
    return len(found) == len(columns) and needed <= found <= _KNOWN and is_placed


def _of_one_kind(table: pl.DataFrame, path: Path, faults: list[Fault]) -> pl.DataFrame:
    """The rows whose SID is of the most frequent kind: a line of the test set, or a document and an index."""
    if "SID" not in table.columns or "SEGID" in table.columns:
        return table
    is_line = pl.col("SID").str.contains(r"^[0-9]+$")
    if table.select(is_line.mean() > 0.5).item():
        return cells_that_are(table, "SID", is_line, "a line of the test set, as in other rows", path, faults)
    return cells_that_are(table, "SID", ~is_line, "a document and a number, as in other rows", path, faults)


def _placed(table: pl.DataFrame) -> pl.DataFrame:
    """`DOCUMENT::INDEX` as document and index; line numbers unchanged; `DOCUMENT_INDEX` with the index from 1."""
    if "SEGID" in table.columns:
        within = pl.col("SEGID").str.extract_groups(r"^(?<document>.+)::(?<index>[0-9]+)$")
        return table.with_columns(
            document=within.struct.field("document"), index=within.struct.field("index").cast(pl.Int64, strict=False)
        )
    is_line = pl.col("SID").str.contains(r"^[0-9]+$")
    parts = pl.col("SID").str.extract_groups(r"^(?<document>.+)_(?<index>[0-9]+)$")
    return table.with_columns(
        segment=pl.when(is_line).then(pl.col("SID").cast(pl.Int64, strict=False)),
        document=pl.when(~is_line).then(parts.struct.field("document")),
        index=pl.when(~is_line).then(parts.struct.field("index").cast(pl.Int64, strict=False) + 1),
    )
