"""The simulated shared task: its shape, and that its truth can be found again from its scores."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from tests.warehouse.building import scores_of
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
    left_out = {*evalset.outlier_systems, HUMAN_REFERENCE}
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
        assert 300 <= len(evalset.documents) <= 600
        assert 12 <= len(evalset.systems) <= 16
        assert 13 <= len(evalset.metrics) <= 18
        assert list(evalset.systems) == sorted(set(evalset.systems))


def test_the_human_reference_is_judged_and_its_metrics_leave_it_out(task: tuple[SimulatedEvalset, ...]) -> None:
    evalset = evalset_of(task, "sim23", "en-de")
    row = evalset.systems.index(HUMAN_REFERENCE)
    assert np.isfinite(scores_of(evalset, evalset.humans["mqm"])[row]).any()
    assert HUMAN_REFERENCE not in evalset.metrics["simBLEU-refA"].systems
    assert HUMAN_REFERENCE in evalset.metrics["simBLEU-refB"].systems
    assert np.isnan(scores_of(evalset, evalset.metrics["simBLEU-refA"])[row]).all()
    assert np.isfinite(scores_of(evalset, evalset.metrics["Kestrel-23-QE-src"])[row]).all()


def test_a_human_system_score_is_the_mean_of_the_judged_segments(task: tuple[SimulatedEvalset, ...]) -> None:
    for evalset in task:
        for table in evalset.humans.values():
            assert table.sys is not None
            np.testing.assert_allclose(table.sys, np.nanmean(scores_of(evalset, table), axis=1), rtol=1e-12)


def test_the_errors_of_a_rating_add_up_to_the_score_and_mark_words_of_the_output(
    task: tuple[SimulatedEvalset, ...],
) -> None:
    evalset = evalset_of(task, "sim24", "ja-en")
    human, ratings = scores_of(evalset, evalset.humans["mqm"]), evalset.ratings["mqm.merged"]
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


def test_facts_name_metrics_references_and_human_scores_that_are_there(task: tuple[SimulatedEvalset, ...]) -> None:
    for evalset in task:
        assert evalset.standard_reference in evalset.references
        assert set(evalset.standard_human.values()) <= set(evalset.humans)
        assert set(evalset.baseline_metrics) < set(evalset.primary_metrics)
        assert set(evalset.primary_metrics) < {fact.base_metric for fact in evalset.metric_facts}
        for fact in evalset.metric_facts:
            assert fact.name == f"{fact.base_metric}-{fact.reference}"


def test_better_metrics_agree_more_with_people_inside_segments(task: tuple[SimulatedEvalset, ...]) -> None:
    """Quantised metrics gain or lose by their ties, so the order is asked of those that hardly ever tie."""
    for evalset in task:
        rows = official_rows(evalset)
        human = scores_of(evalset, evalset.humans[evalset.standard_human["seg"]])[rows]
        ratios, found = [], []
        for fact in evalset.metric_facts:
            if fact.kind in {"string", "neural", "random"}:
                ratios.append(fact.signal_to_noise)
                found.append(accuracy(human, scores_of(evalset, evalset.metrics[fact.name])[rows]))
        assert spearmanr(ratios, found).statistic > 0.9


def test_the_same_seed_gives_the_same_evalset_whatever_else_is_drawn(task: tuple[SimulatedEvalset, ...]) -> None:
    alone, in_task = simulate_evalset(2024, "ja-en"), evalset_of(task, "sim24", "ja-en")
    assert alone.outputs == in_task.outputs
    for name in in_task.metrics:
        np.testing.assert_array_equal(alone.metrics[name].seg, in_task.metrics[name].seg)
    np.testing.assert_array_equal(alone.humans["mqm"].seg, in_task.humans["mqm"].seg)


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
    assert len(lines) == len(evalset.systems) * len(evalset.documents)
    values = np.array([np.nan if line.endswith("\tNone") else float(line.split("\t")[1]) for line in lines])
    np.testing.assert_array_equal(values.reshape(-1, len(evalset.documents)), scores_of(evalset, evalset.humans["mqm"]))
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
            assert found[evalset.testset, evalset.lp, name] == scores_of(evalset, evalset.humans[name]).size
