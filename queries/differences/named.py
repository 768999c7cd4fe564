"""What has a name: sources, systems, metrics, results and so on, added, gone, or known otherwise."""

from collections.abc import Sequence

import polars as pl

from queries.differences.beside import PART, beside, in_order

_THING = ("what", "testset", "lp", "name")


def named_differences(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """What has a name and differs; see `Differences.named`."""
    joined = beside(_THING, before, after).filter(pl.col("fields").ne_missing(pl.col("fields_after")))
    joined = _without_moved(joined)
    rows = []
    for what, testset, lp, name, here, there in joined.select(*_THING, "fields", "fields_after").iter_rows():
        parts = [None if one is None else [part for part in one.split(PART) if part] for one in (here, there)]
        change = "added" if here is None else "gone" if there is None else "changed"
        words = [None if mine is None else _words(mine, other) for mine, other in (parts, parts[::-1])]
        rows.append((what, testset, lp, name, change, *words))
    schema = dict.fromkeys(("what", "testset", "lp", "name", "change", "before", "after"), pl.String)
    return in_order(pl.DataFrame(rows, schema=schema, orient="row"))


def _words(mine: Sequence[str], other: Sequence[str] | None) -> str:
    """What is known of a thing that is not known of the other; all of it, where there is no other."""
    return ", ".join(part for part in mine if other is None or part not in other)


def _without_moved(joined: pl.DataFrame) -> pl.DataFrame:
    """Without sources of the same content and reader in both, whose names differ: they were loaded from elsewhere."""
    nth = pl.int_range(pl.len()).over("testset", "lp", "content")
    sources = joined.filter(what="sources")
    gone = sources.filter(pl.col("fields_after").is_null()).with_columns(content="fields").with_columns(nth=nth)
    new = sources.filter(pl.col("fields").is_null()).with_columns(content="fields_after").with_columns(nth=nth)
    moved = gone.join(new, on=["testset", "lp", "content", "nth"])
    names = pl.concat([moved.select("testset", "lp", "name"), moved.select("testset", "lp", name="name_right")])
    return joined.join(names.with_columns(what=pl.lit("sources")), on=_THING, how="anti")
