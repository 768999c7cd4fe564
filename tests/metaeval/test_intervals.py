"""Intervals of a ranking: which are made how, and for whom they stand."""

import numpy as np
import pytest

from metaeval.evaluation import Options
from metaeval.intervals import intervals, with_intervals
from metaeval.measures import DEFINITIONS, Measure
from metaeval.ranking import read
from metaeval.study import Result, ranking, study
from queries.selection import Slice
from warehouse import Warehouse

ASKED = Slice("sim24", "en-de", metrics=("simBLEU-refA", "Oriole-refA", "Dice-src"))


def result(warehouse: Warehouse, measure: str, options: Options | None = None) -> Result:
    return study(warehouse, ASKED, [Measure.parse(measure)], options or Options()).results[0]


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("spa", "spa: 95% intervals for new segments (normal, infinitesimal jackknife)"),
        ("pearson", "pearson: 95% intervals for new systems (normal, 30 resamples)"),
        ("pa", "pa: 95% intervals for new systems (percentile, 30 resamples)"),
        ("acc_eq", "acc_eq(by=item): 95% intervals for new segments (percentile, 30 resamples)"),
    ],
)
def test_values_lie_in_their_intervals_which_say_what_they_are_for(
    measure: str, words: str, simulated_warehouse: Warehouse
) -> None:
    asked = result(simulated_warehouse, measure)
    found = intervals(asked, Options(), 30)
    assert found.words == words
    assert (found.low <= asked.evaluation.value).all()
    assert (asked.evaluation.value <= found.high).all()
    assert (found.low < found.high).all()


def test_one_seed_gives_one_answer_and_another_seed_another(simulated_warehouse: Warehouse) -> None:
    asked = result(simulated_warehouse, "pearson")
    first, again, other = (intervals(asked, Options(seed=seed), 30) for seed in (1, 1, 2))
    assert first.low.tolist() == again.low.tolist()
    assert first.low.tolist() != other.low.tolist()


def test_means_over_judged_segments_are_resampled_by_segments(simulated_warehouse: Warehouse) -> None:
    options = Options(system_score="judged-mean")
    assert "new segments" in intervals(result(simulated_warehouse, "pearson", options), options, 30).words


@pytest.mark.parametrize("measure", ["weighted_tau", "kendall(by=none)", "kendall_like"])
def test_measures_that_take_minutes_or_have_no_resamples_say_so(measure: str, simulated_warehouse: Warehouse) -> None:
    found = intervals(result(simulated_warehouse, measure), Options(), 30)
    assert np.isnan(found.low).all()
    assert "no intervals, " in found.words


def test_slow_measures_are_those_whose_kernels_resample_one_by_one() -> None:
    slow = {str(one.measure) for one in DEFINITIONS.values() if not one.measure.is_quick_to_resample}
    assert slow == {"spa", "kendall_like", "tabular(by=item, coefficients=1:X:-1/X:X:X/-1:X:1)"}
    assert not Measure.parse("spearman(by=none)").is_quick_to_resample
    assert Measure.parse("pearson(by=none)").is_quick_to_resample


def test_a_ranking_gets_low_and_high_beside_its_values(simulated_warehouse: Warehouse) -> None:
    measures = [Measure.parse("pa"), Measure.parse("pearson")]
    found = read(simulated_warehouse, ASKED, measures, Options())
    (one,) = found.studies.values()
    frame, lines = with_intervals(ranking(one), found, Options(), 30)
    assert frame.columns[6:9] == ["value", "low", "high"]
    assert frame.height == 6
    assert (frame["low"] <= frame["value"]).all()
    assert len(lines) == 2
