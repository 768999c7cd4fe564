"""Evaluation: one measure applied to one block, for all its metrics at once, or why human scores leave it undefined."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from metaeval.kernels.arrays.checks import EQUAL, Floats, Ints
from metaeval.measures.judged import labels
from metaeval.measures.measure import Measure, Values
from metaeval.measures.options import Options, SystemScore
from metaeval.measures.system_scores import asked_scores
from metaeval.results.notes import Decisive
from metaeval.results.sentences import opening
from queries.blocks import Block
from queries.reasons import Exclusion, Reason
from queries.selection import MetricChoice
from warehouse.progress import Progress


@dataclass(frozen=True, kw_only=True)
class Evaluation(Values):
    """Values of one measure, aligned with metrics: tie thresholds are NaN and numbers -1 where the measure has none.

    metrics: those that the measure can rank; excluded: the others, with the reason.
    n_judged: (system, segment) scores with a human score; n_missing: those of the slice without.
    """

    measure: Measure
    metrics: tuple[MetricChoice, ...]
    excluded: Mapping[str, Exclusion]
    epsilon: Floats
    epsilon_high: Floats
    n_pairs: Ints
    n_groups: Ints
    n_groups_nan: Ints
    n_systems: int
    n_segments: int
    n_judged: int
    n_missing: int

    @property
    def as_ranked(self) -> "Evaluation":
        """The same, undefined where the order of the systems' names decides the value."""
        if self.by_order is None or not self.by_order.any():
            return self
        names = [one.name for one, is_one in zip(self.metrics, self.by_order, strict=True) if is_one]
        value = np.where(self.by_order, np.nan, self.value)
        return replace(self, value=value, why=dict.fromkeys(names, _BY_ORDER) | self.why)

    @property
    def few_groups(self) -> dict[str, tuple[int, int]]:
        """Metrics with a value from fewer than half of the groups: in how many it is defined, and of how many."""
        counts = zip(self.metrics, self.value, self.n_groups - self.n_groups_nan, self.n_groups, strict=True)
        return {one.name: (int(n), int(of)) for one, value, n, of in counts if value == value and n < of / 2}

    @property
    def n_distinct(self) -> int:
        """Distinct values over metrics; undefined ones are excluded."""
        values = np.sort(self.value[~np.isnan(self.value)])
        return int(values.size and 1 + np.count_nonzero(np.diff(values) > EQUAL))


_BY_ORDER = "scores most pairs of systems exactly the same, so the order of their names would decide"


def evaluate(measure: Measure, block: Block, options: Options, progress: Progress | None = None) -> Evaluation:
    """Apply a measure to a block, once.

    Metrics without what the measure needs are excluded with the reason; undefined values are NaN.
    """
    return block.once((Evaluation, measure, options), lambda: _evaluation(measure, block, options, progress))


def _evaluation(measure: Measure, block: Block, options: Options, progress: Progress | None) -> Evaluation:
    block, excluded = rankable(measure, block, options)
    found = measure.watched_value(block, options, progress) if block.metrics else Values(np.empty(0))
    n = len(block.metrics)

    def floats(values: Floats | None) -> Floats:
        return np.full(n, np.nan) if values is None else values

    def ints(values: Ints | int | None) -> Ints:
        return np.full(n, -1, dtype=np.int64) if values is None else np.broadcast_to(values, n).astype(np.int64)

    arrays: dict[str, Any] = {name: floats(getattr(found, name)) for name in ("epsilon", "epsilon_high")}
    arrays |= {name: ints(getattr(found, name)) for name in ("n_pairs", "n_groups", "n_groups_nan")}
    n_systems = len(block.systems) if found.n_systems is None else found.n_systems
    system_score = found.system_score or (None,) * n
    return Evaluation(
        **{**vars(found), **arrays, "n_systems": n_systems, "system_score": system_score},
        measure=measure,
        metrics=block.metrics,
        excluded=excluded,
        n_segments=block.n_judged_segments,
        n_judged=int(block.judged.sum()),
        n_missing=block.n_missing,
    )


_SOURCES: dict[SystemScore, str] = {
    "submitted": "submitted scores",
    "mean": "means of all segments",
    "judged-mean": "judged means",
}
_SHOWN = 0.0005  # a difference that three decimals show


def by_source(evaluation: Evaluation, block: Block, options: Options) -> str:
    """The measure, with the system scores that it is based on where other ones of the block give other values."""
    measure = evaluation.measure
    used = Counter(one for one in evaluation.system_score if one is not None)
    if measure.definition.needs_segments or measure.fixed_system_score is not None or not used:
        return str(measure)
    source = used.most_common(1)[0][0]
    values = dict(zip((one.name for one in evaluation.metrics), evaluation.value.tolist(), strict=True))
    for other in ("submitted", "judged-mean"):
        if other == source or (other == "submitted" and block.is_cut):
            continue
        found = evaluate(measure, block, replace(options, system_score=other))
        shared = zip((one.name for one in found.metrics), found.value.tolist(), strict=True)
        if any(abs(value - values[name]) >= _SHOWN for name, value in shared if name in values):
            return f"{measure} of {_SOURCES[source]}"
    return str(measure)


def rankable(measure: Measure, block: Block, options: Options) -> tuple[Block, dict[str, Exclusion]]:
    """The block with the metrics that have what a measure needs, and why others are excluded."""
    if measure.definition.needs_segments:
        return block.take(metrics=block.with_segments), dict(block.excluded)
    scores = asked_scores(block, options.system_score)
    judged = ~np.isnan(scores.human)
    excluded = block.excluded
    reasons: dict[str, Exclusion] = {}
    for metric, values, used in zip(block.metrics, scores.metrics, scores.used, strict=True):
        if np.isnan(values[judged]).any():
            reasons[metric.name] = excluded.get(metric.name, Exclusion(Reason.NO_SYSTEM_SCORES))
        elif used != "submitted" and metric.name in excluded:
            reasons[metric.name] = excluded[metric.name]
    return block.take(metrics=[metric.name not in reasons for metric in block.metrics]), reasons


_GROUPS: Mapping[str, str] = MappingProxyType(
    {"item": " of a segment", "system": " of a system", "doc": " of a document", "domain": " of a domain", "none": ""}
)


def without_variation(measure: Measure, block: Block, options: Options) -> str | None:
    """Why the human scores give a measure nothing to agree with; None if some of those that it compares differ.

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
    """Why no two outputs of a group have different human scores; None if some have. by: as of a measure."""
    if not block.judged.any():
        return f"{block.selection.human} has no segment scores"
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
    """A line for each measure that human scores give nothing to agree with."""
    found = {measure: without_variation(measure, block, options) for measure in measures}
    return [f"{measure}: {why}" for measure, why in found.items() if why is not None]


def undefined(evaluation: Evaluation, block: Block, options: Options) -> list[str]:
    """A line on metrics without a value or with one based on ties alone, with the reason found in the human scores."""
    measure, is_nan = evaluation.measure, np.isnan(evaluation.value)
    why = without_variation(measure, block, options)
    if is_nan.all():
        why = why or "; ".join(f"{name} {reason}" for name, reason in evaluation.why.items())
        text = f"{measure} is not defined"
        return [Decisive(f"{text}: {why}", f"{text}:", why) if why else f"{text} for any metric"]
    if why is not None:
        return [f"{measure}: {why}, so that only ties count"]
    reasons: dict[str, list[str]] = {}
    shared = _by_shared_ties(evaluation)
    for metric, there in zip(evaluation.metrics, is_nan, strict=True):
        if there:
            reasons.setdefault(evaluation.why.get(metric.name, ""), []).append(metric.name)
    return [
        f"{measure} is not defined for {', '.join(names)}" + (f" ({reason})" if reason else "")
        for reason, names in reasons.items()
    ] + shared


def on_few_groups(evaluation: Evaluation) -> list[str]:
    """A line on metrics whose value is based on fewer than half of the groups, the fewest first."""
    few = sorted(evaluation.few_groups.items(), key=lambda one: one[1])
    said = [f"{name} on {n} of {of}" for name, (n, of) in few]
    text = f"{evaluation.measure} is based on few groups:"
    return [Decisive(f"{text} {', '.join(said)}", text, said[0], -few[0][1][0])] if said else []


def without_value(measure: str, notes: Iterable[str], places: Iterable[str] = ()) -> str:
    """The sentence if no metric has a value, with the first reason among notes of `undefined`.

    places: the evaluation sets that may be named before the reasons.
    >>> notes = [Decisive("…", "spa is not defined:", "tiny24 en-de mqm has no scores")]
    >>> without_value("spa", notes, ["tiny24 en-de"]), without_value("pa", notes)
    ('No metric has a value of spa: mqm has no scores.', 'No metric has a value of pa.')
    """
    kind = f"{measure} is not defined:"
    why = next((note.case for note in notes if isinstance(note, Decisive) and note.kind == kind), "")
    for place in places:
        why = why.removeprefix(f"{place} ")
    return opening(f"No metric has a value of {measure}{f': {why}' if why else ''}.")


def _by_shared_ties(evaluation: Evaluation) -> list[str]:
    """A line on metrics that order no pair, if the measure counts ties shared with the human scores."""
    counts = evaluation.counts
    if counts is None or not evaluation.measure.counts_shared_ties:
        return []
    ordered = counts.n_concordant + counts.n_discordant + counts.n_tied_human
    names = [one.name for one, n in zip(evaluation.metrics, ordered.sum(axis=1), strict=True) if n == 0]
    verb = "orders" if len(names) == 1 else "order"
    line = f"{', '.join(names)} {verb} no pair: by definition the value comes from pairs with tied human scores alone"
    return [f"{evaluation.measure}: {line}"] if names else []
