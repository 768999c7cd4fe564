"""AutoRank: by hand, and what does not change it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels import autorank

SCORES = st.lists(st.integers(-50, 50), min_size=4, max_size=9, unique=True)


def test_the_scale_is_from_the_lower_quarter_to_the_best_and_the_centre_is_the_median() -> None:
    first, second = [0.0, 1.0, 2.0, 3.0, 9.0], [50.0, 40.0, 30.0, 20.0, 10.0]
    # quarter 1, best 9, median 2: eighths; quarter 20, best 50, median 30: thirtieths
    z = [(-2 / 8 + 20 / 30) / 2, (-1 / 8 + 10 / 30) / 2, 0.0, (1 / 8 - 10 / 30) / 2, (7 / 8 - 20 / 30) / 2]
    found = autorank([first, second])
    assert found.z.tolist() == pytest.approx(z)
    span = z[0] - z[3]
    assert found.rank.tolist() == pytest.approx([1 + 4 * (z[0] - one) / span for one in z])


@given(values=SCORES, by=st.integers(1, 9), shift=st.integers(-9, 9))
def test_the_unit_of_a_metric_changes_nothing(values: list[int], by: int, shift: int) -> None:
    other = list(reversed(values))
    found, scaled = autorank([values, other]), autorank([np.array(values) * by + shift, other])
    np.testing.assert_allclose(scaled.rank, found.rank, atol=1e-9)


@given(values=SCORES)
def test_ranks_go_from_1_to_the_number_of_systems_in_the_order_of_one_metric(values: list[int]) -> None:
    rank = autorank([values]).rank
    assert (rank.min(), rank.max()) == (pytest.approx(1), pytest.approx(len(values)))
    assert np.argsort(rank).tolist() == np.argsort(-np.array(values)).tolist()


def test_a_metric_without_a_scale_leaves_the_ranks_undefined() -> None:
    assert np.isnan(autorank([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]]).rank).all()


def test_metrics_that_contradict_each_other_exactly_give_all_the_first_rank() -> None:
    assert autorank([[0.0, 1.0], [1.0, 0.0]]).rank.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("scores", "percentiles", "words"),
    [
        ([[1.0]], (25, 100), "two systems"),
        ([1.0, 2.0], (25, 100), "two systems"),
        (np.empty((0, 3)), (25, 100), "a metric"),
        ([[1.0, np.nan]], (25, 100), "finite"),
        ([[1.0, 2.0]], (100, 25), "low < high"),
    ],
)
def test_what_cannot_be_ranked_is_refused(scores: object, percentiles: tuple[float, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        autorank(scores, *percentiles)  # type: ignore[arg-type]
