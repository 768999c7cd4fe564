"""`plan`: its JSON, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import Scorehouse, refused
from tests.helpers import MQM, SYSTEMS, tiny_layout, tiny_warehouse
from warehouse.export.mtme import ScoreTable

WORDS = (
    *("plan", "sim24", "en-de", "Oriole", "Embermatch", "-m", "pearson(by=none)"),
    *("--segments", "1-40", "--simulations", "20", "--resamples", "20"),
)  # few segments, as formats and charts do not depend on their number


@pytest.mark.slow
def test_json_is_one_row(scorehouse: Scorehouse) -> None:
    (row,) = scorehouse(*WORDS, "--format", "json").json
    assert row["data_low"] <= row["low"] <= row["needed"] <= row["high"] <= row["data_high"]


def test_a_power_of_one_is_refused(scorehouse: Scorehouse) -> None:
    refused(scorehouse(*WORDS, "--power", "1"), 2, "power 1.0")


def test_two_systems_without_the_option_for_systems_are_told_of_it(scorehouse: Scorehouse) -> None:
    ran = scorehouse("plan", "sim24", "en-de", "WEB-L", "Birch_NMT")
    refused(ran, 2, "WEB-L and Birch_NMT are systems; take --compare systems")


@pytest.mark.slow
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
