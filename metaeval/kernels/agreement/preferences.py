"""Preferences between two outputs: the system scores they give, the agreement of judges, and tau.

A preference names two systems, numbered from 0, and an answer: 1 if the first is better, -1 if the second is better, 0
for a tie. A ranking of several outputs is stored as all its pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.pair_counts import PairCounts
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.arrays.grouping import numbered

_ANSWERS = "an answer must be 1 (the first is better), -1 (the second is better) or 0 (a tie)"
_STEPS = 100
_CONVERGED = 1e-10
_INFINITE = 12.0  # odds of e^24 between two systems: more comparisons than anybody has made


class JudgeAgreement(NamedTuple):
    """How often two judgements of the same item give the same answer."""

    agree: int  # pairs of judgements with equal answers
    comparable: int  # pairs of judgements of one item
    ties: int  # judgements that are ties
    total: int  # judgements

    @property
    def p_agree(self) -> float:
        return self.agree / self.comparable if self.comparable else float("nan")

    @property
    def p_chance(self) -> float:
        """Chance agreement: ties at their share, either system with equal probability otherwise."""
        if not self.total:
            return float("nan")
        share = self.ties / self.total
        return share**2 + (1 - share) ** 2 / 2

    @property
    def kappa(self) -> float:
        """(p_agree - p_chance) / (1 - p_chance); NaN if all judgements are ties."""
        return (self.p_agree - self.p_chance) / (1 - self.p_chance) if self.p_chance < 1 else float("nan")


def checked_preferences(
    system_a: npt.ArrayLike, system_b: npt.ArrayLike, answer: npt.ArrayLike
) -> tuple[Ints, Ints, Ints]:
    """Preferences as integer arrays.

    Raises ValueError: arrays of different lengths, no preferences, an answer other than 1, 0 and -1, or a system
    compared with itself.
    """
    first, second, outcome = (np.asarray(values) for values in (system_a, system_b, answer))
    if not first.shape == second.shape == outcome.shape or first.ndim != 1:
        raise ValueError("system_a, system_b and answer must be one-dimensional arrays of one length")
    if not first.size:
        raise ValueError("there are no preferences")
    if not np.isin(outcome, (-1, 0, 1)).all():
        raise ValueError(_ANSWERS)
    if (first == second).any():
        raise ValueError("a system is compared with itself")
    return first.astype(np.int64), second.astype(np.int64), outcome.astype(np.int64)


def preference_counts(
    system_a: npt.ArrayLike, system_b: npt.ArrayLike, answer: npt.ArrayLike, n_systems: int | None = None
) -> tuple[Ints, Ints]:
    """Wins and ties of each system against each other: two (n_systems, n_systems) arrays.

    wins[i, j]: how often i was preferred to j. ties: how often the two tied; symmetric.
    Raises ValueError: see `checked_preferences`.
    >>> wins, ties = preference_counts([0, 0, 1], [1, 1, 0], [1, 0, 1])
    >>> wins.tolist(), ties.tolist()
    ([[0, 1], [1, 0]], [[0, 1], [1, 0]])
    """
    first, second, outcome = checked_preferences(system_a, system_b, answer)
    n = int(max(first.max(), second.max())) + 1 if n_systems is None else n_systems
    wins, ties = _counts_by(np.zeros_like(first), 1, first, second, outcome, n)
    return wins[0], ties[0]


def preference_counts_by(
    group: npt.ArrayLike, system_a: npt.ArrayLike, system_b: npt.ArrayLike, answer: npt.ArrayLike, n_systems: int
) -> tuple[Ints, Ints]:
    """`preference_counts` of each group with preferences, in group order: two (n_groups, n_systems, n_systems) arrays.

    Raises ValueError: see `checked_preferences`.
    """
    groups, place = np.unique(group, return_inverse=True)
    return _counts_by(place, len(groups), *checked_preferences(system_a, system_b, answer), n_systems)


def _counts_by(group: Ints, n_groups: int, first: Ints, second: Ints, outcome: Ints, n: int) -> tuple[Ints, Ints]:
    winner, loser = np.where(outcome >= 0, first, second), np.where(outcome >= 0, second, first)
    cell, is_tie = (group * n + winner) * n + loser, outcome == 0
    wins, ties = (
        np.bincount(cell[chosen], minlength=n_groups * n * n).reshape(n_groups, n, n) for chosen in (~is_tie, is_tie)
    )
    return wins, ties + ties.transpose(0, 2, 1)


def expected_wins(wins: npt.ArrayLike) -> Floats:
    """Mean over the other systems of the share of comparisons that a system won, ties excluded: (n_systems,).

    wins: (n_systems, n_systems), see `preference_counts`. The mean excludes systems that the system never won or lost
    against; NaN if no other system is left. Source: Bojar et al. 2013 and 2014 (the shared task's expected wins).
    >>> expected_wins([[0, 3], [1, 0]]).tolist()
    [0.75, 0.25]
    """
    won = np.asarray(wins, dtype=np.float64)
    decided = won + won.T
    n_others = (decided > 0).sum(axis=1)
    shares = np.divide(won, decided, out=np.zeros_like(won), where=decided > 0).sum(axis=1)
    return np.asarray(np.divide(shares, n_others, out=np.full(len(won), np.nan), where=n_others > 0))


def better_than_others(wins: npt.ArrayLike, ties: npt.ArrayLike | None = None) -> Floats:
    """Share of its comparisons that each system won: (n_systems,), NaN for a system without comparisons.

    wins: see `preference_counts`. ties: None excludes ties, wins / (wins + losses), as in 2012; if passed, ties count
    as won, (wins + ties) / comparisons, as until 2011. Source: Callison-Burch et al. 2012.
    >>> better_than_others([[0, 3], [1, 0]]).tolist()
    [0.75, 0.25]
    """
    won = np.asarray(wins, dtype=np.float64)
    tied = np.zeros(len(won)) if ties is None else np.asarray(ties, dtype=np.float64).sum(axis=1)
    total = won.sum(axis=1) + won.sum(axis=0) + tied
    return np.asarray(np.divide(won.sum(axis=1) + tied, total, out=np.full(len(won), np.nan), where=total > 0))


def bradley_terry(wins: npt.ArrayLike, ties: npt.ArrayLike) -> tuple[Floats, Floats, float]:
    """Log strengths by maximum likelihood, their standard errors, and the tie parameter ν.

    wins, ties: (n_systems, n_systems), see `preference_counts`. Strengths have mean 0; higher is better. A system of
    strength s beats one of strength t with probability e^s / (e^s + e^t + ν e^((s + t) / 2)); the last term is a tie.
    ν is 0 without ties. Standard errors apply to strengths with mean 0.
    Raises ValueError: the maximum lies at infinity, because some systems were never beaten or tied by the others, or
    because all or nearly all comparisons are ties.
    Source: Davidson 1970; without ties, Bradley and Terry 1952.
    >>> bradley_terry([[0, 3], [1, 0]], [[0, 0], [0, 0]])[0].round(4).tolist()
    [0.5493, -0.5493]
    """
    won, tied = np.asarray(wins, dtype=np.float64), np.asarray(ties, dtype=np.float64)
    n = len(won)
    has_ties = bool(tied.any())
    if not won.any():
        raise ValueError("all comparisons are ties: strengths cannot be told apart")
    if not _is_strongly_connected(won + tied > 0):
        raise ValueError("some systems never lost to or tied with any of the others: their strengths have no maximum")
    total = won + won.T + tied
    won_or_half = won.sum(axis=1) + tied.sum(axis=1) / 2
    n_ties = tied.sum() / 2
    strength, log_nu = np.zeros(n), 0.0
    for _ in range(_STEPS):
        p_win, p_tie = _probabilities(strength, log_nu if has_ties else None)
        gradient, information = _score_and_information(total, p_win, p_tie, won_or_half, n_ties)
        free = n + 1 if has_ties else n
        # A common shift of all strengths changes nothing; the rank-one term holds their mean at 0.
        information[:n, :n] += 1.0
        step = np.linalg.solve(information[:free, :free], gradient[:free])
        step *= min(1.0, 2.0 / np.abs(step).max(initial=1e-300))
        strength = strength + step[:n]
        strength -= strength.mean()
        log_nu += step[n] if has_ties else 0.0
        if np.abs(strength).max() > _INFINITE:  # it grows with ν for ever, as of two systems with ties and wins of one
            raise ValueError("too few comparisons are decided: the strengths have no maximum")
        if np.abs(step).max() < _CONVERGED:
            break
    p_win, p_tie = _probabilities(strength, log_nu if has_ties else None)
    _, information = _score_and_information(total, p_win, p_tie, won_or_half, n_ties)
    information[:n, :n] += 1.0
    covariance = np.linalg.inv(information[: n + has_ties, : n + has_ties])[:n, :n]
    centred = np.eye(n) - 1 / n
    errors = np.sqrt(np.diag(centred @ covariance @ centred))
    return strength, errors, float(np.exp(log_nu)) if has_ties else 0.0


def _probabilities(strength: Floats, log_nu: float | None) -> tuple[Floats, Floats]:
    """(n, n) probabilities that i beats j, and that they tie."""
    half = (strength[:, np.newaxis] - strength) / 2
    tie = 0.0 if log_nu is None else np.exp(log_nu)
    mass = np.exp(half) + np.exp(-half) + tie
    return np.exp(half) / mass, tie / mass * np.ones_like(half)


def _score_and_information(
    total: Floats, p_win: Floats, p_tie: Floats, won_or_half: Floats, n_ties: float
) -> tuple[Floats, Floats]:
    """Gradient and information of the log likelihood in the strengths and log ν: (n + 1,), (n + 1, n + 1)."""
    n = len(total)
    expected = p_win + p_tie / 2  # of i against j
    gradient = np.append(won_or_half - (total * expected).sum(axis=1), n_ties - (total * p_tie).sum() / 2)
    variance = total * (p_win + p_tie / 4 - expected**2)
    information = np.zeros((n + 1, n + 1))
    information[:n, :n] = np.diag(variance.sum(axis=1)) - variance
    with_ties = (total * (p_tie / 2 - expected * p_tie)).sum(axis=1)
    information[:n, n] = information[n, :n] = with_ties
    information[n, n] = (total * p_tie * (1 - p_tie)).sum() / 2
    return gradient, information


def _is_strongly_connected(edges: Bools) -> bool:
    from scipy.sparse.csgraph import connected_components

    return int(connected_components(edges, directed=True, connection="strong")[0]) == 1


def judge_agreement(
    segment: npt.ArrayLike, system_a: npt.ArrayLike, system_b: npt.ArrayLike, answer: npt.ArrayLike
) -> JudgeAgreement:
    """Agreement between all judgements of the same item; an item is one segment and two systems in this order.

    All arrays are (n,); segments and systems may have any numbers. (a, b) and (b, a) are different items, as in the
    tables of the 2015 shared task. Two judgements by the same judge count too.
    >>> judge_agreement([1, 1, 1], [0, 0, 0], [1, 1, 2], [1, -1, 0])
    JudgeAgreement(agree=0, comparable=1, ties=1, total=3)
    """
    first, second, outcome = checked_preferences(system_a, system_b, answer)
    return _agreement(numbered(np.asarray(segment), first, second), outcome)


def judge_consistency(
    judge: npt.ArrayLike,
    segment: npt.ArrayLike,
    system_a: npt.ArrayLike,
    system_b: npt.ArrayLike,
    answer: npt.ArrayLike,
) -> JudgeAgreement:
    """Agreement of judges with themselves, over the judgements of a segment by judges who judged one of its items
    twice.

    judge: (n,). Other arguments as in `judge_agreement`.
    """
    first, second, outcome = checked_preferences(system_a, system_b, answer)
    judges, segments = np.asarray(judge), np.asarray(segment)
    item, place = numbered(judges, segments, first, second), numbered(judges, segments)
    repeated = np.bincount(item)[item] > 1
    kept = (np.bincount(place, repeated) > 0)[place]
    return _agreement(item[kept], outcome[kept])


def _agreement(item: Ints, outcome: Ints) -> JudgeAgreement:
    n_items = int(item.max(initial=-1)) + 1
    counts = np.bincount(item * 3 + outcome + 1, minlength=3 * n_items).reshape(n_items, 3)
    n = counts.sum(axis=1)
    return JudgeAgreement(
        agree=int((counts * (counts - 1)).sum()) // 2,
        comparable=int((n * (n - 1)).sum()) // 2,
        ties=int((outcome == 0).sum()),
        total=len(outcome),
    )


def preference_pair_counts(
    difference: npt.ArrayLike, answer: npt.ArrayLike, segment: npt.ArrayLike, epsilon: npt.ArrayLike = 0.0
) -> PairCounts:
    """Count the preferences of each segment by outcome, for all metrics, as `pair_counts` does for pairs of scores.

    difference: (M, n) metric score of the first output minus that of the second. answer: (n,) 1, -1 or 0. segment: (n,)
    whole numbers, which label the groups. epsilon: one number, or one number per metric; a difference of at most this
    size is a tie. n_scores is the number of preferences.
    Raises ValueError: shapes, a missing difference, an answer other than 1, -1 and 0, a negative epsilon.
    >>> counts = preference_pair_counts([[0.5, -1.0, 0.1]], [1, 1, 0], [7, 7, 9], epsilon=0.1)
    >>> counts.labels.tolist(), counts.n_concordant.tolist(), counts.n_tied_both.tolist()
    ([7, 9], [[1, 0]], [[0, 1]])
    """
    differences, outcome = _checked_differences(difference, answer)
    labels, group = np.unique(np.asarray(segment, dtype=np.int64), return_inverse=True)
    thresholds = checks.thresholds(epsilon, len(differences))
    bound = thresholds[:, np.newaxis]
    sign = (differences > bound).astype(np.int64) - (differences < -bound)
    is_tied, is_flat = outcome == 0, sign == 0

    def count(cases: Bools) -> Ints:
        counts = [np.bincount(group, case, minlength=len(labels)) for case in cases]
        return np.array(counts, dtype=np.int64).reshape(len(cases), len(labels))

    shape = len(differences), len(labels)
    return PairCounts(
        n_concordant=count(sign * outcome > 0),
        n_discordant=count(sign * outcome < 0),
        n_tied_human=count(is_tied & ~is_flat),
        n_tied_metric=count(~is_tied & is_flat),
        n_tied_both=count(is_tied & is_flat),
        n_scores=np.bincount(group, minlength=len(labels)),
        labels=labels,
        n_distinct=np.full(shape, -1, dtype=np.int64),
        epsilon=thresholds,
    )


def best_preference_thresholds(difference: npt.ArrayLike, answer: npt.ArrayLike) -> Floats:
    """(M,) smallest tie threshold at which each metric agrees with the most human preferences.

    Arguments as in `preference_pair_counts`. Candidates are 0 and the size of each difference.
    >>> best_preference_thresholds([[3.0, -1.0, 0.5, 0.2]], [1, 1, 0, 0]).tolist()
    [0.5]
    """
    differences, outcome = _checked_differences(difference, answer)
    best = np.zeros(len(differences))
    for metric, gaps in enumerate(differences):
        size = np.abs(gaps)
        order = np.argsort(size, kind="stable")
        # at a threshold the pairs up to it are ties: right where people tie, no longer right where they agreed
        gain = np.where(outcome == 0, 1, -(np.sign(gaps) * outcome > 0).astype(np.int64))[order]
        total = np.cumsum(gain)
        last = np.flatnonzero(np.append(np.diff(size[order]) > 0, True)) if len(order) else np.zeros(0, dtype=np.int64)
        values = np.append(0.0, size[order][last])
        gains = np.append(total[last[0]] if len(last) and values[1] == 0 else 0, total[last])
        best[metric] = values[np.argmax(gains)]
    return best


def _checked_differences(difference: npt.ArrayLike, answer: npt.ArrayLike) -> tuple[Floats, Ints]:
    differences, outcome = np.asarray(difference, dtype=np.float64), np.asarray(answer)
    if differences.ndim != 2 or differences.shape[1:] != outcome.shape:
        raise ValueError("difference must be (metrics, preferences), answer and segment (preferences,)")
    if np.isnan(differences).any():
        raise ValueError("a metric has no score for an output that was compared")
    if not np.isin(outcome, (-1, 0, 1)).all():
        raise ValueError(_ANSWERS)
    return differences, outcome.astype(np.int64)
