"""What a row must have before anything else looks at it."""

from dataclasses import replace
from pathlib import Path

import polars as pl

from tests.helpers import together
from warehouse.readers.records import Records, columns

_SCORE = {
    "line": 7,
    "testset": "tiny24",
    "lp": "en-de",
    "level": "seg",
    "kind": "metric",
    "scorer": "A",
    "system": "Ash",
    "segment": 1,
    "value": 0.5,
}
_JUDGEMENT = {
    "line": 7,
    "testset": "tiny24",
    "lp": "en-de",
    "scorer": "da",
    "system": "Ash",
    "segment": 1,
    "value": 1.0,
}
_SEGMENT = {"testset": "tiny24", "lp": "en-de", "segment": 1}
_KINDS: dict[str, dict[str, object]] = {"scores": _SCORE, "judgements": _JUDGEMENT, "segments": _SEGMENT}
_UNPLACED = "no segment, expected its number, or document and index"
_OUT_OF_RANGE = "a segment number out of range, expected a number from 1"
_FROM_0 = "segment numbers that begin at 0, expected segment numbers from 1"
_AT_INDEX = (
    "an 'index' column without a 'document' column, "
    "expected a 'document' column, or 'segment' with numbers in the test set"
)
_LEVELS = "expected one of sys, domain, doc, seg"


def _faults(kind: str, **changed: object) -> list[str]:
    """What is wrong with one row of a kind in which some cells are others."""
    row = {**_KINDS[kind], **changed}
    frame = pl.DataFrame({name: [value] for name, value in row.items()}, schema={n: columns(kind)[n] for n in row})
    return [str(fault) for fault in Records(**{kind: frame}).normal(Path("f")).faults]  # type: ignore[arg-type]


@together("kind", _KINDS)
def test_a_sound_row_has_no_faults(kind: str) -> None:
    assert _faults(kind) == []


@together(
    ("kind", "name"),
    [(kind, name) for kind in _KINDS for name in ("testset", "lp", "system", "scorer") if name in _KINDS[kind]],
)
@together("value", [None, ""])
def test_a_row_has_every_name(kind: str, name: str, value: str | None) -> None:
    line = ":7" if "line" in _KINDS[kind] else ""
    assert f"f{line}: no {name}, expected a {name}" in _faults(kind, **{name: value})


@together(
    ("kind", "changed", "fault"),
    [
        ("scores", {"lp": "German"}, "f:7: language pair 'German', expected one such as en-de"),
        ("judgements", {"lp": "de-"}, "f:7: language pair 'de-', expected one such as en-de"),
        ("segments", {"lp": "German"}, "f: language pair 'German', expected one such as en-de"),
        ("scores", {"level": "word"}, f"f:7: unknown level 'word', {_LEVELS}"),
        ("scores", {"segment": None}, f"f:7: {_UNPLACED}"),
        ("scores", {"segment": None, "document": "d"}, f"f:7: {_UNPLACED}"),
        ("scores", {"level": "doc"}, "f:7: no document, expected one"),
        ("scores", {"level": "domain"}, "f:7: no domain, expected one"),
        ("judgements", {"segment": None, "index": 2}, f"f:7: {_AT_INDEX}"),
        ("segments", {"segment": None}, "f: no segment, expected its number"),
        ("scores", {"segment": 0}, f"f:7: {_FROM_0}"),
        ("scores", {"segment": 2**31}, f"f:7: {_OUT_OF_RANGE}"),
        ("scores", {"segment": None, "document": "d", "index": 0}, f"f:7: {_FROM_0}"),
    ],
)
def test_what_is_wrong_with_a_row_is_one_fault_that_names_its_line(
    kind: str, changed: dict[str, object], fault: str
) -> None:
    assert _faults(kind, **changed) == [fault]


def test_further_rows_of_one_language_pair_or_another_are_counted_together() -> None:
    rows = [{**_SCORE, "line": line, "lp": "German" if line % 2 else "French"} for line in range(1, 31)]
    faults = Records(scores=pl.DataFrame(rows)).normal(Path("f")).faults
    assert str(faults[0]) == "f:1: language pair 'German', expected one such as en-de"
    assert [fault.n_more for fault in faults if fault.n_more] == [30 - len(faults) + 1]


@together("word", ["NaN", "None", "null", "NA", "#N/A", "#REF!"])
@together("column", ["system", "scorer"])
def test_a_word_for_nothing_is_no_name(word: str, column: str) -> None:
    faults = Records(scores=pl.DataFrame([{**_SCORE, column: word}])).normal(Path("x")).faults
    assert [(fault.line, fault.found) for fault in faults] == [(7, f"no {column}")]


def test_numbers_from_0_and_places_without_a_document_are_one_fault_a_file() -> None:
    for place, found in (
        ({"segment": [0, 1, 0]}, "segment numbers that begin at 0, and in 1 more line"),
        (
            {"segment": None, "index": [1, 2, 3]},
            "an 'index' column without a 'document' column, and in 2 more lines",
        ),
    ):
        row = {name: [value] * 3 for name, value in (_SCORE | {"segment": None, "index": None, "line": None}).items()}
        row |= {name: value for name, value in place.items() if value} | {"line": [2, 3, 4]}
        frame = pl.DataFrame(row, schema={name: columns("scores")[name] for name in row})
        assert [(fault.line, fault.found) for fault in Records(scores=frame).normal(Path("f")).faults] == [(2, found)]


@together("is_on_disk", [False, True])
def test_rows_of_several_evaluation_sets_are_those_of_each_without_their_neighbours(
    is_on_disk: bool, tmp_path: Path
) -> None:
    evalsets = [(testset, lp) for testset in ("a", "b", "c") for lp in ("de-en", "en-de", "en-zh")]
    rows = [{**_SCORE, "testset": one, "lp": lp, "line": line} for line, (one, lp) in enumerate(evalsets * 2, start=1)]
    scores = pl.DataFrame(rows, schema={name: columns("scores")[name] for name in _SCORE})
    read = Records(scores=scores.with_columns(segment=pl.col("line"))).normal(Path("f"))
    assert read.scores is not None
    if is_on_disk:
        read.scores.write_parquet(tmp_path / "1.parquet")
        read = replace(read, scores=None, on_disk=pl.scan_parquet(tmp_path / "1.parquet"))
    asked = [("c", "en-de"), ("a", "en-zh"), ("b", "fr-de")]
    found = read.of_each(asked)
    lines = {key: one.scores["line"].to_list() for key, one in found.items() if one.scores is not None}
    assert lines == {("c", "en-de"): [8, 17], ("a", "en-zh"): [3, 12], ("b", "fr-de"): []}
    for key in asked:
        alone = read.of(key)
        for name in ("scores", "judgements", "segments", "labels", "places"):
            assert getattr(found[key], name).equals(getattr(alone, name)), name
