"""Random halves of judgements: whole annotators, or each output's judgements shared out evenly."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels.resampling.draws import half_of_annotators, half_of_judgements


@given(st.lists(st.integers(0, 6), min_size=2, max_size=40), st.integers(0, 5))
def test_judgements_of_an_output_are_shared_out_evenly(outputs: list[int], seed: int) -> None:
    units = np.array(outputs, dtype=np.int64)
    first = half_of_judgements(np.random.default_rng(seed), units)
    assert abs(2 * int(first.sum()) - len(units)) <= 1
    for unit in set(outputs):
        assert abs(2 * int(first[units == unit].sum()) - int((units == unit).sum())) <= 1


@given(st.lists(st.integers(0, 4), min_size=2, max_size=40), st.integers(0, 5))
def test_an_annotator_is_in_one_half(raters: list[int], seed: int) -> None:
    _, numbers = np.unique(raters, return_inverse=True)
    first = half_of_annotators(np.random.default_rng(seed), numbers)
    chosen = {int(number) for number in numbers[first]}
    assert chosen.isdisjoint(int(number) for number in numbers[~first])
    assert len(chosen) == (int(numbers.max()) + 1) // 2


def test_each_judgement_is_in_the_first_half_half_of_the_time() -> None:
    # 2,000 splits: a share's standard error is .011
    rng = np.random.default_rng(1)
    outputs = np.array([0, 0, 1, 1, 1, 2])
    share = np.mean([half_of_judgements(rng, outputs) for _ in range(2000)], axis=0)
    assert (np.abs(share - 0.5) < 0.05).all()
