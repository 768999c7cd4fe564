"""Two metrics: every fitting test, the interval, and sentences that are true."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student

from metaeval.kernels.resampling.bootstrap import bootstrap
from metaeval.measures.applicable import BY_UNIT, PERMUTATIONS, POPULATIONS
from metaeval.measures.options import Options, Population, TestOptions
from metaeval.measures.registry import parse_measure
from metaeval.measures.system_scores import system_scores
from metaeval.results.inputs import Inputs
from metaeval.studies.significance import metric_tests
from metaeval.studies.significance.comparison import pair_frame, pair_json
from metaeval.studies.significance.pairwise import PairwiseComparison, compare_pair
from queries.slices import Slice
from tests.comparing import compare
from tests.drawn_units import resampled_units
from tests.helpers import metric_tables, tiny_layout, tiny_warehouse
from warehouse import QuestionError, Warehouse

TWO = Slice("sim24", "en-de", metrics=("simBLEU-refA", "Marlin-24-refA"))
QUICK = TestOptions(resamples=200, all_tests=True)
PEARSON = parse_measure("pearson")


def fought(
    warehouse: Warehouse, text: str, asked: Slice = TWO, testing: TestOptions = QUICK, **options: object
) -> PairwiseComparison:
    measure, chosen = parse_measure(text), Options(**options)  # type: ignore[arg-type]
    return compare_pair(Inputs(warehouse, asked, chosen.round_human).block(measure), asked, measure, chosen, testing)


def test_the_better_metric_comes_first_and_every_fitting_test_has_a_row(simulated_warehouse: Warehouse) -> None:
    found = fought(simulated_warehouse, "pearson")
    assert found.metrics == ("Marlin-24-refA", "simBLEU-refA")
    assert found.values[0] > found.values[1]
    rows = [(one.test, one.population, one.system_score, one.resamples) for one in found.tests]
    assert rows == [
        ("bootstrap-normal", "segments", "judged-mean", 200),
        ("perm-systems", "systems", "submitted", 200),
        ("perm-inputs", "segments", "judged-mean", 200),
        ("perm-both", "both", "judged-mean", 200),
        ("williams", "systems", "submitted", 0),
        ("jackknife-segments", "segments", "judged-mean", 0),
        ("bootstrap", "segments", "judged-mean", 200),
        ("jackknife-systems", "systems", "submitted", 0),
        ("jackknife-both", "both", "judged-mean", 200),
    ]
    assert {one.alternative for one in found.tests} == {"two-sided"}
    assert found.notes[0].startswith("generalises to: new documents of these systems")
    assert "; tested by document (42 documents)" in found.notes[0]


@pytest.mark.slow
def test_each_row_is_the_comparison_by_that_test(simulated_warehouse: Warehouse) -> None:
    found = fought(simulated_warehouse, "pearson")
    for one in found.tests:
        unit = "document" if one.test in BY_UNIT else None
        testing = replace(QUICK, test=one.test, unit=unit, all_tests=False)  # type: ignore[arg-type]
        alone = compare(simulated_warehouse, TWO, PEARSON, Options(), testing)
        assert alone.names == found.metrics
        assert one.p == alone.p[0, 1]
        assert one.values == tuple(alone.values)


@pytest.mark.slow
def test_p_is_that_of_the_first_metric_even_where_means_put_it_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Submitted scores favour Fine, means of judged segments favour Rough: p of Fine by the means is large."""
    monkeypatch.setattr(metric_tests, "LEAST_UNITS", 1)
    monkeypatch.setattr(metric_tests, "least_p_value", lambda n, alternative: 0.0)
    tables = metric_tables()
    fine = tables["Fine-src"]
    tables = {"Fine-src": replace(fine, seg=fine.seg[::-1]), "Rough-refA": tables["Rough-refA"]}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics=tables)) as warehouse:
        testing = replace(QUICK, population="systems", alternative="greater")
        found = fought(warehouse, "pearson", Slice("tiny24", "en-de"), testing)
    assert found.metrics == ("Fine-src", "Rough-refA")
    by_test = {one.test: one for one in found.tests}
    assert by_test["perm-systems"].values[0] > by_test["perm-systems"].values[1]
    assert by_test["perm-inputs"].values[0] < by_test["perm-inputs"].values[1]
    assert by_test["perm-inputs"].p > 0.5
    assert found.difference < 0
    assert f"Fine-src minus Rough-refA, is {found.difference:.4f}" in found.words[1]


@pytest.mark.slow
def test_the_interval_is_the_percentile_bootstrap_of_judged_means(simulated_warehouse: Warehouse) -> None:
    found = fought(
        simulated_warehouse, "pearson", testing=replace(QUICK, resamples=100, interval="percentile", unit="segment")
    )
    block = Inputs(simulated_warehouse, TWO).block(PEARSON)
    kept = block.judged.any(axis=0)
    human, metrics = block.human[:, kept], np.where(block.judged, block.scores, np.nan)[:, :, kept]
    draws = []
    for _, segments in resampled_units(np.random.default_rng([0, 2]), 100, "inputs", human.shape):
        for picks in segments:
            h = np.nanmean(human[:, picks], axis=1)
            r = [np.corrcoef(h, np.nanmean(metric[:, picks], axis=1))[0, 1] for metric in metrics]
            draws.append(r[0] - r[1])
    low, high = np.quantile(draws, [0.025, 0.975])
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    scores = system_scores(block, "judged-mean")
    first, second = (np.corrcoef(scores.human, metric)[0, 1] for metric in scores.metrics)
    assert found.difference == pytest.approx(first - second)


@pytest.mark.parametrize(
    "text",
    ["acc_eq(by=item)", "acc_eq(by=doc)", "tau_b(by=doc)", "tau_b(by=item, epsilon=0.1)", "pdp", "spa(n=20)", "pa"],
)
def test_every_kind_of_measure_has_a_pairwise_comparison(simulated_warehouse: Warehouse, text: str) -> None:
    asked = replace(TWO, segments="1-40")
    found = fought(simulated_warehouse, text, asked, TestOptions(resamples=20))
    assert found.tests
    assert all(0 <= one.p <= 1 for one in found.tests)
    assert np.isnan(found.low) == (text == "tau_b(by=doc)")  # acc_eq by document has that of its test


def test_the_sentences_say_what_was_tested(simulated_warehouse: Warehouse) -> None:
    found = fought(simulated_warehouse, "pearson", testing=replace(QUICK, test="perm-systems", alternative="greater"))
    first, *disagreement, interval = found.words
    assert not disagreement
    p = found.tests[0].p
    shown = "p < 0.005" if p == 0 else f"p = {p:.3g}"
    assert first == (
        f"By pearson (submitted system scores), Marlin-24-refA ({found.values[0]:.4f}) is significantly better than "
        f"simBLEU-refA ({found.values[1]:.4f}) for new systems on these segments: {shown} "
        "(perm-systems, one-sided, 200 resamples), significance level 0.05."
    )
    assert interval == (
        "The difference of pearson by means over annotated segments, Marlin-24-refA minus simBLEU-refA, is "
        f"{found.difference:.4f}; resampling systems, its 95% confidence interval is {found.low:.4f} to "
        f"{found.high:.4f}."
    )
    one = fought(simulated_warehouse, "pearson", testing=replace(QUICK, test="jackknife-segments"))
    assert "(jackknife-segments, two-sided)" in one.words[0]  # nothing is drawn, but p is no exact one
    assert "|test_resamples:none|" in one.signature
    assert not any("power" in word for word in (*one.words, *pair_json(one)))  # only a function of p


@pytest.mark.slow
def test_tests_that_disagree_are_reported(simulated_warehouse: Warehouse) -> None:
    asked = replace(TWO, metrics=("Rubric-5-src", "Kestrel-24-QE-src"), segments="1-40")
    found = fought(simulated_warehouse, "spa(n=20)", asked, TestOptions(resamples=60, all_tests=True))
    p = {one.test: one.p for one in found.tests if not one.false_positive_rate > 0.1}  # the others are no voices
    assert 1 < len(p) < len(found.tests)
    alpha = (min(p.values()) + max(p.values())) / 2
    assert min(p.values()) < max(p.values())
    told = fought(simulated_warehouse, "spa(n=20)", asked, TestOptions(resamples=60, alpha=alpha, all_tests=True))
    (line,) = [sentence for sentence in told.words if sentence.startswith("The tests disagree: ")]
    before, after = line.split(" a significant difference, ")
    for test, value in p.items():
        assert test in (before if value <= alpha else after)
        assert test not in (after if value <= alpha else before)
    assert not any(one.test in line for one in found.tests if one.test not in p)
    alone = fought(simulated_warehouse, "spa(n=20)", asked, TestOptions(test="perm-inputs", resamples=60, alpha=alpha))
    assert not any("disagree" in sentence for sentence in alone.words)


@pytest.mark.parametrize(
    ("resample", "method"), [("systems", "percentile"), ("both", "percentile"), ("inputs", "centred")]
)
def test_intervals_may_draw_other_units_and_be_of_another_type(
    simulated_warehouse: Warehouse, resample: str, method: str
) -> None:
    testing = replace(QUICK, resamples=60, interval_over=resample, interval=method, unit="segment")
    found = fought(simulated_warehouse, "pearson", testing=testing)
    block = Inputs(simulated_warehouse, TWO).block(PEARSON)
    names = [metric.name for metric in block.metrics]
    places = [names.index(name) for name in found.metrics]
    drawn = bootstrap(
        PEARSON.resampled(block, Options(), None),
        resample,  # type: ignore[arg-type]
        rng=np.random.default_rng([0, 2]),
        n_draws=60,
    )
    expected = drawn.difference_interval(*places, 0.95, method)
    assert (found.low, found.high) == (expected.low, expected.high)
    own = [drawn.interval(place, 0.95, method) for place in places]
    assert found.value_intervals == tuple((one.low, one.high) for one in own)
    assert f"|interval:95%,{method},resamples=60,resample={resample}" in found.signature
    units = {"inputs": "segments", "systems": "systems", "both": "segments and systems"}[resample]
    assert any(f"; resampling {units}, " in sentence for sentence in found.words)
    shape = pair_json(found)
    assert (shape["interval"]["resample"], shape["interval"]["method"]) == (resample, method)
    assert shape["value_intervals"] == [{"low": one.low, "high": one.high} for one in own]


def test_a_difference_that_is_not_significant_is_said_to_be_none(simulated_warehouse: Warehouse) -> None:
    asked = replace(TWO, metrics=("Marlin-24-refA", "Oriole-refA"))
    found = fought(simulated_warehouse, "pearson", asked, replace(QUICK, population="systems"))
    assert found.tests[0].p > 0.05
    assert " is not significantly better than " in found.words[0]


@pytest.mark.slow
def test_equal_metrics_are_said_to_be_equal(tmp_path: Path) -> None:
    tables = metric_tables()
    tables["Twin-src"] = tables["Fine-src"]
    asked = Slice("tiny24", "en-de", metrics=("Fine-src", "Twin-src"))
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics=tables)) as warehouse:
        found = fought(warehouse, "pearson", asked)
    assert " has the same value as " in found.words[0]
    assert found.difference == 0
    assert "Fine-src and Twin-src have exactly the same scores" in found.notes
    # Four segments have no test; what is of systems, or published, says that the metrics do not differ.
    assert {one.p for one in found.tests if one.test != "williams" and not np.isnan(one.p)} <= {1.0}


def test_a_metric_without_a_value_cannot_be_compared(tmp_path: Path) -> None:
    asked = Slice("tiny24", "en-de", metrics=("Fine-src", "Flat-src"))
    with tiny_warehouse(tmp_path) as warehouse:
        found = fought(warehouse, "pearson", asked)
    assert found.words == (
        "By pearson (means over annotated segments), Fine-src and Flat-src cannot be compared: a value is not defined.",
    )
    assert pair_frame(found)["p"].null_count() == len(found.tests)


def test_tests_that_the_scores_do_not_allow_are_named(tmp_path: Path) -> None:
    asked = Slice("tiny24", "en-de", metrics=("Fine-src", "Only-src"))
    with tiny_warehouse(tmp_path) as warehouse:
        found = fought(warehouse, "pearson", asked)
        assert [one.test for one in found.tests] == ["perm-systems"]
        assert np.isnan(found.difference)
        assert len(found.words) == 1
        assert "williams is not run: it needs at least 4 systems, and there are 3" in found.notes
        assert "jackknife-systems is not run: it needs at least 4 systems, and there are 3" in found.notes
        assert "bootstrap-normal is not run: it would exclude Only-src (no segment scores)" in found.notes
        with pytest.raises(QuestionError, match="more than 3 systems, got 3"):
            fought(warehouse, "pearson", asked, TestOptions(test="williams"))


def test_one_test_only_where_it_is_named(simulated_warehouse: Warehouse) -> None:
    found = fought(simulated_warehouse, "pearson", testing=replace(QUICK, test="williams", legacy_df=True))
    assert [(one.test, one.resamples) for one in found.tests] == [("williams", 0)]
    assert "(williams, two-sided)" in found.words[0]
    assert "degrees_of_freedom:n-2" in found.signature


def test_tables_and_json_hold_the_same(simulated_warehouse: Warehouse) -> None:
    found = fought(simulated_warehouse, "pearson")
    frame, shape = pair_frame(found), pair_json(found)
    assert frame["p"].to_list() == [one["p"] for one in shape["tests"]]
    assert frame["value_better"].to_list() == [one["values"][0] for one in shape["tests"]]
    assert frame["resamples"].to_list() == [one["resamples"] for one in shape["tests"]]
    assert shape["interval"]["low"] == found.low
    assert shape["summary"] == " ".join(found.words)


@pytest.mark.slow
def test_the_interval_is_the_measure_s_own_unless_another_is_named(simulated_warehouse: Warehouse) -> None:
    """Normal for Pearson over systems: the value, and 1.96 standard deviations of the resampled ones on either side.

    Where the test is of the same population and has an interval of its own, it is that one (below).
    """
    few = replace(QUICK, resamples=60, population="systems", interval_over="inputs", unit="segment")
    found = fought(simulated_warehouse, "pearson", testing=few)
    block = Inputs(simulated_warehouse, TWO).block(PEARSON)
    drawn = bootstrap(PEARSON.resampled(block, Options(), None), rng=np.random.default_rng([0, 2]), n_draws=60)
    names = [metric.name for metric in block.metrics]
    first, second = (names.index(name) for name in found.metrics)
    error = np.std(drawn.draws[first] - drawn.draws[second], ddof=1)
    assert (found.low, found.high) == pytest.approx(
        (found.difference - 1.959964 * error, found.difference + 1.959964 * error), rel=1e-6
    )
    assert "|interval:95%,normal," in found.signature
    assert found.interval == "normal"
    asked = replace(TWO, segments="1-40")
    assert fought(simulated_warehouse, "spa(n=20)", asked, few).interval == "normal"
    assert fought(simulated_warehouse, "pa", asked, few).interval == "percentile"


def test_the_interval_of_pearson_is_that_of_the_segments_left_out(simulated_warehouse: Warehouse) -> None:
    testing = replace(QUICK, test="jackknife-segments", unit="segment")
    found = fought(simulated_warehouse, "pearson", testing=testing)
    reach = (found.high - found.low) / 2
    error = reach / student.ppf(0.975, 39)
    assert found.tests[0].p == pytest.approx(2 * student.sf(found.difference / error, 39))
    assert found.interval == "student-t"
    assert "|value_interval:95%,normal,resamples=200,resample=inputs,seed=0,system_score=judged-mean" in found.signature
    assert found.signature.endswith("|interval:95%,student-t,resample=inputs,system_score=judged-mean")


PAIRS = (("simBLEU-refA", "Marlin-24-refA"), ("Rubric-5-src", "Kestrel-24-QE-src"), ("Marlin-24-refA", "Oriole-refA"))
MEASURES = (
    *("pearson", "spearman", "kendall", "pa", "tau_ap", "pearson(top=4)", "spa(n=20)", "acc_eq(by=item)"),
    *("tau_b(by=item)", "pearson(by=item)", "pearson(by=none)", "pdp", "acc_eq(by=none)"),
)
DEAR = {
    *("acc_eq(by=none)", "tau_ap", "pearson(top=4)", "spa(n=20)", "pearson(by=item)"),
    *(f"{name} both" for name in ("pearson(by=none)", "pdp")),
}


@pytest.mark.parametrize(
    ("text", "population"),
    [
        pytest.param(one, of, marks=pytest.mark.slow if one in DEAR or f"{one} {of}" in DEAR else ())
        for one, of in product(MEASURES, POPULATIONS)
    ],
)
def test_a_default_test_and_the_interval_beside_it_are_of_one_population_and_never_disagree(
    simulated_warehouse: Warehouse, text: str, population: Population
) -> None:
    """Swaps have no interval; resamples of what they swap are beside them."""
    test = parse_measure(text).default_test(population)
    for metrics in PAIRS:
        testing = replace(QUICK, resamples=60, test=test, population=population)
        found = fought(simulated_warehouse, text, replace(TWO, metrics=metrics, segments="1-40"), testing)
        units = {"segments": "inputs"}.get(population, population)
        assert found.resample == ("systems" if test == "jackknife-systems" else units)
        if test not in PERMUTATIONS:
            assert found.interval == "student-t"
            assert (found.tests[0].p <= 0.05) == (not found.low <= 0 <= found.high), metrics
            assert found.low <= found.difference <= found.high
            assert found.difference == found.values[0] - found.values[1]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["pearson", "spearman", "kendall", "pa", "tau_ap", "pearson(top=4)", "spa(n=20)"])
def test_a_test_with_standard_errors_and_the_interval_beside_it_are_of_the_same_draws(
    simulated_warehouse: Warehouse, text: str
) -> None:
    few = replace(TWO, segments="1-40")
    testing = replace(QUICK, test="bootstrap-normal", unit="segment")
    found = fought(simulated_warehouse, text, few, testing)
    (row,) = found.tests
    assert found.difference == row.values[0] - row.values[1]
    assert found.interval == "student-t"
    error = (found.high - found.difference) / student.ppf(0.975, 39)
    assert row.p == pytest.approx(2 * student.sf(found.difference / error, 39), rel=1e-4)
    assert f"|interval:95%,student-t,resamples={QUICK.resamples},resample=inputs" in found.signature
    own = parse_measure(text).interval
    assert f"|value_interval:95%,{own}," in found.signature
    asked = fought(simulated_warehouse, text, few, replace(testing, interval="percentile"))
    assert asked.interval == "percentile"
    assert asked.value_intervals == found.value_intervals or own == "normal"


def test_accuracy_is_tested_on_means_of_segments_by_one_bootstrap_and_on_pairs_of_systems_by_the_other(
    simulated_warehouse: Warehouse,
) -> None:
    rows = {one.test: one for one in fought(simulated_warehouse, "pa").tests}
    of_segments, of_pairs = rows["bootstrap-normal"], rows["bootstrap"]
    assert (of_segments.population, of_segments.system_score) == ("segments", "judged-mean")
    assert (of_pairs.population, of_pairs.system_score) == ("systems", "submitted")
    with pytest.raises(QuestionError, match="takes means over annotated segments"):
        fought(simulated_warehouse, "pa", testing=replace(QUICK, test="bootstrap-normal"), system_score="submitted")


@pytest.mark.slow
def test_what_would_take_minutes_beside_the_test_is_left_out_and_said(
    simulated_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = fought(simulated_warehouse, "spa(n=100)")
    monkeypatch.setattr("metaeval.studies.significance.pairwise._MOST_WITHIN", 100_000)
    found = fought(simulated_warehouse, "spa(n=100)")
    left = [one.test for one in found.tests]
    assert [one.test for one in whole.tests if one.test not in left] == [
        *("perm-inputs", "perm-both", "bootstrap", "jackknife-both")
    ]
    (note,) = [note for note in found.notes if note.startswith("perm-inputs, perm-both")]
    assert note.endswith(
        " are only run when named: 10500 draws of spa(n=100) in each of 200 resamples take minutes; intervals are of "
        "spa(n=inf)"
    )
    assert "measure=spa(n=inf)" in found.signature
    assert (found.low, found.high) == (whole.low, whole.high)
    np.testing.assert_allclose(found.value_intervals, whole.value_intervals, atol=0.02)
    named = fought(simulated_warehouse, "spa(n=100)", testing=replace(QUICK, test="perm-inputs"))
    assert [one.test for one in named.tests] == ["perm-inputs"]


@pytest.mark.slow
def test_a_test_that_leaves_out_systems_and_segments_is_dear_however_few_the_draws(
    simulated_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metaeval.studies.significance.pairwise._MOST_WITHIN", 10500 * 200)
    found = fought(simulated_warehouse, "spa(n=100)")
    assert {"perm-inputs", "perm-both", "bootstrap"} < {one.test for one in found.tests}
    (note,) = [note for note in found.notes if note.startswith("jackknife-both")]
    assert note == (
        "jackknife-both is only run when named: 10500 draws of spa(n=100) in each of 515 resamples take minutes"
    )
    assert "measure=spa(n=inf)" not in found.signature
