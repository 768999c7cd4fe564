"""Tests of a protocol's tasks and of its overall score."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.clusters import significance_clusters
from metaeval.kernels.resampling.draws import Advance
from metaeval.measures.options import Options, Test, TestOptions
from metaeval.studies.protocols import Rule
from metaeval.studies.protocols.tasks import Job, RankedBlock
from metaeval.studies.significance.options import check_applicable, fitted_to
from metaeval.studies.significance.runner import run
from queries.blocks import Block
from warehouse import QuestionError
from warehouse.progress import Progress


def organisers(testing: TestOptions) -> TestOptions:
    """The options with the organisers' alternative hypothesis, one-sided, unless another is named."""
    return testing if testing.alternative else replace(testing, alternative="greater")


def rule_test(rule: Rule, options: Options) -> Test:
    """The test of a rule: its own, else the measure's first."""
    rule.measure.check_tested()
    return rule.test or rule.measure.tests[0]


Own = tuple[Floats, Ints]
"""The protocol's own p-values, (k, k), among the metrics at some places, (k,)."""


@dataclass(frozen=True)
class TaskTest:
    """A task's clusters, aligned with all metrics of the score (0 = none), and p-values among some of them.

    drawn: (n_pairs, n_draws) resampled differences of these metrics, None if not resampled; mapped: see `Task`.
    """

    clusters: Ints
    own: Own
    drawn: Floats | None
    weight: float
    mapped: bool

    def among(self, places: Ints) -> Floats:
        """Its differences in the overall score among some of its metrics, rows as in np.triu_indices."""
        assert self.drawn is not None
        _, there = self.own
        row = np.zeros((len(there), len(there)), dtype=np.int64)
        row[np.triu_indices(len(there), 1)] = np.arange(len(self.drawn))
        chosen = np.searchsorted(there, places)
        first, second = np.triu_indices(len(places), 1)
        scale = self.weight / (2.0 if self.mapped else 1.0)  # (r + 1) / 2 halves differences
        return np.asarray(self.drawn[row[chosen[first], chosen[second]]] * scale)


def overall_p(tests: Sequence[TaskTest], complete: Ints, overall: Floats, testing: TestOptions) -> Floats:
    """p-values of the overall score, from the weighted average of the tasks' resamples."""
    from metaeval.kernels.resampling.permutation import difference_p_values

    total = math.fsum(test.weight for test in tests)
    drawn = sum((test.among(complete) for test in tests), np.zeros(1)) / total
    return difference_p_values(drawn, overall, alternative=testing.side, plus_one=testing.plus_one)


def clusters_of(values: Floats, p: Floats, alpha: float) -> Ints:
    """Clusters, 0 for metrics without a value."""
    return np.where(np.isnan(values), 0, significance_clusters(values, p, alpha))


def check_tests(
    jobs: Sequence[Job], testing: TestOptions, options: Options, protocol: str, beside: Sequence[Test] = ()
) -> None:
    """Raises QuestionError: an option that neither the tasks' tests nor the additional ones have."""
    wanted = [rule_test(job.rule, options) for job in jobs]
    check_applicable(testing, [*wanted, *beside])
    if testing.mid_p:
        raise QuestionError(f"{protocol} counts ties whole, as its organisers do; compare and rank can count them half")
    if "williams" in wanted and testing.side != "greater":
        raise QuestionError(f"{protocol} uses Williams' test, which is one-sided")


def tested_tasks(
    jobs: Sequence[Job],
    names: Sequence[str],
    options: Options,
    testing: TestOptions,
    progress: Progress | None,
    *,
    keep_null: bool,
) -> list[TaskTest | None]:
    """Test every task among its metrics; None if there are fewer than 2."""
    tests = [rule_test(job.rule, options) for job in jobs]
    found: list[TaskTest | None] = []
    for number, (job, test) in enumerate(zip(jobs, tests, strict=True)):
        there = job.common(names)
        if len(there) < 2:
            found.append(None)
            continue
        step = _step(progress, f"{job.rule.measure} {job.lps[0]}", number, len(jobs))
        rng = np.random.default_rng([options.seed, 1, number])
        own = [names[place] for place in there]
        p, drawn = _tested(job, test, own, options, testing, rng, step, keep_null=keep_null)
        clusters = np.zeros(len(names), dtype=np.int64)
        clusters[there] = clusters_of(job.values(names)[there], p, testing.alpha)
        found.append(TaskTest(clusters, (p, there), drawn, job.weight, job.rule.measure.definition.is_correlation))
    return found


def _step(progress: Progress | None, what: str, number: int, n: int) -> Advance | None:
    """Progress within one of n tasks as a fraction of the whole."""
    if progress is None:
        return None
    return lambda done, total: progress(what, round(10_000 * (number + done / total) / n), 10_000)


def _tested(
    job: Job,
    test: Test,
    names: Sequence[str],
    options: Options,
    testing: TestOptions,
    rng: np.random.Generator,
    advance: Advance | None,
    *,
    keep_null: bool,
) -> tuple[Floats, Floats | None]:
    """p-values (M, M) of one task among some metrics, and its resampled differences.

    There are none for Williams' test, with early stopping, or without keep_null.
    """
    rule, group = job.rule, job.group
    if test == "williams" and len(group[0].block.systems) <= 3:
        return np.full((len(names), len(names)), np.nan), None
    epsilon = None
    if rule.measure.is_calibrated:
        epsilon = group[0].evaluation.epsilon[[group[0].places[name] for name in names]]
    kept = keep_null and not rule.early_stop
    its_testing = replace(fitted_to(testing, test), early_stop=rule.early_stop, keep_null=kept)
    found = run(rule.measure, [aligned(one, names) for one in group], epsilon, options, its_testing, rng, advance)
    return found.p, found.null


def aligned(ranked: RankedBlock, names: Sequence[str]) -> Block:
    """The block with its metrics in the order given by names."""
    return ranked.block.take(metrics=[ranked.places[name] for name in names])
