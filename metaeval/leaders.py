"""Who leads a ranking of several language pairs, in a sentence."""

import polars as pl

_NAMED = 3  # metrics


def leaders(frame: pl.DataFrame) -> str:
    """The metrics of a test set that are in the top significance cluster of every language pair, by each measure.

    frame: as of `ranked`, of one test set; where no test compared metrics, the first rank stands for the cluster.
    >>> columns = {"measure": ["pa"] * 3, "lp": ["en-de", "en-de", "he-en"], "rank": [1, 2, 1], "cluster": [1, 1, 1]}
    >>> leaders(pl.DataFrame({**columns, "base_metric": ["A", "B", "B"], "value": [0.9, 0.8, 0.7]}))
    'In the top cluster in both language pairs: by pa B.'
    """
    found: dict[str, list[str]] = {}
    for (measure,), rows in frame.group_by("measure", maintain_order=True):
        where, names = _of(rows)
        if names:
            found.setdefault(where, []).append(f"by {measure} {names}")
    return " ".join(f"{where}: {'; '.join(parts)}." for where, parts in found.items())


def _of(rows: pl.DataFrame) -> tuple[str, str]:
    """Where metrics lead by a measure, and which do."""
    valued = rows.filter(pl.col("value").is_not_null() & pl.col("value").is_not_nan() & pl.col("rank").is_not_null())
    clustered = "cluster" in valued.columns and valued["cluster"].count() > 0
    first = valued.filter(pl.col("cluster" if clustered else "rank") == 1)
    if not first.height:
        return "", ""
    n_lps = valued["lp"].n_unique()
    counts = (
        first.lazy()
        .group_by("base_metric")
        .agg(n=pl.col("lp").n_unique(), rank=pl.col("rank").mean())
        .sort("n", "rank", "base_metric", descending=[True, False, False])
        .collect()
    )
    places = {1: str(valued["lp"][0]), 2: "both language pairs"}
    where = f"{'In the top cluster' if clustered else 'First'} in {places.get(n_lps, f'all {n_lps} language pairs')}"
    everywhere = counts.filter(pl.col("n") == n_lps)["base_metric"].to_list()
    if not everywhere:
        return where, f"none ({counts['base_metric'][0]} in {counts['n'][0]})"
    more = f" and {len(everywhere) - _NAMED} more" if len(everywhere) > _NAMED else ""
    return where, ", ".join(everywhere[:_NAMED]) + more
