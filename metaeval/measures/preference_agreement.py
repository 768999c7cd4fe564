"""Agreement of metrics with preferences, which say which of two outputs annotators find better: tau_rr and acc_rr."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from metaeval import kernels
from metaeval.kernels.agreement.pair_counts import PairCounts
from metaeval.kernels.agreement.preferences import best_preference_thresholds, preference_pair_counts
from metaeval.kernels.agreement.tau import CountStatistic
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.prepared import ResampleStatistic, Swap, SwapStatistic, mask_shape
from metaeval.measures.judged import LEAST_DOCUMENTS, Units
from metaeval.measures.measure import Definition, Measure, Values
from metaeval.measures.options import Options, Population, Test, TestUnit
from metaeval.measures.parameters import EPSILON, Parameter, Value, choice, show_number
from queries.blocks import Block
from queries.preference_blocks import differences_in
from queries.preferences import NOBODY
from warehouse import QuestionError
from warehouse.errors import IT
from warehouse.wording import counted, option

BEST = "best"
LEAST_ANNOTATORS = LEAST_DOCUMENTS  # swapping fewer cannot reach p = .05, either
_TAU: Mapping[str, CountStatistic] = MappingProxyType(
    {"wmt12": kernels.tau_10, "wmt13": kernels.tau_13, "wmt14": kernels.tau_14}
)


@dataclass(frozen=True)
class PreferenceMeasure(Measure):
    """A statistic of all preferences of a slice together, each as judged.

    by_annotator: preferences are swapped, resampled or excluded by annotator, not by segment.
    """

    by_annotator: bool = False

    holding: ClassVar[Mapping[Population, tuple[Test, ...]]] = {
        "segments": ("perm-inputs", "jackknife-segments", "bootstrap"),
        "systems": (),
        "both": (),
    }
    why_tests: ClassVar[str] = (
        "preferences are those of segments, so whole segments are swapped; no judge compares all systems on a segment, "
        "so systems are not"
    )

    @property
    @abstractmethod
    def statistic(self) -> CountStatistic:
        """Compute the measure from counts of preferences."""

    @property
    def tests(self) -> tuple[Test, ...]:
        return ("perm-inputs", "jackknife-segments", "bootstrap-normal", "bootstrap")

    def thresholds(self, differences: Floats, answer: Ints) -> Floats:
        """(M,) the tie threshold of each metric."""
        return np.zeros(len(differences))

    def counts(self, block: Block) -> PairCounts:
        """Preferences of each segment, or annotator, by outcome."""
        found, differences = differences_in(block)
        thresholds = self.thresholds(differences, found.answer)
        unit = found.rater if self.by_annotator else found.segment
        return preference_pair_counts(differences, found.answer, unit, thresholds)

    def value(self, block: Block, options: Options) -> Values:
        counts = self.counts(block).pooled()
        return Values(self.statistic(counts)[:, 0], n_pairs=self.n_counted(counts), counts=counts)

    def n_counted(self, counts: PairCounts) -> Ints:
        """(M,) number of preferences that the measure is computed from."""
        ordered: Ints = counts.n_concordant + counts.n_discordant + counts.n_tied_metric
        return ordered[:, 0]

    def without_variation(self, block: Block) -> str | None:
        answer = differences_in(block)[0].answer
        return None if answer.any() else f"{block.selection.human} prefers no output to another"

    def swapped(self, block: Block, swap: Swap, options: Options, epsilon: npt.ArrayLike | None) -> SwapStatistic:
        from metaeval.kernels.resampling.permutation_groups import pooled_counts_swap

        if swap != "inputs":
            raise QuestionError(f"measure {str(self)!r}: preferences are swapped by segments only")
        counts, n_units = self._by_unit(block)
        return pooled_counts_swap(counts, self.statistic, mask_shape(swap, (len(block.systems), n_units)))

    def resampled(self, block: Block, options: Options, epsilon: npt.ArrayLike | None) -> ResampleStatistic:
        from metaeval.kernels.resampling.resampled_items import PooledCountsResample

        counts, n_units = self._by_unit(block)
        return PooledCountsResample(self.statistic, counts, len(block.systems), n_units)

    def _by_unit(self, block: Block) -> tuple[PairCounts, int]:
        """The counts, labelled by the index of their segment among the judged segments, or of their annotator.

        Also returns the number of these units.
        """
        counts = self.counts(block)
        if self.by_annotator:
            return replace(counts, labels=np.arange(len(counts.labels))), len(counts.labels)
        judged = block.judged.any(axis=0)
        return replace(counts, labels=np.cumsum(judged)[counts.labels] - 1), int(judged.sum())

    def units(self, block: Block, asked: TestUnit | None = None) -> Units:
        """See `Measure.units`.

        Raises QuestionError: annotators are requested, but they are unknown or fewer than 6.
        """
        if asked != "annotator":
            return super().units(block, asked)
        raters = differences_in(block)[0].rater
        where = f"{block.selection.slice.testset} {block.selection.slice.lp}"
        way_out = f"take {option('unit', 'segment')}"
        if n := int((raters == NOBODY).sum()):
            reason = f"{counted(n, 'preference')} of {IT} of unknown annotators, and {option('unit', asked)} needs all"
            raise QuestionError(f"{reason}; {way_out}", where=where)
        n = len(np.unique(raters))
        if n < LEAST_ANNOTATORS:
            reason = f"{IT} has preferences by {counted(n, 'annotator')}, and {option('unit', asked)} needs at least"
            raise QuestionError(f"{reason} {LEAST_ANNOTATORS}: fewer cannot reach p = .05; {way_out}", where=where)
        return Units("annotator", n)

    def as_resampled(self, units: Units) -> "PreferenceMeasure":
        return replace(self, by_annotator=units.unit == "annotator")

    @property
    def adds_up(self) -> bool:
        return True

    def pooled(self, values: Floats, n_pairs: Ints, counts: Sequence[PairCounts]) -> Floats:
        return self.statistic(sum(counts[1:], counts[0]))[:, 0]


class TauOfPreferences(PreferenceMeasure):
    """The τ of WMT12 to WMT16, over the pairs that annotators do not tie."""

    @property
    def statistic(self) -> CountStatistic:
        return _TAU[self["ties"]]


class AccuracyOfPreferences(PreferenceMeasure):
    """The share of preferences on which a metric agrees with annotators, ties included; tests keep its threshold."""

    @property
    def statistic(self) -> CountStatistic:
        return kernels.acc23

    @property
    def counts_shared_ties(self) -> bool:
        return True

    def thresholds(self, differences: Floats, answer: Ints) -> Floats:
        epsilon = self["epsilon"]
        if epsilon == BEST:
            return best_preference_thresholds(differences, answer)
        return np.full(len(differences), float(epsilon))

    def value(self, block: Block, options: Options) -> Values:
        found = super().value(block, options)
        assert found.counts is not None
        return replace(found, epsilon=found.counts.epsilon)

    def n_counted(self, counts: PairCounts) -> Ints:
        return counts.n_pairs[:, 0]


def _threshold(text: str) -> Value:
    if text == BEST:
        return text
    if text.endswith("sd"):
        raise ValueError(f"a number of at least 0, or {BEST}")
    return EPSILON.parse(text)


DEFINITIONS = (
    Definition(
        TauOfPreferences,
        "tau_rr",
        "seg",
        "agreement on the pairs of outputs that annotators order, each as often as it was judged",
        "(C−D−Tm) / (C+D+Tm), (C−D) / (C+D) or (C−D) / (C+D+Tm)",
        "Callison-Burch et al. 2012; Macháček and Bojar 2013 and 2014",
        (
            Parameter(
                "ties",
                "wmt14",
                "a metric tie is an error (wmt12), excluded (wmt13), or neither right nor wrong (wmt14 to 16)",
                choice(*_TAU),
            ),
        ),
        needs_preferences=True,
    ),
    Definition(
        AccuracyOfPreferences,
        "acc_rr",
        "seg",
        "share of preferences in which the metric gives the human answer, ties included",
        "(C + Thm) / P over preferences",
        "Deutsch et al. 2023, on preferences",
        (Parameter("epsilon", BEST, "tie threshold ε: each metric's best, or a number", _threshold, show_number),),
        range="[0, 1]",
        is_correlation=False,
        needs_preferences=True,
    ),
)
