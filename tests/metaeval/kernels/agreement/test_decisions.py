"""Metrics as classifiers: by hand, against plain loops, by properties."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metaeval.kernels.agreement.decisions import (
    Statistic,
    average_precision,
    best_decision,
    decide,
    reranking_precision,
    roc_auc,
)

GOOD = [1, 1, 0, 1, 0, 0]
SCORES = [0.9, 0.7, 0.7, 0.4, 0.3, 0.1]
STATISTICS: tuple[Statistic, ...] = ("mcc", "f_beta", "precision", "recall")


def test_a_threshold_by_hand() -> None:
    """At least .7 have two good outputs and a bad one; left are a good one and two bad ones."""
    found = decide(GOOD, SCORES, 0.7)
    assert (found.n_true, found.n_false, found.n_good, found.n_bad) == (2, 1, 3, 3)
    assert (found.precision, found.recall, found.prevalence) == (2 / 3, 2 / 3, 0.5)
    assert found.f_beta(0.5) == pytest.approx(2 / 3)
    assert found.mcc == pytest.approx((2 * 2 - 1 * 1) / 9)


def test_curves_by_hand() -> None:
    """Thresholds .9, .7, .4 have precision 1, 2/3, 3/4 and find 1, 1, 1 of three good outputs."""
    assert average_precision(GOOD, SCORES) == pytest.approx((1 + 2 / 3 + 3 / 4) / 3)
    assert roc_auc(GOOD, SCORES) == pytest.approx((3 + 2.5 + 2) / 9)


def test_the_best_threshold_by_hand() -> None:
    """By F: .9 gives .5, .7 gives 2/3, .4 gives 6/7, .3 gives .75, .1 gives 2/3."""
    found = best_decision(GOOD, SCORES, "f_beta")
    assert (found.threshold, found.f_beta()) == (0.4, pytest.approx(6 / 7))


def test_the_smallest_of_equally_good_thresholds_is_taken() -> None:
    found = best_decision([1, 1, 1, 0], [4, 3, 2, 1], "precision")
    assert found.threshold == 2


def test_what_never_changes_is_undefined() -> None:
    assert best_decision([1, 1], [0.1, 0.2], "mcc") is None
    assert best_decision([0, 0], [0.1, 0.2], "f_beta") is None
    assert best_decision([], []) is None
    assert math.isnan(average_precision([0, 0], [1, 2]))
    assert math.isnan(roc_auc([1, 1], [1, 2]))
    assert decide([1, 0], [0.5, 0.5], 0.5).mcc == 0
    assert math.isnan(decide([1, 0], [0.5, 0.5], 0.6).precision)


def test_what_a_metric_selects_by_hand() -> None:
    """In the first segment it selects the best output, in the second one of two, in the third a worse one."""
    human = [[-1.0, -2.0, -5.0], [-3.0, -4.0, -1.0], [np.nan, -2.0, np.nan]]
    metric = [[0.9, 0.8, 0.7], [0.1, 0.8, 0.2], [0.99, 0.1, 0.9]]
    precision, selected = reranking_precision(human, metric)
    assert precision == pytest.approx((1 + 0.5 + 0) / 3)
    assert selected == pytest.approx((-1 - 3 - 5) / 3)
    assert all(math.isnan(value) for value in reranking_precision([[np.nan]], [[1.0]]))


outputs = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0, 1.0, 0.0, np.nan]), st.sampled_from([np.nan, *range(6)])), max_size=25
)


@given(outputs, st.sampled_from(STATISTICS), st.sampled_from([0.5, 1.0, 4.0]))
def test_the_best_of_all_thresholds_in_a_plain_loop(
    rows: list[tuple[float, float]], statistic: Statistic, beta2: float
) -> None:
    goods, scores = [good for good, _ in rows], [score for _, score in rows]
    there = [(good, score) for good, score in rows if not math.isnan(good) and not math.isnan(score)]
    by = "f_beta" if statistic in ("precision", "recall") else statistic  # whose own best says nothing
    best, at = -math.inf, math.nan
    for threshold in sorted({score for _, score in there}, reverse=True):
        found = decide(goods, scores, threshold)
        value = found.f_beta(beta2) if by == "f_beta" else getattr(found, by)
        if not math.isnan(value) and value >= best - 1e-15:
            best, at = value, threshold
    answer = best_decision(goods, scores, statistic, beta2)
    assert (answer is None) == math.isnan(at)
    if answer is not None:
        value = answer.f_beta(beta2) if by == "f_beta" else getattr(answer, by)
        assert value == pytest.approx(best, abs=1e-12)
        assert answer.threshold == at


@given(outputs)
def test_areas_in_plain_loops(rows: list[tuple[float, float]]) -> None:
    goods, scores = [good for good, _ in rows], [score for _, score in rows]
    there = [(good, score) for good, score in rows if not math.isnan(good) and not math.isnan(score)]
    good, bad = [s for g, s in there if g], [s for g, s in there if not g]
    if good and bad:
        u = stats.mannwhitneyu(good, bad, method="asymptotic").statistic
        assert roc_auc(goods, scores) == pytest.approx(u / (len(good) * len(bad)), abs=1e-12)
    if good:
        precisions = [decide(goods, scores, score).precision for score in good]
        assert average_precision(goods, scores) == pytest.approx(math.fsum(precisions) / len(good), abs=1e-12)


def test_people_against_themselves_decide_rightly() -> None:
    human = np.random.default_rng(0).normal(size=(5, 40))
    found = best_decision(human >= 0.5, human)
    assert found.mcc == 1
    assert reranking_precision(human, human)[0] == 1
