"""Two systems head to head: the same numbers as the gate, SQL and means of domains have, and refusals in one line."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import metaeval
from metaeval.results.answer import Answer
from metaeval.studies.significance.head_to_head import in_a_sentence
from tests.helpers import LP, TESTSET, tiny_layout, tiny_warehouse
from warehouse import QuestionError, Warehouse
from warehouse.export.mtme import ScoreTable
from warehouse.facts.metrics import describe

SET = ("sim24", "en-de")


@pytest.fixture(scope="module")
def two(simulated_warehouse: Warehouse) -> tuple[str, str]:
    """The second and the fourth of the systems that people ranked."""
    frame = metaeval.systems(simulated_warehouse, *SET, resamples=20).frame
    return frame["system"][1], frame["system"][3]


@pytest.fixture(scope="module")
def found(simulated_warehouse: Warehouse, two: tuple[str, str]) -> Answer[Any]:
    return metaeval.systems(simulated_warehouse, *SET, *two, resamples=200)


def test_each_scorer_has_the_values_and_p_of_the_gate(
    simulated_warehouse: Warehouse, two: tuple[str, str], found: Answer[Any]
) -> None:
    rows = {row["scorer"]: row for row in found.frame.to_dicts()}
    for scorer, words in (("mqm", two), ("simchrF-refA", ("simchrF-refA", two))):
        gate = metaeval.systems(simulated_warehouse, *SET, *words, gate=True, resamples=200).frame.row(0, named=True)
        row = rows[scorer]
        assert (row["value_a"], row["value_b"]) == pytest.approx((gate["value_old"], gate["value_new"]))
        assert row["difference"] == pytest.approx(-gate["difference"])
        assert row["p"] == gate["p"]
        expected = {"worse": two[0], "better": two[1]}.get(gate["verdict"])
        assert row["better"] == expected
    assert found.frame["kind"].to_list() == sorted(found.frame["kind"])
    assert found.frame["scorer"][0] == "mqm"


def test_every_human_score_and_metric_has_the_means_of_sql(
    simulated_warehouse: Warehouse, two: tuple[str, str], found: Answer[Any]
) -> None:
    rows = simulated_warehouse.rows(
        """
        SELECT scorer, avg(value ORDER BY segment) FILTER (system = $first),
          avg(value ORDER BY segment) FILTER (system = $second)
        FROM (
          SELECT metric AS scorer, system, segment, value FROM scores WHERE testset = 'sim24' AND lp = 'en-de'
          UNION ALL
          SELECT human, system, segment, value FROM human_scores WHERE testset = 'sim24' AND lp = 'en-de'
        )
        GROUP BY scorer
        """,
        {"first": two[0], "second": two[1]},
    )
    expected = {scorer: values for scorer, *values in rows}
    assert found.frame.height > 10
    for row in found.frame.to_dicts():
        assert [row["value_a"], row["value_b"]] == pytest.approx(expected[row["scorer"]])


def test_domains_are_those_of_the_view_of_domains(
    simulated_warehouse: Warehouse, two: tuple[str, str], found: Answer[Any]
) -> None:
    view = metaeval.systems(simulated_warehouse, *SET, view="domains").frame
    means = {(row["domain"], row["system"]): row["mean"] for row in view.to_dicts()}
    parts = found.facts["domains"].to_dicts()
    assert [one["domain"] for one in parts] == sorted({domain for domain, _ in means})
    for one in parts:
        assert [one["value_a"], one["value_b"]] == pytest.approx([means[one["domain"], name] for name in two])


def test_segments_are_those_of_the_largest_differences(
    simulated_warehouse: Warehouse, two: tuple[str, str], found: Answer[Any]
) -> None:
    rows = simulated_warehouse.rows(
        "SELECT segment, system, value FROM human_scores WHERE testset = $t AND lp = $lp AND human = 'mqm' "
        "AND system IN ($first, $second)",
        {"t": SET[0], "lp": SET[1], "first": two[0], "second": two[1]},
    )
    scores: dict[int, dict[str, float]] = {}
    for segment, system, value in rows:
        if value is not None:
            scores.setdefault(segment, {})[system] = value
    gaps = sorted((abs(one[two[0]] - one[two[1]]) for one in scores.values() if len(one) == 2), reverse=True)
    shown = found.facts["segments"].filter(by="human")
    assert [abs(a - b) for a, b in shown.select("human_a", "human_b").rows()] == pytest.approx(gaps[: shown.height])
    assert shown.height == found.facts["segments"].filter(by="metrics").height == 3
    by_metrics = found.facts["segments"].filter(by="metrics")
    sizes = (by_metrics["metrics_a"] - by_metrics["metrics_b"]).abs()
    assert sizes.to_list() == sorted(sizes, reverse=True)
    assert all(row["output_a"] for row in shown.to_dicts())


def test_errors_are_counted_where_both_are_annotated(
    simulated_warehouse: Warehouse, two: tuple[str, str], found: Answer[Any]
) -> None:
    marked = simulated_warehouse.rows(
        "SELECT system, segment, category, severity_class FROM spans WHERE testset = $t AND lp = $lp AND "
        "scorer = $of AND status = 'valid' AND system IN ($first, $second)",
        {"t": SET[0], "lp": SET[1], "of": found.facts["errors_of"], "first": two[0], "second": two[1]},
    )
    judged = simulated_warehouse.rows(
        "SELECT segment FROM human_scores WHERE testset = $t AND lp = $lp AND human = 'mqm' AND value IS NOT NULL "
        "AND system IN ($first, $second) GROUP BY segment HAVING count(*) = 2",
        {"t": SET[0], "lp": SET[1], "first": two[0], "second": two[1]},
    )
    marked = [one for one in marked if (one[1],) in judged]
    counts = Counter((system, category or "no category") for system, _, category, _ in marked)
    severe = Counter(system for system, *_, severity in marked if severity in ("major", "critical"))
    frame = found.facts["errors"]
    assert frame.height
    assert {(two[0], row["category"]): row["n_a"] for row in frame.to_dicts() if row["n_a"]} == {
        key: n for key, n in counts.items() if key[0] == two[0]
    }
    assert frame["severe_b"].sum() == severe[two[1]]


def test_the_sentence_counts_the_metrics_that_agree(two: tuple[str, str], found: Answer[Any]) -> None:
    metrics = found.frame.filter(kind="metric")
    first, second = (metrics.filter(better=name).height for name in two)
    assert (
        f"Of {metrics.height} metrics, {first} find {two[0]} significantly better, {second} {two[1]}." in found.summary
    )
    assert " by mqm (" in found.summary
    assert "new documents" in found.summary


def test_metrics_that_judge_no_translation_do_not_count(
    simulated_warehouse: Warehouse, two: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    as_if = {"simBLEU": "random", "Dice": "sentinel"}
    monkeypatch.setattr(
        "metaeval.studies.significance.head_to_head.describe",
        lambda name: replace(describe(name), kind=as_if.get(name, describe(name).kind)),
    )
    found = metaeval.systems(simulated_warehouse, *SET, *two, resamples=20)
    names = {name.rpartition("-")[0] for name in found.frame.filter(kind="metric")["scorer"]}
    assert as_if.keys() <= names
    assert f"Of {found.frame.filter(kind='metric').height - 2} metrics (2 not counted), " in found.summary


def test_without_metrics_there_is_no_count_of_them(found: Answer[Any]) -> None:
    without = replace(found.result, frame=found.frame.filter(kind="human"))
    assert in_a_sentence(without)[1] == "No included metric has segments of both."
    none_counts = replace(found.result, facts={**found.facts, "judges": []})
    assert in_a_sentence(none_counts)[1] == "No metric with segments of both is counted."


def test_without_the_official_human_score_the_others_are_counted(two: tuple[str, str], found: Answer[Any]) -> None:
    frame = found.frame.filter((pl.col("scorer") == "mqm") | (pl.col("kind") == "metric"))
    frame = frame.with_columns(pl.col("scorer").replace("mqm", "mqm-col1"))
    (better,) = frame.filter(kind="human")["better"]
    counts = [f"{int(name == better)} {verb}{name}" for name, verb in zip(two, ("find ", ""), strict=True)]
    numbers = f"{counts[0]} significantly better, {counts[1]} (new documents)."
    for official, which, kind in ((None, "No official human score has", ""), ("esa", "esa does not have", "other ")):
        said = in_a_sentence(replace(found.result, frame=frame, facts={**found.facts, "official": official}))
        assert said[0] == f"{which} segments of both {two[0]} and {two[1]}."
        assert said[1] == f"Of 1 {kind}human score, {numbers}"


def test_the_note_on_units_has_those_of_all_scorers(
    simulated_warehouse: Warehouse, two: tuple[str, str], found: Answer[Any]
) -> None:
    sizes = set(
        simulated_warehouse.rows(
            """
            SELECT count(DISTINCT s.document) FROM (
                SELECT testset, lp, segment, human AS scorer, system FROM human_scores WHERE value IS NOT NULL
                UNION ALL SELECT testset, lp, segment, metric, system FROM scores
            ) AS v JOIN segments AS s USING (testset, lp, segment)
            WHERE v.testset = $t AND v.lp = $lp AND v.system IN ($first, $second)
            GROUP BY v.scorer
            """,
            {"t": SET[0], "lp": SET[1], "first": two[0], "second": two[1]},
        )
    )
    (n_least,), (n_most,) = min(sizes), max(sizes)
    assert f"({n_least} to {n_most} documents)" in found.notes[0] or n_least == n_most
    assert f" documents) of mqm, other scorers by theirs ({n_least} to {n_most} documents), " in found.notes[0]


@pytest.mark.slow
def test_without_human_scores_the_units_are_those_of_the_metrics(tmp_path: Path) -> None:
    n, rng = 24, np.random.default_rng(0)
    seg = rng.normal(size=(2, n)) + np.array([[0.0], [5.0]])
    table = ScoreTable(systems=("A", "B"), seg=seg, sys=seg.mean(axis=1))
    documents = [("news", f"d{place // 2}") for place in range(n)]
    made: dict[str, Any] = {"humans": {}, "metrics": {"Own-src": table}, "documents": documents, "systems": ("A", "B")}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "in", facts=False, **made)) as opened:
        found = metaeval.systems(opened, TESTSET, LP, "A", "B", resamples=100)
    assert found.summary == (
        "No human score has segments of both A and B. Of 1 metric, 0 find A significantly better, 1 B (new documents)."
    )
    assert found.notes[0].startswith("tested by document (12 documents), two-sided")
    assert "|unit:document|" in found.signature


def test_metrics_that_are_not_included_are_not_said_to_have_no_scores(tmp_path: Path) -> None:
    """The metric scored all segments, with a reference that is not the official one."""
    table = ScoreTable(systems=("A", "B"), seg=np.arange(48.0).reshape(2, 24), sys=np.arange(2.0))
    documents = [("news", f"d{place // 2}") for place in range(24)]
    made: dict[str, Any] = {
        "metrics": {"Own-refB": table},
        "documents": documents,
        "systems": ("A", "B", "refA", "refB"),
    }
    reason = "no metric is included: 1 computed with refB, not with reference refA"
    for place, humans in enumerate(({"mqm": table}, {})):
        layout = tiny_layout(tmp_path / str(place), humans=humans, **made)
        with tiny_warehouse(tmp_path / f"w{place}", layout) as opened:
            if humans:
                found = metaeval.systems(opened, TESTSET, LP, "A", "B", resamples=100)
                assert reason in found.notes
                assert found.summary.endswith(" No included metric has segments of both.")
            else:
                with pytest.raises(QuestionError, match=f"^no human score and no included metric of .*; {reason}$"):
                    metaeval.systems(opened, TESTSET, LP, "A", "B", resamples=100)
