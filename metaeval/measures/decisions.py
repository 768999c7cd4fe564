"""Metrics as decisions, good enough or not: mcc, f_beta, precision, recall, areas, re-ranking and errors of scores."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement import decisions
from metaeval.kernels.agreement.decisions import Decision, best_decision, decide
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.draws import Origins
from metaeval.kernels.resampling.prepared import IntervalMethod, ResampleStatistic, Swap, SwapStatistic
from metaeval.measures.judged import JudgedSegments, Units, judged_segments
from metaeval.measures.measure import Definition, Measure, Values
from metaeval.measures.options import Options, Population, Test
from metaeval.measures.parameters import Parameter, Value, number, show_number
from metaeval.measures.system_scores import usual_factor
from queries.blocks import Block
from warehouse import QuestionError

ERROR_FREE, BEST = "error_free", "best"
LEAST_ERROR_FREE = 85.0  # of an output without a marked error, on the scale 0 to 100 (WMT26, task 3)
N_FOLDS = 5
NO_DETAILS: Mapping[str, Floats] = MappingProxyType({})


@dataclass(frozen=True)
class Good:
    """The good judged outputs. values: (N, S) 1, 0 or NaN; rule: in words; why: the reason if nothing defines good."""

    values: Floats
    rule: str
    why: str | None = None


def good_outputs(block: Block, rule: object) -> Good:
    """The good outputs of a block. rule: the lowest human score that counts as good, or error_free.

    Error-free means 0 on a scale of penalties, whose scores contain the errors; on other scales, no marked error, and
    at least 85 if scores go beyond 1.
    """
    human = block.human
    unjudged = np.isnan(human)
    if rule != ERROR_FREE:
        least = float(str(rule))
        return Good(np.where(unjudged, np.nan, human >= least), f"score>={show_number(least)}")
    scores = human[~unjudged]
    if scores.size and scores.max() <= 0 and scores.min() < 0:
        return Good(np.where(unjudged, np.nan, human >= 0), "score>=0")
    if block.marked_errors is None:
        name = block.selection.human
        why = f"{name} has no marked errors, so it cannot say which outputs are error_free"
        return Good(np.full(human.shape, np.nan), ERROR_FREE, why)
    no_error = np.where(unjudged | np.isnan(block.marked_errors), np.nan, block.marked_errors == 0)
    if scores.size and scores.max() > 1:
        return Good(np.where(human < LEAST_ERROR_FREE, no_error * 0, no_error), "no_marked_error,score>=85")
    return Good(no_error, "no_marked_error")


class OutputMeasure(Measure):
    """A measure over all judged outputs of a slice; undefined if the human or the metric scores are constant."""

    interval: ClassVar[IntervalMethod] = "normal"
    holding: ClassVar[Mapping[Population, tuple[Test, ...]]] = {
        "segments": ("bootstrap-normal", "jackknife-segments", "bootstrap"),
        "systems": (),
        "both": (),
    }
    why_tests: ClassVar[str] = (
        "equally good metrics may err on different segments, which swaps average away; segments are resampled or left "
        "out in groups, and what is chosen by the data (a threshold, a calibration) is chosen again each time"
    )

    @property
    def tests(self) -> tuple[Test, ...]:
        return ("bootstrap-normal", "jackknife-segments", "bootstrap")

    def swapped(self, block: Block, swap: Swap, options: Options, epsilon: npt.ArrayLike | None) -> SwapStatistic:
        raise QuestionError(f"measure {str(self)!r} has no permutation test; its tests are {', '.join(self.tests)}")

    def resampled(self, block: Block, options: Options, epsilon: npt.ArrayLike | None) -> ResampleStatistic:
        kept = block.judged.any(axis=0)
        return self.of_judged(block, judged_segments(block), self._good(block).values[:, kept])

    @abstractmethod
    def of_judged(self, block: Block, judged: JudgedSegments, good: Floats) -> ResampleStatistic:
        """The measure on judged segments, (N, S'), prepared for resampling; good: (N, S')."""

    @property
    def groups(self) -> str:
        return "none"

    @property
    def measured_as(self) -> str:
        return self.name

    def without_variation(self, block: Block) -> str | None:
        return _unvaried(block, self._good(block))

    def _good(self, block: Block) -> Good:
        """Good outputs; the human scores themselves for measures that do not need good outputs."""
        if not self.has("good"):
            return Good(block.human, "")
        return good_outputs(block, self["good"])

    def _values(self, block: Block, good: Good, values: Floats, details: Mapping[str, Floats] = NO_DETAILS) -> Values:
        """Values, with reasons for undefined ones, and additions to the rows and the signature."""
        constant = _constant(block)
        values = np.where(constant, np.nan, values)
        if self.without_variation(block) is not None:
            values = np.full(len(values), np.nan)
        why = {
            metric.name: "gives all outputs the same score"
            for metric, is_constant in zip(block.metrics, constant, strict=True)
            if is_constant
        }
        said: tuple[tuple[str, object], ...] = ()
        prevalence = float(np.nanmean(good.values)) if (~np.isnan(good.values)).any() else np.nan
        if self.has("good"):
            said = (("good", good.rule), ("prevalence", f"{prevalence:.6g}"))
        own = {name: np.where(np.isnan(values), np.nan, of) for name, of in details.items()}
        if self.has("threshold"):
            own["prevalence"] = np.full(len(values), prevalence)
        return Values(values, details=own, why=why, more_parts=said)


class DecisionMeasure(OutputMeasure):
    """A statistic of outputs classified by a threshold, by default the best of all thresholds."""

    interval: ClassVar[IntervalMethod] = "centred"

    @property
    def beta2(self) -> float:
        return float(self.get("beta2", 1.0))

    @property
    def calibrated_on(self) -> str | None:
        threshold = self["threshold"]
        return threshold if isinstance(threshold, str) and threshold != BEST else None

    def value(self, block: Block, options: Options) -> Values:
        good = self._good(block)
        found = [
            _decision(good.values, scores, self._best(good.values, scores) if threshold is None else threshold)
            for scores, threshold in zip(block.scores, self._thresholds(block), strict=True)
        ]
        values = np.array([self._statistic_of(one) for one in found])
        details = {
            name: np.array([np.nan if one is None else getattr(one, name) for one in found])
            for name in ("threshold", "precision", "recall")
        }
        answer = self._values(block, good, values, details=details)
        if self.calibrated_on is None:
            return answer
        sources = "+".join(f"{one.selection.slice.testset} {one.selection.slice.lp}" for one in block.elsewhere)
        without = [metric.name for metric, one in zip(block.metrics, found, strict=True) if one is None]
        why = {**dict.fromkeys(without, f"no threshold from {sources}"), **answer.why}
        return replace(answer, why=why, more_parts=(*answer.more_parts, ("calibrated_on", sources)))

    def _statistic_of(self, decision: Decision | None) -> float:
        if decision is None:
            return np.nan
        return decision.f_beta(self.beta2) if self.name == "f_beta" else float(getattr(decision, self.name))

    def _best(self, good: Floats, scores: Floats) -> float | None:
        found = best_decision(good, scores, self.name, self.beta2)  # type: ignore[arg-type]
        return None if found is None else found.threshold

    def _thresholds(self, block: Block) -> list[float | None]:
        """Threshold of each metric: None to choose it on the block; NaN if there is none."""
        threshold = self["threshold"]
        if threshold == BEST:
            return [None] * len(block.metrics)
        if self.calibrated_on is None:
            return [float(threshold)] * len(block.metrics)
        if not block.elsewhere:
            raise QuestionError(f"{self}: thresholds of another test set cannot be carried over here")
        own = [
            usual_factor(metric, block.selection.slice.testset, scores)
            for metric, scores in zip(block.metrics, block.scores, strict=True)
        ]
        return [
            self._carried(block, metric.base_name, metric.reference is None) / factor
            for metric, factor in zip(block.metrics, own, strict=True)
        ]

    def _carried(self, block: Block, base_name: str, is_reference_free: bool) -> float:
        goods, scores = [], []
        for one in block.elsewhere:
            for place, metric in enumerate(one.metrics):
                if (metric.base_name, metric.reference is None) == (base_name, is_reference_free):
                    factor = usual_factor(metric, one.selection.slice.testset, one.scores[place])
                    goods.append(good_outputs(one, self["good"]).values.ravel())
                    scores.append(one.scores[place].ravel() * factor)
                    break
        best = self._best(np.concatenate(goods), np.concatenate(scores)) if goods else None
        return np.nan if best is None else best

    def of_judged(self, block: Block, judged: JudgedSegments, good: Floats) -> ResampleStatistic:
        from metaeval.kernels.resampling.resampled_decisions import decision_resample

        found = self._thresholds(block)
        kept = None if self["threshold"] == BEST else np.array(found, dtype=np.float64)
        return decision_resample(good, judged.scores, self.name, self.beta2, kept)  # type: ignore[arg-type]


class BesideF(DecisionMeasure):
    """Precision or recall at the best F: a little more data may move the threshold far, and both values with it."""

    interval: ClassVar[IntervalMethod] = "percentile"
    holding: ClassVar[Mapping[Population, tuple[Test, ...]]] = {
        **OutputMeasure.holding,
        "segments": ("bootstrap-normal", "bootstrap"),
    }


class Area(OutputMeasure):
    """An area under a curve over all thresholds."""

    def value(self, block: Block, options: Options) -> Values:
        good = self._good(block)
        kernel = getattr(decisions, self.name)
        return self._values(block, good, np.array([kernel(good.values, scores) for scores in block.scores]))

    def of_judged(self, block: Block, judged: JudgedSegments, good: Floats) -> ResampleStatistic:
        from metaeval.kernels.resampling.resampled_decisions import curve_resample

        return curve_resample(good, judged.scores, self.name)


class Brier(OutputMeasure):
    """Minus the Brier score of probabilities from isotonic calibration on other documents."""

    known_by: ClassVar[str] = "jackknife"
    holding: ClassVar[Mapping[Population, tuple[Test, ...]]] = {
        **OutputMeasure.holding,
        "segments": ("jackknife-segments", "bootstrap-normal", "bootstrap"),
    }

    def value(self, block: Block, options: Options) -> Values:
        good, folds = self._good(block), folds_of(block)
        there = ~np.isnan(good.values)
        found = [
            -decisions.brier_score(good.values[there], scores[there], folds[there]) if there.any() else np.nan
            for scores in block.scores
        ]
        return self._values(block, good, np.array(found))

    def of_judged(self, block: Block, judged: JudgedSegments, good: Floats) -> ResampleStatistic:
        from metaeval.kernels.resampling.resampled_decisions import calibrated_resample

        folds = folds_of(block)[:, block.judged.any(axis=0)]
        return calibrated_resample(good, judged.scores, folds, decisions.brier_score)

    @property
    def is_quick_to_resample(self) -> bool:
        return False

    def standard_errors(self, block: Block, options: Options, units: Units) -> Floats:
        from metaeval.kernels.resampling.difference_tests import segment_errors

        return segment_errors(units.resampled(self.resampled(block, options, None)))


class ErrorOfScores(OutputMeasure):
    """Minus the error of a metric's raw scores relative to the human scores."""

    @property
    def power(self) -> int:
        return 2 if self.name == "rmse" else 1

    def value(self, block: Block, options: Options) -> Values:
        errors = np.abs(block.scores - block.human)[:, block.judged] ** self.power
        values = -(errors.mean(axis=1) ** (1 / self.power)) if block.judged.any() else np.full(len(errors), np.nan)
        return self._values(block, self._good(block), values)

    def of_judged(self, block: Block, judged: JudgedSegments, good: Floats) -> ResampleStatistic:
        from metaeval.kernels.resampling.resampled_decisions import error_resample

        return error_resample(judged.human, judged.scores, self.power)


class Reranking(OutputMeasure):
    """How often a metric's best output of a segment is also the best by human score."""

    @property
    def groups(self) -> str:
        return "item"

    def value(self, block: Block, options: Options) -> Values:
        found = [decisions.reranking_precision(block.human, scores) for scores in block.scores]
        details = {"human_of_selected": np.array([selected for _, selected in found])}
        return self._values(block, self._good(block), np.array([share for share, _ in found]), details=details)

    def of_judged(self, block: Block, judged: JudgedSegments, good: Floats) -> ResampleStatistic:
        from metaeval.kernels.resampling.resampled_statistics import any_resample

        return any_resample(judged.human, judged.scores, _reranked)


def _reranked(human: Floats, metrics: Floats, origins: Origins) -> Floats:
    return np.array([decisions.reranking_precision(human, one)[0] for one in metrics])


def folds_of(block: Block) -> Ints:
    """(N, S) fold of each output in cross-fitting: whole documents in turn, or segments if there are no documents.

    Units without judgements are skipped, so unjudged outputs change no value.
    """
    numbers: dict[object, int] = {}
    judged: npt.NDArray[np.bool_] = np.asarray(block.judged.any(axis=0))
    units = [
        numbers.setdefault(place if name is None else name, len(numbers)) if is_judged else 0
        for place, (name, is_judged) in enumerate(zip(block.selection.documents, judged, strict=True))
    ]
    return np.broadcast_to(np.array(units, dtype=np.int64) % N_FOLDS, block.human.shape)


def _decision(good: Floats, scores: Floats, threshold: float | None) -> Decision | None:
    return None if threshold is None or np.isnan(threshold) else decide(good, scores, threshold)


def _constant(block: Block) -> npt.NDArray[np.bool_]:
    """(M,) whether a metric has the same score for all judged outputs."""
    scores = block.scores[:, block.judged]
    if not scores.shape[1]:
        return np.zeros(len(scores), dtype=np.bool_)
    return np.asarray(scores.min(axis=1) == scores.max(axis=1))


def _unvaried(block: Block, good: Good) -> str | None:
    """Why the human scores leave nothing to decide; None if some outputs are good (score higher) and others are not."""
    if good.why is not None:
        return f"{good.why}; use good=NUMBER"
    values = good.values[~np.isnan(good.values)]
    human = block.selection.human
    if not values.size:
        return f"{human} has scores of no output"
    if values.min() < values.max():
        return None
    if not good.rule:
        return f"{human} gives all outputs the same score"
    return f"{human} puts all outputs in one class: {'all are' if values[0] else 'none is'} good by {good.rule}"


def _least(text: str) -> Value:
    if text == ERROR_FREE:
        return text
    if not np.isfinite(value := number(text)):
        raise ValueError(f"a number (the lowest human score that counts as good) or {ERROR_FREE}")
    return value


def _threshold(text: str) -> Value:
    value = number(text)
    if np.isfinite(value):
        return value
    if text.casefold().lstrip("+-") in ("nan", "inf", "infinity"):
        raise ValueError(f"a number, {BEST}, or the name of a test set")
    return text


def _beta2(text: str) -> Value:
    if not 0 < (value := number(text)) < np.inf:
        raise ValueError("a number above 0")
    return value


GOOD = Parameter(
    "good",
    ERROR_FREE,
    "outputs that are good: those with at least this human score, or without an error (error_free: 0 on a scale "
    "of penalties; else no marked error, and at least 85 on a scale to 100)",
    _least,
    show_number,
)
THRESHOLD = Parameter(
    "threshold",
    BEST,
    "outputs with at least this metric score are called good: a number, best (the best value here), or a test set "
    "(the best value there, in the same language pair, else over all its pairs)",
    _threshold,
    show_number,
)
BETA2 = Parameter("beta2", 1.0, "β² of F, the weight of recall", _beta2, show_number)
_PERRELLA = "Perrella et al. 2024"


def _definition(
    family: Callable[..., OutputMeasure],
    name: str,
    meaning: str,
    formula: str,
    source: str,
    parameters: tuple[Parameter, ...],
    range: str = "[0, 1]",
) -> Definition:
    return Definition(family, name, "seg", meaning, formula, source, parameters, range, is_correlation=False)  # type: ignore[arg-type]


_decided = partial(_definition, DecisionMeasure)

DEFINITIONS = (
    _decided(
        "mcc",
        "correlation between the metric's and the human decisions on which outputs are good",
        "(TP·TN − FP·FN) / √((TP+FP)(TP+FN)(TN+FP)(TN+FN)), 0 where the root is 0",
        "Matthews 1975",
        (GOOD, THRESHOLD),
        "[-1, 1]",
    ),
    _decided(
        "f_beta",
        "weighted harmonic mean of precision and recall, for the outputs that the metric calls good",
        "(1 + β²) P R / (β² P + R)",
        _PERRELLA,
        (BETA2, GOOD, THRESHOLD),
    ),
    _definition(
        BesideF,
        "precision",
        "share of good outputs among those that the metric calls good; the best threshold is that of f_beta",
        "TP / (TP + FP)",
        _PERRELLA,
        (BETA2, GOOD, THRESHOLD),
    ),
    _definition(
        BesideF,
        "recall",
        "share of good outputs that the metric calls good; the best threshold is that of f_beta",
        "TP / (TP + FN)",
        _PERRELLA,
        (BETA2, GOOD, THRESHOLD),
    ),
    _definition(
        Area,
        "average_precision",
        "mean precision over thresholds, each weighted by the number of good outputs that it adds",
        "Σ (R_n − R_{n−1}) P_n, equal scores together",
        "Manning et al. 2008, section 8.4",
        (GOOD,),
    ),
    _definition(
        Area,
        "roc_auc",
        "share of pairs of a good and a bad output in which the good one scores higher; ties count half",
        "(pairs won + ties / 2) / pairs",
        "Hanley and McNeil 1982",
        (GOOD,),
    ),
    _definition(
        Reranking,
        "rrp",
        "re-ranking precision: how often a segment's best output by the metric is also best by the human score",
        "mean over segments of |best by metric ∩ best by human score| / |best by metric|",
        _PERRELLA,
        (),
    ),
    _definition(
        ErrorOfScores,
        "rmse",
        "minus the root mean squared error of unscaled metric scores, so that higher is better",
        "−√mean (m − h)²",
        "Zerva et al. 2022",
        (),
        "[-inf, 0]",
    ),
    _definition(
        ErrorOfScores,
        "mae",
        "minus the mean absolute error of unscaled metric scores, so that higher is better",
        "−mean |m − h|",
        "Zerva et al. 2022",
        (),
        "[-inf, 0]",
    ),
    _definition(
        Brier,
        "brier",
        "minus the Brier score of calibrated metric scores (isotonic, cross-fitted by document): higher is better",
        "−mean (p − good)²",
        "Brier 1950",
        (GOOD,),
        "[-1, 0]",
    ),
)
