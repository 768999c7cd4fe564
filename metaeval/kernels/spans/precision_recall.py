"""Precision, recall and F of marked errors."""

from collections.abc import Mapping, Sequence

import numpy as np

from .flat_spans import Span, flat
from .ratios import Average, averaged, rates
from .span_sums import Algorithm, Matching, SpanMeasure, span_sums


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
    """Precision, recall and F of predicted spans against gold ones, one list of spans an output.

    A span is a mapping with start, end (half-open, in characters), side ("target" or "source") and severity ("minor",
    "major" or "critical", which counts as major); spans without a place, empty ones and those of another severity are
    left out. `span_sums` says what measures and parameters are, `precision_recall` what averages are.
    Raises ValueError: lists of different lengths, and what `span_sums` raises.

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

    micro: of sums over all outputs; an empty denominator gives 1. macro: means over outputs, where one without any
    span has 1, 1, 1, one with predictions alone 0, 1, 0, and one with gold spans alone 1, 0, 0. F is 0 where P + R is.
    NaN without outputs.
    """
    if not len(sums):
        return float("nan"), float("nan"), float("nan")
    p, r, f = rates(averaged(sums, average).sum(axis=0), average)
    return float(p), float(r), float(f)
