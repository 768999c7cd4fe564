"""Whether human scores differ where a measure compares them: where they do not, it has nothing to agree with."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from metaeval.evaluation import Evaluation
from metaeval.measures import Measure
from metaeval.measures.judged import labels
from metaeval.options import Options
from queries.blocks import Block

_GROUPS: Mapping[str, str] = MappingProxyType(
    {"item": " of a segment", "system": " of a system", "doc": " of a document", "domain": " of a domain", "none": ""}
)


def without_variation(measure: Measure, block: Block, options: Options) -> str | None:
    """Why people leave a measure nothing to agree with; None where some of the scores that it compares differ.

    Measures of submitted or mean system scores compare systems, all others the outputs of each of their groups.
    """
    if measure.definition.needs_segments:
        return measure.without_variation(block) or without_pairs(block, measure.groups)
    scores = measure.scores(block, options).human
    scores = scores[~np.isnan(scores)]
    if scores.size < 2:
        few = "scores of one system alone" if scores.size else "no system or segment scores"
        return f"{block.selection.human} has {few}"
    return f"{block.selection.human} gives all systems the same score" if scores.min() == scores.max() else None


def without_pairs(block: Block, by: str) -> str | None:
    """Why no two outputs of a group have different human scores; None where some have. by: as of a measure."""
    groups, scores = labels(block, by)[block.judged], block.human[block.judged]
    outputs = f"outputs{_GROUPS[by]}"
    size = np.bincount(groups)
    if not (size > 1).any():
        return f"{block.selection.human} has scores of no two {outputs}"
    low, high = np.full(size.size, np.inf), np.full(size.size, -np.inf)
    np.minimum.at(low, groups, scores)
    np.maximum.at(high, groups, scores)
    return f"{block.selection.human} gives all {outputs} the same score" if (low >= high)[size > 0].all() else None


def lines_on(measures: Sequence[Measure], block: Block, options: Options) -> list[str]:
    """A line for each measure that people leave nothing to agree with."""
    found = {measure: without_variation(measure, block, options) for measure in measures}
    return [f"{measure}: {why}" for measure, why in found.items() if why is not None]


def undefined(evaluation: Evaluation, block: Block, options: Options) -> list[str]:
    """A line on metrics without a value, or on values that stand on ties alone, with the reason that people give."""
    measure, is_nan = evaluation.measure, np.isnan(evaluation.value)
    why = without_variation(measure, block, options)
    if is_nan.all():
        why = why or "; ".join(f"{name} {reason}" for name, reason in evaluation.why.items())
        return [f"{measure}: not defined, {why}" if why else f"{measure}: not defined for any metric"]
    if why is not None:
        return [f"{measure}: {why}, so that only ties count"]
    reasons: dict[str, list[str]] = {}
    for metric, there in zip(evaluation.metrics, is_nan, strict=True):
        if there:
            reasons.setdefault(evaluation.why.get(metric.name, ""), []).append(metric.name)
    return [
        f"{measure}: not defined for {', '.join(names)}" + (f" ({reason})" if reason else "")
        for reason, names in reasons.items()
    ]
