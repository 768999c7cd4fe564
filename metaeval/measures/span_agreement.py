"""Agreement of predicted error spans with the spans that annotators marked: mpp, mp, em and char_f1."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.prepared import IntervalMethod, ResampleStatistic, Swap, SwapStatistic
from metaeval.kernels.spans import Spans, span_sums
from metaeval.kernels.spans.precision_recall import averaged, rates
from metaeval.measures.applicable import PERMUTATIONS, RESAMPLED
from metaeval.measures.measure import Definition, Measure, Values
from metaeval.measures.options import Options, Test
from metaeval.measures.parameters import Parameter, Value, choice, number, shortest, show_number
from queries.blocks import HUMAN_SCORER, Block
from queries.span_blocks import annotations_in
from warehouse import QuestionError

_KERNEL: Mapping[str, str] = MappingProxyType({"mpp": "MPP", "mp": "MP", "em": "EM", "char_f1": "WMT25"})
_SIDES: Mapping[str, tuple[bool, ...]] = MappingProxyType(
    {"both": (False, True), "target": (False,), "source": (True,)}
)


@dataclass(frozen=True)
class SpanComparison:
    """Pairs of a prediction and a gold annotation of one output, as the kernel takes them.

    places: (A,) flat indices of the outputs in the block; shares: (A,) weight of each pair within its output.
    """

    predicted: Spans
    gold: Spans
    places: Ints
    shares: Floats


class SpanMeasure(Measure):
    """F of predicted spans, from sums over outputs; an output with several gold annotations counts their mean sums."""

    interval: ClassVar[IntervalMethod] = "normal"
    why_tests: ClassVar[str] = (
        "F is a ratio of sums over segments, whole documents of which are swapped; leaving documents out finds more "
        "between equally good metrics"
    )

    @property
    def tests(self) -> tuple[Test, ...]:
        return ("jackknife-segments", "bootstrap-normal", *PERMUTATIONS, *RESAMPLED)

    def value(self, block: Block, options: Options) -> Values:
        totals = self.sums(block).sum(axis=(1, 2))
        p, r, f = rates(totals, self["average"])
        if not block.judged.any():
            p, r, f = (np.full(len(f), np.nan) for _ in range(3))
        return Values(f, details={"precision": p, "recall": r})

    def swapped(self, block: Block, swap: Swap, options: Options, epsilon: npt.ArrayLike | None) -> SwapStatistic:
        from metaeval.kernels.resampling.permutation_groups import ratio_swap

        return ratio_swap(self._judged_sums(block), self["average"], swap)

    def resampled(self, block: Block, options: Options, epsilon: npt.ArrayLike | None) -> ResampleStatistic:
        from metaeval.kernels.resampling.resampled_items import RatioResample

        return RatioResample(self._judged_sums(block), self["average"])

    def remark_on(self, human: str | None) -> str | None:
        if self["average"] == "macro":
            return (
                "an output without any span has F 1, so macro rewards metrics that predict nothing; see average=micro"
            )
        return None

    def _judged_sums(self, block: Block) -> Floats:
        return self.sums(block)[:, :, block.judged.any(axis=0)]

    def sums(self, block: Block) -> Floats:
        """(M, N, S, 4) the sums behind precision, recall and F; 0 where nothing is compared."""
        n_systems, n_segments = block.human.shape
        found = np.zeros((len(block.metrics), n_systems * n_segments, 4))
        for at, metric in enumerate(block.metrics):
            compared = self.compared(block, metric.scorer_id)
            sums = averaged(self.of_outputs(compared), self["average"]) * compared.shares[:, np.newaxis]
            for column in range(4):
                found[at, :, column] = np.bincount(compared.places, sums[:, column], n_systems * n_segments)
        return found.reshape(len(block.metrics), n_systems, n_segments, 4)

    def of_outputs(self, compared: SpanComparison) -> Floats:
        """(A, 4) numerator and denominator of precision, then of recall, of each pair."""
        weights = self.get("weights", "none").split(":")
        try:
            return span_sums(
                compared.predicted,
                compared.gold,
                len(compared.places),
                _KERNEL[self.name],  # type: ignore[arg-type]
                self["matching"],
                self["algorithm"],
                self["severity_penalty"],
                None if weights == ["none"] else {"minor": float(weights[0]), "major": float(weights[1])},
            )
        except ValueError as error:
            more = "; take algorithm=greedy" if weights == ["none"] or not self["severity_penalty"] else ""
            raise QuestionError(f"{self}: {error}{more}") from error

    def compared(self, block: Block, scorer: int) -> SpanComparison:
        """Each annotation of a scorer paired with each gold annotation, for the judged outputs."""
        gold, places = annotations_in(block, HUMAN_SCORER)
        is_judged = block.judged.ravel()[places]
        gold, places = gold[is_judged], places[is_judged]
        own, own_places = annotations_in(block, scorer)
        own = own[np.argsort(own_places, kind="stable")]
        n_own = np.bincount(own_places, minlength=block.human.size)
        n = n_own[places]
        within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
        own = own[np.repeat((np.cumsum(n_own) - n_own)[places], n) + within]
        gold, places = np.repeat(gold, n), np.repeat(places, n)
        n_pairs = np.bincount(places, minlength=block.human.size)
        return SpanComparison(self._spans(block, own), self._spans(block, gold), places, 1.0 / n_pairs[places])

    def _spans(self, block: Block, annotations: Ints) -> Spans:
        spans = block.spans
        assert spans is not None
        found, rows = spans.spans_of(annotations)
        kept = np.isin(spans.is_in_source[found], _SIDES[self["side"]])
        found, rows = found[kept], rows[kept]
        return Spans(
            output=rows,
            side=spans.is_in_source[found].astype(np.int64),
            start=spans.start[found],
            end=spans.end[found],
            is_major=spans.is_major[found],
        )


def _penalty(text: str) -> Value:
    value = number(text)
    if not 0 <= value <= 1:
        raise ValueError("a number from 0 to 1")
    return value


def _weights(text: str) -> Value:
    """Weights of a minor and a major error, such as 1:5."""
    parts = [number(part) for part in text.split(":")]
    if text == "none" or (len(parts) == 2 and all(0 < part < math.inf for part in parts)):
        return text if text == "none" else ":".join(map(shortest, parts))
    raise ValueError("none, or what a minor and a major error count, such as 1:5")


_MATCHING = "whether a span is matched with one of the other side, or with any number (one_to_one, many_to_many)"
_SETS = f"{_MATCHING}, or each character counts once (sets, as in WMT23's quality estimation)"


def _parameters(matching: str, penalty: float, side: str) -> tuple[Parameter, ...]:
    known = ("one_to_one", "many_to_many")
    return (
        Parameter("matching", matching, _MATCHING, choice(*known))
        if matching == "one_to_one"
        else Parameter("matching", matching, _SETS, choice(*known, "sets")),
        Parameter(
            "algorithm",
            "optimal",
            "one-to-one matching: optimal (the greatest F) or greedy (the most similar first)",
            choice("optimal", "greedy"),
        ),
        Parameter(
            "average",
            "micro",
            "micro: from sums over all outputs; macro: mean over outputs (rewards outputs without any span)",
            choice("micro", "macro"),
        ),
        Parameter(
            "severity_penalty",
            penalty,
            "penalty for a match of different severities, from 0 to 1",
            _penalty,
            show_number,
        ),
        Parameter("side", side, "texts whose spans count: target, source or both", choice(*_SIDES)),
    )


_WEIGHTS = Parameter("weights", "none", "weights of a minor and a major error, such as 1:5 (without penalty)", _weights)
_PERRELLA = "Perrella et al. 2026"


def _definition(name: str, meaning: str, formula: str, source: str, parameters: tuple[Parameter, ...]) -> Definition:
    return Definition(
        SpanMeasure,
        name,
        "seg",
        meaning,
        formula,
        source,
        parameters,
        range="[0, 1]",
        is_correlation=False,
        needs_spans=True,
    )


DEFINITIONS = (
    _definition(
        "mpp",
        "F of error spans by the share of each that overlaps",
        "P = Σ(o/|p|)ρ / #p, R = Σ(o/|g|)ρ / #g, F = 2PR/(P + R)",
        _PERRELLA,
        (*_parameters("one_to_one", 0.0, "both"), _WEIGHTS),
    ),
    _definition(
        "mp",
        "F of error spans that overlap at all",
        "P = Σρ / #p, R = Σρ / #g over matched spans",
        _PERRELLA,
        _parameters("one_to_one", 0.0, "both"),
    ),
    _definition(
        "em",
        "F of error spans with the same bounds",
        "P = Σρ / #p, R = Σρ / #g over equal spans",
        _PERRELLA,
        _parameters("one_to_one", 0.0, "both"),
    ),
    _definition(
        "char_f1",
        "F of characters in error spans, the official score of WMT25's task 2",
        "P = Σoρ / Σ|p|, R = Σoρ / Σ|g|, in characters of translations",
        "WMT25 shared task on automated translation evaluation, task 2",
        _parameters("many_to_many", 0.5, "target"),
    ),
)
