"""Wide rankings: which columns, which rows first, what is best."""

import numpy as np
import polars as pl

from metaeval.studies.ranking.wide import wide

SCHEMA = {
    "testset": pl.String,
    "lp": pl.String,
    "metric": pl.String,
    "base_metric": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
    "rank": pl.Int64,
    "cluster": pl.Int64,
}


def ranking(*rows: tuple[str, str, str, str, float | None, int | None]) -> pl.DataFrame:
    """Rows of testset, lp, metric, measure, value and cluster; every value has a rank."""
    return pl.DataFrame(
        [
            (testset, lp, name, name.partition("-")[0], measure, value, None if value is None else 1, cluster)
            for testset, lp, name, measure, value, cluster in rows
        ],
        schema=SCHEMA,
        orient="row",
    )


def test_a_row_a_metric_and_a_column_a_language_pair_with_the_best_marked() -> None:
    found = wide(
        ranking(
            ("wmt23", "en-de", "A-refA", "pa", 0.9, 1),
            ("wmt23", "en-de", "B-refA", "pa", 0.7, 2),
            ("wmt23", "he-en", "A-refB", "pa", 0.6, None),
            ("wmt23", "he-en", "B-refB", "pa", 0.6, None),
        )
    )
    assert (found.metrics, found.columns, found.groups) == (("A", "B"), ("en-de", "he-en"), ("", ""))
    assert found.values.tolist() == [[0.9, 0.6], [0.7, 0.6]]
    assert found.best.tolist() == [[True, True], [False, True]]
    assert found.frame().columns == ["metric", "en-de", "cluster en-de", "he-en"]
    assert found.frame()["cluster en-de"].to_list() == [1, 2]


def test_missing_values_are_null_never_best_and_put_their_metric_below() -> None:
    found = wide(
        ranking(
            ("wmt23", "en-de", "A", "pa", 0.9, None),
            ("wmt23", "en-de", "B", "pa", 0.1, None),
            ("wmt23", "he-en", "A", "pa", None, None),
            ("wmt23", "he-en", "B", "pa", 0.2, None),
            ("wmt23", "zh-en", "C", "pa", None, None),
        )
    )
    assert found.metrics == ("B", "A", "C")
    assert np.isnan(found.values).tolist() == [[False, False, True], [False, True, True], [True, True, True]]
    assert found.best.tolist() == [[False, True, False], [True, False, False], [False, False, False]]
    assert found.frame()["zh-en"].to_list() == [None, None, None]


def test_measures_stand_above_test_sets_and_these_above_language_pairs() -> None:
    rows = [(t, lp, "A", m, 0.5, None) for t in ("wmt22", "wmt23") for lp in ("en-de", "zh-en") for m in ("spa", "pa")]
    found = wide(ranking(*rows))
    assert found.names[:3] == ["spa wmt22 en-de", "spa wmt22 zh-en", "spa wmt23 en-de"]
    assert found.groups == ("spa wmt22",) * 2 + ("spa wmt23",) * 2 + ("pa wmt22",) * 2 + ("pa wmt23",) * 2


def test_two_variants_of_one_base_name_in_a_column_keep_their_full_names() -> None:
    found = wide(
        ranking(
            ("wmt23", "en-de", "A-refA", "pa", 0.9, None),
            ("wmt23", "en-de", "A-src", "pa", 0.8, None),
            ("wmt23", "en-de", "B-refA", "pa", 0.7, None),
            ("wmt23", "he-en", "A-refA", "pa", 0.6, None),
        )
    )
    assert set(found.metrics) == {"A-refA", "A-src", "B"}


def test_a_value_without_a_rank_is_not_the_best_of_its_column() -> None:
    rows = ranking(("wmt23", "en-de", "A", "spa", 1.0, None), ("wmt23", "en-de", "B", "spa", 0.9, None))
    found = wide(rows.with_columns(rank=pl.when(pl.col("metric") == "B").then(1)))
    assert dict(zip(found.metrics, found.best[:, 0].tolist(), strict=True)) == {"A": False, "B": True}
