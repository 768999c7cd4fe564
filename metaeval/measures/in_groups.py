"""The common part of measures over groups of segment scores: parameters, applicable tests and slow general kernels."""

from abc import abstractmethod
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from metaeval import kernels
from metaeval.kernels.agreement.tau import CountStatistic, tau_b
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.arrays.grouping import judged_groups
from metaeval.kernels.resampling.draws import Origins
from metaeval.kernels.resampling.prepared import ResampleStatistic, Swap, SwapStatistic, mask_shape
from metaeval.measures.applicable import PERMUTATIONS, RESAMPLED, SWAPS
from metaeval.measures.judged import JudgedSegments, judged_segments
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options, Test
from queries.blocks import Block
from warehouse import QuestionError

_ALIGNED: Mapping[str, Swap] = MappingProxyType({"item": "inputs", "system": "systems"})  # groups swapped whole


class GroupMeasure(Measure):
    """A statistic of groups of segment scores, averaged."""

    why_tests: ClassVar[str] = (
        "segments are what varies, so whole segments are swapped; with on_nan=common or a tie threshold in a metric's "
        "own units only whole groups can be; documents and domains are not resampled"
    )

    @property
    def by(self) -> str:
        """The grouping."""
        return str(self["by"])

    @property
    def on_nan(self) -> str:
        """Treatment of groups in which the statistic is not defined."""
        return str(self.get("on_nan", "drop"))

    @property
    def pool(self) -> str:
        """Whether group values are averaged, or pairs of all groups are counted together."""
        return str(self.get("pool", "groups"))

    @property
    def swaps_whole_groups_only(self) -> bool:
        """True if swaps must not mix scores inside a group."""
        return self.on_nan == "common" or self.get("epsilon", 0) != 0

    @property
    def tests(self) -> tuple[Test, ...]:
        return (*(self._whole if self.swaps_whole_groups_only else PERMUTATIONS), *self._resampled)

    @property
    def _whole(self) -> tuple[Test, ...]:
        return tuple(test for test in PERMUTATIONS if self.is_aligned(SWAPS[test]))

    @property
    def _resampled(self) -> tuple[Test, ...]:
        return () if self.by in ("doc", "domain") else RESAMPLED

    def is_aligned(self, swap: Swap) -> bool:
        """Whether this swap exchanges groups as a whole."""
        return _ALIGNED.get(self.by) == swap

    def judged(self, block: Block) -> JudgedSegments:
        """The judged segments of a block with their groups."""
        return judged_segments(block, self.by)

    @abstractmethod
    def of_groups(self, labels: Ints, human: Floats, metrics: Floats) -> Floats:
        """(M,) the measure of plain arrays: human (N, S), metrics (M, N, S), labels (N, S)."""

    @abstractmethod
    def table(self, judged: JudgedSegments) -> tuple[Floats, Ints]:
        """(M, n_groups) the statistic of each group, NaN where not defined, and the groups' labels."""

    def swapped(self, block: Block, swap: Swap, options: Options, epsilon: npt.ArrayLike | None) -> SwapStatistic:
        judged = self.judged(block)
        return self.whole_groups(judged, swap) if self.is_aligned(swap) else self.swap_of(judged, swap)

    @property
    def count_statistic(self) -> CountStatistic | None:
        """Function from pair counts, without a tie threshold, to the measure; None if it is not made of pair counts."""
        return None

    def swap_of(self, judged: JudgedSegments, swap: Swap) -> SwapStatistic:
        """The kernel that swaps inside groups; slow except for pairs by item and tau_b (families have faster ones)."""
        from metaeval.kernels.resampling.permutation_all_pairs import all_pairs_swap
        from metaeval.kernels.resampling.permutation_groups import any_swap
        from metaeval.kernels.resampling.permutation_item_pairs import item_pairs_swap

        if self.swaps_whole_groups_only and self.get("epsilon", 0) != 0:
            raise QuestionError(only_whole_groups(self))
        statistic = self.count_statistic
        if self.by == "item" and statistic is not None and self.on_nan != "common":
            how = {"pool": self.pool, "on_nan": self.on_nan}
            return item_pairs_swap(judged.human, judged.scores, statistic, swap, **how)  # type: ignore[arg-type]
        assert judged.labels is not None
        if statistic is tau_b and self.on_nan == "drop" and self.pool == "groups":
            return all_pairs_swap(judged.human, judged.scores, swap, judged.labels)
        return any_swap(judged.human, judged.scores, partial(self.of_groups, judged.labels), swap)

    def whole_groups(self, judged: JudgedSegments, swap: Swap) -> SwapStatistic:
        """The kernel that swaps whole groups: a hybrid takes each group's value from the group's metric."""
        from metaeval.kernels.resampling.permutation_groups import group_swap

        values, groups = self.table(judged)
        if self.on_nan == "zero":
            values = np.where(np.isnan(values), 0.0, values)
        elif self.on_nan == "common":
            shared = ~np.isnan(values).any(axis=0)
            values, groups = values[:, shared], groups[shared]
        return group_swap(values, groups, mask_shape(swap, judged.human.shape))

    def resampled(self, block: Block, options: Options, epsilon: npt.ArrayLike | None) -> ResampleStatistic:
        self.check_resampled()
        return self.resample_of(self.judged(block))

    def check_resampled(self) -> None:
        """Raises QuestionError: the groups cannot be resampled."""
        if not self._resampled:
            raise QuestionError("documents and domains cannot be resampled", about=f"measure {str(self)!r}")

    def resample_of(self, judged: JudgedSegments) -> ResampleStatistic:
        """The kernel that resamples; slow. Families have faster kernels."""
        from metaeval.kernels.resampling.resampled_statistics import any_resample

        return any_resample(judged.human, judged.scores, self.of_resample)

    @property
    def is_quick_to_resample(self) -> bool:
        return self.is_aligned("inputs")

    def of_resample(self, human: Floats, metrics: Floats, origins: Origins) -> Floats:
        """(M,) the measure of a resample, which has its own groups; copies make no pairs with each other."""
        return self.of_groups(self.labels_of(human), human, metrics)

    def labels_of(self, human: Floats) -> Ints:
        """Group labels of a resample; without documents and domains."""
        return kernels.group_labels(self.by, human.shape)  # type: ignore[arg-type]


def group_labels(judged: JudgedSegments) -> Ints:
    """Labels of the groups with at least two judged scores."""
    assert judged.labels is not None
    return judged_groups(judged.human, judged.labels).labels


def only_whole_groups(measure: Measure) -> str:
    """The error message for swaps that would mix scores with tie thresholds in different units."""
    return (
        f"measure {str(measure)!r} has a tie threshold in each metric's own units, so its scores can only be swapped "
        "in whole groups: by=item with perm-inputs, by=system with perm-systems"
    )
