"""Scores of metrics by a protocol: value, rank and cluster in every task, and the weighted overall score."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.measures.options import Options, Population, TestOptions
from metaeval.results.cache import FROM_STORE, CacheEntry, key
from metaeval.results.run import Run
from metaeval.results.signature import option_parts, p_value_convention, signed
from metaeval.studies.protocols import Protocol
from metaeval.studies.protocols.entry import DroppedTask, Entry, enter
from metaeval.studies.protocols.populations import (
    PopulationTest,
    convention,
    of_overall,
    population_tests,
    tests_beside,
)
from metaeval.studies.protocols.significance import TaskTest, check_tests, organisers, rule_test, tested_tasks
from metaeval.studies.protocols.task_scores import (
    IN_WORDS,
    Task,
    Verdict,
    competition_ranks,
    lines_on_overall,
    mean_rank,
    mean_value,
    scored_task,
    verdict_on,
)
from metaeval.studies.protocols.tasks import Job, jobs_of
from queries.slices import Slice
from warehouse import QuestionError
from warehouse.progress import Progress
from warehouse.wording import are, option


@dataclass(frozen=True)
class Missing:
    """A task without a metric: the task's index, the language pairs concerned, and the reason."""

    task: int
    lps: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        return f"{','.join(self.lps)}: {self.reason}"


@dataclass(frozen=True)
class ProtocolScore:
    """Metrics (base names) by a protocol, best overall first; those without an overall score last, by name.

    overall: a weighted mean of values or, with by_ranks, of ranks in the tasks (lower is better); by_cluster: with
    by_ranks, the weighted mean of cluster ranks, which the year published, None = not tested. missing: metric -> tasks
    without it. excluded: metric in no task -> reason. clusters: 0 = none (not tested, or without an overall score).
    population, beside: results of tests that hold their level for a population. dropped: tasks for which no metric has
    scores, with their language pairs.
    """

    protocol: str
    testset: str
    metrics: tuple[str, ...]
    overall: Floats
    by_ranks: bool
    ranks: Ints
    clusters: Ints
    tasks: tuple[Task, ...]
    missing: dict[str, tuple[Missing, ...]]
    excluded: dict[str, str]
    n_significant: int | None
    signature: str
    notes: tuple[str, ...]
    population: Population | None = None
    beside: PopulationTest | None = None
    by_cluster: Floats | None = None
    dropped: str | None = None

    @property
    def best_high(self) -> Floats:
        """The overall scores, negated if needed so that higher is better."""
        return -self.overall if self.by_ranks else self.overall

    @property
    def winners(self) -> tuple[str, ...]:
        """The metrics of rank 1."""
        return tuple(name for name, rank in zip(self.metrics, self.ranks, strict=True) if rank == 1)


class NothingScoredError(QuestionError):
    """No metric can be scored by a protocol. by_any: the message without the protocol's name; why: its cause."""

    def __init__(self, by_any: str, *, by: str = "", why: str = "", hint: str = "") -> None:
        more = f": {why}" if why else ""
        super().__init__(f"{by_any} by {by}{more}", hint=hint)
        self.by_any = f"{by_any}{more}"


def score(
    entry: Entry,
    *,
    significance: bool = False,
    options: Options | None = None,
    testing: TestOptions | None = None,
    progress: Progress | None = None,
) -> ProtocolScore:
    """Score the metrics of a test set by a protocol.

    A task for which no metric has scores is dropped and reported; the overall score covers the rest. significance: test
    every task among all its metrics, and an overall score of values among the metrics that all tasks have; the
    differences in the latter are weighted averages of the tasks' resamples, which are independent.
    Raises QuestionError: a number out of its range, an option that the protocol's tests do not have, a metric with
    several variants, or no metric.
    """
    options, given = options or Options(), testing or TestOptions()
    testing = organisers(given)
    if testing.population is not None and not significance:
        raise QuestionError(
            f"population {testing.population!r} is of significance tests; add {option('significance', True)}"
        )
    if testing.unit == "annotator":
        raise QuestionError(
            f"a protocol's tests resample segments or documents, not annotators; drop {option('unit', 'annotator')}"
        )
    jobs, dropped = jobs_of(entry, options)
    names = sorted({name for job in jobs for one in job.group for name in one.places})
    if not names:
        raise NothingScoredError(
            f"no metric of {entry.testset} {','.join(entry.lps)} can be scored",
            by=entry.protocol.name,
            why="; ".join(dict.fromkeys(one.reason for one in dropped)),
            hint=f"{option('all_metrics', True)} includes contrastive metrics" if _is_primary(entry) else "",
        )
    by_ranks = entry.protocol.overall == "ranks"
    tests: list[TaskTest | None] = [None] * len(jobs)
    if significance:
        check_tests(jobs, testing, options, entry.protocol.name, tests_beside(jobs, testing))
        tests = tested_tasks(jobs, names, options, testing, progress, keep_null=not by_ranks)
    own = [None if test is None else test.own for test in tests]
    besides: list[PopulationTest | None] = [None] * len(jobs)
    if testing.population is not None:
        besides = population_tests(jobs, names, own, options, given)
    tasks = [
        scored_task(job, names, test, found, options) for job, test, found in zip(jobs, tests, besides, strict=True)
    ]
    overall = mean_rank(tasks) if by_ranks else mean_value(tasks)
    verdict = (
        verdict_on(overall, names, jobs, tests, testing, by_ranks=by_ranks) if significance else Verdict(len(names))
    )
    better = -overall if by_ranks else overall
    overall_beside = None
    if testing.population is not None and verdict.own is not None:
        rng = np.random.default_rng([options.seed, 4])
        overall_beside = of_overall(jobs, names, better, verdict.own, options, given, rng)
    order = np.array(
        sorted(range(len(names)), key=lambda i: (np.isnan(better[i]), -np.nan_to_num(better[i]), names[i])),
        dtype=np.int64,
    )
    said = dict.fromkeys(note for job in jobs for one in job.group for note in one.block.selection.notes)
    notes = [*entry.notes, *said, *_on_dropped(dropped), *verdict.notes, *lines_on_overall(entry, significance)]
    return ProtocolScore(
        protocol=entry.protocol.name,
        testset=entry.testset,
        metrics=tuple(names[place] for place in order),
        overall=overall[order],
        by_ranks=by_ranks,
        ranks=competition_ranks(better)[order],
        clusters=verdict.clusters[order],
        tasks=tuple(task.among(order) for task in tasks),
        missing={name: found for at, name in enumerate(names) if (found := _missing(name, at, jobs, tasks, by_ranks))},
        excluded=_excluded(jobs, names),
        n_significant=verdict.n_significant,
        signature=_signature(
            entry, jobs, dropped, len(names), options, testing if significance else None, convention(jobs, given)
        ),
        notes=(*notes, *_absent_everywhere(jobs, names)),
        population=testing.population,
        beside=overall_beside and overall_beside.among(order),
        by_cluster=mean_rank(tasks, by_cluster=True)[order] if by_ranks and significance else None,
        dropped=_dropped_tasks(dropped),
    )


def _is_primary(entry: Entry) -> bool:
    """Whether only primary metrics and baselines are scored."""
    return any(one.block.selection.slice.status == "primary" for entered in entry.entered for one in entered)


def _on_dropped(dropped: Sequence[DroppedTask]) -> list[str]:
    """A line per dropped kind of task, with its language pairs."""
    lines = []
    for task in dict.fromkeys(one.task for one in dropped):
        own = [one for one in dropped if one.task == task]
        lps = ", ".join(dict.fromkeys(one.lp for one in own))
        lines.append(f"{task} of {lps} is dropped, and the overall score covers the rest: {own[0].reason}")
    return lines


def _excluded(jobs: Sequence[Job], names: Sequence[str]) -> dict[str, str]:
    """Metrics with scores that are in no task, and why."""
    reasons = {
        name: why.sentence
        for job in jobs
        for one in job.group
        for name, why in one.absent.items()
        if name not in names and not why.lacks_scores
    }
    return dict(sorted(reasons.items()))


def _absent_everywhere(jobs: Sequence[Job], names: Sequence[str]) -> list[str]:
    """Notes on metrics that are in no task because they have no scores."""
    reasons: dict[str, dict[str, None]] = {}
    for job in jobs:
        for one in job.group:
            for name, why in one.absent.items():
                if name not in names and why.lacks_scores:
                    reasons.setdefault(name, {})[f"{one.lp}: {why.sentence}"] = None
    alike: dict[str, list[str]] = {}
    for name, found in sorted(reasons.items()):
        alike.setdefault("; ".join(found), []).append(name)
    return [f"{', '.join(them)} {are(len(them))} missing in every task: {why}" for why, them in alike.items()]


def _missing(name: str, place: int, jobs: Sequence[Job], tasks: Sequence[Task], by_ranks: bool) -> tuple[Missing, ...]:
    """Tasks without a metric, and why; including those whose measure is undefined for it."""
    found: list[Missing] = []
    for number, (job, task) in enumerate(zip(jobs, tasks, strict=True)):
        without = [one for one in job.group if name not in one.places]
        for one in without:
            why = one.absent[name].sentence if name in one.absent else "no such metric"
            found.append(Missing(number, (one.lp,), why))
        if not without and np.isnan(task.values[place]):
            how = ", counted as 0" if task.mapped else ""
            how += ", in no cluster" if by_ranks and task.clusters.any() else ""
            found.append(Missing(number, task.lps, f"{task.measure} is undefined{how}"))
    return tuple(found)


def _signature(
    entry: Entry,
    jobs: Sequence[Job],
    dropped: Sequence[DroppedTask],
    n_metrics: int,
    options: Options,
    testing: TestOptions | None,
    beside_p_value: str | None,
) -> str:
    first = {one.lp: one.block for job in reversed(jobs) for one in reversed(job.group)}
    blocks = [first[lp] for lp in entry.lps if lp in first]
    parts: list[tuple[str, object]] = [
        ("protocol", entry.protocol.name),
        ("testset", entry.testset),
        ("lp", ",".join(entry.lps)),
        ("dropped", _dropped_tasks(dropped)),
        ("human", ",".join(dict.fromkeys(str(block.selection.human) for block in blocks))),
        ("reference", ",".join(str(block.selection.reference) for block in blocks)),
        ("primary", "yes" if blocks[0].selection.slice.status == "primary" else None),
        ("n_systems", ",".join(str(len(block.systems)) for block in blocks)),
        ("n_metrics", n_metrics),
        ("n_segments", ",".join(f"{int(b.judged.any(axis=0).sum())}/{b.selection.n_segments}" for b in blocks)),
        ("n_missing", ",".join(str(block.n_missing) for block in blocks)),
        ("system_score", options.system_score),
        ("outliers", _outliers(entry)),
        ("level", entry.protocol.level),
        ("tasks", entry.protocol.own_tasks),
        ("overall", IN_WORDS[entry.protocol.overall == "ranks"]),
        ("seed", options.seed),
        *option_parts(options),
    ]
    if testing is not None:
        is_williams = any(rule_test(job.rule, options) == "williams" for job in jobs)
        parts += [
            ("population", testing.population),
            ("unit", "document" if testing.unit == "document" else None),
            ("alternative", testing.side),
            ("resamples", testing.resamples),
            ("alpha", testing.alpha),
            ("p_value", p_value_convention(testing.side, testing.plus_one)),
            ("population_p_value", beside_p_value),
            ("degrees_of_freedom", ("n-2" if testing.legacy_df else "n-3") if is_williams else None),
            ("absolute", "yes" if testing.absolute and is_williams else None),
        ]
    return signed(*parts)


def _dropped_tasks(dropped: Sequence[DroppedTask]) -> str | None:
    without: dict[str, dict[str, None]] = {}
    for one in dropped:
        without.setdefault(one.task, {})[one.lp] = None
    return ";".join(f"{task} of {','.join(lps)}" for task, lps in without.items()) or None


def _outliers(entry: Entry) -> str | None:
    """Language pairs whose outliers differ from those in the organisers' later toolkit; None if there are none."""
    own = [lp for lp in entry.lps if lp in entry.protocol.outliers and entry.testset == entry.protocol.name]
    return ",".join(f"{lp}={entry.protocol.outliers[lp]}" for lp in own) or None


def scored(
    run: Run,
    protocol: Protocol,
    asked: Slice,
    lps: Sequence[str] | None,
    options: Options,
    testing: TestOptions,
    *,
    all_metrics: bool,
    significance: bool,
    fresh: bool = False,
) -> tuple[ProtocolScore, list[str]]:
    """Score a slice's test set by a protocol, or take the scores from the result store; and notes on storing.

    lps, all_metrics: see `enter`.
    Raises QuestionError: as `scoring.score`. SchemaError: the warehouse cannot be read.
    """
    with run.opened() as warehouse:
        entry = enter(
            warehouse, protocol, asked.testset, lps=lps, asked=asked, all_metrics=all_metrics, options=options
        )
        blocks = [one.block for entered in entry.entered for one in entered]
        settings = organisers(testing) if significance else TestOptions()
        rules = [replace(rule, measure=str(rule.measure)) for rule in protocol.rules]  # type: ignore[arg-type]
        described = (protocol.name, protocol.overall, str(rules), str(entry.dropped), *entry.notes, ",".join(entry.lps))
        answer_key = key("protocol", blocks, *described, significance, options, settings)
        question = CacheEntry(answer_key, "protocol", asked.testset, ",".join(entry.lps), ProtocolScore)
        if not fresh and (kept := question.stored(warehouse)) is not None:
            return kept, [FROM_STORE]
    return question.computed(
        run.database,
        lambda: score(entry, significance=significance, options=options, testing=testing, progress=run.progress),
    )
