"""Correlation of system scores over the best systems only: pearson(top=n)."""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

import numpy as np

from metaeval import kernels
from metaeval.kernels.agreement.systems import top_systems
from metaeval.kernels.arrays.checks import Bools, Floats
from metaeval.kernels.resampling.draws import Origins
from metaeval.kernels.resampling.permutation import Swap
from metaeval.kernels.resampling.permutation_system import SystemSwap, system_swap
from metaeval.kernels.resampling.published_tests import LEAST_SYSTEMS
from metaeval.kernels.resampling.resampled_statistics import ResampleStatistic, system_resample, without_noise
from metaeval.measures.applicable import HOLDING_OF_PEARSON, SYSTEMS_RESAMPLED
from metaeval.measures.measure import Definition, Values
from metaeval.measures.parameters import Parameter, whole_number
from metaeval.measures.system_level import SystemMeasure
from metaeval.options import Options, Population, Test
from queries.blocks import Block


class TopPearson(SystemMeasure):
    """Pearson's r over the n best systems by people; these are chosen again in every resample."""

    holding: ClassVar[Mapping[Population, tuple[Test, ...]]] = HOLDING_OF_PEARSON
    z_of: ClassVar[float] = 1.0
    has_pairs: ClassVar[bool] = False
    why_tests: ClassVar[str] = (
        f"{SystemMeasure.why_tests}; Williams' test is exact for normal scores, from {LEAST_SYSTEMS} systems on"
    )

    def included(self, human: Floats) -> Bools:
        return top_systems(human, self["top"])

    def value(self, block: Block, options: Options) -> Values:
        found = self.scores(block, options)
        value = kernels.system_correlation(found.human, found.metrics, "pearson")
        return Values(value, n_systems=int(np.count_nonzero(~np.isnan(found.human))), system_score=found.used)

    @property
    def tests(self) -> tuple[Test, ...]:
        williams: tuple[Test, ...] = ("williams",) if self["top"] >= LEAST_SYSTEMS else ()
        return ("perm-systems", "perm-inputs", "perm-both", *williams, *SYSTEMS_RESAMPLED)

    def swap_of(self, human: Floats, metrics: Floats, swap: Swap, options: Options, truth: Floats) -> SystemSwap:
        return system_swap(human, metrics, "pearson", swap, truth=truth)

    def resample_of(self, human: Floats, metrics: Floats) -> ResampleStatistic:
        return system_resample(human, metrics, partial(_of_resample, self["top"]))


def _of_resample(top: int, human: Floats, metrics: Floats, origins: Origins) -> Floats:
    human = without_noise(human)
    best = np.where(top_systems(human, top), human, np.nan)
    return kernels.system_correlation(best, without_noise(metrics), "pearson")


DEFINITION = Definition(
    TopPearson,
    "pearson",
    "sys",
    "linear correlation over the systems that humans rank highest",
    "Pearson's r over the top n systems",
    "Mathur et al. 2020",
    (
        Parameter(
            "top",
            10,
            "number of systems, those that humans rank highest; systems tied with the last of them are included",
            whole_number(2),
            always=True,
        ),
    ),
    needs_segments=False,
)
