"""The isotonic fit of agreement: by hand, against the max-min formula, properties, and what is not reached."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels.agreement.agreement_curve import agreement_curve


def naive_fit(x: list[float], y: list[bool], w: list[float]) -> dict[float, float]:
    """Max over starts up to a place of the min over ends from it on of the weighted mean between them."""
    places = sorted({one for one, weight in zip(x, w, strict=True) if weight > 0})

    def mean(low: float, high: float) -> float:
        inside = [(b, c) for a, b, c in zip(x, y, w, strict=True) if low <= a <= high]
        return math.fsum(b * c for b, c in inside) / math.fsum(c for _, c in inside)

    return {here: max(min(mean(a, b) for b in places if b >= here) for a in places if a <= here) for here in places}


def test_a_fall_is_levelled_to_its_mean() -> None:
    curve = agreement_curve([3, 1, 2, 4], [True, False, True, False])
    assert curve.differences.tolist() == [1, 2, 3, 4]
    assert curve.fitted.tolist() == pytest.approx([0, 2 / 3, 2 / 3, 2 / 3])
    assert curve.at_least.tolist() == [4, 3, 2, 1]


def test_pairs_of_one_difference_are_one_place_whatever_their_order() -> None:
    for agrees in ([True, False], [False, True]):
        curve = agreement_curve([1, 1], agrees)
        assert (curve.differences.tolist(), curve.fitted.tolist()) == ([1], [0.5])


def test_between_differences_the_curve_stays_and_below_the_smallest_it_is_not_known() -> None:
    value = agreement_curve([1, 2], [False, True]).value([0.5, 1, 1.9, 2, 50])
    assert math.isnan(value[0])
    assert value[1:].tolist() == [0, 0, 1, 1]


PAIRS = st.lists(
    st.tuples(st.integers(0, 6).map(float), st.booleans(), st.integers(0, 3).map(float)), min_size=1, max_size=12
).filter(lambda rows: any(weight for _, _, weight in rows))


@given(PAIRS)
def test_the_fit_is_that_of_the_max_min_formula(rows: list[tuple[float, bool, float]]) -> None:
    x, y, w = (list(column) for column in zip(*rows, strict=True))
    curve = agreement_curve(x, y, w)
    assert dict(zip(curve.differences.tolist(), curve.fitted.tolist(), strict=True)) == pytest.approx(
        naive_fit(x, y, w)  # type: ignore[arg-type]
    )


@given(PAIRS)
def test_a_weight_of_two_is_the_pair_twice(rows: list[tuple[float, bool, float]]) -> None:
    x, y, w = zip(*rows, strict=True)
    copies = [row[:2] for row in rows for _ in range(int(row[2]))]
    weighted, copied = agreement_curve(x, y, w), agreement_curve(*zip(*copies, strict=True))
    np.testing.assert_allclose(weighted.fitted, copied.fitted)
    np.testing.assert_array_equal(weighted.at_least, copied.at_least)


def test_a_level_is_reached_at_the_smallest_difference_from_which_on_enough_pairs_agree() -> None:
    x = [1, *range(2, 22)]
    curve = agreement_curve(x, [False, *[True] * 20])
    assert curve.smallest_difference(0.95) == 2  # 20 pairs are at least 2 apart: as many as 1 / (1 - 0.95)
    assert math.isnan(agreement_curve(x[:-1], [False, *[True] * 19]).smallest_difference(0.95))
    assert agreement_curve(x[:-1], [False, *[True] * 19]).smallest_difference(0.9) == 2


def test_a_level_above_all_that_is_fitted_is_not_reached() -> None:
    assert math.isnan(agreement_curve(range(40), [True, False] * 20).smallest_difference(0.8))


@pytest.mark.parametrize(
    ("x", "y", "w", "message"),
    [
        ([1, 2], [True], None, "expected"),
        ([-1], [True], None, "at least 0"),
        ([1], [math.nan], None, "at least 0"),
        ([1], [True], [-1], "at least 0"),
        ([1], [True], [0], "no pair"),
        ([], [], None, "no pair"),
    ],
)
def test_what_cannot_be_fitted_is_refused(x: list[float], y: list[float], w: list[float] | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        agreement_curve(x, y, w)
