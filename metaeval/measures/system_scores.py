"""System scores of a block: as submitted, as mean of all segments, or as mean of the judged ones."""

from dataclasses import dataclass

import numpy as np

from metaeval.kernels.arrays.checks import Floats
from metaeval.measures.options import SystemScore
from queries.blocks import Block
from queries.selection import MetricChoice
from warehouse import QuestionError
from warehouse.facts.metrics import factor_to_percent
from warehouse.wording import option


@dataclass(frozen=True)
class SystemScores:
    """human: (N,). metrics: (M, N), NaN where a metric has none. used: where each metric's scores are from."""

    human: Floats
    metrics: Floats
    used: tuple[SystemScore, ...]


NOISE = 1e-12  # of the largest score in size: scores nearer than this differ by rounding alone


def system_scores(block: Block, source: SystemScore, *, raw: bool = False) -> SystemScores:
    """System scores of humans and metrics.

    source: "submitted": the file's system scores if there are any, else the mean of all segment scores; "mean": that
        mean; "judged-mean": the mean over the segments judged for the system.
    The human system score is the submitted one if there is one for every system, else the mean over judged
    segments. Parts of a test set, and an intersection that excludes some of a system's judged segments, have no
    submitted scores. Scores of one scorer that are apart by rounding only become equal (see `without_noise`), unless
    raw: then they stay as they were computed.
    """
    return block.once((SystemScores, source, raw), lambda: _system_scores(block, source, raw))


def _system_scores(block: Block, source: SystemScore, raw: bool) -> SystemScores:
    human = block.human_means if np.isnan(block.human_submitted).any() else block.human_submitted
    metrics = (block.judged_means if source == "judged-mean" else block.means).copy()
    used: list[SystemScore] = ["mean" if source == "submitted" else source] * len(block.metrics)
    for place, submitted in enumerate(block.submitted):
        has_none = np.isnan(metrics[place]).any() and not np.isnan(submitted).any()
        if (source == "submitted" or has_none) and not np.isnan(submitted).any():
            metrics[place] = submitted
            used[place] = "submitted"
    if not raw:
        human, metrics = without_noise(human), without_noise(metrics)
    return SystemScores(human, metrics, tuple(used))


def asked_scores(block: Block, system_score: SystemScore | None, *, raw: bool = False) -> SystemScores:
    """System scores from the source that was selected; None: the submitted ones if there are any.

    raw: as for `system_scores`.
    Raises QuestionError: submitted scores are selected, and the block covers less than they do (see `Block.is_cut`).
    """
    if system_score == "submitted" and block.is_cut:
        raise QuestionError(
            f"an intersection that excludes judged segments has no submitted system scores; "
            f"take {option('system_score', 'mean')}"
        )
    return system_scores(block, system_score or "submitted", raw=raw)


def usual_factor(metric: MetricChoice, testset: str, scores: Floats) -> float:
    """The factor that makes a metric's scores comparable with those of other test sets.

    100 if the organisers' scores of that year are known to run from 0 to 1 and the metric's elsewhere to 100. A user's
    own scores, and those beyond 1, are as they are.
    """
    if metric.is_own or not (np.nanmax(scores, initial=0.0) <= 1 and np.nanmin(scores, initial=0.0) >= 0):
        return 1.0
    return factor_to_percent(metric.base_name, testset)


def without_noise(scores: Floats) -> Floats:
    """Scores (..., N) in which values nearer than 1e-12 of the largest one's size have become equal; NaN stays.

    >>> without_noise(np.array([0.1 + 0.2, 0.3, 0.5])).tolist()
    [0.3, 0.3, 0.5]
    """
    order = np.argsort(scores, axis=-1, kind="stable")  # NaN is last
    values = np.take_along_axis(scores, order, axis=-1)
    largest = np.fmax.reduce(np.abs(scores), axis=-1, keepdims=True, initial=0.0)
    starts = np.zeros(scores.shape, dtype=np.int64)
    starts[..., 1:] = np.where(np.diff(values) > NOISE * largest, np.arange(1, scores.shape[-1]), 0)
    first = np.maximum.accumulate(starts, axis=-1)
    snapped = np.empty_like(scores)
    np.put_along_axis(snapped, order, np.take_along_axis(values, first, axis=-1), axis=-1)
    return np.where(np.isnan(scores), np.nan, snapped)
