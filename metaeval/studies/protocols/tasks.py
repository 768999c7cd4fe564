"""The tasks of a protocol on a test set, with the metrics that each can rank, their values, and weights."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.measures.options import Options
from metaeval.measures.pairwise_accuracy import over_all_pairs
from metaeval.results.evaluation import Evaluation, evaluate, without_variation
from metaeval.studies.protocols import Rule
from metaeval.studies.protocols.entry import DroppedTask, Entry, TaskBlock, task_named
from queries.blocks import Block
from queries.reasons import Exclusion, by_reason
from warehouse import QuestionError


@dataclass(frozen=True)
class RankedBlock:
    """One evaluated language pair of a task. block: restricted to the metrics that the measure ranks.

    places: base name -> index among them; absent: base name -> why the metric is missing.
    """

    lp: str
    block: Block
    evaluation: Evaluation
    places: dict[str, int]
    absent: dict[str, Exclusion]

    def is_defined(self, name: str) -> bool:
        """Whether a metric is present and has a value."""
        return name in self.places and not np.isnan(self.evaluation.value[self.places[name]])


@dataclass(frozen=True)
class Job:
    """One task to score. group: its language pairs, one or several pooled; outliers, domain, human_references: of the
    first. weight: in the overall score.
    """

    rule: Rule
    group: tuple[RankedBlock, ...]
    outliers: str
    domain: str | None
    human_references: bool | None
    weight: float = 1.0

    @property
    def lps(self) -> tuple[str, ...]:
        """Its language pairs."""
        return tuple(one.lp for one in self.group)

    def common(self, names: Sequence[str]) -> Ints:
        """Indices of the metrics that all its language pairs have."""
        return np.flatnonzero([all(name in one.places for one in self.group) for name in names])

    def values(self, names: Sequence[str]) -> Floats:
        """Value of each metric, NaN if missing; several language pairs are pooled by pairs."""
        values = np.full(len(names), np.nan)
        for place in self.common(names):
            name = names[place]
            own = np.array([one.evaluation.value[one.places[name]] for one in self.group])
            n_pairs = np.array([one.evaluation.n_pairs[one.places[name]] for one in self.group])
            values[place] = own[0] if len(self.group) == 1 else over_all_pairs(own, n_pairs)
        return values


def jobs_of(entry: Entry, options: Options) -> tuple[list[Job], list[DroppedTask]]:
    """The tasks with their weights, and dropped tasks: without a human score, or without any metric that has a value.

    A language pair without such a metric is dropped from a pooled task.
    Raises QuestionError: a metric with several variants.
    """
    jobs: list[Job] = []
    dropped = list(entry.dropped)
    for rule, entered in zip(entry.protocol.rules, entry.entered, strict=True):
        found: list[Job] = []
        for one in entered:
            ranked = _ranked(rule, one, options)
            if any(ranked.is_defined(name) for name in ranked.places):
                found.append(Job(rule, (ranked,), one.outliers, one.domain, one.human_references))
            else:
                why = _why_undefined(rule, ranked, options) if ranked.places else _why_none(ranked)
                dropped.append(DroppedTask(task_named(rule, one.domain), one.lp, why))
        if rule.lps == "pooled" and found:
            found = [replace(found[0], group=tuple(ranked for job in found for ranked in job.group))]
        jobs += found
    return _weighted(jobs), dropped


def halved_weights(attributes: Sequence[Sequence[object]]) -> list[float]:
    """Weights that add up to 1, split evenly by one attribute after the other.

    The distinct values of the first attribute share 1 evenly; within each, those of the next attribute share its part,
    and so on. Tasks that agree in all attributes share the last part.

    >>> halved_weights([("a", "x"), ("b", "x"), ("b", "y")])
    [0.5, 0.25, 0.25]
    """
    if not attributes:
        return []
    if not attributes[0]:
        return [1.0 / len(attributes)] * len(attributes)
    values = list(dict.fromkeys(one[0] for one in attributes))
    weights = [0.0] * len(attributes)
    for value in values:
        places = [place for place, one in enumerate(attributes) if one[0] == value]
        for place, weight in zip(places, halved_weights([attributes[k][1:] for k in places]), strict=True):
            weights[place] = weight / len(values)
    return weights


def _weighted(jobs: Sequence[Job]) -> list[Job]:
    shares = iter(halved_weights([_attributes(job) for job in jobs if job.rule.weight == "halved"]))
    return [replace(job, weight=_weight(job, shares)) for job in jobs]


def _weight(job: Job, shares: Iterator[float]) -> float:
    if job.rule.weight == "halved":
        return next(shares)
    return float(len(job.group) if job.rule.weight == "n_lps" else job.rule.weight)


def _attributes(job: Job) -> tuple[object, ...]:
    """Attributes in halving order: language pairs, domain, level, human references, grouping, measure."""
    measure = job.rule.measure
    by = measure["by"] if measure.has("by") else "none"
    return ",".join(job.lps), job.domain, measure.level, job.human_references, by, measure.name


def _ranked(rule: Rule, entered: TaskBlock, options: Options) -> RankedBlock:
    evaluation = evaluate(rule.measure, entered.block, options)
    names = {metric.name for metric in evaluation.metrics}
    block = entered.block.take(metrics=[metric.name in names for metric in entered.block.metrics])
    absent = dict(entered.absent)
    absent |= {
        metric.base_name: evaluation.excluded[metric.name]
        for metric in entered.block.metrics
        if metric.name in evaluation.excluded
    }
    places: dict[str, int] = {}
    for place, metric in enumerate(block.metrics):
        if metric.base_name in places:
            both = f"{block.metrics[places[metric.base_name]].name} and {metric.name}"
            raise QuestionError(
                f"{metric.base_name!r} has several variants in {block.selection.slice.testset} {entered.lp}: {both}; "
                "a protocol scores one of each metric"
            )
        places[metric.base_name] = place
    return RankedBlock(entered.lp, block, evaluation, places, {k: why for k, why in absent.items() if k not in places})


def _why_undefined(rule: Rule, ranked: RankedBlock, options: Options) -> str:
    why = without_variation(rule.measure, ranked.block, options)
    return "not defined for any metric" if why is None else f"not defined, {why}"


def _why_none(ranked: RankedBlock) -> str:
    excluded = by_reason(ranked.absent).items()
    if not excluded:
        return "no metric is left"
    counts = "; ".join(f"{len(names)} {why.sentence}" for why, names in sorted(excluded, key=lambda one: -len(one[1])))
    return f"no metric can be ranked: {counts}"
