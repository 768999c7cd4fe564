"""Users' tables with named columns in any order: CSV, TSV, JSON lines and Parquet."""

import io
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import polars as pl

from warehouse.errors import Fault
from warehouse.names import LEVELS
from warehouse.readers.text.bytes import GZIP, PARQUET, pieces_of
from warehouse.readers.text.json_lines import first_object, is_list, json_objects
from warehouse.readers.text.quoted import quoted_cells, quoted_table, quoted_tables
from warehouse.readers.text.tables import MISSING, cells_that_are, first_faults, more_lines, text_of
from warehouse.wording import option

SYNONYMS: Mapping[str, tuple[str, ...]] = {  # letters and digits alone, small; the first that a table has counts
    "testset": ("testset", "testsetname", "dataset"),
    "lp": ("lp", "languagepair", "langpair", "languages", "langs", "pair"),
    "source": ("sourcelang", "sourcelanguage", "srclang", "srclanguage"),
    "target": ("targetlang", "targetlanguage", "tgtlang", "tgtlanguage", "trglang"),
    "level": ("level", "granularity"),
    "kind": ("kind",),
    "scorer": ("scorer", "scorername"),
    "metric": ("basemetric", "metric", "metricname", "method", "judge", "judgename", "judgemodel"),
    "human": ("human", "humanscore", "protocol"),
    "reference": ("ref", "reference", "refset", "referencename"),
    "system": ("system", "sys", "systemid", "systemname", "sysname", "mtsystem", "model", "engine"),
    "domain": ("domain", "domainname"),
    "document": ("doc", "document", "docid", "documentid", "docname", "documentname"),
    "segment": ("seg", "segment", "segid", "segmentid", "sentid", "sid", "line"),
    "index": ("index", "indexindocument", "docindex", "docsegid", "segmentindocument"),
    "item": ("item", "itemid"),
    "run": ("run", "runid"),
    "version": ("promptversion", "judgeversion"),
    "rater": ("annotator", "rater", "annotatorid", "raterid", "annotatorname", "assessor", "workerid"),
    "value": ("score", "value", "overall"),
}
ERRORS = "prediction"  # what MetricX calls its scores, which count errors
NEGATED = f"{ERRORS} counts errors, lower is better: stored negated"
NO_SCORES = re.compile(  # columns that count rows or say something else of them
    r"unnamed: ?\d+|__index_level_\d+__|(.*_)?(id|len|length)|index|rank|annotator|rater|date|time|year", re.IGNORECASE
)
_SEPARATORS = "\t,;"
_NO_NAME = r"\s|[^\x00-\x7f]|.{60}"  # what a sentence has and the name of a reference has not
_MOST_CELLS = 50_000_000  # of a packed table that is read whole
_MOST_ROWS = 1_000_000_000  # of a packed table that is read in pieces
PIECE_ROWS, PIECE_BYTES = 250_000, 1 << 24  # of a table that is read in pieces
_PARTS = "(a value with parts)"  # stands in cells that hold a list or an object
_WITH_PARTS, _PLAIN = "a value with parts, or true or false,", "texts and numbers"
_LEVELS = {level: level for level in LEVELS} | {"system": "sys", "document": "doc", "segment": "seg"}


@dataclass(frozen=True)
class Header:
    """A table's format, and the names of its columns in the file."""

    form: Literal["text", "json", "parquet"]
    columns: tuple[str, ...]
    separator: str = ""

    @property
    def known(self) -> dict[str, str]:
        """Our name -> the table's, for the known columns."""
        folded: dict[str, str] = {}
        for column in self.columns:
            folded.setdefault(_folded(column), column)
        found = {
            ours: next((folded[name] for name in names if name in folded), None) for ours, names in SYNONYMS.items()
        }
        return {ours: column for ours, column in found.items() if column is not None}

    @property
    def names(self) -> list[str]:
        """Each column's name in the opened table: our name, or its own after `_`."""
        ours = {column: name for name, column in self.known.items()}
        return [ours.get(column, f"_{column}") for column in self.columns]

    @property
    def unknown(self) -> list[str]:
        known = set(self.known.values())
        return [column for column in self.columns if column not in known]


def header_of(path: Path, head: Sequence[str], system: str | None = None) -> Header | None:
    """The header of a table with a column of systems, or whose rows all belong to one system; else None."""
    if not head:
        return _parquet_header(path, system)
    return columns_of(path, head, is_fit=lambda header: system is not None or "system" in header.known)


def columns_of(
    path: Path, head: Sequence[str], is_fit: Callable[[Header], bool] = lambda header: True
) -> Header | None:
    """The first format in which a text's first line gives at least two column names, or JSON keys."""
    if not head:
        return None
    if head[0].startswith("{") or is_list(head):
        first = first_object(head)
        header = Header("json", tuple(first)) if first else None
        return header if header and is_fit(header) else None
    for separator in _SEPARATORS:
        header = Header("text", tuple(cell.strip() for cell in quoted_cells(head[0], separator)), separator)
        if len(header.columns) > 1 and is_fit(header):
            return header
    return None


def table_under(header: Header, data: bytes, path: Path) -> tuple[Header, pl.DataFrame, list[Fault]]:
    """The whole table as strings under the names of its header, stripped of blanks around them, and `line`.

    The returned header has all columns; in JSON lines, later lines may add keys. Words for
    missing values are null. In Parquet the line is the row number.
    """
    if faults := twice(header.columns, path):
        return header, pl.DataFrame(), faults
    if header.form == "parquet":
        table, faults = _parquet(header, data, path)
    else:
        text, faults = text_of(data, path)
        if not text:
            return header, pl.DataFrame(), faults
        if header.form == "json":
            header, table, more = _json(text, path)
            faults += more
        else:
            table = quoted_table(text, header.names, header.separator, path, faults, n_header=1, called=header.columns)
    table = _stripped(table)
    return header, without_reference_texts(table) if has_reference_texts(table) else table, faults


def is_large(header: Header, path: Path) -> bool:
    """Whether a table has more than one piece, and no packed text or JSON. Raises OSError."""
    if header.form == "parquet":
        try:
            return _n_rows(path) > PIECE_ROWS
        except (Exception, pl.exceptions.PanicException):  # a damaged file, which `table_under` reports
            return False
    with path.open("rb") as file:
        is_packed = file.read(len(GZIP)) == GZIP
    return header.form == "text" and not is_packed and path.stat().st_size > PIECE_BYTES


def tables_under(header: Header, path: Path) -> Iterator[tuple[pl.DataFrame, list[Fault]]]:
    """The tables of `table_under` for a large file, piece by piece, with the faults of each. Raises OSError."""
    if faults := twice(header.columns, path):
        yield pl.DataFrame(), faults
    elif header.form == "parquet":
        yield from ((_stripped(table), faults) for table, faults in _parquet_pieces(header, path))
    else:
        texts = (text_of(piece, path) for piece in pieces_of(path, PIECE_BYTES))
        tables = quoted_tables(texts, header.names, header.separator, path, header.columns, PIECE_ROWS)
        yield from ((_stripped(table), faults) for table, faults in tables)


def unread(
    names: Collection[str], columns: Sequence[str], reasons: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """The note on unread columns of a table. reasons: for columns whose reason is not obvious.

    >>> unread(["", "x"], ["", "system", "x"]), unread([], ["x"])
    (['columns not read: x and the first, which has no name'], [])
    >>> unread(["x", "n", "m"], ["x", "n", "m"], {"n": "a row number", "m": "a row number"})
    ['columns not read: x, n and m (a row number)']
    """
    of_reason: dict[str, list[str]] = {}
    for name in filter(None, names):
        of_reason.setdefault(reasons.get(name, ""), []).append(name)
    said = [
        ", ".join(
            f"{' and '.join(filter(None, [', '.join(those[:-1]), those[-1]]))} ({reason})"
            if reason
            else ", ".join(those)
            for reason, those in of_reason.items()
        )
    ]
    if "" in names:
        at = columns.index("") + 1
        said.append(f"{'the first' if at == 1 else f'column {at}'}, which has no name")
    return [f"columns not read: {' and '.join(filter(None, said))}"] if names else []


def twice(columns: Sequence[str], path: Path) -> list[Fault]:
    """The fault of a header with repeated names: it is unknown which column counts."""
    names = sorted({column for column in columns if columns.count(column) > 1})
    found = f"columns that appear twice: {', '.join(name or 'those without a name' for name in names)}"
    return [Fault(str(path), 1, found, "each once")] if names else []


def _stripped(table: pl.DataFrame) -> pl.DataFrame:
    """Cells without blanks around them; null for the words for missing values."""
    table = table.with_columns(pl.col(pl.String).str.strip_chars(" "))
    return table.with_columns(pl.when(~pl.col(pl.String).is_in(MISSING)).then(pl.col(pl.String)))


def has_reference_texts(table: pl.DataFrame) -> bool:
    """Whether a column `reference` has sentences, so that it does not name references."""
    return "reference" in table.columns and bool(table.select(pl.col("reference").str.contains(_NO_NAME).any()).item())


def without_reference_texts(table: pl.DataFrame) -> pl.DataFrame:
    """The table with the column `reference` set aside."""
    return table.rename({"reference": "_reference text"}, strict=False)


def placed(table: pl.DataFrame, path: Path, first: int = 1) -> tuple[pl.DataFrame, list[Fault]]:
    """Rows under our names with language pair, level, segment and index in the form of records.

    first: the file's number of the first segment, 0 or 1.

    The level is the row's, or follows from its place: a segment or index, else a document, else a domain, else
    the system as a whole. An item without any other place is a document with one segment.
    """
    faults: list[Fault] = []
    if "item" in table.columns and not {"document", "segment", "index"}.intersection(table.columns):
        table = table.with_columns(document="item", index=pl.when(pl.col("item").is_not_null()).then(pl.lit("1")))
    for column in ("domain", "document", "segment", "index", "level"):
        if column not in table.columns:
            table = table.with_columns(pl.lit(None, pl.String).alias(column))
    for column in ("segment", "index"):
        whole = pl.col(column).str.strip_suffix(".0")
        is_right = pl.col(column).is_null() | whole.str.contains(r"^[0-9]{1,9}$")
        table = cells_that_are(table, column, is_right, "a whole number, from 1", path, faults)
        table = table.with_columns(whole.cast(pl.Int64, strict=False).alias(column))
        is_zero = (pl.col(column) == 0).fill_null(False)
        if first == 1 and (zeros := table.filter(is_zero)).height:
            found = f"segment numbers that begin at 0{more_lines(zeros.height - 1)}"
            way_out = f"{option('first_segment', 0)} accepts them"
            faults.append(Fault(str(path), zeros["line"][0], found, "segment numbers from 1", way_out))
            table = table.filter(~is_zero)
        table = table.with_columns(pl.col(column) + (1 - first))
    by_place = (
        pl.when(pl.col("segment").is_not_null() | pl.col("index").is_not_null())
        .then(pl.lit("seg"))
        .when(pl.col("document").is_not_null())
        .then(pl.lit("doc"))
        .when(pl.col("domain").is_not_null() & (pl.col("domain") != "all"))
        .then(pl.lit("domain"))
        .otherwise(pl.lit("sys"))
    )
    stated = pl.col("level").str.to_lowercase()
    table = cells_that_are(
        table, "level", stated.is_null() | stated.is_in(list(_LEVELS)), "one of sys, domain, doc, seg", path, faults
    )
    return table.with_columns(
        level=pl.coalesce(stated.replace_strict(_LEVELS, default=None, return_dtype=pl.String), by_place)
    ), faults


def _folded(column: str) -> str:
    return "".join(sign for sign in column.lower() if sign.isalnum())


def _parquet_header(path: Path, system: str | None) -> Header | None:
    try:
        with path.open("rb") as file:
            if file.read(len(PARQUET)) != PARQUET:
                return None
    except OSError:
        return None
    try:
        header = Header("parquet", tuple(pl.read_parquet_schema(path)))
    except (Exception, pl.exceptions.PanicException):  # a damaged file: `parse` tells it as a fault
        return Header("parquet", ("system", "value"))
    return header if system is not None or "system" in header.known else None


def _parquet(header: Header, data: bytes, path: Path) -> tuple[pl.DataFrame, list[Fault]]:
    try:
        n_cells = pl.scan_parquet(io.BytesIO(data)).select(pl.len()).collect().item() * len(header.columns)
        if n_cells > _MOST_CELLS:
            found = f"a table of {n_cells:,} cells"
            return pl.DataFrame(), [
                Fault(str(path), 0, found, f"at most {_MOST_CELLS:,}", "write it into several files")
            ]
        return _as_texts(header, pl.read_parquet(io.BytesIO(data)), path)
    except (Exception, pl.exceptions.PanicException) as error:
        return pl.DataFrame(), [_unreadable(error, path)]


def _n_rows(path: Path) -> int:
    return int(pl.scan_parquet(path).select(pl.len()).collect().item())


def _parquet_pieces(header: Header, path: Path) -> Iterator[tuple[pl.DataFrame, list[Fault]]]:
    try:
        if (n_rows := _n_rows(path)) > _MOST_ROWS:
            found, expected = f"a table of {n_rows:,} rows", f"at most {_MOST_ROWS:,}"
            yield pl.DataFrame(), [Fault(str(path), 0, found, expected, "write it into several files")]
            return
        n_before = 0
        for table in pl.scan_parquet(path).collect_batches(chunk_size=PIECE_ROWS, maintain_order=True):
            texts, faults = _as_texts(header, table, path, n_before)
            yield texts, faults
            n_before += table.height
    except (Exception, pl.exceptions.PanicException) as error:
        yield pl.DataFrame(), [_unreadable(error, path)]


def _as_texts(header: Header, table: pl.DataFrame, path: Path, n_before: int = 0) -> tuple[pl.DataFrame, list[Fault]]:
    """Rows of Parquet as strings under the names of its header, and `line`. n_before: rows above them."""
    of_parts = [name for name, kind in table.schema.items() if kind.is_nested() or kind in (pl.Binary, pl.Object)]
    odd = [*of_parts, *(name for name, kind in table.schema.items() if kind == pl.Boolean)]
    if read := [name for name in odd if name in header.known.values()]:
        return pl.DataFrame(), [Fault(str(path), 0, f"{_WITH_PARTS} in {read[0]!r}", _PLAIN)]
    parts = [pl.when(pl.col(name).is_not_null()).then(pl.lit(_PARTS)).alias(name) for name in of_parts]
    table = table.with_columns(parts).cast(pl.String)
    table.columns = header.names
    return table.with_row_index("line", 1 + n_before).cast({"line": pl.Int64}), []


def _unreadable(error: BaseException, path: Path) -> Fault:
    found = f"not a readable table ({str(error).splitlines()[0] if str(error) else 'damaged'})"
    return Fault(str(path), 0, found, "Parquet with columns of texts and numbers")


def _json(text: str, path: Path) -> tuple[Header, pl.DataFrame, list[Fault]]:
    faults: list[Fault] = []
    sound: list[tuple[int, dict[str, Any]]] = []
    with_parts: list[Fault] = []
    for line, content in json_objects(text, path, faults):
        odd = [name for name, cell in content.items() if isinstance(cell, bool | dict | list)]
        read = set(Header("json", tuple(content)).known.values()).intersection(odd) if odd else ()
        if read:
            found = f"{_WITH_PARTS} in {min(read)!r}"
            with_parts.append(Fault(str(path), line, found, _PLAIN, kind="values"))
        else:
            sound.append((line, content))
    faults += first_faults(with_parts)
    header = Header("json", tuple(dict.fromkeys(key for _, content in sound for key in content)))
    schema: dict[str, Any] = {"line": pl.Int64} | dict.fromkeys(header.names, pl.String)
    columns = [[_in_words(content.get(column)) for _, content in sound] for column in header.columns]
    return header, pl.DataFrame([[line for line, _ in sound], *columns], schema=schema), faults


def _in_words(cell: Any) -> str | None:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, dict | list):
        return _PARTS
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() else repr(cell)
    return None if cell is None else str(cell)
