"""A ranking as in a findings paper: one row per metric, one column per language pair, best and clusters marked."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from metaeval.kernels.arrays.checks import EQUAL, Floats, Ints
from metaeval.measures.measure import Measure

KEYS = ("measure", "testset", "lp", "domain", "phenomenon")


@dataclass(frozen=True)
class Wide:
    """metrics: the rows. groups, columns: of each column the heading above it ("" for none) and its own.

    values: (M, C), NaN = none. clusters: (M, C), 0 = none. best: (M, C), whether the value is the column's highest.
    """

    metrics: tuple[str, ...]
    groups: tuple[str, ...]
    columns: tuple[str, ...]
    values: Floats
    clusters: Ints
    best: npt.NDArray[np.bool_]

    @property
    def names(self) -> list[str]:
        """A name for each column that no other has."""
        return [" ".join(filter(None, both)) for both in zip(self.groups, self.columns, strict=True)]

    def frame(self) -> pl.DataFrame:
        """metric, and for each column its values and any clusters."""
        columns: dict[str, object] = {"metric": pl.Series(list(self.metrics), dtype=pl.String)}
        for place, name in enumerate(self.names):
            columns[name] = pl.Series(self.values[:, place]).fill_nan(None)
            if self.clusters[:, place].any():
                columns[f"cluster {name}"] = [int(number) or None for number in self.clusters[:, place]]
        return pl.DataFrame(columns)


def has_several_humans(frame: pl.DataFrame) -> bool:
    """Whether a measure has values by several human scores in one evaluation set."""
    if "human" not in frame.columns:
        return False
    per_column = frame.group_by("measure", "testset", "lp").agg(pl.col("human").n_unique())
    return bool((per_column["human"] > 1).any())


def wide(frame: pl.DataFrame) -> Wide:
    """Rows of `rank` as a wide table.

    frame: as of `ranked`, with a column domain if it is by domain. Values that do not vary are in no heading; measures
    are above test sets, test sets above language pairs, these above domains. Metrics are joined by their base name,
    or by their full name if a column has two of one base name. Those with a value in most columns come first, then
    those with the highest mean value; human scores come last, and are never the best.
    """
    keys = [key for key in KEYS if key in frame.columns]
    keys += ["human"] if has_several_humans(frame) else []
    varying = [key for key in keys if frame[key].n_unique() > 1] or ["lp"]
    keyed = frame.with_columns(metric=_names(frame, keys))
    headings = _headings(keyed, varying)
    metrics = keyed["metric"].unique(maintain_order=True).to_list()
    places = {heading: place for place, heading in enumerate(headings)}
    rows = {name: place for place, name in enumerate(metrics)}
    values = np.full((len(metrics), len(headings)), np.nan)
    clusters = np.zeros(values.shape, dtype=np.int64)
    ranked = np.zeros(values.shape, dtype=bool)
    for row in keyed.select("metric", "value", "rank", "cluster", pl.struct(varying).alias("key")).rows(named=True):
        at = rows[row["metric"]], places[tuple(row["key"][name] for name in varying)]
        values[at] = np.nan if row["value"] is None else row["value"]
        clusters[at] = row["cluster"] or 0
        ranked[at] = row["rank"] is not None
    there = ~np.isnan(values)
    n = there.sum(axis=1)
    means = np.where(there, values, 0.0).sum(axis=1) / np.maximum(n, 1)
    people = set(keyed.filter(kind="human")["metric"]) if "kind" in keyed.columns else set()
    order = sorted(
        range(len(metrics)), key=lambda place: (metrics[place] in people, -n[place], -means[place], metrics[place])
    )
    values, clusters = values[order], clusters[order]
    is_metric = np.array([metrics[place] not in people for place in order])[:, np.newaxis] & ranked[order]
    highest = np.max(np.where(np.isnan(values) | ~is_metric, -np.inf, values), axis=0, initial=-np.inf)
    return Wide(
        tuple(metrics[place] for place in order),
        tuple(" ".join(heading[:-1]) for heading in headings),
        tuple(heading[-1] for heading in headings),
        values,
        clusters,
        np.asarray(values >= highest - EQUAL) & ~np.isnan(values) & is_metric,
    )


def _headings(frame: pl.DataFrame, varying: list[str]) -> list[tuple[str, ...]]:
    """The columns: upper headings in the order of the rows, and the lower headings below each."""
    orders = [{name: place for place, name in enumerate(frame[key].unique(maintain_order=True))} for key in varying]
    found = frame.select(varying).unique(maintain_order=True).rows()
    return sorted(found, key=lambda heading: [order[name] for order, name in zip(orders, heading, strict=True)])


def _names(frame: pl.DataFrame, keys: list[str]) -> pl.Series:
    """The base name of each row's metric; full names of those that would else be twice in a column."""
    column = [*keys, "base_metric"]
    doubled = frame.filter(pl.struct(column).is_duplicated())["base_metric"].unique().implode()
    named = pl.when(pl.col("base_metric").is_in(doubled)).then(pl.col("metric")).otherwise(pl.col("base_metric"))
    return frame.select(metric=pl.coalesce(named, "metric"))["metric"]


def by_metric(frame: pl.DataFrame, measures: Sequence[Measure]) -> pl.DataFrame:
    """One row per metric, best by the first measure first; for each measure its value, rank and any tie threshold.

    Where a value is defined in fewer than half of the groups, a column has their number.
    """
    several = ["testset", "lp"] if frame.select("testset", "lp").n_unique() > 1 else []
    several += [name for name in ("domain", "phenomenon", "kind") if name in frame.columns]
    keys = [*several, "metric"]
    found = None
    for measure in measures:
        part = frame.filter(pl.col("measure") == str(measure))
        shown = {"value": str(measure), "rank": f"rank {measure}"}
        optional = ["low", "high", "rank_low", "rank_high", "cluster", "epsilon"]
        optional += ["observed_variance", "sampling_variance"]
        shown |= {
            name: f"{name} {measure}" for name in optional if name in part.columns and part[name].is_not_null().any()
        }
        if not measure.is_calibrated:
            shown.pop("epsilon", None)
        is_few = pl.col("n_groups_nan") > pl.col("n_groups") / 2
        if part.filter(is_few & pl.col("value").is_not_null()).height:
            of = pl.format("{} of {} groups", pl.col("n_groups") - pl.col("n_groups_nan"), "n_groups")
            part = part.with_columns(groups=pl.when(is_few).then(of))
            shown["groups"] = f"groups {measure}"
        part = part.select(*keys, *(pl.col(name).alias(heading) for name, heading in shown.items()))
        if found is not None:
            part = found.join(part, on=keys, how="full", coalesce=True, maintain_order="left_right")
        found = part
    assert found is not None
    return found.sort(several, maintain_order=True) if several else found
