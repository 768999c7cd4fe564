"""The uncertainty of values and ranks: intervals and rank ranges over resamples."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.bootstrap import Bootstrap, bootstrap
from metaeval.kernels.resampling.difference_tests import reach_of
from metaeval.kernels.resampling.prepared import ResampleStatistic
from metaeval.kernels.resampling.rank_ranges import rank_ranges
from metaeval.kernels.resampling.system_intervals import LEAST_FOR_INTERVAL
from metaeval.measures.applicable import TOO_NARROW
from metaeval.measures.judged import Units
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options, TestUnit
from metaeval.results.answer import Result
from metaeval.results.evaluation import evaluate
from metaeval.results.signature import Part, interval_in_words, line
from metaeval.results.study import SliceResult
from metaeval.studies.ranking.rankings import RankingInputs
from queries.blocks import Block
from warehouse import QuestionError
from warehouse.progress import Progress
from warehouse.wording import are, counted

CONFIDENCE = 0.95
LEAST_TOO_NARROW = 12  # systems: over fewer the intervals are wide enough
_STREAM = 7  # of the seed: resamples of their own, which no test shares


@dataclass(frozen=True)
class Intervals:
    """low, high: (M,) ends of each metric's interval, NaN = none. words: how they were computed, or why not.

    signed: M texts: how each metric's interval was computed, as in a signature; empty if there is none.
    """

    low: Floats
    high: Floats
    words: str
    signed: tuple[str, ...]


def intervals(
    result: SliceResult, options: Options, n_draws: int, progress: Progress | None = None, unit: TestUnit | None = None
) -> Intervals:
    """Intervals of the values of a result, in the order of its metrics.

    Metrics whose system scores are not means over judged segments have intervals over systems; everything else is
    resampled by segments, documents or annotators (unit: see `Measure.units`), with tie thresholds kept. A measure that
    takes minutes to resample has none, unless it has a standard error of its own. A value that no resample changes has
    none either.
    Raises QuestionError: see `Measure.units`.
    """
    evaluation = result.evaluation
    measure, n = evaluation.measure, len(evaluation.metrics)
    low, high = np.full(n, np.nan), np.full(n, np.nan)
    if not n or np.isnan(evaluation.value).all():
        return Intervals(low, high, f"{measure}: there are no intervals, because no value is defined", ("",) * n)
    by_means = np.array([source == "judged-mean" for source in evaluation.system_score])
    words, signed = [], [""] * n
    for chosen in (~by_means, by_means):
        if not chosen.any():
            continue
        names = {metric.name for metric, of in zip(evaluation.metrics, chosen, strict=True) if of}
        block = result.block.take(metrics=[metric.name in names for metric in result.block.metrics])
        own = replace(options, system_score="judged-mean") if chosen is by_means else options
        low[chosen], high[chosen], how, sign = _ends(measure, block, own, n_draws, unit, progress)
        signed = [sign if of else before for before, of in zip(signed, chosen, strict=True)]
        words.append(how if chosen.all() else f"{how}, {int(chosen.sum())} of the metrics")
        alike = chosen & np.isnan(low) & ~np.isnan(evaluation.value)
        if sign and alike.any():
            words.append(
                f"{counted(n := int(alike.sum()), 'metric')} {are(n, have=True)} "
                "no interval, because no resample changes the value"
            )
            signed = ["" if is_alike else one for one, is_alike in zip(signed, alike, strict=True)]
    low, high = (np.where(np.isnan(evaluation.value), np.nan, ends) for ends in (low, high))
    return Intervals(*within_range(measure, low, high), f"{measure}: {'; '.join(words)}", tuple(signed))


def _ends(
    measure: Measure, block: Block, options: Options, n_draws: int, unit: TestUnit | None, progress: Progress | None
) -> tuple[Floats, Floats, str, str]:
    """Ends of the intervals of the block's metrics, how they were computed or why not, and the same for signatures."""
    none = np.full(len(block.metrics), np.nan)
    try:
        by_systems = None if options.system_score == "judged-mean" else measure.interval_over_systems(block, options)
        if by_systems is not None:
            n = int(np.count_nonzero(~np.isnan(measure.scores(block, options).human)))
            if n < LEAST_FOR_INTERVAL:
                least = f"with fewer than {LEAST_FOR_INTERVAL} an interval contains nearly any value"
                few = f"there are no intervals of {counted(n, 'system')}: {least}"
                return none, none, few, ""
            how = f"{CONFIDENCE:.0%} intervals of the value over all such systems (Fisher's z, jackknife, t({n - 1}))"
            if measure.is_sensitive and n >= LEAST_TOO_NARROW:
                how += f", {TOO_NARROW}: .87 to .94 of them then contain the value"
            return *by_systems, how, interval_in_words(CONFIDENCE, "fisher_z", "systems", None, options.seed)
        units = measure.units(block, unit)
        by_unit = f"for new {units.unit}s"
        of_unit = f",unit={units.unit},n_units={units.n}"
        errors = measure.standard_errors(block, options, units)
        if errors is not None:
            value, reach = evaluate(measure, block, options).value, reach_of(errors, units.df)
            how = f"{CONFIDENCE:.0%} intervals {by_unit} (normal, {measure.known_by}, {units.words})"
            signed = interval_in_words(CONFIDENCE, measure.known_by.replace(" ", "_"), "inputs", None, options.seed)
            return value - reach, value + reach, how, signed + of_unit
        if not measure.is_quick_to_resample:
            return none, none, "there are no intervals, because resampling takes minutes", ""
        drawn = resamples(measure, block, options, None, units, _STREAM, n_draws, "intervals", progress)
    except QuestionError as error:
        why = error.reason if error.about else error.text  # words name the measure
        return none, none, f"there are no intervals: {why}", ""
    except ValueError as error:
        return none, none, f"there are no intervals: {error}", ""
    ends = [drawn.interval(place, CONFIDENCE, measure.interval, units.df) for place in range(len(block.metrics))]
    how = f"{CONFIDENCE:.0%} intervals {by_unit} ({measure.interval}, {counted(n_draws, 'resample')} {units.words})"
    signed = interval_in_words(CONFIDENCE, measure.interval, "inputs", n_draws, options.seed) + of_unit
    return np.array([one.low for one in ends]), np.array([one.high for one in ends]), how, signed


def resamples(
    measure: Measure,
    block: Block,
    options: Options,
    by_systems: ResampleStatistic | None,
    units: Units,
    stream: int,
    n_draws: int,
    what: str,
    progress: Progress | None,
) -> Bootstrap:
    """Values of a block's metrics over resamples: of systems if the measure can, else of units; ties kept.

    stream: of the seed. what: is made of them, for progress.
    Raises QuestionError, ValueError: they cannot be resampled.
    """
    epsilon = evaluate(measure, block, options).epsilon if measure.is_calibrated else None
    return bootstrap(
        by_systems or units.resampled(measure.as_resampled(units).resampled(block, options, epsilon)),
        "systems" if by_systems is not None else "inputs",
        rng=np.random.default_rng([options.seed, stream]),
        n_draws=n_draws,
        progress=None if progress is None else lambda done, total: progress(f"{measure} {what}", done, total),
    )


def within_range(measure: Measure, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Ends cut to the measure's range, as no value lies beyond."""
    least, most = measure.definition.limits
    return np.maximum(low, least), np.minimum(high, most)


def _with_columns(
    ranking: Result,
    inputs: RankingInputs,
    behind: str,
    schema: Mapping[str, Any],
    ends: Sequence[Sequence[tuple[Iterable[Sequence[object]], str]]],
) -> tuple[pl.DataFrame, list[str]]:
    """The rows of a ranking with columns inserted after one of them, and a line on those of each measure.

    ends: of each evaluation set and result, the new values of each metric, in its order, and how they were made.
    """
    rows: list[tuple[object, ...]] = []
    lines = []
    for (asked, study), of_study in zip(inputs.studies.items(), ends, strict=True):
        for result, (values, how) in zip(study.results, of_study, strict=True):
            lines.append(f"{asked.testset} {asked.lp}: {how}" if len(inputs.studies) > 1 else how)
            key = (asked.testset, asked.lp, str(result.evaluation.measure))
            rows += [(*key, metric.name, *one) for metric, one in zip(result.evaluation.metrics, values, strict=True)]
    keys = ["testset", "lp", "measure", "metric"]
    known = pl.DataFrame(rows, schema={**dict.fromkeys(keys, pl.String), **schema}, orient="row")
    columns = ranking.frame.columns
    place = columns.index(behind) + 1
    joined = ranking.frame.join(known, on=keys, how="left", maintain_order="left")
    return joined.select(*columns[:place], *schema, *columns[place:]), lines


def with_intervals(
    ranking: Result, inputs: RankingInputs, ends: Sequence[Sequence[Intervals]]
) -> tuple[Result, list[str]]:
    """A ranking with columns low and high after the value, and a line on the intervals of each measure.

    ranking: as of `ranked`. ends: the intervals of each evaluation set and result. Its signatures say how they were
    made.
    """
    columns = [[(zip(one.low, one.high, one.signed, strict=True), one.words) for one in each] for each in ends]
    schema = {"low": pl.Float64, "high": pl.Float64, "how": pl.String}
    joined, lines = _with_columns(ranking, inputs, "value", schema, columns)
    joined = joined.with_columns(pl.col("low", "high").fill_nan(None), pl.col("how").fill_null(""))
    how_of: dict[str, dict[str, None]] = {}
    for one, how in joined.filter(pl.col("how") != "").select("signature", "how").rows():
        how_of.setdefault(one, {})[how] = None
    made = pl.when(pl.col("how") != "").then(pl.lit("|interval:") + pl.col("how")).otherwise(pl.lit(""))
    frame = joined.with_columns(pl.col("signature") + made).drop("how")
    parts = [
        [*one, ("interval", "+".join(how_of[text]) if (text := line(one)) in how_of else None)] for one in ranking.lines
    ]
    return replace(ranking, frame=frame, parts=parts), lines


_RANGES_STREAM = 13


def metric_ranges(
    result: SliceResult, options: Options, n_draws: int, progress: Progress | None = None, unit: TestUnit | None = None
) -> tuple[Ints, Ints, str]:
    """Best and worst rank of each metric of a result over resamples, 0 for none, and how they were made, or why not.

    All metrics are on the same resamples: of segments or documents if all have means over annotated segments or the
    measure is of segments, else of systems. Tie thresholds are kept. SPA takes the normal approximation.
    """
    evaluation = result.evaluation
    has_value = ~np.isnan(evaluation.value)
    names = {metric.name for metric, there in zip(evaluation.metrics, has_value, strict=True) if there}
    none = np.zeros(len(has_value), dtype=np.int64)
    if not names:
        return none, none, f"{evaluation.measure}: there are no ranges, because no metric has what it needs"
    measure = evaluation.measure if evaluation.measure.n_draws is None else evaluation.measure.in_simulations
    block = result.block.take(metrics=[metric.name in names for metric in result.block.metrics])
    by_means = all(source == "judged-mean" for source in evaluation.system_score)
    options = replace(options, system_score="judged-mean") if by_means else options
    try:
        by_systems = None if by_means else measure.resampled_systems(block, options)
        units = measure.units(block, unit)
        drawn = resamples(measure, block, options, by_systems, units, _RANGES_STREAM, n_draws, "ranges", progress)
    except (QuestionError, ValueError) as error:
        return none, none, f"{evaluation.measure}: there are no ranges: {getattr(error, 'text', error)}"
    what = "systems" if by_systems is not None else f"{units.unit}s"
    by_unit = "" if by_systems is not None else f" {units.words}"
    by = "" if measure == evaluation.measure else f" by {measure}"
    how = f"{evaluation.measure}: 95% rank ranges for new {what}{by} ({counted(n_draws, 'resample')}{by_unit})"
    best, worst = none.copy(), none.copy()
    best[has_value], worst[has_value] = rank_ranges(drawn.draws)
    return best, worst, how


def with_ranges(
    ranking: Result,
    inputs: RankingInputs,
    ends: Sequence[Sequence[tuple[Ints, Ints, str]]],
    options: Options,
    n_draws: int,
) -> tuple[Result, list[str]]:
    """A ranking with columns rank_low and rank_high after the rank, and a line on the ranges of each measure.

    ranking: as of `ranked`. ends: as of `metric_ranges`, of each evaluation set and result. Its signatures say how the
    ranges were made.
    """
    columns = [
        [
            ([(low or None, high or None) for low, high in zip(best.tolist(), worst.tolist(), strict=True)], how)
            for best, worst, how in each
        ]
        for each in ends
    ]
    schema = {"rank_low": pl.Int64, "rank_high": pl.Int64}
    frame, lines = _with_columns(ranking, inputs, "rank", schema, columns)
    made: Part = ("rank_range", f"95%,percentile,resamples={n_draws},seed={options.seed}")
    has = pl.col("rank_low").is_not_null()
    frame = frame.with_columns(
        signature=pl.col("signature") + pl.when(has).then(pl.lit(f"|{line([made])}")).otherwise(pl.lit(""))
    )
    return replace(ranking, frame=frame, parts=[[*one, made] for one in ranking.lines]), lines
