"""Rows of two warehouses beside each other, and what an answer calls them."""

from collections.abc import Sequence

import polars as pl

EVALSET = ("testset", "lp")
PART = "\x1f"  # stands between what is known of one thing
KINDS = (
    *("evaluation sets", "sources", "segments", "texts", "systems", "spellings", "metrics", "humans"),
    *("metric scores", "human scores", "system scores", "domain scores", "document scores", "judgements"),
    *("metric facts", "known issues", "results"),
)
"""What is compared, in the order of answers."""


def beside(key: Sequence[str], before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Rows of both under their key; columns of the second end in `_after`, and are NULL where it has no such row."""
    return before.with_columns(is_before=pl.lit(True)).join(
        after.with_columns(is_after=pl.lit(True)),
        on=key,
        how="full",
        coalesce=True,
        nulls_equal=True,
        suffix="_after",
    )


def in_order(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows by evaluation set, kind and name."""
    order = {what: place for place, what in enumerate(KINDS)}
    place = pl.col("what").replace_strict(order, return_dtype=pl.Int64)
    return frame.sort(*EVALSET, place, "name", nulls_last=True)
