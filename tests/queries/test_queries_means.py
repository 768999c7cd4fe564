"""System means: as submitted, over all segments, over the judged ones."""

import numpy as np
import polars as pl
import pytest

from queries.blocks import fetch_block
from queries.counting import means, system_means
from queries.selection import select
from queries.slices import Slice
from tests.helpers import LP, TESTSET
from warehouse import Warehouse

SCHEMA = {
    "scorer": pl.String,
    "system": pl.String,
    "submitted": pl.Float64,
    "mean": pl.Float64,
    "judged_mean": pl.Float64,
    "n_segments": pl.Int64,
    "n_judged": pl.Int64,
    "n_missing": pl.Int64,
}


def test_means_of_the_tiny_task_are_those_worked_out_by_hand(tiny: Warehouse) -> None:
    found = system_means(tiny, select(tiny, Slice(TESTSET, LP, metrics=("Rough", "Only"))))
    assert dict(found.schema) == SCHEMA
    assert found.rows() == [
        ("Only-src", "Ash", 0.7, None, None, 0, 0, 0),
        ("Only-src", "Beech", 0.6, None, None, 0, 0, 0),
        ("Only-src", "Cherry", 0.2, None, None, 0, 0, 0),
        ("Rough-refA", "Ash", 40.0, 40.0, 40.0, 5, 4, 0),
        ("Rough-refA", "Beech", 42.0, 42.0, 40.0, 5, 4, 0),
        ("Rough-refA", "Cherry", 26.0, 26.0, 27.5, 5, 4, 0),
    ]


def test_a_part_of_a_test_set_has_means_of_its_own_and_none_submitted(tiny: Warehouse) -> None:
    found = system_means(tiny, select(tiny, Slice(TESTSET, LP, metrics=("Rough",), domain=("speech",))))
    assert found["submitted"].to_list() == [None, None, None]
    assert found["mean"].to_list() == [35.0, 40.0, 20.0]
    assert found["judged_mean"].to_list() == [30.0, 30.0, 20.0]


@pytest.mark.parametrize(("testset", "lp"), [("sim22", "en-de"), ("sim24", "cs-uk")])
def test_means_agree_with_those_of_the_arrays(testset: str, lp: str, simulated_warehouse: Warehouse) -> None:
    selection = select(simulated_warehouse, Slice(testset, lp))
    block = fetch_block(simulated_warehouse, selection)
    found = system_means(simulated_warehouse, selection)
    shape = block.submitted.shape
    assert found["scorer"].to_list() == [m.name for m in block.metrics for _ in block.systems]
    assert found["system"].to_list() == list(block.systems) * len(block.metrics)
    judged = np.where(block.judged, block.scores, np.nan)
    for column, expected in (
        ("submitted", block.submitted),
        ("mean", block.scores.mean(axis=2)),
        ("judged_mean", np.nanmean(judged, axis=2)),
    ):
        np.testing.assert_allclose(found[column].to_numpy().reshape(shape), expected, rtol=1e-12)
    assert (found["n_judged"].to_numpy().reshape(shape) == block.judged.sum(axis=1)).all()


def test_the_view_of_system_scores_has_the_same_means(simulated_warehouse: Warehouse) -> None:
    found = system_means(simulated_warehouse, select(simulated_warehouse, Slice("sim24", "ja-en")))
    view = simulated_warehouse.sql(
        """
        SELECT scorer, system, submitted, mean
        FROM system_scores
        WHERE testset = 'sim24' AND lp = 'ja-en' AND kind = 'metric'
        ORDER BY scorer, system
        """
    )
    assert view.height == found.height
    for column in ("submitted", "mean"):
        np.testing.assert_allclose(view[column].to_numpy(), found[column].to_numpy(), rtol=1e-12)


def test_real_metrics_whose_submitted_scores_are_no_means_are_the_known_ones(wmt23_warehouse: Warehouse) -> None:
    found = system_means(wmt23_warehouse, select(wmt23_warehouse, Slice("wmt23", "en-de")))
    apart = found.filter((pl.col("submitted") - pl.col("mean")).abs() > 1e-6 * pl.col("mean").abs())
    assert set(apart["scorer"]) == {"BLEU-refA", "chrF-refA", "f200spBLEU-refA", "KG-BERTScore-src"}


def test_the_last_digit_of_a_mean_does_not_depend_on_the_order_of_rows() -> None:
    rng = np.random.default_rng(0)
    scorer, system, segment = np.indices((3, 4, 200), dtype=np.int32).reshape(3, -1)
    columns = {"scorer_id": scorer, "system_id": system, "segment": segment, "metric": rng.normal(size=scorer.size)}
    scores = pl.DataFrame(columns).with_columns(human=pl.lit(1.0))
    keys = ["scorer_id", "system_id"]
    names = scores.select(keys).unique().lazy()
    found = [
        names.join(means(one.lazy()), on=keys).sort(keys).collect()
        for one in (scores, scores.sample(fraction=1.0, shuffle=True, seed=1))
    ]
    assert found[0].equals(found[1])
