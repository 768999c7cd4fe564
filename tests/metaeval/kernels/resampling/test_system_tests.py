"""System against system on one scorer: by hand, against plain loops and SciPy, and properties."""

from __future__ import annotations

import sys
from itertools import product
from typing import get_args

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from metaeval.kernels.agreement.studies import two_sided
from metaeval.kernels.resampling.system_tests import (
    draw_signs,
    normal_p_values,
    paired_bootstrap_p_values,
    paired_t_p_values,
    sign_flip_p_values,
    signed_rank_p_values,
    wilcoxon_p_values,
)
from metaeval.studies.significance.systems import SystemTest
from tests import naive
from tests.helpers import refused

NAN = np.nan
EVERY_SIGN = np.array(list(product([1, -1], repeat=4)))


def test_all_sign_vectors_of_two_segments_are_worked_out_by_hand() -> None:
    # differences 1 and 2: flipped sums 3, -1, 1, -3; the observed 3 is reached once of four
    p = sign_flip_p_values([[[1.0, 2.0], [0.0, 0.0]]], np.ones((2, 2)), [[1, 1], [1, -1], [-1, 1], [-1, -1]])
    assert p.tolist() == [[[1.0, 0.25], [1.0, 1.0]]]


@st.composite
def tenths(draw: st.DrawFn, missing: bool) -> tuple[np.ndarray, np.ndarray]:
    """Scores in steps of 0.1 of 3 scorers, 3 systems, 4 segments, and what is judged."""
    steps = draw(st.lists(st.integers(-60, 0), min_size=36, max_size=36))
    values = np.array([float(f"{step / 10:.1f}") for step in steps]).reshape(3, 3, 4)
    judged = np.ones((3, 4), dtype=bool)
    if missing:
        judged = np.array(draw(st.lists(st.booleans(), min_size=12, max_size=12))).reshape(3, 4)
    return values, judged


@pytest.mark.parametrize("signs", [EVERY_SIGN, np.vstack([EVERY_SIGN, EVERY_SIGN[3:10]])], ids=["distinct", "repeated"])
@given(drawn=st.booleans().flatmap(lambda missing: tenths(missing)))
def test_p_values_equal_the_naive_loop_in_exact_arithmetic(
    signs: np.ndarray, drawn: tuple[np.ndarray, np.ndarray]
) -> None:
    values, judged = drawn
    p = sign_flip_p_values(np.where(judged, values, NAN), judged, signs)
    for scorer in range(3):
        rows = np.where(judged, values[scorer], NAN).tolist()
        for i in range(3):
            for j in range(3):
                assert p[scorer, i, j] == naive.sign_flip_p_value(rows[i], rows[j], signs)


def test_rounding_does_not_decide_ties_on_a_larger_scale() -> None:
    rng = np.random.default_rng(9)
    whole = rng.integers(-250, 0, (5, 40))
    signs = draw_signs(rng, 500, 40)
    judged = np.ones((5, 40), dtype=bool)
    exact = sign_flip_p_values(whole[np.newaxis], judged, signs)  # sums of whole numbers are exact
    np.testing.assert_array_equal(sign_flip_p_values(whole[np.newaxis] * 0.1, judged, signs), exact)
    np.testing.assert_array_equal(sign_flip_p_values(whole[np.newaxis] * 0.1 + 1e6, judged, signs), exact)
    # systems that differ by much less than their scores' size are compared just as exactly
    base = rng.normal(size=40) * 1e5
    base -= base % 2.0**-10
    near = base + whole[np.newaxis] * 2.0**-10
    np.testing.assert_array_equal(sign_flip_p_values(near, judged, signs), exact)


def test_identical_systems_and_systems_without_a_common_segment_have_p_1() -> None:
    rng = np.random.default_rng(2)
    row = rng.normal(size=30) * 1e3
    signs = draw_signs(rng, 200, 30)
    p = sign_flip_p_values([[row, row, rng.normal(size=30)]], np.ones((3, 30)), signs)
    assert (p[0, 0, 1], p[0, 1, 0]) == (1.0, 1.0)
    judged = np.array([[True] * 15 + [False] * 15, [False] * 15 + [True] * 15])
    assert (sign_flip_p_values([[row, row[::-1]]], judged, signs) == 1.0).all()


def test_both_directions_together_exceed_one_by_the_ties() -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 3, (1, 4, 12)) * 1.0
    signs = draw_signs(rng, 400, 12)
    p = sign_flip_p_values(values, np.ones((4, 12)), signs)
    for i in range(4):
        for j in range(i):
            gaps = values[0, i] - values[0, j]
            n_ties = np.count_nonzero(signs @ gaps == gaps.sum())
            assert p[0, i, j] + p[0, j, i] == pytest.approx(1 + n_ties / 400)


def test_p_values_depend_neither_on_batches_nor_on_the_path() -> None:
    rng = np.random.default_rng(4)
    values = np.round(rng.normal(size=(6, 5, 50)), 1)
    judged = np.ones((5, 50), dtype=bool)
    judged[:, 7] = False
    signs = draw_signs(rng, 300, 50)
    whole = sign_flip_p_values(values, judged, signs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["metaeval.kernels.resampling.system_tests"], "BATCH_VALUES", 1)
        np.testing.assert_array_equal(sign_flip_p_values(values, judged, signs), whole)
    judged[0, 7] = True  # one more cell, without a partner: another path, the same common segments
    np.testing.assert_array_equal(sign_flip_p_values(values, judged, signs), whole)


@pytest.mark.parametrize("share", [1.0, 0.8])
def test_p_values_do_not_depend_on_how_many_draws_are_held_at_a_time(
    share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    scores, judged = rng.normal(size=(3, 4, 20)).round(1), rng.random((4, 20)) < share
    scores[1, 2] = scores[1, 3]  # no difference
    scores[2, 1] = scores[2, 0] + 1e-14  # one that rounding may hide
    signs = draw_signs(rng, 100, 20)
    whole = sign_flip_p_values(scores, judged, signs)
    monkeypatch.setattr("metaeval.kernels.resampling.system_tests.BATCH_DRAWS", 7)
    np.testing.assert_array_equal(sign_flip_p_values(scores, judged, signs), whole)
    with pytest.raises(ValueError, match="signs must be -1 and 1"):
        sign_flip_p_values(scores, judged, np.where(np.arange(100)[:, np.newaxis] == 99, 0, signs))


def test_p_values_of_many_draws_agree_with_scipy() -> None:
    rng = np.random.default_rng(6)
    a, b = rng.normal(0.3, 1, 10), rng.normal(0, 1, 10)
    exact = stats.permutation_test(
        (a, b), lambda x, y: np.sum(x - y), permutation_type="samples", alternative="greater", n_resamples=2000
    ).pvalue  # all 1024 sign vectors
    every_sign = np.array(list(product([1, -1], repeat=10)))
    p = sign_flip_p_values([[a, b]], np.ones((2, 10)), every_sign)[0, 0, 1]
    assert p == pytest.approx(exact, abs=1e-12)


def test_drawn_signs_are_fair_and_follow_the_generator() -> None:
    signs = draw_signs(np.random.default_rng(1), 1000, 37)
    assert signs.shape == (1000, 37)
    assert signs.dtype == np.int8
    assert set(np.unique(signs).tolist()) == {-1, 1}
    assert abs(signs.mean()) < 5 / np.sqrt(37_000)  # 5 standard errors
    np.testing.assert_array_equal(signs, draw_signs(np.random.default_rng(1), 1000, 37))
    refused("n_draws must be a whole number of at least 1", draw_signs, np.random.default_rng(1), 0, 37)


def test_the_normal_approximation_is_the_limit_of_many_draws() -> None:
    rng = np.random.default_rng(7)
    values = rng.normal(size=(2, 4, 300)) + 0.05 * np.arange(4)[:, np.newaxis]
    judged = rng.random((4, 300)) < 0.9
    limit = normal_p_values(values, judged)
    drawn = sign_flip_p_values(values, judged, draw_signs(rng, 4000, 300))
    off_diagonal = ~np.eye(4, dtype=bool)
    # 4 standard errors of 4000 draws and a little for the approximation itself
    assert np.abs(limit - drawn)[:, off_diagonal].max() < 4 * 0.5 / np.sqrt(4000) + 0.002
    gaps = np.where(judged[0] & judged[1], values[0, 0] - values[0, 1], 0.0)
    assert limit[0, 0, 1] == pytest.approx(stats.norm.sf(gaps.sum() / np.sqrt((gaps**2).sum())))
    assert (normal_p_values(np.ones((1, 2, 5)), np.ones((2, 5))) == 1.0).all()


def test_bad_signs_and_scores_are_refused() -> None:
    good = np.ones((2, 3))
    refused(r"signs must be \(n_draws, 3\), got \(1, 2\)", sign_flip_p_values, good, good, [[1, 1]])
    refused("signs must be -1 and 1", sign_flip_p_values, good, good, [[1, 0, 1]])
    refused("2 systems or more", sign_flip_p_values, good[:1], good[:1], [[1, 1, 1]])
    refused("metric 0 has no finite score", sign_flip_p_values, good * NAN, good, [[1, 1, 1]])


def test_p_values_do_not_depend_on_the_number_of_blas_threads() -> None:
    rng = np.random.default_rng(8)
    values, signs = np.round(rng.normal(size=(20, 8, 500)), 1), draw_signs(rng, 500, 500)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(limits=n_threads, user_api="blas"):
            found.append(sign_flip_p_values(values, np.ones((8, 500)), signs))
    np.testing.assert_array_equal(found[0], found[1])


Floats = npt.NDArray[np.float64]


def test_paired_bootstrap_equals_a_loop_over_resamples() -> None:
    rng = np.random.default_rng(0)
    scores = np.round(rng.normal(0, 1, (2, 3, 14)), 1)
    judged = rng.random((3, 14)) < 0.8
    p = paired_bootstrap_p_values(scores, judged, np.random.default_rng(6), n_draws=60)
    losses = np.zeros((2, 3, 3))
    for stream, size in zip(np.random.default_rng(6).spawn(3), (25, 25, 10), strict=True):
        for picks in stream.integers(0, 14, (size, 14)):
            for k in range(2):
                for i in range(3):
                    for j in range(3):
                        gaps = [scores[k, i, s] - scores[k, j, s] for s in picks if judged[i, s] and judged[j, s]]
                        losses[k, i, j] += sum(gaps) <= 1e-9
    np.testing.assert_allclose(p, losses / 60)


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1))
def test_wilcoxon_equals_scipy_on_the_common_segments(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # multiples of 0.25 are exact: there is no noise to remove
    scores = rng.integers(-20, 21, (2, 6)) / 4.0
    judged = rng.random((2, 6)) < 0.85
    gaps = (scores[0] - scores[1])[judged[0] & judged[1]]
    gaps = gaps[gaps != 0]

    def expected(alternative: str) -> float:
        return float(stats.wilcoxon(gaps, alternative=alternative).pvalue) if gaps.size else 1.0

    one_sided = [[1.0, expected("greater")], [expected("less"), 1.0]]
    np.testing.assert_allclose(wilcoxon_p_values(scores, judged), one_sided)
    two_sided = [[1.0, expected("two-sided")], [expected("two-sided"), 1.0]]
    np.testing.assert_allclose(wilcoxon_p_values(scores, judged, "two-sided"), two_sided)


def _wilcoxon(gaps: npt.NDArray[np.float64], alternative: str) -> float:
    """SciPy's p; of 12 or 13 tied differences, for which SciPy takes seconds, by all signs of their ranks."""
    if gaps.size not in (12, 13) or len(set(np.abs(gaps))) == gaps.size:
        return float(stats.wilcoxon(gaps, alternative=alternative).pvalue)
    ranks, signs = stats.rankdata(np.abs(gaps)), np.array(list(product((0, 1), repeat=gaps.size)))
    found, sums = ranks[gaps > 0].sum(), signs @ ranks
    above, below = float(np.mean(sums >= found)), float(np.mean(sums <= found))
    return {"greater": above, "less": below, "two-sided": min(1.0, 2 * min(above, below))}[alternative]


@pytest.mark.parametrize("has_ties", [True, False])
def test_a_signed_rank_test_is_exact_where_scipy_s_is(has_ties: bool) -> None:
    for size in (1, 2, 5, 8, 12, 13, 14, 20, 50, 51):
        rng = np.random.default_rng(size)
        gaps = rng.choice([-2.0, -1.0, 1.0, 2.0, 3.0], size) if has_ties else rng.normal(0.3, 1, size)
        p = {alternative: _wilcoxon(gaps, alternative) for alternative in ("greater", "less", "two-sided")}
        assert signed_rank_p_values(gaps, "greater") == pytest.approx((p["greater"], p["less"]), abs=1e-14), size
        assert signed_rank_p_values(gaps, "two-sided") == pytest.approx((p["two-sided"],) * 2, abs=1e-14), size


@pytest.mark.filterwarnings("ignore:Precision loss occurred:RuntimeWarning")  # SciPy's, where all differences are one
@given(seed=st.integers(0, 2**32 - 1))
def test_the_paired_t_test_equals_scipy_on_the_common_segments(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(-20, 21, (2, 7)) / 4.0
    judged = rng.random((2, 7)) < 0.85
    first, second = scores[:, judged[0] & judged[1]]
    p = paired_t_p_values(scores, judged)
    if first.size < 2 or not (first != second).any():
        assert (p == 1.0).all()
        return
    for (i, j), alternative in {(0, 1): "greater", (1, 0): "less"}.items():
        assert p[i, j] == pytest.approx(stats.ttest_rel(first, second, alternative=alternative).pvalue)


def test_a_constant_difference_leaves_no_doubt_in_a_t_test() -> None:
    assert paired_t_p_values([[1.1, 2.1, 0.1], [1.0, 2.0, 0.0]], np.ones((2, 3), dtype=bool)).tolist() == [
        [1.0, 0.0],
        [1.0, 1.0],
    ]


def p_values_by_test(scores: Floats, judged: npt.NDArray[np.bool_]) -> dict[str, Floats]:
    """The p-values of every test, by name."""
    signs = draw_signs(np.random.default_rng(1), 400, scores.shape[1])
    return {
        "permutation": sign_flip_p_values(scores[np.newaxis], judged, signs)[0],
        "bootstrap": paired_bootstrap_p_values(scores[np.newaxis], judged, np.random.default_rng(2), 400)[0],
        "wilcoxon": wilcoxon_p_values(scores, judged),
        "paired-t": paired_t_p_values(scores, judged),
    }


def test_every_test_is_one_sided_in_the_stated_direction() -> None:
    """p of (a, b) and of (b, a) are never both small, and the better system's is the smaller one."""
    rng = np.random.default_rng(4)
    scores = np.round(rng.normal(0, 1, (4, 60)) + np.array([[0.8], [0.3], [0.0], [0.0]]), 1)
    judged = rng.random((4, 60)) < 0.9
    found = p_values_by_test(scores, judged)
    assert set(found) == set(get_args(SystemTest))
    for name, p in found.items():
        turned = p_values_by_test(scores[::-1], judged[::-1])[name][::-1, ::-1]
        np.testing.assert_allclose(turned, p, atol=1e-12, err_msg=name)  # the order of the systems changes nothing
        for i, j in zip(*np.triu_indices(4, 1), strict=True):
            assert 1.0 - 1e-9 <= p[i, j] + p[j, i] <= 1.1, name
        assert p[0, 3] < 0.01 < 0.99 < p[3, 0], name


def test_float_noise_makes_no_ranks() -> None:
    # averages such as −25.200000000000003: differences of 0.1 that differ in the last digit are ties
    clean = np.array([[-0.1, -0.2, -0.3, -0.4, -0.5, -0.6, -5.0], [-0.2, -0.3, -0.4, -0.5, -0.6, -0.5, -5.0]])
    noisy = clean + np.array([[1e-15, -1e-15, 2e-15, 0, 1e-15, 3e-15, 1e-15], [0.0] * 7])
    judged = np.ones((2, 7), dtype=bool)
    exact = stats.wilcoxon([1, 1, 1, 1, 1, -1], alternative="greater").pvalue
    assert wilcoxon_p_values(noisy, judged)[0, 1] == pytest.approx(exact)
    assert wilcoxon_p_values(clean, judged)[0, 1] == pytest.approx(exact)


def test_systems_without_common_segments_are_not_significant() -> None:
    judged = np.array([[True, False], [False, True]])
    scores = np.array([[1.0, 0.0], [0.0, 2.0]])
    assert wilcoxon_p_values(scores, judged)[0, 1] == 1.0
    assert (paired_bootstrap_p_values(scores[np.newaxis], judged, np.random.default_rng(0)) == 1.0).all()


# --- documents ------------------------------------------------------------------------------------------------------

DOCUMENTS = np.array([0, 0, 1, 1, 2, 2, 2, 3])


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_differences_of_documents_are_sums_over_their_common_segments(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, judged = rng.normal(size=(3, 8)), rng.random((3, 8)) < 0.8
    judged[:, 0] = True
    p, ranks = (
        test(scores[np.newaxis], judged, documents=DOCUMENTS) for test in (paired_t_p_values, wilcoxon_p_values)
    )
    for i, j in ((0, 1), (0, 2), (1, 2)):
        both = judged[i] & judged[j]
        sums = [np.sum((scores[i] - scores[j])[both & (d == DOCUMENTS)]) for d in np.unique(DOCUMENTS[both])]
        if len(sums) > 1:
            assert p[i, j] == pytest.approx(stats.ttest_1samp(sums, 0, alternative="greater").pvalue)
        assert ranks[i, j] == pytest.approx(stats.wilcoxon(sums, alternative="greater").pvalue)


def test_documents_of_one_segment_each_change_nothing() -> None:
    rng = np.random.default_rng(3)
    scores, judged = rng.normal(size=(1, 3, 20)), np.ones((3, 20), dtype=bool)
    own = np.arange(20)
    assert np.array_equal(paired_t_p_values(scores, judged), paired_t_p_values(scores, judged, own))
    assert np.array_equal(wilcoxon_p_values(scores, judged), wilcoxon_p_values(scores, judged, documents=own))
    one, other = (
        paired_bootstrap_p_values(scores, judged, np.random.default_rng(0), 200, documents) for documents in (None, own)
    )
    assert np.array_equal(one, other)


def test_resampled_documents_come_whole() -> None:
    """Of two documents with opposite differences a resample holds both (sum 0), or one of them twice."""
    scores = np.array([[[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]])
    judged = np.ones((2, 4), dtype=bool)
    p = paired_bootstrap_p_values(scores, judged, np.random.default_rng(1), 4000, np.array([0, 0, 1, 1]))
    # not ahead: all but the good one twice, 3/4; four standard errors of 4000 draws are .028
    assert p[0, 0, 1] == pytest.approx(0.75, abs=0.028)


@pytest.mark.parametrize("is_whole", [True, False])
def test_systems_that_differ_by_rounding_alone_differ_by_no_test(is_whole: bool) -> None:
    """The same scores in other units, shifted, or scaled by a digit that a double does not have."""
    x = np.random.default_rng(0).normal(size=40) * 10
    others = [(x * 3 + 0.1 - 0.1) / 3, x + 0.1 + 0.2 - 0.3, x + 1e-14, x * (1 + 1e-15), (x + 0.3) - 0.3]
    judged = np.ones((3, 40), dtype=bool)
    judged[2, ::2] = is_whole
    for other in others:
        assert np.abs(x - other).max() > 0
        scores = np.stack([x, other, other[::-1]])[np.newaxis]
        found = {
            "permutation": sign_flip_p_values(scores, judged, draw_signs(np.random.default_rng(1), 200, 40)),
            "normal": normal_p_values(scores, judged),
            "bootstrap": paired_bootstrap_p_values(scores, judged, np.random.default_rng(1), 200),
            "wilcoxon": wilcoxon_p_values(scores, judged)[np.newaxis],
            "paired-t": paired_t_p_values(scores, judged)[np.newaxis],
        }
        assert {name: (p[0, 0, 1], p[0, 1, 0]) for name, p in found.items()} == dict.fromkeys(found, (1.0, 1.0))


def test_a_mean_that_is_rounding_is_0_whatever_its_error() -> None:
    assert two_sided(1e-16, 1e-20, 5) == 1
    assert two_sided(0.1, 1e-16, 5) == 0
