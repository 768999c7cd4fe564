"""How much metrics agree with each other: the correlation of every metric with every other."""

import math
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import polars as pl

from metaeval import kernels
from metaeval.measures.judged import labels
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options
from metaeval.measures.system_scores import asked_scores
from metaeval.results.answer import Result, table_notes, table_parts
from metaeval.results.inputs import Inputs, metric_place, no_metric, where
from metaeval.results.remarks import without_judgement
from queries.blocks import Block
from queries.evalsets import all_humans
from queries.reasons import Exclusion, Reason
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import unknown
from warehouse.wording import counted


def agreement(
    warehouse: Warehouse, asked: Slice, measure: Measure, options: Options, metric: str | None = None
) -> Result:
    """Correlation of each metric with each other one over the (system, segment) pairs, or systems, that humans judged.

    measure: pearson, spearman or kendall, at system level or by groups; groups where one of the two is constant are
    dropped from the mean. Without a human score (none is loaded, or none is official and none named) over all that
    metrics scored; notes say so. Missing values are null.
    Columns: metric, and one for each metric, sorted by name. Of one metric: metric and correlation, the highest first.
    Raises QuestionError: another measure; no metric; the one metric is unknown or excluded; see `select`.
    """
    statistic = measure.correlation
    if statistic is None:
        raise QuestionError(f"metrics are compared by pearson, spearman or kendall, not by {measure}")
    whole = Inputs(warehouse, asked, options.round_human, human="optional").block(measure)
    if measure.level == "sys":
        source = options.system_score or "submitted"
        scores = asked_scores(whole, options.system_score).metrics
        has_all = ~np.asarray(np.isnan(scores).any(axis=1))
        block, scores = whole.take(metrics=has_all), scores[has_all][:, :, np.newaxis]
        excluded = {
            metric.name: Exclusion(Reason.NO_SYSTEM_SCORES)
            for metric, has in zip(whole.metrics, has_all, strict=True)
            if not has
        }
        groups = np.zeros(scores.shape[1:], dtype=np.int64)
    else:
        source = None
        block, excluded = whole.take(metrics=whole.with_segments), whole.excluded
        scores = np.where(block.judged, block.scores, 0.0)
        groups = np.where(block.judged, labels(block, measure["by"]), -1)
    if not block.metrics:
        raise no_metric(whole.selection, excluded, needs_segments=measure.level != "sys")
    matrix = kernels.correlation_matrix(scores, groups, statistic)
    names = [metric.name for metric in block.metrics]
    columns = {name: pl.Series(column).fill_nan(None) for name, column in zip(names, matrix.T, strict=True)}
    parts = table_parts(("matrix", measure), block, ("system_score", source))
    notes = table_notes(block, excluded)
    idle = without_judgement([(one.name, one.base_name) for one in block.metrics], notes)
    frame = pl.DataFrame({"metric": names, **columns})
    facts: dict[str, Any] = {"idle": idle}
    if metric is not None:
        if (place := metric_place(whole, metric)) is None:
            raise unknown("metric", metric, names, where=where(block.selection))
        name = facts["metric"] = whole.metrics[place].name
        if name in excluded:
            raise QuestionError(f"{name} of {where(block.selection)} is excluded: {excluded[name].sentence}")
        frame = frame.select("metric", correlation=name).filter(pl.col("metric") != name)
        frame = frame.sort("correlation", descending=True, nulls_last=True, maintain_order=True)
        parts.insert(1, ("metric", name))
    return Result(frame, parts, notes, facts)


def human_agreement(warehouse: Warehouse, asked: Slice, measure: Measure, options: Options) -> Result:
    """Correlation of each human score with each other one over what both judged, as `agreement` has them of metrics.

    Raises QuestionError: another measure, or fewer than two human scores that the measure can use.
    """
    statistic = measure.correlation
    if statistic is None:
        raise QuestionError(f"human scores are compared by pearson, spearman or kendall, not by {measure}")
    blocks: dict[str, Block] = {}
    notes: list[str] = []
    for human in all_humans(warehouse, asked.testset, asked.lp):
        try:
            block = Inputs(warehouse, replace(asked, human=human), options.round_human).block(measure)
            blocks |= {human: block} if measure.level == "sys" or block.judged.any() else {}
        except QuestionError as error:
            notes.append(f"{human} is excluded: {error.text}")
    if len(blocks) < 2:
        raise QuestionError(f"{asked.testset} {asked.lp} has {counted(len(blocks), 'human score')} to compare, not two")
    matrix = np.full((len(blocks), len(blocks)), np.nan)
    for a, b in combinations_with_replacement(range(len(blocks)), 2):
        one, other = (list(blocks.values())[at] for at in (a, b))
        systems = sorted({*one.systems} & {*other.systems})
        one, other = (block.take(systems=[block.systems.index(name) for name in systems]) for block in (one, other))
        if measure.level == "sys":
            scores = np.array([asked_scores(block, options.system_score).human for block in (one, other)])[:, :, None]
            groups = np.zeros(scores.shape[1:], dtype=np.int64)
        else:
            scores, both = np.array([one.human, other.human]), one.judged & other.judged
            scores, groups = np.where(both, scores, 0.0), np.where(both, labels(one, measure["by"]), -1)
        if (groups >= 0).sum() > 1:
            matrix[a, b] = matrix[b, a] = kernels.correlation_matrix(scores, groups, statistic)[0, 1]
    names = list(blocks)
    columns = {name: pl.Series(column).fill_nan(None) for name, column in zip(names, matrix.T, strict=True)}
    block = next(iter(blocks.values()))
    parts = table_parts(("matrix", measure), block, ("system_score", options.system_score))
    parts = [(key, ",".join(names) if key == "human" else value) for key, value in parts if key != "n_metrics"]
    return Result(pl.DataFrame({"human": names, **columns}), parts, tuple(notes))


def clustered(frame: pl.DataFrame) -> list[str]:
    """Metrics of a frame of `agreement` in an order that puts alike ones side by side.

    Average linkage of 1 − the correlation (0 where it is not defined), leaves in their optimal order.
    """
    names = frame[:, 0].to_list()
    if len(names) < 3:
        return names
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    matrix = np.nan_to_num(frame.drop(frame.columns[0]).to_numpy().astype(np.float64))
    distances = 1.0 - (matrix + matrix.T) / 2.0
    np.fill_diagonal(distances, 0.0)
    condensed = np.round(np.clip(squareform(distances, checks=False), 0.0, None), 12)  # ties stay ties
    tree = optimal_leaf_ordering(linkage(condensed, "average"), condensed)
    return [names[place] for place in leaves_list(tree)]


def extremes(frame: pl.DataFrame) -> pl.DataFrame:
    """For each metric the mean of its correlations with others, and the metrics that agree most and least with it."""
    rows: list[tuple[object, ...]] = []
    for row in frame.iter_rows(named=True):
        name = row.pop(frame.columns[0])
        others = {other: value for other, value in row.items() if other != name and value is not None}
        if not others:
            rows.append((name, None, None, None, None, None))
            continue
        most, least = max(others, key=lambda one: others[one]), min(others, key=lambda one: others[one])
        rows.append((name, most, others[most], least, others[least], math.fsum(others.values()) / len(others)))
    schema = {frame.columns[0]: pl.String, "most like": pl.String, "r": pl.Float64}
    schema |= {"least like": pl.String, " r": pl.Float64, "mean": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").sort("mean", descending=True, nulls_last=True)
