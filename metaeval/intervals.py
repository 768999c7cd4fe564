"""How sure each value of a ranking is: its 95% interval, from resamples or from what the measure knows of itself."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from metaeval.evaluation import Options, evaluate
from metaeval.kernels.resampling.bootstrap import bootstrap
from metaeval.ranking import Read
from metaeval.study import Result
from warehouse import QuestionError
from warehouse.progress import Progress

if TYPE_CHECKING:
    import polars as pl

Floats = npt.NDArray[np.float64]
CONFIDENCE = 0.95
_NORMAL = 1.959963984540054  # the 97.5% quantile
_STREAM = 7  # of the seed: resamples of their own, which no test shares


@dataclass(frozen=True)
class Intervals:
    """low, high: (M,) ends of each metric's interval, NaN = none. words: how they were made, or why not."""

    low: Floats
    high: Floats
    words: str


def intervals(result: Result, options: Options, n_draws: int, progress: Progress | None = None) -> Intervals:
    """Intervals of the values of a result, in the order of its metrics.

    System scores that are not means over judged segments are resampled by systems; everything else by segments, with
    tie thresholds kept. A
    measure that takes minutes to resample has none, unless it knows its standard error without.
    """
    evaluation = result.evaluation
    measure, n = evaluation.measure, len(evaluation.metrics)
    names = {metric.name for metric in evaluation.metrics}
    block = result.block.only([metric.name in names for metric in result.block.metrics])

    def none(reason: str) -> Intervals:
        return Intervals(np.full(n, np.nan), np.full(n, np.nan), f"{measure}: no intervals, {reason}")

    if not n or np.isnan(evaluation.value).all():
        return none("no value is defined")
    errors = measure.standard_errors(block, options)
    if errors is not None:
        reach = _NORMAL * errors
        words = f"{measure}: {CONFIDENCE:.0%} intervals for new segments (normal, infinitesimal jackknife)"
        return Intervals(evaluation.value - reach, evaluation.value + reach, words)
    try:
        by_systems = None if options.system_score == "judged-mean" else measure.resampled_systems(block, options)
        if by_systems is None and not measure.is_quick_to_resample:
            return none("resampling it takes minutes")
        epsilon = evaluate(measure, block, options).epsilon if measure.is_calibrated else None
        statistic = by_systems or measure.resampled(block, options, epsilon)
        drawn = bootstrap(
            statistic,
            "systems" if by_systems is not None else "inputs",
            rng=np.random.default_rng([options.seed, _STREAM]),
            n_draws=n_draws,
            progress=None if progress is None else lambda done, total: progress(f"{measure} intervals", done, total),
        )
    except (QuestionError, ValueError) as error:
        return none(str(error).removeprefix(f"measure {str(measure)!r}: "))
    ends = [drawn.interval(place, CONFIDENCE, measure.interval) for place in range(n)]
    what = "systems" if by_systems is not None else "segments"
    words = f"{measure}: {CONFIDENCE:.0%} intervals for new {what} ({measure.interval}, {n_draws} resamples)"
    return Intervals(np.array([one.low for one in ends]), np.array([one.high for one in ends]), words)


def with_intervals(
    frame: "pl.DataFrame", found: Read, options: Options, n_draws: int, progress: Progress | None = None
) -> "tuple[pl.DataFrame, list[str]]":
    """A ranking with columns low and high behind the value, and a line on the intervals of each measure."""
    import polars as pl

    rows: list[tuple[object, ...]] = []
    lines = []
    several = len(found.studies) > 1
    for asked, study in found.studies.items():
        for result in study.results:
            ends = intervals(result, options, n_draws, progress)
            lines.append(f"{asked.testset} {asked.lp}: {ends.words}" if several else ends.words)
            key = (asked.testset, asked.lp, str(result.evaluation.measure))
            rows += [
                (*key, metric.name, low, high)
                for metric, low, high in zip(result.evaluation.metrics, ends.low, ends.high, strict=True)
            ]
    keys = ["testset", "lp", "measure", "metric"]
    schema = {**dict.fromkeys(keys, pl.String), "low": pl.Float64, "high": pl.Float64}
    known = pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col("low", "high").fill_nan(None))
    columns = list(frame.columns)
    place = columns.index("value") + 1
    joined = frame.join(known, on=keys, how="left", maintain_order="left")
    return joined.select(*columns[:place], "low", "high", *columns[place:]), lines
