"""System against system on one scorer."""

from __future__ import annotations

from typing import get_args

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from metaeval.kernels.resampling.sign_flip import draw_signs, sign_flip_p_values
from metaeval.kernels.resampling.system_tests import (
    Alternative,
    paired_bootstrap_p_values,
    paired_t_p_values,
    signed_rank_p_values,
    wilcoxon_p_values,
)
from metaeval.significance.systems import SystemTest

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


def test_a_system_that_is_better_everywhere_wins_every_resample() -> None:
    scores = np.array([[[1.0, 2.0, 3.0], [0.5, 1.0, 2.0]]])
    p = paired_bootstrap_p_values(scores, np.ones((2, 3), dtype=bool), np.random.default_rng(0))
    assert p[0].tolist() == [[1.0, 0.0], [1.0, 1.0]]


def test_identical_systems_are_never_significant() -> None:
    scores = np.tile(np.linspace(0, 1, 9), (1, 2, 1))
    judged = np.ones((2, 9), dtype=bool)
    assert (paired_bootstrap_p_values(scores, judged, np.random.default_rng(0)) == 1.0).all()
    assert (wilcoxon_p_values(scores[0], judged) == 1.0).all()


def test_paired_bootstrap_is_about_the_normal_test_for_many_segments() -> None:
    rng = np.random.default_rng(2)
    gaps = rng.normal(0.05, 1, 1500)
    scores = np.stack([gaps, np.zeros(1500)])[np.newaxis]
    p = paired_bootstrap_p_values(scores, np.ones((2, 1500), dtype=bool), np.random.default_rng(0), n_draws=4000)
    expected = stats.norm.sf(gaps.sum() / np.sqrt(np.sum((gaps - gaps.mean()) ** 2)))
    # binomial standard error at most 0.008
    assert p[0, 0, 1] == pytest.approx(expected, abs=0.03)


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


@pytest.mark.parametrize("size", [1, 2, 5, 8, 12, 13, 14, 20, 50, 51])
@pytest.mark.parametrize("has_ties", [True, False])
@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_a_signed_rank_test_is_exact_where_scipy_s_is(size: int, has_ties: bool, alternative: Alternative) -> None:
    rng = np.random.default_rng(size)
    gaps = rng.choice([-2.0, -1.0, 1.0, 2.0, 3.0], size) if has_ties else rng.normal(0.3, 1, size)
    above, below = signed_rank_p_values(gaps, alternative)
    assert above == pytest.approx(stats.wilcoxon(gaps, alternative=alternative).pvalue, abs=1e-14)
    other = "less" if alternative == "greater" else "two-sided"
    assert below == pytest.approx(stats.wilcoxon(gaps, alternative=other).pvalue, abs=1e-14)


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


def test_draws_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="0 resamples"):
        paired_bootstrap_p_values(np.zeros((1, 2, 3)), np.ones((2, 3), dtype=bool), np.random.default_rng(0), 0)


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
    p = paired_bootstrap_p_values(scores, judged, np.random.default_rng(1), 4000, np.array(["x", "x", "y", "y"]))
    # not ahead: all but the good one twice, 3/4; four standard errors of 4000 draws are .028
    assert p[0, 0, 1] == pytest.approx(0.75, abs=0.028)


@pytest.mark.parametrize("test", ["paired-t", "bootstrap", "permutation"])
def test_where_segments_of_a_document_are_alike_only_documents_hold_their_level(test: str) -> None:
    """Two equal systems, 20 documents of 8 segments that share half their variance: one-sided p ≤ .05 in 5% of worlds.

    By segments the variance of a mean is underestimated 4.5 times, so p ≤ .05 in about 22%.
    """
    rng = np.random.default_rng(11)
    documents = np.repeat(np.arange(20), 8)
    n_found = {"segment": 0, "document": 0}
    judged = np.ones((2, 160), dtype=bool)
    for _ in range(300):
        scores = rng.normal(size=(1, 2, 20))[:, :, documents] + rng.normal(size=(1, 2, 160))
        for unit, own in (("segment", None), ("document", documents)):
            if test == "paired-t":
                p = paired_t_p_values(scores, judged, own)
            elif test == "bootstrap":
                p = paired_bootstrap_p_values(scores, judged, rng, 199, own)[0]
            else:
                units = np.arange(160) if own is None else own
                p = sign_flip_p_values(scores, judged, draw_signs(rng, 199, units.max() + 1)[:, units])[0]
            n_found[unit] += p[0, 1] <= 0.05
    # binomial: 15 ± 3 · 3.8 (the bootstrap of 20 units finds a little more); 66 ± 3 · 7.2
    assert 3 <= n_found["document"] <= 30
    assert 44 <= n_found["segment"] <= 88


def test_documents_are_one_for_each_segment() -> None:
    with pytest.raises(ValueError, match=r"documents must be \(4,\), one for each segment"):
        paired_t_p_values(np.ones((1, 2, 4)), np.ones((2, 4), dtype=bool), np.arange(3))
