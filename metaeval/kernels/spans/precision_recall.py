"""Precision, recall and F of marked errors: credit of spans in each output, and the ratios of the sums."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from metaeval.kernels.arrays.checks import Floats, ratio
from metaeval.kernels.spans.matching import Pairs, Span, Spans, best_sums, flat, greedy, matched, overlapping, stretches

Average = Literal["micro", "macro"]


def averaged(sums: Floats, average: Average) -> Floats:
    """Quantities to add up over outputs, (..., 4): the sums, or for macro each output's precision, recall, F and 1.

    Macro: an output without spans has 1, 1, 1; an output with only predictions 0, 1, 0; with only gold spans 1, 0, 0.
    """
    if average == "micro":
        return sums
    p, r, f = rates(sums, "micro")
    return np.stack([p, r, f, np.ones(p.shape)], axis=-1)


def rates(totals: Floats, average: Average) -> tuple[Floats, Floats, Floats]:
    """Precision, recall and F of (..., 4) totals of `averaged`.

    An empty denominator gives 1; F is 0 if precision and recall are both 0. Macro: NaN without outputs.
    """
    if average == "macro":
        p, r, f = (ratio(totals[..., at], totals[..., 3]) for at in range(3))
        return p, r, f
    p, r = (
        np.divide(totals[..., at], totals[..., at + 1], out=np.ones(totals.shape[:-1]), where=totals[..., at + 1] > 0)
        for at in (0, 2)
    )
    return p, r, np.divide(2 * p * r, p + r, out=np.zeros(p.shape), where=p + r > 0)


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

    EM counts spans with the same bounds, MP spans that overlap, MPP the share of a span that overlaps, and WMT25
    characters; with matching sets each character counts once, however many spans cover it. severity_penalty: loss, from
    0 to 1, for a match of different severities. severity_weights: weights of "minor" and "major" (MPP without a
    penalty); a match counts with the smaller weight.
    Source: Perrella et al. 2026; WMT25 shared task on automated translation evaluation, task 2; Blain et al. 2023.
    Raises ValueError: weights with a measure other than MPP or with a penalty; sets with a measure other than WMT25;
        too many overlapping spans in one output.
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
    """`span_sums` if each character counts once: a character marked with both severities is right with either."""
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
    """Numerators if a span may match any number of other spans."""
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


def span_precision_recall(
    predictions: Sequence[Sequence[Span]],
    gold: Sequence[Sequence[Span]],
    measure: SpanMeasure = "MPP",
    matching: Matching = "one_to_one",
    algorithm: Algorithm = "optimal",
    average: Average = "micro",
    severity_penalty: float = 0.0,
    severity_weights: Mapping[str, float] | None = None,
) -> tuple[float, float, float]:
    """Precision, recall and F of predicted spans against gold spans, one list of spans per output.

    A span is a mapping with start, end (half-open, in characters), side ("target" or "source") and severity ("minor",
    "major" or "critical", which counts as major); spans without a position, empty spans and spans of any other severity
    are excluded. `span_sums` describes the measures and parameters, `precision_recall` the averages.
    Raises ValueError: lists of different lengths, or any error of `span_sums`.

    >>> found = [[{"start": 0, "end": 4, "side": "target", "severity": "minor"}]]
    >>> marked = [[{"start": 2, "end": 4, "side": "target", "severity": "major"}]]
    >>> span_precision_recall(found, marked)[:2], span_precision_recall(found, marked, severity_penalty=0.5)[:2]
    ((0.5, 1.0), (0.25, 0.5))
    """
    if len(predictions) != len(gold):
        raise ValueError(f"predictions of {len(predictions)} outputs and gold spans of {len(gold)}")
    flat_predictions, flat_gold = flat(predictions), flat(gold)
    sums = span_sums(
        flat_predictions, flat_gold, len(gold), measure, matching, algorithm, severity_penalty, severity_weights
    )
    return precision_recall(sums, average)


def precision_recall(sums: np.ndarray, average: Average = "micro") -> tuple[float, float, float]:
    """Precision, recall and F of the sums of outputs.

    micro: from sums over all outputs; an empty denominator gives 1. macro: means over outputs; an output without spans
    has 1, 1, 1, an output with only predictions 0, 1, 0, and an output with only gold spans 1, 0, 0. F is 0 if P + R is
    0. NaN without outputs.
    """
    if not len(sums):
        return float("nan"), float("nan"), float("nan")
    p, r, f = rates(averaged(sums, average).sum(axis=0), average)
    return float(p), float(r), float(f)
