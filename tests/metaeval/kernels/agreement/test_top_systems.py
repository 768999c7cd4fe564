"""The best systems by people: ties at the last place, missing scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels.agreement.top_systems import top_systems
from tests import naive


def test_a_tie_at_the_last_place_takes_all_of_them() -> None:
    assert np.flatnonzero(top_systems([1.0, 3.0, 2.0, 2.0], 2)).tolist() == [1, 2, 3]
    assert np.flatnonzero(top_systems([1.0, 3.0, 2.0, 2.0], 1)).tolist() == [1]
    assert np.flatnonzero(top_systems([1.0, 3.0, 2.0, 2.0], 3)).tolist() == [1, 2, 3]


def test_with_fewer_systems_all_that_are_judged_count() -> None:
    assert top_systems([1.0, np.nan, 2.0], 5).tolist() == [True, False, True]
    assert not top_systems([np.nan, np.nan], 1).any()


@given(human=st.lists(st.integers(0, 4).map(float), min_size=1, max_size=9), n=st.integers(1, 9))
def test_they_are_those_with_fewer_than_n_better_ones(human: list[float], n: int) -> None:
    assert np.flatnonzero(top_systems(human, n)).tolist() == naive.best(human, n)


def test_what_is_no_list_or_no_number_of_systems_is_refused() -> None:
    with pytest.raises(ValueError, match="got 2 dimensions"):
        top_systems([[1.0]], 1)
    with pytest.raises(ValueError, match="at least 1"):
        top_systems([1.0], 0)
