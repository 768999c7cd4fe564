"""Thresholds carried from one evaluation set or domain to another: what they decide there, and what that costs."""

from collections.abc import Mapping

import polars as pl

from metaeval.answer import or_none
from metaeval.decisions.curves import Decided, best, grid
from metaeval.kernels.agreement.decisions import decide

SCHEMA = {
    "source": pl.String,
    "target": pl.String,
    "threshold": pl.Float64,
    "own_threshold": pl.Float64,
    "mcc": pl.Float64,
    "own_mcc": pl.Float64,
    "loss": pl.Float64,
    "precision": pl.Float64,
    "recall": pl.Float64,
    "share": pl.Float64,
    "source_precision": pl.Float64,
}


def transfer(decisions: Mapping[str, Decided], precision: float | None = None) -> pl.DataFrame:
    """A row for each source and target, in their order; a source's own row has no loss.

    decisions: one metric by name of evaluation set or domain. precision: thresholds are the smallest with this
    precision on the source; None takes those with the highest MCC.
    Columns: source, target, threshold (the source's), own_threshold, mcc and own_mcc (on the target, by either), loss
    (own_mcc less mcc), precision, recall and share on the target, source_precision. Null where there is no threshold.
    """
    thresholds = {name: _threshold(one, precision) for name, one in decisions.items()}
    rows = []
    for source, one in decisions.items():
        for target, other in decisions.items():
            row: dict[str, object] = {"source": source, "target": target, "threshold": thresholds[source]}
            row["own_threshold"] = thresholds[target]
            if (own := thresholds[target]) is not None:
                row["own_mcc"] = or_none(decide(other.good, other.scores, own).mcc)
            if (threshold := thresholds[source]) is not None:
                found = decide(other.good, other.scores, threshold)
                n = found.n_good + found.n_bad
                row |= {
                    "mcc": or_none(found.mcc),
                    "precision": or_none(found.precision),
                    "recall": or_none(found.recall),
                }
                row["share"] = (found.n_true + found.n_false) / n
                row["source_precision"] = or_none(decide(one.good, one.scores, threshold).precision)
            rows.append(row)
    frame = pl.DataFrame(rows, schema=SCHEMA)
    return frame.with_columns(loss=pl.col("own_mcc") - pl.col("mcc"))


def _threshold(decision: Decided, precision: float | None) -> float | None:
    if precision is None:
        return best(decision)
    for threshold in grid(decision, decision.scores.size):
        if decide(decision.good, decision.scores, threshold).precision >= precision:
            return float(threshold)
    return None
