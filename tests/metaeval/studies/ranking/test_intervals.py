"""Intervals of values and ranges of ranks, by what they should hold."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from benchmarks.rank_coverage import of_metrics
from metaeval.measures.options import Options
from metaeval.measures.registry import DEFINITIONS, parse_measure
from metaeval.results.study import SliceResult, study
from metaeval.studies.ranking.intervals import intervals, metric_ranges, with_intervals, with_ranges, within_range
from metaeval.studies.ranking.rankings import RankingInputs, load_ranking_inputs, ranked
from queries.slices import Slice
from tests.helpers import reading
from warehouse import Warehouse

BY = "by document (42 documents)"
RECALL = (
    f"recall(good=-1): 95% intervals for new documents (percentile, 30 resamples {BY}); "
    "1 metric has no interval, because no resample changes the value"
)
ASKED = Slice("sim24", "en-de", metrics=("simBLEU-refA", "Oriole-refA", "Dice-src"))


def result(warehouse: Warehouse, measure: str, options: Options | None = None) -> SliceResult:
    return study(warehouse, ASKED, [parse_measure(measure)], options or Options()).results[0]


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("spa", f"spa: 95% intervals for new documents (normal, infinitesimal jackknife, {BY})"),
        (
            "pearson",
            "pearson: 95% intervals of the value over all such systems (Fisher's z, jackknife, t(14)), too narrow if "
            "a metric misjudges some systems: .87 to .94 of them then contain the value",
        ),
        ("pa", "pa: 95% intervals of the value over all such systems (Fisher's z, jackknife, t(14))"),
        (
            "acc_eq",
            f"acc_eq(by=item): 95% intervals for new documents (percentile, 30 resamples {BY})",
        ),
        (
            "mcc(good=-1)",
            f"mcc(good=-1): 95% intervals for new documents (centred, 30 resamples {BY})",
        ),
        (
            "recall(good=-1)",
            RECALL,
        ),
        (
            "brier(good=-1)",
            f"brier(good=-1): 95% intervals for new documents (normal, jackknife, {BY})",
        ),
    ],
)
def test_values_lie_in_their_intervals_which_say_what_they_are_for(
    measure: str, words: str, simulated_warehouse: Warehouse
) -> None:
    asked = result(simulated_warehouse, measure)
    found = intervals(asked, Options(), 30)
    assert found.words == words
    value, has_ends = asked.evaluation.value, ~np.isnan(found.low)
    assert np.count_nonzero(~has_ends) == ("1 metric has no interval" in words)
    assert ((found.low <= value) & (value <= found.high) & (found.low < found.high))[has_ends].all()


def test_no_interval_reaches_further_than_its_measure() -> None:
    low, high = np.array([-1.2, 0.4, np.nan]), np.array([0.1, 1.3, np.nan])
    for measure, least in (("pearson", -1.0), ("spa", 0.0)):
        found = within_range(parse_measure(measure), low, high)
        assert found[0].tolist()[:2] == [least, 0.4]
        assert found[1].tolist()[:2] == [0.1, 1.0]
        assert np.isnan([found[0][2], found[1][2]]).all()


def test_the_range_of_a_measure_is_that_of_correlations_or_of_shares() -> None:
    others = {"mcc": "[-1, 1]", "rmse": "[-inf, 0]", "mae": "[-inf, 0]", "brier": "[-1, 0]"}
    for one in DEFINITIONS.values():
        assert one.range == others.get(one.name, "[-1, 1]" if one.is_correlation else "[0, 1]"), one.name


def test_one_seed_gives_one_answer_and_another_seed_another(simulated_warehouse: Warehouse) -> None:
    asked = result(simulated_warehouse, "pdp")
    first, again, other = (intervals(asked, Options(seed=seed), 30) for seed in (1, 1, 2))
    assert first.low.tolist() == again.low.tolist()
    assert first.low.tolist() != other.low.tolist()


def test_means_over_judged_segments_are_resampled_by_segments_also_where_tests_chose_them(
    simulated_warehouse: Warehouse,
) -> None:
    options = Options(system_score="judged-mean")
    asked = result(simulated_warehouse, "pearson", options)
    found, same = intervals(asked, options, 30), intervals(asked, Options(), 30)
    assert "new documents" in found.words
    assert (found.words, found.low.tolist()) == (same.words, same.low.tolist())
    assert (found.low <= asked.evaluation.value).all()


def test_metrics_with_other_system_scores_have_intervals_of_their_own(simulated_warehouse: Warehouse) -> None:
    by_means, submitted = (
        result(simulated_warehouse, "pearson", Options(system_score=source)) for source in ("judged-mean", "submitted")
    )
    sources, values = list(submitted.evaluation.system_score), submitted.evaluation.value.copy()
    sources[0], values[0] = "judged-mean", by_means.evaluation.value[0]
    mixed = replace(submitted, evaluation=replace(submitted.evaluation, system_score=tuple(sources), value=values))
    found = intervals(mixed, Options(), 30)
    assert found.low[0] == pytest.approx(intervals(by_means, Options(), 30).low[0])
    assert found.low[1:] == pytest.approx(intervals(submitted, Options(), 30).low[1:])
    assert found.words.endswith("1 of the metrics")
    assert ["resample=inputs" in how for how in found.signed] == [True] + [False] * (len(sources) - 1)
    assert all("resample=systems" in how for how in found.signed[1:])


@pytest.mark.parametrize("measure", ["weighted_tau", "kendall(by=none)", "kendall_like"])
def test_measures_that_take_minutes_or_have_no_resamples_say_so(measure: str, simulated_warehouse: Warehouse) -> None:
    found = intervals(result(simulated_warehouse, measure), Options(), 30)
    assert np.isnan(found.low).all()
    assert "there are no intervals" in found.words


def test_slow_measures_are_those_whose_kernels_resample_one_by_one() -> None:
    slow = {str(one.measure) for one in DEFINITIONS.values() if not one.measure.is_quick_to_resample}
    assert slow == {"spa", "kendall_like", "tabular(by=item, coefficients=1:X:-1/X:X:X/-1:X:1)", "brier"}
    assert not parse_measure("spearman(by=none)").is_quick_to_resample
    assert parse_measure("pearson(by=none)").is_quick_to_resample


def ends_of(found: RankingInputs) -> list[Any]:
    """What was also asked of the results of each evaluation set."""
    return [one.also[0] for one in found.evalsets.values()]


def test_a_ranking_gets_low_and_high_beside_its_values(simulated_warehouse: Warehouse) -> None:
    measures = [parse_measure("pa"), parse_measure("pearson")]
    found = load_ranking_inputs(
        reading(simulated_warehouse),
        ASKED,
        measures,
        Options(),
        also=[partial(intervals, options=Options(), n_draws=30)],
    )
    table, lines = with_intervals(ranked(found), found, ends_of(found))
    frame = table.frame
    assert frame.columns[6:9] == ["value", "low", "high"]
    assert frame.height == 6
    assert (frame["low"] <= frame["value"]).all()
    assert len(lines) == 2
    assert len(table.signature.splitlines()) == 2
    assert set(frame["signature"]) == set(table.signature.splitlines())
    assert all("|interval:95%," in one for one in table.signature.splitlines())


@pytest.mark.parametrize(
    ("measure", "what"), [("pa", "systems"), ("acc_eq(by=item)", "documents"), ("spa", "documents")]
)
def test_every_metric_has_a_range_that_its_rank_is_near(
    simulated_warehouse: Warehouse, measure: str, what: str
) -> None:
    found = load_ranking_inputs(
        reading(simulated_warehouse),
        Slice("sim24", "en-de"),
        [parse_measure(measure)],
        Options(),
        also=[partial(metric_ranges, options=Options(), n_draws=60)],
    )
    plain = ranked(found)
    table, (line,) = with_ranges(plain, found, ends_of(found), Options(), 60)
    assert table.frame.drop("rank_low", "rank_high", "signature").equals(plain.frame.drop("signature"))
    assert f"for new {what}" in line
    assert (table.frame["rank_low"] <= table.frame["rank_high"]).all()
    assert table.frame["rank_high"].max() <= table.frame.height
    inside = (table.frame["rank_low"] <= table.frame["rank"]) & (table.frame["rank"] <= table.frame["rank_high"])
    assert inside.mean() > 0.8  # of metrics near each other values of resamples are biased alike, not their ranks
    assert "|rank_range:95%" in table.signature
    again, _ = with_ranges(plain, found, ends_of(found), Options(), 60)
    assert again.frame.equals(table.frame)


def test_a_measure_that_no_metric_has_has_no_ranges(simulated_warehouse: Warehouse) -> None:
    found = load_ranking_inputs(
        reading(simulated_warehouse),
        Slice("sim24", "en-de", metrics=("simBLEU",)),
        [parse_measure("pa"), parse_measure("mpp")],
        Options(),
        also=[partial(metric_ranges, options=Options(), n_draws=20)],
    )
    table, lines = with_ranges(ranked(found), found, ends_of(found), Options(), 20)
    assert lines[1] == "mpp: there are no ranges, because no metric has what it needs"
    assert set(table.frame["measure"]) == {"pa"}


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["acc_eq(by=item)", "pdp"])
def test_ranges_hold_the_true_rank(measure: str) -> None:
    """320 ranges of metrics in 40 worlds: 95% with a standard error below .03, as those of a world go together."""
    assert of_metrics(measure, 0.05, 40) > 0.89
