"""A test of a slice's metrics: the system scores it takes, what is excluded, p-values and signature."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from metaeval.evaluation import Evaluation, Options, evaluate
from metaeval.measures import Measure
from metaeval.measures.applicable import Test
from metaeval.signature import line, p_value_convention, signature
from metaeval.significance.options import TestOptions
from metaeval.significance.runner import run
from metaeval.study import Study, study
from queries.blocks import Block
from queries.reasons import Exclusion
from queries.selection import Slice
from warehouse import QuestionError, Warehouse
from warehouse.progress import Progress

Floats = npt.NDArray[np.float64]


def fitted_options(measure: Measure, test: Test, options: Options, asked: Slice) -> Options:
    """Options with the system scores that a test needs.

    Raises QuestionError: the test does not apply to the measure, or the system scores do not suit the test.
    """
    measure.check_applies(test)
    if options.system_score == "submitted" and not asked.is_whole:
        raise QuestionError("a part of a test set has no submitted system scores; take --system-score mean")
    if measure.level == "sys" and measure.resamples_segments(test):
        if options.system_score not in (None, "judged-mean"):
            raise QuestionError(
                f"test {test!r} resamples segments, so system scores are means over annotated segments; "
                f"--system-score {options.system_score} does not apply"
            )
        return replace(options, system_score="judged-mean")
    return options


def tested_study(
    warehouse: Warehouse, asked: Slice, measures: Sequence[Measure], options: Options, testing: TestOptions
) -> Study:
    """Measures over a slice by the system scores that their tests take, so that clusters follow the ranking.

    Raises QuestionError: as `study` and `fitted_options`.
    """
    fitted = [
        fitted_options(measure, testing.test or measure.default_test(options, asked.is_whole), options, asked)
        for measure in measures
    ]
    return study(warehouse, asked, measures, fitted)


@dataclass(frozen=True)
class Tested:
    """A test of all pairs of a block's metrics, in the block's order.

    p: (M, M), [a, b] = p-value that a is better than b, NaN on the diagonal and where a value is not defined.
    left_out: metric -> why it is excluded.
    """

    block: Block
    evaluation: Evaluation
    p: Floats
    null: Floats | None
    is_exact: bool
    left_out: Mapping[str, Exclusion]


def run_test(
    block: Block,
    measure: Measure,
    options: Options,
    testing: TestOptions,
    progress: Progress | None = None,
    evaluation: Evaluation | None = None,
) -> Tested:
    """Test the metrics of a block against each other; arguments as of `compare_block`.

    Raises QuestionError: fewer than 2 metrics, or the kernel's reason.
    """
    test = testing.test
    assert test is not None
    left_out = {
        choice.name: choice.reason
        for choice in block.selection.metrics
        if choice.reason is not None and choice.reason.lacks_scores
    }
    if measure.definition.needs_segments or measure.resamples_segments(test):
        left_out = left_out | block.left_out
        block = block.only(block.with_segments)
    if evaluation is None or not set(evaluation.metrics) <= set(block.metrics):
        evaluation = evaluate(measure, block, options)
    ranked = {metric.name for metric in evaluation.metrics}
    block = block.only([metric.name in ranked for metric in block.metrics])
    left_out = {**left_out, **evaluation.left_out}
    if len(block.metrics) < 2:
        raise QuestionError(f"a comparison needs at least 2 metrics, this slice has {len(block.metrics)}")
    advance = None if progress is None else lambda done, total: progress(f"{measure} {test}", done, total)
    epsilon = evaluation.epsilon if measure.is_calibrated else None
    rng = np.random.default_rng([options.seed, 1])
    found = run(measure, [block], epsilon, options, testing, rng, advance)
    return Tested(block, evaluation, found.p, found.null, found.is_exact, left_out)


def signature_of_test(tested: Tested, options: Options, testing: TestOptions) -> str:
    """The signature of a test over one slice."""
    is_exact = tested.is_exact
    parts: list[tuple[str, object]] = [
        ("test", testing.test),
        ("alternative", testing.alternative),
        ("test_resamples", "exact" if is_exact else testing.draws),
        ("test_p_value", None if is_exact else _convention(testing)),
        ("alpha", testing.alpha),
        ("correction", testing.correction),
        ("early_stopping", "yes" if testing.early_stop else None),
        ("degrees_of_freedom", ("n-2" if testing.legacy_df else "n-3") if testing.test == "williams" else None),
        ("absolute", "yes" if testing.absolute else None),
        ("test_seed", None if is_exact else options.seed),
    ]
    return signature(tested.evaluation, tested.block.selection, options) + "|" + line(parts)


def _convention(testing: TestOptions) -> str:
    if testing.test == "bootstrap":
        return "share_not_better"
    return p_value_convention(testing.alternative, testing.plus_one)
