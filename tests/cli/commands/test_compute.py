"""`scorehouse compute` as a user runs it."""

import sys
from pathlib import Path

import pytest

from tests.cli.running import Scorehouse, refused
from tests.helpers import tiny_layout, tiny_warehouse

pytest.importorskip("sacrebleu", reason="sacreBLEU (extra `metrics`) is not installed")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    with tiny_warehouse(tmp_path) as warehouse:
        return warehouse.path


@pytest.mark.slow
def test_what_was_computed_is_ranked_with_the_flag_for_own_metrics_alone(
    scorehouse: Scorehouse, database: Path
) -> None:
    ran = scorehouse("compute", "chrf", "tiny24", "en-de", "--db", database, "--format", "json")
    assert {row["metric"] for row in ran.json} == {"sacreBLEU-chrF-refA"}
    assert {row["status"] for row in ran.json} == {"stored"}
    assert any("nrefs:1" in line for line in ran.notes)
    rank = ("rank", "tiny24", "en-de", "-m", "pa", "--db", database, "--format", "json")
    assert "sacreBLEU-chrF-refA" not in {row["metric"] for row in scorehouse(*rank).json}
    assert "sacreBLEU-chrF-refA" in {row["metric"] for row in scorehouse(*rank, "--user-metrics").json}


def test_several_metrics_stand_before_the_test_set(scorehouse: Scorehouse, database: Path) -> None:
    words = ("compute", "bleu", "chrf", "ter", "tiny24", "en-de", "--dry-run")
    ran = scorehouse(*words, "--db", database, "--format", "json")
    assert len({row["metric"] for row in ran.json}) == 3


@pytest.mark.slow
def test_all_language_pairs_are_computed_and_those_without_texts_are_named(
    scorehouse: Scorehouse, tmp_path: Path
) -> None:
    tiny_layout(tmp_path / "one")
    tiny_layout(tmp_path / "two", lp="he-en", texts=False)
    with tiny_warehouse(tmp_path, tmp_path / "one", tmp_path / "two") as warehouse:
        words = ("compute", "chrf", "tiny24", "all", "--db", warehouse.path, "--format", "json")
    ran = scorehouse(*words)
    assert {(row["lp"], row["status"]) for row in ran.json} == {("en-de", "stored")}
    assert any("tiny24 he-en has no texts" in line for line in ran.notes)


def test_without_the_extra_one_line_says_how_to_get_it(
    scorehouse: Scorehouse, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    refused(scorehouse("compute", "bleu", "tiny24", "en-de", "--db", database), 2, "scorehouse[metrics]")


def test_an_unknown_metric_is_refused(scorehouse: Scorehouse, database: Path) -> None:
    refused(scorehouse("compute", "blue", "tiny24", "en-de", "--db", database), 2, "'blue'", "'bleu'")
