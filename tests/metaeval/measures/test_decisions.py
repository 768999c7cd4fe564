"""Decisions through the whole program: what is good, thresholds of other test sets, what rows and signatures say."""

import math
from dataclasses import replace

import numpy as np
import pytest

import metaeval
from metaeval.measures.decisions import good_outputs
from metaeval.measures.options import Options
from metaeval.measures.registry import parse_measure
from metaeval.results.evaluation import evaluate
from metaeval.results.inputs import Inputs
from metaeval.results.study import study
from queries.blocks import Block
from queries.slices import Slice
from warehouse import QuestionError, Warehouse

ASKED = Slice("sim24", "en-de")


@pytest.fixture(scope="module")
def block(simulated_warehouse: Warehouse) -> Block:
    return Inputs(simulated_warehouse, ASKED).judged_segments()


def _of(block: Block, human: object, errors: object = None) -> Block:
    scores = np.asarray(human, dtype=float)
    marked = None if errors is None else np.asarray(errors, dtype=float)
    return replace(block, human=scores, marked_errors=marked)


def test_error_free_is_zero_on_a_scale_of_penalties(block: Block) -> None:
    found = good_outputs(_of(block, [[0.0, -0.1, np.nan]]), "error_free")
    assert found.values.tolist()[0][:2] == [1, 0]
    assert math.isnan(found.values[0, 2])
    assert found.rule == "score>=0"


def test_error_free_is_no_marked_error_and_85_on_a_scale_to_100(block: Block) -> None:
    found = good_outputs(_of(block, [[100, 85, 84, 100, 90]], [[0, 0, 0, 1, np.nan]]), "error_free")
    assert found.values.tolist()[0][:4] == [1, 1, 0, 0]
    assert math.isnan(found.values[0, 4])  # nobody says


def test_without_marked_errors_nothing_is_error_free_and_the_reason_is_given(block: Block) -> None:
    found = good_outputs(_of(block, [[100.0, 20.0]]), "error_free")
    assert np.isnan(found.values).all()
    assert found.why is not None
    assert "has no marked errors" in found.why


def test_a_metric_that_is_the_human_score_has_mcc_1(block: Block) -> None:
    perfect = replace(
        block, scores=np.where(np.isnan(block.human), 0.0, block.human)[np.newaxis], metrics=block.metrics[:1]
    )
    for measure in ("mcc", "mcc(good=-4)", "f_beta", "roc_auc", "average_precision", "rrp"):
        assert evaluate(parse_measure(measure), perfect, Options()).value.tolist() == [1.0], measure
    for measure in ("rmse", "mae", "brier"):
        assert evaluate(parse_measure(measure), perfect, Options()).value[0] == pytest.approx(0, abs=1e-12), measure


@pytest.mark.parametrize(
    "measure", ["mcc", "f_beta", "precision", "recall", "average_precision", "roc_auc", "brier", "rmse", "mae", "rrp"]
)
def test_segments_that_nobody_judged_change_no_value(block: Block, measure: str) -> None:
    documents = np.array(block.selection.documents, dtype=object)
    second, fourth = list(dict.fromkeys(documents))[1:4:2]
    partly = replace(block, human=np.where((documents == second) | (documents == fourth), np.nan, block.human))
    whole = partly.take(segments=np.flatnonzero(partly.judged.any(axis=0)))
    one, other = (evaluate(parse_measure(measure), of, Options()).value for of in (partly, whole))
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_a_threshold_of_another_year_is_carried_on_the_usual_scale(block: Block) -> None:
    """Of chrF, whose scores run from 0 to 1 in WMT20."""
    (first, *_) = block.metrics
    scores = block.scores[:1] - block.scores[0][block.judged].min()
    here = _as_if(replace(block, metrics=(replace(first, base_name="chrF"),), scores=scores), "wmt23", 50.0)
    for testset, factor in (("wmt20", 0.5), ("wmt23", 50.0)):
        elsewhere = _as_if(here, testset, factor)
        found = evaluate(parse_measure("mcc(good=-1, threshold=any)"), replace(here, elsewhere=(elsewhere,)), Options())
        alone = evaluate(parse_measure("mcc(good=-1)"), here, Options())
        assert found.details["threshold"][0] == pytest.approx(alone.details["threshold"][0])


def _as_if(block: Block, testset: str, factor: float) -> Block:
    """The block in another test set, its largest score being the factor."""
    largest = block.scores[~np.isnan(block.scores)].max()
    selection = replace(block.selection, slice=replace(block.selection.slice, testset=testset))
    return replace(block, selection=selection, scores=block.scores / largest * factor)


def test_rows_have_threshold_precision_recall_and_prevalence(simulated_warehouse: Warehouse) -> None:
    frame = metaeval.rank(simulated_warehouse, "sim24", "en-de", ["mcc(good=-1)", "precision(good=-1)", "pa"]).frame
    by_measure = {measure: part for (measure,), part in frame.group_by("measure")}
    assert by_measure["pa"]["threshold"].null_count() == by_measure["pa"].height
    precise = by_measure["precision(good=-1)"].filter(frame["value"].is_not_null().head(1).item())
    assert precise["value"].to_list() == precise["precision"].to_list()
    assert by_measure["mcc(good=-1)"]["prevalence"].n_unique() == 1
    signature = by_measure["mcc(good=-1)"]["signature"][0]
    assert "|good:score>=-1|prevalence:0." in signature


@pytest.mark.slow
@pytest.mark.parametrize("good", ["-1000", "1000"])
def test_people_who_find_all_good_or_none_leave_null_with_the_reason(simulated_warehouse: Warehouse, good: str) -> None:
    for name in ("mcc", "f_beta", "precision", "recall", "average_precision", "roc_auc", "brier"):
        measure = f"{name}(good={good})"
        ranked = metaeval.rank(simulated_warehouse, "sim24", "en-de", measure)
        assert ranked.frame["value"].null_count() == ranked.frame.height
        (note,) = (note for note in ranked.notes if "not defined" in note)
        assert "in one class" in note


def test_a_metric_that_never_changes_has_null_with_the_reason(simulated_warehouse: Warehouse) -> None:
    found = study(
        simulated_warehouse,
        Slice("sim24", "ja-en", metrics=("Steady*", "Dice*")),
        [parse_measure("mcc(good=-1)")],
        Options(),
    )
    value = dict(
        zip((one.name for one in found.results[0].evaluation.metrics), found.results[0].evaluation.value, strict=True)
    )
    assert math.isnan(value["Steady-src"])
    assert any("Steady-src (gives all outputs the same score)" in note for note in found.notes)


def test_a_threshold_of_another_test_set_is_its_best(simulated_warehouse: Warehouse) -> None:
    own = evaluate(parse_measure("mcc"), Inputs(simulated_warehouse, ASKED).block(parse_measure("mcc")), Options())
    measure = parse_measure("mcc(threshold=sim24)")
    carried = study(simulated_warehouse, ASKED, [measure], Options()).results[0]
    np.testing.assert_array_equal(carried.evaluation.value, own.value)  # the same test set is another one to it
    assert "|calibrated_on:sim24 en-de|" in carried.signature
    with pytest.raises(QuestionError, match="unknown test set 'sim25'"):
        study(simulated_warehouse, ASKED, [parse_measure("mcc(threshold=sim25)")], Options())
    with pytest.raises(QuestionError, match="cannot be carried over here"):
        evaluate(measure, Inputs(simulated_warehouse, ASKED).judged_segments(), Options())
