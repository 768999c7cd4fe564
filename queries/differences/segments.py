"""Segments of two warehouses, matched by their lines, or by document and index where lines are not known."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from queries.differences.beside import EVALSET, PART, beside


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
