"""Counted differences in one evaluation set: segments, texts, scores and judgements of both warehouses side by side."""

from collections.abc import Iterable, Sequence

import polars as pl

from queries.catalog import ask
from warehouse import Warehouse

EVALSET = ("testset", "lp")
PART = "\x1f"  # stands between what is known of one thing
KINDS = (
    *("evaluation sets", "sources", "segments", "texts", "systems", "spellings", "metrics", "humans"),
    *("metric scores", "human scores", "system scores", "domain scores", "document scores", "judgements"),
    *("metric facts", "known issues", "results"),
)
"""What is compared, in the order of answers."""
COUNTS = ("added", "gone", "changed")
_VECTOR = ("lp", "what", "kind", "name", "system", "level")
_KNOWN = ("position", "document", "index_in_document", "domain")
_NAMED = ("lp", "what", "name")
_EMPTY = pl.DataFrame(
    schema=dict.fromkeys((*_NAMED, "system", "unit"), pl.String)
    | dict.fromkeys(COUNTS, pl.Int64)
    | dict.fromkeys(("before", "after"), pl.Float64)
)


def both_sides(key: Sequence[str], before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Rows of both joined by their key; columns of the second end in `_after` and are NULL if it has no such row."""
    return before.with_columns(is_before=pl.lit(True)).join(
        after.with_columns(is_after=pl.lit(True)), on=key, how="full", coalesce=True, nulls_equal=True, suffix="_after"
    )


def in_order(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows by evaluation set, kind and name."""
    order = {what: place for place, what in enumerate(KINDS)}
    place = pl.col("what").replace_strict(order, return_dtype=pl.Int64)
    return frame.sort(*EVALSET, place, "name", nulls_last=True)


def counted_differences(both: Sequence[Warehouse], testset: str, lp: str | None) -> pl.DataFrame:
    """Differences in a test set, or in one of its evaluation sets: see `Differences.counted`."""
    segments, texts, vectors, values, judgements = (
        [ask(warehouse, f"diff_{question}", testset=testset, lp=lp) for warehouse in both]
        for question in ("segments", "texts", "vectors", "values", "judgements")
    )
    places = _places(*segments)
    names = pl.concat(vectors).select(_VECTOR).unique().with_row_index("row")
    rows = [side.join(names, on=_VECTOR).select("row", "vector_id") for side in vectors]

    def laid(key: Sequence[str], sides: Iterable[pl.DataFrame], *known: str) -> pl.DataFrame:
        """Rows of both sides by the index of their segment and the row in `names` of their vector."""
        found = []
        for side, place, row in zip(sides, places, rows, strict=True):
            placed = side.lazy().join(place.lazy(), on=["evalset_id", "segment"], how="left")
            placed = placed.with_columns(place=pl.coalesce("place", -pl.col("segment")))  # some are not listed
            placed = placed.join(row.lazy(), on="vector_id") if "row" in key else placed
            found.append(placed.select(*key, *known).collect())
        if "row" in key:  # rows that are equal are not joined, as they are many
            digest = pl.struct(pl.exclude("row", "segment")).hash().sum()
            digests = both_sides(("row",), *(side.group_by("row").agg(digest=digest) for side in found))
            unlike = digests.filter(pl.col("digest").ne_missing(pl.col("digest_after")))
            found = [side.join(unlike, on="row", how="semi") for side in found]
        return both_sides(key, *found)

    is_of_segment = pl.col("segment").is_not_null()
    scores = (
        laid(("row", "place"), (side.filter(is_of_segment) for side in values), "segment", "value"),
        laid(("row", "unit"), (side.filter(~is_of_segment) for side in values), "value"),
    )
    judged = [side.group_by(pl.all()).agg(n=pl.len().cast(pl.Int64)) for side in judgements]
    of_segments = _counted(both_sides(("lp", "place"), *places), _KNOWN, "lp")
    of_texts = _counted(laid(("lp", "name", "place"), texts, "text"), ("text",), "lp", "name")
    of_scores = _by_name(pl.concat(_counted(one, ("value",), "row") for one in scores), names)
    of_judgements = _by_name(_judgements(laid(("row", "place", "who", "digest"), judged, "n")), names)
    parts = (
        of_segments.with_columns(what=pl.lit("segments")),
        of_texts.with_columns(what=pl.lit("texts")),
        of_scores.join(_largest(scores, names), on=_NAMED, how="left"),
        of_judgements.group_by("lp", "name").agg(pl.col(COUNTS).sum()).with_columns(what=pl.lit("judgements")),
    )
    found = pl.concat([_EMPTY, *parts], how="diagonal").filter(pl.sum_horizontal(COUNTS) > 0)
    return found.with_columns(testset=pl.lit(testset))


def _places(before: pl.DataFrame, after: pl.DataFrame) -> list[pl.DataFrame]:
    """Segments of both with a number, `place`, that identifies the same segment in both.

    Segments are matched by line, else by document and index if these are unique, else by number.
    """
    both = pl.concat([before.with_columns(side=pl.lit(0)), after.with_columns(side=pl.lit(1))])
    place = pl.col("segment").cast(pl.String)
    for told in (("document", "index_in_document"), ("position",)):
        is_own = pl.struct("side", "lp", *told).is_unique() & pl.all_horizontal(pl.col(told).is_not_null())
        place = pl.when(is_own.all().over("lp")).then(pl.concat_str(*told, separator=PART)).otherwise(place)
    both = both.with_columns(place=pl.concat_str("lp", place, separator=PART).rank("dense").cast(pl.Int32))
    return [both.filter(side=side).drop("side") for side in (0, 1)]


def _counted(laid: pl.DataFrame, known: Sequence[str], *by: str) -> pl.DataFrame:
    """Number of joined rows that were added, removed or changed."""
    is_new, is_gone = pl.col("is_before").is_null(), pl.col("is_after").is_null()
    differs = pl.any_horizontal(pl.col(name).ne_missing(pl.col(f"{name}_after")) for name in known)
    counts = {"added": is_new, "gone": is_gone, "changed": differs & ~is_new & ~is_gone}
    sums = [flags.sum().cast(pl.Int64).alias(name) for name, flags in counts.items()]
    return laid.group_by(by).agg(sums)


def _by_name(counts: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
    return counts.join(names, on="row").group_by(_NAMED).agg(pl.col(COUNTS).sum())


def _largest(scores: Iterable[pl.DataFrame], names: pl.DataFrame) -> pl.DataFrame:
    """The largest change of each scorer's scores; ties go to the first by system and segment."""
    changed = [one.filter(pl.col("value") != pl.col("value_after")) for one in scores]
    return (
        pl.concat(changed, how="diagonal")
        .join(names, on="row")
        .sort(-(pl.col("value_after") - pl.col("value")).abs(), *_VECTOR, "segment", "unit")
        .unique(_NAMED, keep="first", maintain_order=True)
        .with_columns(unit=pl.coalesce(pl.format("segment {}", "segment_after"), "unit"))
        .select(*_NAMED, "system", "unit", before="value", after="value_after")
    )


def _judgements(laid: pl.DataFrame) -> pl.DataFrame:
    """Judgements of each vector that differ.

    If one annotator's judgements of one output differ, they are changed; the rest are added or removed.
    """
    n, n_after = pl.col("n").fill_null(0), pl.col("n_after").fill_null(0)
    return (
        laid.group_by("row", "place", "who")
        .agg(gone=(n - n_after).clip(0).sum(), added=(n_after - n).clip(0).sum())
        .with_columns(changed=pl.min_horizontal("gone", "added"))
        .select("row", pl.col("added", "gone") - pl.col("changed"), "changed")
    )
