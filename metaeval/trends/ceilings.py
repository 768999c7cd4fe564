"""Human ceilings: the value that people reach by the measure that ranks metrics, when other people are the truth."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from metaeval.measures import Measure
from metaeval.options import Options
from metaeval.trends.points import Ceiling
from queries.blocks import Block
from queries.selection import MetricChoice

if TYPE_CHECKING:
    import polars as pl

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
N_SPLITS = 100
FEWEST_RATERS = 4  # with fewer, single judgements are split
_STREAM = 6  # of the seed


def second_human(block: Block, other: Block, measure: Measure, options: Options) -> Ceiling:
    """The value of another human score as if it were a metric; both blocks have the same systems and segments."""
    taken = _as_metric(block, other.human, other.human_submitted, str(other.selection.human))
    value = _value(taken, measure, options)
    return Ceiling(value, float("nan"), float("nan"), f"{other.selection.human} as if it were a metric")


def split_half(block: Block, single: "pl.DataFrame", human: str, measure: Measure, options: Options) -> Ceiling | None:
    """Mean value of one half of the judgements against the other over 100 splits, with their 2.5-97.5% range.

    single: columns system, segment, rater, value: the judgements behind a human score. Annotators are split where there
    are at least 4 and all are known, else single judgements; z-scores are taken by annotator where the human score has
    them and the annotators are known. Nothing is corrected for halves being shorter than the whole.
    None: too few judgements, or no split with a value.
    """
    row_of = {name: row for row, name in enumerate(block.systems)}
    column_of = {int(segment): column for column, segment in enumerate(block.segments)}
    kept = [
        (row_of[system], column_of[segment], rater, value)
        for system, segment, rater, value in single.iter_rows()
        if system in row_of and segment in column_of
    ]
    if len(kept) < 2:
        return None
    rows = np.array([one[0] for one in kept], dtype=np.int64)
    columns = np.array([one[1] for one in kept], dtype=np.int64)
    values = np.array([one[3] for one in kept], dtype=np.float64)
    raters, n_raters = _numbered([one[2] for one in kept])
    if n_raters and str(block.selection.human).endswith("-z"):
        values = _normalised(values, raters)
    by_rater = n_raters >= FEWEST_RATERS
    units = raters if by_rater else np.arange(len(kept))
    rng = np.random.default_rng([options.seed, _STREAM])
    found = []
    for _ in range(N_SPLITS):
        in_first = rng.permutation(int(units.max()) + 1) < (int(units.max()) + 1) // 2
        first, second = (
            _means(rows[half], columns[half], values[half], block.human.shape)
            for half in (in_first[units], ~in_first[units])
        )
        found.append(_value(_halves(block, first, second), measure, options))
    there = np.array(found)[~np.isnan(found)]
    if not there.size:
        return None
    low, high = np.quantile(there, (0.025, 0.975))
    what = f"{n_raters} annotators" if by_rater else f"{len(kept)} judgements"
    return Ceiling(
        float(there.mean()), float(low), float(high), f"split halves of {what} of {human}, {len(there)} splits"
    )


def _numbered(raters: Sequence[str | None]) -> tuple[Ints, int]:
    """A number for each judgement's annotator, and how many there are; 0 where some are not known."""
    number = {rater: place for place, rater in enumerate(dict.fromkeys(raters))}
    return np.array([number[rater] for rater in raters], dtype=np.int64), 0 if None in number else len(number)


def _normalised(values: Floats, raters: Ints) -> Floats:
    """z-scores by annotator: 0 where an annotator's judgements are all equal."""
    n = np.bincount(raters)
    mean = (np.bincount(raters, values) / n)[raters]
    sd = np.sqrt(np.bincount(raters, (values - mean) ** 2) / n)[raters]
    return np.divide(values - mean, sd, out=np.zeros_like(values), where=sd > 0)


def _means(rows: Ints, columns: Ints, values: Floats, shape: tuple[int, ...]) -> Floats:
    """(N, S) means of judgements; NaN where there is none."""
    places = rows * shape[1] + columns
    n = np.bincount(places, minlength=shape[0] * shape[1])
    total = np.bincount(places, values, minlength=shape[0] * shape[1])
    means = np.full(len(n), np.nan)
    np.divide(total, n, out=means, where=n > 0)
    return means.reshape(shape)


def _halves(block: Block, first: Floats, second: Floats) -> Block:
    none = np.full(len(block.systems), np.nan)
    return _as_metric(replace(block, human=first, human_submitted=none), second, none, "second half")


def _as_metric(block: Block, scores: Floats, submitted: Floats, name: str) -> Block:
    """A block whose only metric is a human score."""
    metric = MetricChoice(0, name, name, None, None, False, True, not bool(np.isnan(submitted).any()), None)
    return replace(block, metrics=(metric,), scores=scores[np.newaxis], submitted=submitted[np.newaxis])


def _value(block: Block, measure: Measure, options: Options) -> float:
    """The measure of a block with one metric; measures of segments are on the scores that both sides have."""
    if measure.definition.needs_segments:
        both = block.judged & ~np.isnan(block.scores[0])
        human = np.where(both, block.human, np.nan)
        if not both.any():
            return float("nan")
        block = replace(block, human=human)
    elif np.isnan(measure.scores(block, options).metrics).any():
        return float("nan")
    try:
        return float(measure.value(block, options).value[0])
    except ValueError:
        return float("nan")
