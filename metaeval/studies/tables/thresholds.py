"""Tie thresholds: the calibrated ε of each metric, the interval that is as good, and the value over all thresholds."""

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from metaeval import kernels
from metaeval.kernels.agreement.pair_counts import standard_deviations
from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.arrays.grouping import Grouping, group_scores
from metaeval.kernels.resampling.prepared import PairStatistic
from metaeval.measures.judged import labels
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options
from metaeval.results.answer import Result, table_notes, table_parts
from metaeval.results.evaluation import evaluate, undefined
from metaeval.results.inputs import Inputs, check_judged, no_metric
from metaeval.results.signature import measure_parts, option_parts
from queries.blocks import Block
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.progress import Progress


def calibrated(measure: Measure) -> PairStatistic:
    """The pair statistic that is calibrated.

    Raises QuestionError: a measure without a calibrated tie threshold.
    """
    if not measure.is_calibrated or measure.pair_statistic is None:
        raise QuestionError(f"{measure} has no tie threshold to calibrate; take acc_eq or tau_eq")
    return measure.pair_statistic


_COLUMNS = (
    "epsilon: the smallest of the best thresholds; all thresholds from epsilon up to epsilon_high (no value: any "
    "higher one) are equally good; epsilon_sd: epsilon in standard deviations of the metric"
)


def thresholds(
    warehouse: Warehouse, asked: Slice, measure: Measure, options: Options, *, progress: Progress | None = None
) -> Result:
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
    return Result(frame, measure_parts(found, used.selection, options), (_COLUMNS, *notes))


def curve(
    warehouse: Warehouse,
    asked: Slice,
    measure: Measure,
    options: Options,
    n_points: int = 100,
    *,
    progress: Progress | None = None,
) -> Result:
    """The value of a calibrated measure over tie thresholds, for plotting.

    n_points: thresholds from 0 to the range of each metric's scores, denser near 0; the best one is among them. A
        metric whose scores are all the same has one.
    Columns: metric, measure, epsilon, value; sorted by metric and epsilon.
    Raises QuestionError: as `thresholds`.
    """
    statistic = calibrated(measure)
    inputs = Inputs(warehouse, asked, options.round_human)
    used = inputs.judged_segments()
    found = evaluate(measure, used, options, progress)
    span = [np.ptp(scores[used.judged]) if used.judged.any() else 0.0 for scores in used.scores]
    best = np.nan_to_num(found.epsilon)
    distinct = [_distinct_thresholds(*one, n_points) for one in zip(span, best, strict=True)]
    # The kernel takes equally many thresholds of each metric: rows are filled up and cut again.
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
    parts = [*measure_parts(found, used.selection, options), ("points", n_points)]
    notes = (*undefined(found, used, options), *table_notes(used, inputs.of_level("seg").excluded))
    return Result(frame, parts, notes)


def _distinct_thresholds(span: float, best: float, n_points: int) -> Floats:
    """This many thresholds from 0 to span, including the best, each once; a single one if all would be equal.

    >>> _distinct_thresholds(16.0, 2.0, 4), _distinct_thresholds(16.0, 0.0, 3), _distinct_thresholds(0.0, 0.0, 3)
    (array([ 0.,  2.,  4., 16.]), array([ 0.,  4., 16.]), array([0.]))
    """
    fewer, more = (np.unique([*span * np.linspace(0, 1, n) ** 2, best]) for n in (n_points - 1, n_points))
    return more if more.size <= n_points else fewer


_GROUPINGS: tuple[Grouping, ...] = ("none", "item", "system")


def ties(warehouse: Warehouse, asked: Slice, round_human: int | None = None) -> Result:
    """Tied pairs of the human score and of every metric, by no grouping, by item and by system.

    Columns: kind (human or metric), scorer, by, n_scores (judged), n_groups, n_pairs, n_tied, share_tied, n_tied_zero
    (pairs tied at a score of exactly 0; null for metrics), share_tied_zero, n_tied_both (tied by humans and by the
    metric; null for humans). Rows: the human score first, then metrics by name; without any, the human score alone.
    Raises QuestionError: see `select`; the human score has no segment scores.
    Source: Deutsch et al. 2023, tables 3, 4 and 9.
    """
    whole = Inputs(warehouse, asked, round_human).of_level("seg")
    check_judged(whole)
    block = whole.take(metrics=whole.with_segments)
    notes = table_notes(block, whole.excluded)
    if not block.metrics:
        notes = (str(no_metric(whole.selection, whole.excluded)), *notes)
    parts = table_parts(("table", "ties"), block, *option_parts(Options(round_human=round_human)))
    names = ("n_scores", "n_groups", "n_pairs", "n_tied", "share_tied", "n_tied_zero", "share_tied_zero")
    schema: dict[str, Any] = dict.fromkeys(("kind", "scorer", "by"), pl.String)
    schema |= {name: pl.Float64 if name.startswith("share_") else pl.Int64 for name in (*names, "n_tied_both")}
    rows = [row for by in _GROUPINGS for row in _rows(block, by)]
    frame = pl.DataFrame(rows, schema=schema, orient="row").sort("kind", "scorer", maintain_order=True)
    return Result(frame, parts, notes)


def _rows(block: Block, by: Grouping) -> list[dict[str, Any]]:
    group_labels = labels(block, by)
    of_human = kernels.pair_counts(block.human, block.human[np.newaxis], group_labels)
    n_pairs = int(of_human.n_pairs.sum())
    n_tied_zero = _pairs_at_zero(block, group_labels)
    common = {"by": by, "n_scores": int(block.judged.sum()), "n_groups": len(of_human.n_scores), "n_pairs": n_pairs}
    n_tied = int(of_human.n_tied_both.sum())
    rows: list[dict[str, Any]] = [
        {
            "kind": "human",
            "scorer": block.selection.human,
            **common,
            "n_tied": n_tied,
            "share_tied": _share(n_tied, n_pairs),
            "n_tied_zero": n_tied_zero,
            "share_tied_zero": _share(n_tied_zero, n_pairs),
        }
    ]
    if not block.metrics:
        return rows
    counts = kernels.pair_counts(block.human, block.scores, group_labels)
    both = counts.n_tied_both.sum(axis=1)
    metric_tied = both + counts.n_tied_metric.sum(axis=1)
    for metric, tied, tied_both in zip(block.metrics, metric_tied.tolist(), both.tolist(), strict=True):
        rows.append(
            {
                "kind": "metric",
                "scorer": metric.name,
                **common,
                "n_tied": tied,
                "share_tied": _share(tied, n_pairs),
                "n_tied_both": tied_both,
            }
        )
    return rows


def _pairs_at_zero(block: Block, group_labels: npt.NDArray[np.int64]) -> int:
    _, n = np.unique(group_labels[block.human == 0], return_counts=True)
    return int((n * (n - 1) // 2).sum())


def _share(n: int, n_pairs: int) -> float | None:
    return n / n_pairs if n_pairs else None
