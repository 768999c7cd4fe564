"""Krippendorff's alpha: by hand, against the library, by properties, and the truth of simulated annotators."""

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from metaeval.kernels.agreement.krippendorff import interval_alpha
from metaeval.kernels.resampling.draws import resample_counts

NAN = float("nan")
TABLES = st.integers(2, 4).flatmap(
    lambda n_raters: st.lists(
        st.lists(st.one_of(st.none(), st.integers(0, 4)), min_size=n_raters, max_size=n_raters), min_size=2, max_size=9
    )
)


def _flat(table: list[list[int | None]]) -> tuple[np.ndarray, np.ndarray]:
    """Values and units of a table with a row a unit and a column an annotator."""
    kept = [(value, row) for row, line in enumerate(table) for value in line if value is not None]
    units = {row: place for place, row in enumerate(dict.fromkeys(row for _, row in kept))}
    return np.array([float(value) for value, _ in kept]), np.array([units[row] for _, row in kept], dtype=np.int64)


def test_by_hand() -> None:
    # units (1, 2), (3, 3), (5) does not count; n = 4, mean 2.25, SS = 2.75
    # observed: 2/4 * 2 * 0.5 / 1 = 0.5; expected: 2 * 2.75 / 3; alpha = 1 - 1.5 / 5.5 = 8/11
    assert interval_alpha([1, 2, 3, 3, 5], [0, 0, 1, 1, 2]).tolist() == pytest.approx([8 / 11], abs=1e-12)


def test_the_example_that_krippendorff_printed() -> None:
    # Krippendorff 2011, section C: four observers, twelve units, interval data: alpha = 0.849
    table = [
        *([1, 1, None, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4]),
        *([4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [None, 5, 5, 5], [None, None, 1, 1], [None, None, 3, None]),
    ]
    assert interval_alpha(*_flat(table))[0] == pytest.approx(0.849, abs=5e-4)


@given(TABLES)
def test_it_is_that_of_the_library(table: list[list[int | None]]) -> None:
    values, units = _flat(table)
    shared = np.bincount(units)[units] > 1 if len(units) else np.array([], dtype=bool)
    assume(shared.any() and values[shared].min() < values[shared].max())
    data = np.array([[NAN if value is None else value for value in line] for line in table], dtype=float).T
    expected = krippendorff.alpha(reliability_data=data, level_of_measurement="interval")
    assert interval_alpha(values, units)[0] == pytest.approx(expected, abs=1e-9)


@given(TABLES, st.integers(0, 3), st.floats(0.5, 100), st.floats(-1e4, 1e4))
def test_scale_and_order_do_not_matter_and_a_weight_is_that_many_copies(
    table: list[list[int | None]], seed: int, factor: float, shift: float
) -> None:
    values, units = _flat(table)
    assume(len(values) > 1)
    rng = np.random.default_rng(seed)
    n_units = int(units.max()) + 1
    weights = rng.integers(0, 4, (1, n_units))
    found = interval_alpha(values, units, weights)
    order = rng.permutation(len(values))
    same = interval_alpha(factor * values[order] + shift, units[order], weights)
    assert same == pytest.approx(found, abs=1e-6, nan_ok=True)
    copies = [(value, (unit, n)) for value, unit in zip(values, units, strict=True) for n in range(weights[0, unit])]
    number = {key: place for place, key in enumerate(dict.fromkeys(key for _, key in copies))}
    plain = interval_alpha([value for value, _ in copies], [number[key] for _, key in copies])
    assert plain == pytest.approx(found, abs=1e-6, nan_ok=True)
    assert np.isnan(found).all() or found[0] <= 1 + 1e-9


def test_nothing_to_compare_has_no_alpha_and_wrong_arrays_are_refused() -> None:
    assert np.isnan(interval_alpha([1.0, 2.0], [0, 1])).all()
    assert np.isnan(interval_alpha([3.0, 3.0, 3.0, 3.0], [0, 0, 1, 1])).all()
    assert np.isnan(interval_alpha([], [])).all()
    with pytest.raises(ValueError, match="a unit for each judgement"):
        interval_alpha([1.0], [0, 1])
    with pytest.raises(ValueError, match="a judgement is missing"):
        interval_alpha([1.0, NAN], [0, 0])
    with pytest.raises(ValueError, match="weights of 1 units"):
        interval_alpha([1.0, 2.0], [0, 0], [[1.0, 2.0]])


def test_it_is_the_share_of_the_variance_that_is_true_and_its_interval_holds_it() -> None:
    """Truth of variance .6, noise of .4, three judgements of 60 outputs, 200 worlds: expected alpha .6.

    The standard error of one world is about .06, of the mean .004. Coverage: the larger simulation of
    benchmarks/alpha_coverage.py finds .92 to .95; three binomial standard errors of 200 worlds are .05.
    """
    rng = np.random.default_rng(5)
    units = np.repeat(np.arange(60), 3)
    found, held = [], 0
    for _ in range(200):
        values = rng.normal(0, 0.6**0.5, 60)[units] + rng.normal(0, 0.4**0.5, 180)
        found.append(interval_alpha(values, units)[0])
        low, high = np.quantile(interval_alpha(values, units, resample_counts(rng, 200, 60)), (0.025, 0.975))
        held += int(low <= 0.6 <= high)
    assert float(np.mean(found)) == pytest.approx(0.6, abs=0.015)
    assert 0.87 <= held / 200 <= 0.99
