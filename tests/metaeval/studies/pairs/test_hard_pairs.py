"""Hard pairs: counted by hand, ties, significance, and which sets are left out."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import metaeval
from metaeval.measures.options import Options
from metaeval.studies.pairs.hard_pairs import COLUMNS, _rows, hard_pairs
from metaeval.studies.pairs.settings import HardPairSettings
from metaeval.studies.pairs.system_pairs import SystemPairs
from queries.slices import Slice
from tests.helpers import reading
from warehouse import QuestionError, Warehouse

EN_DE = Slice("sim24", "en-de")

THREE = SystemPairs(  # people: A 3, B 2, C 2; metrics on A, B, C: X 1 2 3, Y 2 2 1, Z 3 1 1
    testset="t",
    lp="en-de",
    human="mqm",
    systems=("A", "B", "C"),
    metric_names=("X", "Y", "Z"),
    base_names=("X", "Y", "Z"),
    first=np.array([0, 0, 1]),
    second=np.array([1, 2, 2]),
    human_gaps=np.array([1.0, 1.0, 0.0]),
    metric_gaps=np.array([[-1.0, -2.0, -1.0], [0.0, 1.0, 1.0], [2.0, 2.0, 0.0]]),
    p=np.array([0.04, np.nan, 1.0]),
    used=("mean",) * 3,
    human_deviation=0.5,
    largest=np.array([3.0, 2.0, 3.0]),
    factors=np.ones(3),
)


def test_pairs_by_hand() -> None:
    ab, ac = _rows(THREE, 0.05, "s")  # B and C are tied by people
    assert (ab["better"], ab["worse"], ab["n_metrics"], ab["n_right"], ab["n_tied"]) == ("A", "B", 3, 1, 1)
    assert (ab["right"], ab["human_difference"], ab["in_sd"], ab["significant"]) == ("Z", 1.0, 2.0, True)
    assert (ac["better"], ac["worse"], ac["n_right"], ac["n_tied"], ac["right"]) == ("A", "C", 2, 0, "Y, Z")
    assert (ac["p"], ac["significant"]) == (None, None)


def test_a_difference_of_people_the_other_way_round_exchanges_the_systems() -> None:
    turned = replace(THREE, human_gaps=-THREE.human_gaps, metric_gaps=-THREE.metric_gaps)
    for row, was in zip(_rows(turned, 0.05, "s"), _rows(THREE, 0.05, "s"), strict=True):
        assert (row["better"], row["worse"]) == (was["worse"], was["better"])
        assert (row["n_right"], row["right"]) == (was["n_right"], was["right"])


def test_shares_of_right_pairs_are_the_metrics_pairwise_accuracies(simulated_warehouse: Warehouse) -> None:
    found = hard_pairs(reading(simulated_warehouse), EN_DE, Options(), HardPairSettings())
    ranked = metaeval.rank(simulated_warehouse, "sim24", "en-de", "pa(ties=tship)").frame
    n = found.facts["every"].height
    for metric, value in ranked.select("metric", "value").rows():
        of_metric = found.facts["every"]["right"].str.split(", ").list.contains(metric).sum()
        assert of_metric / n == pytest.approx(value), metric


def test_hard_pairs_are_those_of_few_right_metrics_the_hardest_first(simulated_warehouse: Warehouse) -> None:
    found = hard_pairs(reading(simulated_warehouse), EN_DE, Options(), HardPairSettings(max_correct=4))
    assert tuple(found.frame.columns) == COLUMNS
    assert found.frame.height == found.facts["every"].filter(pl.col("n_right") <= 4).height > 0
    assert found.frame["n_right"].is_sorted()
    assert (found.frame["human_difference"] > 0).all()
    apart = hard_pairs(
        reading(simulated_warehouse), EN_DE, Options(), HardPairSettings(max_correct=4, significant=True)
    ).frame
    assert apart.equals(found.frame.filter(pl.col("significant")))
    assert (apart["p"] <= 0.05).all()


def test_sets_with_few_metrics_are_left_out_and_named(simulated_warehouse: Warehouse) -> None:
    one = replace(EN_DE, metrics=("simBLEU",))
    with pytest.raises(QuestionError, match=r"no evaluation set has enough metrics.*sim24 en-de \(1\)"):
        hard_pairs(reading(simulated_warehouse), one, Options(), HardPairSettings())
    assert hard_pairs(reading(simulated_warehouse), one, Options(), HardPairSettings(min_metrics=1)).frame.height > 0


@pytest.mark.parametrize(
    ("most", "said"), [(0, "No metric orders "), (1, "At most 1 metric orders "), (9, "At most 9 metrics order ")]
)
def test_the_sentence_agrees_with_the_number_of_metrics(simulated_warehouse: Warehouse, most: int, said: str) -> None:
    found = metaeval.deltas(simulated_warehouse, "sim24", "en-de", hard=True, max_correct=most)
    assert found.summary.startswith((said, "Not one of the ")), found.summary
