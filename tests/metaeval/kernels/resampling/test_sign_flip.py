from __future__ import annotations

import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from metaeval.kernels import draw_signs, normal_p_values, sign_flip_p_values
from tests import naive

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


@given(st.booleans().flatmap(lambda missing: tenths(missing)))
def test_p_values_equal_the_naive_loop_in_exact_arithmetic(
    drawn: tuple[np.ndarray, np.ndarray],
) -> None:
    values, judged = drawn
    p = sign_flip_p_values(np.where(judged, values, NAN), judged, EVERY_SIGN)
    for scorer in range(3):
        rows = np.where(judged, values[scorer], NAN).tolist()
        for i in range(3):
            for j in range(3):
                assert p[scorer, i, j] == naive.sign_flip_p_value(rows[i], rows[j], EVERY_SIGN)


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
        patch.setattr(sys.modules["metaeval.kernels.resampling.sign_flip"], "BATCH_VALUES", 1)
        np.testing.assert_array_equal(sign_flip_p_values(values, judged, signs), whole)
    judged[0, 7] = True  # one more cell, without a partner: another path, the same common segments
    np.testing.assert_array_equal(sign_flip_p_values(values, judged, signs), whole)


def test_one_and_many_scorers_give_the_same_p_values() -> None:
    rng = np.random.default_rng(5)
    values, signs = rng.normal(size=(4, 3, 25)), draw_signs(rng, 100, 25)
    together = sign_flip_p_values(values, np.ones((3, 25)), signs)
    for scorer in range(4):
        alone = sign_flip_p_values(values[scorer], np.ones((3, 25)), signs)
        np.testing.assert_array_equal(alone[0], together[scorer])


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
    monkeypatch.setattr("metaeval.kernels.resampling.sign_flip.BATCH_DRAWS", 7)
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
    with pytest.raises(ValueError, match="n_draws must be a whole number of at least 1"):
        draw_signs(np.random.default_rng(1), 0, 37)


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
    with pytest.raises(ValueError, match=r"signs must be \(n_draws, 3\), got \(1, 2\)"):
        sign_flip_p_values(good, good, [[1, 1]])
    with pytest.raises(ValueError, match="signs must be -1 and 1"):
        sign_flip_p_values(good, good, [[1, 0, 1]])
    with pytest.raises(ValueError, match="2 systems or more"):
        sign_flip_p_values(good[:1], good[:1], [[1, 1, 1]])
    with pytest.raises(ValueError, match="metric 0 has no finite score"):
        sign_flip_p_values(good * NAN, good, [[1, 1, 1]])


def test_p_values_do_not_depend_on_the_number_of_blas_threads() -> None:
    rng = np.random.default_rng(8)
    values, signs = np.round(rng.normal(size=(20, 8, 500)), 1), draw_signs(rng, 500, 500)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(limits=n_threads, user_api="blas"):
            found.append(sign_flip_p_values(values, np.ones((8, 500)), signs))
    np.testing.assert_array_equal(found[0], found[1])
