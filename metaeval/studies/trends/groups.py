"""Groups of metrics over the years (families, versions, the best of each kind) on every evaluation set."""

from collections.abc import Sequence
from typing import Any, Literal, get_args

import polars as pl

from metaeval.results.answer import attributes, or_none
from metaeval.studies.trends.history import Entry, History
from metaeval.studies.trends.points import Point
from warehouse.facts.human_protocols import protocol_of
from warehouse.facts.metrics import MetricFacts, describe, folded

By = Literal["family", "version", "kind", "best"]
BYS: tuple[By, ...] = get_args(By)
NO_SUCH_METRIC = "no such metric"
LEARNED = ("trained", "llm", "unknown")  # kinds that may have seen human scores
CHOSEN: tuple[By, ...] = ("kind", "best")  # groups that are shown by the member with the best value
OF_ONE = ("low", "high", "gap_low", "gap_high", "gap_p")  # what holds for a metric that was named beforehand
COLUMNS = (
    *("year", "testset", "lp", "human", "protocol", "measure", "by", "group", "metric", "base_metric", "kind"),
    *("version", "published", "n_metrics", "value", "error", "low", "high"),
    *("anchor", "gap", "gap_low", "gap_high", "gap_error", "gap_p"),
    *("n_systems", "n_segments", "human_sd", "significant_pairs", "tied_pairs", "coverage"),
    *("ceiling", "ceiling_low", "ceiling_high", "ceiling_source", "bridge", "contaminated", "reason", "signature"),
)


def is_contaminated(facts: MetricFacts, year: int | None) -> bool | None:
    """Whether a metric was trained on human scores of a campaign's year; None if unknown.

    >>> is_contaminated(describe("COMETKiwi"), 2020), is_contaminated(describe("BLEU"), 2020)
    (True, False)
    """
    if facts.training_year is None:
        return None if facts.kind in LEARNED else False
    return None if year is None else facts.training_year >= year


def grouped(history: History, by: Sequence[By] = ("family", "kind")) -> pl.DataFrame:
    """One row per evaluation set, human score and group, sorted by year, test set, language pair and group.

    by: "family": each family is represented by the member submitted in most years (ties: the one named like the family,
    then reference-based metrics, then the shortest name), so the choice does not depend on values. "version": every
    metric separately. "kind": the best of each kind, reference-based and reference-free; "best": the best of all. The
    last two are maxima over n_metrics, so the columns `OF_ONE` are null if that is more than 1.
    Columns: `COLUMNS`; `value` is null with a `reason` if it cannot be computed. bridge: the other human score, if a
    row uses only the systems judged by two human scores; null on official rows.
    """
    sets = pl.DataFrame(_set_rows(history), schema=_set_schema(), orient="row").lazy()
    metrics = pl.DataFrame(_metric_rows(history), schema=_metric_schema(), orient="row").lazy()
    excluded = pl.DataFrame(
        _excluded_rows(history), schema={**_fact_schema(), "reason": pl.String}, orient="row"
    ).lazy()
    parts = [_by(way, sets, metrics, excluded) for way in dict.fromkeys(by)]
    return (
        pl.concat(parts)
        .sort(
            "year",
            "testset",
            "lp",
            "group",
            pl.col("by").replace_strict({way: place for place, way in enumerate(BYS)}, return_dtype=pl.Int64),
            pl.col("bridge").is_not_null(),
            "human",
            "bridge",
            nulls_last=False,
        )
        .select(COLUMNS)
        .collect()
    )


def _by(way: By, sets: pl.LazyFrame, metrics: pl.LazyFrame, excluded: pl.LazyFrame) -> pl.LazyFrame:
    """All rows of one way of grouping."""
    named = _named(way, metrics).with_columns(n_metrics=pl.len().over("point", "group").cast(pl.Int64))
    chosen = _chosen(way, named)
    if way in CHOSEN:
        chosen = without_choice(chosen)
    groups = named.select("group").unique()
    reasons = (
        _named(way, excluded)
        .sort("point", "group", ~pl.col("is_namesake"), "base_metric")
        .group_by("point", "group", maintain_order=True)
        .agg(metric_reason=pl.concat_str(pl.col("base_metric"), pl.lit(": "), pl.col("reason")).first())
    )
    return (
        sets.join(groups, how="cross")
        .join(chosen, on=["point", "group"], how="left", maintain_order="left")
        .join(reasons, on=["point", "group"], how="left", maintain_order="left")
        .with_columns(
            by=pl.lit(way),
            reason=pl.when(pl.col("value").is_null()).then(
                pl.coalesce(
                    "set_reason",
                    "metric_reason",
                    pl.concat_str(pl.lit(f"{NO_SUCH_METRIC} in "), "testset", pl.lit(" "), "lp"),
                )
            ),
        )
    )


def without_choice(chosen: pl.LazyFrame) -> pl.LazyFrame:
    """Rows of groups represented by their best member, without columns that need a metric chosen in advance."""
    return chosen.with_columns(pl.when(pl.col("n_metrics") == 1).then(pl.col(name)).alias(name) for name in OF_ONE)


def _named(way: By, frame: pl.LazyFrame) -> pl.LazyFrame:
    """A frame with the group of each metric."""
    free = pl.when(pl.col("reference_free")).then(pl.lit(", reference-free")).otherwise(pl.lit(""))
    group = {
        "family": pl.col("family"),
        "version": pl.col("base_metric"),
        "kind": pl.concat_str("kind", free),
        "best": pl.lit("best"),
    }[way]
    return frame.with_columns(group=group)


def _chosen(way: By, named: pl.LazyFrame) -> pl.LazyFrame:
    """The metric that represents each group in each point."""
    if way == "family":
        years = (
            named.filter(pl.col("bridge").is_null())
            .group_by("family", "member")
            .agg(n_years=pl.col("year").n_unique().cast(pl.Int64))
        )
        named = named.join(years, on=["family", "member"], how="left").sort(
            "point",
            "group",
            -pl.col("n_years"),
            ~pl.col("is_namesake"),
            "reference_free",
            pl.col("base_metric").str.len_chars(),
            "metric",
        )
    else:
        named = named.sort("point", "group", -pl.col("value"), "metric")
    return (
        named.group_by("point", "group", maintain_order=True)
        .first()
        .drop("year", "bridge", "family", "member", "is_namesake", "reference_free", "n_years", strict=False)
    )


def _set_rows(history: History) -> list[dict[str, Any]]:
    """One row per point, and per evaluation set without any."""
    rows = []
    for entry in history.entries:
        row = {"year": entry.year, "testset": entry.testset, "lp": entry.lp, "measure": str(history.measure)}
        if not entry.history.points:
            rows.append({**row, "point": f"{entry.testset} {entry.lp}", "set_reason": entry.history.reason})
        rows += [{**row, **_of_point(entry, one)} for one in entry.history.points]
    return rows


def _key(entry: Entry, one: Point) -> str:
    return f"{entry.testset} {entry.lp} {one.human} {one.bridge}"


_OF_CONTEXT = ("human_sd", "significant_pairs", "tied_pairs", "coverage")
_OF_METRIC = ("value", "low", "high", "gap", "gap_low", "gap_high", "gap_error", "gap_p")


def _of_point(entry: Entry, one: Point) -> dict[str, Any]:
    context, ceiling = one.context, one.ceiling
    return {
        "point": _key(entry, one),
        "human": one.human,
        "protocol": protocol_of(one.human),
        **attributes(one, "bridge", "anchor", "signature"),
        **attributes(context, "n_systems", "n_segments"),
        **{name: or_none(getattr(context, name)) for name in _OF_CONTEXT},
        **({} if ceiling is None else {"ceiling_source": ceiling.source, "ceiling": or_none(ceiling.value)}),
        **({} if ceiling is None else {f"ceiling_{end}": or_none(getattr(ceiling, end)) for end in ("low", "high")}),
    }


def _metric_rows(history: History) -> list[dict[str, Any]]:
    """One row per metric of each point."""
    rows = []
    for entry in history.entries:
        for one in entry.history.points:
            key = _key(entry, one)
            for place, base in enumerate(one.base_names):
                facts = describe(base, entry.year)
                rows.append(
                    {
                        **_facts(key, base, facts, one.reference_free[place]),
                        "year": entry.year,
                        "bridge": one.bridge,
                        "metric": one.metrics[place],
                        "version": facts.version,
                        "published": facts.publication_year,
                        "contaminated": is_contaminated(facts, entry.year),
                        **{name: or_none(getattr(one, name)[place]) for name in _OF_METRIC},
                        "error": or_none(one.covariance[place, place] ** 0.5),
                    }
                )
    return rows


def _excluded_rows(history: History) -> list[dict[str, Any]]:
    """One row per metric without a value in a point."""
    return [
        {
            **_facts(_key(entry, one), base, (facts := describe(base, entry.year)), bool(facts.is_reference_free)),
            "reason": reason,
        }
        for entry in history.entries
        for one in entry.history.points
        for base, reason in one.excluded.items()
    ]


def _facts(key: str, base: str, facts: MetricFacts, reference_free: bool) -> dict[str, Any]:
    return {
        "point": key,
        "base_metric": base,
        "member": folded(base),
        "family": facts.family,
        "is_namesake": folded(base) == folded(facts.family),
        "kind": facts.kind,
        "reference_free": reference_free,
    }


def _fact_schema() -> dict[str, Any]:
    text = dict.fromkeys(("point", "base_metric", "member", "family"), pl.String)
    return {**text, "is_namesake": pl.Boolean, "kind": pl.String, "reference_free": pl.Boolean}


def _metric_schema() -> dict[str, Any]:
    numbers = ("value", "error", "low", "high", "gap", "gap_low", "gap_high", "gap_error", "gap_p")
    return {
        **_fact_schema(),
        "year": pl.Int64,
        **dict.fromkeys(("bridge", "metric", "version"), pl.String),
        "published": pl.Int64,
        "contaminated": pl.Boolean,
        **dict.fromkeys(numbers, pl.Float64),
    }


def _set_schema() -> dict[str, Any]:
    text = ("testset", "lp", "measure", "point", "set_reason", "human", "protocol", "bridge", "anchor")
    counts = ("n_systems", "n_segments")
    numbers = ("human_sd", "significant_pairs", "tied_pairs", "coverage", "ceiling", "ceiling_low", "ceiling_high")
    return {
        "year": pl.Int64,
        **dict.fromkeys(text, pl.String),
        **dict.fromkeys(counts, pl.Int64),
        **dict.fromkeys(numbers, pl.Float64),
        **dict.fromkeys(("ceiling_source", "signature"), pl.String),
    }
