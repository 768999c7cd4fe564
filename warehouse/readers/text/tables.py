"""Delimited text as a frame of strings, and strings as numbers; each invalid line or cell is a fault."""

import contextlib
import io
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import polars as pl

from warehouse.errors import EXAMPLES, MOST_FAULTS, Fault
from warehouse.names import LOOK_ALIKES, WIDTHLESS
from warehouse.wording import counted


def first_faults(faults: Sequence[Fault], n: int | None = None) -> list[Fault]:
    """All faults of one kind or, if there are many, the first ones and one fault for all further lines.

    faults: of at least the first lines. n: number of faulty lines, by default the number of faults.
    >>> [str(fault) for fault in first_faults([Fault("a", 3, "no name", "one")], MOST_FAULTS + 2)]
    ['a:3: no name, expected one', 'a: 19 more lines: no name, expected one']
    """
    n = len(faults) if n is None else n
    if n <= MOST_FAULTS:
        return [*faults]
    n_more = n - EXAMPLES
    first = faults[0]
    more = counted(n_more, "more such line") if first.kind else f"{counted(n_more, 'more line')}: {first.found}"
    others = Fault(first.path, 0, more, first.expected, first.way_out, first.kind or first.found, n_more)
    return [*faults[:EXAMPLES], others]


def of_each_kind(faults: Iterable[Fault]) -> list[Fault]:
    """The faults of each kind, limited by `first_faults`; faults of the whole file once.

    faults: of a file, or of its pieces in order, including the counts of the pieces.
    """
    whole: dict[Fault, None] = {}
    first: dict[tuple[str, str, str], list[Fault]] = {}
    n_lines: dict[tuple[str, str, str], int] = {}
    for fault in faults:
        kind = fault.kind or fault.found, fault.expected, fault.way_out
        if fault.line == 0 and not (fault.n_more and kind in first):
            whole[fault] = None
            continue
        n_lines[kind] = n_lines.get(kind, 0) + (fault.n_more or 1)
        known = first.setdefault(kind, [])
        if not fault.n_more and len(known) < MOST_FAULTS:
            known.append(fault)
    return [*whole, *(fault for kind, known in first.items() for fault in first_faults(known, n_lines[kind]))]


def visible(names: pl.Expr) -> pl.Expr:
    """Names as they appear on screen; see `warehouse.names.visible_name`.

    >>> pl.select(visible(pl.lit("\\u00a0COMET\\u201122\\u200b "))).item()
    'COMET-22'
    """
    names = names.str.normalize("NFC").str.replace_all(WIDTHLESS, "")
    for look_alikes, sign in LOOK_ALIKES.items():
        names = names.str.replace_all(look_alikes, sign)
    return names.str.replace_all(r"^\s+|\s+$", "")


NORMALISED = "with invisible characters, or another kind of hyphen or blank, which were normalised"


def with_visible_names(table: pl.DataFrame, columns: Iterable[str]) -> tuple[pl.DataFrame, int]:
    """The table with visible names in some columns, and the number of distinct names that changed."""
    columns = [column for column in columns if column in table.columns]
    if table.is_empty() or not columns:
        return table, 0
    before = table.select(pl.col(columns).unique().drop_nulls().implode())
    after = before.select(pl.all().list.eval(visible(pl.element())))
    if before.equals(after):
        return table, 0
    n_changed = 0
    for column in columns:
        names = pl.DataFrame([before[column].explode().alias("before"), after[column].explode().alias("after")])
        changed = names.filter(pl.col("before") != pl.col("after"))
        if changed.height:
            n_changed += changed.height
            table = table.with_columns(pl.col(column).replace(changed["before"], changed["after"]))
    return table, n_changed


def cells_that_are(
    table: pl.DataFrame, column: str, is_right: pl.Expr, expected: str, path: Path, faults: list[Fault]
) -> pl.DataFrame:
    """The rows with a valid value in a column; the others (null counts as invalid) go to the faults.

    table: with `line`.
    """
    right = table.select(is_right.fill_null(False)).to_series()
    if right.all():
        return table
    wrong = table.filter(~right)
    faults += line_faults(
        wrong.select("line", column), lambda cell: f"{column} {cell!r}{_known_slip(cell)}", expected, path, column
    )
    return table.filter(right)


def _known_slip(cell: object) -> str:
    """The known spreadsheet format that makes a number invalid.

    >>> _known_slip("0,5"), _known_slip("12.5%"), _known_slip("x")
    (' with a decimal comma', ' with a percent sign', '')
    """
    if isinstance(cell, str) and re.fullmatch(r"[+-]?\d*,\d+", cell):
        return " with a decimal comma"
    return " with a percent sign" if isinstance(cell, str) and re.fullmatch(r"[+-]?[\d.,]+ ?%", cell) else ""


def line_faults(wrong: pl.DataFrame, found: Callable[..., str], expected: str, path: Path, what: str) -> list[Fault]:
    """One fault for each of the first lines, and the number of further lines.

    wrong: one row per line: `line`, and then the arguments of `found`, which describes the content. what: the problem
        that all have.
    """
    first = wrong.head(MOST_FAULTS).iter_rows()
    faults = [Fault(str(path), line, found(*cells), expected, kind=f"{what}: {expected}") for line, *cells in first]
    return first_faults(faults, wrong.height)


def repeated_faults(
    wrong: pl.DataFrame, column: str, found: str, expected: str, path: Path, way_out: str = ""
) -> list[Fault]:
    """One fault for each distinct cell, on its first line, with the number of further lines that have it.

    wrong: with `line` and the column. found: with a place for the cell, such as "test set {!r}".
    """
    cells = wrong.group_by(column).agg(pl.col("line").min(), n=pl.len()).sort("line")
    faults = [
        Fault(str(path), line, found.format(cell) + more_lines(n - 1), expected, way_out)
        for cell, line, n in cells.head(MOST_FAULTS).iter_rows()
    ]
    if cells.height > MOST_FAULTS:
        n_more = cells.height - MOST_FAULTS
        faults.append(Fault(str(path), 0, counted(n_more, "more such name"), expected, way_out, n_more=n_more))
    return faults


def more_lines(n: int) -> str:
    """The number of further lines with the same fault, for the end of its message.

    >>> more_lines(0), more_lines(1), more_lines(7)
    ('', ', and in 1 more line', ', and in 7 more lines')
    """
    return f", and in {counted(n, 'more line')}" if n else ""


def constants(**texts: str | None) -> list[pl.Expr]:
    """Columns with the same text, or null, in all rows."""
    return [pl.lit(text, pl.String).alias(name) for name, text in texts.items()]


MISSING = ("None", "NaN", "nan", "NA", "null", "")
UNREADABLE = "\ufffd"  # stands where bytes are no text
NUL = (b"\0", "a NUL byte", "text in UTF-8")
_RETURN = (b"\r", "a carriage return inside a line", "lines that end in a line feed")
_MARK = b"\xef\xbb\xbf"
_CONTROL = bytes(range(9)) + bytes(range(14, 32))  # none of them ends or separates anything
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEAD = 4096  # bytes of a file
_FEWEST_CONTROL, _MOST_CONTROL = 20, 0.05  # in binary data there are more, and a larger share of it


def text_of(data: bytes, path: Path) -> tuple[str, list[Fault]]:
    """UTF-8 text with line feeds as line ends and without a byte order mark; and faults of damaged lines.

    Invalid bytes in a damaged line become UNREADABLE, so that the other lines can be read. Nothing is read if all
    lines are damaged.
    """
    if not data:
        return "", [Fault(str(path), 0, "the file is empty", "scores")]
    if _is_binary(data):
        return "", [Fault(str(path), 0, "binary data", NUL[2])]
    data = data.removeprefix(_MARK).replace(b"\r\n", b"\n")
    damages = damaged_lines(data)
    faults = of_each_kind(Fault(str(path), *damage, kind="damaged") for damage in damages)
    text = data.decode("utf-8", "replace")
    if damages:
        text = text.replace("\0", UNREADABLE).replace("\r", UNREADABLE)
    n_lines = data.removesuffix(b"\n").count(b"\n") + 1
    return text if len({line for line, *_ in damages}) < n_lines else "", faults


def damaged_lines(
    data: bytes, unwanted: Sequence[tuple[bytes, str, str]] = (NUL, _RETURN)
) -> list[tuple[int, str, str]]:
    """Line, what was found and what was expected, of bytes that are not UTF-8 or unwanted."""
    with contextlib.suppress(UnicodeDecodeError):
        data.decode("utf-8")
        if not any(signs in data for signs, *_ in unwanted):
            return []
    damages: list[tuple[int, str, str]] = []
    for number, line in enumerate(io.BytesIO(data), start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            damages.append((number, f"bytes that are not UTF-8 ({error.reason})", NUL[2]))
        damages += [(number, found, expected) for signs, found, expected in unwanted if signs in line]
    return damages


def _is_binary(data: bytes) -> bool:
    r"""Whether the beginning is full of control characters, as in a picture, an archive or UTF-16.

    >>> _is_binary(bytes(range(256))), _is_binary("A\t0.5\n".encode("utf-16") * 9), _is_binary(b"A\0\t0.5\n")
    (True, True, False)
    """
    head = data[:_HEAD]
    n_control = len(head) - len(head.translate(None, _CONTROL))
    return n_control >= _FEWEST_CONTROL and n_control > len(head) * _MOST_CONTROL


def table_of(
    text: str,
    columns: Sequence[str],
    separator: str,
    path: Path,
    faults: list[Fault],
    *,
    n_header: int = 0,
    may_trail: bool = False,
    floats: Iterable[str] = (),
    integers: Iterable[str] = (),
) -> pl.DataFrame:
    """Lines split at the separator, without quoting: strings under `columns`, and `line`, from 1.

    n_header: lines to skip at the top. may_trail: one separator at a line's end is allowed (and removed).
    floats, integers: columns that are read as `numbers` and `whole_numbers` do, one after the other.
    Lines with another number of columns, and blank ones, go to the faults and have no row.
    """
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    frame = pl.DataFrame({"text": lines[n_header:]}, schema={"text": pl.String}).with_row_index("line", 1 + n_header)
    if may_trail:
        frame = frame.with_columns(pl.col("text").str.strip_suffix(separator))
    n_found = pl.col("text").str.count_matches(separator, literal=True) + 1
    wrong = frame.filter(n_found != len(columns)).with_columns(n_found.alias("n"))
    expected = f"{len(columns)}: {' '.join(columns)}"
    faults += line_faults(wrong, columns_found, expected, path, "columns")
    cells = pl.col("text").str.splitn(separator, len(columns)).struct.rename_fields(list(columns))
    table = frame.filter(n_found == len(columns)).select(pl.col("line").cast(pl.Int64), cells).unnest("text")
    for read, names in ((numbers, floats), (whole_numbers, integers)):
        for name in names:
            table = read(table, name, path, faults)
    return table


def columns_found(line: str, n_columns: int) -> str:
    """Description of a line with another number of columns."""
    return counted(n_columns, "column") if line.strip() else "a blank line"


def numbers(table: pl.DataFrame, column: str, path: Path, faults: list[Fault]) -> pl.DataFrame:
    """The table with a column as floats: words for missing values are null, other non-numbers are faults.

    table: with `line`. Rows of faults are left out and go to `faults`.
    """
    is_missing = pl.col(column).is_null() | pl.col(column).is_in(MISSING)
    value = pl.col(column).cast(pl.Float64, strict=False)
    is_odd = pl.col(column).str.contains(r"[^0-9eE.+-]")
    is_right = is_missing | (value.is_not_null() & value.is_finite() & ~is_odd)
    kept = cells_that_are(table, column, is_right, "a finite number, or None if missing", path, faults)
    return kept.with_columns(pl.when(is_missing).then(None).otherwise(value).alias(column))


def is_number(cell: str) -> bool:
    """Whether a cell holds a number, or a word for a missing one."""
    return cell.strip() in MISSING or finite(cell.strip()) is not None


def finite(cell: str) -> float | None:
    """The finite number in an ASCII text; None for any other text.

    >>> [finite(cell) for cell in ("1e-3", "-.5", "inf", "1_0", "0x1", "1,5")]
    [0.001, -0.5, None, None, None, None]
    """
    number = float(cell) if _NUMBER.fullmatch(cell) else float("inf")
    return number if abs(number) < float("inf") else None


def whole_numbers(table: pl.DataFrame, column: str, path: Path, faults: list[Fault]) -> pl.DataFrame:
    """The table with a column as whole numbers; rows with other values are faults and are left out."""
    value = pl.col(column).cast(pl.Int64, strict=False)
    is_right = value.is_not_null() & pl.col(column).str.contains(r"^-?[0-9]+$")
    return cells_that_are(table, column, is_right, "a whole number", path, faults).with_columns(value)
