"""Measures prepared for tests: the values that a test starts from are those of the ranking, for every measure."""

from dataclasses import replace

import numpy as np
import pytest

from metaeval.kernels.resampling.bootstrap import Resample, bootstrap
from metaeval.kernels.resampling.permutation import permutation_test
from metaeval.measures.applicable import PERMUTATIONS, RESAMPLED, SWAPS, SYSTEMS_RESAMPLED, TESTS
from metaeval.measures.judged import judged_segments
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options
from metaeval.measures.registry import parse_measure
from metaeval.results.evaluation import evaluate
from metaeval.results.inputs import Inputs
from queries.blocks import Block
from queries.slices import Slice
from tests import naive_significance as naive
from tests.drawn_units import resampled_units
from warehouse import QuestionError, Warehouse

SYSTEM_LEVEL = (
    *("pearson", "pearson(top=5)", "pearson(top=99)", "spearman", "kendall", "pa", "pa(ties=tship)", "spa(n=50)"),
    *("spa(n=inf)", "weighted_tau", "tau_ap"),
)
SEGMENT_LEVEL = (
    *("pearson(by=none)", "pearson(by=item)", "pearson(by=item, on_nan=zero)", "pearson(by=item, on_nan=common)"),
    *("pearson(by=none, on_nan=zero)", "spearman(by=system)", "spearman(by=system, on_nan=common)", "kendall(by=item)"),
    *("kendall(by=doc, on_nan=zero)", "tau_b(by=item)", "tau_b(by=none)", "tau_b(by=domain)"),
    *("tau_b(by=item, on_nan=zero)", "tau_b(by=item, on_nan=common)", "tau_b(by=item, epsilon=0.1)"),
    *("tau_b(by=item, epsilon=0.1sd)", "tau_b(by=item, epsilon=0.1, on_nan=zero)", "tau_14(by=item, pool=pairs)"),
    *("accuracy(by=item, ties=half)", "accuracy(by=item, pool=pairs)", "tau_c(by=system)", "acc23(by=item)"),
    *("acc_eq(by=item)", "acc_eq(by=system)", "tau_eq(by=item)", "pdp", "kendall_like(threshold=2)"),
    *("kendall_like(threshold=2, pool=groups)", "tabular(by=item, coefficients=1:X:-1/X:X:X/-1:X:1)"),
)


@pytest.fixture(scope="module")
def block(simulated_warehouse: Warehouse) -> Block:
    """A few segments of all metrics that have segment scores, constant ones too, with single judgements missing."""
    asked = Slice("sim24", "en-de", segments="1-24")
    found = Inputs(simulated_warehouse, asked).block(parse_measure("spa"))
    found = found.take(metrics=found.with_segments)
    human = found.human.copy()
    human[0, :3] = human[4, 7] = human[:-1, 9] = np.nan
    return replace(found, human=human)


def calibrated(measure: Measure, block: Block, options: Options) -> np.ndarray | None:
    return evaluate(measure, block, options).epsilon if measure.is_calibrated else None


@pytest.mark.every(3)
@pytest.mark.parametrize("text", SYSTEM_LEVEL + SEGMENT_LEVEL)
def test_every_permutation_test_starts_from_the_values_of_the_ranking(block: Block, text: str) -> None:
    measure, tested = parse_measure(text), 0
    for test in measure.tests:
        if test not in SWAPS:
            continue
        source = "submitted" if test == "perm-systems" else "judged-mean"
        options = Options(system_score=source, seed=3)
        statistic = measure.swapped(block, SWAPS[test], options, calibrated(measure, block, options))
        found = permutation_test(statistic, rng=np.random.default_rng(0), n_draws=1, n_threads=1)
        np.testing.assert_allclose(found.values, evaluate(measure, block, options).value, atol=1e-9, err_msg=test)
        tested += 1
    assert tested


@pytest.mark.every(3)
@pytest.mark.parametrize("text", SYSTEM_LEVEL + SEGMENT_LEVEL)
def test_segments_that_nobody_judged_change_no_test(block: Block, text: str) -> None:
    """Groups are places in a swap mask over the judged segments: a gap before the last one must not shift them."""
    few = block.take(metrics=[place < 4 for place in range(len(block.metrics))])
    human = few.human.copy()
    human[:, [2, 5]] = np.nan
    with_gaps = replace(few, human=human)
    kept = ~np.isnan(human).all(axis=0)
    chosen = replace(
        few.selection,
        segments=tuple(np.array(few.selection.segments)[kept].tolist()),
        documents=tuple(np.array(few.selection.documents)[kept].tolist()),
        domains=tuple(np.array(few.selection.domains)[kept].tolist()),
    )
    without = replace(
        few, human=human[:, kept], scores=few.scores[:, :, kept], segments=few.segments[kept], selection=chosen
    )
    measure, options = parse_measure(text), Options(system_score="judged-mean", seed=3)
    for test in [test for test in measure.tests if test in SWAPS]:
        found = [
            permutation_test(
                measure.swapped(one, SWAPS[test], options, calibrated(measure, one, options)),
                rng=np.random.default_rng(0),
                n_draws=10,
                n_threads=1,
            ).p
            for one in (with_gaps, without)
        ]
        np.testing.assert_array_equal(*found, err_msg=test)


@pytest.mark.slow
def test_the_bootstrap_starts_from_the_values_of_the_ranking(block: Block) -> None:
    options, n_tested = Options(system_score="judged-mean", seed=3), 0
    for text in SYSTEM_LEVEL + SEGMENT_LEVEL:
        if "bootstrap" in (measure := parse_measure(text)).tests:
            statistic = measure.resampled(block, options, calibrated(measure, block, options))
            values, n_tested = statistic.values(None, None, 1)[0], n_tested + 1
            np.testing.assert_allclose(values, evaluate(measure, block, options).value, atol=1e-9, err_msg=text)
    assert n_tested > 20


@pytest.mark.slow
def test_a_test_that_fits_can_be_made_and_one_that_does_not_is_refused(block: Block) -> None:
    options = Options()
    for measure in map(parse_measure, SYSTEM_LEVEL + SEGMENT_LEVEL):
        for test in measure.tests:
            measure.check_applies(test)
        for test in set(TESTS) - set(measure.tests):
            with pytest.raises(QuestionError, match="does not apply to measure"):
                measure.check_applies(test)
        epsilon = calibrated(measure, block, options)
        for test in set(PERMUTATIONS) & set(measure.tests):
            assert measure.swapped(block, SWAPS[test], options, epsilon).n_metrics == len(block.metrics), measure


def test_submitted_human_scores_are_the_truth_of_tests_of_means_too(block: Block) -> None:
    other = np.arange(len(block.systems), dtype=float)[::-1]
    changed = replace(block, human_submitted=other)
    statistic = parse_measure("pearson").swapped(changed, "inputs", Options(system_score="judged-mean"), None)
    assert np.array_equal(statistic.human, other)  # type: ignore[attr-defined]


def test_the_applicable_tests_of_a_measure() -> None:
    expected = [
        ("pearson", ["perm-systems", "perm-inputs", "perm-both", "williams", "jackknife-segments", *SYSTEMS_RESAMPLED]),
        ("pa", ["perm-systems", "perm-inputs", "perm-both", *SYSTEMS_RESAMPLED]),
        ("spa", ["perm-inputs", "perm-systems", "perm-both", *SYSTEMS_RESAMPLED]),
        ("spa(binary=yes)", []),
        ("weighted_tau", ["perm-systems"]),
        ("tau_ap", ["perm-systems", "perm-inputs", "perm-both", *SYSTEMS_RESAMPLED]),
        ("pearson(top=4)", ["perm-systems", "perm-inputs", "perm-both", "williams", *SYSTEMS_RESAMPLED]),
        ("pearson(top=3)", ["perm-systems", "perm-inputs", "perm-both", *SYSTEMS_RESAMPLED]),
        ("acc_eq(by=item)", ["pairs", "perm-inputs", *RESAMPLED]),
        ("acc_eq(by=none)", ["jackknife-segments", *RESAMPLED]),
        ("tau_eq(by=doc)", ["jackknife-segments"]),
        ("tau_b(by=doc)", ["perm-inputs", "perm-systems", "perm-both"]),
        ("tau_b(by=item, epsilon=0.5)", ["perm-inputs", *RESAMPLED]),
        ("tau_b(by=none, epsilon=0.5)", [*RESAMPLED]),
        ("tau_b(by=system, on_nan=common)", ["perm-systems", *RESAMPLED]),
        ("pdp", ["perm-inputs", "perm-systems", "perm-both", *RESAMPLED]),
    ]
    assert [(text, list(parse_measure(text).tests)) for text, _ in expected] == expected


def test_groups_that_are_undefined_count_as_zero_where_the_measure_says_so(block: Block) -> None:
    human = block.human.copy()
    human[:, [0, 3, 9]] = -1.0  # three segments of 24 on which humans saw no difference
    flat = replace(block, human=human).take(metrics=[True] * 6 + [False] * (len(block.metrics) - 6))
    nulls = []
    for text in ("pearson(by=item)", "pearson(by=item, on_nan=zero)"):
        statistic = parse_measure(text).swapped(flat, "inputs", Options(), None)
        found = permutation_test(statistic, rng=np.random.default_rng(0), n_draws=50, keep_null=True)
        nulls.append(found.null)
    np.testing.assert_allclose(nulls[1], nulls[0] * 21 / 24, atol=1e-12)


def value_of_resample(
    text: str, human: np.ndarray, metric: np.ndarray, systems: np.ndarray, segments: np.ndarray, epsilon: float
) -> float:
    """A measure made of pairs of segment scores, by plain loops over the pairs that are no copies."""
    name, by = text.split("(by=")
    groups = naive.outcomes_of_resample(by.split(",")[0].rstrip(")"), human, metric, systems, segments, epsilon)
    if "pool=pairs" in text and groups:
        groups = [{key: sum(group[key] for group in groups) for key in groups[0]}]

    def of_group(n: dict[str, float]) -> float:
        c, d, th, tm, thm = n["C"], n["D"], n["Th"], n["Tm"], n["Thm"]
        p = c + d + th + tm + thm
        top, bottom = {
            "tau_a": (c - d, p),
            "tau_b": (c - d, np.sqrt((c + d + th) * (c + d + tm))),
            "kendall": (c - d, np.sqrt((c + d + th) * (c + d + tm))),
            "tau_10": (c - d - tm, c + d + tm),
            "tau_13": (c - d, c + d),
            "tau_14": (c - d, c + d + tm),
            "tau_23": (c + thm - d - th - tm, p),
            "tau_eq": (c + thm - d - th - tm, p),
            "acc23": (c + thm, p),
            "accuracy": (c + tm / 2 if "half" in text else c, c + d + tm),
            "acc_eq": (c + thm, p),
            "tabular": (c + thm - d, c + thm + d),
        }[name]
        return top / bottom if bottom else np.nan

    values = np.array([of_group(group) for group in groups])
    if "on_nan=zero" in text:
        values = np.nan_to_num(values)
    return float(np.mean(values[~np.isnan(values)])) if (~np.isnan(values)).any() else np.nan


MADE_OF_PAIRS = [
    *(f"{name}(by={by})" for name in ("tau_a", "tau_b", "acc23", "acc_eq") for by in ("item", "system", "none")),
    *(f"{name}(by=item)" for name in ("tau_10", "tau_13", "tau_14", "tau_23", "tau_eq", "kendall")),
    "kendall(by=none)",
    "tau_b(by=item, on_nan=zero)",
    "tau_14(by=item, pool=pairs)",
    "accuracy(by=item, ties=half)",
    "accuracy(by=item)",
    "tau_23(by=item, pool=pairs)",
    "tabular(by=item, coefficients=1:X:-1/X:1:X/-1:X:1)",
    "tabular(by=none, coefficients=1:X:-1/X:1:X/-1:X:1)",
]


@pytest.mark.every(3)
@pytest.mark.parametrize("resample", ["inputs", "systems", "both"])
@pytest.mark.parametrize("text", MADE_OF_PAIRS)
def test_copies_of_a_system_or_segment_make_no_pairs(block: Block, text: str, resample: Resample) -> None:
    """Every measure made of pairs of segment scores, on redrawn segments, systems and both, against plain loops."""
    few = block.take(metrics=[place in (0, 3) for place in range(len(block.metrics))])
    few = replace(
        few,
        human=np.round(few.human[:5, :7] / 4),
        scores=np.round(few.scores[:, :5, :7], 1),
        systems=few.systems[:5],
        selection=replace(few.selection, segments=few.selection.segments[:7]),
    )
    measure, options = parse_measure(text), Options()
    epsilon = calibrated(measure, few, options)
    cells = judged_segments(few)
    result = bootstrap(measure.resampled(few, options, epsilon), resample, rng=np.random.default_rng(4), n_draws=4)
    ((systems, segments),) = resampled_units(np.random.default_rng(4), 4, resample, cells.human.shape)
    for draw in range(4):
        rows = np.arange(5) if systems is None else systems[draw]
        columns = np.arange(cells.human.shape[1]) if segments is None else segments[draw]
        for place, scores in enumerate(cells.scores):
            expected = value_of_resample(
                text,
                cells.human[rows][:, columns],
                scores[rows][:, columns],
                rows,
                columns,
                0.0 if epsilon is None else float(epsilon[place]),
            )
            np.testing.assert_allclose(result.draws[place, draw], expected, atol=1e-12)


@pytest.mark.parametrize("text", ["pdp", "kendall_like(threshold=2)"])
def test_copies_add_nothing_to_measures_of_differences(block: Block, text: str) -> None:
    """Twice every system is the same data: where pairs of copies counted, the value would change."""
    measure = parse_measure(text)
    statistic = measure.resampled(block, Options(), None)
    n_systems = statistic.shape[0]
    twice = np.repeat(np.arange(n_systems), 2)[np.newaxis]
    np.testing.assert_allclose(statistic.values(twice, None, 1), statistic.values(None, None, 1), atol=1e-12)


@pytest.mark.slow
def test_redrawn_systems_move_the_interval_of_acc_eq_around_its_value(wmt23_warehouse: Warehouse) -> None:
    asked = Slice("wmt23", "en-de", metrics=("XCOMET-Ensemble-refA", "BLEURT-20-refA"))
    found = Inputs(wmt23_warehouse, asked).block(parse_measure("acc_eq(by=item)"))
    measure, options = parse_measure("acc_eq(by=item)"), Options()
    statistic = measure.resampled(found, options, calibrated(measure, found, options))
    drawn = bootstrap(statistic, "systems", rng=np.random.default_rng(0), n_draws=400)
    for place in range(2):
        one = drawn.interval(place)
        assert one.low < one.value < one.high
        assert np.nanmean(drawn.draws[place]) == pytest.approx(one.value, abs=0.01)  # copies would lift it by .034
