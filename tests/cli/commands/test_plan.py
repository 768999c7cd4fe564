"""`plan`: its formats, the chart, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import Scorehouse, refused
from tests.helpers import MQM, SYSTEMS, tiny_layout, tiny_warehouse
from warehouse.export.mtme import ScoreTable

WORDS = (
    *("plan", "sim24", "en-de", "Oriole", "Embermatch", "-m", "pearson(by=none)"),
    *("--segments", "1-40", "--simulations", "20", "--draws", "20"),
)  # few segments, as formats and charts do not depend on their number


@pytest.mark.slow
def test_formats(scorehouse: Scorehouse) -> None:
    signature = "plan:segments|first:Oriole-refA|second:Embermatch-refA|measure:pearson(by=none)"
    for format in ("table", "csv", "markdown", "latex"):
        ran = scorehouse(*WORDS, "--format", format)
        assert ran.code == 0, ran.err
        assert "segments" in ran.out
        assert ran.notes[0].startswith(signature)
        assert any(note.startswith("assumed: ") for note in ran.notes)


def test_json_is_one_row(scorehouse: Scorehouse) -> None:
    (row,) = scorehouse(*WORDS, "--format", "json").json
    assert row["data_low"] <= row["low"] <= row["needed"] <= row["high"] <= row["data_high"]


def test_the_chart_is_written(scorehouse: Scorehouse, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    path = tmp_path / "plan.svg"
    assert scorehouse(*WORDS, "-q", "--chart", path).code == 0
    assert "How many segments tell Oriole-refA and Embermatch-refA apart?" in path.read_text(encoding="utf-8")


def test_what_cannot_be_planned_is_refused(scorehouse: Scorehouse) -> None:
    refused(scorehouse(*WORDS, "--unit", "documents"), 2, "--unit")
    refused(scorehouse(*WORDS, "--tell", "people"), 2, "--tell")
    refused(scorehouse(*WORDS, "--power", "1"), 2, "power 1.0")


@pytest.mark.parametrize("n_systems", [0, 1])
def test_without_segment_scores_or_a_second_system_there_is_nothing_to_plan(
    n_systems: int, scorehouse: Scorehouse, tmp_path: Path
) -> None:
    of_segments = ScoreTable(systems=SYSTEMS[:1], seg=np.array(MQM)[:1])
    of_systems = ScoreTable(systems=SYSTEMS, sys=np.array([3.0, 2.0, 1.0, 0.0])[: len(SYSTEMS)])
    layout = tiny_layout(tmp_path / "layout", humans={"mqm": of_segments if n_systems else of_systems})
    with tiny_warehouse(tmp_path, layout) as warehouse:
        database = warehouse.path
    why = "is not defined in tiny24 en-de" if n_systems else "has no segment scores"
    refused(scorehouse("plan", "tiny24", "en-de", "Rough", "Flat", "--db", database), 2, why)
