"""Pairwise accuracy, hard and soft: pa and spa."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from metaeval import kernels
from metaeval.kernels.agreement.pair_counts import PairCounts
from metaeval.kernels.agreement.systems import pair_agreements
from metaeval.kernels.arrays.checks import Bools, Floats, Ints, ratio
from metaeval.kernels.resampling.prepared import IntervalMethod, ResampleStatistic, Swap, SwapStatistic
from metaeval.measures.applicable import HOLDING_OF_SYSTEMS, PERMUTATIONS, SYSTEMS_RESAMPLED
from metaeval.measures.judged import JudgedSegments, Units, judged_segments
from metaeval.measures.measure import Definition, Measure, Values
from metaeval.measures.options import Options, Population, SystemScore, Test
from metaeval.measures.parameters import Parameter, Value, choice, whole_number
from metaeval.measures.system_level import SystemMeasure, only_ties, scores_all_alike, unless_tied
from metaeval.measures.system_scores import without_noise
from queries.blocks import Block


class PairwiseAccuracy(SystemMeasure):
    """The share of system pairs that metric and human scores order the same way."""

    takes_few_values: ClassVar[bool] = True
    why_tests: ClassVar[str] = (
        f"{SystemMeasure.why_tests}; the bootstrap resamples pairs of systems (Kocmi et al. 2021)"
    )

    def value(self, block: Block, options: Options) -> Values:
        found = self.scores(block, options)
        agreement = kernels.pairwise_accuracy(found.human, found.metrics, self["ties"], raw_ties=options.raw_ties)
        values = unless_tied(agreement.accuracy, found.human)
        rewarded = scores_all_alike(found.human, found.metrics) & (values > 0)
        return Values(
            np.where(rewarded, np.nan, values),
            n_pairs=agreement.n_pairs,
            system_score=found.used,
            why=only_ties(block, rewarded),
        )

    def swap_of(self, human: Floats, metrics: Floats, swap: Swap, options: Options, truth: Floats) -> SwapStatistic:
        from metaeval.kernels.resampling.permutation_system import accuracy_swap

        return accuracy_swap(human, metrics, swap, ties=self["ties"], raw_ties=options.raw_ties, truth=truth)

    def pooled_swap(self, blocks: Sequence[Block], options: Options) -> SwapStatistic:
        from metaeval.kernels.resampling.permutation_system import pooled_swap

        found = [self.scores(block, options) for block in blocks]
        return pooled_swap([(one.human, one.metrics) for one in found], ties=self["ties"], raw_ties=options.raw_ties)

    def resample_of(self, human: Floats, metrics: Floats) -> ResampleStatistic:
        from metaeval.kernels.resampling.resampled_statistics import accuracy_resample

        return accuracy_resample(human, metrics, self["ties"])

    def resamples_segments(self, test: Test) -> bool:
        return test != "bootstrap" and super().resamples_segments(test)

    def claims(self, test: Test) -> Population:
        return "systems" if test == "bootstrap" else super().claims(test)

    def pair_agreements(self, block: Block, options: Options) -> Bools:
        found = self.scores(block, options)
        return pair_agreements(found.human, found.metrics, self["ties"], raw_ties=options.raw_ties)

    @property
    def adds_up(self) -> bool:
        return True

    def pooled(self, values: Floats, n_pairs: Ints, counts: Sequence[PairCounts]) -> Floats:
        return over_all_pairs(values, n_pairs)


def over_all_pairs(values: Floats, n_pairs: Ints) -> Floats:
    """Combine means over pairs (n_sets, M), each of n_pairs, into the mean over the pairs of all sets, (M,).

    A set without pairs adds nothing; NaN if no set has pairs, or if the value of a set with pairs is NaN.
    >>> over_all_pairs(np.array([0.8, np.nan]), np.array([10, 0])).tolist()
    0.8
    """
    return ratio(np.where(n_pairs > 0, values * n_pairs, 0.0).sum(axis=0), n_pairs.sum(axis=0))


PA = Definition(
    PairwiseAccuracy,
    "pa",
    "sys",
    "share of system pairs that the metric and human scores rank in the same order",
    "agreements / pairs",
    "Kocmi et al. 2021, section 4",
    (
        Parameter(
            "ties",
            "organisers",
            "organisers: zero differences agree with zero only; tship: human zeros are excluded",
            choice("organisers", "tship"),
        ),
    ),
    "[0, 1]",
    is_correlation=False,
    needs_segments=False,
)


_INFINITE, _SADDLEPOINT = "inf", "saddlepoint"


def sign_generator(seed: int) -> np.random.Generator:
    """Random generator for the signs of an evaluation set; the same wherever SPA is computed with the same seed."""
    return np.random.default_rng([seed, 0])


class SoftPairwiseAccuracy(Measure):
    """Agreement of metric and humans on how certain it is that one system is better than another."""

    holding: ClassVar[Mapping[Population, tuple[Test, ...]]] = HOLDING_OF_SYSTEMS
    fixed_system_score: ClassVar[SystemScore | None] = "judged-mean"
    interval: ClassVar[IntervalMethod] = "normal"  # values of resamples are biased, and their quantiles with them
    why_tests: ClassVar[str] = (
        "p-values of system pairs come from segments, which are resampled (Thompson et al. 2024 swap them), of "
        "n=saddlepoint by its normal limit; none for binary=yes, which the paper does not test"
    )

    def value(self, block: Block, options: Options) -> Values:
        judged_mean: SystemScore = "judged-mean"
        used = (judged_mean,) * len(block.metrics)
        undefined = Values(np.full(len(block.metrics), np.nan), n_pairs=0, system_score=used)
        if len(block.systems) < 2 or not block.judged.any():
            return undefined
        judged = judged_segments(block)
        best, worst = np.fmax.reduce(judged.human), np.fmin.reduce(judged.human)
        if not (best > worst).any():
            return undefined  # no segment has two human scores: there is nothing to agree with
        scores, mask = np.concatenate([judged.human[np.newaxis], judged.scores]), ~np.isnan(judged.human)
        p = self._p_values(scores, mask, self._signs(judged, options))
        with_common = mask.astype(np.int64) @ mask.T.astype(np.int64) > 0  # (N, N) pairs with common segments
        n_pairs = int(np.triu(with_common, 1).sum())
        if not n_pairs:
            return undefined
        value = kernels.soft_pairwise_accuracy(p[0], p[1:], counted=with_common, binary=self["binary"] == "yes")
        differs = np.where(mask, judged.scores, np.inf).min(axis=1) < np.where(mask, judged.scores, -np.inf).max(axis=1)
        rewarded = ~differs.any(axis=1) & _ties_systems(judged.human)
        tied = ((p[1:] == 1) & (p[1:].transpose(0, 2, 1) == 1) & np.triu(with_common, 1)).sum(axis=(1, 2))
        return Values(
            np.where(rewarded, np.nan, value),
            n_pairs=n_pairs,
            system_score=used,
            why=only_ties(block, rewarded),
            by_order=tied > n_pairs / 2,  # p is 1 whichever system of the pair is named first
        )

    @property
    def n_draws(self) -> int | None:
        return None if self["n"] in (_INFINITE, _SADDLEPOINT) else int(self["n"])

    def _p_values(self, scores: Floats, judged: Bools, signs: npt.NDArray[np.int8] | None) -> Floats:
        if signs is not None:
            return kernels.sign_flip_p_values(scores, judged, signs)
        of_all_signs = kernels.saddlepoint_p_values if self["n"] == _SADDLEPOINT else kernels.normal_p_values
        return of_all_signs(scores, judged)

    def _signs(self, judged: JudgedSegments, options: Options) -> npt.NDArray[np.int8] | None:
        """The random signs of an evaluation set; None if none are drawn."""
        if self.n_draws is None:
            return None
        return kernels.draw_signs(sign_generator(options.seed), self.n_draws, judged.human.shape[1])

    @property
    def tests(self) -> tuple[Test, ...]:
        if self["binary"] == "yes":
            return ()
        return SYSTEMS_RESAMPLED if self["n"] == _SADDLEPOINT else (*PERMUTATIONS, *SYSTEMS_RESAMPLED)

    @property
    def measured_as(self) -> str:
        return "spa(n=99)"  # fewer signs add no more than a little noise to both metrics alike

    def n_within(self, block: Block) -> int:
        return (self.n_draws or 0) * len(block.systems) * (len(block.systems) - 1) // 2

    @property
    def in_simulations(self) -> Measure:
        return replace(self, values=(_INFINITE, self["binary"]))

    def swapped(self, block: Block, swap: Swap, options: Options, epsilon: npt.ArrayLike | None) -> SwapStatistic:
        from metaeval.kernels.resampling.permutation_spa import soft_pairwise_swap

        judged = judged_segments(block)
        return soft_pairwise_swap(judged.human, judged.scores, self._signs(judged, options), swap)

    def resampled(self, block: Block, options: Options, epsilon: npt.ArrayLike | None) -> ResampleStatistic:
        from metaeval.kernels.resampling.resampled_spa import soft_pairwise_resample

        judged = judged_segments(block)
        return soft_pairwise_resample(judged.human, judged.scores, self._signs(judged, options))

    def standard_errors(self, block: Block, options: Options, units: Units) -> Floats | None:
        from metaeval.kernels.resampling.resampled_spa import soft_pairwise_standard_errors

        if self["binary"] == "yes":
            return None
        judged = judged_segments(block)
        return soft_pairwise_standard_errors(judged.human, judged.scores, ~np.isnan(judged.human), units.documents)

    @property
    def is_quick_to_resample(self) -> bool:
        return False

    @property
    def adds_up(self) -> bool:
        return True

    def pooled(self, values: Floats, n_pairs: Ints, counts: Sequence[PairCounts]) -> Floats:
        return over_all_pairs(values, n_pairs)


def _ties_systems(human: Floats) -> bool:
    """Whether any two systems have the same mean over their annotated segments. human: (N, S)."""
    judged = ~np.isnan(human)
    there = judged.any(axis=1)
    means = without_noise(ratio(np.where(judged, human, 0.0).sum(axis=1), judged.sum(axis=1))[there])
    return len(set(means.tolist())) < len(means)


MOST_SIGNS = 1_000_000  # a byte for each of them and segment


def _draws() -> Callable[[str], Value]:
    """Reads a number of sign draws, or a word for a method without draws."""
    read = whole_number(1, MOST_SIGNS)

    def parse(text: str) -> Value:
        try:
            return text if text in (_INFINITE, _SADDLEPOINT) else read(text)
        except ValueError as error:
            raise ValueError(f"{error}, {_INFINITE}, or {_SADDLEPOINT}") from error

    return parse


SPA = Definition(
    SoftPairwiseAccuracy,
    "spa",
    "sys",
    "agreement of the metric and human scores on how certain it is that one system is better than another",
    "1 − mean over system pairs of |p_human − p_metric|",
    "Thompson et al. 2024, eq. 1",
    (
        Parameter(
            "n",
            1000,
            "random sign vectors of the permutation test; without draws: inf = normal approximation, "
            "saddlepoint = saddlepoint approximation",
            _draws(),
        ),
        Parameter("binary", "no", "yes: p-values cut at 0.5 first (eq. 3)", choice("no", "yes")),
    ),
    "[0, 1]",
    is_correlation=False,
)
