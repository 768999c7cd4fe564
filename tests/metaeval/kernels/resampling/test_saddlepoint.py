"""p-values without draws: by hand, against all signs, and properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from metaeval.kernels import draw_signs, normal_p_values, saddlepoint_p_values, sign_flip_p_values
from metaeval.kernels.resampling import saddlepoint
from metaeval.kernels.resampling.saddlepoint import common_step, lugannani_rice
from tests.helpers import refused


def of_two(gaps: np.ndarray | list[float]) -> tuple[float, float]:
    """The p-values of two systems with these differences: that the first is better, and the second."""
    p = saddlepoint_p_values([[gaps, np.zeros(len(gaps))]], np.ones((2, len(gaps))))[0]
    return float(p[0, 1]), float(p[1, 0])


def by_all_signs(gaps: np.ndarray | list[float]) -> tuple[float, float]:
    sums = np.zeros(1)
    for gap in gaps:
        sums = np.concatenate([sums + gap, sums - gap])
    total, slack = np.sum(gaps), 1e-9 * np.abs(gaps).sum()
    return float(np.mean(sums >= total - slack)), float(np.mean(sums <= total + slack))


@pytest.mark.parametrize(
    ("gaps", "expected"),
    [
        ([0.0] * 20, (1.0, 1.0)),  # nothing differs
        ([0.0] * 20 + [0.3], (0.5, 1.0)),  # + .3 or − .3
        ([2.0, 1.0], (0.25, 1.0)),  # 3 of 3, 1, −1, −3
        ([1.0] * 20, (2.0**-20, 1.0)),
        ([np.sqrt(n) for n in range(1, 21)], (2.0**-20, 1.0)),
        ([1.0, -1.0] * 10, (0.5 + stats.binom.pmf(10, 20, 0.5) / 2,) * 2),  # half of what is not tied, and all that is
    ],
)
def test_shares_are_worked_out_by_hand(gaps: list[float], expected: tuple[float, float]) -> None:
    assert of_two(gaps) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("step", [1.0, 0.1, 0.5, 1 / 3])
def test_scores_on_a_grid_are_counted_exactly(step: float) -> None:
    rng = np.random.default_rng(1)
    for size in (3, 12, 13, 18):
        gaps = rng.choice([0, 0, -1, -5, 1, 5, 25], size) * step
        assert of_two(gaps) == pytest.approx(by_all_signs(gaps), abs=1e-12)


def test_many_scores_on_a_grid_are_those_of_a_binomial() -> None:
    # differences of one size: the number of positive signs is binomial
    gaps = np.array([0.1] * 230 + [-0.1] * 200 + [0.0] * 70)
    assert of_two(gaps) == pytest.approx((stats.binom.sf(229, 430, 0.5), stats.binom.cdf(230, 430, 0.5)), rel=1e-9)


@pytest.mark.parametrize(
    ("draw", "most"),
    [
        (lambda rng: rng.normal(0.3, 1, 16), 0.001),
        (lambda rng: rng.exponential(1, 16) * rng.choice([-1, 1], 16), 0.001),
        (lambda rng: rng.standard_cauchy(16), 0.001),  # a few of them dominate
        (lambda rng: np.append(rng.normal(0, 0.1, 15), 5.0), 0.001),
        (lambda rng: np.append(rng.normal(0, 1, 7), [0.0] * 99), 1e-12),  # few differ at all
        (lambda rng: rng.choice([1.0, np.sqrt(2), np.pi, -np.e], 16), 0.01),  # repeated, and on no grid
    ],
)
def test_other_scores_are_near_the_share_of_all_signs(draw: object, most: float) -> None:
    rng = np.random.default_rng(2)
    for _ in range(25):
        gaps = draw(rng)  # type: ignore[operator]
        assert of_two(gaps) == pytest.approx(by_all_signs(gaps[gaps != 0]), abs=most)


def test_the_approximation_is_better_than_the_normal_one() -> None:
    rng = np.random.default_rng(3)
    rows = rng.uniform(0.3, 1.5, (60, 16)) * rng.choice([-1, 1], (60, 16), p=[0.35, 0.65])
    exact = np.array([by_all_signs(row)[0] for row in rows])
    normal = stats.norm.sf(rows.sum(axis=1) / np.sqrt((rows**2).sum(axis=1)))
    kept = (rows**4).sum(axis=1) < saddlepoint.MOST_DOMINATED * (rows**2).sum(axis=1) ** 2
    assert kept.sum() > 10
    errors = np.abs(lugannani_rice(rows) - exact)[kept]
    assert errors.max() < 0.002
    assert errors.max() < np.abs(normal - exact)[kept].max() / 3


def test_the_middle_and_the_tails_join() -> None:
    rng = np.random.default_rng(4)
    row = rng.normal(size=40)
    row -= row.mean()
    shifts = np.linspace(-0.02, 0.02, 81)[:, np.newaxis]  # of about a quarter of a standard deviation
    shares = lugannani_rice(row + shifts)
    assert (np.diff(shares) < 0).all()
    assert np.abs(np.diff(shares, 2)).max() < 1e-5  # no step where the expansion ends
    np.testing.assert_allclose(shares + lugannani_rice(-(row + shifts)), 1.0, atol=1e-12)


def test_draws_come_to_it() -> None:
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(4, 5, 90)) + 0.1 * np.arange(5)[:, np.newaxis]
    scores[0] = np.rint(scores[0] * 3)  # on a grid
    scores[1] = scores[1] ** 3  # far outliers
    judged = rng.random((5, 90)) < 0.9
    p = saddlepoint_p_values(np.where(judged, scores, np.nan), judged)
    drawn = sign_flip_p_values(np.where(judged, scores, np.nan), judged, draw_signs(rng, 40_000, 90))
    assert np.abs(p - drawn).max() < 4 * 0.5 / np.sqrt(40_000) + 0.001  # 4 standard errors
    assert np.abs(p - normal_p_values(scores, judged))[0].max() > 0.01  # which ignores ties


@settings(deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6).map(lambda value: round(value, 3)), min_size=1, max_size=30),
    st.sampled_from([1e-3, 1.0, 7.0, 1e5]),
)
def test_shares_are_shares_and_keep_their_symmetries(gaps: list[float], scale: float) -> None:
    first, second = of_two(gaps)
    assert 0.0 <= first <= 1.0
    assert first + second >= 1.0 - 1e-9
    assert of_two([-gap for gap in gaps]) == pytest.approx((second, first), abs=1e-9)
    assert of_two(gaps[::-1]) == pytest.approx((first, second), abs=1e-6)
    assert of_two([*gaps, 0.0, 0.0]) == pytest.approx((first, second), abs=1e-6)
    assert of_two([gap * scale for gap in gaps]) == pytest.approx((first, second), abs=0.02)  # a grid may be lost


@settings(max_examples=40)
@given(st.lists(st.integers(-60, 60), min_size=1, max_size=12), st.sampled_from([1.0, 0.1, 0.5, 1 / 3]))
def test_a_step_divides_all_differences(values: list[int], unit: float) -> None:
    step = common_step(np.array(values) * unit)
    if len(set(values)) == 1:
        assert step == 0.0
    else:
        own = np.diff(np.unique(values))
        assert step == pytest.approx(np.gcd.reduce(own) * unit, rel=1e-6)


def test_no_step_is_found_where_there_is_none() -> None:
    rng = np.random.default_rng(6)
    assert common_step(rng.normal(size=500)) == 0.0
    assert common_step(np.array([])) == 0.0
    assert common_step(np.array([0.0, 1.0, 1e7])) == 0.0  # more steps than are counted


def test_results_do_not_depend_on_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    scores, judged = rng.normal(size=(3, 6, 40)), np.ones((6, 40), dtype=bool)
    scores[0] = np.rint(scores[0])
    whole = saddlepoint_p_values(scores, judged)
    monkeypatch.setattr(saddlepoint, "_VALUES", 64)
    monkeypatch.setattr(saddlepoint, "MOST_STEPS", 1 << 17)
    parts = saddlepoint_p_values(scores, judged)
    np.testing.assert_allclose(parts[1:], whole[1:], atol=1e-9)
    np.testing.assert_allclose(parts[0], whole[0], atol=0.05)  # so few values hold no transform


def test_bad_scores_are_refused() -> None:
    refused("2 systems or more", saddlepoint_p_values, np.ones((1, 3)), np.ones((1, 3)))
    refused("metric 0 has no finite score", saddlepoint_p_values, np.full((2, 3), np.nan), np.ones((2, 3)))
