"""What people, spreadsheets and tools do to a score file: each change with its name."""

import bz2
import gzip
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.warehouse.small_files import Small

Files = dict[str, bytes]
_NUMBER = re.compile(r"(?<![\w.#-])-?\d+(?:\.\d+)?(?![\w.])")
_WIDE = str.maketrans("0123456789", "".join(chr(0xFF10 + digit) for digit in range(10)))


def _row(small: Small, name: str) -> int | None:
    """The second row that has a name, or the first of only one."""
    rows = [at for at, row in enumerate(small.rows) if name in row]
    return (rows[1:2] or [*rows, None])[0]


def _named(name: str, other: str) -> Callable[[Small], Files | None]:
    """Another name in one row."""

    def changed(small: Small) -> Files | None:
        at = _row(small, name)
        if at is None:
            return None
        rows = list(small.rows)
        rows[at] = rows[at].replace(name, other, 1)
        return {small.path: small.of(rows)}

    return changed


def _number(place: int, change: Callable[[str], str]) -> Callable[[Small], Files | None]:
    """Another number in one row. place: the row's first number, or its last."""

    def changed(small: Small) -> Files | None:
        rows = list(small.rows)
        at = 1
        found = list(_NUMBER.finditer(rows[at]))
        if not found:
            return None
        start, end = found[place].span()
        rows[at] = rows[at][:start] + change(rows[at][start:end]) + rows[at][end:]
        return {small.path: small.of(rows)}

    return changed


def _of_text(change: Callable[[str], str | bytes]) -> Callable[[Small], Files | None]:
    def changed(small: Small) -> Files | None:
        data = change(small.text)
        return {small.path: data.encode() if isinstance(data, str) else data}

    return changed


def _header(change: Callable[[str], str]) -> Callable[[Small], Files | None]:
    return lambda small: (
        {small.path: replace(small, header=change(small.header)).text.encode()} if small.header else None
    )


def _beside(name: Callable[[str, str, str], str], *, is_same: bool) -> Callable[[Small], Files | None]:
    """A copy beside the file, the same or with one score changed. name: made of folder, stem and ending."""

    def changed(small: Small) -> Files | None:
        folder, _, file = small.path.rpartition("/")
        stem, dot, ending = file.partition(".") if ".avg_seg_scores" in file else file.rpartition(".")
        if not dot:
            stem, ending = file, ""
        rows = list(small.rows)
        if not is_same:
            rows[1] = _changed_score(rows[1])
        copy = small.of(rows)
        path = (folder + "/" if folder else "") + name(stem, dot, ending)
        return {small.path: small.text.encode(), path: copy}

    return changed


def _changed_score(row: str) -> str:
    found = list(_NUMBER.finditer(row))
    if not found:
        return row
    start, end = found[-1].span()
    return row[:start] + ("2" if row[start:end] != "2" else "1") + row[end:]


def _packed(ending: str, pack: Callable[[bytes], bytes]) -> Callable[[Small], Files | None]:
    return lambda small: {small.path + ending: pack(small.text.encode())}


def _summary(name: str) -> Callable[[Small], Files | None]:
    """A row of means behind those of the systems."""

    def changed(small: Small) -> Files | None:
        rows = [row for row in small.rows if "Birch" in row]
        if not rows or "{" in rows[0]:
            return None
        return {small.path: small.of([*small.rows, rows[0].replace("Birch", name)])}

    return changed


def _equal_keys(small: Small) -> Files | None:
    rows = list(small.rows)
    for key in ('"score"', '"human1"', '"Fathom": ['):
        at = rows[1].find(key)
        if rows[1].startswith("{") and at >= 0:
            end = rows[1].find("]", at) + 1 if key.endswith("[") else _NUMBER.search(rows[1], at + len(key)).end()  # type: ignore[union-attr]
            again = rows[1][at:end]
            rows[1] = rows[1][:at] + again.replace("1", "2") + ", " + rows[1][at:]
            return {small.path: small.of(rows)}
    return None


def _alone(name: Callable[[str, str, str], str]) -> Callable[[Small], Files | None]:
    """The file under the name of a copy, without its original."""

    def changed(small: Small) -> Files | None:
        found = _beside(name, is_same=True)(small)
        return None if found is None else {path: data for path, data in found.items() if path != small.path}

    return changed


def _separator(small: Small) -> str | None:
    """What stands between the cells of a table."""
    if small.rows[0].lstrip(",").startswith("{"):
        return None
    return next((sign for sign in ("\t", ",", " ") if sign in small.rows[0]), None)


def _columns(change: Callable[[list[str], bool], list[str]]) -> Callable[[Small], Files | None]:
    """Other cells in all lines, the header's among them. change: of a line, and whether it is the header."""

    def changed(small: Small) -> Files | None:
        separator = _separator(small)
        if separator is None:
            return None
        lines = [(small.header, True)] * bool(small.header) + [(row, False) for row in small.rows]
        cells = [change(line.rstrip("\n").split(separator), is_header) for line, is_header in lines]
        return {small.path: "".join(separator.join(row) + "\n" for row in cells).encode()}

    return changed


def _with_index(called: str) -> Callable[[Small], Files | None]:
    """A first column of row numbers, as pandas writes it."""

    def changed(small: Small) -> Files | None:
        numbers = iter(range(len(small.rows)))
        add = _columns(lambda cells, is_header: [called if is_header else str(next(numbers)), *cells])
        return add(small) if small.header else None

    return changed


def _swapped(at: int) -> Callable[[Small], Files | None]:
    def swap(cells: list[str], is_header: bool) -> list[str]:
        del is_header
        return [*cells[:at], *reversed(cells[at : at + 2]), *cells[at + 2 :]]

    return _columns(swap)


def _in_row(change: Callable[[str], str | bytes]) -> Callable[[Small], Files | None]:
    """Another third row."""

    def changed(small: Small) -> Files | None:
        data = small.text.encode()
        row = small.rows[2].encode()
        new = change(small.rows[2])
        return {small.path: data.replace(row, new.encode() if isinstance(new, str) else new, 1)}

    return changed


def _cut(share: float) -> Callable[[Small], Files | None]:
    """The beginning of the file, up to the middle of a line."""

    def changed(small: Small) -> Files | None:
        data = small.text.encode()
        at = data.index(b"\n", int(len(data) * share) - 1) - 2 if share < 1 else len(data) - 2
        return {small.path: data[:at]}

    return changed


def _assessed(value: str) -> Callable[[Small], Files | None]:
    """Another direct assessment in one row."""

    def changed(small: Small) -> Files | None:
        if small.assessed is None:
            return None
        rows = list(small.rows)
        rows[1] = re.sub(small.assessed, rf"\g<1>{value}", rows[1], count=1)
        return {small.path: small.of(rows)}

    return changed


def _upper_first(text: str) -> str:
    return text[:1].upper() + text[1:]


_NAMES = {"system": "Birch", "metric": "Fathom", "rater": "rachel"}
_SPELLINGS: dict[str, Callable[[str], str]] = {
    "a blank behind": lambda name: f"{name} ",
    "a blank before": lambda name: f" {name}",
    "a no-break blank": lambda name: f"{name}\u00a0",
    "a zero-width blank": lambda name: f"{name}\u200b",
    "a no-break blank within": lambda name: f"{name[:2]}\u00a0{name[2:]}",
    "a zero-width blank within": lambda name: f"{name[:2]}\u200b{name[2:]}",
    "a mark of direction": lambda name: f"\u200e{name}",
    "another case": lambda name: name.swapcase(),
    ".txt": lambda name: f"{name}.txt",
    "a letter less": lambda name: name[:2] + name[3:],
    "a letter more": lambda name: name[:2] + "x" + name[2:],
    "another letter": lambda name: name[:2] + "x" + name[3:],
}
_NUMBERS: dict[str, Callable[[str], str]] = {
    "a decimal comma": lambda number: (number if "." in number else number + ".5").replace(".", ","),
    "a percent sign": lambda number: f"{number}%",
    "#N/A": lambda number: "#N/A",
    "hexadecimal": lambda number: "0x1F",
    "full-width digits": lambda number: number.translate(_WIDE),
    "underscored": lambda number: "1_0",
    "infinite": lambda number: "inf",
    "thousands": lambda number: "1,000",
}
_COPIES: dict[str, Callable[[str, str, str], str]] = {
    ".bak": lambda stem, dot, ending: f"{stem}{dot}{ending}.bak",
    "~": lambda stem, dot, ending: f"{stem}{dot}{ending}~",
    "Copy of": lambda stem, dot, ending: f"Copy of {stem}{dot}{ending}",
    "(1)": lambda stem, dot, ending: f"{stem} (1){dot}{ending}",
    "copy": lambda stem, dot, ending: f"{stem} copy{dot}{ending}",
    "_v2": lambda stem, dot, ending: f"{stem}_v2{dot}{ending}",
}

_DAMAGES: dict[str, Callable[[str], str | bytes]] = {
    "NUL": lambda row: row[:3] + "\0" + row[3:],
    "a byte that is not UTF-8": lambda row: row.encode()[:3] + b"\xff" + row.encode()[3:],
    "a carriage return": lambda row: row[:3] + "\r" + row[3:],
    "a byte order mark": lambda row: "\ufeff" + row,
    "a line separator": lambda row: row[:-1] + "\u2028\n",
    "a vertical tab": lambda row: row[:3] + "\v" + row[3:],
    "a quote": lambda row: '"' + row,
    "half a surrogate pair": lambda row: row.replace("source", "\\ud83d", 1),
    "a blank line": lambda row: row + "\n",
    "a cell more": lambda row: row.rstrip("\n") + "\tmore,cells and more\n",
    "a cell less": lambda row: re.sub(r"[\t ,][^\t ,]*\n", "\n", row),
}

_PAIRS: dict[str, Callable[[str, str], str]] = {
    "of three letters": lambda two, three: f"eng-{three}",
    "in capitals": lambda two, three: f"EN-{two.upper()}",
    "with an underscore": lambda two, three: f"en_{two}",
}

MUTATIONS: dict[str, Callable[[Small], Files | None]] = {
    **{
        f"{what} with {how}": _named(name, spelling(name))
        for what, name in _NAMES.items()
        for how, spelling in _SPELLINGS.items()
    },
    **{f"no system, {name!r}": _named("Birch", name) for name in ("", "NA", "null", "None", "\u200b")},
    **{f"no item, {name!r}": _named("item-2", name) for name in ("", "NA", "\u200b")},
    **{
        f"{how} in a document's hyphen": _named("doc-one", f"doc{sign}one")
        for how, sign in (("no-break", "\u2011"), ("en dash", "\u2013"), ("minus", "\u2212"))
    },
    **{f"{how} in an item's hyphen": _named("item-2", f"item{sign}2") for how, sign in (("no-break", "\u2011"),)},
    "blank behind an item": _named("item-2", "item-2 "),
    "zero-width blank in an item": _named("item-2", "item\u200b-2"),
    "no name of an index": _with_index(""),
    "pandas' name of an index": _with_index("Unnamed: 0"),
    "first column twice": _columns(lambda cells, is_header: [*cells[:1], *cells]),
    "last column twice": _columns(lambda cells, is_header: [*cells, *cells[-1:]]),
    **{
        f"column {number} named as the first": _columns(
            lambda cells, is_header, number=number: (
                [*cells[: number - 1], cells[0], *cells[number:]] if is_header else cells
            )
        )
        for number in (2, 3)
    },
    **{f"columns {at + 1} and {at + 2} swapped": _swapped(at) for at in range(4)},
    "rows turned round": lambda small: {small.path: small.of(reversed(small.rows))},
    **{f"{what} in a row": _in_row(change) for what, change in _DAMAGES.items()},
    **{f"cut at {share}": _cut(share) for share in (0.3, 0.6, 1)},
    **{f"a direct assessment of {value}": _assessed(value) for value in ("1e30", "-1", "100.5")},
    **{f"only the copy {how}": _alone(name) for how, name in _COPIES.items()},
    "system in split accents": _named("Cédar", unicodedata.normalize("NFD", "Cédar")),
    **{
        f"{how} in the {what} number": _number(place, change)
        for what, place in (("first", 0), ("last", -1))
        for how, change in _NUMBERS.items()
    },
    "byte order mark": _of_text(lambda text: "\ufeff" + text),
    "Windows line ends": _of_text(lambda text: text.replace("\n", "\r\n")),
    "old Mac line ends": _of_text(lambda text: text.replace("\n", "\r")),
    "mark and Windows line ends": _of_text(lambda text: "\ufeff" + text.replace("\n", "\r\n")),
    "UTF-16": _of_text(lambda text: text.encode("utf-16")),
    "Latin 1": _of_text(lambda text: text.encode("latin-1")),
    "blank line first": _of_text(lambda text: "\n" + text),
    "blank lines first": _of_text(lambda text: "\n\r\n \n" + text),
    "blank line last": _of_text(lambda text: text + "\n"),
    "no end of the last line": _of_text(lambda text: text.removesuffix("\n")),
    "header in capitals": _header(str.upper),
    "header in small letters": _header(str.lower),
    "header with blanks": _header(lambda header: re.sub(r"([,\t])", r" \1", header)),
    "header twice": _header(lambda header: header * 2),
    "no header": _header(lambda header: ""),
    "row of means": _summary("mean"),
    "row of the average": _summary("Average"),
    "row overall": _summary("overall"),
    "row twice": lambda small: {small.path: small.of([*small.rows, small.rows[-1]])},
    "row twice with another score": lambda small: {small.path: small.of([*small.rows, _changed_score(small.rows[-1])])},
    "equal keys": _equal_keys,
    "blanks around cells": _of_text(lambda text: re.sub(r"([,\t])", r" \1 ", text)),
    **{
        f"language pair {how}": lambda small, spelled=spelled: {
            small.path: small.text.replace(small.lp, spelled(*small.target)).encode()
        }
        for how, spelled in _PAIRS.items()
    },
    **{
        f"copy {how}, {'the same' if is_same else 'another score'}": _beside(name, is_same=is_same)
        for how, name in _COPIES.items()
        for is_same in (True, False)
    },
    "gzip": _packed(".gz", gzip.compress),
    "bzip2": _packed(".bz2", bz2.compress),
}


def cases(small: Small) -> Iterator[tuple[str, Files]]:
    """Every change that the file can have, with the files that are there then."""
    for name, change in MUTATIONS.items():
        files = change(small)
        if files is not None and files != {small.path: small.text.encode()}:
            yield name, {path: text.encode() for path, text in small.beside.items()} | files
