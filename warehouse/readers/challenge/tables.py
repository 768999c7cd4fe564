"""Challenge sets as tables: ACES with two translations per row, and users' tables with one hypothesis per row.

ACES: columns source, good-translation, incorrect-translation, reference, phenomena, langpair; scores in METRIC-good and
METRIC-bad. Users' tables: item, phenomenon, hypothesis, grade, lp, and optionally testset, class, domain, document,
source, reference, text; every other column is a metric. A metric is named BLEU, or BLEU-ref, or Kiwi-src.
"""

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from warehouse.errors import Fault
from warehouse.facts.languages import language_pair_called
from warehouse.facts.metrics import describe
from warehouse.facts.testsets import class_of
from warehouse.names import is_language_pair, visible_name
from warehouse.readers.challenge.items import REFERENCE, Items, without_repeats
from warehouse.readers.text.named_columns import NO_SCORES, twice, unread
from warehouse.readers.text.tables import MISSING, NORMALISED, finite, first_faults, of_each_kind
from warehouse.wording import counted

ACES = "aces"
_CALLED_ACES = re.compile(
    r"(?<![a-z0-9])aces(?![a-z0-9])(?![-_. ]?v?\d(?!\d{3}))"
)  # a year may follow, no number of a set
_ACES = ("source", "good-translation", "incorrect-translation", "reference", "phenomena", "langpair")
_OWN = ("item", "phenomenon", "hypothesis", "grade", "lp")
_OPTIONAL = ("testset", "class", "domain", "document", "source", "reference", "text")
_SIDES = {"good-translation": ("good", 1.0), "incorrect-translation": ("bad", 0.0)}
_NAMES = (*_OWN[:3], "lp", *_OPTIONAL[:4], "phenomena", "langpair")  # columns of names; the others are texts and scores
_ENDINGS = {".tsv": "\t", ".csv": ","}
_YEAR = 2025  # of the registry of metrics, where a table says no more than a metric's name


def is_table(path: Path) -> bool:
    """Whether a table has the columns of a challenge set."""
    if path.suffix not in _ENDINGS:
        return False
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file, **_dialect(path)), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        return False
    return set(_ACES) <= set(header) or set(_OWN) <= set(header)


def is_nameless(path: Path) -> bool:
    """Whether nothing names the challenge set of a table in ACES format; the path names ACES itself."""
    header, rows, _ = _read(path)
    is_called_so = any(_CALLED_ACES.search(part.lower()) for part in path.parts[-3:])
    return set(_ACES) <= set(header) and not is_called_so and not all(row.get("testset") for row in rows)


def evalsets_in(path: Path, said: str | None = None) -> tuple[tuple[str, str], ...]:
    """The evaluation sets of a table. said: the user's name for the test set.

    If neither a column nor the user names the test set, it has the file's name; ACES is named aces.
    """
    header, rows, _ = _read(path)
    column = "langpair" if "langpair" in header else "lp"
    default = said or (ACES if set(_ACES) <= set(header) else path.stem)
    found = {
        (row.get("testset") or default, language_pair_called(row[column]))
        for row in rows
        if is_language_pair(row.get(column) or "")
    }
    return tuple(sorted(found))


def read_table(path: Path, testset: str, lp: str) -> Items:
    """The items of one evaluation set."""
    header, rows, notes = _read(path)
    is_aces = set(_ACES) <= set(header)
    column = "langpair" if is_aces else "lp"
    faults = twice(header, path)
    numbered_rows = list(enumerate(rows, start=2))
    if is_aces:
        numbered_rows, more = without_repeats(numbered_rows, lambda row: str(row[1]))
        notes += [*more, *_other_scores([row for _, row in numbered_rows])]
    made: list[dict[str, Any]] = []
    metrics: dict[str, None] = {}
    for line, row in numbered_rows:
        if None in row or None in row.values():
            expected = f"{len(header)}, as in the first line"
            faults.append(Fault(str(path), line, counted(len(row), "column"), expected, kind="columns"))
            continue
        if not is_language_pair(row[column]):
            faults.append(Fault(str(path), line, f"language pair {row[column]!r}", "one such as en-de", kind="lp"))
        if language_pair_called(row[column]) != lp or (row.get("testset") or testset) != testset:
            continue
        nameless = [] if is_aces else [name for name in _OWN[:3] if row[name] in MISSING]
        if nameless:
            faults.append(Fault(str(path), line, f"no {nameless[0]}", f"the name of the {nameless[0]}", kind="a name"))
            continue
        for one in _hypotheses_of_aces(row, line) if is_aces else [row]:
            scores, wrong = _scores(one)
            metrics |= dict.fromkeys(name for name in scores if name != "grade")
            expected = "a number, or nothing where it is missing"
            faults += [Fault(str(path), line, what, expected, kind="a number") for what in wrong]
            texts = {name: one.get(name) or None for name in (*_OPTIONAL[1:], "phenomenon")}
            made.append({"item": one["item"], "hypothesis": one["hypothesis"], **texts, **scores})
    faults = [*of_each_kind(faults), *first_faults(_repeated(made, path))]
    schema = {**dict.fromkeys(("item", "hypothesis", *_OPTIONAL[1:], "phenomenon"), pl.String)}
    frame = pl.DataFrame(made, schema={**schema, **dict.fromkeys(("grade", *metrics), pl.Float64)})
    numbered = {item: number for number, item in enumerate(dict.fromkeys(frame["item"]))}
    frame = frame.with_columns(item=pl.col("item").replace_strict(numbered, return_dtype=pl.Int64))
    return Items(frame, tuple(metrics), tuple(faults), notes=tuple(notes))


def _other_scores(rows: Sequence[dict[str, str]]) -> list[str]:
    """The note on ACES rows that repeat the texts of other rows with different scores."""
    n_texts = len({tuple(str(row.get(name)) for name in _ACES) for row in rows})
    n_again = len(rows) - n_texts
    what = counted(n_again, "row has", "rows have")
    return [f"{what} the texts of an earlier row but other scores; each counts as a separate item"] if n_again else []


def _dialect(path: Path) -> dict[str, Any]:
    is_tab = _ENDINGS[path.suffix] == "\t"
    return {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if is_tab else {"delimiter": ","}


def _read(path: Path) -> tuple[list[str], list[dict[str, str]], list[str]]:
    """Names of the columns, rows with visible names, and notes on columns and names.

    Row numbers and nameless columns hold no scores and are not returned.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, **_dialect(path))
        rows = list(reader)
        header = list(reader.fieldnames or [])
    left = [name for name in header if not name or NO_SCORES.fullmatch(name)]
    changed = set()
    for row in rows:
        for name in left:
            row.pop(name, None)
        for name in _NAMES:
            if (cell := row.get(name)) and (visible := visible_name(cell)) != cell:
                row[name] = visible
                changed.add((name, cell))
    notes = unread(left, header)
    notes += [f"{counted(len(changed), 'name')} {NORMALISED}"] if changed else []
    return [name for name in header if name not in left], rows, notes


def _hypotheses_of_aces(row: dict[str, str], line: int) -> list[dict[str, str]]:
    """The two translations of a row, each with its scores."""
    common = {"item": str(line), "phenomenon": row["phenomena"], "source": row["source"], "reference": row["reference"]}
    common["class"] = class_of(ACES, row["phenomena"]) or ""
    return [
        {
            **common,
            "hypothesis": column,
            "text": row[column],
            "grade": str(grade),
            **{name.removesuffix(f"-{side}"): cell for name, cell in row.items() if name.endswith(f"-{side}")},
        }
        for column, (side, grade) in _SIDES.items()
    ]


def _scores(row: dict[str, str]) -> tuple[dict[str, float | None], list[str]]:
    """Grade and metrics of a row, and the cells that are not numbers."""
    found: dict[str, float | None] = {}
    wrong = []
    for name, cell in row.items():
        if name in _OWN[:3] or name in _OPTIONAL or name == "lp":
            continue
        value = None if cell.strip() in MISSING else finite(cell.strip())
        if value is None and cell.strip() not in MISSING:
            wrong.append(f"{name} {cell!r}")
        found["grade" if name == "grade" else _variant(name)] = value
    return found, wrong


def _variant(name: str) -> str:
    """A metric's variant name, with the reference added if the name has none.

    >>> _variant("BLEU"), _variant("Kiwi-src"), _variant("BLEU-ref")
    ('BLEU-ref', 'Kiwi-src', 'BLEU-ref')
    """
    if name.endswith(("-src", f"-{REFERENCE}")):
        return name
    return f"{name}-src" if describe(name, _YEAR).is_reference_free else f"{name}-{REFERENCE}"


def _repeated(rows: Sequence[dict[str, Any]], path: Path) -> list[Fault]:
    seen: set[tuple[str, str]] = set()
    faults = []
    for row in rows:
        key = (row["item"], row["hypothesis"])
        if key in seen:
            found = f"item {key[0]!r} with hypothesis {key[1]!r} twice"
            faults.append(Fault(str(path), 0, found, "each once", kind="an item"))
        seen.add(key)
    return faults
