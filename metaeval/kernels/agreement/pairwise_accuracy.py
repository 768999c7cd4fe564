"""Pairwise accuracy of system scores: does the metric order two systems as humans do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints

Ties = Literal["organisers", "tship"]
TOLERANCE = 1e-12


@dataclass(frozen=True)
class PairwiseAgreement:
    """System pairs that count, and those on which metric and humans agree, both (n_metrics,).

    Over several language pairs: add the n_agree and the n_pairs up, then divide.
    """

    n_agree: Ints
    n_pairs: Ints

    @property
    def accuracy(self) -> Floats:
        """n_agree / n_pairs, (n_metrics,), in [0, 1]; NaN without pairs."""
        result = np.full(self.n_agree.shape, np.nan)
        np.divide(self.n_agree, self.n_pairs, out=result, where=self.n_pairs > 0)
        return result

    def __add__(self, other: PairwiseAgreement) -> PairwiseAgreement:
        """The same metrics over the pairs of both (of two language pairs, say)."""
        return PairwiseAgreement(self.n_agree + other.n_agree, self.n_pairs + other.n_pairs)


def pairwise_accuracy(
    human: npt.ArrayLike, metrics: npt.ArrayLike, ties: Ties = "organisers", *, raw_ties: bool = False
) -> PairwiseAgreement:
    """Count the system pairs whose metric difference has the sign of the human difference.

    human: (n_systems,) system scores, NaN = not judged, such systems are excluded. metrics: (n_metrics,
        n_systems).
    ties: "organisers": a zero difference on one side only is a disagreement, zero on both sides agrees.
        "tship": pairs with a human difference of 0 are excluded, a metric difference of 0 is wrong.
    raw_ties: a difference is 0 when the floats are equal. Otherwise it is 0 up to 1e-12 of the scorer's
        largest absolute score, so that averages which differ by rounding only are equal.
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
    """(M, n_pairs) does the metric order the two systems as humans do, for every pair that counts.

    Arguments and tie rules as in `pairwise_accuracy`, whose n_agree are the row sums. Over several language
    pairs: concatenate along the second axis.
    """
    if ties not in get_args(Ties):
        raise ValueError(f"unknown ties {ties!r}; expected one of {', '.join(get_args(Ties))}")
    human, metrics = checks.system_scores(human, metrics)
    judged = ~np.isnan(human)
    human_signs = difference_signs(human[judged], raw_ties=raw_ties)
    metric_signs = difference_signs(metrics[:, judged], raw_ties=raw_ties)
    counted = human_signs != 0 if ties == "tship" else np.ones(human_signs.size, dtype=np.bool_)
    return np.asarray((metric_signs == human_signs)[:, counted])


def difference_signs(scores: Floats, *, raw_ties: bool = False) -> npt.NDArray[np.int8]:
    """Sign of score i minus score j of every pair i < j: (..., n_systems) -> (..., n_pairs).

    A difference up to TOLERANCE times the scorer's largest absolute score is 0; raw_ties: equal floats
    only.
    """
    first, second = np.triu_indices(scores.shape[-1], 1)
    gaps = scores[..., first] - scores[..., second]
    slack = 0.0 if raw_ties else TOLERANCE * np.abs(scores).max(axis=-1, keepdims=True, initial=0.0)
    return (gaps > slack).view(np.int8) - (gaps < -slack).view(np.int8)
