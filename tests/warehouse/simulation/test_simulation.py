"""The simulated shared task: its shape, and that its truth can be found again from its scores."""

import json
import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from warehouse import Warehouse
from warehouse.facts.testsets import declared_facts as read_facts
from warehouse.simulation import declared_facts, simulate_evalset, write_shared_task
from warehouse.simulation.evalset import SimulatedEvalset
from warehouse.simulation.human_scores import ERROR_WEIGHTS
from warehouse.simulation.plan import HUMAN_REFERENCE, LPS, YEARS


@pytest.fixture(scope="module")
def task(simulated_task: tuple[SimulatedEvalset, ...]) -> tuple[SimulatedEvalset, ...]:
    return simulated_task


def evalset_of(task: tuple[SimulatedEvalset, ...], testset: str, lp: str) -> SimulatedEvalset:
    [found] = [evalset for evalset in task if (evalset.testset, evalset.lp) == (testset, lp)]
    return found


def official_rows(evalset: SimulatedEvalset) -> list[int]:
    left_out = {*evalset.outlier_systems, *evalset.human_references}
    return [row for row, system in enumerate(evalset.systems) if system not in left_out]


def pair_signs(values: np.ndarray) -> np.ndarray:
    """(n_system_pairs, n_segments) signs of the differences inside each segment; NaN where one is missing."""
    first, second = np.triu_indices(len(values), 1)
    return np.sign(values[first] - values[second])


def accuracy(human: np.ndarray, metric: np.ndarray) -> float:
    """Share of the pairs inside segments that the metric orders, or ties, as the human score does."""
    h, m = pair_signs(human), pair_signs(metric)
    return float((h == m)[~np.isnan(h)].mean())


def test_there_are_four_years_of_three_language_pairs(task: tuple[SimulatedEvalset, ...]) -> None:
    assert [(e.testset, e.lp) for e in task] == [(f"sim{y % 100}", lp) for y in YEARS for lp in LPS]
    for evalset in task:
        assert 300 <= evalset.n_segments <= 600
        assert 12 <= len(evalset.systems) <= 16
        assert 13 <= len(evalset.metrics) <= 18
        assert list(evalset.systems) == sorted(set(evalset.systems))


def test_the_segments_of_a_document_are_neighbours_and_of_one_domain(task: tuple[SimulatedEvalset, ...]) -> None:
    for evalset in task:
        starts = [new for old, new in pairwise([("", ""), *evalset.documents]) if new != old]
        names = [document for _, document in starts]
        assert len(names) == len(set(names)) >= 30
        assert {domain for domain, _ in starts} == {"literary", "news", "social", "speech"}


def test_two_systems_are_next_to_equal_and_the_others_spread(task: tuple[SimulatedEvalset, ...]) -> None:
    for evalset in task:
        gaps = np.diff(np.sort(evalset.strengths[official_rows(evalset)]))
        assert (gaps < 0.05).sum() == 1
        assert np.sort(gaps)[1] > 0.1


def test_the_human_reference_is_judged_and_its_metrics_leave_it_out(task: tuple[SimulatedEvalset, ...]) -> None:
    evalset = evalset_of(task, "sim23", "en-de")
    row = evalset.systems.index(HUMAN_REFERENCE)
    assert evalset.human_references == (HUMAN_REFERENCE,)
    assert np.isfinite(evalset.human("mqm")[row]).any()
    assert HUMAN_REFERENCE not in evalset.metrics["simBLEU-refA"].systems
    assert HUMAN_REFERENCE in evalset.metrics["simBLEU-refB"].systems
    assert np.isnan(evalset.metric("simBLEU-refA")[row]).all()
    assert np.isfinite(evalset.metric("Kestrel-23-QE-src")[row]).all()


def test_an_outlier_system_is_far_below_all_others(task: tuple[SimulatedEvalset, ...]) -> None:
    evalset = evalset_of(task, "sim22", "cs-uk")
    [outlier] = evalset.outlier_systems
    means = np.nanmean(evalset.human("mqm"), axis=1)
    row = evalset.systems.index(outlier)
    assert means[row] == means.min()
    others = np.delete(means, row)
    assert others.min() - means[row] > others.std()


def test_mqm_is_zero_or_negative_in_tenths_with_many_ties_and_gaps(task: tuple[SimulatedEvalset, ...]) -> None:
    for evalset in task:
        if "mqm" not in evalset.humans:
            assert evalset.year == 2021
            continue
        human = evalset.human("mqm")
        judged = human[~np.isnan(human)]
        assert judged.max() == 0.0
        assert judged.min() < -20
        np.testing.assert_array_equal(np.round(judged, 1), judged)
        signs = pair_signs(human)
        assert 0.2 < (signs == 0).sum() / (~np.isnan(signs)).sum() < 0.4
        n_judged = (~np.isnan(human)).sum(axis=0)
        assert (n_judged == 0).mean() > 0.05
        assert ((n_judged > 0) & (n_judged < len(human))).sum() == 9


def test_direct_assessment_has_raw_and_standardised_scores_in_the_early_years(
    task: tuple[SimulatedEvalset, ...],
) -> None:
    for evalset in task:
        assert ({"wmt-raw", "wmt-z"} <= set(evalset.humans)) == (evalset.year <= 2022)
    evalset = evalset_of(task, "sim21", "ja-en")
    raw, z = evalset.human("wmt-raw"), evalset.human("wmt-z")
    np.testing.assert_array_equal(np.isnan(raw), np.isnan(z))
    assert 0 <= np.nanmin(raw) < np.nanmax(raw) <= 100
    assert abs(np.nanmean(z)) < 0.1
    assert np.corrcoef(raw[~np.isnan(raw)], z[~np.isnan(z)])[0, 1] > 0.7


def test_a_human_system_score_is_the_mean_of_the_judged_segments(task: tuple[SimulatedEvalset, ...]) -> None:
    for evalset in task:
        for name, table in evalset.humans.items():
            assert table.sys is not None
            np.testing.assert_allclose(table.sys, np.nanmean(evalset.human(name), axis=1), rtol=1e-12)


def test_only_corpus_scores_differ_from_the_mean_of_their_segments(task: tuple[SimulatedEvalset, ...]) -> None:
    for name, table in evalset_of(task, "sim24", "en-de").metrics.items():
        assert table.seg is not None
        assert table.sys is not None
        is_mean = np.isclose(table.seg.mean(axis=1), table.sys, rtol=1e-9)
        assert is_mean.all() != name.startswith(("simBLEU", "simchrF"))
        assert is_mean.any() == is_mean.all()


def test_a_domain_score_is_the_mean_over_its_segments(task: tuple[SimulatedEvalset, ...]) -> None:
    evalset = evalset_of(task, "sim21", "cs-uk")
    table = evalset.metrics["Oriole-refA"]
    assert table.seg is not None
    assert table.doc is not None
    is_news = [domain == "news" for domain, _ in evalset.documents]
    np.testing.assert_allclose(table.domain["news"], table.seg[:, is_news].mean(axis=1), rtol=1e-12)
    first_document = [key == evalset.documents[0] for key in evalset.documents]
    np.testing.assert_allclose(table.doc[:, 0], table.seg[:, first_document].mean(axis=1), rtol=1e-12)
    assert table.doc.shape == (len(table.systems), len(set(evalset.documents)))


def test_the_errors_of_a_rating_add_up_to_the_score_and_mark_words_of_the_output(
    task: tuple[SimulatedEvalset, ...],
) -> None:
    evalset = evalset_of(task, "sim24", "ja-en")
    human, ratings = evalset.human("mqm"), evalset.ratings["mqm.merged"]
    n_errors = 0
    for row, system in enumerate(evalset.systems):
        for column, errors in enumerate(ratings.errors[system]):
            assert (errors is None) == np.isnan(human[row, column])
            assert (errors is None) == (ratings.raters[system][column] is None)
            if errors is None:
                continue
            assert -sum(error["score"] for error in errors) == pytest.approx(human[row, column], abs=1e-9)
            text = evalset.outputs[system][column]
            for error in errors:
                n_errors += 1
                assert error["score"] in ERROR_WEIGHTS.values()
                assert text[error["start"] : error["end"]] in text.removesuffix(".").split(" ")
    assert n_errors > 1000
    assert not any(evalset.ratings for evalset in task if evalset.year < 2024)


def test_worse_outputs_differ_more_from_the_reference(task: tuple[SimulatedEvalset, ...]) -> None:
    evalset = evalset_of(task, "sim22", "ja-en")
    reference = [text.split() for text in evalset.references["refA"]]
    shares = []
    for system in evalset.systems:
        texts = [text.split() for text in evalset.outputs[system]]
        same = [a == b for x, y in zip(texts, reference, strict=True) for a, b in zip(x, y, strict=True)]
        shares.append(np.mean(same))
    assert spearmanr(shares, evalset.strengths).statistic > 0.95


def test_metrics_have_the_look_of_their_kind(task: tuple[SimulatedEvalset, ...]) -> None:
    evalset = evalset_of(task, "sim24", "en-de")
    kinds = {fact.name: fact.kind for fact in evalset.metric_facts}
    assert set(kinds) == set(evalset.metrics)
    for name, kind in kinds.items():
        seg = evalset.metrics[name].seg
        assert seg is not None
        assert np.isfinite(seg).all()
        n_distinct = len(np.unique(seg))
        if kind == "constant":
            assert n_distinct == 1
        elif kind == "sentinel":
            assert (seg == seg[0]).all()
            assert len(np.unique(seg[0])) > 100
        elif kind == "quantised":
            assert 5 <= n_distinct <= 26
        else:
            assert n_distinct > 0.9 * seg.size


def test_facts_name_metrics_references_and_human_scores_that_are_there(task: tuple[SimulatedEvalset, ...]) -> None:
    for evalset in task:
        assert evalset.standard_reference in evalset.references
        assert set(evalset.standard_human.values()) <= set(evalset.humans)
        assert set(evalset.baseline_metrics) < set(evalset.primary_metrics)
        assert set(evalset.primary_metrics) < {fact.base_metric for fact in evalset.metric_facts}
        for fact in evalset.metric_facts:
            assert fact.name == f"{fact.base_metric}-{fact.reference}"
            assert fact.is_reference_free == fact.name.endswith("-src")


def test_better_metrics_agree_more_with_people_inside_segments(task: tuple[SimulatedEvalset, ...]) -> None:
    """Quantised metrics gain or lose by their ties, so the order is asked of those that hardly ever tie."""
    for evalset in task:
        rows = official_rows(evalset)
        human = evalset.human(evalset.standard_human["seg"])[rows]
        ratios, found = [], []
        for fact in evalset.metric_facts:
            if fact.kind in {"string", "neural", "random"}:
                ratios.append(fact.signal_to_noise)
                found.append(accuracy(human, evalset.metric(fact.name)[rows]))
        assert spearmanr(ratios, found).statistic > 0.9


def test_better_metrics_agree_more_with_people_on_systems(task: tuple[SimulatedEvalset, ...]) -> None:
    for evalset in task:
        rows = official_rows(evalset)
        human = np.nanmean(evalset.human(evalset.standard_human["sys"])[rows], axis=1)
        ratios, found = [], []
        for fact in evalset.metric_facts:
            if fact.signal_to_noise:
                ratios.append(fact.signal_to_noise)
                found.append(np.corrcoef(human, evalset.metric(fact.name)[rows].mean(axis=1))[0, 1])
        assert spearmanr(ratios, found).statistic > 0.75


def test_neural_families_get_better_every_year_and_string_metrics_do_not(task: tuple[SimulatedEvalset, ...]) -> None:
    for lp in LPS:
        evalsets = [evalset_of(task, f"sim{year % 100}", lp) for year in YEARS]
        by_family = [{fact.family: fact.signal_to_noise for fact in evalset.metric_facts} for evalset in evalsets]
        for family in ("Kestrel", "Kestrel-QE", "Marlin"):
            ratios = [ratio_of[family] for ratio_of in by_family]
            assert ratios == sorted(set(ratios))
        assert len({ratio_of["simBLEU"] for ratio_of in by_family}) == 1


def test_the_same_seed_gives_the_same_evalset_whatever_else_is_drawn(task: tuple[SimulatedEvalset, ...]) -> None:
    alone, in_task = simulate_evalset(2024, "ja-en"), evalset_of(task, "sim24", "ja-en")
    assert alone.outputs == in_task.outputs
    for name in in_task.metrics:
        np.testing.assert_array_equal(alone.metric(name), in_task.metric(name))
    np.testing.assert_array_equal(alone.human("mqm"), in_task.human("mqm"))


def test_another_seed_gives_other_scores() -> None:
    one, other = simulate_evalset(2023, "cs-uk", seed=1), simulate_evalset(2023, "cs-uk", seed=2)
    assert not np.array_equal(one.strengths[:12], other.strengths[:12]) or one.systems != other.systems
    assert one.sources != other.sources


def test_an_unknown_year_or_language_pair_is_refused() -> None:
    with pytest.raises(ValueError, match="no simulated 'en-de' in 2019"):
        simulate_evalset(2019, "en-de")
    with pytest.raises(ValueError, match="no simulated 'de-en' in 2024"):
        simulate_evalset(2024, "de-en")


def test_the_written_files_hold_the_scores(task: tuple[SimulatedEvalset, ...], tmp_path: Path) -> None:
    evalset = evalset_of(task, "sim24", "en-de")
    written = write_shared_task(tmp_path, [evalset])
    assert all(path.is_file() for path in written)
    lines = (tmp_path / "sim24/human-scores/en-de.mqm.seg.score").read_text().splitlines()
    assert len(lines) == len(evalset.systems) * evalset.n_segments
    values = np.array([np.nan if line.endswith("\tNone") else float(line.split("\t")[1]) for line in lines])
    np.testing.assert_array_equal(values.reshape(-1, evalset.n_segments), evalset.human("mqm"))
    rating = (tmp_path / "sim24/human-scores/en-de.mqm.merged.seg.rating").read_text().splitlines()
    assert len(rating) == len(lines)
    judged = [line.split("\t") for line in rating if "\tNone\t" not in line]
    assert len(judged) == np.isfinite(values).sum()
    assert all(json.loads(text)["errors"] is not None and rater.startswith("rater") for _, text, rater in judged)


def test_the_facts_of_a_test_set_are_written_beside_its_scores(
    task: tuple[SimulatedEvalset, ...], tmp_path: Path
) -> None:
    group = [evalset for evalset in task if evalset.testset == "sim22"]
    write_shared_task(tmp_path, group[:1])
    assert read_facts("sim22", tmp_path / "sim22") == declared_facts(group[:1])
    declared = declared_facts(group)
    assert declared.year == 2022
    assert declared.evalset("cs-uk").outlier_systems == {"Thistle-0shot"}
    assert declared.evalset("ja-en").standard_human["seg"] == "mqm"
    assert declared.status("en-de", "simBLEU") == "baseline"
    assert declared.status("en-de", "Marlin-22") == "primary"
    assert declared.status("en-de", "Marlin-XL-22") == "contrastive"
    with pytest.raises(ValueError, match=r"\['sim21', 'sim22'"):
        declared_facts(task)


def test_the_loader_takes_the_written_task_without_a_fault(
    task: tuple[SimulatedEvalset, ...], simulated_database: Path
) -> None:
    report = pickle.loads(simulated_database.with_suffix(".report").read_bytes())
    assert report.is_clean
    assert not report.skipped
    with Warehouse.open(simulated_database) as warehouse:
        rows = warehouse.sql("SELECT testset, lp, human, count(*) AS n FROM human_scores GROUP BY ALL ORDER BY ALL")
    found = {(testset, lp, human): n for testset, lp, human, n in rows.rows()}
    for evalset in task:
        for name in evalset.humans:
            assert found[evalset.testset, evalset.lp, name] == evalset.human(name).size
