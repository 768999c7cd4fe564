"""Systems against systems on one scorer."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pytest
from scipy.stats import ttest_1samp, wilcoxon

from metaeval.kernels import draw_signs
from metaeval.kernels.resampling.clusters import corrected_pairs
from metaeval.measures.options import Alternative, Options
from metaeval.measures.registry import parse_measure
from metaeval.results.inputs import Inputs
from metaeval.studies.significance.systems import SystemTest, compare_systems
from queries.blocks import Block
from queries.slices import Slice
from tests.helpers import LP, SYSTEMS, TESTSET, tiny_layout, tiny_warehouse
from warehouse import QuestionError, Warehouse
from warehouse.export.mtme import ScoreTable

SIM = Slice("sim24", "cs-uk")


def compared(*asked: Any, **how: Any) -> SimpleNamespace:
    """What `compare_systems` finds, and the standings in it."""
    found = compare_systems(*asked, **how)
    standings = found.facts["standings"]
    more = {"n_significant": standings.n_significant, "n_clusters": standings.n_clusters}
    more |= {"signature": found.signature, "notes": found.notes, "scorer": found.facts["scorer"]}
    return SimpleNamespace(**vars(standings), **more)


def fetched(warehouse: Warehouse, asked: Slice = SIM) -> Block:
    return Inputs(warehouse, asked).block(parse_measure("spa"))


def test_values_are_means_of_judged_segments_best_first(simulated_warehouse: Warehouse) -> None:
    block = fetched(simulated_warehouse)
    found = compared(simulated_warehouse, SIM, None, "permutation", Options(), draws=50)
    means = dict(zip(block.systems, np.nanmean(block.human, axis=1), strict=True))
    assert found.names == tuple(sorted(means, key=lambda name: (-means[name], name)))
    np.testing.assert_allclose(found.values, [means[name] for name in found.names])
    assert found.scorer == "mqm"


def test_p_of_the_permutation_test_is_that_of_a_plain_loop_with_the_signs_of_spa(
    simulated_warehouse: Warehouse,
) -> None:
    block = fetched(simulated_warehouse)
    found = compared(
        simulated_warehouse,
        SIM,
        None,
        "permutation",
        Options(seed=2),
        draws=40,
        alternative="greater",
        unit="segment",
    )
    used = block.judged.any(axis=0)
    human = block.human[:, used]
    signs = draw_signs(np.random.default_rng([2, 0]), 40, int(used.sum())).astype(float)
    place = {name: row for row, name in enumerate(block.systems)}
    for i, better in enumerate(found.names):
        for j, worse in enumerate(found.names):
            if i >= j:
                assert np.isnan(found.corrected[i, j])
                continue
            gap = human[place[better]] - human[place[worse]]
            both = ~np.isnan(gap)
            observed, tolerance = gap[both].sum(), 1e-9 * np.abs(gap[both]).sum()
            expected = np.mean([row[both] @ gap[both] >= observed - tolerance for row in signs])
            assert found.corrected[i, j] == expected


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize("test", ["wilcoxon", "paired-t"])
def test_tests_that_draw_nothing_are_scipy_s(
    simulated_warehouse: Warehouse, test: SystemTest, alternative: Alternative
) -> None:
    block = fetched(simulated_warehouse)
    found = compared(simulated_warehouse, SIM, None, test, Options(), alternative=alternative, unit="segment")
    for i, j in ((0, -1), (1, 2), (3, 4)):
        first, second = (block.systems.index(found.names[place]) for place in (i, j))
        gap = block.human[first] - block.human[second]
        gap = np.round(gap[~np.isnan(gap)], 8)
        scipy_s = {"wilcoxon": wilcoxon, "paired-t": lambda x, alternative: ttest_1samp(x, 0, alternative=alternative)}
        assert found.corrected[i, j] == pytest.approx(scipy_s[test](gap, alternative=alternative).pvalue, rel=1e-6)
    assert f"alternative:{alternative}" in found.signature
    assert "resamples" not in found.signature


def test_signed_ranks_that_point_the_other_way_are_no_evidence(wmt23_warehouse: Warehouse) -> None:
    """By the mean of COMET NLLB_MBR_BLEU is ahead of NLLB_Greedy, by signed ranks it is behind."""
    found = compared(wmt23_warehouse, Slice("wmt23", "en-de"), "COMET-refA", "wilcoxon", Options(), unit="segment")
    ahead, behind = (found.names.index(name) for name in ("NLLB_MBR_BLEU", "NLLB_Greedy"))
    assert ahead < behind
    assert found.corrected[ahead, behind] == 1  # 0.0008 that they differ, and in the other direction
    one_sided = compared(
        wmt23_warehouse,
        Slice("wmt23", "en-de"),
        "COMET-refA",
        "wilcoxon",
        Options(),
        alternative="greater",
        unit="segment",
    )
    assert one_sided.corrected[ahead, behind] == pytest.approx(0.9996, abs=5e-5)
    assert found.clusters[ahead] == found.clusters[behind]


def test_a_metric_is_found_by_its_full_or_base_name_and_tested_on_all_segments(simulated_warehouse: Warehouse) -> None:
    full = compared(simulated_warehouse, SIM, "simchrF-refA", "permutation", Options(), draws=20)
    base = compared(simulated_warehouse, SIM, "simchrF", "permutation", Options(), draws=20)
    assert np.array_equal(full.corrected, base.corrected, equal_nan=True)
    assert "n_missing:0" in full.signature
    n = fetched(simulated_warehouse).human.shape[1]
    assert f"n_segments:{n}/{n}" in full.signature


def test_outliers_by_the_mad_rule_are_excluded_when_selected(simulated_warehouse: Warehouse) -> None:
    asked = Slice("sim22", "cs-uk", mad_outliers=True)
    expected = fetched(simulated_warehouse, asked).systems
    assert len(expected) < len(
        fetched(simulated_warehouse, replace(asked, mad_outliers=False, with_outliers=True)).systems
    )
    found = compared(simulated_warehouse, asked, None, "wilcoxon", Options())
    assert sorted(found.names) == sorted(expected)
    assert "outliers:mad" in found.signature


def test_the_reference_is_ranked_by_people_when_it_is_asked_for_and_else_named(tmp_path: Path) -> None:
    asked = Slice(TESTSET, LP)
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout")) as warehouse:
        without = compare_systems(warehouse, asked, None, "bootstrap", Options())
        everyone = compare_systems(warehouse, replace(asked, human_references=True), None, "bootstrap", Options())
        by_metric = compare_systems(warehouse, replace(asked, human_references=True), "Rough", "bootstrap", Options())
    assert sorted(without.frame["system"]) == ["Ash", "Beech", "Cherry"]
    (line,) = (note for note in without.notes if "but not ranked" in note)
    assert line.startswith("refA is judged, but not ranked: a human translation (included by ")
    assert everyone.frame["system"][0] == "refA"
    assert not [note for note in everyone.notes if "but not ranked" in note]
    assert "refA" not in by_metric.frame["system"].to_list()  # it would be compared with itself


def test_a_system_that_nobody_scored_stands_last_without_rank(tmp_path: Path) -> None:
    with tiny_warehouse(tmp_path) as warehouse:
        found = compared(
            warehouse,
            Slice("tiny24", "en-de", human_references=True),
            "Rough-refA",
            "permutation",
            Options(),
            draws=8,
        )
        assert found.names[-1] == "Cherry"  # the metric leaves the reference out, and so does the slice
        with pytest.raises(QuestionError, match="no two systems"):
            compared(warehouse, Slice("tiny24", "en-de"), "Only-src", "permutation", Options())


@pytest.mark.parametrize(
    ("scorer", "alpha", "words"), [("simchrG", 0.05, r"unknown scorer 'simchrG'.*simchrF"), (None, 1.5, "alpha 1.5")]
)
def test_bad_questions_are_refused(
    simulated_warehouse: Warehouse, scorer: str | None, alpha: float, words: str
) -> None:
    with pytest.raises(QuestionError, match=words):
        compared(simulated_warehouse, SIM, scorer, "permutation", Options(), draws=10, alpha=alpha)


def test_one_system_is_no_comparison(simulated_warehouse: Warehouse) -> None:
    one = replace(SIM, systems=(fetched(simulated_warehouse).systems[0],))
    with pytest.raises(QuestionError, match="no two systems"):
        compared(simulated_warehouse, one, None, "wilcoxon", Options())


@pytest.mark.slow
def test_a_base_name_of_several_variants_is_refused_with_their_names(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    metrics = {name: ScoreTable(systems=SYSTEMS[:3], seg=rng.normal(size=(3, 5))) for name in ("Twin-refA", "Twin-src")}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics=metrics)) as warehouse:
        asked = Slice(TESTSET, LP)
        with pytest.raises(QuestionError, match="scorer 'Twin' of tiny24 en-de is one of Twin-refA, Twin-src"):
            compared(warehouse, asked, "Twin", "wilcoxon", Options())
        assert compared(warehouse, asked, "Twin-refA", "wilcoxon", Options()).scorer == "Twin-refA"
        chosen = replace(asked, kind="reference-free")
        assert compared(warehouse, chosen, "Twin", "wilcoxon", Options()).scorer == "Twin-src"


@pytest.mark.parametrize("test", get_args(SystemTest))
def test_whole_documents_are_named_in_the_signature(simulated_warehouse: Warehouse, test: SystemTest) -> None:
    asked = Slice("sim24", "en-de")
    plain, whole = (
        compared(
            simulated_warehouse, asked, None, test, Options(), draws=60, unit="document" if documents else "segment"
        )
        for documents in (False, True)
    )
    assert "|unit:document|" in whole.signature
    assert "|unit:segment|" in plain.signature
    assert plain.names == whole.names
    np.testing.assert_array_equal(plain.values, whole.values)
    assert not np.array_equal(plain.corrected, whole.corrected, equal_nan=True)


def test_systems_are_tested_in_both_directions_and_holm_stands_beside(simulated_warehouse: Warehouse) -> None:
    """Twice the smaller one-sided p, and none for a direction that the means contradict."""
    one, two, holm = (
        compared(simulated_warehouse, SIM, None, "permutation", Options(), draws=60, alternative=side, correction=by)
        for side, by in (("greater", "none"), ("two-sided", "none"), ("two-sided", "holm"))
    )
    upper = np.triu_indices(len(one.names), 1)
    ahead = one.corrected[upper] < 0.5
    np.testing.assert_allclose(two.corrected[upper][ahead], 2 * one.corrected[upper][ahead])
    assert (two.corrected[upper][one.corrected[upper] > 0.6] == 1).all()
    assert two.n_significant <= one.n_significant
    np.testing.assert_allclose(holm.corrected[upper], corrected_pairs(two.corrected, "holm")[upper])
    (line,) = [note for note in two.notes if "some clusters arise by chance" in note]
    # 60 resamples tell no p below 1/30, which Holm takes beyond any level: nobody can say whether there is one cluster.
    assert f"(Holm) there are 1 to {holm.n_clusters} clusters; more" in line
    assert not [note for note in holm.notes if "some clusters arise by chance" in note]
    assert any("p-values of 0 mean below 0.033, which the correction could raise to" in note for note in holm.notes)
    assert "|alternative:two-sided|correction:holm|" in holm.signature
