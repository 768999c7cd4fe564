"""Vectors of the records on a stage, with their scores, judgements and marked errors."""

from collections.abc import Sequence

import polars as pl

from warehouse.database.stage import Stage
from warehouse.readers.contents import Content

VECTOR_KEY = ("kind", "scorer", "system", "level")  # what is one vector in a group of files
_VECTOR = ("kind", "scorer", "base_name", "reference", "system", "level")


def stage_vectors(
    contents: Sequence[Content], scores: pl.DataFrame, judgements: pl.DataFrame, stage: Stage
) -> pl.DataFrame:
    """Stage vectors with their scores; returns a frame with the number of each vector, by group of files."""
    numbered = scores.lazy().with_columns(group=_group(contents))
    marks = pl.col("is_negated", "is_derived").fill_null(False)
    rows = numbered.select("group", "file_no", *_VECTOR, "value", marks, is_row=pl.lit(1))
    if judgements.height:
        judged = judgements.lazy().select(
            _group(contents).alias("group"),
            "file_no",
            *_VECTOR[:-1],
            level=pl.lit("seg"),
            value=pl.lit(None, dtype=pl.Float64),
            is_negated=pl.lit(False),
            is_derived=pl.lit(False),
            is_row=pl.lit(0),
        )
        rows = pl.concat([rows, judged])
    counts = rows.group_by("group", *_VECTOR, maintain_order=True).agg(
        pl.col("file_no").min(),
        pl.col("is_negated", "is_derived").any(),
        pl.col("value").is_not_null().sum().alias("n_values"),
        (pl.col("is_row").sum() - pl.col("value").is_not_null().sum()).alias("n_missing"),
    )
    vectors = counts.sort("group", *VECTOR_KEY).collect(engine="in-memory")
    numbers = pl.Series("vector_no", stage.batch.new_vectors(vectors.height), dtype=pl.Int32)
    vectors = vectors.hstack([numbers])
    statuses = {content.file_no: (content.claim.status, content.claim.is_own) for content in contents}
    claimed = [statuses[file_no] for file_no in vectors["file_no"]]
    stage.add(
        "vector",
        vectors.select(
            "vector_no",
            pl.col("file_no").cast(pl.Int32),
            *_VECTOR,
            "is_negated",
            "is_derived",
            is_reference_free=(pl.col("kind") == "metric") & pl.col("reference").is_null(),
            n_values=pl.col("n_values").cast(pl.Int32),
            n_missing=pl.col("n_missing").cast(pl.Int32),
            status=pl.Series([status for status, _ in claimed], dtype=pl.String),
            is_own=pl.Series([is_own for _, is_own in claimed], dtype=pl.Boolean),
        ),
    )
    numbers_of = vectors.lazy().select("vector_no", "group", *VECTOR_KEY)
    numbered = numbered.join(numbers_of, on=["group", *VECTOR_KEY], how="left", maintain_order="left")
    is_seg = pl.col("level") == "seg"
    of_segments = numbered.filter(is_seg).select("vector_no", pl.col("number").cast(pl.Int32).alias("segment"), "value")
    stage.add("score", of_segments.collect(engine="in-memory"))
    if (vectors["level"] != "seg").any():
        others = numbered.filter(~is_seg).select("vector_no", "unit", "value")
        stage.add("aggregate", others.collect(engine="in-memory"))
    return vectors


def _group(contents: Sequence[Content]) -> pl.Expr:
    """The first file of each file's group; a file without a group stands for itself."""
    first: dict[str, int] = {}
    grouped = [content for content in contents if content.claim.group]
    group_of = {one.file_no: first.setdefault(one.claim.group or "", one.file_no) for one in grouped}
    return pl.col("file_no").replace(group_of) if group_of else pl.col("file_no")


def stage_judgements(
    contents: Sequence[Content], judgements: pl.DataFrame, ratings: pl.DataFrame, vectors: pl.DataFrame, stage: Stage
) -> None:
    """Stage judgements under their vectors, with their marked errors. vectors: result of `stage_vectors`."""
    if judgements.is_empty():
        return
    judged = judgements.with_columns(group=_group(contents)).join(
        vectors.filter(level="seg").select("vector_no", "group", "kind", "scorer", "system"),
        on=["group", "kind", "scorer", "system"],
        how="left",
        maintain_order="left",
    )
    judged = judged.with_columns(
        judgement_no=pl.Series(list(stage.batch.new_judgements(judged.height)), dtype=pl.Int32)
    )
    stage.add(
        "judgement",
        judged.select(
            "judgement_no",
            "vector_no",
            pl.col("number").cast(pl.Int32).alias("segment"),
            "rater",
            "item",
            "value",
            pl.col("n").cast(pl.Int32),
            "time",
            "status",
        ),
    )
    ratings = ratings.join(
        judged.select("file_no", "judgement", "judgement_no"), on=["file_no", "judgement"], maintain_order="left"
    )
    stage.add(
        "span",
        ratings.select(
            "judgement_no",
            "category",
            "severity",
            "weight",
            pl.col("span_start").cast(pl.Int32),
            pl.col("span_end").cast(pl.Int32),
            "is_source_error",
        ),
    )


def stage_preferences(
    contents: Sequence[Content], preferences: pl.DataFrame, vectors: pl.DataFrame, stage: Stage
) -> None:
    """Stage preferences under the vectors of their two outputs. vectors: result of `stage_vectors`."""
    if preferences.is_empty():
        return
    of_system = vectors.filter(level="seg").select("group", "kind", "scorer", "system", "vector_no")
    rows = preferences.with_columns(group=_group(contents))
    for side in ("a", "b"):
        rows = rows.join(
            of_system.rename({"system": f"system_{side}", "vector_no": f"vector_{side}"}),
            on=["group", "kind", "scorer", f"system_{side}"],
            maintain_order="left",
        )
    stage.add(
        "preference",
        rows.select(
            "vector_a",
            "vector_b",
            pl.col("number").cast(pl.Int32).alias("segment"),
            pl.col("ranking").cast(pl.Int32),
            "rater",
            "answer",
            pl.col("is_same_output").fill_null(False),
        ),
    )
