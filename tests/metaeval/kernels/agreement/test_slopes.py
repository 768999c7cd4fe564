"""Slopes: by hand, by dense matrices, against all orders in a plain loop, properties, and simulated levels."""

import math
from itertools import permutations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bench_progress import shares, simulated
from metaeval.kernels.agreement.slopes import CrossedSlope, crossed_slope, year_trend
from tests.helpers import refused

Floats = npt.NDArray[np.float64]


def history(seed: int, n_metrics: int = 8, n_sets: int = 5) -> tuple[Floats, Floats, Floats]:
    values, years, n, _ = simulated(np.random.default_rng(seed), n_metrics, n_sets, 0.03, 0.002)
    return values, years, n.mean() / n


def of_families(seed: int) -> tuple[Floats, Floats, Floats, npt.NDArray[np.int64]]:
    values, years, n, families = simulated(np.random.default_rng(seed), 14, 4, 0.06, 0.002, 0.8)
    return values, years, n.mean() / n, families


def likelihood(
    values: Floats,
    x: Floats,
    scales: Floats,
    column: float,
    slope: float,
    rest: float,
    family: float = 0.0,
    families: npt.NDArray[np.int64] | None = None,
) -> tuple[float, float, float]:
    """The restricted log-likelihood, the slope and its error by matrices over all values, one entry at a time."""
    cells = [(row, one) for row in range(len(values)) for one in range(len(x)) if not np.isnan(values[row, one])]
    v = np.zeros((len(cells), len(cells)))
    for a, (row, one) in enumerate(cells):
        for b, (other_row, other) in enumerate(cells):
            v[a, b] += column * (one == other)
            v[a, b] += family * (families is not None and families[one] == families[other])
            if row == other_row:
                # the origin of x in a row is taken up by its constant
                mean = np.mean([x[place] for place in range(len(x)) if not np.isnan(values[row, place])])
                v[a, b] += slope * (x[one] - mean) * (x[other] - mean) + rest * scales[row] * (one == other)
    y = np.array([values[cell] for cell in cells])
    constants = np.array([[float(row == own) for own in range(len(values))] for row, _ in cells])
    design = np.column_stack([constants, [x[one] - x.mean() for _, one in cells]])
    inverse = np.linalg.inv(v)
    information = design.T @ inverse @ design
    found = np.linalg.solve(information, design.T @ inverse @ y)
    left = y - design @ found
    log = np.linalg.slogdet(v)[1] + np.linalg.slogdet(information)[1] + left @ inverse @ left
    return -float(log) / 2, float(found[-1]), float(np.sqrt(np.linalg.inv(information)[-1, -1]))


def of(found: CrossedSlope) -> tuple[float, float, float]:
    return found.column_sd**2, found.pooled.tau2, found.residual_sd**2


def test_one_row_is_least_squares_by_hand() -> None:
    # years 2000, 2010, 2020: slope (0.7 - 0.5) / 20; no interval of one row
    found = crossed_slope([[0.5, 0.9, 0.7]], [2000, 2010, 2020], [1])
    assert found.pooled.mean == pytest.approx(0.01)
    assert np.isnan(found.pooled.low)
    assert np.isnan(found.without_row[0])
    assert found.without_column == pytest.approx([-0.02, 0.01, 0.04])
    assert found.pull == pytest.approx([0.5, 0.0, 0.5])


def test_where_rows_agree_metrics_are_the_unit() -> None:
    """Equal rows: all that is off the slope is of columns, and the test is that of least squares over their means."""
    x, y = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), np.array([0.1, 0.3, 0.2, 0.5, 0.3, 0.6])
    noise = np.random.default_rng(1).normal(0, 2e-3, (6, 6))
    found = crossed_slope(y + noise, x, np.ones(6))
    centred = x - x.mean()
    slope = centred @ y / (centred @ centred)
    left = y - y.mean() - slope * centred
    error = np.sqrt(left @ left / 4 / (centred @ centred))
    assert found.pooled.mean == pytest.approx(slope, abs=1e-3)
    assert found.pooled.error == pytest.approx(error, rel=0.02)
    assert found.freedom == pytest.approx(4, rel=0.02)
    assert found.pooled.high - found.pooled.mean == pytest.approx(2.7764451 * error, rel=0.02)  # t(4), 97.5%


@pytest.mark.parametrize("seed", range(6))
def test_slope_and_error_are_those_of_dense_matrices_at_the_highest_likelihood(seed: int) -> None:
    values, x, scales = history(seed)
    found = crossed_slope(values, x, scales)
    best, slope, error = likelihood(values, x, scales, *of(found))
    assert found.pooled.mean == pytest.approx(slope, rel=1e-6)
    assert found.pooled.error == pytest.approx(error, rel=1e-6)
    column, row, rest = of(found)
    for other in (
        *((column * k, row, rest) for k in (0.5, 0.9, 1.1, 2)),
        *((column, row * k, rest) for k in (0.5, 0.9, 1.1, 2)),
        *((column, row, rest * k) for k in (0.5, 0.9, 1.1, 2)),
        (column + 1e-4, row, rest),
        (column, row + 1e-5, rest),
    ):
        assert likelihood(values, x, scales, *other)[0] <= best + 1e-6


def test_a_column_left_out_is_one_that_was_never_there() -> None:
    values, x, scales = history(3)
    found = crossed_slope(values, x, scales)
    for column in range(len(x)):
        rest = np.delete(values, column, axis=1)
        expected = likelihood(rest, np.delete(x, column), scales, *of(found))[1]
        assert found.without_column[column] == pytest.approx(expected, rel=1e-6)
    for row in range(len(values)):
        expected = likelihood(np.delete(values, row, axis=0), x, np.delete(scales, row), *of(found))[1]
        assert found.without_row[row] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_columns_of_families_are_those_of_dense_matrices_at_the_highest_likelihood(seed: int) -> None:
    values, x, scales, families = of_families(seed)
    found = crossed_slope(values, x, scales, families)
    family, row, rest = found.family_sd**2, found.pooled.tau2, found.residual_sd**2
    column = found.column_sd**2 - family
    best, slope, error = likelihood(values, x, scales, column, row, rest, family, families)
    assert (found.pooled.mean, found.pooled.error) == (pytest.approx(slope, rel=1e-6), pytest.approx(error, rel=1e-6))
    for other in (
        *((column * k, row, rest, family) for k in (0.5, 1.1)),
        *((column, row * k, rest, family) for k in (0.5, 1.1)),
        *((column, row, rest * k, family) for k in (0.5, 1.1)),
        *((column, row, rest, family * k) for k in (0.5, 1.1)),
        (column, row, rest, family + 1e-4),
        (column + 1e-4, row, rest, family),
    ):
        assert likelihood(values, x, scales, *other, families)[0] <= best + 1e-6
    assert found.pull.sum() == pytest.approx(1)
    without = np.delete(values, 0, axis=1), np.delete(x, 0), scales, column, row, rest, family, np.delete(families, 0)
    assert found.without_column[0] == pytest.approx(likelihood(*without)[1], rel=1e-6)


def test_families_of_one_column_are_columns() -> None:
    values, x, scales = history(3)
    alone, none = crossed_slope(values, x, scales, np.arange(len(x))[::-1]), crossed_slope(values, x, scales)
    assert alone.pooled == none.pooled
    assert (alone.freedom, alone.family_sd, alone.n_families) == (none.freedom, 0.0, none.n_columns)


def test_where_all_that_is_off_the_line_is_of_families_they_are_the_unit() -> None:
    """Three metrics a family, of one year and one value: the test is that of least squares over the families."""
    x, y = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), np.array([0.1, 0.3, 0.2, 0.5, 0.3, 0.6])
    noise = np.random.default_rng(1).normal(0, 2e-3, (6, 18))
    found = crossed_slope(np.repeat(y, 3) + noise, np.repeat(x, 3), np.ones(6), np.repeat(np.arange(6), 3))
    families = crossed_slope(y + noise[:, ::3], x, np.ones(6))
    assert found.pooled.mean == pytest.approx(families.pooled.mean, abs=1e-3)
    assert found.pooled.error == pytest.approx(families.pooled.error, rel=0.05)
    assert found.freedom == pytest.approx(4, rel=0.02)
    assert (found.n_columns, found.n_families) == (18, 6)
    alone = crossed_slope(np.repeat(y, 3) + noise, np.repeat(x, 3), np.ones(6))
    assert alone.pooled.error < 0.6 * found.pooled.error


@given(slope=st.floats(-1, 1))
def test_parallel_lines_have_no_error(slope: float) -> None:
    x = np.array([2002.0, 2010, 2015, 2019, 2020])
    found = crossed_slope([slope * (x - 2000) + constant for constant in (0.1, 0.5, 0.3)], x, np.ones(3))
    assert found.pooled.mean == pytest.approx(slope, abs=1e-9)
    assert found.pooled.error == pytest.approx(0, abs=1e-9)
    assert found.column_sd == pytest.approx(0, abs=1e-6)


def test_what_cannot_be_fitted_is_refused() -> None:
    refused("two x", crossed_slope, [[1.0, np.nan], [1.0, 2.0]], [1, 2], [1, 1])
    refused("above 0", crossed_slope, [[1.0, 2.0]], [1, 2], [0])
    refused("must be", crossed_slope, [[1.0, 2.0]], [1, 2, 3], [1])
    refused("families must be", crossed_slope, [[1.0, 2.0]], [1, 2], [1], [1])


@pytest.mark.slow
def test_without_progress_the_interval_holds_0_where_that_of_given_metrics_does_not() -> None:
    """Two binomial standard errors of 10 histories are .14 around .05."""
    _, sampled, these = shares(10, 8, 15, 0.042, 0.0)
    assert sampled <= 0.2
    assert these >= 0.25


@pytest.mark.long("500 simulated histories: up to a minute")
@pytest.mark.parametrize(
    ("n_metrics", "n_sets", "spread", "slope"), [(8, 10, 0.014, 0.002), (12, 3, 0.042, 0.0), (20, 10, 0.042, 0.004)]
)
def test_intervals_miss_the_true_slope_in_5_percent(n_metrics: int, n_sets: int, spread: float, slope: float) -> None:
    """Three binomial standard errors of 500 histories are .03."""
    assert shares(500, n_metrics, n_sets, spread, slope)[1] == pytest.approx(0.05, abs=0.03)


@pytest.mark.long("200 simulated histories: up to a minute")
def test_families_that_are_alike_lead_to_no_more_false_slopes() -> None:
    """Three binomial standard errors of 200 histories are .046 around .05."""
    of_families, sampled, _ = shares(200, 20, 10, 0.042, 0.0, 0.8)
    assert of_families <= 0.096
    assert sampled > of_families


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
    refused(r"year|values", year_trend, years, values, variances, rng=np.random.default_rng(0))


@pytest.mark.slow
def test_without_a_trend_one_is_found_as_often_as_the_level_allows() -> None:
    # 6 years, 720 orders: p comes in steps of 1/720, so 5% is reached; 400 worlds, standard error 1.1%
    rng = np.random.default_rng(3)
    years = [2012, 2019, 2020, 2021, 2023, 2024]
    n_found = 0
    for _ in range(400):
        variances = rng.uniform(0.5, 2, 6)
        n_found += year_trend(years, rng.normal(0, np.sqrt(variances)), variances, rng=rng).p <= 0.05
    assert 0.03 <= n_found / 400 <= 0.07
