"""`trend`: its views, the chart, and what is refused."""

import functools
import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cli.charts.drawing import parts_of_chart, specification
from metaeval.charts.history import _edges, history_chart
from metaeval.measures.registry import parse_measure
from metaeval.studies.trends.gaps import pooled_by_year
from metaeval.studies.trends.groups import COLUMNS, grouped
from metaeval.studies.trends.history import History, HistorySettings, history
from tests.cli.running import Ran, Scorehouse, refused
from tests.metaeval.studies.trends.histories import made_history, made_point
from warehouse import QuestionError


@pytest.fixture(scope="module")
def database(simulated_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the simulated task for all tests here, so that each history is computed once."""
    return Path(shutil.copy(simulated_database, tmp_path_factory.mktemp("trend") / "copy.duckdb"))


@pytest.fixture
def trend(scorehouse: Scorehouse, database: Path) -> Scorehouse:
    """`trend` on a copy of the simulated task."""

    def run(*words: object) -> Ran:
        anchor = () if "--within" in words else ("--anchor", "simBLEU")
        return scorehouse("--db", database, "trend", *words, "--resamples", "20", *anchor)

    return run


KEY = ("testset", "lp", "human", "metric")
CS_UK = ("all", "cs-uk")
YEARS = [
    f"{name}={year}" for name, year in (("simBLEU", 2002), ("simchrF", 2015), ("Oriole", 2019), ("Kestrel-*", 2021))
]
THESE = ("--generalise-to", "these-metrics")
PUBLISHED = [word for year in [*YEARS, "Embermatch=2018", "Marlin-*=2022"] for word in ("--published", year)]


@pytest.mark.slow
def test_json_has_the_documented_shape(trend: Scorehouse) -> None:
    rows = trend(*CS_UK, "--format", "json").json
    assert list(rows[0]) == list(COLUMNS)
    documented = (
        "year testset lp human measure group metric value low high anchor gap gap_low gap_high gap_p n_systems "
        "n_segments bridge contaminated reason signature"
    )
    assert set(documented.split()) <= set(rows[0])
    assert [row["year"] for row in rows] == sorted(row["year"] for row in rows)
    assert {row["measure"] for row in rows} == {"pa"}
    assert all((row["value"] is None) == (row["reason"] is not None) for row in rows)
    bleu = [row for row in rows if row["group"] == "BLEU" and row["by"] == "family" and row["bridge"] is None]
    assert [row["year"] for row in bleu] == [2021, 2022, 2023, 2024]
    assert all(row["metric"] == row["anchor"] and row["gap"] == 0 for row in bleu)


@pytest.mark.slow
def test_intervals_are_left_to_what_shows_or_uses_them(trend: Scorehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def made(run: Any, settings: HistorySettings, **more: Any) -> History:
        asked.append(settings.intervals)
        return history(run, settings, **more)

    monkeypatch.setattr("metaeval.studies.trends.history.history", made)
    words = ("sim24", "cs-uk", "-m", "kendall")
    assert "2024 mqm" in trend(*words, "--recompute").out
    rows = trend(*words, "--format", "json").json  # what the table stored is not what rows need
    assert any(row["low"] is not None for row in rows)
    trend(*words, "--pool", "random-effects")
    trend(*words, "--over-years")
    trend(*words, "--bridges", "--format", "json")
    assert asked == [False, True, True, True, False]


@pytest.mark.slow
def test_a_table_has_a_line_for_each_group_and_a_column_for_each_year_and_protocol(trend: Scorehouse) -> None:
    ran = trend(*CS_UK, "-v")
    few = trend(*CS_UK).notes
    assert any(note.endswith(" more notes on single evaluation sets: -v") for note in few)
    assert len(few) < len(ran.notes)
    header, _, *lines = ran.table
    assert header.split("  ")[0] == "group"
    assert [word.strip() for word in header.split("  ") if word.strip()] == [
        "group", "2024 mqm", "2023 mqm", "2022 mqm", "2021 da", "2022 da",
    ]  # fmt: skip
    names = [line.split("  ")[0] for line in lines]
    assert "BLEU (simBLEU)" in names
    assert any(name.startswith("best unknown (of ") for name in names)
    assert any(note.startswith("bridge sim22 cs-uk: pa on the") and "change of protocol" in note for note in ran.notes)
    assert any(note.startswith("2021 da: sim21 cs-uk; ") and "judged" in note for note in ran.notes)
    assert any(note.endswith("; - no such metric)") for note in ran.notes)


@pytest.mark.slow
def test_pooled_rows_say_how_many_evaluation_sets_they_stand_on(trend: Scorehouse) -> None:
    rows = trend("sim23,sim24", "all", "--pool", "random-effects", "--format", "json").json
    bleu = [row for row in rows if row["group"] == "BLEU" and row["by"] == "family"]
    assert [(row["year"], row["protocol"], row["n_sets"]) for row in bleu] == [(2023, "mqm", 3), (2024, "mqm", 3)]
    assert all(row["low"] <= row["value"] <= row["high"] for row in bleu)
    other = next(row for row in rows if row["group"] == "Oriole")
    assert other["gap_low"] <= other["gap"] <= other["gap_high"]
    assert 0 <= other["gap_i2"] <= 1


@pytest.mark.slow
def test_slopes_within_the_data_find_the_simulated_progress(trend: Scorehouse) -> None:
    """Newer families of the simulated task see quality better in every year: the slope is positive in each set."""
    ran = trend("all", "cs-uk", "--within", *PUBLISHED, "--format", "json")
    shape = ran.json
    assert len(shape["sets"]) == 4
    assert all(one["slope"] > 0 for one in shape["sets"])
    assert shape["pooled"]["low"] > 0
    (unknown,) = [note for note in ran.notes if "of unknown publication year" in note]
    assert "Onlooker" in unknown
    assert "Dice" in unknown  # a random metric by design, which no registry knows


@pytest.mark.slow
def test_slopes_are_of_new_metrics_or_of_these_and_without_contrastive_ones(trend: Scorehouse) -> None:
    words = ("all", "cs-uk", "--within", *PUBLISHED, "--published", "simTER=2006", "--format", "json")
    sampled, given, everything = (trend(*words, *more).json for more in ((), THESE, ("--status", "all")))
    assert sampled["sets"] == given["sets"]
    assert sampled["pooled"] != given["pooled"]
    assert sampled["pooled"] == sampled["by_kind"][0]
    assert {one["kind"] for one in sampled["sets"]} == {one["kind"] for one in sampled["by_kind"]}
    for one, more in zip(sampled["sets"], everything["sets"], strict=True):
        assert one["n_metrics"] < more["n_metrics"]  # simTER is contrastive in the simulated task
    notes = trend("all", "cs-uk", "--within", *PUBLISHED).notes
    assert any("most influential metrics" in note and "simBLEU (2002)" in note for note in notes)


@pytest.mark.slow
def test_publication_years_of_no_metric_are_named(trend: Scorehouse) -> None:
    ran = trend("all", "cs-uk", "--within", *PUBLISHED, "--published", "nothing=2020")
    assert ran.code == 0
    assert "no metric here has the name of nothing=2020" in ran.notes


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["pa", "acc_eq(by=item)"])
def test_intervals_of_gaps_are_those_of_the_test(trend: Scorehouse, measure: str) -> None:
    words = ("all", "all", "-m", measure, "--format", "json")
    rows = trend(*words).json
    tested = [row for row in rows if row["gap_p"] is not None]
    assert tested
    for row in tested:
        assert (row["gap_p"] > 0.05) == (row["gap_low"] <= 0 <= row["gap_high"])
        assert row["gap_low"] <= row["gap"] <= row["gap_high"]
    assert all(row["gap_low"] is None for row in rows if row["gap_p"] is None)


@pytest.mark.slow
def test_a_trend_over_few_years_says_how_small_p_can_be(trend: Scorehouse) -> None:
    rows = trend(*CS_UK, "--over-years", "--format", "json").json
    found = {row["group"]: row for row in rows if row["protocol"] == "mqm" and row["by"] == "family"}
    row = found["Oriole"]
    assert (row["n_years"], row["n_orders"], row["exact"]) == (3, 6, True)
    assert row["p"] >= row["least_p"] >= 1 / 6
    assert {row["protocol"] for row in rows} == {"da", "mqm"}


@pytest.mark.slow
def test_what_cannot_be_answered_is_refused(trend: Scorehouse) -> None:
    refused(trend(*CS_UK, "--within", "--published", "Oriole"), 2, "NAME=YEAR")
    refused(trend(*CS_UK, "--within"), 2, "no slope over publication years", "--published")
    refused(trend(*CS_UK, "--pool", "hunter-schmidt"), 2, "correlations")


def test_an_anchor_that_nobody_knows_is_refused(scorehouse: Scorehouse, database: Path) -> None:
    refused(scorehouse("--db", database, "trend", *CS_UK, "--anchor", "simBLUE"), 2, "unknown metric", "'simBLEU'")


def test_a_history_without_values_has_no_chart() -> None:
    rows = grouped(made_history())
    with pytest.raises(QuestionError, match="no value to draw"):
        history_chart(rows, pooled_by_year(rows, parse_measure("pa"), "random-effects"), "simBLEU", "signature")


@functools.cache
def charted() -> dict[str, Any]:
    found = made_history(
        (2012, made_point("wmt12", "en-de", {"BLEU": 0.5}, human="rr:bto")),
        (2019, made_point("wmt19", "en-de", {"BLEU": 0.7, "YiSi-1": 0.9})),
        (2020, made_point("wmt20", "en-de", {"BLEU": 0.8, "YiSi-1": 0.85, "COMETKiwi": 0.9})),
        (2020, made_point("wmt20", "en-de", {"BLEU": 0.6}, bridge="mqm")),
        (2020, made_point("wmt20", "en-de", {"BLEU": 0.9}, human="mqm", bridge="wmt-z")),
    )
    rows = grouped(found)
    by_year = pooled_by_year(rows, parse_measure("pa"), "mean")
    return parts_of_chart(specification(history_chart(rows, by_year, "BLEU", "trend:years|measure:pa"))).spec


def drawn(chart: dict[str, Any], dataset: str, protocol: str) -> list[dict[str, Any]]:
    """The rows of a chart's data set in the panel of a protocol."""
    return [row for row in chart["datasets"][dataset] if row["protocol"] == protocol]


@pytest.mark.slow
def test_a_chart_has_a_panel_for_each_protocol_by_year_and_marks_contamination_and_bridges() -> None:
    chart = charted()
    values, gaps = chart["vconcat"]
    assert [panel["title"] for panel in values["hconcat"]] == ["rr", "da", "mqm"]
    _, da, mqm = values["hconcat"]
    contaminated = {point["group"] for point in drawn(chart, "years", "da") if point["contaminated"]}
    assert contaminated == {"COMETKiwi"}
    (dashed,) = [layer for layer in mqm["layer"] if "strokeDash" in layer["mark"]]
    assert dashed["transform"] == [{"filter": {"field": "protocol", "equal": "mqm"}}]
    (step,) = drawn(chart, "bridges", "mqm")
    assert (step["group"], step["year"], step["from"], step["value"]) == ("BLEU", 2020, 0.6, 0.9)
    assert not [layer for layer in da["layer"] if "strokeDash" in layer["mark"]]
    assert len(gaps["hconcat"]) == 3


@pytest.mark.slow
def test_marks_of_one_year_do_not_hide_each_other() -> None:
    chart = charted()
    places = pl.DataFrame(drawn(chart, "years", "da")).filter(pl.col("year") == 2020)["x"]
    assert places.n_unique() == len(places) == 3


@pytest.mark.slow
def test_a_family_of_each_kind_has_a_colour_and_the_others_are_grey() -> None:
    """BLEU and chrF compare strings; BLEU is there in both years, chrF in one, with the higher value."""
    found = made_history(
        (2019, made_point("wmt19", "en-de", {"BLEU": 0.7, "YiSi-1": 0.9})),
        (2020, made_point("wmt20", "en-de", {"BLEU": 0.8, "chrF": 0.9, "YiSi-1": 0.85})),
    )
    rows = grouped(found)
    chart = history_chart(rows, pooled_by_year(rows, parse_measure("pa"), "mean"), "BLEU", "s:1")
    points = parts_of_chart(specification(chart)).spec["datasets"]["years"]
    assert {(one["group"], one["name"]) for one in points if one["shown"]} == {
        ("BLEU", "BLEU (string)"),
        ("YiSi", "YiSi (embedding)"),
    }
    assert {one["group"] for one in points if not one["shown"]} == {"chrF"}


@pytest.mark.slow
@pytest.mark.parametrize("pool", [(), ("--pool", "random-effects")])
@pytest.mark.parametrize("by", ["family", "version", "kind", "best"])
def test_a_chart_shows_the_values_of_the_table_in_the_limits_of_the_measure(
    trend: Scorehouse, tmp_path: Path, by: str, pool: tuple[str, ...]
) -> None:
    words = ("sim24", "all", "--by", by, *pool)
    rows = trend(*words[:4], *(pool or ("--pool", "mean")), "--format", "json").json
    trend(*words, "--chart", tmp_path / "years.json")
    points = json.loads((tmp_path / "years.json").read_text())["datasets"]["years"]
    values = {(row["year"], row["protocol"], row["group"]): row["value"] for row in rows if row["value"] is not None}
    assert {(one["year"], one["protocol"], one["group"]): one["value"] for one in points} == pytest.approx(values)
    assert all(0 <= one[end] <= 1 for one in points for end in ("low", "high") if one[end] is not None)
    if by == "best":
        assert {one["name"] for one in points} == {"best of all"}


def test_what_lies_beyond_an_axis_is_named_at_its_end_farthest_first() -> None:
    values = {"A": 0.5, "B": -0.1, "C": -0.9, "D": -0.2, "E": -0.3, "F": 1.5, "G": None}
    points = [{"protocol": "mqm", "year": 2020, "group": name, "gap": value} for name, value in values.items()]
    edges = _edges(points, "gap", 0.0, 1.0)
    assert [(one["is_low"], one["line"], one["text"]) for one in edges] == [
        (False, 0, "F 1.50"),
        (True, 0, "C -0.90"),
        (True, 1, "E -0.30"),
        (True, 2, "D -0.20"),
        (True, 3, "1 more"),
    ]
