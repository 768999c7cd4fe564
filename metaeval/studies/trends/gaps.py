"""Gaps to the anchor over the years: pooled over evaluation sets within a year and protocol, and tested for a trend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from metaeval import kernels
from metaeval.kernels.arrays.checks import Floats
from metaeval.measures.measure import Measure
from metaeval.results.answer import or_none
from metaeval.studies.trends.groups import CHOSEN, without_choice
from warehouse import QuestionError
from warehouse.wording import counted

Pooling = Literal["mean", "hunter-schmidt", "random-effects"]
_STREAM = 7  # of the seed


def line_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows with one line per protocol: the official rows, and bridge rows by the other protocol.

    frame: as from `groups.grouped`. Bridge rows by the official protocol are dropped, since they repeat the official
    row on fewer systems.
    """
    lazy = frame.lazy()
    official = lazy.filter(pl.col("bridge").is_null()).select("testset", "lp", official="protocol").unique()
    return (
        lazy.join(official, on=["testset", "lp"], how="left", maintain_order="left")
        .filter(pl.col("bridge").is_null() | (pl.col("protocol") != pl.col("official")))
        .drop("official")
        .collect()
    )


def smoothed_variances(variances: npt.ArrayLike, n_systems: npt.ArrayLike) -> Floats:
    """Variances for pooling that depend only on the number of systems: c / n with c the median of variance x n.

    A set's own variance depends on its value: metrics near 1 differ little, with little variance. Weighting by it would
    favour small differences: in simulated histories, 95% intervals then contained the true slope in only 68% of cases
    (`benchmarks/bench_trends.py`). Unknown variances and variances of 0 (two metrics that order the systems of a set
    the same way do not differ in any resample) are ignored; without any other, all are 0.
    >>> smoothed_variances([0.5, 0.0, 0.25], [2, 4, 2]).tolist(), smoothed_variances([0.0, 0.0], [9, 9]).tolist()
    ([0.375, 0.1875, 0.375], [0.0, 0.0])
    """
    v, n = np.asarray(variances, dtype=np.float64), np.asarray(n_systems, dtype=np.float64)
    known = v > 0  # not NaN either
    if not known.any():
        return np.zeros(v.shape)
    found: Floats = np.median(v[known] * n[known]) / n
    return found


@dataclass(frozen=True)
class PooledValue:
    """A value or gap over several evaluation sets; NaN where the pooling method gives none."""

    mean: float
    low: float = float("nan")
    high: float = float("nan")
    p: float = float("nan")
    tau2: float = float("nan")
    i2: float = float("nan")
    variance: float = float("nan")


def pool_values(measure: Measure, values: Floats, errors: Floats, n_systems: Floats, how: Pooling) -> PooledValue:
    """One value from those of several evaluation sets.

    mean: unweighted mean. hunter-schmidt: weighted by the number of systems (tau2: observed minus sampling variance).
    random-effects: correlations of system scores as Fisher's z with variance 1 / (n - 3); other values, and perfect
    correlations, use smoothed bootstrap variances, with an interval that ends at the measure's limits.
    Raises QuestionError: hunter-schmidt for a measure that is not a correlation of system scores.
    """
    is_system_correlation = measure.definition.is_correlation and measure.level == "sys"
    if how == "mean":
        return PooledValue(float(np.mean(values)))
    if how == "hunter-schmidt":
        if not is_system_correlation:
            raise QuestionError(
                f"hunter-schmidt pools correlations of system scores, and {measure} is not one; use mean"
            )
        found = kernels.hunter_schmidt(values, n_systems)
        tau2 = max(0.0, found.observed_variance - found.sampling_variance)
        i2 = tau2 / found.observed_variance if found.observed_variance > 0 else 0.0
        return PooledValue(found.mean, tau2=tau2, i2=i2)
    if is_system_correlation and (np.abs(values) < 1).all() and (n_systems > 3).all():
        z = kernels.random_effects(np.arctanh(values), 1 / (n_systems - 3))
        return PooledValue(float(np.tanh(z.mean)), float(np.tanh(z.low)), float(np.tanh(z.high)), z.p, z.tau2, z.i2)
    return _within(pool_gaps(values, errors, n_systems), *measure.definition.limits)


def _within(pooled: PooledValue, least: float, most: float) -> PooledValue:
    """With an interval without what lies beyond these limits."""
    return replace(pooled, low=float(np.maximum(pooled.low, least)), high=float(np.minimum(pooled.high, most)))


def pool_gaps(gaps: Floats, errors: Floats, n_systems: Floats) -> PooledValue:
    """Gaps of several evaluation sets by random effects with smoothed variances; without any error, their mean."""
    if np.isnan(errors).all():
        return PooledValue(float(np.mean(gaps)))
    smooth = smoothed_variances(errors**2, n_systems)
    found = kernels.random_effects(gaps, smooth)
    v = smooth + (0.0 if np.isnan(found.tau2) else found.tau2)
    variance = float(1 / np.sum(1 / v)) if (v > 0).all() else 0.0
    return PooledValue(found.mean, found.low, found.high, found.p, found.tau2, found.i2, variance)


def pooled_by_year(frame: pl.DataFrame, measure: Measure, how: Pooling) -> pl.DataFrame:
    """Values and gaps of each group pooled over the evaluation sets of a year and protocol.

    frame: as from `groups.grouped`. The sets of a year are all its test sets and language pairs with a value.
    Columns: year, protocol, measure, by, group, metric (several joined by commas), kind, n_metrics (maximum in a set,
    one of which represents the group), n_sets (pooled), n_sets_all (of the year and protocol), pool, value, low,
    high, tau2, i2, anchor, n_gaps, gap, gap_low, gap_high, gap_p, gap_tau2, gap_i2, gap_variance, contaminated (whether
    any metric is known to be), reason; sorted by year, protocol, by, group.
    """
    lines = line_rows(frame)
    there = lines.filter(pl.col("human").is_not_null())
    n_all = {key: n for *key_parts, n in _counts(there) for key in [tuple(key_parts)]}
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for one in there.iter_rows(named=True):
        groups.setdefault((one["year"], one["protocol"], one["by"], one["group"]), []).append(one)
    rows = []
    for (year, protocol, by, group), part in groups.items():
        row: dict[str, Any] = {"year": year, "protocol": protocol, "measure": str(measure), "by": by, "group": group}
        row |= {"pool": how, "n_sets_all": n_all[year, protocol]}
        rows.append(row | _pooled_row(part, measure, how))
    found = pl.DataFrame(rows, schema=_year_schema(), orient="row")
    named = found.filter(~pl.col("by").is_in(CHOSEN))
    best = without_choice(found.filter(pl.col("by").is_in(CHOSEN)).lazy()).collect()
    return pl.concat([named, best]).sort("year", "protocol", "by", "group")


def first_reasons(frame: pl.DataFrame) -> dict[tuple[int, str, str, str], str]:
    """(year, protocol, by, group) -> the first reason why an evaluation set has no value. frame: as from `grouped`."""
    rows = (
        line_rows(frame)
        .filter(pl.col("human").is_not_null())
        .drop_nulls("reason")
        .unique(["year", "protocol", "by", "group"], keep="first", maintain_order=True)
        .select("year", "protocol", "by", "group", "reason")
        .rows()
    )
    return {(year, protocol, by, group): reason for year, protocol, by, group, reason in rows}


def _counts(there: pl.DataFrame) -> list[tuple[Any, ...]]:
    return (
        there.select("year", "protocol", "testset", "lp")
        .unique()
        .group_by("year", "protocol")
        .len()
        .select("year", "protocol", "len")
        .rows()
    )


def _pooled_row(part: Sequence[Mapping[str, Any]], measure: Measure, how: Pooling) -> dict[str, Any]:
    """part: rows of evaluation sets. They are plain: frames of a few rows take ten times as long."""
    valued = [one for one in part if one["value"] is not None]
    if not valued:
        reasons = list(dict.fromkeys(one["reason"] for one in part if one["reason"] is not None))
        more = f"; and {counted(len(reasons) - 1, 'more reason')}" if len(reasons) > 1 else ""
        return {"n_sets": 0, "n_gaps": 0, "reason": f"{reasons[0]}{more}" if reasons else None}
    first, alone = valued[0], len(valued) == 1
    values, errors, n_systems = (_numbers(valued, name) for name in ("value", "error", "n_systems"))
    value = pool_values(measure, values, errors, n_systems, how)
    with_gap = [one for one in valued if one["gap"] is not None]
    row: dict[str, Any] = {
        "metric": ", ".join(sorted({one["metric"] for one in valued})),
        "kind": first["kind"],
        "n_metrics": max(one["n_metrics"] for one in valued),
        "n_sets": len(valued),
        "value": value.mean,
        **{name: or_none(getattr(value, name)) for name in ("low", "high", "tau2", "i2")},
        "n_gaps": len(with_gap),
        "contaminated": any(one["contaminated"] for one in valued) or first["contaminated"],
    }
    if with_gap:
        least, most = measure.definition.limits
        gap = pool_gaps(*(_numbers(with_gap, name) for name in ("gap", "gap_error", "n_systems")))
        gap = _within(gap, least - most, most - least)
        row |= {
            "anchor": ", ".join(sorted({one["anchor"] for one in with_gap})),
            "gap": gap.mean,
            **{f"gap_{name}": or_none(getattr(gap, name)) for name in ("low", "high", "p", "tau2", "i2", "variance")},
        }
        row |= {name: with_gap[0][name] for name in ("gap_low", "gap_high", "gap_p")} if len(with_gap) == 1 else {}
    return row | ({name: first[name] for name in ("low", "high")} if alone else {})


def _numbers(rows: Sequence[Mapping[str, Any]], name: str) -> Floats:
    return np.array([float("nan") if one[name] is None else one[name] for one in rows], dtype=np.float64)


def _array(frame: pl.DataFrame, column: str) -> Floats:
    return frame[column].cast(pl.Float64).fill_null(float("nan")).to_numpy().astype(np.float64)


def _year_schema() -> dict[str, Any]:
    text = ("protocol", "measure", "by", "group", "metric", "kind")
    numbers = ("gap", "gap_low", "gap_high", "gap_p", "gap_tau2", "gap_i2", "gap_variance")
    return {
        "year": pl.Int64,
        **dict.fromkeys(text, pl.String),
        **dict.fromkeys(("n_metrics", "n_sets", "n_sets_all"), pl.Int64),
        "pool": pl.String,
        **dict.fromkeys(("value", "low", "high", "tau2", "i2"), pl.Float64),
        "anchor": pl.String,
        "n_gaps": pl.Int64,
        **dict.fromkeys(numbers, pl.Float64),
        "contaminated": pl.Boolean,
        "reason": pl.String,
    }


def over_years(by_year: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Is there a trend in the yearly gaps of each group, within one protocol? Years are permuted.

    by_year: as from `pooled_by_year`. A year's weight is 1 / (variance of its pooled gap + variance between years).
    Steps between protocols do not enter, because each protocol is tested separately.
    Columns: by, group, protocol, measure, anchor, n_years, first_year, last_year, slope (per year), p (two-sided),
    least_p (the smallest possible with these values), n_orders, exact, reason; sorted by protocol, by, group.
    """
    rows = []
    for (protocol, by, group), part in by_year.group_by("protocol", "by", "group", maintain_order=True):
        row: dict[str, Any] = {"by": by, "group": group, "protocol": protocol, "measure": part["measure"][0]}
        rows.append(row | _trend_row(part.drop_nulls(["year", "gap"]).sort("year"), seed))
    schema = {
        **dict.fromkeys(("by", "group", "protocol", "measure", "anchor"), pl.String),
        **dict.fromkeys(("n_years", "first_year", "last_year"), pl.Int64),
        **dict.fromkeys(("slope", "p", "least_p"), pl.Float64),
        "n_orders": pl.Int64,
        "exact": pl.Boolean,
        "reason": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row").sort("protocol", "by", "group")


def _trend_row(part: pl.DataFrame, seed: int) -> dict[str, Any]:
    """The test of one group's years; part: one row per year."""
    n = part.height
    row: dict[str, Any] = {"n_years": n}
    if n:
        row |= {"first_year": part["year"][0], "last_year": part["year"][-1]}
        row["anchor"] = ", ".join(sorted(set(part["anchor"])))
    if n < 2:
        return row | {
            "reason": "a trend needs 3 years with a gap to the anchor, there is " + ("none" if not n else "1")
        }
    gaps, variances = _array(part, "gap"), _array(part, "gap_variance")
    if not np.abs(gaps).max() > 0:
        return row | {"slope": 0.0, "reason": "the gap is 0 every year: it is the anchor"}
    if not (variances > 0).all():  # some year has no standard error: all years weigh the same
        variances = np.zeros(n)
    between = kernels.random_effects(gaps, variances).tau2
    total = variances + between
    found = kernels.year_trend(
        _array(part, "year"),
        gaps,
        total if (total > 0).all() else np.ones(n),
        rng=np.random.default_rng([seed, _STREAM]),
    )
    row |= {"slope": found.slope, "p": or_none(found.p), "least_p": or_none(found.least)}
    row |= {"n_orders": found.n_orders, "exact": found.is_exact}
    return row if n > 2 else row | {"reason": "two years give a slope but no test: a trend needs 3"}
