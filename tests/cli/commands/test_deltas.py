"""`deltas`: its formats, the chart, and what is refused."""

from pathlib import Path

import pytest

from tests.cli.running import Scorehouse, refused

WORDS = ("deltas", "cs-uk", "simBLEU", "--human", "mqm", "--draws", "20")


@pytest.mark.slow
def test_formats(scorehouse: Scorehouse) -> None:
    for format in ("table", "csv", "tsv", "jsonl", "markdown", "latex"):
        ran = scorehouse(*WORDS, "--format", format)
        assert ran.code == 0, ran.err
        assert "mqm" in ran.out
        assert ran.notes[0].startswith("deltas:simBLEU|testset:all|lp:cs-uk|human:mqm|pairs:all|fit:isotonic")


def test_json_has_a_row_for_each_level_asked(scorehouse: Scorehouse) -> None:
    rows = scorehouse(*WORDS, "--agreement", "0.9", "--agreement", "0.6", "--format", "json").json
    assert [row["agreement"] for row in rows] == [0.6, 0.9]
    assert all(row["n_pairs"] > 0 and row["protocol"] == "mqm" for row in rows)
    assert all((row["delta"] is None) == (row["reason"] is not None) for row in rows)


def test_the_chart_is_written(scorehouse: Scorehouse, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    path = tmp_path / "deltas.svg"
    assert scorehouse(*WORDS, "-q", "--chart", path).code == 0
    text = path.read_text(encoding="utf-8")
    for word in ("difference of simBLEU", "mqm:", "agreement with people"):
        assert word in text


def test_what_cannot_be_answered_is_refused(scorehouse: Scorehouse, tmp_path: Path) -> None:
    refused(scorehouse("deltas", "all", "simBLEX"), 2, "simBLEX", "simBLEU")
    refused(scorehouse(*WORDS, "--agreement", "1"), 2, "agreement 1.0")
    refused(scorehouse(*WORDS, "--chart", tmp_path / "no.gif"), 2, "--chart")
