"""What spans earn, output by output: the sums whose ratios are precision and recall."""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from .coverage import matched, stretches
from .flat_spans import Spans
from .one_to_one import Pairs, best_sums, greedy, overlapping

SpanMeasure = Literal["MPP", "MP", "EM", "WMT25"]
Matching = Literal["one_to_one", "many_to_many", "sets"]
Algorithm = Literal["optimal", "greedy"]


def span_sums(
    predicted: Spans,
    gold: Spans,
    n_outputs: int,
    measure: SpanMeasure = "MPP",
    matching: Matching = "one_to_one",
    algorithm: Algorithm = "optimal",
    severity_penalty: float = 0.0,
    severity_weights: Mapping[str, float] | None = None,
) -> np.ndarray:
    """Numerator and denominator of precision, then of recall, of each output: (n_outputs, 4).

    EM counts spans with the same bounds, MP those that overlap, MPP the share of a span that overlaps, WMT25
    characters, with matching sets each once, however many spans cover it. severity_penalty: what a match of different
    severities loses, from 0 to 1. severity_weights: what "minor" and "major" count (MPP without a penalty); a match
    counts the smaller of both.
    Source: Perrella et al. 2026; WMT25 shared task on automated translation evaluation, task 2; Blain et al. 2023.
    Raises ValueError: weights with another measure or with a penalty; sets of another measure than WMT25; too many
        overlapping spans in one output.
    """
    if matching == "sets":
        if measure != "WMT25":
            raise ValueError("only characters are matched as sets")
        return _character_sets(predicted, gold, n_outputs, severity_penalty)
    if severity_weights is not None and (measure != "MPP" or severity_penalty):
        raise ValueError("severity weights go with MPP without a severity penalty")
    sizes = [
        np.bincount(
            spans.output,
            weights=spans.length if measure == "WMT25" else spans.weights(severity_weights),
            minlength=n_outputs,
        )
        for spans in (predicted, gold)
    ]
    if matching == "one_to_one" or measure == "EM":
        pairs = _pairs(predicted, gold, measure, severity_penalty, severity_weights)
        if algorithm == "greedy" and matching == "one_to_one":
            taken = greedy(pairs)
            earned = [
                np.bincount(pairs.output[taken], weights=credit[taken], minlength=n_outputs)
                for credit in (pairs.of_precision, pairs.of_recall)
            ]
        else:
            earned = list(best_sums(pairs, (sizes[0], sizes[1]), n_outputs))
    else:
        earned = _covered(predicted, gold, n_outputs, measure, severity_penalty, severity_weights)
    return np.column_stack([earned[0], sizes[0], earned[1], sizes[1]])


def _character_sets(predicted: Spans, gold: Spans, n_outputs: int, penalty: float) -> np.ndarray:
    """`span_sums` of characters that count once: one of both severities is right in either."""
    texts = stretches(predicted, gold)
    marked = texts.covered > 0
    by_side = marked[:, :, 0] | marked[:, :, 1]
    agrees = (marked[:, 0] & marked[:, 1]).any(axis=1)
    credit = by_side[:, 0] * by_side[:, 1] * np.where(agrees, 1.0, 1.0 - penalty)
    earned, n_predicted, n_gold = (
        np.bincount(texts.output, weights=of * texts.length, minlength=n_outputs) for of in (credit, *by_side.T)
    )
    return np.column_stack([earned, n_predicted, earned, n_gold])


def _pairs(
    predicted: Spans, gold: Spans, measure: SpanMeasure, penalty: float, weights: Mapping[str, float] | None
) -> Pairs:
    rows, beside, common = overlapping(predicted, gold)
    lengths = predicted.length[rows], gold.length[beside]
    share = np.where(predicted.is_major[rows] == gold.is_major[beside], 1.0, 1.0 - penalty)
    smaller = np.minimum(predicted.weights(weights)[rows], gold.weights(weights)[beside])
    credit = {
        "EM": ((lengths[0] == common) & (lengths[1] == common)) * share,
        "MP": share,
        "WMT25": common * share,
        "MPP": common * share * smaller,
    }[measure]
    earned = [credit / length if measure == "MPP" else credit for length in lengths]
    likeness = 2 * common / (lengths[0] + lengths[1]) * share * smaller
    kept = credit > 0
    return Pairs(
        rows[kept], beside[kept], predicted.output[rows[kept]], earned[0][kept], earned[1][kept], likeness[kept]
    )


def _covered(
    predicted: Spans,
    gold: Spans,
    n_outputs: int,
    measure: SpanMeasure,
    penalty: float,
    weights: Mapping[str, float] | None,
) -> list[np.ndarray]:
    """Numerators where a span may match any number of others."""
    texts = stretches(predicted, gold)
    both = (predicted, gold)
    if measure == "MP":
        credits = []
        for which, spans in enumerate(both):
            other = texts.covered[:, 1 - which, :] > 0
            touched = np.column_stack([texts.over_spans(other[:, severity], which) > 0 for severity in (0, 1)])
            own = touched[np.arange(len(spans.start)), spans.is_major.astype(int)]
            credits.append(np.where(own, 1.0, touched.any(axis=1) * (1.0 - penalty)))
        return _added(both, credits, n_outputs)
    of_severity = np.array([1.0, 1.0] if weights is None else [weights["minor"], weights["major"]])
    exact, crossed = matched(texts.covered * of_severity)
    if measure == "WMT25":
        common = (exact.sum(axis=1) + (1.0 - penalty) * crossed.sum(axis=1)) * texts.length
        total = np.bincount(texts.output, weights=common, minlength=n_outputs)
        return [total, total]
    credits = []
    for which, spans in enumerate(both):
        earned = exact + (1.0 - penalty) * (crossed if which == 0 else crossed[:, ::-1])
        n_marks = texts.covered[:, which, :]
        shares = np.divide(earned, n_marks, out=np.zeros(earned.shape), where=n_marks > 0)
        by_severity = [texts.over_spans(shares[:, severity], which) for severity in (0, 1)]
        credits.append(np.where(spans.is_major, by_severity[1], by_severity[0]) / spans.length)
    return _added(both, credits, n_outputs)


def _added(both: tuple[Spans, Spans], credits: list[np.ndarray], n_outputs: int) -> list[np.ndarray]:
    return [
        np.bincount(spans.output, weights=credit, minlength=n_outputs)
        for spans, credit in zip(both, credits, strict=True)
    ]
