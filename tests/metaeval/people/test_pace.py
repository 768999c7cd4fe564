"""How fast annotators judge: gaps of times by hand."""

from pathlib import Path

import pytest

from metaeval.people.annotators import pace
from tests.helpers import tiny_warehouse
from tests.warehouse.readers.samples import esa
from warehouse import QuestionError, Warehouse, load


def test_seconds_breaks_and_change_are_those_of_the_times(tmp_path: Path) -> None:
    """Six gaps of 40 seconds, then six of 20, with a break of an hour between; another annotator judged once."""
    times, now = [0], 0
    for gap in (*[40] * 6, 3600, *[20] * 6):
        now += gap
        times.append(now)
    lines = [
        esa("Ash", n + 1, score="50", user="u1", document=f"d{n}", end=f"{1724876000 + time}.0")
        for n, time in enumerate(times)
    ]
    lines.append(esa("Ash", 99, score="50", user="u2", document="d99", end="1724876000.0"))
    path = tmp_path / "wmt24" / "esa.csv"
    path.parent.mkdir()
    path.write_text("".join(lines), encoding="utf-8")
    assert load([path], tmp_path / "paced.duckdb").faults == []
    with Warehouse.open(tmp_path / "paced.duckdb") as opened:
        first, second = pace(opened, "wmt24", "en-ja").frame.rows(named=True)
    assert (first["annotator"], first["n_judgements"], first["n_gaps"], first["n_breaks"]) == ("u1", 14, 12, 1)
    assert (first["seconds"], first["change"]) == (30.0, 0.5)
    assert (second["n_gaps"], second["seconds"], second["change"]) == (0, None, None)


def test_without_times_there_is_no_pace(tmp_path: Path) -> None:
    with tiny_warehouse(tmp_path) as opened, pytest.raises(QuestionError):
        pace(opened, "tiny24", "en-de")
