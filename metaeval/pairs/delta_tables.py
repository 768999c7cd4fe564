"""Deltas as tables: a row for each protocol, direction and level of agreement; fewer columns for reading."""

from typing import Any

import numpy as np
import polars as pl

from metaeval.answer import Table, or_none
from metaeval.pairs.deltas import Deltas, Fit

SCHEMA_NAMES = (
    *("metric", "protocol", "direction", "agreement", "delta", "low", "high", "reached"),
    *("n_pairs", "n_at_least", "overall", "n_sets", "n_systems", "n_human_ties", "n_metric_ties"),
    *("n_not_significant", "n_untested", "reason", "signature"),
)


def deltas_frame(found: Deltas) -> pl.DataFrame:
    """One row for each protocol, direction and level of agreement.

    Columns: metric, protocol, direction, agreement (the level), delta with low and high (see `Threshold`), reached
    (share of resamples in which the level is), n_pairs, n_at_least (pairs with a difference of at least delta), overall
    (agreement over all pairs), n_sets, n_systems, n_human_ties, n_metric_ties, n_not_significant, n_untested (see
    `Fit`), reason (why delta is null), signature.
    """
    schema: dict[str, Any] = dict.fromkeys(SCHEMA_NAMES, pl.Float64)
    schema |= dict.fromkeys(("metric", "protocol", "direction", "reason", "signature"), pl.String)
    schema |= {name: pl.Int64 for name in SCHEMA_NAMES if name.startswith("n_")}
    rows = [row for fit in found.fits for row in _rows(found, fit)]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _rows(found: Deltas, fit: Fit) -> list[dict[str, Any]]:
    curve = fit.found.curve
    rows = []
    for one in fit.found.thresholds:
        is_reached = not np.isnan(one.difference)
        at_least = int(curve.at_least[np.searchsorted(curve.differences, one.difference)]) if is_reached else None
        rows.append(
            {
                "metric": found.metric,
                "protocol": fit.protocol,
                "direction": fit.direction,
                "agreement": one.level,
                "delta": one.difference if is_reached else None,
                "low": or_none(one.low),
                "high": or_none(one.high),
                "reached": one.reached,
                "n_pairs": fit.n_pairs,
                "n_at_least": at_least,
                "overall": fit.agreement,
                "n_sets": fit.n_sets,
                "n_systems": fit.n_systems,
                "n_human_ties": fit.n_ties,
                "n_metric_ties": fit.n_metric_ties,
                "n_not_significant": fit.n_not_significant,
                "n_untested": fit.n_untested,
                "reason": None if is_reached else _reason(fit, one.level),
                "signature": found.signature,
            }
        )
    return rows


def _reason(fit: Fit, level: float) -> str:
    best, largest = float(fit.found.curve.fitted[-1]), float(fit.found.curve.differences[-1])
    if best < level:
        return f"not reached: {best:.2f} at the largest difference, {largest:.4g}"
    return f"not reached by {round(1 / (1 - level))} pairs"


def deltas_table(found: Deltas) -> Table:
    """The frame with signature and notes."""
    return Table(deltas_frame(found), found.signature, found.notes)


def deltas_reading(found: Deltas) -> pl.DataFrame:
    """The columns that people read."""
    frame = deltas_frame(found)
    shown = ("protocol", "direction", "n_sets", "n_pairs", "overall", "agreement", "delta", "low", "high")
    return frame.select(*shown, *(() if frame["reason"].null_count() == frame.height else ("reason",)))
