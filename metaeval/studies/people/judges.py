"""Judges, such as language models, compared with annotators: agreement, runs, versions, corrected shares and biases."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.agreement.judges import (
    Effect,
    clustered_mean,
    cohen_kappa,
    judge_effect,
    judge_lead,
    nearest_category,
    rogan_gladen,
)
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options
from metaeval.results.answer import Result, or_none, table_notes, table_parts
from metaeval.results.evaluation import evaluate
from metaeval.results.inputs import Inputs, metric_place
from queries.annotations import annotations, judged_scores
from queries.blocks import Block, output_lengths, places_of
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import unknown
from warehouse.facts.model_families import model_family
from warehouse.wording import are, option

RUN, VERSION = "@", ":"  # behind the name of a judge: one of its runs, a version of its prompt
MOST_CATEGORIES = 10
_EFFECT = ("value", "low", "high", "p", "n", "n_clusters")


@dataclass(frozen=True)
class Verdicts:
    """Scores that judges and annotators give the outputs of a block, flattened: (n,) outputs, their segments as items.

    scores: (M, n) of the block's metrics. annotators: (A, n), or only the human score if no annotators are known.
    categories: values of the human judgements if at most ten, else ().
    """

    block: Block
    names: tuple[str, ...]
    scores: Floats
    human: Floats
    raters: tuple[str, ...]
    annotators: Floats
    items: Ints
    systems: Ints
    categories: tuple[float, ...]

    @property
    def noise(self) -> Floats | None:
        """(n,) error variance of the human scores, from annotators of the same output; None with one annotator."""
        k = (~np.isnan(self.annotators)).sum(axis=0)
        if not (k > 1).any():
            return None
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.nansum(self.annotators, axis=0) / k
            within = np.nansum((self.annotators - mean) ** 2, axis=0) / (k - 1.0)
        pooled = float(np.average(within[k > 1], weights=k[k > 1] - 1))
        return np.where(k > 0, pooled / np.maximum(k, 1), np.nan)

    def is_on_another_scale(self, at: int) -> bool:
        """Whether over a tenth of a metric's scores are outside the annotators' categories, or all are at one end."""
        own = self.scores[at][~np.isnan(self.scores[at])]
        low, high = self.categories[0], self.categories[-1]
        is_beyond = (own < low - 0.5) | (own > high + 0.5)
        return bool(is_beyond.mean() > 0.1 or own.max() <= low or own.min() >= high)

    @property
    def as_categories(self) -> Floats:
        """(M, n) scores replaced by the nearest category of the annotators."""
        return nearest_category(self.scores, self.categories)


def verdicts(warehouse: Warehouse, asked: Slice) -> Verdicts:
    """Raises QuestionError: see `Inputs`; no metric has segment scores."""
    block = Inputs(warehouse, asked).of_level("seg")
    is_run = np.array([RUN in choice.base_name for choice in block.metrics], dtype=np.bool_) & (not asked.metrics)
    block = block.take(metrics=~np.isnan(block.scores).all(axis=(1, 2)) & ~is_run)
    if not block.metrics:
        raise QuestionError(f"no metric of {asked.testset} {asked.lp} has scores of segments")
    shape = block.human.shape
    human = block.human.ravel()
    raters, given = _annotators(warehouse, block)
    if not raters:
        raters, given = (str(block.selection.human),), human[np.newaxis]
    found = np.unique(given[~np.isnan(given)])
    return Verdicts(
        block,
        tuple(choice.name for choice in block.metrics),
        block.scores.reshape(len(block.metrics), -1),
        human,
        raters,
        given,
        np.tile(np.arange(shape[1]), shape[0]),
        np.repeat(np.arange(shape[0]), shape[1]),
        tuple(found.tolist()) if 1 < len(found) <= MOST_CATEGORIES else (),
    )


def _annotators(warehouse: Warehouse, block: Block) -> tuple[tuple[str, ...], Floats]:
    """Known annotators of the block's human score, and (A, n) their mean judgements."""
    testset, lp, human = block.selection.slice.testset, block.selection.slice.lp, str(block.selection.human)
    try:
        (score,) = judged_scores(warehouse, testset, lp, human)
    except QuestionError:
        return (), np.empty((0, block.human.size))
    rows = annotations(warehouse, score).filter("counts").drop_nulls("rater")
    raters = sorted(set(rows["rater"]))
    place = places_of(block, rows["system"].to_list(), rows["segment"].to_list())
    number = {name: at for at, name in enumerate(raters)}
    at = np.array([number[name] for name in rows["rater"]], dtype=np.int64) * block.human.size + place
    kept, size = place >= 0, len(raters) * block.human.size
    n = np.bincount(at[kept], minlength=size)
    total = np.bincount(at[kept], rows["value"].to_numpy()[kept], minlength=size)
    values = np.where(n > 0, total / np.maximum(n, 1), np.nan)
    return tuple(raters), values.reshape(len(raters), block.human.size)


def agreement(warehouse: Warehouse, asked: Slice, margin: float) -> Result:
    """How well judges and annotators agree with annotators, and whether a judge is as good as an annotator.

    One row for each, and one for a baseline that always gives the most frequent category: scorer, kind, accuracy and
    kappa (means over annotators other than the evaluated one; null if scores have more than ten categories), r
    (Pearson's, with the mean of the annotators, or of the others), n_outputs; for judges also lead (see `judge_lead`),
    low, high, p, and verdict: better or worse (p ≤ .05), as good (worse by less than the margin, with 97.5% certainty),
    else undecided.
    """
    found = verdicts(warehouse, asked)
    rows = [_judge_row(found, at, margin) for at in range(len(found.names))]
    rows += [_annotator_row(found, at) for at in range(len(found.raters))] if len(found.raters) > 1 else []
    rows += [_constant_row(found)] if found.categories else []
    schema: dict[str, Any] = dict.fromkeys(("scorer", "kind"), pl.String)
    schema |= dict.fromkeys(("accuracy", "kappa", "r"), pl.Float64) | {"n_outputs": pl.Int64}
    schema |= dict.fromkeys(("lead", "low", "high", "p"), pl.Float64) | {"verdict": pl.String}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    order = "accuracy" if found.categories else "r"
    frame = frame.sort(order, "scorer", descending=[True, False], nulls_last=True)
    notes = [*table_notes(found.block, {})]
    if not found.categories:
        notes.append(
            f"the annotators' scale has more than {MOST_CATEGORIES} values, so there are no categories, only r"
        )
    elif len(found.raters) > 1:
        notes.append(
            f"verdict: lead over an annotator with its 95% interval, items independent; as good: not worse by "
            f"{margin:g} ({option('margin')})"
        )
    if found.categories and (other := [name for at, name in enumerate(found.names) if found.is_on_another_scale(at)]):
        notes.append(
            f"{', '.join(other)} {are(len(other), have=True)} only r, because the scale is not that of the annotators"
        )
    if len(found.raters) == 1:
        notes.append("annotators are not known one by one, so a judge is compared with their mean alone")
    parts = table_parts(
        ("judges", "agreement"),
        found.block,
        ("n_annotators", len(found.raters)),
        ("categories", len(found.categories) or "none"),
        ("margin", f"{margin:g}"),
        ("interval", "95%,jackknife_items,t"),
    )
    return Result(frame, parts, tuple(notes))


def _judge_row(found: Verdicts, at: int, margin: float) -> tuple[Any, ...]:
    own, r = found.scores[at], _correlation(found.scores[at], found.human)
    n = int((~np.isnan(own) & ~np.isnan(found.annotators).all(axis=0)).sum())
    if not found.categories or found.is_on_another_scale(at):
        return (found.names[at], "judge", None, None, r, n, None, None, None, None, None)
    own = found.as_categories[at]
    effect = clustered_mean(judge_lead(found.annotators, own), found.items)
    numbers = [or_none(value) for value in (effect.value, effect.low, effect.high, effect.p)]
    shares = (_accuracy(own, found.annotators), _kappa(own, found.annotators))
    return (found.names[at], "judge", *map(or_none, shares), r, n, *numbers, _verdict(effect, margin))


def _verdict(effect: Effect, margin: float) -> str | None:
    if np.isnan(effect.p):
        return None
    if effect.p <= 0.05:
        return "better" if effect.value > 0 else "as good" if effect.low > -margin else "worse"
    return "as good" if effect.low > -margin else "undecided"


def _annotator_row(found: Verdicts, at: int) -> tuple[Any, ...]:
    own, others = found.annotators[at], np.delete(found.annotators, at, axis=0)
    with np.errstate(invalid="ignore"):
        n_others = (~np.isnan(others)).sum(axis=0)
        mean = np.where(n_others > 0, np.nansum(others, axis=0) / np.maximum(n_others, 1), np.nan)
    shares = (_accuracy(own, others), _kappa(own, others)) if found.categories else (np.nan, np.nan)
    n = int((~np.isnan(own) & ~np.isnan(mean)).sum())
    return (found.raters[at], "annotator", *map(or_none, shares), _correlation(own, mean), n, *[None] * 5)


def _constant_row(found: Verdicts) -> tuple[Any, ...]:
    given = found.annotators[~np.isnan(found.annotators)]
    values, n = np.unique(given, return_counts=True)
    constant = np.full(found.human.shape, values[np.argmax(n)])
    name = f"always {values[np.argmax(n)]:g}"
    accuracy = or_none(_accuracy(constant, found.annotators))
    n_outputs = int((~np.isnan(found.annotators).all(axis=0)).sum())
    return (name, "constant", accuracy, 0.0, None, n_outputs, *[None] * 5)


def _accuracy(own: Floats, annotators: Floats) -> float:
    """Mean over outputs of the share of annotators who give the same category."""
    there = ~np.isnan(annotators) & ~np.isnan(own)
    n = there.sum(axis=0)
    return float(((annotators == own) & there).sum(axis=0)[n > 0].__truediv__(n[n > 0]).mean()) if n.any() else np.nan


def _kappa(own: Floats, annotators: Floats) -> float:
    """Mean over annotators of Cohen's kappa."""
    values = np.array([cohen_kappa(own, one) for one in annotators])
    return float(np.nanmean(values)) if not np.isnan(values).all() else np.nan


def _correlation(a: Floats, b: Floats) -> float | None:
    both = ~np.isnan(a) & ~np.isnan(b)
    if both.sum() < 3 or np.ptp(a[both]) == 0 or np.ptp(b[both]) == 0:
        return None
    return float(np.corrcoef(a[both], b[both])[0, 1])


def runs(warehouse: Warehouse, asked: Slice, measure: Measure, options: Options) -> Result:
    """How much runs of one judge differ, also relative to the judge's distance from the next metric.

    One row per judge with several runs: metric, n_runs, value (of the mean of its runs), run_mean, run_sd (of the
    values of single runs), output_sd (between runs of one output, root mean square), noise_share (of the variance of a
    run's scores), next (the metric whose value is nearest), distance, runs_apart (run_sd over the distance).
    Raises QuestionError: no judge has several runs.
    """
    block = Inputs(warehouse, asked).block(measure)
    found = evaluate(measure, block, options)
    value = dict(zip((choice.base_name for choice in found.metrics), found.value.tolist(), strict=True))
    scores = {choice.base_name: block.scores[at] for at, choice in enumerate(block.metrics)}
    of_judge: dict[str, list[str]] = {}
    for name in value:
        if RUN in name:
            of_judge.setdefault(name.rpartition(RUN)[0], []).append(name)
    rows = []
    for judge, names in of_judge.items():
        if len(names) < 2 or judge not in value:
            continue
        single = np.array([value[name] for name in names])
        each = np.array([scores[name] for name in names])
        within = float(np.nanmean(np.nanvar(each, axis=0, ddof=1)))
        total = float(np.nanmean(np.nanvar(each, axis=(1, 2), ddof=1)))
        others = [one for one in value if one != judge and one not in names and RUN not in one]
        near = min(others, key=lambda one: abs(value[one] - value[judge]), default=None)
        distance = None if near is None else abs(value[near] - value[judge])
        sd = float(single.std(ddof=1))
        apart = None if not distance else sd / distance
        shares = (float(np.sqrt(within)), within / total if total > 0 else np.nan)
        rows.append(
            (judge, len(names), value[judge], float(single.mean()), sd, *map(or_none, shares), near, distance, apart)
        )
    if not rows:
        raise QuestionError(f"no judge of {asked.testset} {asked.lp} has several runs (a column 'run', or NAME_run1)")
    schema: dict[str, Any] = {"metric": pl.String, "n_runs": pl.Int64}
    schema |= dict.fromkeys(("value", "run_mean", "run_sd", "output_sd", "noise_share"), pl.Float64)
    schema |= {"next": pl.String, "distance": pl.Float64, "runs_apart": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row").sort("value", descending=True)
    return Result(frame, table_parts(("judges", "runs"), block, ("measure", measure)), table_notes(block, {}))


def drift(warehouse: Warehouse, asked: Slice) -> Result:
    """How verdicts change from one version of a judge to another, on the outputs that both judged.

    One row per pair of versions, or for the two named metrics: version_a, version_b, change (mean of b − a), low, high,
    p (items independent), changed (share of outputs with another category, or another score), kappa, r (between the
    versions), r_a and r_b (with human scores), n_outputs.
    Raises QuestionError: there is no pair.
    """
    found = verdicts(warehouse, asked)
    bases = [choice.base_name for choice in found.block.metrics]
    pairs = [
        (a, b)
        for a, b in combinations(_in_order(asked, found), 2)
        if len(bases) == 2
        or (VERSION in bases[a] and _judge_of(bases[a]) == _judge_of(bases[b]) and RUN not in bases[a] + bases[b])
    ]
    if not pairs:
        raise QuestionError(
            f"no two versions of a judge; name two metrics with {option('metrics')}, or a column 'version'"
        )
    rows = []
    for a, b in pairs:
        one, other = found.scores[a], found.scores[b]
        effect = clustered_mean(other - one, found.items)
        kept = ~np.isnan(one) & ~np.isnan(other)
        shown = [found.as_categories[at] if found.categories else found.scores[at] for at in (a, b)]
        kappa = or_none(cohen_kappa(*shown)) if found.categories else None
        changed = float((shown[0] != shown[1])[kept].mean()) if kept.any() else None
        r = [_correlation(*both) for both in ((one, other), (one, found.human), (other, found.human))]
        rows.append((bases[a], bases[b], *map(or_none, effect[:4]), changed, kappa, *r, effect.n))
    schema: dict[str, Any] = dict.fromkeys(("version_a", "version_b"), pl.String)
    numbers = ("change", "low", "high", "p", "changed", "kappa", "r", "r_a", "r_b")
    schema |= dict.fromkeys(numbers, pl.Float64) | {"n_outputs": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    parts = table_parts(("judges", "drift"), found.block, ("interval", "95%,jackknife_items,t"))
    return Result(frame, parts, table_notes(found.block, {}))


def _in_order(asked: Slice, found: Verdicts) -> list[int]:
    """The metrics in the order in which they were named, else by name."""
    places = [metric_place(found.block, name) for name in asked.metrics]
    named = [place for place in places if place is not None]
    return named if len(named) == len(found.names) else list(range(len(found.names)))


def _judge_of(name: str) -> str:
    return name.partition(VERSION)[0]


def shares(warehouse: Warehouse, asked: Slice, good: float) -> Result:
    """The share of good outputs of each system according to a judge, corrected for the judge's errors.

    One row per judge and system: metric, system, judged, corrected, low, high (Rogan and Gladen; sensitivity and
    specificity over all systems), human (share of annotated outputs that are good by human scores), sensitivity,
    specificity, n_outputs, n_human. An output is good if its score, human or of the judge, is at least `good`.
    """
    found = verdicts(warehouse, asked)
    rows = []
    is_human, human = ~np.isnan(found.human), found.human >= good
    for at, name in enumerate(found.names):
        there, own = ~np.isnan(found.scores[at]), found.scores[at] >= good
        both = there & is_human
        hit, positive = int((own & human & both).sum()), int((human & both).sum())
        passed, negative = int((~own & ~human & both).sum()), int((~human & both).sum())
        rates = (hit / positive if positive else np.nan, passed / negative if negative else np.nan)
        for number, system in enumerate(found.block.systems):
            of_system = found.systems == number
            n, n_human = int((there & of_system).sum()), int((is_human & of_system).sum())
            share = rogan_gladen(int((own & there & of_system).sum()), n, hit, positive, passed, negative)
            people = human[is_human & of_system].mean() if n_human else np.nan
            values = (*share, float(people), *rates)
            rows.append((name, system, *map(or_none, values), n, n_human))
    schema: dict[str, Any] = dict.fromkeys(("metric", "system"), pl.String)
    numbers = ("judged", "corrected", "low", "high", "human", "sensitivity", "specificity")
    schema |= dict.fromkeys(numbers, pl.Float64) | dict.fromkeys(("n_outputs", "n_human"), pl.Int64)
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    lost = sorted(set(frame.filter(pl.col("corrected").is_null())["metric"]))
    notes = list(table_notes(found.block, {}))
    if lost:
        notes.append(f"{', '.join(lost)} {are(len(lost))} not corrected: good and bad are told apart as by chance")
    parts = table_parts(("judges", "shares"), found.block, ("good", f"{good:g}"), ("interval", "95%,delta"))
    return Result(frame, parts, tuple(notes))


def bias(warehouse: Warehouse, asked: Slice, length: str | None) -> Result:
    """Whether judges prefer long outputs, or systems of their own family, at equal quality.

    One row per judge and kind of bias: metric, bias (length, or own family), effect (in standard deviations of the
    judge's scores: per standard deviation of length, or for a system of its family), low, high, p, n_outputs, n_items,
    detail (the family's systems). length: the metric that holds the lengths; None: characters of the loaded outputs.
    Raises QuestionError: an unknown metric; neither lengths nor systems of a judge's family are known.
    """
    found = verdicts(warehouse, asked)
    lengths, notes = _lengths(warehouse, found, length)
    rows: list[tuple[Any, ...]] = []
    of_length = None if length is None else metric_place(found.block, length)
    for at in range(len(found.names)):
        if at == of_length:
            continue
        name, judge = found.names[at], found.scores[at]
        if lengths is not None:
            effect = judge_effect(judge, found.human, lengths, found.items, found.noise, found.systems)
            rows.append((name, "length", *_cells(effect), None))
        family = model_family(name)
        own = [system for system in found.block.systems if family is not None and model_family(system) == family]
        if own and len(own) < len(found.block.systems):
            is_own = np.isin(np.array(found.block.systems)[found.systems], own).astype(np.float64)
            effect = judge_effect(judge, found.human, is_own, found.items, found.noise)
            rows.append((name, "own family", *_cells(effect), f"{family}: {', '.join(own)}"))
    if not rows:
        raise QuestionError(
            f"no lengths of outputs are known ({option('length')} names a metric that has them), and no system is of a "
            "judge's family"
        )
    schema: dict[str, Any] = dict.fromkeys(("metric", "bias"), pl.String)
    schema |= dict.fromkeys(("effect", "low", "high", "p"), pl.Float64)
    schema |= dict.fromkeys(("n_outputs", "n_items"), pl.Int64) | {"detail": pl.String}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    notes.append(
        "effect: standard deviations of the judge, within items (length: and systems), at equal quality; for new items "
        "of these systems"
    )
    notes.append(
        "each output has one annotator, so errors of human scores are unknown, and a part of quality is taken for bias"
        if found.noise is None
        else "errors of human scores are known from several annotators of an output, and taken off"
    )
    parts = table_parts(("judges", "bias"), found.block, ("length", length), ("interval", "95%,jackknife_items,t"))
    return Result(frame, parts, (*table_notes(found.block, {}), *notes))


def _cells(effect: Effect) -> Sequence[float | int | None]:
    return [*(or_none(value) for value in effect[:4]), effect.n, effect.n_clusters]


def _lengths(warehouse: Warehouse, found: Verdicts, length: str | None) -> tuple[Floats | None, list[str]]:
    """(n,) standardised lengths of outputs, and what they measure."""
    if length is not None:
        place = metric_place(found.block, length)
        if place is None:
            raise unknown("metric", length, found.names, where=found.block.selection.slice.testset)
        values, what = found.scores[place], length
    else:
        values, what = output_lengths(warehouse, found.block).ravel(), "characters of the output"
    if np.isnan(values).all() or np.nanstd(values) == 0:
        return None, ["there are no lengths, because no texts of outputs are loaded"]
    return (values - np.nanmean(values)) / np.nanstd(values), [f"length: {what}"]
