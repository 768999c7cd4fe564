"""Metrics that are made up of scores at hand: a block with arrays in the place of its metrics."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from metaeval.evaluation import evaluate
from metaeval.kernels.arrays.checks import Floats
from metaeval.measures import Measure
from metaeval.options import Options
from queries.blocks import Block
from queries.selection import MetricChoice
from warehouse import QuestionError


def with_metrics(block: Block, names: Sequence[str], scores: Floats) -> Block:
    """The block with other metrics. scores: (M, N, S), for every judged (system, segment) pair."""
    choices = tuple(MetricChoice.made_up(name) for name in names)
    return replace(block, metrics=choices, scores=scores, submitted=np.full(scores.shape[:2], np.nan))


def values_of(block: Block, measure: Measure, options: Options) -> Floats:
    """(M,) the measure of each metric of such a block; NaN where not defined. System scores are means over what is
    judged.

    Raises QuestionError: other system scores are asked for.
    """
    if options.system_score not in (None, "judged-mean"):
        raise QuestionError("noise goes into scores of segments: system scores are means over annotated segments")
    found = evaluate(measure, block, replace(options, system_score="judged-mean"))
    if len(found.metrics) != len(block.metrics):
        raise ValueError("a score is missing where one is judged")
    return found.value
