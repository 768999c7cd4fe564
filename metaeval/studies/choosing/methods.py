"""Selection methods: the utility of each candidate segment by metrics, by its outputs, or at random."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Literal

import numpy as np

from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.choice import metric_consistency
from metaeval.kernels.resampling.permutation import standardise
from metaeval.measures.judged import documents_of
from metaeval.measures.system_scores import without_noise
from metaeval.results.inputs import Inputs, metric_place, no_metric, where
from queries.blocks import Block
from queries.catalog import ask
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import IT, unknown
from warehouse.progress import Progress
from warehouse.wording import are, counted, option

Among = Literal["annotated", "all"]
Unit = Literal["segment", "document"]
Budget = Literal["segments", "words", "minutes"]
UNSPACED = ("bo", "ja", "km", "lo", "my", "th", "zh")
"""Languages written without spaces, of which characters count as words."""
_ORDERS = range(1, 7)  # of chrF: characters of an n-gram


@dataclass(frozen=True)
class Candidates:
    """Candidate segments; arrays are (S,), in the order of the test set.

    block: of the evaluation set, with all its segments; kept: which of them are candidates. texts: of candidates, by
    kind and name, then segment. notes: for the reader.
    """

    block: Block
    kept: Bools
    texts: Mapping[tuple[str, str | None], Mapping[int, str]]
    source_language: str
    notes: tuple[str, ...]

    @cached_property
    def segments(self) -> Ints:
        """Numbers of the candidates."""
        return np.asarray(self.block.segments[self.kept])

    @cached_property
    def human(self) -> Floats:
        """(N, S) human scores, NaN where not judged."""
        return self.block.human[:, self.kept]

    @property
    def documents(self) -> list[str | None]:
        """Document of each candidate."""
        return [self.block.selection.documents[place] for place in np.flatnonzero(self.kept)]

    def units(self, unit: Unit) -> Ints:
        """Number of each candidate's unit, which is selected as a whole.

        Raises QuestionError: the unit is documents, and a segment belongs to none.
        """
        if unit == "segment":
            return np.arange(len(self.segments))
        return documents_of(self.block.selection, self.kept)

    def domains(self) -> Ints:
        """Number of each candidate's domain.

        Raises QuestionError: a candidate has none.
        """
        names = [self.block.selection.domains[place] for place in np.flatnonzero(self.kept)]
        if None in names:
            reason = f"{IT} has segments without a domain: there is no balance"
            raise QuestionError(reason, where=where(self.block.selection))
        return np.unique(np.array(names, dtype=str), return_inverse=True)[1].astype(np.int64)

    def words(self) -> Floats:
        """Number of words in each source, at least 1: separated by spaces, or characters in languages without spaces.

        Raises QuestionError: a source is not loaded.
        """
        sources = self.texts.get(("source", None), {})
        missing = [segment for segment in self.segments.tolist() if segment not in sources]
        if missing:
            reason = f"{IT} has {counted(len(missing), 'segment')} without a source text: there are no words to count"
            raise QuestionError(reason, where=where(self.block.selection))
        texts = [sources[segment] for segment in self.segments.tolist()]
        n = [len(text if self.source_language in UNSPACED else text.split()) for text in texts]
        return np.maximum(1.0, np.array(n, dtype=np.float64))

    def costs(self, budget: Budget, words_per_minute: float | None = None) -> Floats:
        """Cost of annotating each candidate: 1 segment, its words, or the minutes for the outputs of all systems.

        Raises QuestionError: see `words`; minutes without a pace.
        """
        if budget == "segments":
            return np.ones(len(self.segments))
        if budget == "words":
            return self.words()
        if words_per_minute is None:
            pace = option("words_per_minute")
            raise QuestionError(f"{option('minutes')} needs {pace}: how many words of the source an annotator judges")
        return self.words() * len(self.block.systems) / words_per_minute


def candidates(warehouse: Warehouse, asked: Slice, among: Among | None = None, *, also: tuple[str, ...]) -> Candidates:
    """The candidates of a slice.

    among: "annotated": those with a human score for every system, which can be replayed; "all": also without human
    scores. None: the annotated ones if there are any. also: metrics to include whatever their status.
    Raises QuestionError: see `Inputs`; no segment is annotated although among requires it.
    """
    block = Inputs(warehouse, asked, human="optional", also=also).of_level("seg")
    if not len(block.segments):
        raise QuestionError(
            f"{IT} has no segment scores, so there are no segments to select", where=where(block.selection)
        )
    has_human = block.selection.human is not None
    annotated: Bools = np.asarray(~np.isnan(block.human).any(axis=0))
    if among == "annotated" and not annotated.any():
        raise QuestionError(f"{IT} has no segment with a human score for every system", where=where(block.selection))
    replayed = among != "all" and has_human and bool(annotated.any())
    kept: Bools = annotated if replayed else np.ones(len(block.segments), dtype=np.bool_)
    notes = []
    if replayed and not kept.all():
        n = int(kept.sum())
        notes.append(
            f"{n} of {counted(len(kept), 'segment')} {are(n)} candidates: annotated for all systems "
            f"({block.selection.human})"
        )
    numbers = block.segments[kept].tolist()
    found = ask(warehouse, "texts_of_segments", evalset=block.selection.evalset_id, segments=numbers)
    texts: dict[tuple[str, str | None], dict[int, str]] = {}
    for segment, kind, name, text in found.select("segment", "kind", "name", "text").iter_rows():
        texts.setdefault((kind, name), {})[segment] = text
    return Candidates(block, np.asarray(kept), texts, asked.lp.split("-")[0], tuple(notes))


Method = Literal["metric_var", "metric_avg", "metric_cons", "diversity", "random"]
Similarity = Literal["unigram", "chrf"]
METHODS: tuple[Method, ...] = ("metric_var", "metric_avg", "metric_cons", "diversity", "random")
_OF_METRICS: dict[str, Callable[[Floats], Floats]] = {
    "metric_avg": lambda scores: -scores.mean(axis=0),
    "metric_var": lambda scores: scores.var(axis=0),
    "metric_cons": metric_consistency,
}
_STREAM = 11  # of the seed
Utility = tuple[Floats, str | None, tuple[str, ...]]


def utility(
    found: Candidates,
    method: Method,
    metric: str | None = None,
    similarity: Similarity = "unigram",
    seed: int = 0,
    progress: Progress | None = None,
) -> Utility:
    """The utility of each candidate, its basis, and notes.

    Utilities are (S,), NaN if undefined; the highest is selected first, and values that differ only by rounding are
    equal. The basis is a metric, a similarity, or a number of metrics. metric: a metric, or the human score itself;
    None: the mean over all metrics with complete scores, each standardised over all scores first (metric_cons needs no
    scale). similarity: of outputs, for diversity.
    Raises QuestionError: an unknown metric, one without segment scores; texts that are not loaded; sacreBLEU is not
        installed.
    """
    if method == "random":
        return np.random.default_rng([seed, _STREAM]).random(len(found.segments)), None, ()
    if method == "diversity":
        return without_noise(-_similarity(found, similarity, progress)), similarity, ()
    return _of_metrics(found, method, metric)


def _of_metrics(found: Candidates, method: Method, metric: str | None) -> Utility:
    of, block = _OF_METRICS[method], found.block
    if metric is not None:
        name, scores = _scores_of(found, metric)
        return without_noise(of(scores)), name, ()
    scores = block.scores[:, :, found.kept]  # (M, N, S)
    complete = ~np.isnan(scores).any(axis=(1, 2))
    if not complete.any():
        raise no_metric(block.selection, block.excluded, "has scores of all candidates")
    used = scores[complete]
    scaled = used if method == "metric_cons" else standardise(np.zeros(used.shape[1:]), used)
    values = np.mean([of(one) for one in scaled], axis=0)
    n_without = int((~complete).sum())
    without = f"{counted(n_without, 'metric')} with missing scores of candidates {are(n_without)} excluded"
    notes = [without] if n_without else []
    return without_noise(values), counted(int(complete.sum()), "metric"), tuple(notes)


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
    of = unigram_similarity if how == "unigram" else chrf_similarity
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
    """Mean over pairs of outputs of 2·|a ∩ b| / (|a| + |b|), with words separated by spaces; 1 if one is empty.

    >>> round(unigram_similarity(["a b", "a c", "a b"]), 4)
    0.6667
    """
    bags = [Counter(text.split()) for text in outputs]
    found = []
    for a, b in combinations(bags, 2):
        both = a.total() + b.total()
        found.append(2 * (a & b).total() / both if a.total() and b.total() else 1.0)
    return float(np.average(found))


def chrf_similarity(outputs: Sequence[str]) -> float:
    """Mean sentence chrF (0 to 100, as in sacreBLEU) of each output with every output as reference, including itself.

    >>> round(chrf_similarity(["a b", "a c", "a b"]), 4)
    66.6667
    """
    texts = ["".join(text.split()) for text in outputs]
    bags = [Counter(text[at : at + n] for n in _ORDERS for at in range(len(text) - n + 1)) for text in texts]
    ngrams = sorted(set[str]().union(*bags))
    counts = np.array([[bag.get(ngram, 0) for ngram in ngrams] for bag in bags], dtype=float)
    of_order = np.equal.outer([len(ngram) for ngram in ngrams], _ORDERS).astype(float)
    there = counts @ of_order
    matched = np.array([np.minimum(one, counts) @ of_order for one in counts])  # (outputs, references, orders)
    is_compared = (there[:, None] > 0) & (there > 0)
    n_compared = np.maximum(is_compared.sum(axis=2), 1)
    precision, recall = (
        np.divide(matched, n, out=np.zeros_like(matched), where=is_compared).sum(axis=2) / n_compared
        for n in (there[:, None], there)
    )
    both = 4 * precision + recall
    return float(np.average(100 * np.divide(5 * precision * recall, both, out=np.zeros_like(both), where=both > 0)))
