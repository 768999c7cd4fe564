"""Second human scores of the same outputs: systems judged by both, and how well the two scores agree."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options
from metaeval.results.inputs import Inputs
from metaeval.studies.people.reliability import RANGE, Judgements, normalised, numbered, splits
from queries.blocks import Block, places_of
from queries.selection import MetricChoice
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.facts.human_protocols import behind, by_scale, protocol_of
from warehouse.wording import counted

Humans = Mapping[str, tuple[bool, bool, int]]  # name -> has segment scores, has submitted system scores, judgements
FEWEST_SYSTEMS = 3
SPLIT_HALF = "split-half, a lower bound"
"""What halves reach is less than what all judgements would, which metrics are compared with."""


def judged_by(humans: Humans, official: str) -> str | None:
    """The human score that has the single judgements behind a score: see `human_protocols.behind`.

    >>> judged_by({"mqm": (True, True, 0), "mqm-1": (True, False, 9), "mqm.merged": (True, False, 5980)}, "mqm")
    'mqm.merged'
    """
    return next(iter(behind(official, {name: n for name, (_, _, n) in humans.items()})), None)


def second_humans(humans: Humans, official: str, measure: Measure) -> list[str]:
    """One human score for each protocol other than the official one, with scores that the measure can use.

    >>> from metaeval.measures.measure import Measure
    >>> from metaeval.measures.registry import parse_measure
    >>> there = dict.fromkeys(("wmt-raw", "wmt-z", "mqm.merged", "mqm"), (True, True, 0))
    >>> second_humans(there, "wmt-z", parse_measure("pa")), second_humans(there, "mqm", parse_measure("acc_eq"))
    (['mqm'], ['wmt-raw'])
    """
    needs_segments = measure.definition.needs_segments
    by_protocol: dict[str, list[str]] = {}
    for name, (has_segments, has_systems, _) in humans.items():
        if protocol_of(name) != protocol_of(official) and (has_segments or (has_systems and not needs_segments)):
            by_protocol.setdefault(protocol_of(name), []).append(name)
    return [by_scale(names, measure.level)[0] for _, names in sorted(by_protocol.items())]


def common_blocks(
    warehouse: Warehouse, asked: Slice, first: str, second: str, measure: Measure, options: Options
) -> tuple[Block, Block]:
    """The blocks of two human scores, restricted to the systems with both, with the metrics that scored these.

    Segment-level measures use only the outputs with both human scores.
    Raises QuestionError: a human score is missing, or they share fewer than 3 systems.
    """
    blocks = [
        Inputs(warehouse, replace(asked, human=human), options.round_human).block(measure) for human in (first, second)
    ]
    common = sorted(set(blocks[0].systems) & set(blocks[1].systems))
    where = f"{asked.testset} {asked.lp}"
    if len(common) < FEWEST_SYSTEMS:
        raise QuestionError(
            f"{first} and {second} of {where} share {counted(len(common), 'system')}, fewer than {FEWEST_SYSTEMS}"
        )
    one, other = (
        Inputs(warehouse, replace(asked, human=human, systems=tuple(common)), options.round_human).block(measure)
        for human in (first, second)
    )
    if measure.definition.needs_segments:
        both = one.judged & other.judged
        if not both.any():
            raise QuestionError(f"{first} and {second} of {where} judged no (system, segment) pair both")
        one, other = (replace(block, human=np.where(both, block.human, np.nan)) for block in (one, other))
    return one, other


_NO_METRICS = -1  # a number that no scorer of a warehouse has


@dataclass(frozen=True)
class Ceiling:
    """The value that a second human score of the same outputs reaches, and its origin.

    low, high: 2.5 and 97.5% quantiles over splits; NaN for a second human score. halves: what was split, such as
    "61 annotators", and n_splits: splits with a value; None for a second human score.
    """

    value: float
    low: float
    high: float
    source: str
    halves: str | None = None
    n_splits: int | None = None


def second_human(block: Block, other: Block, measure: Measure, options: Options) -> Ceiling:
    """The value of another human score evaluated like a metric; both blocks have the same systems and segments."""
    value = _value(as_metric(block, other), measure, options)
    return Ceiling(value, float("nan"), float("nan"), f"{other.selection.human} as if it were a metric")


def as_metric(block: Block, other: Block) -> Block:
    """The block with the scores, and the marked errors, of another human score as its only metric."""
    taken = _as_metric(block, other.human, other.human_submitted, str(other.selection.human))
    if block.spans is None or other.spans is None:
        return taken
    (metric,) = taken.metrics
    return replace(taken, spans=block.spans.with_gold_of(other.spans, metric.scorer_id))


def split_half(block: Block, single: pl.DataFrame, human: str, measure: Measure, options: Options) -> Ceiling | None:
    """Mean value of one half of the judgements against the other over 100 splits, with their 2.5-97.5% range.

    single: columns system, segment, rater, value: the judgements behind a human score. Annotators are split where there
    are at least 4 and all are known, else single judgements, those of each output evenly. Judgements are standardised
    by annotator if the human score is and the annotators are known. Values are not corrected for the halves being
    shorter than the whole. None: too few judgements, no split with a value, or a measure of spans, which cannot be
    split.
    """
    if measure.definition.needs_spans:
        return None
    judged = _judged(block, single)
    if judged is None:
        return None
    found = [_value(_halves(block, first, second), measure, options) for first, second in splits(judged, options.seed)]
    there = np.array(found)[~np.isnan(found)]
    if not there.size:
        return None
    low, high = np.quantile(there, RANGE)
    by_annotators = judged.halves == "annotators"
    what = counted(judged.n_raters, "annotator") if by_annotators else counted(len(judged.values), "judgement")
    source = f"{SPLIT_HALF}: {what} of {human}, {len(there)} splits"
    return Ceiling(float(there.mean()), float(low), float(high), source, what, len(there))


@dataclass(frozen=True)
class OneAnnotator:
    """Values of one annotator, and of metrics, against the mean of the other annotators.

    value: mean over draws. low, high: 2.5 and 97.5% quantiles over draws of annotators with replacement; NaN for fewer
    than 3 annotators with a value. metrics: (metrics of the block,) their values on the same outputs, NaN if undefined.
    """

    value: float
    low: float
    high: float
    metrics: Floats
    n_annotators: int
    n_others: float
    n_segments: int
    n_draws: int


N_DRAWS, N_RESAMPLES = 20, 100  # of annotators: for values, and for the interval
_ANNOTATORS = 13  # stream of the seed


def one_annotator(block: Block, single: pl.DataFrame, measure: Measure, options: Options) -> OneAnnotator | None:
    """One annotator against the mean of the others, on segments that at least two annotators judged.

    Each draw takes one random annotator of every segment as a metric that scored the outputs that this annotator
    judged; the human score of an output is the mean of its other annotators. Metrics are evaluated against the same
    means, so their values are comparable. For the interval, annotators are resampled as well. None: annotators are
    unknown, no output has two annotators, the measure is of spans, or the value is undefined.
    """
    if measure.definition.needs_spans:
        return None
    judged = _judged(block, single)
    if judged is None or judged.raters is None or judged.n_raters < 2:
        return None
    shape = (judged.n_raters, *judged.shape)
    total, n = np.zeros(shape), np.zeros(shape)
    np.add.at(total, (judged.raters, judged.rows, judged.columns), judged.values)
    np.add.at(n, (judged.raters, judged.rows, judged.columns), 1)
    means = np.divide(total, n, out=np.full(shape, np.nan), where=n > 0)
    kept = ((n > 0).sum(axis=0) > 1).any(axis=0)
    if not kept.any():
        return None
    block, means = block.take(segments=kept), means[:, :, kept]
    of_segment = (~np.isnan(means)).any(axis=1)  # (annotators, segments)
    rng = np.random.default_rng([options.seed, _ANNOTATORS])
    complete = np.asarray(~np.isnan(block.scores[:, (~np.isnan(means)).any(axis=0)]).any(axis=1))
    block = block.take(metrics=complete)
    found = np.full((N_DRAWS, len(block.metrics) + 1), np.nan)
    everyone = np.ones(len(means))
    for draw in range(N_DRAWS):
        found[draw] = _against_others(block, means, _picked(rng, of_segment, everyone), measure, options)
    alone = block.take(metrics=np.zeros(len(block.metrics), dtype=np.bool_))
    resampled = np.full(N_RESAMPLES, np.nan)
    for draw in range(N_RESAMPLES):
        weights = np.bincount(rng.integers(0, len(means), len(means)), minlength=len(means)).astype(np.float64)
        picked = _picked(rng, of_segment, weights)
        resampled[draw] = _against_others(alone, means, picked, measure, options)[-1]
    there = ~np.isnan(found[:, -1])
    if not there.any():
        return None
    resampled = resampled[~np.isnan(resampled)]
    has_interval = judged.n_raters > 2 and len(resampled) >= N_RESAMPLES / 2
    low, high = np.quantile(resampled, RANGE) if has_interval else (np.nan, np.nan)
    metrics = np.full(len(complete), np.nan)
    metrics[complete] = found[there, :-1].mean(axis=0)
    others = (~np.isnan(means)).sum(axis=0)
    return OneAnnotator(
        float(found[there, -1].mean()),
        float(low),
        float(high),
        metrics,
        judged.n_raters,
        float(others[others > 1].mean() - 1),
        int(kept.sum()),
        int(there.sum()),
    )


def _picked(rng: np.random.Generator, of_segment: Bools, weights: Floats) -> Ints:
    """(segments,) annotator of each segment, drawn with probability proportional to weight; -1 if all are 0."""
    with np.errstate(divide="ignore"):
        keys = np.where(of_segment, np.log(weights)[:, None] + rng.gumbel(size=of_segment.shape), -np.inf)
    return np.where(np.isfinite(keys).any(axis=0), keys.argmax(axis=0), -1)


def _against_others(block: Block, means: Floats, picked: Ints, measure: Measure, options: Options) -> Floats:
    """(metrics + 1,) values of the block's metrics and of the picked annotators, against the means of the others."""
    columns = np.arange(len(picked))
    one = np.where(picked >= 0, means[picked, :, columns].T, np.nan)
    others = means.copy()
    others[picked[picked >= 0], :, columns[picked >= 0]] = np.nan
    n = (~np.isnan(others)).sum(axis=0)
    human = np.divide(np.nansum(others, axis=0), n, out=np.full(n.shape, np.nan), where=n > 0)
    human = np.where(np.isnan(one), np.nan, human)
    if np.isnan(human).all():
        return np.full(len(block.metrics) + 1, np.nan)
    none = np.full(len(block.systems), np.nan)
    taken = replace(
        block,
        human=human,
        human_submitted=none,
        metrics=(*block.metrics, MetricChoice.made_up("one annotator", _NO_METRICS)),
        scores=np.concatenate([block.scores, one[np.newaxis]]),
        submitted=np.full((len(block.metrics) + 1, len(block.systems)), np.nan),
    )
    try:
        values = np.asarray(measure.value(taken, options).value, dtype=np.float64)
    except ValueError:
        return np.full(len(taken.metrics), np.nan)
    return values if len(values) == len(taken.metrics) else np.full(len(taken.metrics), np.nan)


def _judged(block: Block, single: pl.DataFrame) -> Judgements | None:
    """The judgements of the block's outputs; None if fewer than two."""
    places = places_of(block, single["system"], single["segment"])
    there = places >= 0
    if there.sum() < 2:
        return None
    values = single["value"].to_numpy().astype(np.float64)[there]
    raters = numbered(single["rater"].filter(there).to_list())
    if raters is not None and str(block.selection.human).endswith("-z"):
        values = normalised(values, raters)
    shape = (len(block.systems), len(block.segments))
    rows, columns = np.divmod(places[there], shape[1])
    return Judgements(rows, columns, values, raters, shape)


def _halves(block: Block, first: Floats, second: Floats) -> Block:
    none = np.full(len(block.systems), np.nan)
    return _as_metric(replace(block, human=first, human_submitted=none), second, none, "second half")


def _as_metric(block: Block, scores: Floats, submitted: Floats, name: str) -> Block:
    """A block whose only metric is a human score."""
    metric = MetricChoice.made_up(name, _NO_METRICS)
    return replace(block, metrics=(metric,), scores=scores[np.newaxis], submitted=submitted[np.newaxis])


def _value(block: Block, measure: Measure, options: Options) -> float:
    """The value of a block with one metric; segment-level measures use the outputs that both sides scored."""
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
