"""Differences between two warehouses, and the rankings that differ because of them."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from metaeval.kernels.arrays.checks import EQUAL
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options
from metaeval.results.answer import Result
from metaeval.results.signature import stamped
from metaeval.results.study import ranking, study
from metaeval.studies.ranking.rankings import named
from queries.differences import Differences, differences
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.progress import Progress
from warehouse.wording import are

_RANKED = ("evaluation sets", "systems", "metrics", "humans")
_SCORED = ("segments", "metric scores", "human scores", "system scores")
_SHOWN = 3  # names in a row that counts
_LONGEST = 80  # characters of one of them
_COLUMNS = ("testset", "lp", "what", "name", "added", "gone", "changed", "before", "after", "difference", "detail")


def warehouse_differences(
    before: Warehouse,
    after: Warehouse,
    measures: Sequence[Measure],
    *,
    testset: str | None = None,
    lp: str | None = None,
    each: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Compare two warehouses, and the rankings of each evaluation set whose scores, metrics or systems differ.

    measures: of the rankings; none for no rankings. testset, lp: only there. each: a row for each source, system,
        scorer and so on, instead of one that counts those of a kind.
    Columns testset, lp, what, name, added, gone, changed (numbers of things or scores), before, after, difference (of
        rankings and of the score that changed most) and detail.
    Facts: is_equal; named and counted (see `Differences`); rankings: metrics whose value or rank differs, largest
        difference first within a measure: testset, lp, measure, metric, before, after, rank_before, rank_after (NULL
        if it was not ranked).
    Raises QuestionError: see `differences`.
    """
    found = differences(before, after, testset, lp, progress)
    touched = _touched(found) if measures else []
    rows: list[tuple[Any, ...]] = []
    notes: list[str] = []
    unranked: list[tuple[str, str]] = []
    for number, evalset in enumerate(touched):
        if progress is not None:
            progress(f"{evalset[0]} {evalset[1]}: rankings", number, len(touched))
        for measure in measures:
            answers = [_ranking(warehouse, evalset, measure) for warehouse in (before, after)]
            reasons = [answer for answer in answers if isinstance(answer, str)]
            if len(reasons) == len(answers):
                unranked.append(evalset)
                continue
            for when, answer in zip(("before", "after"), answers, strict=True):
                if isinstance(answer, str):
                    notes.append(f"{evalset[0]} {evalset[1]} has no ranking by {measure} {when}: {answer}")
            rows += _changed_ranks(evalset, measure, *({} if isinstance(one, str) else one for one in answers))
    if unranked:
        places = list(dict.fromkeys(unranked))
        notes.append(f"{named(places)} {are(len(places), have=True)} no ranking before and after")
    drawn = [measure for measure in measures if measure.n_draws]
    parts = stamped(
        ("diff", " ".join(name for name in (testset, lp) if name) or "all"),
        ("rankings", ",".join(map(str, measures)) or None),
        ("n_ranked", len(touched) if measures else None),
        ("resamples", drawn[0].n_draws if drawn else None),
        ("seed", Options().seed if drawn else None),
    )
    rankings = _rankings_frame(rows)
    frames = [_things(found.named, each), _counts(found.counted, each), _ranks(rankings)]
    frame = pl.concat(frames).sort("testset", "lp", maintain_order=True)
    facts = {"is_equal": found.is_equal, "named": found.named, "counted": found.counted, "rankings": rankings}
    return Result(frame, parts, tuple(notes), facts)


def _touched(found: Differences) -> list[tuple[str, str]]:
    """Evaluation sets in both warehouses with a difference that rankings may depend on."""
    kinds = [(found.named, _RANKED), (found.counted, _SCORED)]
    there = {
        row
        for frame, names in kinds
        for row in frame.filter(pl.col("what").is_in(names)).select("testset", "lp").rows()
    }
    return [evalset for evalset in found.evalsets if evalset in there]


def _ranking(
    warehouse: Warehouse, evalset: tuple[str, str], measure: Measure
) -> dict[str, tuple[float | None, int | None]] | str:
    """Value and rank of each metric, as `rank` gives them; or why there are none."""
    try:
        found = ranking(study(warehouse, Slice(*evalset), [measure], Options()))
    except QuestionError as error:
        return error.reason
    ranks = {metric: (value, rank) for metric, value, rank in found.select("metric", "value", "rank").iter_rows()}
    return ranks or "no metric can be ranked"


def _changed_ranks(
    evalset: tuple[str, str],
    measure: Measure,
    before: dict[str, tuple[float | None, int | None]],
    after: dict[str, tuple[float | None, int | None]],
) -> list[tuple[Any, ...]]:
    """Rows of `rankings` for the metrics that differ by more than rounding, or in rank; largest difference first."""
    rows = []
    for metric in sorted({*before, *after}):
        (value, rank), (value_after, rank_after) = (side.get(metric, (None, None)) for side in (before, after))
        both = value is not None and value_after is not None
        size = abs(value_after - value) if value is not None and value_after is not None else 0.0
        is_same = size <= EQUAL and rank == rank_after if both else value is value_after and rank == rank_after
        if is_same and (metric in before) == (metric in after):
            continue
        key = (not both, -size, -abs((rank_after or 0) - (rank or 0)), metric)
        rows.append((key, (*evalset, str(measure), metric, value, value_after, rank, rank_after)))
    return [row for _, row in sorted(rows)]


def _rankings_frame(rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    schema: dict[str, Any] = {
        **dict.fromkeys(("testset", "lp", "measure", "metric"), pl.String),
        **dict.fromkeys(("before", "after"), pl.Float64),
        **dict.fromkeys(("rank_before", "rank_after"), pl.Int64),
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def _things(frame: pl.DataFrame, each: bool) -> pl.DataFrame:
    """Rows for named things: counted by kind, with the first names, or each with its details."""
    changes = [(pl.col("change") == name).cast(pl.Int64).alias(name) for name in ("added", "gone", "changed")]
    frame = frame.with_columns(*changes)
    if each:
        words = pl.concat_str(pl.col("before").fill_null(""), pl.col("after").fill_null(""), separator=" → ")
        detail = pl.when(pl.col("change") == "changed").then(words)
        return _columns(frame.with_columns(detail=detail).drop("before", "after"))
    names = _short().filter(pl.col("name") != "").unique(maintain_order=True)
    more = names.len().cast(pl.Int64) - _SHOWN
    counted = frame.group_by("testset", "lp", "what", maintain_order=True).agg(
        pl.col("added", "gone", "changed").sum(), detail=names.head(_SHOWN).str.join(", "), more=more
    )
    shown = pl.when(pl.col("more") > 0).then(pl.format("{} and {} more", "detail", "more")).otherwise("detail")
    return _columns(counted.with_columns(detail=pl.when(pl.col("detail") != "").then(shown)).drop("more"))


def _short() -> pl.Expr:
    """Names cut to one line; for a result, whose name is its signature, what was computed."""
    name = pl.when(pl.col("what") == "results").then(pl.col("name").str.split(" ").list.first()).otherwise("name")
    return pl.when(name.str.len_chars() > _LONGEST).then(pl.format("{}…", name.str.head(_LONGEST))).otherwise(name)


def _counts(frame: pl.DataFrame, each: bool) -> pl.DataFrame:
    """Rows for scores and everything else that is counted: by kind, or by kind and scorer."""
    where = pl.concat_str("system", "unit", separator=", ", ignore_nulls=True)
    frame = frame.with_columns(
        difference=pl.col("after") - pl.col("before"),
        detail=pl.when(pl.col("system").is_not_null()).then(pl.format("largest: {}", where)),
    )
    if each:
        return _columns(frame)
    keys = ["testset", "lp", "what"]
    of_scorer = pl.concat_str(pl.lit("largest: "), "name", pl.lit(", "), where)
    largest = (
        frame.filter(pl.col("system").is_not_null())
        .with_columns(detail=of_scorer)
        .sort(pl.col("difference").abs(), "name", descending=[True, False])
        .unique(keys, keep="first", maintain_order=True)
        .select(*keys, "before", "after", "difference", "detail")
    )
    counts = frame.group_by(keys, maintain_order=True).agg(pl.col("added", "gone", "changed").sum())
    return _columns(counts.join(largest, on=keys, how="left", maintain_order="left"))


def _ranks(frame: pl.DataFrame) -> pl.DataFrame:
    was, now = (pl.coalesce(pl.format("rank {}", name), pl.lit("unranked")) for name in ("rank_before", "rank_after"))
    return _columns(
        frame.with_columns(
            what=pl.format("ranking by {}", "measure"),
            name="metric",
            difference=pl.col("after") - pl.col("before"),
            detail=pl.concat_str(was, now, separator=" → "),
        )
    )


def _columns(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with the columns of `warehouse_differences`."""
    numbers = {**dict.fromkeys(("added", "gone", "changed"), pl.Int64), **dict.fromkeys(_COLUMNS[7:10], pl.Float64)}
    return frame.select(
        (pl.col(name) if name in frame.columns else pl.lit(None)).cast(numbers.get(name, pl.String)).alias(name)
        for name in _COLUMNS
    )
