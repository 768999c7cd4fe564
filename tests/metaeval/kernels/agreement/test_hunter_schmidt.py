import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels import hunter_schmidt

NAN = np.nan


def test_two_studies_are_worked_out_by_hand() -> None:
    pooled = hunter_schmidt([0.8, 0.2], [30, 10])
    assert pooled.mean == pytest.approx((24 + 2) / 40)
    assert pooled.observed_variance == pytest.approx((30 * 0.15**2 + 10 * 0.45**2) / 40)
    assert pooled.sampling_variance == pytest.approx((1 - 0.65**2) ** 2 / (20 - 1))
    assert pooled.n_studies == 2


def test_a_correlation_that_is_not_defined_is_left_out_and_not_counted() -> None:
    assert hunter_schmidt([0.8, NAN, 0.2], [30, 99, 10]) == hunter_schmidt([0.8, 0.2], [30, 10])
    empty = hunter_schmidt([NAN], [5])
    assert np.isnan([empty.mean, empty.observed_variance, empty.sampling_variance]).all()
    assert empty.n_studies == 0


@given(st.lists(st.tuples(st.floats(-1, 1), st.integers(2, 500)), min_size=1, max_size=8))
def test_the_mean_lies_between_the_correlations(studies: list[tuple[float, int]]) -> None:
    r, n = zip(*studies, strict=True)
    pooled = hunter_schmidt(r, n)
    assert min(r) - 1e-12 <= pooled.mean <= max(r) + 1e-12
    assert pooled.observed_variance >= 0
    assert pooled.mean == pytest.approx(float(np.average(r, weights=n)), abs=1e-12)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="r and n must be"):
        hunter_schmidt([0.1, 0.2], [3])
    with pytest.raises(ValueError, match=r"r must be in \[-1, 1\], got 1.5"):
        hunter_schmidt([1.5], [3])
    with pytest.raises(ValueError, match="n must be whole numbers of at least 2"):
        hunter_schmidt([0.5], [1])
