"""Ways to choose segments: the utility of each candidate by metrics, by its outputs, or by chance."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from metaeval.choosing.candidates import Candidates
from metaeval.inputs import metric_place, no_metric, where
from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.choice import metric_average, metric_consistency, metric_variance, standardised
from metaeval.system_scores import without_noise
from warehouse import QuestionError
from warehouse.errors import IT, unknown
from warehouse.progress import Progress
from warehouse.wording import counted

Method = Literal["metric_var", "metric_avg", "metric_cons", "diversity", "random"]
Similarity = Literal["unigram", "chrf", "bleu"]
METHODS: tuple[Method, ...] = ("metric_var", "metric_avg", "metric_cons", "diversity", "random")
SIMILARITIES: tuple[Similarity, ...] = ("unigram", "chrf", "bleu")
_OF_METRICS: dict[str, Callable[[Floats], Floats]] = {
    "metric_avg": metric_average,
    "metric_var": metric_variance,
    "metric_cons": metric_consistency,
}
_STREAM = 11  # of the seed


@dataclass(frozen=True)
class Utility:
    """values: (S,), NaN for candidates that it cannot be had of. by: the metric or similarity, or how many metrics."""

    method: Method
    by: str | None
    values: Floats
    notes: tuple[str, ...] = ()


def utility(
    found: Candidates,
    method: Method,
    metric: str | None = None,
    similarity: Similarity = "unigram",
    seed: int = 0,
    progress: Progress | None = None,
) -> Utility:
    """The utility of each candidate, highest is chosen first; values apart by rounding alone are equal.

    metric: a metric, or the human score itself; None: the mean over all metrics with scores of everything, each
    standardised over all scores first (metric_cons needs no scale). similarity: of outputs, for diversity.
    Raises QuestionError: an unknown metric, one without segment scores; texts that are not loaded; sacreBLEU is not
        installed.
    """
    if method == "random":
        return Utility(method, None, np.random.default_rng([seed, _STREAM]).random(len(found.segments)))
    if method == "diversity":
        return Utility(method, similarity, without_noise(-_similarity(found, similarity, progress)))
    return _of_metrics(found, method, metric)


def _of_metrics(found: Candidates, method: Method, metric: str | None) -> Utility:
    of, block = _OF_METRICS[method], found.block
    if metric is not None:
        name, scores = _scores_of(found, metric)
        return Utility(method, name, without_noise(of(scores)))
    scores = block.scores[:, :, found.kept]  # (M, N, S)
    complete = ~np.isnan(scores).any(axis=(1, 2))
    if not complete.any():
        raise no_metric(block.selection, block.excluded, "has scores of all candidates")
    used = scores[complete]
    values = np.mean([of(one) for one in (used if method == "metric_cons" else standardised(used))], axis=0)
    n_without = int((~complete).sum())
    notes = [f"without {counted(n_without, 'metric')} that lack scores of candidates"] if n_without else []
    return Utility(method, counted(int(complete.sum()), "metric"), without_noise(values), tuple(notes))


def _scores_of(found: Candidates, metric: str) -> tuple[str, Floats]:
    """Name and scores (N, S) of one metric, or of the human score."""
    block = found.block
    if metric == block.selection.human:
        return metric, found.human
    place = metric_place(block, metric)
    if place is None:
        raise unknown("metric", metric, {one.name for one in block.metrics}, where=where(block.selection))
    scores = block.scores[place][:, found.kept]
    if np.isnan(scores).any(axis=0).all():
        reason = f"{block.metrics[place].name} has no segment of {IT} with scores of all systems"
        raise QuestionError(reason, where=where(block.selection))
    return block.metrics[place].name, scores


def _similarity(found: Candidates, how: Similarity, progress: Progress | None) -> Floats:
    """Mean similarity of the outputs of each candidate; NaN with fewer than two outputs."""
    of = unigram_similarity if how == "unigram" else _sacrebleu(how)
    systems = found.block.systems
    if not any(("output", name) in found.texts for name in systems):
        reason = f"{IT} has no texts of outputs loaded, which diversity needs"
        raise QuestionError(reason, where=where(found.block.selection))
    values = np.full(len(found.segments), np.nan)
    for place, segment in enumerate(found.segments.tolist()):
        outputs = [found.texts.get(("output", name), {}).get(segment) for name in systems]
        there = [text for text in outputs if text is not None]
        if len(there) == len(systems) > 1:
            values[place] = of(there)
        if progress is not None:
            progress(f"{how} similarity", place + 1, len(values))
    return values


def unigram_similarity(outputs: Sequence[str]) -> float:
    """Mean over pairs of outputs of 2·|a ∩ b| / (|a| + |b|), of words between spaces; 1 where one is empty.

    >>> round(unigram_similarity(["a b", "a c", "a b"]), 4)
    0.6667
    """
    bags = [Counter(text.split()) for text in outputs]
    found = []
    for a, b in combinations(bags, 2):
        both = a.total() + b.total()
        found.append(2 * (a & b).total() / both if a.total() and b.total() else 1.0)
    return float(np.average(found))


def _sacrebleu(how: Similarity) -> Callable[[Sequence[str]], float]:
    """Mean sentence score of each output with each other as reference, itself included.

    Raises QuestionError: sacreBLEU is not installed.
    """
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
    except ImportError as error:
        raise QuestionError(
            "similarity by chrF or BLEU needs sacreBLEU, which is not installed: "
            "python3 -m pip install 'scorehouse[metrics]'"
        ) from error
    metric = CHRF() if how == "chrf" else BLEU(effective_order=True)

    def mean(outputs: Sequence[str]) -> float:
        return float(np.average([metric.sentence_score(one, [other]).score for one in outputs for other in outputs]))

    return mean
