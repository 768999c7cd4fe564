"""Tie thresholds: the calibrated ε of each metric, the interval that is as good, and the value over all thresholds."""

from functools import partial

import numpy as np
import polars as pl

from metaeval import kernels
from metaeval.answer import Table, table_notes
from metaeval.evaluation import evaluate, undefined
from metaeval.inputs import Inputs
from metaeval.kernels.agreement.pair_counts import standard_deviations
from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.arrays.grouping import group_scores
from metaeval.kernels.resampling.pair_outcomes import PairStatistic
from metaeval.measures import Measure
from metaeval.measures.judged import labels
from metaeval.options import Options
from metaeval.signature import line, signature
from queries.selection import Slice
from warehouse import QuestionError, Warehouse
from warehouse.progress import Progress


def calibrated(measure: Measure) -> PairStatistic:
    """What is calibrated.

    Raises QuestionError: a measure without a calibrated tie threshold.
    """
    if not measure.is_calibrated or measure.pair_statistic is None:
        raise QuestionError(f"{measure} has no tie threshold to calibrate; take acc_eq or tau_eq")
    return measure.pair_statistic


_COLUMNS = (
    "epsilon: the smallest of the best thresholds; below epsilon_high (no value: at all above) it is as good; "
    "epsilon_sd: epsilon in standard deviations of the metric"
)


def thresholds(
    warehouse: Warehouse, asked: Slice, measure: Measure, options: Options, *, progress: Progress | None = None
) -> Table:
    """Calibrated tie thresholds.

    Columns: metric, measure, value (at the threshold), value_at_zero, epsilon (the smallest best threshold),
    epsilon_high (all thresholds from epsilon up to, but not at, this one are as good; null: all above), epsilon_sd
    (epsilon in standard deviations of the metric over what is judged); best first.
    Raises QuestionError: a measure without a calibrated threshold; see `Inputs.judged_segments`.
    """
    statistic = calibrated(measure)
    inputs = Inputs(warehouse, asked, options.round_human)
    used = inputs.judged_segments()
    found = evaluate(measure, used, options, progress)
    at_zero = kernels.calibration_curve(used.human, used.scores, labels(used, measure["by"]), [0.0], statistic)
    spread = standard_deviations(group_scores(used.human, used.scores, labels(used, measure["by"])))
    frame = pl.DataFrame(
        {
            "metric": [metric.name for metric in found.metrics],
            "measure": [str(measure)] * len(found.metrics),
            "value": found.value,
            "value_at_zero": at_zero[:, 0],
            "epsilon": found.epsilon,
            "epsilon_high": found.epsilon_high,
            "epsilon_sd": np.divide(found.epsilon, spread, out=np.zeros(len(spread)), where=spread > 0),
        }
    ).sort("value", "metric", descending=[True, False], nulls_last=True)
    frame = frame.with_columns(
        pl.when(pl.col("epsilon_high").is_finite()).then(pl.col("epsilon_high")).alias("epsilon_high")
    )
    notes = (*undefined(found, used, options), *table_notes(used, inputs.of_level("seg").excluded))
    return Table(frame, signature(found, used.selection, options), (_COLUMNS, *notes))


def curve(
    warehouse: Warehouse,
    asked: Slice,
    measure: Measure,
    options: Options,
    n_points: int = 100,
    *,
    progress: Progress | None = None,
) -> Table:
    """The value of a calibrated measure over tie thresholds, for plotting.

    n_points: thresholds from 0 to the range of each metric's scores, denser near 0; the best one is among them. A
        metric whose scores are all the same has one.
    Columns: metric, measure, epsilon, value; sorted by metric and epsilon.
    Raises QuestionError: as `thresholds`; fewer than 2 points.
    """
    statistic = calibrated(measure)
    if n_points < 2:
        raise QuestionError(f"a curve needs 2 points or more, got {n_points}")
    inputs = Inputs(warehouse, asked, options.round_human)
    used = inputs.judged_segments()
    found = evaluate(measure, used, options, progress)
    span = [np.ptp(scores[used.judged]) if used.judged.any() else 0.0 for scores in used.scores]
    best = np.nan_to_num(found.epsilon)
    distinct = [_distinct_thresholds(*one, n_points) for one in zip(span, best, strict=True)]
    thresholds = np.array([np.pad(one, (0, n_points - one.size), mode="edge") for one in distinct])
    advance = None if progress is None else partial(progress, f"{measure} at {n_points} thresholds a metric")
    values = kernels.calibration_curve(
        used.human, used.scores, labels(used, measure["by"]), thresholds, statistic, advance
    )
    sizes, epsilon = [one.size for one in distinct], np.concatenate(distinct)
    frame = pl.DataFrame(
        {
            "metric": np.repeat([metric.name for metric in found.metrics], sizes).tolist(),
            "measure": [str(measure)] * epsilon.size,
            "epsilon": epsilon,
            "value": np.concatenate([row[:n] for row, n in zip(values, sizes, strict=True)]),
        }
    )
    described = f"{signature(found, used.selection, options)}|{line([('points', n_points)])}"
    notes = (*undefined(found, used, options), *table_notes(used, inputs.of_level("seg").excluded))
    return Table(frame, described, notes)


def _distinct_thresholds(span: float, best: float, n_points: int) -> Floats:
    """So many thresholds from 0 to span, the best among them, each once; where all would be equal, one.

    >>> _distinct_thresholds(16.0, 2.0, 4), _distinct_thresholds(16.0, 0.0, 3), _distinct_thresholds(0.0, 0.0, 3)
    (array([ 0.,  2.,  4., 16.]), array([ 0.,  4., 16.]), array([0.]))
    """
    fewer, more = (np.unique([*span * np.linspace(0, 1, n) ** 2, best]) for n in (n_points - 1, n_points))
    return more if more.size <= n_points else fewer
