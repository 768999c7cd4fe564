"""Split-half reliability: on simulated people of known reliability, by hand, and with what is missing."""

from dataclasses import replace

import numpy as np
import pytest

from metaeval.studies.people.reliability import Judgements, numbered, reliability

N_SYSTEMS, N_SEGMENTS = 60, 10


def _people(noise: float, n_raters: int, seed: int = 0) -> Judgements:
    """Every annotator judges every output: systems' truth of variance 1, each judgement with noise of this variance."""
    rng = np.random.default_rng(seed)
    rows, columns, raters = (one.ravel() for one in np.mgrid[:N_SYSTEMS, :N_SEGMENTS, :n_raters].astype(np.int64))
    values = rng.normal(size=N_SYSTEMS)[rows] + rng.normal(0, noise**0.5, len(rows))
    return Judgements(rows, columns, values, raters, (N_SYSTEMS, N_SEGMENTS))


@pytest.mark.slow
@pytest.mark.parametrize("halves", ["annotators", "judgements"])
def test_halves_have_the_reliability_of_their_share_of_judgements(halves: str) -> None:
    """A half of 2 judgements of 10 segments with noise of variance 20 has a mean with noise of 1: r = 1/2, and all 4
    have 1 / (1 + 1/2) = 2/3, which the correction finds. Standard error of r over 60 systems: about .1, of a mean over
    worlds a third of that. Outputs: 2 judgements, noise 10: r = 1/11.
    """
    people = [_people(20.0, 4, seed) for seed in range(9)]
    found = [reliability(one if halves == "annotators" else replace(one, raters=None), 0) for one in people]
    systems = np.mean([one.r for one, _ in found])
    assert systems == pytest.approx(0.5, abs=0.1)
    assert np.mean([one.corrected for one, _ in found]) == pytest.approx(2 / 3, abs=0.1)
    assert np.mean([one.r for _, one in found]) == pytest.approx(1 / 11, abs=0.03)
    for one, other in found:
        assert one.low <= one.r <= one.high
        assert (one.n, other.n) == (N_SYSTEMS, N_SYSTEMS * N_SEGMENTS)


def test_people_who_agree_are_perfectly_reliable_and_seeds_repeat() -> None:
    perfect = _people(0.0, 4)
    of_systems, of_outputs = reliability(perfect, 0)
    assert (of_systems.r, of_outputs.r, of_systems.corrected) == pytest.approx((1.0, 1.0, 1.0))
    noisy = _people(20.0, 4)
    assert reliability(noisy, 3) == reliability(noisy, 3)
    assert reliability(noisy, 3) != reliability(noisy, 4)


def test_one_judgement_of_each_output_says_nothing_of_outputs() -> None:
    of_systems, of_outputs = reliability(_people(20.0, 1), 0)
    assert not np.isnan(of_systems.r)
    assert np.isnan([of_outputs.r, of_outputs.low, of_outputs.corrected]).all()
    assert of_outputs.n == 0


def test_two_systems_are_too_few() -> None:
    some = _people(1.0, 4)
    kept = some.rows < 2
    few = Judgements(some.rows[kept], some.columns[kept], some.values[kept], None, (2, N_SEGMENTS))
    assert np.isnan(reliability(few, 0)[0].r)
    assert not np.isnan(reliability(few, 0)[1].r)


def test_annotators_are_split_where_at_least_four_are_known() -> None:
    assert (_people(1.0, 4).halves, _people(1.0, 3).halves) == ("annotators", "judgements")
    unknown = Judgements(*(np.zeros(1, dtype=np.int64),) * 2, np.zeros(1), None, (1, 1))
    assert unknown.halves == "judgements"
    assert numbered(["b", "a", "b"]).tolist() == [0, 1, 0]  # type: ignore[union-attr]
    assert numbered(["b", None]) is None
