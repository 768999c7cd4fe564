"""TrueSkill on pairwise preferences: system scores from many runs, each on a random selection of judgements."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.preferences import checked_preferences
from metaeval.kernels.arrays.checks import Bools, Floats, Ints

SIGMA = 0.5
TIE_PROBABILITY = 0.25
"""Probability of a tie between equal systems, which sets how near two performances must be to count as one."""
MATCHES_PER_BLOCK = 64  # of which the random numbers are drawn at once


def trueskill(
    system_a: npt.ArrayLike,
    system_b: npt.ArrayLike,
    answer: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    n_systems: int | None = None,
    n_runs: int = 1000,
    n_matches: int | None = None,
) -> Floats:
    """Mean skill of each system in each run: (n_runs, n_systems), around 0, higher is better.

    system_a, system_b: (n,) systems of each judgement, numbered from 0. answer: (n,) 1 if a is better, -1 if b is
        better, 0 for a tie. n_matches: matches per run; by default the number of judgements.
    Every skill begins as N(0, 1/4). In each match, the system with the least certain skill meets an opponent, drawn
    from the systems it was compared with, with a probability proportional to exp(-|difference of their means|). One
    judgement of the two is drawn with replacement, and both skills are updated by it. Runs differ only in their random
    draws, and are computed side by side. NaN for a system that was never compared.
    Performances vary around skills by beta = sigma n / 40, where n is the number of matches, as in the shared tasks of
    2014 to 2016: the more matches, the less each of them counts.
    Raises ValueError: no judgement, an answer other than -1, 0 and 1, or a system compared with itself.
    Source: Sakaguchi, Post and Van Durme 2014; updates from Herbrich, Minka and Graepel 2006, for two players with
    ties.
    """
    first, second, outcome = checked_preferences(system_a, system_b, answer)
    n = int(max(first.max(), second.max())) + 1 if n_systems is None else n_systems
    matches = len(first) if n_matches is None else n_matches
    begin, count, outcomes = _outcomes_by_pair(first, second, outcome, n)
    is_compared = count.reshape(n, n) > 0
    takes_part = is_compared.any(axis=1)
    beta = SIGMA * matches / 40
    margin = _tie_margin(beta)
    skills = _Skills(n, n_runs)
    skills.variance[:, ~takes_part] = -np.inf  # never the least certain
    for start in range(0, matches, MATCHES_PER_BLOCK):
        drawn = rng.random((min(MATCHES_PER_BLOCK, matches - start), 2, n_runs))
        for of_opponent, of_judgement in drawn:
            one = skills.variance.argmax(axis=1)
            opponent = skills.draw_opponent(one, is_compared, of_opponent)
            pair = one * n + opponent
            place = begin[pair] + (of_judgement * count[pair]).astype(np.int64)
            skills.update(one, opponent, outcomes[place], beta, margin)
    mean = np.ascontiguousarray(skills.mean.T)
    mean[:, ~takes_part] = np.nan
    return mean


def _outcomes_by_pair(first: Ints, second: Ints, outcome: Ints, n: int) -> tuple[Ints, Ints, Ints]:
    """Answers by ordered pair, each seen from both sides: start of each pair, its number of answers, the answers."""
    pair = np.concatenate([first * n + second, second * n + first])
    seen = np.concatenate([outcome, -outcome])
    count = np.bincount(pair, minlength=n * n)
    begin = np.concatenate([[0], np.cumsum(count)[:-1]])
    return begin, count, seen[np.argsort(pair, kind="stable")]


def _tie_margin(beta: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((TIE_PROBABILITY + 1) / 2) * np.sqrt(2) * beta)


class _Skills:
    """Skills of n systems in every run.

    mean: (n, n_runs). up, down: exponentials of the mean and of minus the mean. variance: (n_runs, n). The axes are
    ordered so that numpy works along rows.
    """

    def __init__(self, n: int, n_runs: int) -> None:
        self.mean = np.zeros((n, n_runs))
        self.up, self.down = np.ones((n, n_runs)), np.ones((n, n_runs))
        self.variance = np.full((n_runs, n), SIGMA**2)
        self.runs = np.arange(n_runs)

    def draw_opponent(self, one: Ints, is_compared: Bools, drawn: Floats) -> Ints:
        """An opponent in each run: (n_runs,).

        one: (n_runs,) the systems that need an opponent. is_compared: (n, n) which systems may be drawn for which.
        drawn: (n_runs,), uniform in [0, 1).
        """
        here = one * len(self.runs) + self.runs
        cumulative = np.minimum(self.up * self.down.ravel()[here], self.down * self.up.ravel()[here])
        if np.count_nonzero(is_compared) == is_compared.size - len(is_compared):
            cumulative.ravel()[here] = 0.0
        else:
            cumulative *= is_compared[:, one]
        for above, row in pairwise(cumulative):
            row += above
        opponent: Ints = (cumulative <= drawn * cumulative[-1]).sum(axis=0, dtype=np.int16).astype(np.int64)
        return opponent

    def update(self, one: Ints, other: Ints, outcome: Ints, beta: float, margin: float) -> None:
        """Play one match per run. outcome: (n_runs,), 1 if `one` was better, -1 if `other` was, 0 for a tie."""
        from scipy.special import ndtr

        n_runs, n = self.variance.shape
        of_one, of_other = one * n_runs + self.runs, other * n_runs + self.runs  # places in the raveled means
        at_one, at_other = self.runs * n + one, self.runs * n + other  # and in the variances
        mean, variance = self.mean.ravel(), self.variance.ravel()
        mean_one, mean_other = mean[of_one], mean[of_other]
        var_one, var_other = variance[at_one], variance[at_other]
        total = 2 * beta**2 + var_one + var_other
        scale = np.sqrt(total)
        difference = (mean_one - mean_other) / scale
        edge = margin / scale
        is_tie = outcome == 0
        towards = np.where(is_tie, difference, outcome * difference)  # the difference seen from the winner
        above, below = towards - edge, -towards - edge
        # A winner's performance is above the margin, a tie's is within it on both sides.
        density_above, density_below = _density(above), _density(below)
        mass_above = ndtr(above)
        mass_win = np.maximum(mass_above, 1e-300)
        mass_tie = np.maximum(1 - mass_above - ndtr(below), 1e-300)
        v_win = density_above / mass_win
        v_tie = (density_below - density_above) / mass_tie
        w_win = v_win * (v_win + above)
        w_tie = v_tie**2 - (above * density_above + below * density_below) / mass_tie
        v = np.where(is_tie, v_tie, outcome * v_win) / scale
        w = np.where(is_tie, w_tie, w_win) / total
        variance[at_one] = var_one * (1 - var_one * w)
        variance[at_other] = var_other * (1 - var_other * w)
        for places, moved in ((of_one, mean_one + var_one * v), (of_other, mean_other - var_other * v)):
            mean[places] = moved
            self.up.ravel()[places] = np.exp(moved)
            self.down.ravel()[places] = np.exp(-moved)


def _density(x: Floats) -> Floats:
    density: Floats = np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)
    return density


def trimmed_rank_ranges(scores: npt.ArrayLike, tail: float = 0.025) -> tuple[Ints, Ints]:
    """Best and worst rank of each system over runs, without ⌈tail⌉ runs at either end: two (n_systems,) arrays.

    scores: (n_runs, n_systems), no NaN; equal scores are ranked in the order of the systems.
    Raises ValueError: nothing would be left. Source: the shared tasks of 2014 to 2016.
    """
    values = np.asarray(scores, dtype=np.float64)
    n_cut = int(np.ceil(tail * len(values)))
    if 2 * n_cut >= len(values):
        raise ValueError(f"{len(values)} runs are too few to leave out {n_cut} at either end")
    order = np.argsort(-values, axis=1, kind="stable")
    ranks = np.sort(np.argsort(order, axis=1), axis=0) + 1  # (n_runs, n_systems), sorted within a system
    return ranks[n_cut], ranks[-1 - n_cut]


def clusters_of_ranges(scores: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike) -> Ints:
    """Cluster of each system, from 1 for the best, in system order; a cluster ends if all later systems rank below it.

    scores: (n_systems,), higher is better. low, high: best and worst rank of each.
    A cluster ends after a system whose worst rank is above the best rank of every later one.
    Source: the shared tasks of 2014 to 2016.
    >>> clusters_of_ranges([0.5, 0.4, 0.1], [1, 1, 3], [2, 2, 3]).tolist()
    [1, 1, 2]
    """
    order = np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")
    best, worst = np.asarray(low, dtype=np.int64)[order], np.asarray(high, dtype=np.int64)[order]
    best_to_come = np.minimum.accumulate(best[::-1])[::-1]
    begins = np.concatenate([[0], worst[:-1] < best_to_come[1:]]).astype(np.int64)
    clusters = np.empty(len(order), dtype=np.int64)
    clusters[order] = np.cumsum(begins) + 1
    return clusters
