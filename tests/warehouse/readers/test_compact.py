"""Frames in little room, and the rows of a file that come in pieces."""

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from warehouse.readers.compact import compact, joined, plain
from warehouse.readers.kept import kept
from warehouse.readers.records import Records

_TYPES = {"name": pl.String, "n": pl.Int64, "value": pl.Float64, "is_so": pl.Boolean, "nothing": pl.String}


def _frame(*rows: tuple[str | None, int | None, float | None, bool | None]) -> pl.DataFrame:
    return pl.DataFrame([(*row, None) for row in rows], schema=_TYPES, orient="row")


FRAMES = [
    _frame(("a", 1, 0.5, True), ("b", None, None, None), (None, 2**40, -0.1, False)),
    _frame(("c", 300, 1.0, True), ("a", 1, 0.25, True)),
    _frame((None, None, None, None)),
]


@pytest.mark.parametrize("frame", [*FRAMES, _frame()], ids=["mixed", "whole", "nothing but missing", "empty"])
def test_a_compact_frame_is_given_back_as_it_was(frame: pl.DataFrame) -> None:
    assert_frame_equal(plain(compact(frame), _TYPES), frame)


def test_compact_frames_with_other_names_and_larger_numbers_are_joined_in_their_order() -> None:
    together = joined([compact(frame) for frame in FRAMES])
    assert_frame_equal(plain(together, _TYPES), pl.concat(FRAMES))


def test_frames_with_thousands_of_names_each_are_joined() -> None:
    """70,000 names together: more than fit into 16 bits."""
    others = [pl.lit(None, _TYPES[name]).alias(name) for name in ("value", "is_so", "nothing")]
    frames = [
        pl.DataFrame({"name": [f"{part}-{n}" for n in range(5000)], "n": [n * 1000 for n in range(5000)]}).select(
            "name", "n", *others
        )
        for part in range(14)
    ]
    together = joined([compact(frame) for frame in frames])
    assert_frame_equal(plain(together, _TYPES), pl.concat(frames))


def test_a_row_of_scores_takes_less_than_forty_bytes() -> None:
    n = 10_000
    scores = pl.DataFrame(
        {
            "line": range(n),
            "testset": "wmt20",
            "lp": "en-de",
            "level": "seg",
            "kind": "metric",
            "scorer": "TER",
            "system": [f"a-system-with-a-long-name-{number % 20}" for number in range(n)],
            "document": [f"a-document-with-a-long-name-{number // 50}" for number in range(n)],
            "index": 1,
            "value": 0.5,
        }
    )
    of = kept([Records(scores=scores).normal(Path("f"))]).of(("wmt20", "en-de"))
    assert of.scores is not None
    assert of.scores.estimated_size() < 40 * n


def test_pieces_of_a_file_are_one_by_evaluation_set() -> None:
    def piece(line: int, lp: str, system: str) -> Records:
        row = {"line": line, "testset": "t", "lp": lp, "level": "sys", "kind": "metric", "scorer": "M"}
        return Records(scores=pl.DataFrame([{**row, "system": system, "value": 1.0}]), notes=[f"note {line}"])

    pieces = [piece(1, "en-de", "A"), piece(2, "de-en", "A"), piece(300, "en-de", "B")]
    found = kept(records.normal(Path("f")) for records in pieces)
    assert found.evalsets == (("t", "de-en"), ("t", "en-de"))
    rows = found.of(("t", "en-de")).scores
    assert rows is not None
    assert rows.select(pl.col("line").cast(pl.Int64), pl.col("system").cast(pl.String)).rows() == [(1, "A"), (300, "B")]
    assert found.notes == ("note 1", "note 2", "note 300")
    nothing = found.of(("t", "en-fr")).scores
    assert nothing is not None
    assert nothing.is_empty()
