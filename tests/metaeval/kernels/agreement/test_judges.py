"""Judges beside annotators: by hand, against plain loops, and the level of their tests in simulated worlds."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels.agreement.judges import (
    clustered_mean,
    cohen_kappa,
    judge_effect,
    judge_lead,
    rogan_gladen,
)

NAN = math.nan
_WORLDS = 500
_WIDTH = 3 * math.sqrt(0.05 * 0.95 / _WORLDS)  # three binomial standard errors of a level of .05


def kappa_by_loops(a: list[float], b: list[float]) -> float:
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if not (math.isnan(x) or math.isnan(y))]
    labels = {one for pair in pairs for one in pair}
    observed = sum(x == y for x, y in pairs) / len(pairs)
    chance = sum(sum(x == c for x, _ in pairs) * sum(y == c for _, y in pairs) for c in labels) / len(pairs) ** 2
    return (observed - chance) / (1 - chance) if chance < 1 else NAN


@given(st.lists(st.tuples(*[st.sampled_from([1.0, 2.0, 3.0, NAN])] * 2), min_size=1, max_size=12))
def test_kappa_is_that_of_plain_loops(pairs: list[tuple[float, float]]) -> None:
    if any(not (math.isnan(x) or math.isnan(y)) for x, y in pairs):
        a, b = map(list, zip(*pairs, strict=True))
        assert cohen_kappa(a, b) == pytest.approx(kappa_by_loops(a, b), nan_ok=True)


def test_a_constant_has_a_kappa_of_0() -> None:
    assert cohen_kappa([1, 1, 1, 1], [1, 1, 1, 0]) == 0.0


@given(st.lists(st.lists(st.sampled_from([1.0, 2.0, NAN]), min_size=4, max_size=4), min_size=1, max_size=6))
def test_the_lead_of_a_judge_is_that_of_plain_loops(outputs: list[list[float]]) -> None:
    found = judge_lead([[row[at] for row in outputs] for at in range(3)], [row[3] for row in outputs])
    for value, (*raters, judge) in zip(found, outputs, strict=True):
        there = [one for one in raters if not math.isnan(one)]
        pairs = list(permutations(there, 2))
        if math.isnan(judge) or not pairs:
            assert math.isnan(value)
        else:
            right = sum(one == judge for one in there) / len(there)
            assert value == pytest.approx(right - sum(a == b for a, b in pairs) / len(pairs))


def test_the_mean_leaves_whole_clusters_out() -> None:
    found = clustered_mean([1.0, 2.0, 4.0, NAN], [0, 0, 1, 1])
    # 7/3; without cluster 0: 4, without cluster 1: 1.5; variance 1/2 · (1.25² + 1.25²)
    assert (found.value, found.n, found.n_clusters) == (7 / 3, 3, 2)
    assert found.high - found.value == pytest.approx(12.7062047 * 1.25)


def test_one_value_per_cluster_is_students_t_test() -> None:
    from scipy import stats

    values = np.random.default_rng(1).normal(0.3, 1, 20)
    assert clustered_mean(values, np.arange(20)).p == pytest.approx(stats.ttest_1samp(values, 0).pvalue)


def test_the_effect_is_that_of_least_squares_with_an_intercept_for_each_item() -> None:
    rng = np.random.default_rng(2)
    items, human, length = np.repeat(np.arange(8), 3), rng.normal(size=24), rng.normal(size=24)
    judge = 0.5 * human + 0.2 * length + items + rng.normal(size=24)
    design = np.column_stack([human, length, np.eye(8)[items]])
    slope = np.linalg.lstsq(design, judge, rcond=None)[0][1]
    assert judge_effect(judge, human, length, items).value == pytest.approx(slope / judge.std())


def test_systems_may_have_intercepts_too() -> None:
    rng = np.random.default_rng(7)
    items, systems = np.repeat(np.arange(9), 4)[:-2], np.tile(np.arange(4), 9)[:-2]  # with a gap
    human, length = rng.normal(size=(2, 34))
    judge = 0.5 * human + 0.2 * length + items - systems + rng.normal(size=34)
    design = np.column_stack([human, length, np.eye(9)[items], np.eye(4)[systems]])
    slope = np.linalg.lstsq(design, judge, rcond=None)[0][1]
    assert judge_effect(judge, human, length, items, systems=systems).value == pytest.approx(slope / judge.std())


def test_a_judge_without_spread_and_a_covariate_without_spread_have_no_effect() -> None:
    items, numbers = np.repeat([0, 1, 2], 2), np.arange(6.0)
    assert math.isnan(judge_effect(np.ones(6), numbers, numbers[::-1] ** 2, items).value)
    assert math.isnan(judge_effect(numbers**2, numbers, np.ones(6), items).value)


def test_shares_are_corrected_by_hand() -> None:
    # q = .4, sensitivity .9, specificity .8: (.4 − .2) / .7
    assert rogan_gladen(40, 100, 45, 50, 40, 50).corrected == pytest.approx(2 / 7)
    assert math.isnan(rogan_gladen(40, 100, 25, 50, 25, 50).corrected)  # no better than chance
    assert rogan_gladen(0, 100, 45, 50, 40, 50).corrected == 0.0


def test_the_interval_of_a_share_covers_it() -> None:
    rng, covered = np.random.default_rng(3), 0
    for _ in range(_WORLDS):
        n_good = rng.binomial(60, 0.9) + rng.binomial(140, 0.2)  # .3 of 200 are good
        found = rogan_gladen(n_good, 200, rng.binomial(60, 0.9), 60, rng.binomial(80, 0.8), 80)
        covered += found.low <= 0.3 <= found.high
    assert covered / _WORLDS == pytest.approx(0.95, abs=_WIDTH)


@pytest.mark.slow
def test_a_judge_like_the_annotators_is_called_different_at_the_nominal_level() -> None:
    rng, n_rejected = np.random.default_rng(4), 0
    for _ in range(_WORLDS):
        truth = np.repeat(rng.normal(size=50), 4) + rng.normal(size=200)  # items have likeness
        given_by = np.round(truth + rng.normal(size=(4, 200)))
        lead = judge_lead(given_by[:3], given_by[3])
        n_rejected += clustered_mean(lead, np.repeat(np.arange(50), 4)).p <= 0.05
    assert n_rejected / _WORLDS == pytest.approx(0.05, abs=_WIDTH)


@pytest.mark.slow
@pytest.mark.parametrize("is_family", [False, True])
def test_an_unbiased_judge_is_called_biased_at_the_nominal_level(is_family: bool) -> None:
    """Good outputs are longer, or those of the family are better, and people err; without their error it is taken for
    bias."""
    rng, n_rejected, n_naive = np.random.default_rng(5), 0, 0
    items = np.repeat(np.arange(60), 5)
    for _ in range(_WORLDS):
        own = np.tile([1.0, 0, 0, 0, 0], 60)
        truth = rng.normal(size=300) + own
        covariate = own if is_family else truth + rng.normal(size=300)
        people = truth + rng.normal(0, 0.8, size=(2, 300))
        judge = 2 * truth + np.repeat(rng.normal(size=60), 5) + rng.normal(size=300)
        noise = np.full(300, (people[0] - people[1]).var() / 4)  # of the mean of two
        n_rejected += judge_effect(judge, people.mean(axis=0), covariate, items, noise).p <= 0.05
        n_naive += judge_effect(judge, people.mean(axis=0), covariate, items).p <= 0.05
    assert n_rejected / _WORLDS == pytest.approx(0.05, abs=_WIDTH)
    assert n_naive / _WORLDS > 0.5


@pytest.mark.slow
def test_a_judge_that_likes_length_is_found() -> None:
    rng, n_rejected, items = np.random.default_rng(6), 0, np.repeat(np.arange(60), 5)
    for _ in range(100):
        truth, length = rng.normal(size=(2, 300))
        people = truth + rng.normal(0, 0.8, size=(2, 300))
        found = judge_effect(truth + 0.3 * length, people.mean(axis=0), length, items, np.full(300, 0.32))
        n_rejected += found.p <= 0.05 and found.value > 0
    assert n_rejected > 90
