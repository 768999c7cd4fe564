"""Metrics against metrics on a warehouse: the right scores into each test, and p the right way round."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from metaeval.kernels import draw_signs
from metaeval.kernels.resampling.clusters import benjamini_hochberg, holm, significance_clusters
from metaeval.kernels.resampling.permutation import permutation_test
from metaeval.measures.applicable import POPULATIONS, SWAPS
from metaeval.measures.measure import Definition, Measure
from metaeval.measures.options import Options, Population, SystemScore, TestOptions
from metaeval.measures.registry import DEFINITIONS, parse_measure
from metaeval.measures.system_scores import system_scores
from metaeval.results.inputs import Inputs
from metaeval.studies.significance import metric_tests
from metaeval.studies.significance.comparison import Comparison, as_json, compare_block
from metaeval.studies.significance.metric_tests import Level, chosen, fitted_options, run_test
from metaeval.studies.significance.options import fitted_to, resolution_of
from queries.blocks import Block
from queries.slices import Slice
from tests import naive_significance as naive
from tests.comparing import compare
from tests.drawn_units import resampled_units, swap_blocks
from tests.helpers import SYSTEMS, metric_tables, rank, tiny_layout, tiny_warehouse
from warehouse import QuestionError, Warehouse
from warehouse.export.mtme import ScoreTable

SIM = Slice("sim24", "en-de")
FEW = replace(SIM, metrics=("simBLEU*", "simchrF*", "Marlin*", "Dice*"))
PAPER = TestOptions(test="perm-inputs", alternative="two-sided", resamples=1000)
JUDGED = Options(system_score="judged-mean")


def parsed(text: str) -> Measure:
    return parse_measure(text)


def fetched(warehouse: Warehouse, asked: Slice, measure: str = "spa") -> Block:
    return Inputs(warehouse, asked).block(parsed(measure))


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize("text", ["pearson", "pa", "spa(n=20)", "acc_eq(by=item)", "tau_b(by=item)", "pdp"])
def test_one_sided_p_values_of_two_metrics_point_in_opposite_directions(
    simulated_warehouse: Warehouse, text: str
) -> None:
    """p of (a, b) and of (b, a) add up to 1 or, by ties, to more; two-sided ones are equal."""
    asked = replace(FEW, segments="1-40")
    block, measure = fetched(simulated_warehouse, asked), parsed(text)
    for test in measure.tests:
        options = fitted_options(measure, test, Options(), asked)
        testing = chosen(measure, block, options, TestOptions(test=test, resamples=60, alternative="greater"))
        p = run_test(block, measure, options, testing).p
        off = np.triu_indices(len(p), 1)
        assert (p[off] + p.T[off] >= 1 - 1e-12).all(), test
        both = run_test(block, measure, options, replace(testing, alternative=None)).p
        assert np.array_equal(both, both.T, equal_nan=True), test
        assert (both[off] >= np.minimum(p[off], p.T[off]) - 1e-12).all(), test


# --- what goes in ---------------------------------------------------------------------------------------------------


def test_submitted_scores_are_swapped_by_systems_and_judged_means_by_segments(simulated_warehouse: Warehouse) -> None:
    block = fetched(simulated_warehouse, FEW)
    for test, source in (("perm-systems", "submitted"), ("perm-inputs", "judged-mean"), ("perm-both", "judged-mean")):
        found = compare(simulated_warehouse, FEW, "pearson", test=test, resamples=10)
        scores = system_scores(block, source)
        values = [np.corrcoef(scores.human, metric)[0, 1] for metric in scores.metrics]
        np.testing.assert_allclose(found.values, np.sort(values)[::-1], atol=1e-12)
        assert f"|system_score:{source}|" in found.signature


@pytest.mark.slow
def test_p_of_submitted_scores_is_that_of_a_plain_loop(simulated_warehouse: Warehouse) -> None:
    block = fetched(simulated_warehouse, FEW)
    found = compare(simulated_warehouse, FEW, "pearson", test="perm-systems", resamples=60, alternative="greater")
    assert found.population == "systems"
    scores = system_scores(block, "submitted")
    rng = np.random.default_rng([0, 1])
    masks = np.concatenate(list(swap_blocks(rng, 60, scores.human.shape)))
    statistic = naive.system_correlation("pearson")
    values, differences = naive.swapped_differences(
        statistic, scores.human[:, np.newaxis], scores.metrics[:, :, np.newaxis], "systems", masks
    )
    check_against(found, [metric.name for metric in block.metrics], values, differences)


@pytest.mark.slow
@pytest.mark.every(2)
@pytest.mark.parametrize("measure", ["pa", "spearman"])
def test_p_of_judged_means_is_that_of_a_plain_loop(simulated_warehouse: Warehouse, measure: str) -> None:
    block = fetched(simulated_warehouse, FEW)
    found = compare(simulated_warehouse, FEW, measure, JUDGED, testing=replace(PAPER, resamples=8))
    kept = block.judged.any(axis=0)
    human, metrics = block.human[:, kept], block.scores[:, :, kept]
    masks = np.concatenate(list(swap_blocks(np.random.default_rng([0, 1]), 8, (int(kept.sum()),))))
    statistic = naive.pairwise_accuracy("organisers") if measure == "pa" else naive.system_correlation(measure)
    values, differences = naive.swapped_differences(statistic, human, metrics, "inputs", masks)
    check_against(found, [metric.name for metric in block.metrics], values, differences, two_sided=True)


@pytest.mark.long("1 second")
def test_soft_pairwise_accuracy_shares_its_signs_with_the_ranking(simulated_warehouse: Warehouse) -> None:
    asked = replace(FEW, segments="1-40")
    block = fetched(simulated_warehouse, asked)
    found = compare(simulated_warehouse, asked, "spa(n=6)", Options(seed=4), resamples=6, alternative="greater")
    kept = block.judged.any(axis=0)
    human, metrics = block.human[:, kept], block.scores[:, :, kept]
    signs = draw_signs(np.random.default_rng([4, 0]), 6, int(kept.sum()))
    masks = np.concatenate(list(swap_blocks(np.random.default_rng([4, 1]), 6, (int(kept.sum()),))))
    values, differences = naive.swapped_differences(naive.soft_pairwise(signs), human, metrics, "inputs", masks)
    check_against(found, [metric.name for metric in block.metrics], values, differences)
    ranking = rank(simulated_warehouse, "sim24", "en-de", ["spa(n=6)"], options=Options(seed=4), **vars_of(asked))
    assert ranking["metric"].to_list() == list(found.names)
    np.testing.assert_allclose(ranking["value"], found.values, atol=1e-12)


def vars_of(asked: Slice) -> dict[str, object]:
    return {"metrics": asked.metrics, "segments": asked.segments}


def check_against(
    found: Comparison, names: list[str], values: np.ndarray, differences: np.ndarray, *, two_sided: bool = False
) -> None:
    """The comparison's p are the shares that a plain loop counts, with the better metric's claim in the row."""
    count = naive.n_extreme(values, differences, two_sided=two_sided)
    for i, better in enumerate(found.names):
        for j, worse in enumerate(found.names):
            expected = count[names.index(better), names.index(worse)] / len(differences) if i < j else np.nan
            assert found.p[i, j] == expected or (np.isnan(found.p[i, j]) and i >= j), (better, worse)


def test_calibrated_thresholds_stay_with_their_metrics_in_the_test_pairs(simulated_warehouse: Warehouse) -> None:
    asked = replace(FEW, segments="1-30")
    block = fetched(simulated_warehouse, asked)
    found = compare(simulated_warehouse, asked, "acc_eq(by=item)", test="pairs", alternative="greater")
    assert (found.test, found.resamples) == ("pairs", 0)
    ranking = rank(simulated_warehouse, "sim24", "en-de", ["acc_eq(by=item)"], **vars_of(asked))
    epsilon = dict(zip(ranking["metric"], ranking["epsilon"], strict=True))
    names = [metric.name for metric in block.metrics]
    labels = np.tile(np.arange(block.human.shape[1]), (len(block.systems), 1))
    only = naive.pairs_only_right(block.human, block.scores, labels, np.array([epsilon[name] for name in names]))
    from scipy.stats import binom

    for i, better in enumerate(found.names):
        for j in range(i + 1, len(names)):
            a, b = names.index(better), names.index(found.names[j])
            n = only[a, b] + only[b, a]
            assert found.p[i, j] == pytest.approx(binom.sf(only[a, b] - 1, n, 0.5), rel=1e-9)


def test_williams_needs_no_draws_and_stands_on_submitted_scores(simulated_warehouse: Warehouse) -> None:
    found = compare(simulated_warehouse, FEW, "pearson", test="williams")
    assert found.resamples == 0
    assert "|test:williams|population:systems|alternative:two-sided|test_resamples:none|" in found.signature
    assert "degrees_of_freedom:n-3" in found.signature
    legacy = compare(simulated_warehouse, FEW, "pearson", test="williams", legacy_df=True)
    upper = np.triu_indices(len(found.names), 1)
    assert (legacy.p[upper] <= found.p[upper]).all()
    assert (legacy.p[upper] < found.p[upper]).any()


def test_the_bootstrap_of_accuracy_redraws_system_pairs_of_submitted_scores(simulated_warehouse: Warehouse) -> None:
    found = compare(simulated_warehouse, FEW, "pa", test="bootstrap", resamples=400, alternative="greater")
    assert "|system_score:submitted|" in found.signature
    assert "test_p_value:share_not_better" in found.signature
    scores = system_scores(fetched(simulated_warehouse, FEW), "submitted")
    signs = [np.sign(np.subtract.outer(x, x))[np.triu_indices(len(x), 1)] for x in (scores.human, *scores.metrics)]
    right = np.array([sign == signs[0] for sign in signs[1:]])
    names = [metric.name for metric in fetched(simulated_warehouse, FEW).metrics]
    first, last = names.index(found.names[0]), names.index(found.names[-1])
    rng = np.random.default_rng(0)
    picks = rng.integers(0, right.shape[1], (20_000, right.shape[1]))
    share = np.mean(right[first][picks].sum(axis=1) <= right[last][picks].sum(axis=1))
    # 400 draws: a binomial share, four standard errors
    assert found.p[0, -1] == pytest.approx(share, abs=4 * np.sqrt(max(share * (1 - share), 1e-4) / 400))


# --- which way round ------------------------------------------------------------------------------------------------


def test_a_metric_that_is_always_right_beats_one_that_is_always_wrong_and_never_the_other_way(tmp_path: Path) -> None:
    """Fine follows the human order of four systems, Wrong reverses it: p of the better one is small."""
    with tiny_warehouse(tmp_path) as warehouse:
        asked = Slice("tiny24", "en-de", metrics=("Fine-src", "Wrong-src"))
        options: dict[str, Any] = {"test": "perm-systems", "resamples": 2000, "alternative": "greater"}
        found = compare(warehouse, asked, "pearson", alpha=0.2, **options)
        without = compare(warehouse, asked, "pearson", alpha=0.05, **options)  # which 3 systems cannot reach
    assert np.isnan(without.p).all()
    assert found.names == ("Fine-src", "Wrong-src")
    # swapping all systems, none, or any that leave the difference as large: of 2^3 masks of 3 systems only none is
    # as extreme as the data, so p is 1/8 up to the error of 2000 draws (four standard errors are 0.03)
    assert found.p[0, 1] == pytest.approx(1 / 8, abs=0.03)
    assert np.isnan([found.p[0, 0], found.p[1, 0], found.p[1, 1]]).all()
    assert (found.n_significant, without.n_significant) == (1, 0)
    assert (found.clusters.tolist(), without.clusters.tolist()) == ([1, 2], [1, 1])


@pytest.mark.parametrize(("correction", "correct"), [("holm", holm), ("bh", benjamini_hochberg)])
def test_a_correction_takes_all_pairs_as_one_family_and_leaves_raw_p(
    simulated_warehouse: Warehouse, correction: str, correct: object
) -> None:
    testing = TestOptions(test="perm-systems", resamples=200, alternative="greater")
    raw = compare(simulated_warehouse, SIM, "pearson", testing=testing)
    found = compare(simulated_warehouse, SIM, "pearson", testing=replace(testing, correction=correction))
    assert np.array_equal(found.p, raw.p, equal_nan=True)
    defined = raw.p[~np.isnan(raw.p)]
    np.testing.assert_allclose(found.corrected[~np.isnan(raw.p)], correct(defined))  # type: ignore[operator]
    assert np.array_equal(np.isnan(found.corrected), np.isnan(raw.p))
    expected = significance_clusters(found.values, found.corrected, 0.05)
    assert np.array_equal(found.clusters, expected)
    assert found.n_significant == np.sum(found.corrected <= 0.05) < raw.n_significant
    assert f"|correction:{correction}|" in found.signature


def test_kept_differences_are_those_of_the_metrics_as_sorted(simulated_warehouse: Warehouse) -> None:
    testing = TestOptions(test="perm-inputs", resamples=100, keep_null=True, alternative="greater")
    found = compare(simulated_warehouse, FEW, "pearson", testing=testing)
    first, second = np.triu_indices(len(found.names), 1)
    assert found.null.shape == (first.size, 100)
    gaps = (found.values[first] - found.values[second])[:, np.newaxis]
    np.testing.assert_allclose(np.mean(found.null >= gaps - 1e-9, axis=1), found.p[first, second])


def test_a_constant_metric_has_no_rank_and_no_p_and_stands_last(simulated_warehouse: Warehouse) -> None:
    found = compare(simulated_warehouse, SIM, "pearson", population="systems", resamples=50)
    undefined = [name for name, value in zip(found.names, found.values, strict=True) if np.isnan(value)]
    assert undefined == ["Onlooker-src", "Steady-src"]
    assert found.names[-2:] == ("Onlooker-src", "Steady-src")
    assert found.ranks[-2:].tolist() == [0, 0]
    assert np.isnan(found.p[:, -2:]).all()
    assert as_json(found)["ranks"][-2:] == [None, None]
    assert found.frame("metric")["rank"][-1] is None


# --- who takes part -------------------------------------------------------------------------------------------------


def holed_warehouse(tmp_path: Path) -> Warehouse:
    """The tiny task with a metric without scores for one system, and one without a score for one judged cell."""
    tables = metric_tables()
    lacks_system = ScoreTable(systems=SYSTEMS[:2], seg=np.arange(10.0).reshape(2, 5), sys=np.array([1.0, 2.0]))
    return tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics={**tables, "Partial-src": lacks_system}))


@pytest.mark.slow
def test_a_metric_without_segment_scores_is_left_out_with_the_reason(tmp_path: Path) -> None:
    with holed_warehouse(tmp_path) as warehouse:
        asked = Slice("tiny24", "en-de")
        for test in ("perm-inputs", "perm-systems", "perm-both"):
            found = compare(warehouse, asked, "spa(n=20)", test=test, resamples=20)
            assert "Only-src" not in found.names, test
            assert "Only-src is excluded: no segment scores" in found.notes, test
            assert "Partial-src is excluded: no scores for the output of Cherry" in found.notes, test
        pearson = compare(warehouse, asked, "pearson", population="systems", resamples=20)
        assert "Only-src" in pearson.names
        by_segments = compare(warehouse, asked, "pearson", test="perm-inputs", resamples=20)
        assert "Only-src" not in by_segments.names
        assert "Only-src is excluded: no segment scores" in by_segments.notes


@pytest.mark.slow
def test_metrics_with_exactly_the_same_scores_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metric_tests, "LEAST_UNITS", 1)
    tables = metric_tables()
    tables["Twin-src"] = tables["Fine-src"]
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics=tables)) as warehouse:
        found = compare(warehouse, Slice("tiny24", "en-de"), "pearson", resamples=50)
    assert "Fine-src and Twin-src have exactly the same scores" in found.notes
    places = [found.names.index(name) for name in ("Fine-src", "Twin-src")]
    assert found.p[min(places), max(places)] == 1
    assert found.ranks[places[0]] == found.ranks[places[1]]
    assert found.names.index("Fine-src") < found.names.index("Twin-src")


def test_pairs_across_clusters_that_are_not_significant_are_reported(simulated_warehouse: Warehouse) -> None:
    found = compare(simulated_warehouse, SIM, "pearson", resamples=200)
    assert found.indistinct
    for better, worse in found.indistinct:
        i, j = found.names.index(better), found.names.index(worse)
        assert i < j
        assert found.clusters[i] != found.clusters[j]
        assert not found.p[i, j] <= 0.05
    assert any("different clusters without a significant difference" in note for note in found.notes)


# --- who computes ---------------------------------------------------------------------------------------------------

EXECUTED = ("pearson", "spa(n=30)", "acc_eq(by=doc)", "tau_b(by=item)")


def same(one: Comparison, other: Comparison) -> None:
    assert one.names == other.names
    for name in ("values", "p", "corrected", "clusters", "ranks"):
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name
    assert (one.signature, one.notes) == (other.signature, other.notes)


@pytest.mark.slow
def test_any_number_of_threads_gives_the_same_numbers(simulated_warehouse: Warehouse) -> None:
    asked = replace(FEW, segments="1-40")
    for text in EXECUTED:
        one, two = (
            compare(simulated_warehouse, asked, parsed(text), resamples=60, threads=threads) for threads in (1, 2)
        )
        same(one, two)


def test_progress_goes_up_to_the_draws(simulated_warehouse: Warehouse) -> None:
    seen: list[tuple[str, int, int]] = []
    testing = TestOptions(resamples=110, threads=2)
    compare(simulated_warehouse, FEW, "pa", testing=testing, progress=lambda *step: seen.append(step))
    assert [done for _, done, _ in seen] == [25, 50, 75, 100, 110]
    assert {(what, total) for what, _, total in seen} == {("pa bootstrap-normal", 110)}


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"alpha": 0.0}, "alpha 0.0: expected a number between 0 and 1"),
        ({"alpha": 1.0}, "alpha 1.0"),
        ({"early_stop": True, "keep_null": True}, "no complete null distribution"),
        ({"resamples": 0}, "expected a whole number from 1 to 1,000,000"),
        ({"test": "nope"}, "expected one of"),
    ],
)
def test_settings_that_no_test_has_cannot_be_made(settings: dict[str, object], words: str) -> None:
    with pytest.raises(QuestionError, match=words):
        TestOptions(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("measure", "options", "testing", "words"),
    [
        (
            "spa",
            Options(),
            TestOptions(test="williams"),
            "'williams' does not apply to measure 'spa'; applicable tests",
        ),
        ("spa(binary=yes)", Options(), TestOptions(), "has no significance test"),
        ("spa(binary=yes)", Options(), TestOptions(test="perm-inputs"), "no test does"),
        ("pearson", Options(), TestOptions(test="pairs"), "test 'pairs' does not apply"),
        (
            "acc_eq(by=none)",
            Options(),
            TestOptions(test="perm-both"),
            "applicable tests: jackknife-segments, bootstrap",
        ),
        (
            "pearson",
            Options(system_score="submitted"),
            TestOptions(test="perm-inputs"),
            "system_score='submitted' does not apply",
        ),
        ("pa", Options(system_score="mean"), TestOptions(test="perm-both"), "system_score='mean' does not apply"),
        ("spa", Options(system_score="submitted"), TestOptions(), "system_score='submitted' does not apply"),
        (
            "weighted_tau",
            Options(),
            TestOptions(population="segments"),
            r"no test for population 'segments'.* for systems",
        ),
        ("acc_eq(by=doc)", Options(), TestOptions(population="both"), "no test for population 'both'"),
        (
            "spa",
            Options(),
            TestOptions(test="perm-systems", population="segments"),
            "for population 'systems', not for",
        ),
        ("pa", Options(), TestOptions(test="bootstrap", population="segments"), "for population 'systems', not for"),
        (
            "pearson",
            Options(),
            TestOptions(legacy_df=True),
            "legacy_df=True applies to williams, not to bootstrap-normal",
        ),
        ("pearson", Options(), TestOptions(test="williams", plus_one=True), "plus_one=True applies to"),
        ("acc_eq(by=doc)", Options(), TestOptions(early_stop=True), "early_stop=True applies to"),
    ],
)
def test_what_does_not_apply_is_refused_with_the_reason(
    simulated_warehouse: Warehouse, measure: str, options: Options, testing: TestOptions, words: str
) -> None:
    with pytest.raises(QuestionError, match=words):
        compare(simulated_warehouse, FEW, measure, options, testing=testing)


def test_one_metric_is_no_comparison(simulated_warehouse: Warehouse) -> None:
    asked = replace(SIM, metrics=("simBLEU-refA",))
    with pytest.raises(QuestionError, match="needs two metrics; only simBLEU-refA can be compared"):
        compare(simulated_warehouse, asked, "pearson")


def test_a_part_of_a_test_set_has_no_submitted_scores(simulated_warehouse: Warehouse) -> None:
    asked = replace(FEW, segments="1-50")
    with pytest.raises(QuestionError, match="no submitted system scores"):
        compare(simulated_warehouse, asked, "pa", Options(system_score="submitted"))
    found = compare(simulated_warehouse, asked, "pa", resamples=10)
    assert found.test == "bootstrap-normal"


def test_the_test_of_a_population() -> None:
    expected: list[tuple[str, Population, str]] = [
        ("acc_eq(by=item)", "segments", "perm-inputs"),
        ("acc_eq(by=item)", "systems", "jackknife-systems"),
        ("acc_eq(by=system)", "systems", "jackknife-systems"),
        ("tau_eq(by=none)", "segments", "jackknife-segments"),
        ("pearson", "segments", "bootstrap-normal"),
        ("pearson", "systems", "jackknife-systems"),
        ("pearson", "both", "jackknife-systems"),
        ("pearson(top=8)", "systems", "jackknife-systems"),
        ("spearman", "systems", "jackknife-systems"),
        ("pa", "both", "jackknife-systems"),
        ("acc_eq(by=item)", "both", "jackknife-both"),
        ("pearson(by=none)", "both", "jackknife-both"),
        ("pa", "segments", "bootstrap-normal"),
        ("spearman", "segments", "bootstrap-normal"),
        ("kendall", "segments", "bootstrap-normal"),
        ("tau_ap", "segments", "bootstrap-normal"),
        ("pearson(top=8)", "segments", "bootstrap-normal"),
        ("spa", "segments", "bootstrap-normal"),
        ("spa", "both", "jackknife-systems"),
        ("tau_b(by=none)", "segments", "perm-inputs"),
        ("weighted_tau", "systems", "perm-systems"),
    ]
    assert [(name, one, parsed(name).default_test(one)) for name, one, _ in expected] == expected


def test_new_segments_are_meant_where_the_scores_allow_it() -> None:
    expected: list[tuple[str, SystemScore | None, bool, Population]] = [
        ("pearson", None, True, "segments"),
        ("pearson", "judged-mean", True, "segments"),
        ("pearson", "submitted", True, "systems"),
        ("pa", "mean", True, "systems"),
        ("pa", None, False, "systems"),
        ("spa", None, True, "segments"),
        ("acc_eq(by=item)", None, True, "segments"),
        ("tau_b(by=system, epsilon=0.5)", None, True, "segments"),
        ("weighted_tau", None, True, "systems"),
        ("acc_eq(by=doc)", None, True, "segments"),
    ]
    assert [(*one, parsed(one[0]).default_population(*one[1:])) for *one, _ in expected] == expected


@pytest.mark.parametrize("measure", ["pearson", "pa", "spa(n=20)", "acc_eq(by=item)", "tau_b(by=item)", "pdp"])
@pytest.mark.parametrize("population", POPULATIONS)
def test_a_result_says_what_it_generalises_to(
    simulated_warehouse: Warehouse, measure: str, population: Population
) -> None:
    asked = replace(FEW, segments="1-40")
    found = compare(simulated_warehouse, asked, measure, population=population, resamples=20)
    words = {
        "segments": "new segments of these systems",
        "systems": "new systems on these segments",
        "both": "new systems and new segments",
    }
    means, null = found.notes[0].split("; ")[:2]
    told = "; tested by segment (40 segments: fewer than 10 documents)" in found.notes[0]
    assert told == ("|unit:segment|n_units:40|" in found.signature) == (not found.test.endswith("-systems"))
    assert means == f"generalises to: {words[population]}"
    same = "exchangeable" if found.test.startswith("perm") else "equally good"
    assert null == f"null hypothesis: {same} on {words[population]}"
    assert same == "equally good" or parsed(measure).level == "seg" or population != "segments"
    assert f"|population:{population}|" in found.signature
    assert "|alternative:two-sided|" in found.signature
    assert as_json(found)["population"] == population


def test_a_named_test_says_that_it_does_not_hold_its_level(
    simulated_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = {("pairs", "equal"): 0.236, ("pairs", "exchangeable"): 0.05, ("perm-inputs", "equal"): 0.051}
    found = {
        ("acc_eq(by=item)", test, "segments", null): (Level(share, "made"),) for (test, null), share in shares.items()
    }
    monkeypatch.setattr(metric_tests, "_measured", lambda: found)
    asked = replace(FEW, segments="1-40")
    pairs = compare(simulated_warehouse, asked, "acc_eq(by=item)", test="pairs")
    assert pairs.notes[0] == (
        "generalises to: new segments of these systems; null hypothesis: exchangeable on new segments of these systems"
        "; but pairs finds too many differences: false-positive rate 0.236 between equally good metrics (made), 0.050 "
        "between exchangeable metrics (made), nominal 0.05 (docs/levels.md)"
    )
    valid = compare(simulated_warehouse, asked, "acc_eq(by=item)", resamples=20)
    assert valid.notes[0] == (
        "generalises to: new segments of these systems; null hypothesis: exchangeable on new segments of these systems"
        "; tested by segment (40 segments: fewer than 10 documents)"
    )


# --- conventions ----------------------------------------------------------------------------------------------------


SYSTEM_LEVEL = [one for one in DEFINITIONS.values() if one.level == "sys"]
HALF = "; resamples that tie with the data count half (mid-p)"


@pytest.mark.slow
def test_ties_count_half_where_no_test_is_named(simulated_warehouse: Warehouse) -> None:
    asked, testing = replace(FEW, segments="1-40"), TestOptions(population="systems", resamples=40)
    measure = "weighted_tau"
    found = compare(simulated_warehouse, asked, measure, testing=testing)
    named = compare(simulated_warehouse, asked, measure, testing=replace(testing, test="perm-systems"))
    refused = compare(simulated_warehouse, asked, measure, testing=replace(testing, mid_p=False))
    wanted = compare(simulated_warehouse, asked, measure, testing=replace(testing, test="perm-systems", mid_p=True))
    assert "|test_p_value:two_sided,mid,uncorrected|" in found.signature
    assert "|test_p_value:two_sided,ge,uncorrected|" in named.signature
    assert found.signature == wanted.signature
    assert named.signature == refused.signature
    assert [HALF in one.generalises for one in (found, named, refused, wanted)] == [True, False, False, True]
    assert np.array_equal(found.p, wanted.p, equal_nan=True)
    assert np.array_equal(named.p, refused.p, equal_nan=True)
    upper = np.triu_indices(len(found.names), 1)
    assert (found.p[upper] <= named.p[upper]).all()
    assert (found.p[upper] < named.p[upper]).any()


def test_a_test_that_holds_for_both_may_be_asked_for_either(simulated_warehouse: Warehouse) -> None:
    """Systems that are left out take along what is due to their segments: one test, two populations, the same p."""
    asked = replace(FEW, segments="1-40")
    found = {
        population: compare(simulated_warehouse, asked, "pa", resamples=30, population=population)
        for population in ("systems", "both")
    }
    assert [one.test for one in found.values()] == ["jackknife-systems", "jackknife-systems"]
    assert [one.population for one in found.values()] == ["systems", "both"]
    assert np.array_equal(found["systems"].p, found["both"].p, equal_nan=True)
    assert "|population:both|" in found["both"].signature
    assert found["both"].generalises.startswith("generalises to: new systems and new segments")
    named = TestOptions(test="jackknife-systems", population="both", resamples=30)
    assert compare(simulated_warehouse, asked, "pa", testing=named).population == "both"
    with pytest.raises(QuestionError, match="is for population 'segments', not for 'both'"):
        compare(simulated_warehouse, asked, "pa", testing=replace(named, test="perm-inputs"))


@pytest.mark.parametrize("population", ["systems", "both"])
def test_pearson_over_new_systems_is_tested_on_fisher_s_scale(
    simulated_warehouse: Warehouse, population: Population
) -> None:
    """Against the jackknife written out, on submitted scores and on judged means."""
    for source in ("submitted", "judged-mean"):
        options = Options(system_score=source)  # type: ignore[arg-type]
        found = compare(simulated_warehouse, FEW, "pearson", options, population=population)
        assert found.resamples == 0
        assert found.signature.endswith("|scale:fisher_z")
        block = fetched(simulated_warehouse, FEW, "pearson")
        scores = system_scores(block, source)  # type: ignore[arg-type]
        names = [metric.name for metric in block.metrics]
        n = len(scores.human)
        z = {
            name: np.arctanh(
                [
                    np.corrcoef(np.delete(scores.human, left), np.delete(metric, left))[0, 1]
                    if left >= 0
                    else np.corrcoef(scores.human, metric)[0, 1]
                    for left in range(-1, n)
                ]
            )
            for name, metric in zip(names, scores.metrics, strict=True)
        }
        for i, better in enumerate(found.names):
            for j in range(i + 1, len(names)):
                gap = z[better] - z[found.names[j]]
                error = np.sqrt((n - 1) / n * np.sum((gap[1:] - gap[1:].mean()) ** 2))
                assert found.p[i, j] == pytest.approx(2 * stats.t.sf(abs(gap[0]) / error, n - 1))


@pytest.mark.slow
@pytest.mark.parametrize("definition", SYSTEM_LEVEL, ids=lambda one: one.name)
def test_measures_whose_resamples_often_tie_say_so(definition: Definition) -> None:
    """`takes_few_values` is what is seen: ties in more than a few resamples that swap segments."""
    rng = np.random.default_rng(5)
    human = rng.normal(0, 1, (8, 40)) + rng.normal(0, 1, (8, 1))
    block = made_block(human, human + rng.normal(0, 1, (4, 8, 40)))
    measure = definition.measure
    test = "perm-inputs" if "perm-inputs" in measure.tests else measure.tests[0]
    statistic = measure.swapped(block, SWAPS[test], JUDGED, None)
    found = permutation_test(statistic, rng=np.random.default_rng(2), n_draws=100, mid_p=True, n_threads=1)
    ties = found.n_tied[~np.eye(4, dtype=bool)] / 100
    assert (np.mean(ties) > 0.03) == measure.takes_few_values


def made_block(human: np.ndarray, scores: np.ndarray) -> Block:
    """A block of plain arrays: metrics A, B, C, systems 0, 1, …"""
    from queries.selection import MetricChoice, Selection

    n_metrics, n_systems, n_segments = scores.shape
    metrics = tuple(MetricChoice.made_up("ABCDEFGH"[place], place) for place in range(n_metrics))
    selection = Selection(
        Slice("made", "xx-yy"), 0, "mqm", 0, None, (), metrics, tuple(range(n_segments)),
        (None,) * n_segments, (None,) * n_segments, n_segments,
    )  # fmt: skip
    return Block(
        selection=selection,
        systems=tuple(str(place) for place in range(n_systems)),
        segments=np.arange(n_segments),
        metrics=metrics,
        human=human,
        scores=scores,
        human_submitted=np.full(n_systems, np.nan),
        submitted=np.full((n_metrics, n_systems), np.nan),
    )


def test_options_without_effect_are_left_aside_where_several_tests_run() -> None:
    testing = TestOptions(plus_one=True, early_stop=True, legacy_df=True, absolute=True)
    assert fitted_to(testing, "williams") == TestOptions(test="williams", legacy_df=True, absolute=True)
    assert fitted_to(testing, "perm-both") == TestOptions(test="perm-both", plus_one=True, early_stop=True)
    assert fitted_to(testing, "bootstrap") == TestOptions(test="bootstrap")


def test_fitted_options_name_judged_means_where_segments_are_drawn() -> None:
    for test in ("perm-inputs", "perm-both", "bootstrap", "bootstrap-normal", "jackknife-segments"):
        assert fitted_options(parsed("pearson"), test, Options(), SIM).system_score == "judged-mean"
    assert fitted_options(parsed("pearson"), "perm-systems", Options(), SIM).system_score is None
    assert fitted_options(parsed("pa"), "bootstrap", Options(), SIM).system_score is None


# --- the SPA paper's Table 1, on WMT23 ------------------------------------------------------------------------------

TABLE_1_PA = (  # lp, raw ties, distinct values, significant pairs, clusters
    ("en-de", False, 12, (157, 164), 5),
    ("he-en", False, 11, (175, 181), 5),
    ("en-de", True, 12, (170, 173), 5),
    ("he-en", True, 11, (180, 183), 5),
)


@pytest.mark.parametrize(("lp", "raw_ties", "n_distinct", "significant", "n_clusters"), TABLE_1_PA)
def test_pairwise_accuracy_on_wmt23_is_that_of_the_paper(
    wmt23_warehouse: Warehouse, lp: str, raw_ties: bool, n_distinct: int, significant: tuple[int, int], n_clusters: int
) -> None:
    asked = Slice("wmt23", lp, kind="reference-based")
    found = compare(wmt23_warehouse, asked, "pa", replace(JUDGED, raw_ties=raw_ties), testing=PAPER)
    assert len(found.names) == 25
    assert found.n_distinct == n_distinct
    assert significant[0] <= found.n_significant <= significant[1]
    assert found.n_clusters == n_clusters


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draws", "significant"),
    [(100, (200, 216)), pytest.param(1000, (203, 213), marks=pytest.mark.long("1000 × 1000 draws: 20 seconds"))],
)
def test_soft_pairwise_accuracy_on_wmt23_is_that_of_the_paper(
    wmt23_warehouse: Warehouse, draws: int, significant: tuple[int, int]
) -> None:
    asked = Slice("wmt23", "en-de", kind="reference-based")
    found = compare(wmt23_warehouse, asked, "spa", JUDGED, testing=replace(PAPER, resamples=draws))
    assert len(found.names) == 25
    assert found.n_distinct in (23, 24)
    assert significant[0] <= found.n_significant <= significant[1]
    assert 5 <= found.n_clusters <= 7
    assert "instructscore-refA and sescoreX-refA have exactly the same scores" in found.notes


def test_a_corrected_p_of_0_stands_for_the_correction_of_the_smallest_p_that_draws_can_tell(
    simulated_warehouse: Warehouse,
) -> None:
    names = ("Dice-src", "Marlin-24-refA", "simBLEU-refA")
    asked = Slice("sim24", "en-de", metrics=names)
    found = {
        correction: compare(simulated_warehouse, asked, "pearson(by=item)", resamples=40, correction=correction)
        for correction in ("none", "holm")
    }
    assert found["none"].p[0, 2] == 0
    assert found["none"].least[0, 2] == 1 / 40
    n_zeros = np.count_nonzero(found["holm"].p == 0)
    assert n_zeros >= 2
    assert found["holm"].corrected[0, 2] == 0
    assert found["holm"].least[0, 2] == pytest.approx(3 / 40)
    assert any(note.startswith(f"{n_zeros} p-values of 0 mean below 0.025") for note in found["holm"].notes)
    assert not any("p-values of 0" in note for note in found["none"].notes)


@pytest.mark.parametrize(
    ("options", "is_exact", "expected"),
    [
        (TestOptions(resamples=200), False, 1 / 200),
        (TestOptions(resamples=1000, early_stop=True), False, 1 / 100),
        (TestOptions(resamples=50, early_stop=True), False, 1 / 50),
        (TestOptions(resamples=1000), True, 1e-300),
    ],
)
def test_what_a_p_of_0_stands_for(options: TestOptions, is_exact: bool, expected: float) -> None:
    assert resolution_of(options, is_exact) == expected


# --- documents ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["pearson(by=none)", "acc_eq(by=item)", "pa"])
def test_swapped_documents_are_swapped_whole(simulated_warehouse: Warehouse, text: str) -> None:
    """Against the statistic itself, with each document's coin on all its segments."""
    asked = replace(FEW, segments="1-60")
    block, measure = fetched(simulated_warehouse, asked, text), parsed(text)
    found = compare(
        simulated_warehouse,
        asked,
        measure,
        test="perm-inputs",
        resamples=50,
        unit="document",
        mid_p=measure.takes_few_values,
    )
    assert "|unit:document|" in found.signature
    assert "new documents" in found.notes[0]
    assert "new segments" not in found.notes[0]
    kept = block.judged.any(axis=0)
    documents = np.unique(np.array(block.selection.documents)[kept], return_inverse=True)[1]
    options = Options(system_score="judged-mean" if measure.level == "sys" else None)
    epsilon = measure.value(block, options).epsilon if measure.is_calibrated else None
    statistic = measure.swapped(block, "inputs", options, epsilon)
    coins = np.concatenate(list(swap_blocks(np.random.default_rng([0, 1]), 50, (documents.max() + 1,))))
    hybrids = statistic.offset + statistic.scale * statistic.hybrids(coins[:, documents])
    differences = hybrids - hybrids.transpose(0, 2, 1)
    names = [metric.name for metric in block.metrics]
    nothing = np.zeros((1, int(kept.sum())), dtype=bool)
    values = statistic.offset + statistic.scale * np.diagonal(statistic.hybrids(nothing)[0])
    for i, better in enumerate(found.names):
        for j in range(i + 1, len(names)):
            a, b = names.index(better), names.index(found.names[j])
            beyond = np.abs(differences[:, a, b]) - abs(values[a] - values[b])
            is_half = measure.takes_few_values and values[a] != values[b]
            whole, ties = np.sum(beyond >= -1e-9), np.sum(np.abs(beyond) <= 1e-9)
            assert found.p[i, j] == (whole - ties / 2 if is_half else whole) / 50


@pytest.mark.parametrize(("text", "test"), [("pearson", "jackknife-segments"), ("pa", "bootstrap-normal")])
def test_documents_are_left_out_and_resampled_whole(simulated_warehouse: Warehouse, text: str, test: str) -> None:
    """Against the measure itself on the segments of the documents that are left, or drawn."""
    asked = replace(FEW, segments="1-60")
    measure, options = parsed(text), Options(system_score="judged-mean")
    block = fetched(simulated_warehouse, asked, text)
    found = compare(simulated_warehouse, asked, measure, resamples=30, unit="document", test=test)
    assert "|unit:document|" in found.signature
    kept = np.flatnonzero(block.judged.any(axis=0))
    documents = np.unique(np.array(block.selection.documents)[kept], return_inverse=True)[1]
    n = int(documents.max()) + 1
    if test == "jackknife-segments":
        picks = [np.delete(np.arange(n), one) for one in range(n)]
    else:
        drawn = resampled_units(np.random.default_rng([0, 1]), 30, "inputs", (len(block.systems), n))
        picks = [row for _, rows in drawn for row in rows]  # type: ignore[union-attr]
    values = []
    for one in picks:
        columns = kept[np.concatenate([np.flatnonzero(documents == document) for document in one])]
        values.append(measure.value(block.take(segments=columns), options).value)
    names = [metric.name for metric in block.metrics]
    a, b = (names.index(name) for name in found.names[:2])
    gaps = np.array(values)[:, a] - np.array(values)[:, b]
    gap = found.values[0] - found.values[1]
    if test == "jackknife-segments":
        error = np.sqrt((n - 1) / n * np.sum((gaps - gaps.mean()) ** 2))
        assert found.p[0, 1] == pytest.approx(2 * stats.t.sf(gap / error, n - 1))
    else:
        assert found.p[0, 1] == pytest.approx(2 * stats.t.sf(gap / gaps.std(ddof=1), n - 1))


def test_documents_belong_to_swapped_segments(simulated_warehouse: Warehouse) -> None:
    testing = TestOptions(test="perm-both", unit="document")
    with pytest.raises(
        QuestionError, match=r"unit='document' applies to perm-inputs or bootstrap or .*, not to perm-both"
    ):
        compare(simulated_warehouse, FEW, "pa", testing=testing)


@pytest.mark.parametrize("text", ["pearson", "pa", "spearman", "spa(n=50)", "acc_eq(by=none)"])
def test_too_few_segments_for_a_variance_leave_p_undefined_and_say_so(text: str) -> None:
    rng, measure = np.random.default_rng(3), parsed(text)
    for n in (1, 4):
        block = made_block(rng.normal(size=(6, n)), rng.normal(size=(3, 6, n)))
        found = compare_block(block, measure, JUDGED, chosen(measure, block, JUDGED, TestOptions(resamples=20)))
        assert np.isnan(found.p).all(), n
        assert [note for note in found.notes if f"no test: {n} segment" in note], n
        assert len(set(found.clusters)) == 1, n
