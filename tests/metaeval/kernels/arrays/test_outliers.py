import numpy as np
import pytest

from metaeval.kernels import mad_outliers

NAN = np.nan


def test_the_rule_is_worked_out_by_hand() -> None:
    # median 3, absolute deviations 2 1 0 1 x, MAD 1: the limit is 2.5 * 1.4826 = 3.7065
    assert mad_outliers([1.0, 2.0, 3.0, 4.0, 6.70]).tolist() == [False] * 5
    assert mad_outliers([1.0, 2.0, 3.0, 4.0, 6.71]).tolist() == [False] * 4 + [True]
    assert mad_outliers([1.0, 2.0, 3.0, 4.0, -9.0]).tolist() == [False] * 4 + [True]


def test_unjudged_systems_take_no_part() -> None:
    assert mad_outliers([1.0, NAN, 2.0, 3.0, 4.0, 30.0]).tolist() == [False] * 5 + [True]
    assert mad_outliers([NAN, NAN]).tolist() == [False, False]


def test_without_deviation_every_other_score_is_an_outlier() -> None:
    assert mad_outliers([1.0, 1.0, 1.0, 1.1]).tolist() == [False, False, False, True]


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="finite or NaN"):
        mad_outliers([1.0, np.inf])
    with pytest.raises(ValueError, match="cutoff must be positive"):
        mad_outliers([1.0], cutoff=0.0)
