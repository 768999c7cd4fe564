"""Metrics that fall where people's scores rise, perhaps stored the wrong way round, or that tell no system apart."""

import numpy as np

from metaeval.notes import Decisive
from metaeval.system_scores import system_scores
from queries.blocks import Block
from warehouse.facts.metrics import describe

_CLEARLY = -0.3  # Pearson correlation of system scores below which a sign is in doubt
_FEWEST = 5  # systems
_QUESTION = "wrong sign? (audit compares it with the other metrics)"
JUDGES_NOTHING = ("sentinel", "random")
"""Kinds of metrics that need not agree with people."""


def all_alike(block: Block) -> list[Decisive]:
    """A line for each metric that scores all systems alike on each segment, as one does that reads no output.

    What measures of systems make of it is chance: spa depends on the order of the systems' names.
    """
    found = []
    for metric, scores in zip(block.metrics, block.scores, strict=True):
        there = np.where(np.isnan(block.human), np.nan, scores)
        known = np.count_nonzero(~np.isnan(there), axis=0) > 1
        if known.any() and (np.nanmin(there[:, known], axis=0) == np.nanmax(there[:, known], axis=0)).all():
            text = f"{metric.name}: all systems have the same scores; values of systems are chance, such as spa"
            found.append(Decisive(text, "the same scores for all systems:", metric.name))
    return found


def wrong_way(block: Block) -> list[Decisive]:
    """A line for each metric whose system scores clearly fall where the human ones of the block's MT systems rise.

    That is: Pearson's r is below -0.3 over at least five systems. Nothing is turned around.
    The sign of scores that are made of error spans is not in doubt.
    """
    scores = system_scores(block, "submitted")
    kinds = {choice.name: choice.kind for choice in block.selection.systems}
    is_mt = np.array([kinds.get(name, "mt") == "mt" for name in block.systems], dtype=bool)
    found: list[Decisive] = []
    for metric, values in zip(block.metrics, scores.metrics, strict=True):
        there = is_mt & ~np.isnan(values) & ~np.isnan(scores.human)
        if there.sum() < _FEWEST or describe(metric.base_name).kind in JUDGES_NOTHING:
            continue
        human, own = (x[there] - x[there].mean() for x in (scores.human, values))
        size = np.linalg.norm(human) * np.linalg.norm(own)
        if size > 0 and (r := np.dot(human, own) / size) < _CLEARLY:
            question = "its scores count its error spans" if metric.is_derived else _QUESTION
            text = (
                f"{metric.name} correlates negatively with {block.selection.human} system scores: {r:.3f} over "
                f"{there.sum()} MT systems; {question}"
            )
            kind = "against people, counting error spans:" if metric.is_derived else "wrong sign?"
            found.append(Decisive(text, kind, f"{metric.name} r={r:.3f}", -r))
    return found
