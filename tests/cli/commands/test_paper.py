"""`paper`: lists, items beside printed values, charts, `--check`, and what is refused."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from cli.charts.drawing import parts_of_chart
from metaeval.studies.papers import PAPERS, item_named
from metaeval.studies.papers import running as papers_running
from metaeval.studies.papers.items import printed_values
from metaeval.studies.papers.running import COLUMNS
from tests.cli.charts.drawing import faults
from tests.cli.running import Scorehouse, refused
from tests.helpers import together

SIM = ("--testset", "sim24", "--lp", "en-de", "--resamples", "10")
TWO = ("--testset", "sim24", "--lp", "en-de,cs-uk", "--resamples", "10")
SHAPE = list(COLUMNS)


def test_without_a_name_papers_are_listed(scorehouse: Scorehouse) -> None:
    rows = scorehouse("paper", "--format", "json").json
    assert [row["paper"] for row in rows] == list(PAPERS)
    assert all(row["n_items"] and row["n_computable"] <= row["n_items"] for row in rows)
    assert {row["paper"]: row["n_printed"] for row in rows} == {name: len(printed_values(name)) for name in PAPERS}


def test_a_name_lists_its_items_and_what_is_missing(scorehouse: Scorehouse) -> None:
    rows = {row["item"]: row for row in scorehouse("paper", "deutsch-2023", "--format", "json").json}
    assert list(rows) == [item.name for item in PAPERS["deutsch-2023"].items]
    assert rows["figure-2"]["computable_on"] == "needs no scores"
    assert rows["table-12"]["computable_on"] is None
    assert rows["table-12"]["missing"] == "wmt22 en-de is not loaded"


def test_json_has_the_documented_shape(scorehouse: Scorehouse) -> None:
    rows = scorehouse("paper", "deutsch-2023", "figure-2", "--format", "json").json
    documented = "paper item row column testset lp printed decimals value difference verdict note"
    assert list(rows[0]) == SHAPE == documented.split()
    assert len(rows) == 14
    assert {row["verdict"] for row in rows} == {"met"}
    for row in rows:
        assert row["difference"] == pytest.approx(row["value"] - row["printed"])
        assert row["testset"] is row["lp"] is None


def test_printed_values_without_inputs_are_not_loaded_and_no_failure(scorehouse: Scorehouse) -> None:
    ran = scorehouse("paper", "deutsch-2023", "table-12", "--check", "--format", "json")
    rows = ran.json
    assert {row["verdict"] for row in rows} == {"not_loaded"}
    assert {row["note"] for row in rows} == {"p. 14; wmt22 en-de is not loaded"}
    assert all(row["value"] is None and row["difference"] is None for row in rows)
    assert f"{len(rows)} not compared for want of data" in ran.notes


FIGURES = [(paper.name, item.name) for paper in PAPERS.values() for item in paper.items if item.chart is not None]
AS_PICTURES = pytest.mark.long("every figure of a paper as a picture: 2 seconds")


@pytest.mark.slow
@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("paper", "item", "ending"),
    [
        pytest.param(paper, item, ending, marks=AS_PICTURES if ending == "svg" and n % 3 else ())
        for n, (paper, item) in enumerate(FIGURES)
        for ending in ("svg", "json")
        if ending == "svg" or n % 3
    ],
)
def test_figures_are_drawn(scorehouse: Scorehouse, tmp_path: Path, paper: str, item: str, ending: str) -> None:
    """Each as a specification at least, a third of them as pictures."""
    path = tmp_path / f"figure.{ending}"
    on_sim: dict[str, tuple[str, ...]] = {
        "thresholds": TWO,
        "noise": (*SIM[:-1], "1"),
        "figure-1": (*SIM[:4], "--resamples", "2", *(("--metrics", "simBLEU-refA") if paper == "kocmi-2021" else ())),
        "figure-2": (*SIM[:4], "--resamples", "2", *(("--metrics", "simBLEU-refA") if paper == "kocmi-2021" else ())),
    }
    where = on_sim.get(item, SIM) if item_named(PAPERS[paper], item).needs_data else ()
    ran = scorehouse("paper", paper, item, *where, "--chart", path, "--format", "csv")
    assert ran.code == 0, ran.err
    if ending == "json":
        spec = json.loads(path.read_text(encoding="utf-8"))
        assert faults(spec) == []
        assert parts_of_chart(spec).title.startswith(f"{paper}, {item}")
        assert sum(map(len, spec["datasets"].values())) > 1
        return
    texts = {one.text for one in ET.parse(path).iter("{http://www.w3.org/2000/svg}text")}
    assert any(text and text.startswith(f"{paper}, {item}") for text in texts)
    marks = path.read_text(encoding="utf-8").count("<path")
    assert marks > 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "titles"),
    [
        (("deutsch-2023", "figure-3"), [{"Kendall's τ_b"}, {"segments with a defined τ_b"}]),
        (("graham-2014", "figure-1"), [{"human score"}, {"human score"}]),
    ],
)
def test_each_panel_has_its_own_values_and_people_are_on_the_axis_of_the_paper(
    scorehouse: Scorehouse, tmp_path: Path, words: tuple[str, ...], titles: list[set[str]]
) -> None:
    path = tmp_path / "figure.json"
    assert scorehouse("paper", *words, *SIM, "--chart", path, "--format", "csv").code == 0
    spec = parts_of_chart(json.loads(path.read_text(encoding="utf-8"))).spec
    for panel, expected in zip(spec["concat"], titles, strict=True):
        layer = panel["layer"][-1]
        values = spec["datasets"][(layer.get("data") or panel["data"])["name"]]
        shown = {one["measure"] for one in values} if "measure" in values[0] else {layer["encoding"]["x"]["title"]}
        assert shown == expected
        assert len(values) > 3


def test_an_item_without_printed_values_is_a_table_of_its_own_columns(scorehouse: Scorehouse) -> None:
    ran = scorehouse("paper", "thompson-2024", "figure-3", *SIM)
    header, _, first, *_ = ran.table
    assert header.split() == [
        *("testset", "lp", "row"),
        *(f"{name}_{what}" for name in ("pa", "spa") for what in ("mean", "low", "high", "width")),
    ]
    assert first.split()[:2] == ["sim24", "en-de"]
    assert "1 equal to the printed digits" in scorehouse("paper", "deutsch-2023", "figure-1").notes[-1]


@pytest.mark.slow
def test_differences_are_told_apart_by_direction_and_correlations_stand_in_the_corners(
    scorehouse: Scorehouse, tmp_path: Path
) -> None:
    path = tmp_path / "figure.json"
    words = ("paper", "kocmi-2021", "figure-1", *TWO, "--metrics", "simBLEU", "--chart", path, "--format", "csv")
    assert scorehouse(*words).code == 0
    spec = parts_of_chart(json.loads(path.read_text(encoding="utf-8"))).spec
    (panel,) = spec["concat"]
    corners, points, texts, _ = (spec["datasets"][layer["data"]["name"]] for layer in panel["layer"])
    assert {one["of"] for one in points} == {"from English", "without English"}
    for one in corners:  # of opposite signs
        assert (one["metric"] + one["to_metric"]) * (one["human"] + one["to_human"]) < 0
    assert [text["text"][:4] for text in texts] == ["ρ = ", "r = "]


def test_check_ends_with_1_where_a_value_is_neither_met_nor_explained(
    scorehouse: Scorehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = printed_values("deutsch-2023")
    wrong = tuple(replace(one, value=one.value + 0.1) if one.column == "tau_a" else one for one in given)
    monkeypatch.setattr(papers_running, "printed_values", lambda paper: wrong)
    ran = scorehouse("paper", "deutsch-2023", "figure-2", "--check", "--format", "json")
    assert ran.code == 1
    assert [row["verdict"] for row in json.loads(ran.out)].count("differs") == 2
    assert ran.notes[-1] == (
        "neither reproduced nor explained: deutsch-2023 figure-2 (m1, tau_a); deutsch-2023 figure-2 (m2, tau_a)"
    )
    assert scorehouse("paper", "deutsch-2023", "figure-2").code == 0


@pytest.mark.slow
def test_all_papers_are_a_line_for_each_item_to_read_and_all_cells_for_programs(scorehouse: Scorehouse) -> None:
    ran = scorehouse("paper", "all", "--check")
    assert ran.code == 0
    header, _, *lines = ran.table
    assert header.split()[:4] == ["paper", "item", "title", "n_printed"]
    assert len(lines) == sum(len(paper.items) for paper in PAPERS.values())
    rows = scorehouse("paper", "all", "--format", "json").json
    assert list(rows[0]) == SHAPE
    assert sum(row["printed"] is not None for row in rows) == sum(len(printed_values(name)) for name in PAPERS)


@pytest.mark.slow
def test_resampled_items_are_kept_and_taken_from_the_store(scorehouse: Scorehouse) -> None:
    words = ("paper", "thompson-2024", "table-1", *SIM, "--format", "csv")
    first, second = scorehouse(*words), scorehouse(*words)
    assert first.out == second.out
    assert "stored result; --recompute computes it again" not in first.notes
    assert "stored result; --recompute computes it again" in second.notes
    assert scorehouse(*words, "--recompute").out == first.out


@together(
    ("words", "message"),
    [
        (("thompson-2042",), "unknown paper 'thompson-2042'"),
        (("thompson-2024", "table-7"), "unknown item 'table-7' for thompson-2024"),
        (("thompson-2024", "figure-1", *SIM, "--metrics", "*"), "takes one metric"),
        (("deutsch-2023", "figure-2", "--testset", "sim24"), "needs no scores"),
        (("all", "table-1"), "an item belongs to one paper"),
        (("thompson-2024", "table-1", "--chart", "t.svg"), "table-1 is a table"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_line(
    scorehouse: Scorehouse, words: tuple[str, ...], message: str
) -> None:
    refused(scorehouse("paper", *words), 2, message)
