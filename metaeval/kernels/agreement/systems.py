"""Agreement of metric and human rankings of systems: pairwise accuracy, soft pairwise accuracy, top-weighted taus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints, ratio

Ties = Literal["organisers", "tship"]
TOLERANCE = 1e-12


@dataclass(frozen=True)
class PairwiseAgreement:
    """System pairs that count, and the pairs on which metric and humans agree, both (n_metrics,).

    For several language pairs, add up n_agree and n_pairs, then divide.
    """

    n_agree: Ints
    n_pairs: Ints

    @property
    def accuracy(self) -> Floats:
        """n_agree / n_pairs, (n_metrics,), in [0, 1]; NaN without pairs."""
        return ratio(self.n_agree, self.n_pairs)

    def __add__(self, other: PairwiseAgreement) -> PairwiseAgreement:
        """Agreement of the same metrics over the pairs of both, for example two language pairs."""
        return PairwiseAgreement(self.n_agree + other.n_agree, self.n_pairs + other.n_pairs)


def pairwise_accuracy(
    human: npt.ArrayLike, metrics: npt.ArrayLike, ties: Ties = "organisers", *, raw_ties: bool = False
) -> PairwiseAgreement:
    """Count the system pairs whose metric difference has the same sign as the human difference.

    human: (n_systems,) system scores, NaN = not judged; these systems are excluded. metrics: (n_metrics,
        n_systems).
    ties: "organisers": a zero difference on one side only is a disagreement, zero on both sides agrees.
        "tship": pairs with a human difference of 0 are excluded, a metric difference of 0 is wrong.
    raw_ties: count a difference as 0 only if the floats are equal. By default it is 0 up to 1e-12 of the scorer's
        largest absolute score, so averages that differ only by rounding are equal.
    Raises ValueError: shapes, an unknown rule, or a missing metric score of a judged system.
    Source: Kocmi et al. 2021, section 4 ("tship"); the organisers' practice since WMT21.
    >>> pairwise_accuracy([1.0, 2.0, 3.0], [[1.0, 2.0, 2.0]]).accuracy.round(3).tolist()
    [0.667]
    """
    agreements = pair_agreements(human, metrics, ties, raw_ties=raw_ties)
    n_metrics, n_pairs = agreements.shape
    return PairwiseAgreement(agreements.sum(axis=1, dtype=np.int64), np.full(n_metrics, n_pairs, dtype=np.int64))


def pair_agreements(
    human: npt.ArrayLike, metrics: npt.ArrayLike, ties: Ties = "organisers", *, raw_ties: bool = False
) -> Bools:
    """(M, n_pairs) whether the metric orders the two systems as humans do, for every pair that counts.

    Arguments and tie rules as in `pairwise_accuracy`; the row sums are its n_agree. For several language pairs,
    concatenate along the second axis.
    """
    checks.known(ties, get_args(Ties), "ties")
    human, metrics = checks.system_scores(human, metrics)
    judged = ~np.isnan(human)
    human_signs = difference_signs(human[judged], raw_ties=raw_ties)
    metric_signs = difference_signs(metrics[:, judged], raw_ties=raw_ties)
    counted = human_signs != 0 if ties == "tship" else np.ones(human_signs.size, dtype=np.bool_)
    return np.asarray((metric_signs == human_signs)[:, counted])


def difference_signs(scores: Floats, *, raw_ties: bool = False) -> npt.NDArray[np.int8]:
    """Sign of score i minus score j of every pair i < j: (..., n_systems) -> (..., n_pairs).

    A difference up to TOLERANCE times the scorer's largest absolute score is 0; with raw_ties, only equal floats are.
    """
    first, second = np.triu_indices(scores.shape[-1], 1)
    gaps = scores[..., first] - scores[..., second]
    slack = 0.0 if raw_ties else TOLERANCE * np.abs(scores).max(axis=-1, keepdims=True, initial=0.0)
    return (gaps > slack).view(np.int8) - (gaps < -slack).view(np.int8)


def soft_pairwise_accuracy(
    p_human: npt.ArrayLike, p_metric: npt.ArrayLike, *, counted: Bools | None = None, binary: bool = False
) -> Floats:
    """1 − mean over system pairs of |p_human − p_metric|, in [0, 1]; higher is better.

    p_human: (n_systems, n_systems), p_metric: (..., n_systems, n_systems), one matrix or many; [i, j] is the
        one-sided p-value of "system i is better than system j"; only i < j is read.
    counted: (n_systems, n_systems), the pairs included in the mean, such as pairs with common segments; None: all.
    binary: p-values become 1 if they are 0.5 or more, else 0 (eq. 3). This is pairwise accuracy except for p-values of
    exactly 0.5.
    Returns shape (...), so one number for one matrix.
    Raises ValueError: shapes differ, fewer than 2 systems, no pair, or a value above the diagonal outside [0, 1].
    Source: Thompson et al. 2024, eq. 1 and 3.
    >>> float(soft_pairwise_accuracy(np.full((2, 2), 0.3), np.full((2, 2), 0.5)))
    0.8
    """
    human = checks.probabilities(p_human, "p_human")
    metric = checks.probabilities(p_metric, "p_metric")
    if human.shape != metric.shape[-2:]:
        raise ValueError(f"p_human {human.shape} and p_metric {metric.shape} must have the same systems")
    every = np.ones(human.shape, dtype=np.bool_) if counted is None else np.asarray(counted, dtype=np.bool_)
    if every.shape != human.shape:
        raise ValueError(f"counted {every.shape} and p_human {human.shape} must have the same systems")
    first, second = np.nonzero(np.triu(every, 1))
    if not first.size:
        raise ValueError("no pair of systems is counted")
    human, metric = human[first, second], metric[..., first, second]
    if binary:
        return np.asarray(((human >= 0.5) == (metric >= 0.5)).mean(axis=-1), dtype=np.float64)
    return np.asarray(1.0 - np.abs(human - metric).mean(axis=-1), dtype=np.float64)


def tau_ap(
    human: npt.ArrayLike, metrics: npt.ArrayLike, *, raw_ties: bool = False, systems: Ints | None = None
) -> Floats:
    """τ_ap of each metric with the human scores, (n_metrics,), in [−1, 1].

    2 / (N − 1) · Σ C(i) / (i − 1) − 1, with the sum over ranks i ≥ 2 of the metric's ranking. C(i) is the number of
    systems above rank i that the human scores also place above the system at rank i. Not symmetric: the ranks are the
    metric's.
    human: (n_systems,), NaN = not judged; these systems are excluded. metrics: (n_metrics, n_systems).
    Ties as in `pairwise_accuracy`: a zero difference on one side only is a disagreement, zero on both sides agrees.
    Systems that the metric ties share their ranks: the value is the mean over all their orders.
    raw_ties: as in `pairwise_accuracy`. systems: (n_systems,) the system of each row, None = all different; two rows of
    the same system make no pair.
    NaN with fewer than 2 judged systems.
    Raises ValueError: shapes, or a missing metric score of a judged system.
    Source: Yilmaz, Aslam and Robertson 2008, section 4, which does not treat ties.
    >>> tau_ap([4.0, 3.0, 2.0, 1.0], [[3.0, 4.0, 2.0, 1.0], [4.0, 3.0, 1.0, 2.0]]).round(4).tolist()
    [0.3333, 0.7778]
    """
    human, metrics = checks.system_scores(human, metrics)
    judged = ~np.isnan(human)
    n = int(np.count_nonzero(judged))
    if n < 2:
        return np.full(len(metrics), np.nan)
    first, second = np.triu_indices(n, 1)
    signs = difference_signs(metrics[:, judged], raw_ties=raw_ties)  # (M, n_pairs)
    order = np.zeros((len(metrics), n, n), dtype=np.int8)
    order[:, first, second], order[:, second, first] = signs, -signs
    n_above, n_tied = (order < 0).sum(axis=2), (order == 0).sum(axis=2)
    below, within = rank_weights(n)
    lower = np.where(signs > 0, second, first)
    row = np.arange(len(metrics))[:, np.newaxis]
    weights = np.where(signs == 0, within[n_above, n_tied][:, first], below[n_above, n_tied][row, lower])
    if systems is not None:
        weights = weights * (systems[judged][first] != systems[judged][second])
    right = np.where(signs == difference_signs(human[judged], raw_ties=raw_ties), weights, 0.0)
    return 2.0 * ratio(right.sum(axis=1), weights.sum(axis=1)) - 1.0


def rank_weights(n_systems: int) -> tuple[Floats, Floats]:
    """Weight of a system pair in τ_ap: two tables (n_systems, n_systems + 1), indexed by [systems above, systems tied].

    The first table is for pairs that the metric does not tie. Its indices are the number of systems above the lower
    system and the number that share its ranks (itself included); its weight is the mean of 1 / (rank − 1) over these
    ranks. The second table is for pairs of tied systems: the mean weight over their orders.
    >>> below, within = rank_weights(3)
    >>> below[1, 1].item(), below[2, 1].item(), within[0, 2].item()
    (1.0, 0.5, 1.0)
    """
    above, tied = np.arange(n_systems)[:, np.newaxis], np.arange(n_systems + 1)[np.newaxis]
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, 2 * n_systems + 1))])
    sums = harmonic[np.maximum(above + tied - 1, 0)]  # 1 + 1/2 + ... up to the last of the shared ranks
    below = (sums - harmonic[np.maximum(above - 1, 0)]) / np.maximum(tied, 1)
    within = 2.0 * (tied - 1 - above * (sums - harmonic[above])) / np.maximum(tied * (tied - 1), 1)
    return below, within


def weighted_tau(human: npt.ArrayLike, metrics: npt.ArrayLike) -> Floats:
    """Vigna's weighted τ with hyperbolic weights, averaged over ranking by either scorer, (n_metrics,), in [−1, 1].

    human: (n_systems,), NaN = not judged; these systems are excluded. metrics: (n_metrics, n_systems).
    NaN where all human or all metric scores are equal, or no system is judged.
    Raises ValueError: shapes, or a missing metric score of a judged system.
    Source: Vigna 2015, as implemented by SciPy's `weightedtau`.
    """
    from scipy.stats import weightedtau

    human, metrics = checks.system_scores(human, metrics)
    judged = ~np.isnan(human)
    value = np.full(len(metrics), np.nan)
    if np.ptp(human[judged]) > 0 if judged.any() else False:
        for place, metric in enumerate(metrics[:, judged]):
            if np.ptp(metric) > 0:
                value[place] = weightedtau(human[judged], metric).statistic
    return value


def top_systems(human: npt.ArrayLike, n: int) -> Bools:
    """(n_systems,) True for the n best systems by human score; all judged systems if there are fewer than n.

    human: (n_systems,), higher is better, NaN = not judged; these systems are never selected. All systems that tie with
    the n-th best are selected, so the order of names decides nothing and there may be more than n.
    >>> top_systems([0.5, 0.9, np.nan, 0.7, 0.7], 2).tolist()
    [False, True, False, True, True]
    """
    scores = np.asarray(human, dtype=np.float64)
    judged = np.sort(scores[~np.isnan(scores)])
    last = judged[-n] if judged.size >= n else -np.inf
    return np.asarray(scores >= last)
