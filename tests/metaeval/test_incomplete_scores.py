"""Scores with gaps and noise: parts of a test set, missing judgements and metric scores, values apart by rounding."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

import metaeval
from metaeval.measures.options import Options, SystemScore
from metaeval.measures.registry import parse_measure
from metaeval.measures.system_scores import system_scores, without_noise
from metaeval.results.evaluation import evaluate
from metaeval.results.inputs import Inputs
from metaeval.results.study import Study, ranking_order, study
from metaeval.studies.ranking.rankings import explanation
from metaeval.studies.tables.counts import pair_counts
from queries.blocks import Block
from queries.reasons import Exclusion, Reason, some_missing
from queries.slices import Slice
from tests.helpers import LP, MQM, NAN, SYSTEMS, TESTSET, metric_tables, rank, tiny_layout, tiny_warehouse
from warehouse import QuestionError, Warehouse
from warehouse.export.mtme import ScoreTable
from warehouse.wording import option

SPEECH = Slice(TESTSET, LP, domain=("speech",))  # segments 4, which nobody judged, and 5


def _study(warehouse: Warehouse, asked: Slice, *measures: str, **options: object) -> Study:
    return study(warehouse, asked, [parse_measure(text) for text in measures], Options(**options))  # type: ignore[arg-type]


def _block(warehouse: Warehouse, measure: str, **asked: object) -> Block:
    return Inputs(warehouse, Slice(TESTSET, LP, **asked)).block(parse_measure(measure))  # type: ignore[arg-type]


def _judged(*rows: Sequence[float]) -> dict[str, ScoreTable]:
    """A human score of Ash, Beech, Cherry and refA, without submitted system scores."""
    return {"mqm": ScoreTable(systems=SYSTEMS, seg=np.array(rows))}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    with tiny_warehouse(tmp_path_factory.mktemp("tiny")) as opened:
        yield opened


# ---------------------------------------------------------------- parts of a test set


def test_on_a_part_metrics_with_submitted_scores_alone_are_excluded_with_the_reason(warehouse: Warehouse) -> None:
    (whole,) = _study(warehouse, Slice(TESTSET, LP), "pearson").results
    (part,) = _study(warehouse, SPEECH, "pearson").results
    assert "Only-src" in {metric.name for metric in whole.evaluation.metrics}
    assert part.evaluation.excluded == {"Only-src": Exclusion(Reason.NO_SEGMENT_SCORES)}
    assert set(part.evaluation.system_score) == {"mean"}
    assert "pearson excludes Only-src (no segment scores)" in part.notes


def test_on_a_part_system_scores_are_means_over_it(warehouse: Warehouse) -> None:
    block = Inputs(warehouse, SPEECH).block(parse_measure("pearson"))
    found = system_scores(block, "submitted")
    assert found.human.tolist() == [-1, 0, -25]
    fine = found.metrics[[metric.name for metric in block.metrics].index("Fine-src")]
    assert fine.tolist() == pytest.approx([(0.7 + 0.9) / 2, (0.6 + 0.95) / 2, (0.3 + 0.0) / 2])


def test_on_a_part_systems_that_nobody_judged_there_are_dropped_with_the_reason(tmp_path: Path) -> None:
    scores = np.array(MQM)
    scores[1, 4] = NAN  # Beech
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", humans=_judged(*scores))) as warehouse:
        (part,) = _study(warehouse, SPEECH, "pa").results
        (whole,) = _study(warehouse, Slice(TESTSET, LP), "pa").results
    reasons = {choice.name: choice.reason for choice in part.selection.systems}
    assert str(reasons["Beech"]) == "not judged by mqm in this part of the test set"
    assert (part.evaluation.n_systems, whole.evaluation.n_systems) == (2, 3)
    values = dict(zip([metric.name for metric in part.evaluation.metrics], part.evaluation.value, strict=True))
    assert values["Fine-src"] == 1  # Ash is better than Cherry


# ---------------------------------------------------------------- missing judgements


def test_soft_pairwise_accuracy_takes_the_system_pairs_with_common_segments(tmp_path: Path) -> None:
    nothing = [NAN] * 5
    humans = _judged([-1, 0, NAN, NAN, NAN], [NAN, NAN, -6, NAN, NAN], [-10, -5, -11, NAN, NAN], nothing)
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", humans=humans)) as warehouse:
        (result,) = _study(warehouse, Slice(TESTSET, LP, metrics=("Fine-src",)), "spa(n=inf)").results

    def p(*gaps: float) -> float:
        return 1 - NormalDist().cdf(sum(gaps) / math.sqrt(sum(gap**2 for gap in gaps)))

    ash_cherry = abs(p(9, 5) - p(0.9 - 0.2, 0.95 - 0.5))
    beech_cherry = abs(p(5) - p(0.4 - 0.1))
    assert result.evaluation.n_pairs.tolist() == [2]  # Ash and Beech have no segment in common
    assert result.evaluation.value.tolist() == pytest.approx([1 - (ash_cherry + beech_cherry) / 2])


def test_soft_pairwise_accuracy_without_common_segments_is_not_defined(tmp_path: Path) -> None:
    nothing = [NAN] * 5
    humans = _judged([-1, NAN, NAN, NAN, NAN], [NAN, -5, NAN, NAN, NAN], [NAN, NAN, -11, NAN, NAN], nothing)
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", humans=humans)) as warehouse:
        (result,) = _study(warehouse, Slice(TESTSET, LP, metrics=("Fine-src", "Wrong-src")), "spa").results
    assert np.isnan(result.evaluation.value).all()
    assert "spa is not defined: mqm has scores of no two outputs of a segment" in result.notes


def test_groups_without_a_value_are_reported_with_what_becomes_of_them(warehouse: Warehouse) -> None:
    by_segment = np.array([2 / 6**0.5, NAN, 0, 2 / 6**0.5])  # Rough, as worked out in docs/methods
    for on_nan, rule, expected in (
        ("drop", "excluded from its mean", np.nanmean(by_segment)),
        ("zero", "counted as 0", np.nansum(by_segment) / 4),
        ("common", "excluded for all metrics", np.nanmean(by_segment)),
    ):
        asked = Slice(TESTSET, LP, metrics=("Fine-src", "Rough-refA"))
        (result,) = _study(warehouse, asked, f"tau_b(by=item, on_nan={on_nan})").results
        # Rough is constant on segment 2, Fine nowhere.
        (note,) = [note for note in result.notes if "n_groups_nan" in note]
        assert note.startswith(f"{result.evaluation.measure}: up to 1 group is undefined for 1 metric ")
        assert note.endswith(f"; a group undefined for a metric is {rule}")
        assert result.evaluation.value.tolist() == pytest.approx([1, expected])


# ---------------------------------------------------------------- metrics with holes


@pytest.fixture
def holes() -> np.ndarray:
    """Scores of Fine-src without two judged scores: Ash on segment 1, Beech on segment 3."""
    seg = np.array(metric_tables()["Fine-src"].seg)
    seg[0, 0] = seg[1, 2] = NAN
    return seg


def test_a_metric_with_holes_is_excluded_from_counts_and_means(tmp_path: Path, holes: np.ndarray) -> None:
    submitted = metric_tables()["Fine-src"].sys
    tables = {
        **metric_tables(),
        "Holes-src": ScoreTable(systems=SYSTEMS, seg=holes),
        "Submitted-src": ScoreTable(systems=SYSTEMS, seg=holes, sys=submitted),
    }
    reason = some_missing(2)
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics=tables)) as warehouse:
        counts = pair_counts(warehouse, Slice(TESTSET, LP), "item")
        (by_default,) = _study(warehouse, Slice(TESTSET, LP), "pa").results
        (by_mean,) = _study(warehouse, Slice(TESTSET, LP), "pa", system_score="mean").results
    assert not {"Holes-src", "Submitted-src"} & set(counts.frame["metric"])
    assert f"Holes-src, Submitted-src are excluded: {reason}" in counts.notes
    assert by_default.evaluation.excluded == {"Holes-src": reason}
    assert by_mean.evaluation.excluded["Holes-src"] == by_mean.evaluation.excluded["Submitted-src"] == reason
    ranked = dict(zip([m.name for m in by_default.evaluation.metrics], by_default.evaluation.system_score, strict=True))
    assert ranked["Submitted-src"] == "submitted"


def test_a_segment_with_one_judged_output_has_no_pairs_however_large_the_join_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    humans = _judged([-1, -2, -3, NAN, NAN], [NAN, -5, -1, NAN, NAN], [NAN, NAN, -11, -2, NAN], [NAN] * 5)
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", humans=humans)) as warehouse:
        by_query = pair_counts(warehouse, Slice(TESTSET, LP), "item").frame
        monkeypatch.setattr("metaeval.studies.tables.counts._MOST_JOINED", 0)
        by_kernel = pair_counts(warehouse, Slice(TESTSET, LP), "item").frame
    assert by_kernel.equals(by_query)
    assert set(by_query["group"]) == {"2", "3"}


def test_the_intersection_takes_the_cells_from_every_metric(tmp_path: Path, holes: np.ndarray) -> None:
    fine = np.array(metric_tables()["Fine-src"].seg)
    tables = {"Fine-src": ScoreTable(systems=SYSTEMS, seg=fine), "Holes-src": ScoreTable(systems=SYSTEMS, seg=holes)}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics=tables)) as warehouse:
        block = _block(warehouse, "pa", intersection=True)
        (result,) = _study(
            warehouse, Slice(TESTSET, LP, intersection=True), "pearson(by=none)", system_score="mean"
        ).results
    assert np.isnan(block.scores[:, 0, 0]).all()
    assert np.isnan(block.scores[:, 1, 2]).all()
    assert np.isnan(block.human[[0, 1], [0, 2]]).all()
    means = system_scores(block, "mean").metrics
    np.testing.assert_allclose(means, [np.nanmean(holes[:3], axis=1)] * 2)
    assert result.evaluation.value[0] == result.evaluation.value[1]
    assert "Fine-src and Holes-src have exactly the same scores" in result.notes


@pytest.mark.slow
@pytest.mark.every(4)
@pytest.mark.parametrize("source", [None, "mean", "judged-mean"])
@pytest.mark.parametrize("measure", ["pearson", "pa", "kendall", "spearman"])
def test_system_scores_of_an_intersection_are_those_of_the_part_that_it_leaves(
    tmp_path: Path, measure: str, source: SystemScore | None
) -> None:
    first = np.array(metric_tables()["Fine-src"].seg)
    first[:, 3:] = NAN  # the first three segments alone, as of a metric that ran on a part
    tables = {**metric_tables(), "First-src": ScoreTable(systems=SYSTEMS, seg=first, sys=first[:, :3].mean(axis=1))}
    metrics = ("First", "Fine", "Wrong")
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics=tables)) as warehouse:
        values = [
            {one.name: value for one, value in zip(found.metrics, found.value.tolist(), strict=True)}
            for part in (
                Slice(TESTSET, LP, metrics=metrics, intersection=True),
                Slice(TESTSET, LP, metrics=metrics, segments="1-3"),
            )
            for found in [_study(warehouse, part, measure, system_score=source).results[0].evaluation]
        ]
    assert values[0] == pytest.approx(values[1], abs=1e-12, nan_ok=True)
    assert len(values[0]) == 3


def test_means_of_an_intersection_are_of_common_segments_also_where_nothing_judged_is_lost(tmp_path: Path) -> None:
    partly = np.array(metric_tables()["Wrong-src"].seg)
    partly[0, 3] = NAN  # segment 4, which nobody judged
    fine = metric_tables()["Fine-src"]
    tables = {"Fine-src": fine, "Partly-src": ScoreTable(systems=SYSTEMS, seg=partly)}
    common = np.array(fine.seg)
    assert fine.sys is not None
    common[0, 3] = NAN
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics=tables)) as warehouse:
        block = _block(warehouse, "pa", intersection=True)
        asked = Slice(TESTSET, LP, intersection=True)
        (submitted,) = _study(warehouse, asked, "pearson", system_score="submitted").results
    assert not block.is_cut
    np.testing.assert_allclose(system_scores(block, "mean").metrics[0], np.nanmean(common, axis=1)[:3])
    np.testing.assert_allclose(system_scores(block, "submitted").metrics[0], fine.sys[:3])
    assert submitted.evaluation.system_score == ("submitted", "mean")


def test_an_intersection_without_some_judged_segments_has_no_submitted_scores(
    tmp_path: Path, holes: np.ndarray
) -> None:
    tables = {"Fine-src": metric_tables()["Fine-src"], "Holes-src": ScoreTable(systems=SYSTEMS, seg=holes)}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics=tables)) as warehouse:
        asked = Slice(TESTSET, LP, intersection=True)
        with pytest.raises(QuestionError, match="has no submitted system scores; take system_score='mean'"):
            _study(warehouse, asked, "pearson", system_score="submitted")
        (by_default,) = _study(warehouse, asked, "pearson").results
    assert by_default.evaluation.system_score == ("mean", "mean")


@pytest.mark.slow
@pytest.mark.parametrize("is_intersection", [False, True])
@pytest.mark.parametrize("source", [None, "mean", "judged-mean"])
def test_who_is_included_is_explained_as_it_is_ranked(
    tmp_path: Path, source: SystemScore | None, is_intersection: bool, holes: np.ndarray
) -> None:
    fine = metric_tables()["Fine-src"]
    tables = {**metric_tables(), "Holes-src": ScoreTable(systems=SYSTEMS, seg=holes, sys=fine.sys)}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics=tables)) as warehouse:
        for text in ("pearson", "pa", "spa", "acc_eq(by=item)"):
            asked = Slice(TESTSET, LP, intersection=is_intersection)
            ranked = _study(warehouse, asked, text, system_score=source).results[0].evaluation
            frame = explanation(warehouse, asked, [parse_measure(text)], Options(system_score=source)).frame
            metrics = frame.filter(kind="metric")
            assert {metric.name for metric in ranked.metrics} == {*metrics.filter(included="yes")["name"]}
            reasons = dict(metrics.select("name", "reason").iter_rows())
            assert {name: str(why) for name, why in ranked.excluded.items()}.items() <= reasons.items()


def test_system_scores_from_another_source_than_asked_for_are_named(warehouse: Warehouse) -> None:
    asked = _study(warehouse, Slice(TESTSET, LP), "pearson", system_score="judged-mean").notes
    default = _study(warehouse, Slice(TESTSET, LP), "pearson").notes
    assert "pearson: Only-src has no means over annotated segments; submitted system scores are used" in asked
    assert not [note for note in default if "system scores of" in note]


@pytest.mark.slow
@pytest.mark.parametrize("ask", ["segments", "counts", "thresholds", "correlations", "rank"])
def test_a_question_without_metrics_of_segments_says_why_there_is_none(tmp_path: Path, ask: str) -> None:
    options = {"rank": {"measures": "acc_eq(by=item)"}, "correlations": {"measure": "pearson(by=none)"}}
    tables = {"Only-src": metric_tables()["Only-src"]}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics=tables)) as warehouse:
        try:
            said = list(getattr(metaeval, ask)(warehouse, TESTSET, LP, **options.get(ask, {})).notes)
        except QuestionError as error:
            said = [str(error)]
    (line, *_) = [line for line in said if "no segment scores" in line]
    assert "None" not in line


# ---------------------------------------------------------------- noise


def test_scores_apart_by_rounding_become_equal() -> None:
    cases = [
        ([0.1 + 0.2, 0.3, 0.5], [0.3, 0.3, 0.5]),
        ([-25.200000000000003, -25.2, 0.0], [-25.200000000000003, -25.200000000000003, 0.0]),
        ([1e6, 1e6 + 1e-7, 1.0], [1e6, 1e6, 1.0]),  # noise is relative to the largest score
        ([1e-13, 2e-13, 0.0], [1e-13, 2e-13, 0.0]),
        ([NAN, 0.3, 0.1 + 0.2], [NAN, 0.3, 0.3]),
        ([NAN, NAN], [NAN, NAN]),
        ([0.5], [0.5]),
    ]
    for scores, expected in cases:
        given = np.array(scores)
        np.testing.assert_array_equal(without_noise(given), expected)
        np.testing.assert_array_equal(given, scores)
        each = without_noise(np.array([given, -given, 2.0 * given]))  # of several scorers
        np.testing.assert_array_equal(each, [without_noise(one) for one in (given, -given, 2.0 * given)])


def test_system_scores_apart_by_rounding_are_a_tie_unless_raw_floats_are_asked_for(warehouse: Warehouse) -> None:
    block = _block(warehouse, "pa", metrics=("Only-src",))
    block = replace(block, submitted=np.array([[0.1 + 0.2, 0.3, 0.5]]), human_submitted=np.array([1.0, 1.0, 2.0]))
    for text, tied, raw in (("pa", 1.0, 2 / 3), ("kendall", 1.0, 2 / math.sqrt(2 * 3))):
        measure = parse_measure(text)
        assert evaluate(measure, block, Options()).value.tolist() == pytest.approx([tied], abs=1e-12)
        assert evaluate(measure, block, Options(raw_ties=True)).value.tolist() == pytest.approx([raw], abs=1e-12)


def test_values_apart_by_rounding_share_a_rank_and_are_not_distinct(warehouse: Warehouse) -> None:
    values = [0.7, 0.7 - 5e-13, 0.7 - 3e-12, NAN]
    assert [rank for _, rank in ranking_order(values, ["a", "b", "c", "d"])] == [1, 1, 3, None]
    (result,) = _study(warehouse, Slice(TESTSET, LP), "pa").results
    assert replace(result.evaluation, value=np.array(values)).n_distinct == 2
    assert replace(result.evaluation, value=np.array([NAN, NAN])).n_distinct == 0


# ---------------------------------------------------------------- what a result says of itself


def test_the_signature_names_the_references_that_the_ranked_metrics_saw(simulated_warehouse: Warehouse) -> None:
    def reference(**asked: object) -> str:
        (frame,) = set(rank(simulated_warehouse, "sim24", "en-de", ["pa"], **asked)["signature"])  # type: ignore[arg-type]
        return str(dict(part.split(":", 1) for part in frame.split("|"))["reference"])

    assert reference() == "refA"
    assert reference(metrics=("Kestrel-24-refB", "simBLEU-refB")) == "refB"
    assert reference(metrics=("Kestrel-24-refA", "Kestrel-24-refB")) == "refA+refB"
    assert reference(metrics=("Dice-src", "Onlooker-src")) == "refA"  # the slice's, as no metric saw any


def test_soft_pairwise_accuracy_says_that_another_system_score_does_not_apply(warehouse: Warehouse) -> None:
    asked = Slice(TESTSET, LP, metrics=("Fine-src",))
    notes = _study(warehouse, asked, "spa(n=20)", system_score="submitted").notes
    quiet = _study(warehouse, asked, "spa(n=20)", system_score="judged-mean").notes
    others = _study(warehouse, asked, "pa", system_score="mean").notes
    assert (
        f"spa(n=20) is computed over annotated segments; {option('system_score', 'submitted')} does not apply" in notes
    )
    assert not any("does not apply" in note for note in [*quiet, *others])
