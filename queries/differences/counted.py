"""What is counted: scores, texts and judgements, compared by digests first; those that differ are then read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from queries.catalog import ask
from warehouse import Warehouse
from warehouse.progress import Progress

if TYPE_CHECKING:
    Groups = Iterator[tuple[tuple[str, str], pl.DataFrame]]

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
        after.with_columns(is_after=pl.lit(True)), on=key, how="full", coalesce=True, nulls_equal=True, suffix="_after"
    )


def in_order(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows by evaluation set, kind and name."""
    order = {what: place for place, what in enumerate(KINDS)}
    place = pl.col("what").replace_strict(order, return_dtype=pl.Int64)
    return frame.sort(*EVALSET, place, "name", nulls_last=True)


@dataclass(frozen=True)
class MatchedSegments:
    """Segments of both warehouses beside each other.

    beside: EVALSET, place, and each side's columns. renumbered: evaluation sets in which a number stands for another
    segment in the other warehouse, with the numbers before for those after.
    """

    beside: pl.DataFrame
    renumbered: Mapping[tuple[str, str], pl.DataFrame]

    @classmethod
    def of(cls, before: pl.DataFrame, after: pl.DataFrame) -> "MatchedSegments":
        of_documents = _placed_by_documents(before, after)
        is_by_line = pl.col("position").is_not_null() & pl.col("is_by_document").is_null()
        place = (
            pl.when(is_by_line)
            .then(pl.col("position").cast(pl.String))
            .otherwise(pl.concat_str("document", "index_in_document", separator=PART))
            .fill_null(pl.format("segment {}", "segment"))
        )
        placed = [
            side.join(of_documents, on=EVALSET, how="left").with_columns(place=place).drop("is_by_document")
            for side in (before, after)
        ]
        laid = beside((*EVALSET, "place"), *placed)
        numbers = laid.select(*EVALSET, "place", "segment", "segment_after")
        here = numbers.filter(pl.col("segment").is_not_null()).select(*EVALSET, "segment", "place")
        there = numbers.filter(pl.col("segment_after").is_not_null())
        clashes = here.join(there, left_on=[*EVALSET, "segment"], right_on=[*EVALSET, "segment_after"]).filter(
            pl.col("place") != pl.col("place_right")
        )
        renumbered = {}
        for key in clashes.select(EVALSET).unique().iter_rows():
            mine = there.filter(testset=key[0], lp=key[1])
            number = pl.coalesce("segment", -pl.col("segment_after"))
            renumbered[key] = mine.select(segment="segment_after", number=number)
        return cls(laid, renumbered)

    def counted(self) -> pl.DataFrame:
        """How many segments of each evaluation set were added, are gone, or have another place, document or domain."""
        known = ("position", "document", "index_in_document", "domain")
        differs = pl.any_horizontal(pl.col(name).ne_missing(pl.col(f"{name}_after")) for name in known)
        is_new, is_gone = pl.col("is_before").is_null(), pl.col("is_after").is_null()
        return (
            self.beside.group_by(EVALSET)
            .agg(added=is_new.sum(), gone=is_gone.sum(), changed=(differs & ~is_new & ~is_gone).sum())
            .with_columns(what=pl.lit("segments"))
        )

    def numbered(self, rows: pl.DataFrame, key: tuple[str, str]) -> pl.DataFrame:
        """Rows of the second warehouse with the numbers that their segments have in the first, in `number`."""
        if key not in self.renumbered or "segment" not in rows.columns:
            return rows.with_columns(number="segment")
        found = rows.join(self.renumbered[key], on="segment", how="left")
        return found.with_columns(number=pl.coalesce("number", -pl.col("segment")))


def _placed_by_documents(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Evaluation sets whose segments are told by document and index: not all have a line, each has those to itself."""
    document = ("document", "index_in_document")
    is_told = pl.all_horizontal(pl.col(document).is_not_null()).all()
    return (
        pl.concat([before.with_columns(side=pl.lit(0)), after.with_columns(side=pl.lit(1))])
        .group_by(EVALSET)
        .agg(
            has_lines=pl.col("position").is_not_null().all(),
            has_documents=is_told & (pl.struct("side", *document).n_unique() == pl.len()),
        )
        .filter(~pl.col("has_lines") & pl.col("has_documents"))
        .select(*EVALSET, is_by_document=pl.lit(True))
    )


VECTOR = (*EVALSET, "kind", "scorer", "system", "level")
TEXT = (*EVALSET, "kind", "name")
COUNTS = ("added", "gone", "changed")
_SCORER = ("what", *EVALSET, "scorer")
_LEVELS = {"sys": "system scores", "domain": "domain scores", "doc": "document scores"}
_SEGMENT_SCORES = {"metric": "metric scores", "human": "human scores"}
_AT_ONCE = 400_000  # values read of a warehouse, which bounds the memory
_LARGEST = ("before", "after", "system", "unit")


def one_kind(part: pl.DataFrame) -> pl.DataFrame:
    """A part of the answer with the columns of all: see `Differences.counted`."""
    schema: dict[str, Any] = {
        **dict.fromkeys(("what", *EVALSET, "name"), pl.String),
        **dict.fromkeys(COUNTS, pl.Int64),
        **dict.fromkeys(("before", "after"), pl.Float64),
        **dict.fromkeys(("system", "unit"), pl.String),
    }
    columns = [
        (pl.col(name) if name in part.columns else pl.lit(None)).cast(kind).alias(name) for name, kind in schema.items()
    ]
    return part.select(columns)


def score_differences(
    both: Sequence[Warehouse], vectors: pl.DataFrame, segments: MatchedSegments, progress: Progress | None
) -> Iterator[pl.DataFrame]:
    """Scores of each scorer that differ, with the largest change of one. vectors: of both, `beside` each other."""
    of_segments = pl.col("kind").replace_strict(_SEGMENT_SCORES, default=None, return_dtype=pl.String)
    of_others = pl.col("level").replace_strict(_LEVELS, default=None, return_dtype=pl.String)
    vectors = vectors.with_columns(what=pl.when(pl.col("level") == "seg").then(of_segments).otherwise(of_others))
    found = [_one_sided(vectors, "n").with_columns(pl.lit(None, kind).alias(name) for name, kind in _largest().items())]
    for key, rows in _to_read(vectors, "n", "digest", segments, "scores", progress):
        here, there = (_read(*one, "diff_values", rows) for one in zip(both, ("", "_after"), strict=True))
        joined = here.with_columns(number="segment").join(
            segments.numbered(there, key),
            on=["row", "number", "unit"],
            how="full",
            coalesce=True,
            nulls_equal=True,
            suffix="_after",
        )
        found.append(rows.join(_changed_values(joined), on="row").select(found[0].columns))
    yield _by_scorer(pl.concat(found))


def _largest() -> dict[str, Any]:
    return {"before": pl.Float64, "after": pl.Float64, "unit": pl.String, "size": pl.Float64}


def _changed_values(joined: pl.DataFrame) -> pl.DataFrame:
    """For each row how many values were added, are gone, changed, and the largest change."""
    size = (pl.col("value_after") - pl.col("value")).abs()
    unit = pl.coalesce(pl.format("segment {}", "segment_after"), "unit")
    changed = joined.filter(pl.col("value") != pl.col("value_after")).select(
        "row", "number", before="value", after="value_after", unit=unit, size=size
    )
    largest = changed.sort("row", "size", "number", "unit", descending=[False, True, False, False]).unique(
        "row", keep="first", maintain_order=True
    )
    counts = joined.group_by("row").agg(
        added=pl.col("value").is_null().sum().cast(pl.Int64),
        gone=pl.col("value_after").is_null().sum().cast(pl.Int64),
        changed=(pl.col("value") != pl.col("value_after")).sum().cast(pl.Int64),
    )
    return counts.join(largest.drop("number"), on="row", how="left")


def _by_scorer(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of vectors together for each scorer, with the largest change of all."""
    counts = rows.group_by(_SCORER).agg(pl.col(COUNTS).sum())
    largest = (
        rows.filter(pl.col("size").is_not_null())
        .sort("size", *VECTOR, descending=[True, *(False for _ in VECTOR)])
        .unique(_SCORER, keep="first", maintain_order=True)
        .select(*_SCORER, *_LARGEST)
    )
    return counts.join(largest, on=_SCORER, how="left", nulls_equal=True).rename({"scorer": "name"})


def text_differences(
    both: Sequence[Warehouse], texts: pl.DataFrame, segments: MatchedSegments, progress: Progress | None
) -> Iterator[pl.DataFrame]:
    """Texts that differ, of each kind and reference or system. texts: of both, `beside` each other."""
    named = pl.concat_str("kind", "name", separator=" ").str.strip_chars()
    texts = texts.with_columns(what=pl.lit("texts"))
    yield _one_sided(texts, "n").with_columns(name=named)
    for key, rows in _to_read(texts, "n", "digest", segments, "texts", progress):
        wanted = rows.select("kind", "name", "row")
        here, there = (
            ask(warehouse, "diff_text_segments", testset=key[0], lp=key[1]).join(wanted, on=["kind", "name"])
            for warehouse in both
        )
        joined = here.with_columns(number="segment").join(
            segments.numbered(there, key), on=["row", "number"], how="full", coalesce=True, suffix="_after"
        )
        counts = joined.group_by("row").agg(
            added=pl.col("digest").is_null().sum(),
            gone=pl.col("digest_after").is_null().sum(),
            changed=(pl.col("digest") != pl.col("digest_after")).sum(),
        )
        yield rows.join(counts, on="row").with_columns(name=named)


def judgement_differences(
    both: Sequence[Warehouse], vectors: pl.DataFrame, segments: MatchedSegments, progress: Progress | None
) -> Iterator[pl.DataFrame]:
    """Judgements behind each human score that differ.

    One annotator's judgements of one output that are others than before are changed; what is left is added or gone.
    """
    vectors = vectors.with_columns(what=pl.lit("judgements"))
    found = [_one_sided(vectors, "n_judgements").select(*_SCORER, *COUNTS)]
    for key, rows in _to_read(vectors, "n_judgements", "judgement_digest", segments, "judgements", progress):
        here, there = (_read(*one, "diff_judgements", rows) for one in zip(both, ("", "_after"), strict=True))
        before, after = (
            side.group_by("row", "number", "who", "digest").agg(n=pl.len().cast(pl.Int64))
            for side in (here.with_columns(number="segment"), segments.numbered(there, key))
        )
        n, n_after = pl.col("n").fill_null(0), pl.col("n_after").fill_null(0)
        counts = (
            before.join(after, on=["row", "number", "who", "digest"], how="full", coalesce=True, suffix="_after")
            .group_by("row", "number", "who")
            .agg(gone=(n - n_after).clip(0).sum(), added=(n_after - n).clip(0).sum())
            .with_columns(changed=pl.min_horizontal("gone", "added"))
            .with_columns(pl.col("gone", "added") - pl.col("changed"))
            .group_by("row")
            .agg(pl.col(COUNTS).sum())
        )
        found.append(rows.join(counts, on="row").select(*_SCORER, *COUNTS))
    yield pl.concat(found).group_by(_SCORER).agg(pl.col(COUNTS).sum()).rename({"scorer": "name"})


def _one_sided(frame: pl.DataFrame, n: str) -> pl.DataFrame:
    """Rows of one warehouse alone, counted as added or gone."""
    is_new, is_gone = pl.col("is_before").is_null(), pl.col("is_after").is_null()
    return frame.filter(is_new | is_gone).with_columns(
        added=pl.when(is_new).then(f"{n}_after").otherwise(0).cast(pl.Int64),
        gone=pl.when(is_gone).then(n).otherwise(0).cast(pl.Int64),
        changed=pl.lit(0, pl.Int64),
    )


def _to_read(
    frame: pl.DataFrame, n: str, digest: str, segments: MatchedSegments, what: str, progress: Progress | None
) -> "Groups":
    """Rows in both warehouses that differ, or may differ as segments are numbered otherwise, some at a time.

    Each lot is of one evaluation set, the key, and numbered in `row`.
    """
    differs = pl.col(digest).ne_missing(pl.col(f"{digest}_after"))
    others = pl.DataFrame(list(segments.renumbered), schema=dict.fromkeys(EVALSET, pl.String), orient="row")
    frame = frame.join(others.with_columns(is_renumbered=pl.lit(True)), on=EVALSET, how="left")
    may_differ = pl.col("is_renumbered").fill_null(False) & pl.col(digest).is_not_null()
    lots = (
        frame.filter("is_before", "is_after")
        .filter(differs | may_differ)
        .with_columns(lot=pl.max_horizontal(n, f"{n}_after").cum_sum().over(EVALSET) // _AT_ONCE)
        .partition_by(*EVALSET, "lot", as_dict=True)
    )
    for number, key in enumerate(sorted(lots)):
        testset, lp, _ = map(str, key)
        if progress is not None:
            progress(f"{testset} {lp}: {what}", number, len(lots))
        yield (testset, lp), lots[key].with_row_index("row")


def _read(warehouse: Warehouse, side: str, question: str, rows: pl.DataFrame) -> pl.DataFrame:
    """What a warehouse has of the vectors of these rows, with their `row`."""
    vector = f"vector_id{side}"
    found = ask(warehouse, question, vectors=rows[vector].to_list())
    return found.join(rows.select("row", vector_id=vector), on="vector_id").drop("vector_id")
