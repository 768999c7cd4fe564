"""Comparisons, taken from the warehouse if they were computed before, else computed and stored."""

from dataclasses import dataclass
from pathlib import Path

from metaeval.measures.measure import Measure
from metaeval.measures.options import Options, TestOptions
from metaeval.results.cache import FROM_STORE, CacheEntry, key
from metaeval.results.evaluation import Evaluation
from metaeval.results.inputs import Inputs, check_used
from metaeval.results.run import Run
from metaeval.studies.significance.comparison import Comparison, compare_block
from metaeval.studies.significance.metric_tests import chosen, fitted_options, levels_checksum
from metaeval.studies.significance.options import check_applicable, fitted_to
from metaeval.studies.significance.pairwise import PairwiseComparison, compare_pair
from queries.blocks import Block
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.progress import Progress
from warehouse.wording import option

WithNotes = tuple[Comparison | PairwiseComparison, list[str]]
"""Many metrics, or two in depth; with notes on whether it came from the store."""


@dataclass(frozen=True)
class PreparedComparison:
    """A comparison with everything that it reads from the warehouse.

    in_depth: two metrics with their difference and its interval; options and testing are then unchanged, else fitted to
    the test. entry: where the cache keeps it; stored: its stored result, if any. evaluation: of the measure on the
    block, if known.
    """

    block: Block
    measure: Measure
    options: Options
    testing: TestOptions
    entry: CacheEntry[PairwiseComparison | Comparison]
    stored: PairwiseComparison | Comparison | None
    in_depth: bool
    evaluation: Evaluation | None = None

    @property
    def slice(self) -> Slice:
        return self.block.selection.slice


def prepare_comparison(
    warehouse: Warehouse,
    block: Block,
    measure: Measure,
    options: Options,
    testing: TestOptions,
    *,
    fresh: bool = False,
    in_depth: bool = True,
    evaluation: Evaluation | None = None,
) -> PreparedComparison:
    """Read from the warehouse what a comparison of a block's metrics needs.

    in_depth: compare only two metrics, with their difference.

    Raises QuestionError: as `select` and `run_test`; a test or option that does not fit.
    """
    asked = block.selection.slice
    is_pair = in_depth and len(block.metrics) == 2
    if not is_pair:
        fitted, testing = _fitted(block, asked, measure, options, testing, check_fit=in_depth)
        if fitted != options and measure.fixed_system_score is None:
            # The test takes means over annotated segments, so values of submitted scores are not those it compares.
            evaluation = None
        options = fitted
    kind, answer = ("pairwise", PairwiseComparison) if is_pair else ("compare", Comparison)
    entry: CacheEntry[PairwiseComparison | Comparison] = CacheEntry(
        key(kind, [block], str(measure), options, testing, levels_checksum()), kind, asked.testset, asked.lp, answer
    )
    stored = None if fresh or testing.keep_null else entry.stored(warehouse)
    return PreparedComparison(block, measure, options, testing, entry, stored, is_pair, evaluation)


def run_or_load(one: PreparedComparison, database: Path | None, progress: Progress | None = None) -> WithNotes:
    """The answer of a comparison: taken from the store, or computed now and stored in the database, if one is named.

    Raises QuestionError: as `select` and `run_test`; a test or option that does not fit.
    """
    if one.stored is not None:
        return one.stored, [FROM_STORE]
    return one.entry.computed(database, lambda: _computed(one, progress))


def _computed(one: PreparedComparison, progress: Progress | None) -> PairwiseComparison | Comparison:
    if one.in_depth:
        return compare_pair(one.block, one.slice, one.measure, one.options, one.testing, progress)
    return compare_block(one.block, one.measure, one.options, one.testing, progress, one.evaluation)


def compared(
    run: Run,
    asked: Slice,
    measure: Measure,
    options: Options,
    testing: TestOptions,
    *,
    fresh: bool = False,
) -> WithNotes:
    """Compare the metrics of a slice, from the result store where it has the answer.

    fresh: recompute even if a result is stored. If there are only two metrics, they are compared in depth, on request
    by every applicable test. The warehouse is open for reading until all inputs are read; the result is stored in a
    short transaction.
    Raises QuestionError: as `select` and `run_test`; a test or option that does not fit. SchemaError: the warehouse
        cannot be read.
    """
    check_used(options, [measure])
    with run.opened() as warehouse:
        block = Inputs(warehouse, asked, options.round_human).block(measure)
        one = prepare_comparison(warehouse, block, measure, options, testing, fresh=fresh)
    return run_or_load(one, run.database, run.progress)


def _fitted(
    block: Block, asked: Slice, measure: Measure, options: Options, testing: TestOptions, *, check_fit: bool
) -> tuple[Options, TestOptions]:
    """Options fitted to the test of many metrics.

    Raises QuestionError: intervals are requested, or an option that the test does not have.
    """
    if testing.interval_over is not None or testing.interval is not None:
        raise QuestionError(
            f"{option('interval_over')} and {option('interval')} are for two metrics, and this slice has "
            f"{len(block.metrics)}; name two, or drop these options"
        )
    if testing.all_tests:
        raise QuestionError(
            f"{option('all_tests')} is for two metrics, and this slice has {len(block.metrics)}; name two, or name one "
            f"{option('test')}"
        )
    named = testing.test is not None
    testing = chosen(measure, block, options, testing)
    assert testing.test is not None
    fitted = fitted_options(measure, testing.test, options, asked)
    if named or check_fit:
        check_applicable(testing, [testing.test])
    return fitted, fitted_to(testing, testing.test)
