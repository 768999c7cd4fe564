"""Metrics that fall where people's scores rise: perhaps stored the wrong way round, which no registry says."""

from collections.abc import Sequence

import numpy as np

from metaeval.system_scores import system_scores
from queries.blocks import Block
from queries.catalog import ask
from warehouse import Warehouse
from warehouse.facts.metrics import describe
from warehouse.wording import counted

_CLEARLY = -0.3  # Pearson correlation of system scores below which a sign is in doubt
_JUDGES_NOTHING = ("sentinel", "random")  # kinds of metrics that need not agree with people


def wrong_way(warehouse: Warehouse, blocks: Sequence[Block]) -> list[str]:
    """A line for each metric of the blocks of one slice that clearly disagrees with people throughout its test set.

    That is: its system scores correlate below -0.3 with the human ones in more than half of the evaluation sets of
    the test set with at least five systems. Nothing is turned around. Asked about are only metrics that correlate so
    in the slice itself.
    """
    suspects = sorted({name for block in blocks for name in _negative(block)})
    if not suspects:
        return []
    testset = blocks[0].selection.slice.testset
    found = ask(warehouse, "wrong_way", testset=testset, metrics=suspects, threshold=_CLEARLY)
    return [
        f"{row['metric']} correlates negatively with human system scores in {row['n_negative']} of "
        f"{counted(row['n_evalsets'], 'evaluation set')} of {testset} (mean {row['r']:.2f}); wrong sign?"
        for row in found.iter_rows(named=True)
        if 2 * row["n_negative"] > row["n_evalsets"]
    ]


def _negative(block: Block) -> list[str]:
    """Metrics whose system scores clearly fall where the human ones rise."""
    scores = system_scores(block, "submitted")
    found = []
    for metric, values in zip(block.metrics, scores.metrics, strict=True):
        there = ~np.isnan(values) & ~np.isnan(scores.human)
        human, own = (x[there] - x[there].mean() for x in (scores.human, values)) if there.any() else ([], [])
        size = np.sqrt(np.dot(human, human) * np.dot(own, own))
        kind = describe(metric.base_name).kind
        if size > 0 and np.dot(human, own) / size < _CLEARLY and kind not in _JUDGES_NOTHING:
            found.append(metric.name)
    return found
