"""AP correlation of system scores: tau_ap."""

from typing import ClassVar

from metaeval.kernels.agreement.systems import tau_ap
from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.resampling.draws import Origins
from metaeval.kernels.resampling.permutation import Swap
from metaeval.kernels.resampling.permutation_system import SystemSwap, system_swap, tau_ap_of_hybrids
from metaeval.kernels.resampling.resampled_statistics import ResampleStatistic, system_resample
from metaeval.measures.measure import Definition, Values
from metaeval.measures.system_level import SystemMeasure, n_pairs, unless_tied
from metaeval.options import Options
from queries.blocks import Block


class TauAP(SystemMeasure):
    """Agreement on pairs of systems, of which those near the top of the metric's ranking weigh more.

    It is not pooled by pairs: what a pair weighs depends on the number of systems.
    """

    takes_few_values: ClassVar[bool] = True
    why_tests: ClassVar[str] = (
        f"{SystemMeasure.why_tests}; Williams' test is for Pearson's r; pairs of a system with its own copy in a "
        "resample are excluded"
    )

    def value(self, block: Block, options: Options) -> Values:
        found = self.scores(block, options)
        value = tau_ap(found.human, found.metrics, raw_ties=options.raw_ties)
        return Values(unless_tied(value, found.human), n_pairs=n_pairs(block), system_score=found.used)

    def swap_of(self, human: Floats, metrics: Floats, swap: Swap, options: Options, truth: Floats) -> SystemSwap:
        return system_swap(human, metrics, tau_ap_of_hybrids, swap, truth=truth)

    def resample_of(self, human: Floats, metrics: Floats) -> ResampleStatistic:
        return system_resample(human, metrics, _of_resample)


def _of_resample(human: Floats, metrics: Floats, origins: Origins) -> Floats:
    return tau_ap(human, metrics, systems=origins.systems)


DEFINITION = Definition(
    TauAP,
    "tau_ap",
    "sys",
    "pair agreement of system scores in which pairs near the top of the metric's ranking weigh more; ties as in pa",
    "2/(N−1) · Σ over ranks i ≥ 2 of C(i)/(i−1), − 1; C(i): systems above rank i and rightly so",
    "Yilmaz, Aslam and Robertson 2008",
    needs_segments=False,
)
