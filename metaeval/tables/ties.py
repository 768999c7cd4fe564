"""Ties: how many pairs are tied by humans and by metrics, and how many of those are two perfect translations."""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from metaeval import kernels
from metaeval.answer import Table, table_notes, table_signature
from metaeval.inputs import Inputs, check_judged, no_metric
from metaeval.kernels.arrays.grouping import Grouping
from metaeval.measures.judged import labels
from metaeval.options import Options
from metaeval.signature import option_parts
from queries.blocks import Block
from queries.selection import Slice
from warehouse import Warehouse

_GROUPINGS: tuple[Grouping, ...] = ("none", "item", "system")


def ties(warehouse: Warehouse, asked: Slice, round_human: int | None = None) -> Table:
    """Tied pairs of the human score and of every metric, by no grouping, by item and by system.

    Columns: kind (human or metric), scorer, by, n_scores (judged), n_groups, n_pairs, n_tied, share_tied, n_tied_zero
    (pairs tied at a score of exactly 0; null for metrics), share_tied_zero, n_tied_both (tied by humans and by the
    metric; null for humans). Rows: the human score first, then metrics by name; without any, the human score alone.
    Raises QuestionError: see `select`; the human score has no segment scores.
    Source: Deutsch et al. 2023, tables 3, 4 and 9.
    """
    whole = Inputs(warehouse, asked, round_human).of_level("seg")
    check_judged(whole)
    block = whole.only(whole.with_segments)
    notes = table_notes(block, whole.excluded)
    if not block.metrics:
        notes = (str(no_metric(whole.selection, whole.excluded)), *notes)
    signature = table_signature(("table", "ties"), block, *option_parts(Options(round_human=round_human)))
    return Table(_frame(block), signature, notes)


def _frame(block: Block) -> pl.DataFrame:
    schema = {
        "kind": pl.String,
        "scorer": pl.String,
        "by": pl.String,
        "n_scores": pl.Int64,
        "n_groups": pl.Int64,
        "n_pairs": pl.Int64,
        "n_tied": pl.Int64,
        "share_tied": pl.Float64,
        "n_tied_zero": pl.Int64,
        "share_tied_zero": pl.Float64,
        "n_tied_both": pl.Int64,
    }
    rows = [row for by in _GROUPINGS for row in _rows(block, by)]
    return pl.DataFrame(rows, schema=schema, orient="row").sort("kind", "scorer", maintain_order=True)


def _rows(block: Block, by: Grouping) -> list[dict[str, Any]]:
    group_labels = labels(block, by)
    of_human = kernels.pair_counts(block.human, block.human[np.newaxis], group_labels)
    n_pairs = int(of_human.n_pairs.sum())
    n_tied_zero = _pairs_at_zero(block, group_labels)
    common = {"by": by, "n_scores": int(block.judged.sum()), "n_groups": len(of_human.n_scores), "n_pairs": n_pairs}
    n_tied = int(of_human.n_tied_both.sum())
    rows: list[dict[str, Any]] = [
        {
            "kind": "human",
            "scorer": block.selection.human,
            **common,
            "n_tied": n_tied,
            "share_tied": _share(n_tied, n_pairs),
            "n_tied_zero": n_tied_zero,
            "share_tied_zero": _share(n_tied_zero, n_pairs),
        }
    ]
    if not block.metrics:
        return rows
    counts = kernels.pair_counts(block.human, block.scores, group_labels)
    both = counts.n_tied_both.sum(axis=1)
    metric_tied = both + counts.n_tied_metric.sum(axis=1)
    for metric, tied, tied_both in zip(block.metrics, metric_tied.tolist(), both.tolist(), strict=True):
        rows.append(
            {
                "kind": "metric",
                "scorer": metric.name,
                **common,
                "n_tied": tied,
                "share_tied": _share(tied, n_pairs),
                "n_tied_both": tied_both,
            }
        )
    return rows


def _pairs_at_zero(block: Block, group_labels: npt.NDArray[np.int64]) -> int:
    _, n = np.unique(group_labels[block.human == 0], return_counts=True)
    return int((n * (n - 1) // 2).sum())


def _share(n: int, n_pairs: int) -> float | None:
    return n / n_pairs if n_pairs else None
