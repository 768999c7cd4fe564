"""Who leads a ranking, in words."""

import polars as pl

from metaeval.studies.ranking.rankings import leaders


def _frame(*rows: tuple[str, str, str, int | None, int | None]) -> pl.DataFrame:
    """Rows: measure, language pair, metric, rank, cluster."""
    names = ("measure", "lp", "base_metric", "rank", "cluster")
    schema = {**dict.fromkeys(names[:3], pl.String), "rank": pl.Int64, "cluster": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.with_columns(value=pl.when(pl.col("rank").is_not_null()).then(0.5))


def test_those_in_the_top_cluster_of_every_language_pair_are_named_by_their_mean_rank() -> None:
    found = _frame(
        ("spa", "en-de", "A", 1, 1), ("spa", "en-de", "B", 2, 1), ("spa", "en-de", "C", 3, 2),
        ("spa", "he-en", "B", 1, 1), ("spa", "he-en", "A", 3, 1), ("spa", "he-en", "C", 2, 1),
        ("pa", "en-de", "C", 1, 1), ("pa", "he-en", "C", 1, 1),
    )  # fmt: skip
    assert leaders(found) == "In the top cluster in both language pairs: by spa B, A; by pa C."


def test_where_no_metric_leads_everywhere_the_one_that_leads_most_often_is_named() -> None:
    rows = [("pa", lp, name, 1, 1) for lp, name in (("cs-en", "A"), ("de-en", "B"), ("en-cs", "B"))]
    assert leaders(_frame(*rows)) == "In the top cluster in all 3 language pairs: by pa none (B in 2)."


def test_without_clusters_the_first_rank_counts_and_many_names_are_counted() -> None:
    assert leaders(_frame(("pa", "en-de", "A", 1, None), ("pa", "en-de", "B", 2, None))) == "First in en-de: by pa A."
    many = [("spa", "en-de", name, rank, 1) for rank, name in enumerate("ABCDE", start=1)]
    assert leaders(_frame(*many)) == "In the top cluster in en-de: by spa A, B, C and 2 more."


def test_metrics_without_a_value_lead_nowhere() -> None:
    assert leaders(_frame(("spa", "en-de", "A", None, None))) == ""
