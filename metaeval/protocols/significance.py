"""Tests of a protocol's tasks and of its overall score."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from metaeval.cache import DAMAGED, Question, key
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.clusters import significance_clusters
from metaeval.kernels.resampling.permutation import difference_p_values
from metaeval.options import Options, Test
from metaeval.protocols import Rule
from metaeval.protocols.tasks import Job, Ranked
from metaeval.significance.options import TestOptions
from metaeval.significance.runner import run
from queries.blocks import Block
from warehouse import QuestionError, Warehouse
from warehouse.progress import Progress


@dataclass(frozen=True)
class TaskP:
    """p-values (M, M) of one task, [i, j] of metric i against j; names of the metrics are in the signature."""

    p: Floats
    signature: str


@dataclass
class StoredTasks:
    """The store of one run. fresh: what was stored before does not count. is_closed: it took no result before."""

    database: Path
    testset: str
    fresh: bool = False
    is_closed: bool = False

    def p_values(
        self,
        blocks: Sequence[Block],
        lps: Sequence[str],
        described: Sequence[object],
        options: Options,
        testing: TestOptions,
        compute: Callable[[], tuple[Floats, Floats | None]],
    ) -> Floats:
        """The task's p-values: stored before, or computed and stored now. described: what else they depend on."""
        kind, pairs = "protocol task", ",".join(lps)
        question = Question(key(kind, blocks, *described, options, testing), kind, self.testset, pairs, TaskP)
        if not self.fresh:
            with Warehouse.open(self.database) as warehouse:
                if (kept := question.stored(warehouse)) is not None:
                    return kept.p
        signature = "|".join([self.testset, pairs, *map(str, described)])
        found, refused = question.computed(
            None if self.is_closed else self.database, lambda: TaskP(compute()[0], signature)
        )
        self.is_closed |= bool(set(refused) - {DAMAGED})
        return found.p


def organisers(testing: TestOptions) -> TestOptions:
    """The options with the organisers' alternative, one-sided, unless one is named."""
    return testing if testing.alternative else replace(testing, alternative="greater")


def rule_test(rule: Rule, options: Options) -> Test:
    """The test of a rule: its own, else the measure's first."""
    rule.measure.check_tested()
    return rule.test or rule.measure.tests[0]


@dataclass(frozen=True)
class TaskNull:
    """Drawn differences of one task: drawn (n_pairs, n_draws) for the metrics at places `there`, None if not drawn."""

    drawn: Floats | None
    there: Ints
    weight: float
    mapped: bool

    def among(self, places: Ints) -> Floats:
        """Its differences in the overall score among some of its metrics, rows as of np.triu_indices."""
        assert self.drawn is not None
        row = np.zeros((len(self.there), len(self.there)), dtype=np.int64)
        row[np.triu_indices(len(self.there), 1)] = np.arange(len(self.drawn))
        chosen = np.searchsorted(self.there, places)
        first, second = np.triu_indices(len(places), 1)
        scale = self.weight / (2.0 if self.mapped else 1.0)  # (r + 1) / 2 halves differences
        return np.asarray(self.drawn[row[chosen[first], chosen[second]]] * scale)


def overall_p(nulls: Sequence[TaskNull], complete: Ints, overall: Floats, testing: TestOptions) -> Floats:
    """p-values of the overall score, from the weighted average of the tasks' draws."""
    total = math.fsum(null.weight for null in nulls)
    drawn = sum((null.among(complete) for null in nulls), np.zeros(1)) / total
    return difference_p_values(drawn, overall, alternative=testing.side, plus_one=testing.plus_one)


def clusters_of(values: Floats, p: Floats, alpha: float) -> Ints:
    """Clusters, 0 for metrics without a value."""
    return np.where(np.isnan(values), 0, significance_clusters(values, p, alpha))


def check_tests(
    jobs: Sequence[Job], testing: TestOptions, options: Options, protocol: str, beside: Sequence[Test] = ()
) -> None:
    """Raises QuestionError: something is asked for that neither the tasks' tests have nor those beside them."""
    wanted = [rule_test(job.rule, options) for job in jobs]
    testing.check_fit([*wanted, *beside])
    if testing.mid_p:
        raise QuestionError(f"{protocol} counts ties whole, as its organisers do; compare and rank can count them half")
    if "williams" in wanted and testing.side != "greater":
        raise QuestionError(f"{protocol} takes Williams' test, which is one-sided")


@dataclass(frozen=True)
class TaskTest:
    """A task's clusters, aligned with all metrics of the score (0 = none), and its drawn differences.

    p: among the metrics at null.there.
    """

    clusters: Ints
    null: TaskNull
    p: Floats


def tested_tasks(
    jobs: Sequence[Job],
    names: Sequence[str],
    options: Options,
    testing: TestOptions,
    progress: Progress | None,
    store: StoredTasks | None,
) -> list[TaskTest | None]:
    """Test every task among the metrics it has; None where those are fewer than 2.

    store: where p-values of finished tasks are kept; then no drawn differences are.
    """
    tests = [rule_test(job.rule, options) for job in jobs]
    costs = np.cumsum([0.0, *(_cost(job, test) for job, test in zip(jobs, tests, strict=True))])
    found: list[TaskTest | None] = []
    for number, (job, test) in enumerate(zip(jobs, tests, strict=True)):
        there = job.common(names)
        if len(there) < 2:
            found.append(None)
            continue
        step = None if progress is None else _step(progress, costs[number], costs[number + 1], costs[-1])
        rng = np.random.default_rng([options.seed, 1, number])
        own = [names[place] for place in there]
        compute = partial(_tested, job, test, own, options, testing, rng, step, keep_null=store is None)
        if store is None:
            p, drawn = compute()
        else:  # the draws of a task depend on its number
            described = (str(job.rule.measure), test, job.rule.early_stop, number, ",".join(own))
            blocks = [aligned(one, own) for one in job.group]
            p, drawn = store.p_values(blocks, job.lps, described, options, testing, compute), None
        clusters = np.zeros(len(names), dtype=np.int64)
        clusters[there] = clusters_of(job.values(names)[there], p, testing.alpha)
        null = TaskNull(drawn, there, job.weight, job.rule.measure.definition.is_correlation)
        found.append(TaskTest(clusters, null, p))
    return found


def _step(progress: Progress, start: float, end: float, total: float) -> Progress:
    """Progress of one task as a part of the whole; tasks differ in length."""

    def step(what: str, done: int, n: int) -> None:
        progress(what, round(10_000 * (start + (end - start) * done / n) / total), 10_000)

    return step


def _cost(job: Job, test: Test) -> float:
    """Roughly how long a task's test takes, compared with the others."""
    return 1.0 + math.fsum(job.rule.measure.cost(test, *one.block.scores.shape) for one in job.group)


def _tested(
    job: Job,
    test: Test,
    names: Sequence[str],
    options: Options,
    testing: TestOptions,
    rng: np.random.Generator,
    progress: Progress | None,
    *,
    keep_null: bool,
) -> tuple[Floats, Floats | None]:
    """p-values (M, M) of one task among some metrics, and its drawn differences.

    None are drawn for Williams' test, and none kept with an early stop, or without keep_null.
    """
    rule, group = job.rule, job.group
    if test == "williams" and len(group[0].block.systems) <= 3:
        return np.full((len(names), len(names)), np.nan), None
    epsilon = None
    if rule.measure.is_calibrated:
        epsilon = group[0].evaluation.epsilon[[group[0].places[name] for name in names]]
    advance = None if progress is None else lambda done, total: progress(f"{rule.measure} {group[0].lp}", done, total)
    kept = keep_null and not rule.early_stop
    its_testing = replace(testing.fitted(test), early_stop=rule.early_stop, keep_null=kept)
    found = run(rule.measure, [aligned(one, names) for one in group], epsilon, options, its_testing, rng, advance)
    return found.p, found.null


def aligned(ranked: Ranked, names: Sequence[str]) -> Block:
    """The block with its metrics in the order of names."""
    places = [ranked.places[name] for name in names]
    block = ranked.block
    return replace(
        block,
        metrics=tuple(block.metrics[place] for place in places),
        scores=block.scores[places],
        submitted=block.submitted[places],
    )
