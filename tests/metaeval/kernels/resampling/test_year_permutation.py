"""Trends over years: by hand, against a naive loop over all orders, properties, and their level."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels.resampling.year_permutation import slope_over_years, year_trend


def naive_slope(years: list[float], values: list[float], weights: list[float]) -> float:
    total = math.fsum(weights)
    centre = math.fsum(w * x for w, x in zip(weights, years, strict=True)) / total
    top = math.fsum(w * (x - centre) * y for w, x, y in zip(weights, years, values, strict=True))
    return top / math.fsum(w * (x - centre) ** 2 for w, x in zip(weights, years, strict=True))


def test_a_straight_line_has_its_slope_and_the_smallest_p() -> None:
    found = year_trend([2019, 2020, 2021, 2022], [0.1, 0.2, 0.3, 0.4], [1] * 4, rng=np.random.default_rng(0))
    assert found.slope == pytest.approx(0.1)
    assert (found.p, found.least, found.n_orders, found.is_exact) == (2 / 24, 2 / 24, 24, True)


def test_three_evenly_spaced_years_cannot_give_a_p_below_a_third() -> None:
    # slopes of the orders of (0, 1, 3) are half the last minus the first: 3, 1, 2, -2, -1, -3 halves
    found = year_trend([2019, 2020, 2021], [0.0, 0.1, 0.3], [1] * 3, rng=np.random.default_rng(0))
    assert (found.p, found.least) == (2 / 6, 2 / 6)
    middle = year_trend([2019, 2020, 2021], [0.1, 0.0, 0.3], [1] * 3, rng=np.random.default_rng(0))
    assert middle.p == 4 / 6


def test_two_years_have_a_slope_and_no_p() -> None:
    found = year_trend([2019, 2023], [0.1, 0.3], [1, 1], rng=np.random.default_rng(0))
    assert found.slope == pytest.approx(0.05)
    assert math.isnan(found.p)
    assert math.isnan(year_trend([2019], [0.1], [1], rng=np.random.default_rng(0)).slope)


def test_equal_values_are_no_trend() -> None:
    found = year_trend([2019, 2020, 2021, 2023], [0.2] * 4, [1, 2, 3, 4], rng=np.random.default_rng(0))
    assert (found.slope, found.p) == (pytest.approx(0), 1.0)


HISTORIES = st.lists(st.tuples(st.integers(-20, 20), st.integers(1, 5)), min_size=3, max_size=5)


@given(HISTORIES)
def test_p_is_the_share_of_all_orders_with_so_large_a_slope(history: list[tuple[int, int]]) -> None:
    years = [2012.0, 2019.0, 2020.0, 2023.0, 2024.0][: len(history)]
    values, variances = [value / 10 for value, _ in history], [float(one) for _, one in history]
    observed = naive_slope(years, values, [1 / one for one in variances])
    sizes = [
        abs(naive_slope(years, [values[i] for i in order], [1 / variances[i] for i in order]))
        for order in permutations(range(len(years)))
    ]
    found = year_trend(years, values, variances, rng=np.random.default_rng(0))
    assert found.slope == pytest.approx(observed, abs=1e-12)
    assert found.p == sum(size >= abs(observed) - 1e-9 for size in sizes) / len(sizes)
    assert found.p >= found.least > 0


def test_many_years_are_permuted_at_random_and_the_data_count_as_one_order() -> None:
    years = np.arange(2010, 2020)
    found = year_trend(years, 0.1 * (years - 2010), np.ones(10), rng=np.random.default_rng(0), n_draws=999)
    assert (found.p, found.is_exact) == (1 / 1000, False)
    turned = year_trend(years, -0.1 * (years - 2010), np.ones(10), rng=np.random.default_rng(0), n_draws=999)
    assert turned.slope == pytest.approx(-found.slope)
    assert turned.p == found.p


@pytest.mark.parametrize(
    ("years", "values", "variances"),
    [
        ([1, 1, 2], [0] * 3, [1] * 3),
        ([1, 2], [0], [1, 1]),
        ([1, 2, 3], [0, 0, math.nan], [1] * 3),
        ([1, 2], [0, 0], [0, 1]),
    ],
)
def test_what_is_no_history_is_refused(years: list[int], values: list[float], variances: list[float]) -> None:
    with pytest.raises(ValueError, match=r"year|values"):
        year_trend(years, values, variances, rng=np.random.default_rng(0))


def test_a_slope_by_hand() -> None:
    # weights 1, 1, 2: centre of the years 2020, slope = (-1*0 + 0*1 + 2*0.5*4) / (1 + 0 + 2*0.25)
    assert slope_over_years([2019, 2020, 2020.5], [0.0, 1.0, 4.0], [1, 1, 2]) == pytest.approx(4 / 1.5)


def test_without_a_trend_one_is_found_as_often_as_the_level_allows() -> None:
    # 6 years, 720 orders: p comes in steps of 1/720, so 5% is reached; 400 worlds, standard error 1.1%
    rng = np.random.default_rng(3)
    years = [2012, 2019, 2020, 2021, 2023, 2024]
    n_found = 0
    for _ in range(400):
        variances = rng.uniform(0.5, 2, 6)
        n_found += year_trend(years, rng.normal(0, np.sqrt(variances)), variances, rng=rng).p <= 0.05
    assert 0.03 <= n_found / 400 <= 0.07
