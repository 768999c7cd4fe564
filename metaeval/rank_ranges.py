"""How sure each metric's rank is: the range of its ranks over resamples."""

from dataclasses import replace

import numpy as np
import polars as pl

from metaeval.intervals import resamples
from metaeval.kernels.arrays.checks import Ints
from metaeval.kernels.resampling.rank_ranges import rank_ranges
from metaeval.options import Options
from metaeval.ranking import Read
from metaeval.study import Result
from metaeval.table import Table
from warehouse import QuestionError
from warehouse.progress import Progress
from warehouse.wording import counted

_STREAM = 13  # of the seed


def metric_ranges(
    result: Result, options: Options, n_draws: int, progress: Progress | None = None
) -> tuple[Ints, Ints, str]:
    """Best and worst rank of each metric of a result over resamples, 0 for none, and how they were made, or why not.

    All metrics are on the same resamples: of segments where all have means over annotated ones or the measure is of
    segments, else of systems. Tie thresholds are kept. SPA takes the normal approximation.
    """
    evaluation = result.evaluation
    names = {metric.name for metric in evaluation.metrics}
    none = np.zeros(len(names), dtype=np.int64)
    if not names:
        return none, none, f"{evaluation.measure}: no ranges, no metric has what it needs"
    measure = evaluation.measure if evaluation.measure.n_draws is None else evaluation.measure.in_simulations
    block = result.block.only([metric.name in names for metric in result.block.metrics])
    by_means = all(source == "judged-mean" for source in evaluation.system_score)
    options = replace(options, system_score="judged-mean") if by_means else options
    try:
        by_systems = None if by_means else measure.resampled_systems(block, options)
        drawn = resamples(measure, block, options, by_systems, _STREAM, n_draws, "ranges", progress)
    except (QuestionError, ValueError) as error:
        return none, none, f"{evaluation.measure}: no ranges, {getattr(error, 'text', error)}"
    what = "systems" if by_systems is not None else "segments"
    by = "" if measure == evaluation.measure else f" by {measure}"
    how = f"{evaluation.measure}: 95% rank ranges for new {what}{by} ({counted(n_draws, 'resample')})"
    return *rank_ranges(drawn.draws), how


def with_ranges(
    ranking: Table, found: Read, options: Options, n_draws: int, progress: Progress | None = None
) -> tuple[Table, list[str]]:
    """A ranking with columns rank_low and rank_high behind the rank, and a line on the ranges of each measure.

    ranking: as of `ranked`. Its signatures say how the ranges were made.
    """
    rows: list[tuple[object, ...]] = []
    lines = []
    for asked, study in found.studies.items():
        for result in study.results:
            low, high, how = metric_ranges(result, options, n_draws, progress)
            lines.append(f"{asked.testset} {asked.lp}: {how}" if len(found.studies) > 1 else how)
            key = (asked.testset, asked.lp, str(result.evaluation.measure))
            ranges = zip(result.evaluation.metrics, low.tolist(), high.tolist(), strict=True)
            rows += [(*key, metric.name, best or None, worst or None) for metric, best, worst in ranges]
    keys = ["testset", "lp", "measure", "metric"]
    schema = {**dict.fromkeys(keys, pl.String), "rank_low": pl.Int64, "rank_high": pl.Int64}
    known = pl.DataFrame(rows, schema=schema, orient="row")
    columns = list(ranking.frame.columns)
    place = columns.index("rank") + 1
    made = f"|rank_range:95%,percentile,resamples={n_draws},seed={options.seed}"
    frame = ranking.frame.join(known, on=keys, how="left", maintain_order="left")
    has = pl.col("rank_low").is_not_null()
    frame = frame.with_columns(signature=pl.col("signature") + pl.when(has).then(pl.lit(made)).otherwise(pl.lit("")))
    frame = frame.select(*columns[:place], "rank_low", "rank_high", *columns[place:])
    signature = "\n".join(one + made for one in ranking.signature.splitlines())
    return replace(ranking, frame=frame, signature=signature), lines
