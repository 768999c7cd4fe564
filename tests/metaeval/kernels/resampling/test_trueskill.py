"""TrueSkill by hand, against a plain loop over matches, and as printed; rank ranges and the clusters they make."""

import csv
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from metaeval.kernels.resampling.trueskill import (
    MATCHES_PER_BLOCK,
    SIGMA,
    TIE_PROBABILITY,
    clusters_of_ranges,
    trimmed_rank_ranges,
    trueskill,
)
from tests.helpers import beside_data
from tests.metaeval.kernels.rankings import converted_pairs

N_RUNS = 100
"""A run's skills have a standard deviation of at most .04: means of so many are known to .004, a fifth of the .02."""


def test_one_match_moves_both_skills_by_the_mean_of_a_truncated_normal() -> None:
    # One judgement: 0 beats 1. The difference of performances is N(0, 2 (beta^2 + sigma^2)), known to be above the tie
    # margin; each skill has half of the skills' share in it.
    beta = SIGMA / 40
    deviation = math.sqrt(2 * (beta**2 + SIGMA**2))
    margin = norm.ppf((TIE_PROBABILITY + 1) / 2) * math.sqrt(2) * beta
    shift = SIGMA**2 / deviation * norm.pdf(-margin / deviation) / norm.cdf(-margin / deviation)
    (scores,) = trueskill([0], [1], [1], rng=np.random.default_rng(0), n_runs=1)
    assert scores.tolist() == pytest.approx([shift, -shift])


def test_a_tie_of_equal_skills_moves_neither() -> None:
    scores = trueskill([0, 0], [1, 1], [0, 0], rng=np.random.default_rng(0), n_runs=3)
    assert np.abs(scores).max() < 1e-12


def test_many_runs_are_what_a_plain_loop_over_matches_gives() -> None:
    rng = np.random.default_rng(3)
    a = rng.integers(0, 4, 60)
    b = (a + rng.integers(1, 4, 60)) % 4
    answer = rng.integers(-1, 2, 60)
    n_runs = 3
    drawn = np.random.default_rng(5).random((60, 2, n_runs))
    assert MATCHES_PER_BLOCK > 60
    found = trueskill(a, b, answer, rng=np.random.default_rng(5), n_runs=n_runs)
    for run in range(n_runs):
        assert found[run].tolist() == pytest.approx(_plain_run(a, b, answer, drawn[:, :, run], 4), abs=1e-9)


def _plain_run(a: np.ndarray, b: np.ndarray, answer: np.ndarray, drawn: np.ndarray, n: int) -> list[float]:
    """The loop over matches, with the density and distribution of SciPy."""
    beta = SIGMA * len(a) / 40
    margin = norm.ppf((TIE_PROBABILITY + 1) / 2) * math.sqrt(2) * beta
    mean, variance = [0.0] * n, [SIGMA**2] * n
    answers: dict[tuple[int, int], list[int]] = {}
    for first, second, outcome in zip(a, b, answer, strict=True):
        answers.setdefault((first, second), []).append(outcome)
    of_pair = {  # those in which the first stands first, then the others, as the kernel sorts them
        (i, j): answers.get((i, j), []) + [-outcome for outcome in answers.get((j, i), [])]
        for i in range(n)
        for j in range(n)
        if i != j
    }
    for for_opponent, for_judgement in drawn:
        one = max(range(n), key=lambda i: (variance[i], -i))
        weights = [math.exp(-abs(mean[i] - mean[one])) if of_pair.get((one, i)) else 0.0 for i in range(n)]
        edges = np.cumsum(weights)
        other = int((edges <= for_opponent * edges[-1]).sum())
        seen = of_pair[one, other]
        outcome = seen[int(for_judgement * len(seen))]
        scale = math.sqrt(2 * beta**2 + variance[one] + variance[other])
        t, edge = (mean[one] - mean[other]) / scale, margin / scale
        if outcome == 0:
            mass = norm.cdf(edge - t) - norm.cdf(-edge - t)
            v = (norm.pdf(-edge - t) - norm.pdf(edge - t)) / mass
            w = v**2 + ((edge - t) * norm.pdf(edge - t) + (edge + t) * norm.pdf(edge + t)) / mass
        else:
            v = norm.pdf(outcome * t - edge) / norm.cdf(outcome * t - edge)
            w = v * (v + outcome * t - edge)
            v *= outcome
        shares = variance[one], variance[other]
        mean[one] += shares[0] / scale * v
        mean[other] -= shares[1] / scale * v
        variance[one] -= shares[0] ** 2 / scale**2 * w
        variance[other] -= shares[1] ** 2 / scale**2 * w
    return mean


@pytest.mark.slow
def test_the_order_within_a_judgement_changes_scores_by_chance_alone() -> None:
    rng = np.random.default_rng(7)
    a, b = np.repeat([0, 0, 1], 200), np.repeat([1, 2, 2], 200)
    answer = np.where(rng.random(600) < 0.7, 1, -1)
    runs = trueskill(a, b, answer, rng=np.random.default_rng(1), n_runs=200)
    swapped = trueskill(b, a, -answer, rng=np.random.default_rng(2), n_runs=200)
    first, second, third = runs.mean(axis=0)
    assert first > second > third
    # 5 standard errors of the difference of two means, for three systems: exceeded once in half a million.
    error = np.sqrt((runs.var(axis=0) + swapped.var(axis=0)) / 200)
    assert (np.abs(runs.mean(axis=0) - swapped.mean(axis=0)) < 5 * error).all()


def test_a_system_without_judgements_has_no_skill_and_is_never_drawn() -> None:
    scores = trueskill([0, 0], [2, 2], [1, 0], rng=np.random.default_rng(0), n_runs=4, n_systems=4)
    assert np.isnan(scores[:, [1, 3]]).all()
    assert np.isfinite(scores[:, [0, 2]]).all()


def test_rank_ranges_leave_out_a_fortieth_of_the_runs_at_either_end() -> None:
    # 40 runs, so one is left out at either end: system 1 is first in two runs, system 0 in the others.
    scores = np.tile([2.0, 1.0], (40, 1))
    scores[:2] = [1.0, 2.0]
    assert [ranks.tolist() for ranks in trimmed_rank_ranges(scores)] == [[1, 1], [2, 2]]
    scores[1] = [2.0, 1.0]
    assert [ranks.tolist() for ranks in trimmed_rank_ranges(scores)] == [[1, 2], [1, 2]]
    with pytest.raises(ValueError, match="too few"):
        trimmed_rank_ranges(scores[:2])


def test_a_cluster_ends_where_all_later_ranges_are_below() -> None:
    assert clusters_of_ranges([5, 4, 3, 2, 1], [1, 2, 2, 4, 4], [1, 3, 3, 5, 5]).tolist() == [1, 2, 2, 3, 3]
    assert clusters_of_ranges([3, 2, 1], [1, 2, 1], [1, 3, 3]).tolist() == [1, 1, 1]  # the last one may be first


def _printed(lp: str) -> tuple[list[str], np.ndarray]:
    """Systems of WMT15, best first, and (n_systems, 4): mean, best and worst rank, and cluster as printed."""
    with beside_data("expected", "rankings", "wmt15_results.tsv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["lp"] == lp]
    columns = ("trueskill_mean", "rank_low", "rank_high", "cluster")
    return [row["system"] for row in rows], np.array([[float(row[name]) for name in columns] for row in rows])


@pytest.mark.parametrize("lp", ["de-en", "en-cs", "en-fi", "en-fr", "fi-en", "ru-en"])
def test_clusters_of_the_printed_ranges_are_the_printed_clusters(lp: str) -> None:
    mean, low, high, cluster = _printed(lp)[1].T
    assert clusters_of_ranges(mean, low, high).tolist() == cluster.tolist()


@pytest.mark.parametrize(
    "lp",
    [
        pytest.param("fi-en", marks=pytest.mark.slow),
        pytest.param("en-fi", marks=pytest.mark.long("32,694 matches: 7 seconds")),
        pytest.param("ru-en", marks=pytest.mark.long("46,093 matches: 10 seconds")),
    ],
)
def test_means_and_ranges_are_those_that_wmt15_printed(lp: str) -> None:
    """With so few runs, a rank may be one off where the runs beyond it are about as many as are left out."""
    first, second, answer = zip(*converted_pairs(lp), strict=True)
    systems, printed = _printed(lp)
    places = {name: place for place, name in enumerate(systems)}
    assert {*first, *second} == {*systems}
    pairs = [places[name] for name in first], [places[name] for name in second]
    runs = trueskill(*pairs, answer, rng=np.random.default_rng(15), n_runs=N_RUNS)
    assert (runs.std(axis=0) / math.sqrt(N_RUNS)).max() < 0.005
    assert np.abs(runs.mean(axis=0) - printed[:, 0]).max() < 0.02
    assert np.abs(np.column_stack(trimmed_rank_ranges(runs)) - printed[:, 1:3]).max() <= 1


@given(st.permutations(range(6)), st.integers(0, 100))
def test_ranges_and_clusters_follow_the_systems_wherever_they_stand(order: list[int], seed: int) -> None:
    scores = np.random.default_rng(seed).normal(size=(50, 6)) + np.arange(6)
    low, high = trimmed_rank_ranges(scores)
    clusters = clusters_of_ranges(scores.mean(axis=0), low, high)
    permuted = scores[:, order]
    low_of, high_of = trimmed_rank_ranges(permuted)
    assert low_of.tolist() == low[order].tolist()
    assert high_of.tolist() == high[order].tolist()
    assert clusters_of_ranges(permuted.mean(axis=0), low_of, high_of).tolist() == clusters[order].tolist()
