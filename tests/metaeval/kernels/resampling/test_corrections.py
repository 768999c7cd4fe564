"""Holm and Benjamini–Hochberg."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels.resampling.corrections import benjamini_hochberg, corrected_pairs, holm

PROBABILITIES = st.lists(st.floats(0, 1, allow_nan=False), min_size=1, max_size=12)


def test_holm_is_worked_out_by_hand() -> None:
    # sorted .01 .02 .03 .2 -> ×4 .04, ×3 .06, ×2 .06 (.06 stays), ×1 .2
    np.testing.assert_allclose(holm([0.2, 0.03, 0.01, 0.02]), [0.2, 0.06, 0.04, 0.06])


def test_benjamini_hochberg_is_worked_out_by_hand() -> None:
    # sorted .01 .02 .03 .2 -> ×4/1 .04, ×4/2 .04, ×4/3 .04, ×1 .2
    np.testing.assert_allclose(benjamini_hochberg([0.2, 0.03, 0.01, 0.02]), [0.2, 0.04, 0.04, 0.04])


@given(p=PROBABILITIES)
def test_holm_rejects_what_the_step_down_rule_rejects(p: list[float]) -> None:
    adjusted = holm(p)
    for alpha in (0.01, 0.05, 0.3):
        order = np.argsort(p, kind="stable")
        rejected = set()
        for step, index in enumerate(order):
            if p[index] * (len(p) - step) > alpha:
                break
            rejected.add(int(index))
        assert {i for i in range(len(p)) if adjusted[i] <= alpha} == rejected


@given(p=PROBABILITIES)
def test_benjamini_hochberg_rejects_what_the_step_up_rule_rejects(p: list[float]) -> None:
    adjusted = benjamini_hochberg(p)
    for alpha in (0.013, 0.057, 0.31):
        ordered = sorted(p)
        largest = max((k for k in range(len(p)) if ordered[k] * len(p) / (k + 1) <= alpha), default=-1)
        assert int(np.count_nonzero(adjusted <= alpha)) == largest + 1


def test_tests_that_were_not_made_are_excluded_from_the_family() -> None:
    np.testing.assert_allclose(holm([0.02, np.nan, 0.03]), [0.04, np.nan, 0.04])
    np.testing.assert_allclose(benjamini_hochberg([0.02, np.nan, 0.03]), [0.03, np.nan, 0.03])
    assert np.isnan(holm([np.nan])).all()


def test_pairs_are_corrected_in_the_direction_of_the_ranking() -> None:
    p = np.array([[np.nan, 0.9, 0.8], [0.01, np.nan, 0.04], [0.03, 0.7, np.nan]])
    order = [1, 2, 0]  # the family is p[1, 2], p[1, 0], p[2, 0] = .04, .01, .03
    corrected = corrected_pairs(p, order, "holm")
    np.testing.assert_allclose([corrected[1, 2], corrected[1, 0], corrected[2, 0]], [0.06, 0.03, 0.06])
    assert np.isnan(corrected[[2, 0, 0], [1, 1, 2]]).all()
    plain = corrected_pairs(p, order, "none")
    np.testing.assert_allclose([plain[1, 2], plain[1, 0], plain[2, 0]], [0.04, 0.01, 0.03])


def test_values_that_are_no_probabilities_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        holm([0.5, 1.5])
    with pytest.raises(ValueError, match="unknown correction 'sidak'"):
        corrected_pairs(np.ones((2, 2)), [0, 1], "sidak")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="order"):
        corrected_pairs(np.ones((2, 2)), [0, 0], "holm")
