"""Always-valid intervals by hand, by properties, and their level under continuous looking by simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels.resampling.confidence_sequences import confidence_sequence, possible_winners, squared_radii


def test_an_interval_has_the_means_that_a_plain_loop_does_not_reject() -> None:
    """Every mean of a fine grid, tried by the inequality of the definition."""
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 6, 40)
    totals = rng.normal(1, 2, 40) * sizes
    mean, low, high = confidence_sequence(totals, sizes, alpha=0.05, fewest=1)
    rho = (-2 * math.log(0.05) + math.log(-2 * math.log(0.05) + 1)) / 20
    for n in (15, 40):
        kept = []
        for tried in np.linspace(-5, 5, 4001):
            gaps = [total - tried * size for total, size in zip(totals[:n], sizes[:n], strict=True)]
            variance = sum(gap * gap for gap in gaps) / n
            radius = math.sqrt(2 * (n * rho + 1) / (n * n * rho) * math.log(math.sqrt(n * rho + 1) / 0.05))
            if abs(sum(gaps) / n) <= math.sqrt(variance) * radius:
                kept.append(tried)
        assert mean[n - 1] == pytest.approx(totals[:n].sum() / sizes[:n].sum())
        assert (low[n - 1], high[n - 1]) == pytest.approx((min(kept), max(kept)), abs=0.0026)


def test_nothing_is_said_before_enough_units_differ() -> None:
    totals = np.array([0.0, 1.0] * 20) + np.array([0.0, 0.1] * 20) * np.arange(40)
    _, low, high = confidence_sequence(totals, np.ones(40), alpha=0.05, fewest=15)
    assert np.isinf(low[:29]).all()
    assert np.isinf(high[:29]).all()
    assert np.isfinite(low[29:]).all()


@given(st.integers(0, 1000), st.floats(0.1, 10), st.floats(-5, 5))
def test_scale_and_shift_move_intervals_alike(seed: int, scale: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, 30)
    totals = rng.normal(size=30) + 0.01
    plain = confidence_sequence(totals, sizes, alpha=0.1, fewest=0)
    moved = confidence_sequence(scale * totals + shift * sizes, sizes, alpha=0.1, fewest=0)
    for one, other in zip(plain, moved, strict=True):
        there = np.isfinite(one)
        np.testing.assert_allclose(scale * one[there] + shift, other[there], rtol=1e-6, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("skewed", [False, True])
def test_looking_after_every_document_errs_in_at_most_five_percent(skewed: bool) -> None:
    """2,000 campaigns of 150 documents without a difference: a share of .05 has a standard error of .005.

    Looking after every document with a t-test at .05 would err in about a third of them.
    """
    rng = np.random.default_rng(2)
    values = rng.exponential(size=(2000, 150)) - 1 if skewed else rng.normal(size=(2000, 150))
    _, low, high = confidence_sequence(values, np.ones(150), alpha=0.05)
    assert np.mean(((low > 0) | (high < 0)).any(axis=1)) <= 0.05
    n = np.arange(1, 151)
    means = np.cumsum(values, axis=1) / n
    spread = np.sqrt(np.maximum(np.cumsum(values**2, axis=1) / n - means**2, 1e-12) / n)
    assert np.mean((np.abs(means[:, 14:]) > 1.96 * spread[:, 14:]).any(axis=1)) > 0.2


@pytest.mark.slow
def test_the_best_system_stays_among_the_possible_winners() -> None:
    """1,000 campaigns of 6 systems, the two best equal: each of these is excluded in at most 5%."""
    rng = np.random.default_rng(3)
    quality = np.array([0.0, 0.0, -0.3, -0.5, -0.8, -1.0])
    kept, n_left = 0, []
    for _ in range(1000):
        totals = quality[:, None] + rng.normal(size=(6, 120)) + rng.normal(size=120)
        alive, out = possible_winners(totals, np.ones(120), alpha=0.05)
        kept += alive[0, -1]
        n_left.append(alive[:, -1].sum())
        assert (alive.sum(axis=1) == np.where(alive[:, -1], 120, out - 1)).all()
    assert kept / 1000 >= 0.95
    assert np.mean(n_left) < 4


def test_an_excluded_system_excludes_nobody_and_does_not_come_back() -> None:
    """A is far better at first; C is then out, and its later scores change nothing."""
    rng = np.random.default_rng(4)
    a, b = rng.normal(5, 1, 60), rng.normal(5, 1, 60)
    c = np.concatenate([rng.normal(0, 1, 30), rng.normal(500, 1, 30)])
    alive, out = possible_winners(np.stack([a, b, c]), np.ones(60), alpha=0.05)
    assert alive[:2].all()
    assert out[2] < 30
    assert not alive[2, out[2] :].any()


@pytest.mark.parametrize(
    ("totals", "sizes", "alpha", "message"),
    [
        ([1.0, 2.0], [1], 0.05, "totals must be"),
        ([1.0, np.nan], [1, 1], 0.05, "finite"),
        ([1.0, 2.0], [1, 0], 0.05, "sizes above 0"),
        ([1.0, 2.0], [1, 1], 1.5, "alpha"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    totals: list[float], sizes: list[int], alpha: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        confidence_sequence(totals, sizes, alpha=alpha)


def test_radii_need_a_size() -> None:
    with pytest.raises(ValueError, match="n above 0"):
        squared_radii([0], 0.05, 10)
