"""Tables in short and what charts take beside them: groups together, ends and order of correlations, domains."""

import polars as pl
import pytest

from metaeval.measures.options import Options
from metaeval.measures.registry import parse_measure
from metaeval.studies.ranking.rankings import RankingInputs, load_ranking_inputs, ranked
from metaeval.studies.tables.agreement import clustered, extremes
from metaeval.studies.tables.counts import together
from queries.counting import COUNTS
from queries.slices import Slice
from tests.helpers import reading
from warehouse import QuestionError, Warehouse


def _matrix(names: str, values: dict[str, float | None]) -> pl.DataFrame:
    frame = {"metric": list(names)}
    columns = {
        two: [1.0 if one == two else values.get("".join(sorted(one + two)), 0.1) for one in names] for two in names
    }
    return pl.DataFrame({**frame, **columns})


def test_metrics_that_are_alike_stand_side_by_side() -> None:
    order = clustered(_matrix("abcd", {"ac": 0.9, "bd": 0.8}))
    assert abs(order.index("a") - order.index("c")) == 1
    assert abs(order.index("b") - order.index("d")) == 1


def test_undefined_correlations_have_a_place_and_few_metrics_keep_their_order() -> None:
    assert sorted(clustered(_matrix("abc", {"ab": None, "ac": None, "bc": None}))) == ["a", "b", "c"]
    assert clustered(_matrix("ab", {"ab": 0.5})) == ["a", "b"]


def test_a_ranking_by_domain_is_that_of_each_domain(simulated_warehouse: Warehouse) -> None:
    measures = [parse_measure("acc23(by=item)")]
    found = load_ranking_inputs(reading(simulated_warehouse), Slice("sim24", "en-de"), measures, Options(), by="domain")
    table = ranked(found)
    assert not found.skipped
    assert len(found.parts) > 1
    for domain in found.parts:
        one = Slice("sim24", "en-de", domain=(domain,))
        alone = ranked(load_ranking_inputs(reading(simulated_warehouse), one, measures, Options()))
        assert table.frame.filter(domain=domain).drop("domain").equals(alone.frame)


def test_patterns_choose_domains_and_none_is_refused(simulated_warehouse: Warehouse) -> None:
    measures = [parse_measure("pearson")]

    def inputs(*domain: str) -> RankingInputs:
        asked = Slice("sim24", "en-de", domain=domain)
        return load_ranking_inputs(reading(simulated_warehouse), asked, measures, Options(), by="domain")

    first = next(iter(inputs().parts))
    assert list(inputs(f"{first[:-1]}?").parts) == [first]
    with pytest.raises(QuestionError, match="no domain matches"):
        inputs("nowhere")


def test_groups_of_a_metric_are_added_up_and_the_most_concordant_is_first() -> None:
    rows = [("A", "item", "1", 0.0, 1, 3, 0, 0, 0), ("A", "item", "2", 0.0, 2, 1, 1, 0, 0)]
    rows += [("B", "item", "1", 0.0, 3, 1, 0, 0, 0), ("C", "item", "1", 0.0, 0, 0, 0, 0, 0)]
    found = together(pl.DataFrame(rows, schema=["metric", "by", "group", "epsilon", *COUNTS], orient="row"))
    assert found.columns == ["metric", "by", "epsilon", "concordant", *COUNTS, "n_groups"]
    assert found.select("metric", "concordant", "n_concordant", "n_discordant", "n_groups").rows() == [
        ("B", 0.75, 3, 1, 1),
        ("A", 0.375, 3, 4, 2),
        ("C", None, 0, 0, 1),
    ]


def test_each_metric_has_the_one_that_is_most_and_the_one_that_is_least_like_it() -> None:
    matrix = pl.DataFrame(
        {"metric": ["A", "B", "C"], "A": [1.0, 0.5, None], "B": [0.5, 1.0, -0.25], "C": [None, -0.25, 1.0]}
    )
    assert extremes(matrix).rows() == [
        ("A", "B", 0.5, "B", 0.5, 0.5),
        ("B", "A", 0.5, "C", -0.25, 0.125),
        ("C", "B", -0.25, "B", -0.25, -0.25),
    ]
    assert extremes(pl.DataFrame({"metric": ["A"], "A": [1.0]})).rows() == [("A", None, None, None, None, None)]
