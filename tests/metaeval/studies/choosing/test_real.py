"""The published tool's choices on real WMT23 en-de (subset2evaluate 1.0.25): orders, clusters, τ_b and SPA."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from metaeval.studies.choosing.choice import ChoiceSettings, choose
from metaeval.studies.choosing.methods import candidates, utility
from metaeval.studies.choosing.replay import replay
from queries.slices import Slice
from tests.helpers import beside_data, reading
from warehouse import Warehouse

SET = Slice("wmt23", "en-de")
MARKED = 1
"""The segment of which one output begins with a byte-order mark in the file."""
METHODS = [
    ("metric_avg", "MetricX-23"),
    ("metric_var", "MetricX-23"),
    ("metric_cons", "MetricX-23"),
    ("metric_avg", "XCOMET-Ensemble"),
    ("metric_var", "XCOMET-Ensemble"),
    ("metric_var", "BLEU"),
    ("diversity", "unigram"),
    pytest.param("diversity", "chrf", marks=pytest.mark.slow),
]


def _expected(name: str) -> Any:
    return json.loads(beside_data("expected", "subset", name).read_text(encoding="utf-8"))


def _asked(method: str, by: str) -> ChoiceSettings:
    how: Any = {"similarity": by} if method == "diversity" else {"metric": by}
    return ChoiceSettings(method=method, **how)  # type: ignore[arg-type]


@pytest.mark.parametrize(("method", "by"), METHODS)
def test_segments_are_chosen_in_the_same_order_and_parts_say_the_same_of_systems(
    wmt23_warehouse: Warehouse, method: str, by: str
) -> None:
    expected = _expected(f"wmt23.en-de.{method}.{by}.json")
    found = choose(reading(wmt23_warehouse), SET, _asked(method, by)).frame
    there = candidates(wmt23_warehouse, SET, also=()).segments
    places = [place for place in expected["order"] if by != "chrf" or there[place] != MARKED]
    found = found.filter(pl.col("segment").is_in(there[places].tolist()))
    assert found["segment"].to_list() == there[places].tolist()
    assert found["utility"].to_list() == pytest.approx([expected["utility"][place] for place in places], rel=1e-12)
    of_parts = _expected("wmt23.en-de.json")["en-de"]
    (replayed,) = replay(reading(wmt23_warehouse), SET, _asked(method, by), (method,), clip=-25, draws=2).facts[
        "campaigns"
    ]  # type: ignore[arg-type]
    assert replayed.clusters == len(of_parts["clusters_full"])
    parts = list(of_parts["methods"][f"{method}({by})"]["props"].values())
    assert list(replayed.sizes) == [part["k"] for part in parts]
    assert replayed.values[0].tolist() == [part["clusters"] for part in parts]
    assert replayed.values[1] == pytest.approx([part["kendall_b"] for part in parts], abs=1e-12)
    assert replayed.values[2] == pytest.approx([np.mean(part["spa_seeds"]) for part in parts], abs=0.004)


def test_the_segment_that_chrf_places_otherwise_has_a_byte_order_mark(wmt23_warehouse: Warehouse) -> None:
    """It begins the file of AIRC's outputs: no part of the text here, a character of it to the published tool."""
    expected = _expected("wmt23.en-de.diversity.chrf.json")
    there = candidates(wmt23_warehouse, SET, also=())
    texts = {(kind, name): {MARKED: of[MARKED]} for (kind, name), of in there.texts.items() if kind == "output"}
    texts["output", "AIRC"][MARKED] = "\ufeff" + texts["output", "AIRC"][MARKED]
    values = utility(replace(there, texts=texts), "diversity", similarity="chrf")[0]
    place = there.segments.tolist().index(MARKED)
    assert values[place] == pytest.approx(expected["utility"][place], rel=1e-12)


def test_by_human_scores_the_order_is_the_same_up_to_exact_ties(wmt23_warehouse: Warehouse) -> None:
    """The tool adds up variances in an order of systems of its own, which parts ties by rounding."""
    expected = _expected("wmt23.en-de.metric_var.human.json")
    there = candidates(wmt23_warehouse, SET, also=())
    utility = (np.maximum(there.human, -25) * 4).var(axis=0)
    assert utility == pytest.approx(expected["utility"])
    ordered = utility[expected["order"]]
    assert (np.diff(ordered) <= 1e-9).all()


@pytest.mark.slow
def test_chance_says_on_average_the_same(wmt23_warehouse: Warehouse) -> None:
    """Means of 20 random orders there, of 30 here: within 4 standard errors of their difference."""
    expected = np.array(
        _expected("wmt23.en-de.json")["en-de"]["random_mean_over_20_seeds"]
    )  # (10, 3): SPA, clusters, τ
    (found,) = replay(
        reading(wmt23_warehouse), SET, ChoiceSettings(method="random"), ("random",), clip=-25, draws=30
    ).facts["campaigns"]
    deviation = found.random.std(axis=0, ddof=1) * np.sqrt(1 / 20 + 1 / 30)
    for column, row in ((0, 2), (1, 0), (2, 1)):
        assert (np.abs(found.random.mean(axis=0)[row] - expected[:, column]) <= 4 * deviation[row]).all()
