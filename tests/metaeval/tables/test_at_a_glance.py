"""Large tables in short: all groups of a metric together, and the ends of a matrix of correlations."""

import polars as pl

from metaeval.tables.agreement import extremes
from metaeval.tables.counts import together
from queries.engines import COUNTS


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
        ("A", 0.5, "B", 0.5, "B", 0.5),
        ("B", 0.125, "A", 0.5, "C", -0.25),
        ("C", -0.25, "B", -0.25, "B", -0.25),
    ]
    assert extremes(pl.DataFrame({"metric": ["A"], "A": [1.0]})).rows() == [("A", None, None, None, None, None)]
