"""XQ-MEval (arXiv 2604.14934): Parquet of outputs into several languages, with one to five injected errors each.

Columns: `language` (of the output, from English), `number` (of errors), `src`, `ref` and `merged_mt`, in which `<v>`
and `</v>` mark the errors. Each output is a separate item of a single system, `output`; its grade is minus its number
of errors.
"""

import re
from pathlib import Path

import polars as pl

from warehouse.errors import Fault
from warehouse.names import is_language_pair
from warehouse.readers.challenge.items import COLUMNS, Items

TESTSET = "xq-meval"
_READ = ("language", "number", "src", "ref", "merged_mt")
_NAME = re.compile(r"(?P<lp>en-[a-z]+)-.*\.parquet")


def pair_of(path: Path) -> str | None:
    """The language pair of a file in this format; None for any other file."""
    named = _NAME.fullmatch(path.name)
    try:
        columns = pl.read_parquet_schema(path) if named else {}
    except (Exception, pl.exceptions.PanicException):  # a damaged file of another form
        return None
    return named["lp"] if named and set(_READ) <= set(columns) and is_language_pair(named["lp"]) else None


def read_outputs(path: Path) -> Items:
    """The outputs as items."""
    frame = pl.read_parquet(path, columns=list(_READ)).with_row_index("item")
    grade = -pl.col("number").cast(pl.String).cast(pl.Float64, strict=False)
    frame = frame.with_columns(grade=grade)
    wrong = frame.filter(pl.col("grade").is_null() | (pl.col("language") != path.name.split("-")[1]))
    faults = [
        Fault(
            str(path),
            row + 1,
            f"language {language!r}, number {number!r}",
            "a number of errors, in the file's language",
        )
        for row, language, number in wrong.select("item", "language", "number").head(3).rows()
    ]
    none = dict.fromkeys(("phenomenon", "class", "domain", "document"), pl.lit(None, pl.String))
    items = frame.with_columns(
        hypothesis=pl.lit("output"),
        source="src",
        reference="ref",
        text=pl.col("merged_mt").str.replace_all(r"</?v>", ""),
        **none,
    ).select(COLUMNS)
    return Items(items if not faults else items.clear(), faults=tuple(faults))
