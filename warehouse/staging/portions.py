"""The scores of the files of an evaluation set in portions, so that a large table is never spelled out at once."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import polars as pl

from warehouse.names import REFERENCE_FREE
from warehouse.readers.compact import plain
from warehouse.readers.contents import Content
from warehouse.readers.records import columns

_ROWS = 250_000  # of a portion, but for vectors that have more
_NAMES = ("kind", "scorer", "reference", "system")


def scorer_name() -> pl.Expr:
    """A metric with the reference that it compared with, as in `BLEU-refA`; a human score by its name."""
    metric = pl.format("{}-{}", "scorer", pl.col("reference").fill_null(REFERENCE_FREE))
    return pl.when(pl.col("kind") == "metric").then(metric).otherwise("scorer")


class Portions:
    """The scores of some files: plain frames with `file_no`; those of errors are turned around, so that more is better.

    Where there are few rows, all of them are the only portion.
    """

    def __init__(self, contents: Sequence[Content]) -> None:
        self._files = [(content, _scores(content)) for content in contents]
        self._is_one = sum(scores.height for _, scores in self._files) <= _ROWS

    def in_order(self) -> Iterator[pl.DataFrame]:
        """All rows in the order of the files and of their lines."""
        if self._is_one:
            yield _together(self._files)
            return
        for content, scores in self._files:
            yield from (_together([(content, rows)]) for rows in scores.iter_slices(_ROWS))

    def by_vector(self, names: Mapping[str, str], first: Collection[tuple[str, str]]) -> Iterator[pl.DataFrame]:
        """All rows, those of one scorer and system together, in the order of the files and of their lines.

        names: the system of each spelling. first: scorers and systems whose rows are all in the first portion.
        """
        if self._is_one:
            yield from self.in_order()
            return
        portions = _portions([scores for _, scores in self._files], names, first)
        places = [_places(scores, portions) for _, scores in self._files]
        for portion in range(portions["portion"].n_unique()):
            chosen = [
                (content, scores[order[starts[portion] : starts[portion + 1]]])
                for (content, scores), (order, starts) in zip(self._files, places, strict=True)
            ]
            yield _together(chosen)


def _scores(content: Content) -> pl.DataFrame:
    assert content.records is not None
    assert content.records.scores is not None
    return content.records.scores


def _together(parts: Sequence[tuple[Content, pl.DataFrame]]) -> pl.DataFrame:
    """Plain rows of some files, one below the other."""
    frames = []
    for content, rows in [part for part in parts if part[1].height] or parts[:1]:
        frame = plain(rows, columns("scores")).with_columns(file_no=pl.lit(content.file_no, dtype=pl.Int64))
        if content.claim.is_negated:
            frame = frame.with_columns(value=0.0 - pl.col("value"), is_negated=pl.lit(True))
        frames.append(frame)
    return pl.concat(frames)


def _portions(
    files: Sequence[pl.DataFrame], names: Mapping[str, str], first: Collection[tuple[str, str]]
) -> pl.DataFrame:
    """_NAMES and the number of the portion that their rows are in, from 0."""
    texts = pl.col(_NAMES).cast(pl.String)
    counted = [
        rows.group_by(_NAMES).len().with_columns(texts)
        for scores in files
        for rows in scores.select(_NAMES).iter_slices(_ROWS)
    ]
    found = pl.concat(counted).group_by(_NAMES).agg(pl.col("len").sum().cast(pl.Int64))
    found = found.with_columns(full=scorer_name(), named=pl.col("system").replace_strict(names, return_dtype=pl.String))
    schema = {"full": pl.String, "named": pl.String}
    apart = pl.DataFrame(list(first), schema=schema, orient="row").with_columns(is_late=pl.lit(False))
    found = found.join(apart, on=["full", "named"], how="left").with_columns(pl.col("is_late").fill_null(True))
    vectors = found.group_by("is_late", "kind", "full", "named").agg(pl.col("len").sum())
    vectors = vectors.sort("is_late", "kind", "full", "named")
    before = pl.when("is_late").then(pl.col("len").cum_sum() - pl.col("len")).otherwise(0)
    vectors = vectors.with_columns(portion=(before // _ROWS).rank("dense") - 1)
    return found.join(vectors, on=["kind", "full", "named"], how="left").select(
        *_NAMES, pl.col("portion").cast(pl.Int64)
    )


def _places(scores: pl.DataFrame, portions: pl.DataFrame) -> tuple[pl.Series, list[int]]:
    """The numbers of the rows, portion after portion; and where each portion begins, and the last one ends."""
    import numpy as np  # here: a load of known files needs none

    numbers = [np.empty(0, dtype=np.uint16)]
    for rows in scores.select(pl.col(_NAMES)).iter_slices(_ROWS):
        plain_rows = rows.select(pl.col(_NAMES).cast(pl.String))
        found = plain_rows.join(portions, on=_NAMES, how="left", nulls_equal=True, maintain_order="left")
        numbers.append(found["portion"].to_numpy().astype(np.uint16))
    portion = np.concatenate(numbers)
    order = np.argsort(portion, kind="stable").astype(np.uint32)
    ends = np.bincount(portion, minlength=portions["portion"].n_unique()).cumsum()
    return pl.Series(order), [0, *ends.tolist()]
