"""`sample`: its formats, its budgets, texts, what past campaigns say, and what is refused."""

from pathlib import Path

import polars as pl
import pytest

from tests.cli.running import Scorehouse, refused

WORDS = ("sample", "sim24", "en-de")


def test_json_is_the_list_of_segments_in_order(scorehouse: Scorehouse) -> None:
    rows = scorehouse(*WORDS, "--size", "5", "--format", "json").json
    assert [row["order"] for row in rows] == [1, 2, 3, 4, 5]
    assert {"segment", "document", "utility", "order"} <= set(rows[0])


def test_texts_go_to_a_file_of_their_own(scorehouse: Scorehouse, tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    ran = scorehouse(*WORDS, "--size", "2", "--texts", path)
    assert ran.code == 0, ran.err
    assert pl.read_csv(path)["segment"].n_unique() == 2
    refused(scorehouse(*WORDS, "--texts", path, "-o", path), 2, "name one file")


@pytest.mark.slow
def test_evaluate_gives_one_object_for_one_way_and_set_and_a_list_for_several(scorehouse: Scorehouse) -> None:
    words = (*WORDS, "--evaluate", "--selections", "5", "--format", "json")
    one = scorehouse(*words, "--method", "metric_var").json
    assert len(one["sizes"]) == len(one["clusters"]) == len(one["spa"]) == len(one["tau"]) == 10
    assert one["method"] == "metric_var"
    several = scorehouse(*words).json
    assert [each["method"] for each in several] == ["metric_var", "metric_avg", "metric_cons", "diversity"]
    assert one["summary"].startswith("metric_var selects ")
    assert "summary" not in several[0]
    stated = {key: one[key] for key in ("signature", "summary")}  # which name the methods
    assert {**several[0], **stated} == one


@pytest.mark.slow
def test_where_random_is_as_good_a_line_says_so(scorehouse: Scorehouse) -> None:
    ran = scorehouse(*WORDS, "--evaluate", "--selections", "10", "--method", "random")
    assert "random: no significant difference from random in this campaign" in ran.err


def test_a_clip_that_cuts_nothing_is_refused(scorehouse: Scorehouse) -> None:
    refused(scorehouse(*WORDS, "--clip", "5", "--evaluate"), 2, "clip 5")


@pytest.mark.slow
def test_a_warehouse_without_scores_of_segments_is_refused(scorehouse: Scorehouse, tmp_path: Path) -> None:
    rows = [f"lab,en-de,{name},S{at},0.{at}\n" for name in ("A", "B", "mqm") for at in range(5)]
    (tmp_path / "table.csv").write_text("testset,lp,scorer,system,score\n" + "".join(rows), "utf-8")
    place = ("--db", tmp_path / "w.duckdb")
    assert scorehouse(*place, "load", tmp_path / "table.csv").code == 0
    for words in ((), ("--evaluate",), ("--method", "random"), ("--method", "diversity")):
        refused(scorehouse(*place, "sample", "lab", "en-de", *words), 2, "lab en-de has no segment scores")
