"""Differences between two warehouses by names and content, ignoring identifiers, file locations and times."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from queries.catalog import ask
from queries.differences.counted import PART, both_sides, counted_differences, in_order
from warehouse import QuestionError, Warehouse
from warehouse.errors import unknown_evalset
from warehouse.progress import Progress


@dataclass(frozen=True)
class Differences:
    """Differences between two warehouses; both frames are empty if there are none.

    named: named things that were added, removed or changed: what, testset, lp, name, change, before, after (the facts
    that differ, in words; NULL if absent).
    counted: segments, texts, scores and judgements: what, testset, lp, name (scorer, or kind of text and reference or
        system; NULL for segments), added, gone, changed; and, for scores, the largest change of one: before, after,
        system, unit (segment, domain or document).
    evalsets: (test set, language pair) present in both.
    """

    named: pl.DataFrame
    counted: pl.DataFrame
    evalsets: tuple[tuple[str, str], ...]

    @property
    def is_equal(self) -> bool:
        return self.named.is_empty() and self.counted.is_empty()


def differences(
    before: Warehouse,
    after: Warehouse,
    testset: str | None = None,
    lp: str | None = None,
    progress: Progress | None = None,
) -> Differences:
    """Compare two warehouses, or one test set, language pair or evaluation set of them.

    Raises QuestionError: the same file twice; neither warehouse has such a test set or language pair.
    """
    if before.path.resolve() == after.path.resolve():
        raise QuestionError(f"{before.path} and {after.path} are the same file; name two warehouses")
    both = (before, after)
    here, there = ({*warehouse.rows(_EVALSETS)} for warehouse in both)
    if (error := unknown_evalset(testset, lp, here | there)) is not None:
        raise error
    asked = sorted({name for name, pair in here | there if testset in (None, name) and lp in (None, pair)})
    parts = []
    for number, name in enumerate(asked):
        if progress is not None:
            progress(name, number, len(asked))
        parts.append(counted_differences(both, name, lp))
    named = named_differences(*(ask(warehouse, "diff_named", testset=testset, lp=lp) for warehouse in both))
    shared = sorted((name, pair) for name, pair in here & there if name in asked and lp in (None, pair))
    return Differences(named, in_order(pl.concat(parts)), tuple(shared))


_EVALSETS = "SELECT t.name, e.lp FROM evalset AS e JOIN testset AS t ON t.testset_id = e.testset_id"


_THING = ("what", "testset", "lp", "name")


def named_differences(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Named things that differ; see `Differences.named`."""
    joined = both_sides(_THING, before, after).filter(pl.col("fields").ne_missing(pl.col("fields_after")))
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
    """The facts about a thing that differ from those about the other; all facts if there is no other."""
    return ", ".join(part for part in mine if other is None or part not in other)


def _without_moved(joined: pl.DataFrame) -> pl.DataFrame:
    """Without sources that differ only in name: same content and reader, loaded from another location."""
    nth = pl.int_range(pl.len()).over("testset", "lp", "content")
    sources = joined.filter(what="sources")
    gone = sources.filter(pl.col("fields_after").is_null()).with_columns(content="fields").with_columns(nth=nth)
    new = sources.filter(pl.col("fields").is_null()).with_columns(content="fields_after").with_columns(nth=nth)
    moved = gone.join(new, on=["testset", "lp", "content", "nth"])
    names = pl.concat([moved.select("testset", "lp", "name"), moved.select("testset", "lp", name="name_right")])
    return joined.join(names.with_columns(what=pl.lit("sources")), on=_THING, how="anti")
