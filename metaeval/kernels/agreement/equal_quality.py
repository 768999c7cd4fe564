"""Scores at equal quality in several languages: means, bias, and pairs across languages in the wrong order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from metaeval.kernels.arrays.checks import Floats, Ints


class Languages(NamedTuple):
    """levels: (Q,) quality levels, the highest first. means: (L, Q), NaN if a language has no output of that quality.
    loss: drop in score for one unit of quality less. bias, wrong, wrong_within: (L,), see `equal_quality`. n_outputs:
    (L,)."""

    levels: Floats
    means: Floats
    loss: float
    bias: Floats
    wrong: Floats
    wrong_within: Floats
    n_outputs: Ints


def equal_quality(outputs: Sequence[tuple[Floats, Floats]]) -> Languages:
    """Compare the scores that one metric gives to outputs of the same quality in several languages.

    outputs: for each language, (n,) quality and (n,) scores; higher is better for both, and neither has NaN.
    means: mean score of a language's outputs of one quality. loss: least-squares slope, on quality, of the means over
    languages, at the levels that all languages have. bias: a language's deviation from the mean over languages,
    averaged over these levels, in units of the loss; NaN unless the loss is positive. wrong: share of pairs of outputs
    of different quality, one in this language and one in another, in which the worse output scores higher.
    wrong_within: the same share for pairs within the language. NaN without pairs.
    Source: XQ-MEval (arXiv 2604.14934), which gives the bias in points of the metric.
    """
    levels = np.unique(np.concatenate([quality for quality, _ in outputs]))[::-1]
    groups = [[np.sort(scores[quality == level]) for level in levels] for quality, scores in outputs]
    means = np.array([[one.mean() if one.size else np.nan for one in of] for of in groups])
    common = ~np.isnan(means).any(axis=0)
    loss, bias = float("nan"), np.full(len(outputs), np.nan)
    if common.sum() > 1:
        together, quality = means[:, common].mean(axis=0), levels[common]
        centred = quality - quality.mean()
        loss = float(centred @ together / (centred @ centred))
        if loss > 0:
            bias = (means[:, common] - together).mean(axis=1) / loss
    n = len(outputs)
    n_wrong, n_pairs = np.zeros((n, n)), np.zeros((n, n))  # [i, j]: the better output is of i, the worse one of j
    for i in range(n):
        for j in range(n):
            for better in range(len(levels)):
                worse = np.concatenate([np.empty(0), *groups[j][better + 1 :]])
                n_pairs[i, j] += len(groups[i][better]) * len(worse)
                n_wrong[i, j] += np.searchsorted(groups[i][better], worse, side="left").sum()
    n_wrong, n_pairs = n_wrong + n_wrong.T, n_pairs + n_pairs.T
    within, pairs_within = np.diag(n_wrong).copy(), np.diag(n_pairs).copy()
    with np.errstate(invalid="ignore", divide="ignore"):
        wrong = (n_wrong.sum(axis=1) - within) / (n_pairs.sum(axis=1) - pairs_within)
        inside = within / pairs_within
    counts = np.array([len(scores) for _, scores in outputs], dtype=np.int64)
    return Languages(levels, means, loss, bias, wrong, inside, counts)
