"""System scores as `METRIC LP TESTSET SYSTEM SCORE`, separated by tabs, with or without that header.

Files of a published test set may also have the header in other case or in quotes, or commas for tabs. Blanks around a
cell do not count. Scores of error measures (TER in WMT12) are negated: higher is better. The
metric `HUMAN` is a human score of that name. WMT12 has this format.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from warehouse.errors import Fault
from warehouse.facts.languages import language_pair_called
from warehouse.names import is_language_pair
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.records import Records, TextReader
from warehouse.readers.text.quoted import quoted_cells, quoted_table
from warehouse.readers.text.tables import is_number, numbers, repeated_faults
from warehouse.readers.vocabulary import is_raw_error, standard_reference, testset_called, testset_of
from warehouse.wording import option

_COLUMNS = ("METRIC", "LP", "TESTSET", "SYSTEM", "SCORE")
_HUMAN = "HUMAN"


class FiveColumnReader(TextReader):
    """Reader of system scores that name metric, language pair, test set and system in each line."""

    name = "five-columns/1"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        separator, is_titled = _form(head[0]) if head else ("\t", False)
        rows = [[cell.strip() for cell in quoted_cells(line, separator)] for line in head if line]
        is_by_tabs = separator == "\t" and '"' not in "".join(head[:1])
        is_published = is_by_tabs and (not is_titled or tuple(rows[0]) == _COLUMNS)
        body = rows[1:] if is_titled else rows
        valid = [row for row in body if _fits(row)]
        is_meant = bool(rows) and _is_named(path)
        if not valid and not (is_meant and testset_of(path)):
            return "a header but no scores" if is_titled and not body else None
        if not is_titled and not is_meant and (not _fits(rows[0]) or 2 * len(valid) < len(body)):
            return None  # another header is another format
        named = valid[0][2] if valid else ""
        called = testset_called(named, path)
        if not is_published and called in (None, named):
            return None  # a table of the user
        testset = called or given.testset or (None if valid else testset_of(path))
        if testset is None:
            return f"scores of {named!r}, an unrecognised test set; name it with {option('testset')}"
        return Claim(path, self.name, f"{testset}/{path.name}")

    def read(self, text: str, faults: list[Fault], claim: Claim, given: LoadHints) -> Records:
        path = claim.path
        separator, is_titled = _form(text.split("\n", 1)[0])
        table = quoted_table(text, _COLUMNS, separator, path, faults, n_header=int(is_titled))
        table = table.with_columns(pl.col(_COLUMNS).str.strip_chars(" "))
        table = numbers(table, "SCORE", path, faults)
        rows: list[tuple[object, ...]] = []
        for metric, called, pair in table.select("METRIC", "TESTSET", "LP").unique().iter_rows():
            testset, lp = testset_called(called, path) or given.testset, language_pair_called(pair)
            of_metric: tuple[str | None, bool] = None, False
            if metric != _HUMAN and testset is not None:
                of_metric = standard_reference(metric, testset, lp), is_raw_error(metric, testset)
            rows.append((metric, called, pair, testset, lp, *of_metric))
        texts = dict.fromkeys(("METRIC", "TESTSET", "LP", "testset", "lp", "reference"), pl.String)
        facts = pl.DataFrame(rows, schema={**texts, "is_negated": pl.Boolean}, orient="row")
        is_human = pl.col("METRIC") == _HUMAN
        scores = table.join(facts, on=["METRIC", "TESTSET", "LP"], how="left", maintain_order="left").with_columns(
            level=pl.lit("sys"),
            kind=pl.when(is_human).then(pl.lit("human")).otherwise(pl.lit("metric")),
            scorer=pl.col("METRIC"),
            system=pl.col("SYSTEM"),
            value=pl.when("is_negated").then(0.0 - pl.col("SCORE")).otherwise("SCORE"),
        )
        unknown = scores.filter(pl.col("testset").is_null())
        expected = "one such as newstest2012"
        faults += repeated_faults(
            unknown, "TESTSET", "test set {!r}", expected, path, f"name it with {option('testset')}"
        )
        return Records(scores=scores.filter(pl.col("testset").is_not_null()), faults=faults)


def _form(line: str) -> tuple[str, bool]:
    """The separator in a file's first line, and whether this line is the header.

    >>> _form('"metric","lp","testset","system","score"'), _form("AMBER\\tes-en\\tnewstest2012\\tjhu\\t0.21")
    ((',', True), ('\\t', False))
    """
    separator = next((sign for sign in "\t,;" if len(quoted_cells(line, sign)) == len(_COLUMNS)), "\t")
    return separator, tuple(cell.strip().upper() for cell in quoted_cells(line, separator)) == _COLUMNS


def _is_named(path: Path) -> bool:
    """Whether a file is named like those of WMT12."""
    return re.fullmatch(r"mt-systems-scored-by-(humans|metrics)", path.name) is not None


def _fits(row: Sequence[str]) -> bool:
    """Whether a line has five columns, the second a language pair and the last a number or a word for none."""
    return len(row) == len(_COLUMNS) and is_language_pair(row[1]) and is_number(row[4])
