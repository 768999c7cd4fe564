"""Scores of a protocol's tasks, and the overall score: means over tasks, and the test of these."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.clusters import indistinct_across_clusters, n_significant_pairs, ranks
from metaeval.measures.options import Options, TestOptions
from metaeval.results.notes import NoteWithHint, placed
from metaeval.studies.protocols.entry import Entry
from metaeval.studies.protocols.populations import PopulationTest
from metaeval.studies.protocols.significance import Own, TaskTest, clusters_of, overall_p, rule_test
from metaeval.studies.protocols.tasks import Job
from metaeval.studies.significance.standings import warning_of_clusters
from warehouse.wording import option


@dataclass(frozen=True)
class Task:
    """One task of a protocol on a test set: aligned with the protocol score's metrics.

    values: (M,), NaN = missing or undefined; ranks (by `counted`) and clusters: (M,), 0 = none. mapped: correlations
    enter an overall score of values as (r + 1) / 2. domain: None = all; human_references: None = as the organisers
    ranked them. beside: by a test that holds its level, if requested.
    """

    lps: tuple[str, ...]
    level: str
    measure: str
    test: str
    outliers: str
    weight: float
    values: Floats
    mapped: bool
    ranks: Ints
    clusters: Ints
    domain: str | None = None
    human_references: bool | None = None
    beside: PopulationTest | None = None

    @property
    def counted(self) -> Floats:
        """(M,) values in the overall score: the undefined correlation of a constant metric counts as 0.

        Source: the organisers' toolkit (AverageCorrelation.Corr).
        """
        return np.where(self.ranks > 0, np.nan_to_num(self.values), np.nan)

    def among(self, order: Ints) -> "Task":
        """The task with its metrics in another order."""
        return replace(
            self,
            values=self.values[order],
            ranks=self.ranks[order],
            clusters=self.clusters[order],
            beside=self.beside and self.beside.among(order),
        )


def scored_task(
    job: Job, names: Sequence[str], test: TaskTest | None, beside: PopulationTest | None, options: Options
) -> Task:
    """The scores of a job. names: the protocol's metrics; test: None = not tested."""
    values, mapped = job.values(names), job.rule.measure.definition.is_correlation
    counted = values.copy()
    if mapped:
        counted[job.common(names)] = np.nan_to_num(values[job.common(names)])
    return Task(
        lps=job.lps,
        level=job.rule.measure.level,
        measure=str(job.rule.measure),
        test=rule_test(job.rule, options),
        outliers=job.outliers,
        weight=job.weight,
        values=values,
        mapped=mapped,
        ranks=competition_ranks(counted),
        clusters=np.zeros(len(names), dtype=np.int64) if test is None else test.clusters,
        domain=job.domain,
        human_references=job.human_references,
        beside=beside,
    )


def competition_ranks(values: Floats) -> Ints:
    """Competition ranks, 0 for a metric without a value."""
    found = ranks(values)
    found[np.isnan(values)] = 0
    return found


IN_WORDS = {False: "weighted mean, correlations as (r+1)/2", True: "weighted mean of ranks by value"}
"""How the overall score is made: whether of ranks."""


def mean_value(tasks: Sequence[Task]) -> Floats:
    """Weighted mean over the tasks that count, correlations mapped to [0, 1]; NaN if a metric is missing in any."""
    values = np.array([(task.counted + 1) / 2 if task.mapped else task.counted for task in tasks])
    return np.asarray(np.average(values, axis=0, weights=[task.weight for task in tasks]), dtype=np.float64)


def mean_rank(tasks: Sequence[Task], *, by_cluster: bool = False) -> Floats:
    """Weighted mean over tasks of the rank by value; NaN if a metric has no rank in a task.

    by_cluster: mean of the clusters, for tested tasks.
    """
    places = [task.clusters if by_cluster and task.clusters.any() else task.ranks for task in tasks]
    values = np.array([np.where(found > 0, found, np.nan) for found in places])
    return np.asarray(np.average(values, axis=0, weights=[task.weight for task in tasks]), dtype=np.float64)


class Verdict:
    """The test of the overall score: clusters, significant pairs and p (None = not tested), and notes."""

    def __init__(self, n_metrics: int) -> None:
        self.clusters = np.zeros(n_metrics, dtype=np.int64)
        self.n_significant: int | None = None
        self.own: Own | None = None
        self.notes: list[str] = []


def verdict_on(
    overall: Floats,
    names: Sequence[str],
    jobs: Sequence[Job],
    tests: Sequence[TaskTest | None],
    testing: TestOptions,
    *,
    by_ranks: bool,
) -> Verdict:
    found = Verdict(len(names))
    for job, test in zip(jobs, tests, strict=True):
        if test is not None and job.rule.test == "williams" and len(job.group[0].block.systems) <= 3:
            what = f"{job.lps[0]} {job.rule.measure}"
            found.notes.append(f"{what} is not tested: Williams' test needs more than 3 systems")
    in_all = [all(place in job.common(names) for job in jobs) for place in range(len(names))]
    complete = np.flatnonzero(np.array(in_all) & ~np.isnan(overall))
    there = [test for test in tests if test is not None]
    if by_ranks:
        found.notes.append(
            "the overall score, a mean of ranks, is not tested; 'overall by cluster' is the mean of cluster ranks"
        )
    elif any(test.drawn is None for test in there):
        found.notes.append("one task's test (Williams) does not resample, so the overall score is not tested")
    elif len(complete) > 1:
        p = overall_p(there, complete, overall[complete], testing)
        found.own = (p, complete)
        found.clusters[complete] = clusters_of(overall[complete], p, testing.alpha)
        indistinct = indistinct_across_clusters(overall[complete], p, testing.alpha)
        warning = warning_of_clusters([(names[complete[a]], names[complete[b]]) for a, b in indistinct])
        found.notes += [placed("overall", line) for line in warning]
        found.n_significant = n_significant_pairs(overall[complete], p, testing.alpha)
    return found


def lines_on_overall(entry: Entry, significance: bool) -> list[str]:
    """A note if the overall score is not of the published kind."""
    if entry.protocol.level is not None:
        return [
            f"the overall score covers only the tasks of level {entry.protocol.level}, so it is not the official one"
        ]
    if entry.protocol.overall is None:
        return [f"{entry.protocol.name} published no overall score; here it is the mean over its tasks"]
    if entry.protocol.overall == "ranks" and not significance:
        way = f"{option('significance', True)} adds the mean of cluster ranks, which is what the year published"
        return [NoteWithHint("ranks within tasks are by value", way)]
    return []
