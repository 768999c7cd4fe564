"""Pair counts of a slice: concordant, discordant and tied, for each metric and group."""

from typing import TYPE_CHECKING

import numpy as np

from metaeval import kernels
from metaeval.inputs import Inputs
from metaeval.tables.table import Table, table_notes, table_signature
from queries.blocks import Block
from queries.pairs import COUNTS, Unit
from queries.selection import Slice
from warehouse import QuestionError, Warehouse

if TYPE_CHECKING:
    import polars as pl


def pair_counts(
    warehouse: Warehouse, asked: Slice, by: Unit = "item", epsilon: float = 0.0, round_human: int | None = None
) -> Table:
    """Pair counts of the metrics of a slice that have segment scores.

    by: item (groups are segments), system, or none (one group, "all"). A group without a pair has no row.
    Columns: metric, by, group, epsilon and the five counts; one row a metric and group.
    Raises QuestionError: see `Inputs.judged_segments`; epsilon below 0.
    """
    if not 0 <= epsilon < float("inf"):
        raise QuestionError(f"epsilon {epsilon}: expected a number of at least 0")
    inputs = Inputs(warehouse, asked, round_human)
    block = inputs.judged_segments()
    signature = table_signature(
        ("counts", f"pairs(by={by}, epsilon={epsilon:.17g})"), block, ("round_human", round_human)
    )
    return Table(_counted(block, by, epsilon), signature, table_notes(block, inputs.of_level("seg").left_out))


def _counted(block: Block, by: Unit, epsilon: float) -> "pl.DataFrame":
    import polars as pl

    counts = kernels.pair_counts(block.human, block.scores, kernels.cell_labels(by, block.human.shape), epsilon)
    names = {
        "item": block.segments.astype(str),
        "system": np.array(block.systems, dtype=object),
        "none": np.array(["all"], dtype=object),
    }[by]
    groups = [str(names[label]) for label in counts.labels]
    columns: dict[str, object] = {
        "metric": [metric.name for metric in block.metrics for _ in groups],
        "by": [by] * (len(block.metrics) * len(groups)),
        "group": groups * len(block.metrics),
        "epsilon": [epsilon] * (len(block.metrics) * len(groups)),
    }
    columns |= {name: getattr(counts, name).ravel() for name in COUNTS}
    return pl.DataFrame(columns)
