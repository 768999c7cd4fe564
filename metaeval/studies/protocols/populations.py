"""Clusters of a protocol's tasks and overall score by tests that hold their level for a population."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.clusters import best_first
from metaeval.kernels.resampling.prepared import ResampleStatistic, SwapStatistic
from metaeval.measures.judged import document_names
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options, Population, Test, TestOptions
from metaeval.results.signature import p_value_convention
from metaeval.studies.protocols.significance import Own, aligned, clusters_of
from metaeval.studies.protocols.tasks import Job
from metaeval.studies.significance.metric_tests import by_default
from metaeval.studies.significance.options import fitted_to
from metaeval.studies.significance.runner import run
from queries.blocks import Block


@dataclass(frozen=True)
class PopulationTest:
    """Result of a test that holds its level, in addition to the protocol's own.

    clusters: (M,), 0 = none. n_own: pairs of metrics that differ significantly by the protocol's test; n_lost: those of
    them that do not by this test; n_gained: further pairs that do.
    """

    test: str
    alternative: str
    clusters: Ints
    n_own: int
    n_lost: int
    n_gained: int

    def among(self, order: Ints) -> "PopulationTest":
        """The result with the metrics in another order."""
        return replace(self, clusters=self.clusters[order])


@dataclass(frozen=True)
class _LanguagePair:
    """One language pair of a task, its weight in the task, and the unit of each annotated segment.

    The unit is the segment itself or its document.
    """

    measure: Measure
    block: Block
    options: Options
    epsilon: Floats | None
    weight: float
    units: tuple[tuple[str, int | str], ...]

    @property
    def lp(self) -> str:
        return self.units[0][0]

    @property
    def swapped(self) -> SwapStatistic:
        return self.measure.swapped(self.block, "inputs", self.options, self.epsilon)

    @property
    def resampled(self) -> ResampleStatistic:
        return self.measure.in_simulations.resampled(self.block, self.options, self.epsilon)


def tests_beside(jobs: Sequence[Job], testing: TestOptions) -> list[Test]:
    """The tests that hold their level for testing.population, for tasks whose measures have one."""
    if testing.population is None:
        return []
    found = [_holding(job, testing.population) for job in jobs]
    return [test for test in found if test is not None]


def _holding(job: Job, population: Population) -> Test | None:
    """The test of a task that holds its level; pooled language pairs have separate systems, which are swapped."""
    test = job.rule.measure.holding_test(population, min(len(one.block.systems) for one in job.group))
    return "perm-systems" if len(job.group) > 1 and test == "jackknife-systems" else test


def population_tests(
    jobs: Sequence[Job], names: Sequence[str], own: Sequence[Own | None], options: Options, testing: TestOptions
) -> list[PopulationTest | None]:
    """Results for every task; None for tasks without a test, or without a test for the population."""
    return [
        None if one is None else of_task(job, names, one, options, testing, np.random.default_rng([options.seed, 4, k]))
        for k, (job, one) in enumerate(zip(jobs, own, strict=True))
    ]


def of_task(
    job: Job, names: Sequence[str], own: Own, options: Options, testing: TestOptions, rng: np.random.Generator
) -> PopulationTest | None:
    """A task tested for testing.population, among the metrics of its own test; None if no test applies."""
    assert testing.population is not None
    measure = job.rule.measure
    test = _holding(job, testing.population)
    if test is None or (len(job.group) > 1 and test not in ("bootstrap-normal", "perm-inputs", "perm-systems")):
        return None
    _, there = own
    if measure.resamples_segments(test):
        there = np.array([place for place in there if _has_segments(job, names[place])], dtype=np.int64)
    if len(there) < 2:
        return None
    chosen = [names[place] for place in there]
    its_testing = fitted_to(by_default(measure, test, testing.population, testing), test)
    if test == "perm-inputs":
        p = _permuted(_parts(job, chosen, options, testing), its_testing, rng)
    else:
        options = replace(options, system_score="judged-mean") if measure.resamples_segments(test) else options
        blocks = [aligned(one, chosen) for one in job.group]
        p = run(measure, blocks, _epsilon(job, chosen), options, its_testing, rng).p
    return _beside_own(test, job.values(names), own, (p, there), testing)


def of_overall(
    jobs: Sequence[Job],
    names: Sequence[str],
    overall: Floats,
    own: Own,
    options: Options,
    testing: TestOptions,
    rng: np.random.Generator,
) -> PopulationTest | None:
    """Test of the weighted mean of all tasks, by its standard deviation over resamples; None for another population.

    Tasks of one language pair share their segments and therefore the resamples; language pairs are independent.
    """
    from metaeval.kernels.resampling.bootstrap import bootstrap
    from metaeval.kernels.resampling.difference_tests import of_draws

    if testing.population != "segments" or any("perm-inputs" not in job.rule.measure.tests for job in jobs):
        return None
    there = np.array([k for k in own[1] if all(_has_segments(job, names[k]) for job in jobs)], dtype=np.int64)
    if len(there) < 2:
        return None
    chosen = [names[place] for place in there]
    total = math.fsum(job.weight for job in jobs)
    weighted = [
        (part, part.weight * job.weight / total / (2.0 if job.rule.measure.definition.is_correlation else 1.0))
        for job in jobs
        for part in _parts(job, chosen, options, testing)
    ]
    draws = [
        bootstrap(
            _joint([one for one in weighted if one[0].lp == lp]),
            "inputs",
            rng=rng,
            n_draws=testing.resamples,
            n_threads=testing.threads,
        ).draws
        for lp in dict.fromkeys(part.lp for part, _ in weighted)
    ]
    n_units = len({unit for part, _ in weighted for unit in part.units})
    p = of_draws(overall[there], np.sum(draws, axis=0), n_units, testing.side).p
    return _beside_own("bootstrap-normal", overall, own, (p, there), testing)


def _joint(weighted: Sequence[tuple[_LanguagePair, float]]) -> ResampleStatistic:
    """The weighted sum of parts of one language pair."""
    from metaeval.kernels.resampling.joint import JointResample

    places = _places([part for part, _ in weighted])
    n_units = 1 + max(int(own.max()) for own in places)
    return JointResample([part.resampled for part, _ in weighted], [weight for _, weight in weighted], places, n_units)


def _places(parts: Sequence[_LanguagePair]) -> list[Ints]:
    """For each part, the unit of each of its segments, numbered over all parts."""
    units = {unit: place for place, unit in enumerate(dict.fromkeys(unit for part in parts for unit in part.units))}
    return [np.array([units[unit] for unit in part.units], dtype=np.int64) for part in parts]


def convention(jobs: Sequence[Job], testing: TestOptions) -> str | None:
    """The p-value convention of the tests for testing.population, if some of them count ties half; else None."""
    if testing.population is None:
        return None
    tests = [(job.rule.measure, _holding(job, testing.population)) for job in jobs]
    if not any(test and by_default(measure, test, testing.population, testing).mid_p for measure, test in tests):
        return None
    return p_value_convention(testing.side, testing.plus_one, mid_p=True)


def _parts(job: Job, names: Sequence[str], options: Options, testing: TestOptions) -> list[_LanguagePair]:
    """The language pairs of a task; pooled ones are weighted by their numbers of pairs."""
    measure = job.rule.measure
    options = replace(options, system_score="judged-mean") if measure.level == "sys" else options
    blocks = [aligned(one, names) for one in job.group]
    weights = [1.0]
    if len(blocks) > 1:
        found = [measure.value(block, options).n_pairs for block in blocks]
        n_pairs = [0.0 if n is None else float(np.max(n)) for n in found]
        weights = [n / float(np.sum(n_pairs)) for n in n_pairs]
    return [
        _LanguagePair(measure, block, options, _epsilon(job, names), weight, _units(one.lp, block, testing))
        for one, block, weight in zip(job.group, blocks, weights, strict=True)
    ]


def _units(lp: str, block: Block, testing: TestOptions) -> tuple[tuple[str, int | str], ...]:
    """The unit swapped with each annotated segment: the segment itself, or its document.

    Raises QuestionError: documents are to be swapped, and a segment belongs to none.
    """
    kept = block.judged.any(axis=0)
    if testing.unit == "document":
        return tuple((lp, document) for document in document_names(block.selection, kept))
    return tuple((lp, int(segment)) for segment in block.segments[kept])


def _permuted(parts: Sequence[_LanguagePair], testing: TestOptions, rng: np.random.Generator) -> Floats:
    from metaeval.kernels.resampling.joint import joint_swap
    from metaeval.kernels.resampling.permutation import permutation_test

    places = _places(parts)
    n_units = 1 + max(int(own.max()) for own in places)
    statistic = joint_swap([part.swapped for part in parts], [part.weight for part in parts], places, n_units)
    return permutation_test(
        statistic,
        rng=rng,
        n_draws=testing.resamples,
        alternative=testing.side,
        plus_one=testing.plus_one,
        mid_p=bool(testing.mid_p),
        n_threads=testing.threads,
    ).p


def _has_segments(job: Job, name: str) -> bool:
    return all(name in one.places and one.block.with_segments[one.places[name]] for one in job.group)


def _epsilon(job: Job, names: Sequence[str]) -> Floats | None:
    first = job.group[0]
    if not job.rule.measure.is_calibrated:
        return None
    return np.asarray(first.evaluation.epsilon[[first.places[name] for name in names]], dtype=np.float64)


def _beside_own(test: Test, values: Floats, own: Own, found: Own, testing: TestOptions) -> PopulationTest:
    """values: (M,), higher is better."""
    clusters = np.zeros(len(values), dtype=np.int64)
    p, there = found
    clusters[there] = clusters_of(values[there], p, testing.alpha)
    by_own, by_this = (_significant(values, one, testing.alpha) for one in (own, found))
    return PopulationTest(
        test=test,
        alternative=testing.side,
        clusters=clusters,
        n_own=int(by_own.sum()),
        n_lost=int((by_own & ~by_this).sum()),
        n_gained=int((by_this & ~by_own).sum()),
    )


def _significant(values: Floats, found: Own, alpha: float) -> npt.NDArray[np.bool_]:
    """(M, M): the metric of the row has the higher value and p ≤ alpha."""
    is_found = np.zeros((len(values), len(values)), dtype=np.bool_)
    p, there = found
    order = there[best_first(values[there])]
    place = {metric: row for row, metric in enumerate(there)}
    rows = [place[metric] for metric in order]
    is_found[np.ix_(order, order)] = np.triu(p[np.ix_(rows, rows)] <= alpha, 1)
    return is_found
