"""Judges such as language models, compared with annotators: kappa, agreement, corrected shares, and biases."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.arrays.grouping import numbered


class Effect(NamedTuple):
    """An estimate with its 95% interval and two-sided p-value against 0, by leaving out one cluster at a time.

    Both use Student's t; the degrees of freedom are the number of clusters minus 1. NaN if undefined.
    """

    value: float
    low: float
    high: float
    p: float
    n: int
    n_clusters: int


_NONE = float("nan")
_ROUNDS = 30  # of taking off means by system and by item in turn, for designs with gaps


def cohen_kappa(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Cohen's kappa of two raters over the outputs that both rated; (n,) numeric categories, NaN = not rated.

    NaN if both raters always give the same single category, or have no output in common.
    Source: Cohen 1960.
    >>> round(cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0]), 3)
    0.5
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    both = ~np.isnan(a) & ~np.isnan(b)
    if not both.any():
        return _NONE
    labels, codes = np.unique(np.concatenate([a[both], b[both]]), return_inverse=True)
    one, other = (np.bincount(half, minlength=len(labels)) / both.sum() for half in np.split(codes, 2))
    chance = float(one @ other)
    return _NONE if chance >= 1 else (float(np.mean(a[both] == b[both])) - chance) / (1 - chance)


def judge_lead(annotators: npt.ArrayLike, judge: npt.ArrayLike) -> Floats:
    """(n,) for each output, how much more often a judge agrees with an annotator than another annotator does.

    annotators: (n_annotators, n), NaN = not judged; judge: (n,). The share of annotators with whom the judge agrees,
    minus the share of ordered pairs of annotators who agree; NaN for outputs without a judgement by the judge or with
    fewer than two annotators. The mean is 0 if the judge behaves like one more annotator.
    """
    given, own = np.asarray(annotators, dtype=np.float64), np.asarray(judge, dtype=np.float64)
    there = ~np.isnan(given)
    k = there.sum(axis=0)
    with_judge = ((given == own) & there).sum(axis=0)
    same = sum(((given == one) & there & ~np.isnan(one)).sum(axis=0) for one in given) - k
    with np.errstate(divide="ignore", invalid="ignore"):
        lead = with_judge / k - same / (k * (k - 1.0))
    return np.where((k > 1) & ~np.isnan(own), lead, np.nan)


def clustered_mean(values: npt.ArrayLike, clusters: npt.ArrayLike) -> Effect:
    """The mean of (n,) values, excluding NaN, with an interval that treats clusters, such as items, as independent."""
    values, clusters = np.asarray(values, dtype=np.float64), np.asarray(clusters)
    kept = ~np.isnan(values)
    if not kept.any():
        return Effect(_NONE, _NONE, _NONE, _NONE, 0, 0)
    place = numbered(clusters[kept])
    total, n = np.bincount(place, values[kept]), np.bincount(place)
    with np.errstate(divide="ignore", invalid="ignore"):
        without = (total.sum() - total) / (n.sum() - n)
    return _jackknifed(total.sum() / n.sum(), without, int(kept.sum()))


def judge_effect(
    judge: npt.ArrayLike,
    human: npt.ArrayLike,
    covariate: npt.ArrayLike,
    clusters: npt.ArrayLike,
    noise: npt.ArrayLike | None = None,
    systems: npt.ArrayLike | None = None,
) -> Effect:
    """How much a covariate of an output shifts a judge's score, given the quality of the output.

    Least-squares regression of (n,) judge on human and covariate within clusters, such as items, each with its own
    intercept. The effect is in standard deviations of the judge per unit of the covariate. Outputs with a NaN are
    excluded; clusters with one output contribute nothing. Null hypothesis: given item and quality, the judge does not
    depend on the covariate.
    noise: (n,) error variance of each human score, subtracted from the variance of the human scores; None for human
    scores without error. If the error is not subtracted, a covariate that correlates with quality picks up part of its
    effect.
    systems: (n,) system of each output. Each system then has its own intercept too, so the covariate is compared within
    systems.
    Source: Fuller 1987, section 2.2 (errors in variables, error variance known).
    """
    columns = np.array([judge, human, covariate, np.zeros(np.shape(human)) if noise is None else noise], np.float64)
    kept = ~np.isnan(columns).any(axis=0)
    columns = columns[:, kept]
    if not columns.size:
        return Effect(_NONE, _NONE, _NONE, _NONE, 0, 0)
    place = numbered(np.asarray(clusters)[kept])
    n = np.bincount(place)
    scale = columns[0].std()
    error = (1 - 1 / n) * np.bincount(place, columns[3])
    columns = columns[:3] - columns[:3].mean(axis=1, keepdims=True)
    groups = [place] if systems is None else [numbered(np.asarray(systems)[kept]), place]
    for _ in range(1 if systems is None else _ROUNDS):
        for group in groups:
            columns = columns - np.array([np.bincount(group, one) / np.bincount(group) for one in columns])[:, group]
    varied = np.flatnonzero(n > 1)
    products = np.array([[np.bincount(place, x * y) for y in columns] for x in columns])[:, :, varied]  # (3, 3, G)
    products[1, 1] -= error[varied]
    total = products.sum(axis=2)
    without = np.moveaxis(total[:, :, np.newaxis] - products, 2, 0)  # (G, 3, 3)
    value = _slopes(total[np.newaxis])[0] / scale if scale > 0 else _NONE
    return _jackknifed(value, _slopes(without) / scale if scale > 0 else np.full(len(varied), np.nan), int(kept.sum()))


def _slopes(products: Floats) -> Floats:
    """(G,) the covariate's coefficient, from (G, 3, 3) sums of products of judge, human and covariate.

    Human scores that are constant within clusters explain nothing.
    """
    hh, hc, cc = products[:, 1, 1], products[:, 1, 2], products[:, 2, 2]
    jh, jc = products[:, 0, 1], products[:, 0, 2]
    is_human = hh > 1e-12 * np.maximum(cc, 1e-300)
    safe = np.where(is_human, hh, 1.0)
    left = cc - np.where(is_human, hc**2 / safe, 0.0)
    explained = jc - np.where(is_human, hc * jh / safe, 0.0)
    is_there = left > 1e-9 * np.maximum(cc, 1e-300)
    return np.where(is_there, explained / np.where(is_there, left, 1.0), np.nan)


def _jackknifed(value: float, without: Floats, n: int) -> Effect:
    from scipy.special import stdtr, stdtrit

    n_clusters = len(without)
    if n_clusters < 2 or np.isnan(without).any() or np.isnan(value):
        return Effect(float(value), _NONE, _NONE, _NONE, n, n_clusters)
    error = float(np.sqrt((n_clusters - 1) / n_clusters * ((without - without.mean()) ** 2).sum()))
    if error <= 1e-12 * max(abs(value), 1.0):
        return Effect(float(value), float(value), float(value), 1.0 if abs(value) <= 1e-12 else 0.0, n, n_clusters)
    half = float(stdtrit(n_clusters - 1, 0.975)) * error
    p = 2 * float(stdtr(n_clusters - 1, -abs(value) / error))
    return Effect(float(value), float(value - half), float(value + half), p, n, n_clusters)


class Share(NamedTuple):
    """A judge's share of good outputs, corrected for the judge's errors, with a 95% interval in [0, 1]."""

    judged: float
    corrected: float
    low: float
    high: float


def rogan_gladen(n_good: int, n: int, n_hit: int, n_positive: int, n_passed: int, n_negative: int) -> Share:
    """The share of good outputs, corrected for the judge's sensitivity and specificity.

    The judge calls n_good of n outputs good. It also calls n_hit of the n_positive outputs good that annotators call
    good, and n_passed of the n_negative outputs bad that annotators call bad. With q = n_good / n, the result is (q +
    specificity − 1) / (sensitivity + specificity − 1). The interval is by the delta method, with the judge's share and
    the two rates independent. NaN if the judge does no better than chance.
    Source: Rogan and Gladen 1978.
    >>> [round(value, 4) for value in rogan_gladen(40, 100, 45, 50, 40, 50)]
    [0.4, 0.2857, 0.1047, 0.4667]
    """
    judged = n_good / n if n else _NONE
    if not (n and n_positive and n_negative):
        return Share(judged, _NONE, _NONE, _NONE)
    se, sp = n_hit / n_positive, n_passed / n_negative
    j = se + sp - 1
    if j <= 0:
        return Share(judged, _NONE, _NONE, _NONE)
    p = (judged + sp - 1) / j
    variance = judged * (1 - judged) / n + p**2 * se * (1 - se) / n_positive + (1 - p) ** 2 * sp * (1 - sp) / n_negative
    half = 1.959964 * float(np.sqrt(variance)) / j
    low, value, high = (min(1.0, max(0.0, one)) for one in (p - half, p, p + half))
    return Share(judged, value, low, high)


def nearest_category(values: npt.ArrayLike, categories: npt.ArrayLike) -> Floats:
    """Each value replaced by the nearest of the sorted categories, the lower of two that are equally near; NaN stays.

    >>> nearest_category([1.4, 1.5, 9, float("nan")], [1, 2, 3]).tolist()
    [1.0, 1.0, 3.0, nan]
    """
    values, known = np.asarray(values, dtype=np.float64), np.asarray(categories, dtype=np.float64)
    middles = (known[1:] + known[:-1]) / 2
    places: Ints = np.searchsorted(middles, np.where(np.isnan(values), known[0], values), side="left")
    return np.where(np.isnan(values), np.nan, known[places])
