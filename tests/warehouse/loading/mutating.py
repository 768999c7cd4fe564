"""What people, spreadsheets and tools do to a score file: each change with its name."""

import bz2
import gzip
import re
import unicodedata
from collections.abc import Callable, Iterator

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
        return {small.path: (small.header + "".join(rows)).encode()}

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
        return {small.path: (small.header + "".join(rows)).encode()}

    return changed


def _of_text(change: Callable[[str], str | bytes]) -> Callable[[Small], Files | None]:
    def changed(small: Small) -> Files | None:
        data = change(small.text)
        return {small.path: data.encode() if isinstance(data, str) else data}

    return changed


def _header(change: Callable[[str], str]) -> Callable[[Small], Files | None]:
    return lambda small: {small.path: (change(small.header) + "".join(small.rows)).encode()} if small.header else None


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
        copy = (small.header + "".join(rows)).encode()
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
        return {small.path: (small.text + rows[0].replace("Birch", name)).encode()}

    return changed


def _equal_keys(small: Small) -> Files | None:
    rows = list(small.rows)
    for key in ('"score"', '"human1"', '"Fathom": ['):
        at = rows[1].find(key)
        if rows[1].startswith("{") and at >= 0:
            end = rows[1].find("]", at) + 1 if key.endswith("[") else _NUMBER.search(rows[1], at + len(key)).end()  # type: ignore[union-attr]
            again = rows[1][at:end]
            rows[1] = rows[1][:at] + again.replace("1", "2") + ", " + rows[1][at:]
            return {small.path: (small.header + "".join(rows)).encode()}
    return None


def _upper_first(text: str) -> str:
    return text[:1].upper() + text[1:]


_NAMES = {"system": "Birch", "metric": "Fathom", "rater": "rachel"}
_SPELLINGS: dict[str, Callable[[str], str]] = {
    "a blank behind": lambda name: f"{name} ",
    "a blank before": lambda name: f" {name}",
    "a no-break blank": lambda name: f"{name}\u00a0",
    "a zero-width blank": lambda name: f"{name}\u200b",
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
    "row twice": lambda small: {small.path: (small.text + small.rows[-1]).encode()},
    "row twice with another score": lambda small: {small.path: (small.text + _changed_score(small.rows[-1])).encode()},
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
