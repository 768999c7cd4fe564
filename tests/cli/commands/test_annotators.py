"""Annotators on the command line: the table for reading, all columns for programs, one line where there are none."""

import json
from pathlib import Path

import pytest

from tests.cli.running import Scorehouse, refused
from tests.helpers import together

ANNOTATORS = ("annotators", "sim24", "en-de", "--resamples", "20")


def test_annotators_are_a_table_with_what_holds_for_all_in_a_note(scorehouse: Scorehouse) -> None:
    ran = scorehouse(*ANNOTATORS)
    header, _, *lines = ran.table
    assert header.split() == [
        "annotator",
        "n_judgements",
        "n_excluded",
        "n_outputs",
        "n_shared",
        "mean",
        "sd",
        "leniency",
    ]
    assert [line.split()[0] for line in lines] == [f"rater{number}" for number in range(1, 6)]
    where = "testset:sim24|lp:en-de|view:annotators"
    assert ran.notes[0].startswith(f"annotators:mqm.merged|{where}|judgements:valid|systems:all_judged|")
    assert any("split-half r of system scores" in note for note in ran.notes)


@pytest.mark.slow
def test_programs_get_every_column(scorehouse: Scorehouse) -> None:
    rows = scorehouse(*ANNOTATORS, "--view", "sets", "--format", "json").json
    (row,) = rows
    assert {"alpha", "alpha_low", "alpha_high", "system_r", "system_corrected", "output_r", "halves"} <= set(row)
    assert (row["alpha"], row["n_shared"]) == (None, 0)
    said = scorehouse(*ANNOTATORS, "--view", "sets").out
    assert said.startswith("How well annotators of sim24 en-de mqm.merged agree cannot be measured: no two judged ")
    names = list(scorehouse(*ANNOTATORS, "--format", "json").json[0])
    assert names[-4:] == ["drift", "drift_low", "drift_high", "signature"]


@together(
    ("words", "hints"),
    [
        (("annotators", "sim21"), ["no single judgements of sim21 are loaded, only their scores"]),
        (("annotators", "sim24", "en-de", "--view", "pairs"), ["no two annotators judged the same output"]),
    ],
)
def test_nothing_to_show_is_one_line(words: tuple[str, ...], hints: list[str], scorehouse: Scorehouse) -> None:
    refused(scorehouse(*words), 2, *hints)


@pytest.mark.slow
def test_rank_has_people_without_a_rank_and_its_shape_stays_without_them(scorehouse: Scorehouse) -> None:
    words = ("rank", "sim24", "en-de", "-m", "pearson", "--status", "primary", "--format", "json")
    plain, rows = scorehouse(*words).json, scorehouse(*words, "--ceiling").json
    people = [row for row in rows if row["kind"] == "human"]
    assert [row["metric"] for row in people] == ["human: split-half of mqm.merged (Spearman-Brown)"]
    assert all(row["rank"] is row["cluster"] is row["base_metric"] is None for row in people)
    assert [{name: row[name] for name in plain[0]} for row in rows if row["kind"] == "metric"] == plain
    table = scorehouse(*words[:-2], "--ceiling").table
    (line,) = [line for line in table if "human: split-half of mqm.merged" in line]
    assert not line[0].isdigit()


@pytest.mark.slow
def test_a_chart_tells_people_from_metrics(scorehouse: Scorehouse, tmp_path: Path) -> None:
    drawn = tmp_path / "ranking.json"
    words = ("rank", "sim24", "en-de", "-m", "pearson", "--status", "primary", "--resamples", "20", "--chart", drawn)
    assert scorehouse(*words, "--ceiling").code == 0
    spec = json.loads(drawn.read_text())
    assert "diamonds: human scores" in json.dumps(spec)
    assert {row["kind"] for row in spec["datasets"]["ranking_1"]} == {"metric", "human"}
    assert scorehouse(*words).code == 0
    assert "diamonds" not in drawn.read_text()
