"""A study: measures over one slice, from the warehouse to rows of a ranking."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import EQUAL, Bools, Floats
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options, SystemScore
from metaeval.results.answer import or_none
from metaeval.results.evaluation import Evaluation, by_source, evaluate, on_few_groups, undefined
from metaeval.results.inputs import Inputs, check_whole, no_metric, where, without_segments
from metaeval.results.notes import EXPLAIN, Decisive, NoteWithHint, excluding
from metaeval.results.remarks import overrated, remarks
from metaeval.results.signature import Parts, line, measure_parts
from queries.blocks import Block
from queries.reasons import by_reason
from queries.selection import Selection
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.wording import are, counted, option


@dataclass(frozen=True)
class SliceResult:
    """One measure over one slice.

    block: what it was computed on; notes: what a reader should know, one line each; by: the measure as sentences name
    it (`by_source`).
    """

    block: Block = field(repr=False, compare=False)
    evaluation: Evaluation
    parts: Parts = field(repr=False, compare=False)
    notes: tuple[str, ...]
    by: str

    @property
    def signature(self) -> str:
        return line(self.parts)

    @property
    def selection(self) -> Selection:
        return self.block.selection

    @property
    def is_judged(self) -> bool:
        """Whether the human score has what the measure needs."""
        return self.evaluation.n_judged > 0 or not self.evaluation.measure.definition.needs_segments


@dataclass(frozen=True)
class Study:
    """The results of several measures over one slice, in the order requested."""

    results: tuple[SliceResult, ...]

    @property
    def without_scores(self) -> "Study":
        """The same without the scores that it was computed from, which may be large."""
        return Study(tuple(replace(one, block=one.block.without_scores) for one in self.results))

    @property
    def signatures(self) -> list[str]:
        return [result.signature for result in self.results]

    @property
    def notes(self) -> list[str]:
        return list(dict.fromkeys(note for result in self.results for note in result.notes))


def study(
    warehouse: Warehouse,
    asked: Slice,
    measures: Sequence[Measure],
    options: Options | Sequence[Options],
    inputs: Inputs | None = None,
) -> Study:
    """Apply measures to a slice.

    options: for all measures, or one for each that differ in the system scores alone. inputs: of the slice, where they
    were read before.
    Raises QuestionError: the slice does not exist, or submitted system scores are asked of a part of a test set.
    """
    each = [options] * len(measures) if isinstance(options, Options) else list(options)
    for one in each:
        check_whole(one, asked)
    inputs = inputs or Inputs(warehouse, asked, each[0].round_human if each else None)
    blocks = [inputs.block(measure) for measure in measures]
    results = (_result(*one) for one in zip(blocks, measures, each, strict=True))
    return Study(tuple(results))


def float_noise(human: Floats, by: str) -> int:
    """Pairs of human scores (systems, segments) of one group that are equal to nine decimals, but not equal.

    >>> float_noise(np.array([[0.3, 1.0], [0.1 + 0.2, 1.0], [0.5, np.nan]]), "item")
    1
    """
    groups = {"item": human.T, "system": human}.get(by, human.reshape(1, -1))

    def tied(scores: Floats) -> int:
        ordered = np.sort(scores, axis=1)
        places = np.arange(scores.shape[1])[1:]
        starts = np.where(ordered[:, 1:] == ordered[:, :-1], 0, places)  # NaN is last, and equal to nothing
        return int((places - np.maximum.accumulate(starts, axis=1)).sum())

    return tied(np.round(groups, 9) + 0.0) - tied(groups)


def _result(block: Block, measure: Measure, options: Options) -> SliceResult:
    evaluation = evaluate(measure, block, options)
    is_judged = block.judged.any() or not measure.definition.needs_segments
    notes = [*block.once(remarks, lambda: [*remarks(block), *overrated(block)])]
    if evaluation.excluded:
        notes.append(excluding(f"{measure} excludes", by_reason(evaluation.excluded).items()))
    if not evaluation.metrics:
        notes.append(NoteWithHint(f"{measure}: no metric can be ranked", EXPLAIN))
    elif not is_judged:
        notes.append(f"{measure} is not defined: {without_segments(block.selection)}")
    if measure.fixed_system_score and options.system_score not in (None, measure.fixed_system_score):
        notes.append(
            f"{measure} is computed over annotated segments; "
            f"{option('system_score', options.system_score)} does not apply"
        )
    if (remark := measure.remark_on(block.selection.human)) is not None:
        notes.append(f"{measure}: {remark}")
    if measure.is_calibrated and (n_pairs := float_noise(block.human, measure["by"])):
        words = f"{measure}: {counted(n_pairs, 'pair')} of human scores differ only by floating-point error"
        notes.append(NoteWithHint(words, f"{option('round_human', 6)} treats them as ties"))
    notes += _sources(evaluation, options)
    if evaluation.n_systems == 2 and measure.level == "sys" and measure.definition.is_correlation:
        text = f"{measure}: a correlation of 2 systems can only be 1 or -1"
        notes.append(Decisive(text, "correlations of 2 systems can only be 1 or -1:", str(measure)))
    elif 2 < (n := evaluation.n_systems) < _FEW_SYSTEMS and measure.level == "sys" and not measure.get("top", 0):
        notes.append(Decisive(f"the values are based on only {counted(n, 'system')}", "few systems:", str(n), -n))
    if evaluation.metrics and is_judged:
        notes += undefined(evaluation, block, options)
    if (partly := int((evaluation.n_groups_nan > 0).sum())) and not np.isnan(evaluation.value).all():
        worst = int(evaluation.n_groups_nan.max())
        rule = {"drop": "excluded from its mean", "zero": "counted as 0", "common": "excluded for all metrics"}[
            measure.get("on_nan", "drop")
        ]
        groups, metrics = "group" if worst == 1 else "groups", "metric" if partly == 1 else "metrics"
        notes.append(
            f"{measure}: up to {worst} {groups} {are(worst)} undefined for {partly} {metrics} (n_groups_nan); a group "
            f"undefined for a metric is {rule}"
        )
    notes += on_few_groups(evaluation)
    parts = measure_parts(evaluation, block.selection, options)
    return SliceResult(block, evaluation, parts, tuple(notes), by_source(evaluation, block, options))


_FEW_SYSTEMS = 5  # swaps of fewer have at most 16 outcomes, none with a p below 0.05
_IN_WORDS: dict[SystemScore, str] = {
    "submitted": "submitted system scores",
    "mean": "means of all segment scores",
    "judged-mean": "means over annotated segments",
}


def _sources(evaluation: Evaluation, options: Options) -> list[str]:
    """A line on system scores from another source than the selected one, or than that of other metrics."""
    asked = None if evaluation.measure.fixed_system_score else options.system_score
    by_source: dict[SystemScore, list[str]] = {}
    for metric, used in zip(evaluation.metrics, evaluation.system_score, strict=True):
        if used is not None:
            by_source.setdefault(used, []).append(metric.name)
    usual = asked or ("submitted" if len(by_source) > 1 else next(iter(by_source), None))
    return [
        f"{evaluation.measure}: {', '.join(names)} {are(len(names), have=True)} no {_IN_WORDS[usual]}; "
        f"{_IN_WORDS[used]} are used"
        for used, names in by_source.items()
        if usual is not None and used != usual
    ]


def _row(result: SliceResult, signature: str, place: int, rank: int | None) -> dict[str, Any]:
    found = result.evaluation

    def count(value: int) -> int | None:
        return None if value < 0 else int(value)

    metric = found.metrics[place]
    return {
        "testset": result.selection.slice.testset,
        "lp": result.selection.slice.lp,
        "human": result.selection.human,
        "metric": metric.name,
        "base_metric": metric.base_name,
        "measure": str(found.measure),
        "value": or_none(found.value[place]),
        "epsilon": or_none(found.epsilon[place]),
        "rank": rank,
        "cluster": None,
        "n_systems": found.n_systems,
        "n_segments": found.n_segments,
        "n_pairs": count(found.n_pairs[place]),
        "n_groups": count(found.n_groups[place]),
        "n_groups_nan": count(found.n_groups_nan[place]),
        "n_missing": found.n_missing,
        "system_score": found.system_score[place],
        "signature": signature,
        **{name: or_none(values[place]) for name, values in found.details.items()},
    }


def ranking_order(
    values: Sequence[float], names: Sequence[str], unranked: Sequence[bool] | Bools | None = None
) -> list[tuple[int, int | None]]:
    """Places in ranking order with their competition ranks: descending, equal values by name, undefined last.

    Values nearer than 1e-12 to the one before share its rank. unranked: values that get no rank, after the others.
    >>> ranking_order([0.5, float("nan"), 0.9, 0.5], ["b", "c", "d", "a"])
    [(2, 1), (3, 2), (0, 2), (1, None)]
    """
    out = [False] * len(values) if unranked is None else list(unranked)
    order = sorted(
        range(len(values)),
        key=lambda i: (isnan(values[i]), out[i], 0.0 if isnan(values[i]) else -values[i], names[i]),
    )
    ranks: list[tuple[int, int | None]] = []
    for position, place in enumerate(order):
        if isnan(values[place]) or out[place]:
            ranks.append((place, None))
        elif position and values[order[position - 1]] - values[place] <= EQUAL:
            ranks.append((place, ranks[-1][1]))
        else:
            ranks.append((place, position + 1))
    return ranks


def ranking(*found: Study) -> pl.DataFrame:
    """The rows of `rank` of studies, in descending order within each measure; columns as documented for `rank` in
    json, and before the signature those that go with a measure (threshold, precision, recall, prevalence)."""
    results = [result for one in found for result in one.results]
    rows = [
        _row(result, signature, place, rank)
        for result in results
        for signature in [result.signature]
        for place, rank in ranking_order(
            result.evaluation.value.tolist(),
            [metric.name for metric in result.evaluation.metrics],
            result.evaluation.by_order,
        )
    ]
    details = {name: pl.Float64 for result in results for name in result.evaluation.details}
    frame = pl.DataFrame(rows, schema=RANKING_SCHEMA | details)
    return frame.select(pl.exclude("signature"), "signature")


_TEXT = ("testset", "lp", "human", "metric", "base_metric", "measure")
_COUNTS = ("rank", "cluster", "n_systems", "n_segments", "n_pairs", "n_groups", "n_groups_nan", "n_missing")
RANKING_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(_TEXT, pl.String),
    **dict.fromkeys(("value", "epsilon"), pl.Float64),
    **dict.fromkeys(_COUNTS, pl.Int64),
    **dict.fromkeys(("system_score", "signature"), pl.String),
}


def is_ranked(studies: Sequence[Study]) -> bool:
    """Whether any metric of any study can be ranked."""
    return any(one.evaluation.metrics and one.is_judged for found in studies for one in found.results)


def check_ranked(studies: Sequence[Study]) -> None:
    """Raises QuestionError: no metric of any study can be ranked; with the commonest reasons."""
    if is_ranked(studies):
        return
    results = [result for found in studies for result in found.results]
    ranked = [result for result in results if result.evaluation.metrics]
    if ranked:
        measures = ", ".join(dict.fromkeys(str(result.evaluation.measure) for result in ranked))
        lines = dict.fromkeys(str(without_segments(result.selection)) for result in ranked)
        raise QuestionError(f"{'; '.join(lines)}, which {measures} needs (pearson or pa rank by system scores)")
    faults = {
        where(result.selection): no_metric(
            result.selection,
            result.evaluation.excluded,
            can="can be ranked",
            needs_segments=result.evaluation.measure.definition.needs_segments,
            by_measure=True,
        )
        for result in results
    }
    first, *others = faults
    raise QuestionError(f"{faults[first].text}; nor of {', '.join(others)}") if others else faults[first]
