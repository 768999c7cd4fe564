"""One test of metrics against each other on prepared data, used by every command and protocol."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.draws import Advance
from metaeval.measures.applicable import SWAPS, VARYING
from metaeval.measures.judged import Units, judged_segments
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options, TestOptions
from queries.blocks import Block
from warehouse import QuestionError

EARLY_STOP = (0.02, 0.5)  # p-values outside are settled soon: the organisers' bounds


@dataclass(frozen=True)
class TestOutcome:
    """Outcome of a test of M metrics, in the order of the blocks.

    p: (M, M), [a, b] = p-value that a is better than b (that they differ, if two-sided), NaN on the diagonal and where
    a value is undefined. null: (n_pairs, n_draws) resampled differences of metrics a < b, if kept. is_exact: nothing
    was resampled for p. reach: (M, M) half-width of the 95% interval of a difference, if the test has one: it contains
    0 exactly if two-sided p > .05. For a jackknife on Fisher's scale, the interval is of the difference of z.
    """

    p: Floats
    null: Floats | None
    is_exact: bool
    reach: Floats | None = None


def run(
    measure: Measure,
    blocks: Sequence[Block],
    epsilon: Floats | None,
    options: Options,
    testing: TestOptions,
    rng: np.random.Generator,
    advance: Advance | None = None,
) -> TestOutcome:
    """Test every metric against every other by testing.test.

    blocks: one, or several language pairs that are pooled, over the same metrics in the same order. epsilon: (M,)
    calibrated tie thresholds, which stay with their metrics; None if the measure has none.
    Raises QuestionError: an alternative or pooling that the test does not have, or the kernel's reason.
    """
    resampling = {"rng": rng, "n_draws": testing.resamples, "progress": advance, "n_threads": testing.threads}
    try:
        if testing.test == "williams":
            return _williams(measure, blocks[0], options, testing)
        if testing.test == "pairs":
            return _pairs(measure, blocks[0], epsilon, testing, rng)
        if testing.test in VARYING:
            return _jackknifed(measure, blocks[0], epsilon, options, testing, resampling)
        if testing.test == "bootstrap":
            return _bootstrapped(measure, blocks[0], epsilon, options, testing, resampling)
        if testing.test == "bootstrap-normal":
            return _of_resamples(measure, blocks, options, testing, resampling)
        return _permuted(measure, blocks, epsilon, options, testing, resampling)
    except ValueError as error:
        raise QuestionError(f"{measure}, {testing.test}: {error}") from error


def _williams(measure: Measure, block: Block, options: Options, testing: TestOptions) -> TestOutcome:
    from metaeval.kernels.resampling.published_tests import williams_test

    human, metrics = measure.correlated(block, options)
    found = williams_test(human, metrics, absolute=testing.absolute, legacy_df=testing.legacy_df)
    return TestOutcome(_sided(found.p, testing), None, is_exact=True)


def _sided(p: Floats, testing: TestOptions) -> Floats:
    """One-sided p-values of both directions, (M, M), as requested: two-sided is twice the smaller one, at most 1."""
    return p if testing.side == "greater" else np.minimum(2.0 * np.minimum(p, p.T), 1.0)


def _pairs(
    measure: Measure, block: Block, epsilon: Floats | None, testing: TestOptions, rng: np.random.Generator
) -> TestOutcome:
    from metaeval.kernels.resampling.pair_outcomes import pair_outcome_p_values

    assert measure.pair_statistic is not None
    assert epsilon is not None
    judged = judged_segments(block, measure["by"])
    assert judged.labels is not None
    found = pair_outcome_p_values(
        judged.human,
        judged.scores,
        judged.labels,
        epsilon,
        statistic=measure.pair_statistic,
        alternative=testing.side,
        rng=rng,
        n_draws=testing.resamples,
        keep_null=testing.keep_null,
    )
    return TestOutcome(found.p, found.null, found.is_exact)


def _permuted(
    measure: Measure,
    blocks: Sequence[Block],
    epsilon: Floats | None,
    options: Options,
    testing: TestOptions,
    resampling: Mapping[str, Any],
) -> TestOutcome:
    from metaeval.kernels.resampling.joint import joint_swap
    from metaeval.kernels.resampling.permutation import permutation_test

    if len(blocks) > 1 and testing.test != "perm-systems":
        raise QuestionError(f"language pairs are pooled with perm-systems, not with {testing.test}")
    if len(blocks) > 1:
        statistic = measure.pooled_swap(blocks, options)
    else:
        units = units_of_test(measure, blocks[0], testing)
        by_unit = measure.as_resampled(units) if units.unit == "annotator" else measure
        statistic = by_unit.swapped(blocks[0], SWAPS[str(testing.test)], options, epsilon)
        if units.documents is not None:
            statistic = joint_swap([statistic], [1.0], [units.documents], units.n)
    found = permutation_test(
        statistic,
        alternative=testing.side,
        plus_one=testing.plus_one,
        mid_p=bool(testing.mid_p),
        early_stop=EARLY_STOP if testing.early_stop else None,
        keep_null=testing.keep_null,
        **resampling,
    )
    return TestOutcome(found.p, found.null, is_exact=False)


def _bootstrapped(
    measure: Measure,
    block: Block,
    epsilon: Floats | None,
    options: Options,
    testing: TestOptions,
    resampling: Mapping[str, Any],
) -> TestOutcome:
    """The bootstrap: of system pairs if the measure counts them, else of segments."""
    from metaeval.kernels.resampling.bootstrap import bootstrap
    from metaeval.kernels.resampling.published_tests import system_pair_bootstrap

    agreements = measure.pair_agreements(block, options)
    if agreements is not None:
        one_thread = {name: resampling[name] for name in ("rng", "n_draws", "progress")}
        pairs = system_pair_bootstrap(agreements, **one_thread)
        return TestOutcome(_sided(pairs.p, testing), None, is_exact=False)
    units = units_of_test(measure, block, testing)
    statistic = measure.as_resampled(units).resampled(block, options, epsilon)
    drawn = bootstrap(units.resampled(statistic), "inputs", **resampling)
    gaps = drawn.draws[:, np.newaxis] - drawn.draws[np.newaxis]  # (M, M, n_draws)
    p = np.mean(~(gaps > 1e-12), axis=2)
    undefined = np.isnan(drawn.values)
    p[undefined[:, np.newaxis] | undefined | np.eye(len(p), dtype=np.bool_)] = np.nan
    first, second = np.triu_indices(len(drawn.values), 1)
    return TestOutcome(_sided(p, testing), gaps[first, second] if testing.keep_null else None, is_exact=False)


def _of_resamples(
    measure: Measure, blocks: Sequence[Block], options: Options, testing: TestOptions, resampling: Mapping[str, Any]
) -> TestOutcome:
    """The difference divided by its standard deviation over resamples, of the measure's limit if it has one.

    Pooled language pairs have separate segments, so their variances add up, weighted by the number of system pairs.
    """
    from metaeval.kernels.resampling.difference_tests import bootstrap_test, p_of_differences, reach_of

    values = [measure.value(block, options) for block in blocks]
    units = [units_of_test(measure, block, testing) for block in blocks]
    limits = [measure.in_simulations.as_resampled(one) for one in units]
    statistics = [
        one.resampled(limit.resampled(block, options, None))
        for one, limit, block in zip(units, limits, blocks, strict=True)
    ]
    found = [
        bootstrap_test(statistic, one.value, alternative=testing.side, **resampling)
        for statistic, one in zip(statistics, values, strict=True)
    ]
    if len(found) == 1:
        (alone,) = found
        assert alone.draws is not None
        first, second = np.triu_indices(len(alone.values), 1)
        gaps = alone.draws[first] - alone.draws[second] if testing.keep_null else None
        return TestOutcome(alone.p, gaps, is_exact=False, reach=alone.reach)
    if not measure.adds_up:
        raise QuestionError(f"{measure} of several language pairs together has no test; name one language pair")
    n_pairs = np.array([0.0 if one.n_pairs is None else np.max(one.n_pairs) for one in values])
    shares = n_pairs / n_pairs.sum()
    pooled = sum(share * one.values for share, one in zip(shares, found, strict=True))
    variances = np.stack([(share * one.error) ** 2 for share, one in zip(shares, found, strict=True)])
    error, df = np.sqrt(variances.sum(axis=0)), _degrees(variances, np.array([one.df for one in found]))
    return TestOutcome(
        p_of_differences(pooled, error, df, testing.side), None, is_exact=False, reach=reach_of(error, df)
    )


def _degrees(variances: Floats, df: Ints) -> Floats:
    """(M, M) degrees of freedom of sums of k variances (k, M, M), each with df (k,): Satterthwaite's."""
    squares = (variances**2 / df[:, np.newaxis, np.newaxis]).sum(axis=0)
    degrees = np.full(squares.shape, np.inf)
    np.divide(variances.sum(axis=0) ** 2, squares, out=degrees, where=squares > 0)
    return degrees


def units_of_test(measure: Measure, block: Block, testing: TestOptions) -> Units:
    """Units that a test of the measure swaps, resamples or deletes, among the annotated data of a block."""
    unit = testing.unit or "segment"
    return block.once((units_of_test, measure, unit), lambda: measure.units(block, unit))


def _jackknifed(
    measure: Measure,
    block: Block,
    epsilon: Floats | None,
    options: Options,
    testing: TestOptions,
    resampling: Mapping[str, Any],
) -> TestOutcome:
    from metaeval.kernels.resampling.difference_tests import jackknife_test

    varying = VARYING[str(testing.test)]
    statistic = measure.resampled_systems(block, options) if varying == "systems" else None
    if statistic is None:
        units = units_of_test(measure, block, testing)
        limit = measure.as_resampled(units)
        of_part = limit.of_segments if varying == "segments" else limit.resampled
        statistic = units.resampled(of_part(block, options, epsilon))
    fisher = 0.0 if varying == "segments" else measure.z_of
    found = jackknife_test(
        statistic, varying, alternative=testing.side, fisher=fisher, pairs_once=measure.has_pairs, **resampling
    )
    return TestOutcome(found.p, None, is_exact=varying != "both", reach=found.reach)
