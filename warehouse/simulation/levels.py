"""Scores of documents, domains and systems from those of segments."""

from collections.abc import Sequence

import numpy as np

from warehouse.export.mtme import ScoreTable
from warehouse.simulation.plan import DOC_SCORE_YEARS, DOMAINS, Flags, Floats, Integers, Plan, positions


def score_table(
    plan: Plan, seg: Floats, *, weights: Integers | None = None, rows: Sequence[int] | None = None
) -> ScoreTable:
    """All levels from the segment scores of the systems in `rows` (None: all).

    A level's value is the mean of its judged segments, or with `weights`, the words of each segment, a corpus
    score, which ranks systems nearly as the mean does but differs from it.
    """
    kept = range(len(plan.systems)) if rows is None else rows
    seg = seg[list(kept)]

    def aggregate(columns: Flags) -> Floats:
        values = seg[:, columns]
        return np.array(
            [_corpus_score(row, weights[columns]) if weights is not None else _judged_mean(row) for row in values]
        )

    domains = np.array([domain for domain, _ in plan.documents])
    position = positions(plan.documents)
    doc = None
    if plan.year in DOC_SCORE_YEARS:
        doc = np.column_stack([aggregate(position == number) for number in range(position.max() + 1)])
    return ScoreTable(
        systems=tuple(plan.systems[row] for row in kept),
        seg=seg,
        sys=aggregate(np.ones(seg.shape[1], dtype=bool)),
        doc=doc,
        domain={domain: aggregate(domains == domain) for domain in DOMAINS},
    )


def _judged_mean(values: Floats) -> float:
    judged = values[~np.isnan(values)]
    return float(judged.mean()) if len(judged) else float("nan")


def _corpus_score(values: Floats, n_words: Integers) -> float:
    return float(0.95 * np.average(values, weights=n_words))
