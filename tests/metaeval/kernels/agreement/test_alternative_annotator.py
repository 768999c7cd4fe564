"""The alternative annotator test by hand, against plain loops and SciPy, and its level where metric and annotator are
equally good."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metaeval.kernels.agreement.alternative_annotator import alternative_annotator_test


def test_a_metric_that_equals_the_majority_beats_the_annotator_who_does_not() -> None:
    # Two annotators always say 0, the third always 1; the metric says 0. Against the third the metric is right on all
    # items and the annotator on none: difference -1. Against the others it ties: difference 0, below epsilon.
    found = alternative_annotator_test(np.array([[0.0] * 30, [0.0] * 30, [1.0] * 30]), np.zeros(30), epsilon=0.1)
    assert found.winning_rate == 1
    assert found.p.tolist() == [0, 0, 0]
    assert found.advantage.tolist() == [1, 1, 1]
    other = alternative_annotator_test(np.array([[0.0] * 30, [0.0] * 30, [1.0] * 30]), np.full(30, 2.0), epsilon=0.1)
    # Now the metric equals nobody: it is worse than each of the two, who equal one another, and ties with the third.
    assert other.is_beaten.tolist() == [False, False, True]
    assert other.winning_rate == pytest.approx(1 / 3)
    assert other.advantage_probability == pytest.approx(1 / 3)


def test_few_items_and_lonely_annotations_do_not_count() -> None:
    annotations = np.array([[0.0] * 40, [0.0] * 29 + [np.nan] * 11])
    found = alternative_annotator_test(annotations, np.zeros(40), epsilon=0.1)
    assert found.n_items.tolist() == [29, 29]  # eleven items have one annotation alone
    assert np.isnan(found.p).all()
    assert math.isnan(found.winning_rate)
    assert alternative_annotator_test(annotations, np.zeros(40), epsilon=0.1, min_items=29).winning_rate == 1


@pytest.mark.parametrize("scoring", ["accuracy", "rmse"])
@given(st.integers(0, 10_000))
def test_values_equal_a_plain_loop_over_annotators_and_items(scoring: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    annotations = rng.integers(0, 3, (4, 25)).astype(float)
    annotations[rng.random((4, 25)) < 0.3] = np.nan
    metric = rng.integers(0, 3, 25).astype(float)
    metric[rng.random(25) < 0.1] = np.nan
    found = alternative_annotator_test(annotations, metric, epsilon=0.15, scoring=scoring, min_items=5)  # type: ignore[arg-type]
    p_values, advantages, tested = [], [], []
    for annotator in range(4):
        differences, wins = [], []
        for item in range(25):
            others = [annotations[k, item] for k in range(4) if k != annotator and not np.isnan(annotations[k, item])]
            if np.isnan(annotations[annotator, item]) or np.isnan(metric[item]) or not others:
                continue
            own, of_metric = (_score(value, others, scoring) for value in (annotations[annotator, item], metric[item]))
            wins.append(of_metric >= own)
            differences.append(int(own >= of_metric) - int(of_metric >= own))
        assert found.n_items[annotator] == len(wins)
        if len(wins) >= 5:
            tested.append(annotator)
            advantages.append(np.mean(wins))
            is_constant = len(set(differences)) == 1
            p = stats.ttest_1samp(differences, 0.15, alternative="less").pvalue if not is_constant else None
            p_values.append(p if p is not None else float(differences[0] > 0.15))
    assert found.p[tested].tolist() == pytest.approx(p_values, abs=1e-12)
    if tested:
        assert found.advantage_probability == pytest.approx(np.mean(advantages))
        adjusted = stats.false_discovery_control(p_values, method="by")
        assert found.is_beaten[tested].tolist() == (adjusted <= 0.05).tolist()
        assert found.winning_rate == pytest.approx(np.mean(adjusted <= 0.05))


def _score(value: float, others: list[float], scoring: str) -> float:
    if scoring == "accuracy":
        return sum(other == value for other in others) / len(others)
    return -math.sqrt(sum((other - value) ** 2 for other in others) / len(others))


@given(st.permutations(range(3)), st.integers(0, 1000))
def test_annotators_may_stand_in_any_order_and_scores_may_be_shifted(order: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    annotations, metric = rng.normal(size=(3, 30)), rng.normal(size=30)
    found = alternative_annotator_test(annotations, metric, epsilon=0.2, scoring="rmse")
    other = alternative_annotator_test(annotations[order] + 5, metric + 5, epsilon=0.2, scoring="rmse")
    assert other.p.tolist() == pytest.approx(found.p[order].tolist())
    assert other.advantage_probability == pytest.approx(found.advantage_probability)


def test_clusters_of_one_item_give_nearly_the_t_test_of_items() -> None:
    rng = np.random.default_rng(1)
    annotations, metric = rng.integers(0, 2, (3, 60)).astype(float), rng.integers(0, 2, 60).astype(float)
    plain = alternative_annotator_test(annotations, metric, epsilon=0.1)
    clustered = alternative_annotator_test(annotations, metric, epsilon=0.1, clusters=np.arange(60))
    assert clustered.p.tolist() == pytest.approx(plain.p.tolist(), abs=1e-9)
    with pytest.raises(ValueError, match="5 clusters are too few"):
        alternative_annotator_test(annotations, metric, epsilon=0.1, clusters=np.arange(60) % 5)


@pytest.mark.slow
def test_the_level_holds_for_dependent_items_by_cluster_alone() -> None:
    """The metric is worse than every annotator by exactly epsilon: p <= .05 should be found in 5% of the data sets.

    400 data sets of 20 clusters of 10 items; the metric's luck is the same for all items of a cluster. A share near .05
    has a standard error of .011. By item the share is .34.
    """
    rng = np.random.default_rng(2)
    by_item, by_cluster = 0, 0
    clusters = np.repeat(np.arange(20), 10)
    for _ in range(400):
        truth = rng.integers(0, 1000, 200).astype(float)
        # The two annotators agree; the metric is right with probability .8, alike in a cluster: the difference of
        # shares has the expectation epsilon = .2.
        is_right = (rng.random(20) < 0.8)[clusters]
        metric = np.where(is_right, truth, -1.0)
        annotations = np.stack([truth, truth])
        by_item += alternative_annotator_test(annotations, metric, epsilon=0.2).p[0] <= 0.05
        found = alternative_annotator_test(annotations, metric, epsilon=0.2, clusters=clusters)
        by_cluster += found.p[0] <= 0.05
    assert by_item / 400 > 0.2
    # Shares of 20 coins are skewed: the t-test then rejects slightly more often than 5%.
    assert 0.02 <= by_cluster / 400 <= 0.10


@pytest.mark.parametrize(
    ("annotations", "metric", "options", "message"),
    [
        ([[1.0, 2.0]], [1.0], {}, "n_items"),
        ([[1.0, np.inf]], [1.0, 2.0], {}, "finite"),
        ([[1.0, 2.0]], [1.0, 2.0], {"scoring": "kappa"}, "scoring"),
        ([[1.0, 2.0]], [1.0, 2.0], {"clusters": [1]}, "clusters"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    annotations: list[list[float]], metric: list[float], options: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        alternative_annotator_test(annotations, metric, epsilon=0.1, **options)  # type: ignore[arg-type]
