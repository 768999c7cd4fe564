"""Where scorers disagree most: outputs and groups, by plain loops on the tiny task, and what is refused."""

import math
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import metaeval
from metaeval.questions.segments import Segments
from metaeval.results.answer import Answer
from tests.helpers import LP, MQM, SYSTEMS, TESTSET, metric_tables, tiny_layout, tiny_warehouse
from warehouse import QuestionError, Warehouse
from warehouse.export.mtme import RatingTable, ScoreTable

TINY = (TESTSET, LP)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    with tiny_warehouse(tmp_path_factory.mktemp("tiny")) as opened:
        yield opened


def _z(values: list[float]) -> list[float]:
    mean, sd = statistics.fmean(values), statistics.stdev(values)
    return [(value - mean) / sd for value in values]


def _mean_ranks(values: list[float]) -> list[float]:
    """Ranks from the lowest on; equal values share the mean of theirs."""
    return [sum(one < value for one in values) + (values.count(value) + 1) / 2 for value in values]


def _residuals(metric: str, scale: str = "ranks") -> list[tuple[str, int, float, float, float]]:
    """System, segment, human and metric score, residual of the judged outputs; by plain loops."""
    scores = metric_tables()[metric].seg
    assert scores is not None
    cells = [(row, column) for row in range(3) for column in range(5) if not math.isnan(MQM[row][column])]
    human, own = [MQM[row][column] for row, column in cells], [float(scores[cell]) for cell in cells]
    sides = [_z(_mean_ranks(values) if scale == "ranks" else values) for values in (human, own)]
    apart = [a - b for a, b in zip(*sides, strict=True)]
    spread = statistics.stdev(apart)
    found = zip(cells, human, own, apart, strict=True)
    return [(SYSTEMS[row], column + 1, a, b, one / spread if spread else 0.0) for (row, column), a, b, one in found]


@pytest.mark.parametrize("scale", ["ranks", "scores"])
@pytest.mark.parametrize("metric", ["Fine-src", "Rough-refA", "Wrong-src"])
def test_outputs_are_listed_by_the_size_of_their_residual(tiny: Warehouse, metric: str, scale: Any) -> None:
    expected = sorted(_residuals(metric, scale), key=lambda one: (-round(abs(one[4]), 9), one[0], one[1]))
    found = metaeval.segments(tiny, *TINY, metric, scale=scale, n=50).frame
    rows = found.select("system", "segment", "value_a", "value_b", "residual").rows()
    assert [row[:4] for row in rows] == [one[:4] for one in expected]
    assert [row[4] for row in rows] == pytest.approx([one[4] for one in expected], abs=1e-9)
    assert found.height == 12
    for side in "ab":  # all 12 outputs are listed
        assert found[f"rank_{side}"].to_list() == found[f"value_{side}"].rank("min", descending=True).to_list()
    assert found["n_outputs"].unique().to_list() == [12]
    first = found.row(0, named=True)
    assert (first["scorer_a"], first["scorer_b"], first["human_value"]) == ("mqm", metric, first["value_a"])
    assert (first["source"], first["output"]) == (f"source {first['segment']}", f"{first['system']} {first['segment']}")
    assert first["length"] == len(first["source"])
    assert first["errors"] is None


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        ("system", {"Ash", "Beech", "Cherry"}),
        ("segment", {"1", "2", "3", "5"}),
        ("domain", {"news", "speech"}),
        ("document", {"n1", "n2", "s1"}),
        ("length", {"8-8"}),
    ],
)
def test_groups_have_the_means_of_their_outputs(tiny: Warehouse, by: Any, groups: set[str]) -> None:
    outputs = metaeval.segments(tiny, *TINY, "Rough", n=50).frame
    found = metaeval.segments(tiny, *TINY, "Rough", by=by).frame
    assert set(found["group"]) == groups
    key = pl.lit("8-8") if by == "length" else pl.col(by).cast(pl.String)
    for row in found.rows(named=True):
        own = outputs.filter(key == row["group"])["residual"].to_list()
        assert row["n"] == len(own)
        assert row["residual"] == pytest.approx(math.fsum(own) / len(own), abs=1e-9)
        assert row["rms"] == pytest.approx(math.sqrt(math.fsum(one * one for one in own) / len(own)), abs=1e-9)
    assert found["rms"].to_list() == sorted(found["rms"], reverse=True)


def test_groups_of_many_outputs_are_those_of_a_table(simulated_warehouse: Warehouse) -> None:
    asked = ("sim24", "en-de", "simBLEU")
    outputs = metaeval.segments(simulated_warehouse, *asked, n=10**9).frame.group_by("domain")
    expected = outputs.agg(n=pl.len(), residual=pl.mean("residual"), pearson=pl.corr("z_a", "z_b")).sort("domain")
    found = metaeval.segments(simulated_warehouse, *asked, by="domain").frame.sort("group")
    assert found["group"].to_list() == expected["domain"].to_list()
    for name in ("n", "residual", "pearson"):
        assert found[name].to_list() == pytest.approx(expected[name].to_list(), abs=1e-9)


def test_ranges_of_length_are_in_their_order_and_have_a_unit(simulated_warehouse: Warehouse) -> None:
    found = metaeval.segments(simulated_warehouse, "sim24", "en-de", "simBLEU", by="length")
    starts = [int(one.partition("-")[0]) for one in found.frame["group"]]
    assert len(starts) == 4
    assert starts == sorted(starts)
    top = found.frame.filter(rms=found.frame["rms"].max())["group"][0]
    assert f" disagree most on sources of {top} characters (" in found.summary


def test_a_single_group_is_not_one_of_most_disagreement(simulated_warehouse: Warehouse) -> None:
    asked = ("sim24", "en-de", "simBLEU")
    system = metaeval.segments(simulated_warehouse, *asked, n=1).frame["system"][0]
    alone = metaeval.segments(simulated_warehouse, *asked, by="system", systems=(system,)).summary
    assert f" have only one group of outputs here, system {system} (" in alone


def test_outputs_that_share_the_largest_residual_are_counted(tmp_path: Path) -> None:
    human, metric = (np.array([[0.0, 0.0, -1.0, -2.0, -3.0, -4.0]] * len(SYSTEMS)) for _ in range(2))
    metric[[1, 2], 0] = -5.0
    tables = {"Own-src": ScoreTable(systems=SYSTEMS, seg=metric, sys=metric.mean(axis=1))}
    of_people = {"mqm": ScoreTable(systems=SYSTEMS, seg=human, sys=human.mean(axis=1))}
    given: dict[str, Any] = {"documents": [("news", "n1")] * 6, "systems": SYSTEMS, "facts": False}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "in", metrics=tables, humans=of_people, **given)) as opened:
        found = metaeval.segments(opened, *TINY, "Own", human="mqm")
    assert found.frame["residual"][0] == found.frame["residual"][1] > found.frame["residual"][2]
    said = f"mqm and Own-src disagree most on 2 outputs with the same residual, such as {SYSTEMS[1]}, segment 1: "
    assert found.summary.startswith(said)


def test_two_metrics_disagree_with_each_other_and_people_stand_beside(tiny: Warehouse) -> None:
    one = metaeval.segments(tiny, *TINY, ["Fine-src", "Rough"], n=50).frame
    other = metaeval.segments(tiny, *TINY, ["Rough", "Fine"], n=50).frame
    keys = ["system", "segment"]
    assert one["residual"].to_list() == pytest.approx([-value for value in other["residual"]], abs=1e-9)
    assert one.select(keys).equals(other.select(keys))
    assert (one["scorer_a"][0], other["scorer_a"][0]) == ("Fine-src", "Rough-refA")
    human = {(SYSTEMS[row], column + 1): MQM[row][column] for row in range(3) for column in range(5)}
    assert [human[key] for key in one.select(keys).rows()] == one["human_value"].to_list()


def test_an_output_that_both_rank_last_is_no_disagreement_however_low_a_score_is(tmp_path: Path) -> None:
    n = 12
    human = np.array([[-float(place) for place in range(n - 1)] + [-500.0]])
    metric = human.copy()
    metric[0, -1] = -11.0  # last by both
    metric[0, [2, 8]] = metric[0, [8, 2]]
    tables = {"Own-src": ScoreTable(systems=SYSTEMS[:1], seg=metric, sys=metric.mean(axis=1))}
    of_people = {"mqm": ScoreTable(systems=SYSTEMS[:1], seg=human, sys=human.mean(axis=1))}
    given: dict[str, Any] = {"documents": [("news", "n1")] * n, "systems": SYSTEMS[:1], "facts": False}
    layout = tiny_layout(tmp_path / "in", metrics=tables, humans=of_people, **given)
    with tiny_warehouse(tmp_path, layout) as opened:
        by_rank, by_score = (
            metaeval.segments(opened, *TINY, "Own", human="mqm", scale=scale, n=n) for scale in ("ranks", "scores")
        )
    first = by_rank.frame.row(0, named=True)
    assert {first["rank_a"], first["rank_b"]} == {3, 9}
    places = {3: "among the best 25%", 9: "among the worst 33%"}  # 3 of 12 are as good, 4 of 12 as bad
    mqm, own = places[first["rank_a"]], places[first["rank_b"]]
    assert by_rank.summary.endswith(f": {mqm} by mqm, {own} by Own-src.")
    # 0, -1, ..., -10 and -500: mean -46.25, SD 142.9, so -500 is 3.18 below; -11 of 0 ... -11: 5.5 / 3.61 = 1.53.
    assert "segment 12: 3.2 SD below the mean by mqm, 1.5 SD below the mean by Own-src." in by_score.summary
    assert by_score.frame["segment"][0] == n


def test_without_a_metric_people_are_compared_with_the_mean_of_all(tiny: Warehouse) -> None:
    found = metaeval.segments(tiny, *TINY, metrics=["Fine*", "Rough*", "Flat*"], n=50)
    z = {}
    for name in ("Fine-src", "Rough-refA"):  # Flat is constant and does not count
        cells = _residuals(name)
        z[name] = dict(zip([one[:2] for one in cells], _z([one[3] for one in cells]), strict=True))
    for row in found.frame.rows(named=True):
        key = (row["system"], row["segment"])
        assert row["value_b"] == pytest.approx((z["Fine-src"][key] + z["Rough-refA"][key]) / 2, abs=1e-9)
    assert found.frame["scorer_b"][0] == "mean of 3 metrics"


def test_errors_of_the_protocol_stand_beside_the_outputs(tmp_path: Path) -> None:
    error = {"start": 0, "end": 3, "category": "style", "severity": "Minor", "score": 1.0, "is_source_error": False}
    ratings = RatingTable({"Ash": [[error], *[[]] * 4], "Beech": [[]] * 5, "Cherry": [None] * 5})
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "in", ratings={"mqm.merged": ratings})) as opened:
        found = metaeval.segments(opened, *TINY, "Fine", n=50)
    listed = {row["system"]: row["errors"] for row in found.frame.filter(segment=1).rows(named=True)}
    assert listed["Beech"] == listed["Cherry"] == []
    assert [(one["severity"], one["start"], one["end"]) for one in listed["Ash"]] == [("minor", 0, 3)]
    assert "errors are those marked for mqm.merged" in found.notes


def test_what_cannot_be_compared_is_refused(tiny: Warehouse) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"metric": "Fin"}, "unknown metric 'Fin' for tiny24 en-de; did you mean 'Fine-src'"),
        ({"metric": ["Fine", "Rough", "Wrong"]}, "3 metrics named: one is compared with human scores, two"),
        ({"metric": ["Fine", "Fine-src"]}, "'Fine' and 'Fine-src' are the same metric"),
        ({"metric": "Flat"}, "Flat-src gives all outputs of tiny24 en-de the same score"),
        ({"metric": "Only"}, "Only-src of tiny24 en-de: no segment scores"),
        ({"metric": "Fine", "metrics": "Rough*"}, "metrics selects metrics for their mean"),
        ({"metric": "Fine", "systems": "Ash", "segments": "1-2"}, "both score 2 outputs of tiny24 en-de, too few"),
        ({"metric": "Fine", "n": 0}, "n 0: expected a whole number from 1 on"),
        ({"metric": "Fine", "by": "theme"}, "by 'theme': expected one of"),
    ]
    for given, words in cases:
        with pytest.raises(QuestionError, match=words):
            metaeval.segments(tiny, *TINY, **given)


def test_groups_of_what_is_not_loaded_are_refused(tmp_path: Path) -> None:
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "in", texts=False)) as opened:
        with pytest.raises(QuestionError, match="by='length': no source texts of tiny24 en-de are loaded"):
            metaeval.segments(opened, *TINY, "Fine", by="length")
        found = metaeval.segments(opened, *TINY, "Fine", n=1)
        assert found.frame.select("length", "source", "output", "errors").row(0) == (None, None, None, None)
        assert "no texts of tiny24 en-de are loaded" in found.notes


@pytest.mark.parametrize(
    ("residual", "said"),
    [
        (0.00062, "on average, neither is higher there."),
        (-0.004, "on average, neither is higher there."),
        (0.25, "A is higher there by 0.25 SD on average."),
        (-0.006, "A is lower there by 0.01 SD on average."),
    ],
)
def test_a_difference_that_rounds_to_nothing_is_none(residual: float, said: str) -> None:
    row = {"scorer_a": "A", "scorer_b": "B", "group": "news", "rms": 1.0, "residual": residual}
    question = Segments(testset="t", lp="en-de", metric=("A",), by="domain")
    found = Answer(pl.DataFrame([row, {**row, "group": "talks", "rms": 0.5}]), "", question=question, results=())
    assert question.headline(found).endswith(said)
