"""Scored items of any task: JSON lists or lines whose objects have human and predicted scores by dimension.

Each object is one output: `scores` has the human scores and `predict_scores` a metric's, both by dimension
(`fluency`, `coherence` …); `system_id` names the system, and `doc_id`, or the texts `source` and `context`, the item.
Without a system each object is a separate item, and items with the same source form one document.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from warehouse.errors import Fault
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.long_table import lp_of, with_place
from warehouse.readers.records import Records, TextReader
from warehouse.readers.text.json_lines import first_object, is_list, json_objects
from warehouse.readers.text.tables import first_faults
from warehouse.wording import counted, option

HUMAN, PREDICTED = "scores", "predict_scores"
ONLY_SYSTEM = "output"  # of files that name none
_SYSTEM, _ITEM, _TEXTS = ("system_id", "system"), ("doc_id", "item", "item_id", "id"), ("source", "context")
_OUTPUT = ("system_output", "output", "hypothesis")
_LONGEST = 1_000_000  # characters of a first object
_ENDINGS = ("_results", "_result", "_scores")
_KNOWN = {*_SYSTEM, *_ITEM, *_TEXTS, *_OUTPUT, HUMAN, PREDICTED, "reference"}


class ItemScoreReader(TextReader):
    """Reader of items with scores by dimension."""

    name = "item-scores/1"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        first = first_object(head) or _first_of_list(path, head)
        if first is None or not any(_is_by_dimension(first.get(name)) for name in (HUMAN, PREDICTED)):
            return None
        if PREDICTED not in first and not any(name in first for name in _OUTPUT):
            return None
        if _place(path, given)[1] is None:
            return f"scores of an unknown language pair; name it with {option('lp')}"
        return Claim(path, self.name, f"items/{path}", is_table=True, may_lack_end=True)

    def read(self, text: str, faults: list[Fault], claim: Claim, given: LoadHints) -> Records:
        testset, lp = _place(claim.path, given)
        objects = list(json_objects(text, claim.path, faults))
        is_named = any(_first(one, _SYSTEM) is not None for _, one in objects)
        n_sources = Counter(_texts(one) for _, one in objects)
        numbers: dict[object, int] = {}
        documents: dict[object, int] = {}
        rows: list[tuple[object, ...]] = []
        wrong: list[Fault] = []
        seen: dict[tuple[int, str], int] = {}
        for line, one in objects:
            found = _first(one, _ITEM)
            item = line if not is_named and found is None else found if found is not None else _texts(one)
            if item is None:
                expected = f"one of {', '.join((*_ITEM, *_TEXTS))}"
                wrong.append(Fault(str(claim.path), line, "an object without its item", expected, kind="item"))
                continue
            system = _first(one, _SYSTEM) if is_named else ONLY_SYSTEM
            segment = numbers.setdefault(item, len(numbers) + 1)
            if system is not None and (before := seen.setdefault((segment, system), line)) != line:
                again = f"object {line} scores the same output as object {before}: {system!r}, item {item!r}"
                wrong.append(Fault(str(claim.path), line, again, "each output once", kind="again"))
                continue
            source = _texts(one)
            is_shared = not is_named and source is not None and n_sources[source] > 1
            document = f"source-{documents.setdefault(source, len(documents) + 1)}" if is_shared else None
            for kind, name in (("human", HUMAN), ("metric", PREDICTED)):
                for dimension, value in _numbers(one.get(name), claim.path, line, wrong):
                    rows.append((line, kind, dimension, system, segment, document, value))
        faults += first_faults(wrong)
        names = dict.fromkeys(("kind", "scorer", "system"), pl.String)
        schema = {"line": pl.Int64, **names, "segment": pl.Int64, "document": pl.String, "value": pl.Float64}
        scores = pl.DataFrame(rows, schema=schema, orient="row").with_columns(
            testset=pl.lit(testset), lp=pl.lit(lp), level=pl.lit("seg")
        )
        return Records(scores=scores, faults=faults, notes=_notes(objects, scores, is_named))


def _first_of_list(path: Path, head: Sequence[str]) -> Mapping[str, Any] | None:
    """The first object of a list that is longer than the lines read for recognition."""
    if not is_list(head):
        return None
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return first_object([file.read(_LONGEST)])
    except OSError:
        return None


def _place(path: Path, given: LoadHints) -> tuple[str, str | None]:
    """Test set and language pair named by the user; by default the file's name, and no language pair."""
    given = with_place(given, path)
    name = path.name.split(".")[0]
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    given = replace(given, testset=given.testset or name)
    return given.testset or name, lp_of(given)


def _is_by_dimension(scores: object) -> bool:
    return isinstance(scores, dict) and bool(scores) and all(type(one) in (int, float) for one in scores.values())


def _first(one: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The value of the first key that an object has, as text; JSON numbers are floats."""
    value = next((one[name] for name in names if one.get(name) is not None), None)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return None if value is None else str(value)


def _texts(one: Mapping[str, Any]) -> tuple[str, ...] | None:
    found = tuple(str(one[name]) for name in _TEXTS if one.get(name) is not None)
    return found or None


def _numbers(scores: Any, path: Path, line: int, wrong: list[Fault]) -> list[tuple[str, float | None]]:
    """The scores of one object by dimension; values that are not numbers are faults."""
    if scores is None:
        return []
    if not isinstance(scores, dict):
        wrong.append(Fault(str(path), line, f"scores {scores!r}", "numbers by dimension", kind="scores"))
        return []
    for name, value in scores.items():
        if value is not None and type(value) is not float:
            wrong.append(Fault(str(path), line, f"{name} {value!r}", "a number", kind="number"))
    return [(name, value if type(value) is float else None) for name, value in scores.items()]


def _notes(objects: Sequence[tuple[int, Mapping[str, Any]]], scores: pl.DataFrame, is_named: bool) -> list[str]:
    dimensions = scores.filter(kind="human")["scorer"].unique(maintain_order=True).to_list()
    notes = [f"{counted(len(objects), 'output')}, human scores: {', '.join(dimensions) or 'none'}"]
    if not is_named:
        notes.append(f"no systems are named: each object is an item of the system {ONLY_SYSTEM!r}")
    unread = dict.fromkeys(key for _, one in objects for key in one if key not in _KNOWN)
    return notes + ([f"keys not read: {', '.join(unread)}"] if unread else [])
