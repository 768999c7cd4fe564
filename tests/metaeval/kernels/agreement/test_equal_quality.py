"""Scores at equal quality in several languages: by hand, and pairs against plain loops."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels.agreement.equal_quality import equal_quality

Output = tuple[float, float]


def found(*languages: list[Output]) -> tuple[list[float], ...]:
    made = equal_quality([tuple(np.array(column) for column in zip(*one, strict=True)) for one in languages])
    return tuple(value.tolist() if isinstance(value, np.ndarray) else value for value in made)


def test_bias_is_in_units_of_one_error() -> None:
    first = [(-1.0, 90.0), (-2.0, 80.0), (-3.0, 70.0)]
    levels, means, loss, bias, wrong, within, n = found(first, [(quality, score - 5) for quality, score in first])
    assert levels == [-1, -2, -3]
    assert means == [[90, 80, 70], [85, 75, 65]]
    assert (loss, bias) == (pytest.approx(10), pytest.approx([0.25, -0.25]))  # 2.5 of 10 points a language
    assert (wrong, within, n) == ([0, 0], [0, 0], [3, 3])


def test_a_metric_that_falls_with_quality_has_no_bias() -> None:
    _, _, loss, bias, *_ = found([(0.0, 1.0), (1.0, 0.0)], [(0.0, 2.0), (1.0, 1.0)])
    assert loss == pytest.approx(-1)
    assert all(map(math.isnan, bias))


def test_levels_that_a_language_does_not_have_do_not_count_for_the_bias() -> None:
    _, means, _, bias, *_ = found([(0.0, 1.0), (1.0, 2.0), (2.0, 99.0)], [(0.0, 1.0), (1.0, 2.0)])
    assert math.isnan(means[1][0])
    assert bias == pytest.approx([0, 0])


_OUTPUTS = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0, 2.0]), st.sampled_from([0.0, 1.0, 2.0, 3.0])), min_size=1, max_size=6
)


@given(st.lists(_OUTPUTS, min_size=2, max_size=3))
def test_pairs_are_those_of_plain_loops(languages: list[list[Output]]) -> None:
    *_, wrong, within, _ = found(*languages)
    for at, own in enumerate(languages):
        others = [one for place, other in enumerate(languages) if place != at for one in other]
        for value, second in ((wrong[at], others), (within[at], own)):
            pairs = [(a, b) for a, b in product(own, second) if a[0] != b[0]]
            n_wrong = sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in pairs)
            assert value == pytest.approx(n_wrong / len(pairs) if pairs else math.nan, nan_ok=True)
