"""Slopes within the same data as a table, and as nested values."""

from typing import Any

import polars as pl

from metaeval.kernels.agreement.studies import RandomEffects
from metaeval.trends.within import Within


def within_frame(found: Within) -> pl.DataFrame:
    """One row for each set, then the pooled slopes, then the contrasts of kinds.

    Columns: what ("set", "pooled", "protocol", "kind"), name, estimate (slope a year, or difference of means), low,
    high, p, tau2, i2, n_sets, n_metrics, first_year, last_year; without any one set left_out_low, left_out_high, and
    without any one metric metric_out_low, metric_out_high.
    """
    rows: list[dict[str, Any]] = [
        {
            "what": "set",
            "name": f"{one.testset} {one.lp} {one.human}",
            "estimate": one.slope,
            "low": one.low,
            "high": one.high,
            "n_metrics": one.n_metrics,
            "first_year": one.first_year,
            "last_year": one.last_year,
        }
        for one in found.sets
    ]
    left, alone = found.leave_one_out, [one.without for one in found.metrics]
    rows.append(
        {
            **_row("pooled", "all sets, slope a year", found.pooled),
            "n_metrics": len(found.metrics),
            "first_year": min(one.first_year for one in found.sets),
            "last_year": max(one.last_year for one in found.sets),
            "left_out_low": left.min(),
            "left_out_high": left.max(),
            "metric_out_low": min(alone),
            "metric_out_high": max(alone),
        }
    )
    rows += [_row("protocol", f"{name}, slope a year", one) for name, one in found.by_protocol.items()]
    rows += [_row("kind", f"{one.kind} minus {one.against}", one.pooled) for one in found.contrasts]
    schema = {
        **dict.fromkeys(("what", "name"), pl.String),
        **dict.fromkeys(("estimate", "low", "high", "p", "tau2", "i2"), pl.Float64),
        **dict.fromkeys(("n_sets", "n_metrics", "first_year", "last_year"), pl.Int64),
        **dict.fromkeys(("left_out_low", "left_out_high", "metric_out_low", "metric_out_high"), pl.Float64),
    }
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.selectors.float().fill_nan(None))


def _row(what: str, name: str, one: RandomEffects) -> dict[str, Any]:
    return {
        "what": what,
        "name": name,
        "estimate": one.mean,
        "low": one.low,
        "high": one.high,
        "p": one.p,
        "tau2": one.tau2,
        "i2": one.i2,
        "n_sets": one.n_studies,
    }


def within_json(found: Within) -> dict[str, Any]:
    """The shape of `trend` within sets in json."""
    left = found.leave_one_out
    return {
        "measure": found.measure,
        "sets": [
            {
                "testset": one.testset,
                "lp": one.lp,
                "human": one.human,
                "slope": one.slope,
                "low": one.low,
                "high": one.high,
                "n_metrics": one.n_metrics,
                "first_year": one.first_year,
                "last_year": one.last_year,
                "contaminated": list(one.contaminated),
            }
            for one in found.sets
        ],
        "pooled": {
            "slope": found.pooled.mean,
            "low": found.pooled.low,
            "high": found.pooled.high,
            "p": found.pooled.p,
            "tau2": found.pooled.tau2,
            "i2": found.pooled.i2,
            "n_sets": found.pooled.n_studies,
            "n_metrics": len(found.metrics),
            "metric_sd": found.metric_sd,
            "slope_of": found.of,
        },
        "metrics": [
            {
                "metric": one.name,
                "names": list(one.names),
                "published": one.published,
                "n_sets": one.n_sets,
                "pull": one.pull,
                "slope_without": one.without,
            }
            for one in found.metrics
        ],
        "leave_one_out": {
            "low": left.min(),
            "high": left.max(),
            "slopes": [
                {"testset": one.testset, "lp": one.lp, "slope": without}
                for one, without in zip(found.sets, left, strict=True)
            ],
        },
        "protocols": [
            {"protocol": name, "slope": one.mean, "low": one.low, "high": one.high, "n_sets": one.n_studies}
            for name, one in found.by_protocol.items()
        ],
        "kinds": [
            {
                "kind": one.kind,
                "against": one.against,
                "difference": one.pooled.mean,
                "low": one.pooled.low,
                "high": one.pooled.high,
                "tau2": one.pooled.tau2,
                "i2": one.pooled.i2,
                "n_sets": one.pooled.n_studies,
            }
            for one in found.contrasts
        ],
        "unknown_years": list(found.unknown),
        "contaminated": list(found.contaminated),
        "skipped": dict(found.skipped),
        "signature": found.signature,
    }
