"""Measures made of pair counts: the taus, acc23, kendall_like and tabular."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np

from metaeval import kernels
from metaeval.kernels.agreement.pair_counts import PairCounts, standard_deviations
from metaeval.kernels.agreement.tau import STATISTICS, CountStatistic
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.arrays.grouping import group_scores
from metaeval.kernels.resampling.draws import Origins
from metaeval.kernels.resampling.prepared import ResampleStatistic, Swap, SwapStatistic, mask_shape
from metaeval.measures.in_groups import GroupMeasure
from metaeval.measures.judged import JudgedSegments, labels
from metaeval.measures.measure import Definition, Values
from metaeval.measures.options import Options
from metaeval.measures.parameters import BY, EPSILON, ON_NAN, Parameter, Value, choice, number, shortest, show_number
from queries.blocks import Block
from warehouse.facts.human_protocols import protocol_of

POOL = Parameter("pool", "groups", "mean over groups, or all pairs together", choice("groups", "pairs"))


class CountedPairs(GroupMeasure):
    """A function of the numbers of concordant, discordant and tied pairs."""

    @property
    def statistic_name(self) -> str:
        """Name of its statistic in `STATISTICS`."""
        return self.name

    @property
    def statistic(self) -> CountStatistic:
        """Compute the measure from pair counts, (M, n_groups)."""
        return STATISTICS[self.statistic_name]

    @property
    def counts_shared_ties(self) -> bool:
        return self.name in ("acc23", "tau_23")

    @property
    def threshold(self) -> tuple[float, bool]:
        """The tie threshold, and whether it is in standard deviations of the metric."""
        epsilon = self.get("epsilon", 0.0)
        return (float(epsilon.removesuffix("sd")), True) if isinstance(epsilon, str) else (float(epsilon), False)

    def counts(self, labels: Ints, human: Floats, metrics: Floats) -> PairCounts:
        """The pair counts from which the measure is computed."""
        epsilon, relative = self.threshold
        return kernels.pair_counts(human, metrics, labels, epsilon, relative=relative)

    def value(self, block: Block, options: Options) -> Values:
        counts = self.counts(labels(block, self.by), block.human, block.scores)
        mean = kernels.average(self.statistic, counts, self.pool, self.on_nan)  # type: ignore[arg-type]
        return Values(
            mean.value,
            epsilon=counts.epsilon if self.has("epsilon") else None,
            n_pairs=counts.n_pairs.sum(axis=1),
            n_groups=len(counts.labels) if self.pool == "groups" else 1,
            n_groups_nan=mean.n_groups_nan,
            counts=counts.pooled(),
        )

    def of_groups(self, labels: Ints, human: Floats, metrics: Floats) -> Floats:
        counts = self.counts(labels, human, metrics)
        return kernels.average(self.statistic, counts, self.pool, self.on_nan).value  # type: ignore[arg-type]

    def of_resample(self, human: Floats, metrics: Floats, origins: Origins) -> Floats:
        from metaeval.kernels.resampling.resampled_items import pair_counts_without_copies

        epsilon, relative = self.threshold
        groups = self.labels_of(human)
        counts = pair_counts_without_copies(human, metrics, groups, epsilon, relative=relative, origins=origins)
        return kernels.average(self.statistic, counts, self.pool, self.on_nan).value  # type: ignore[arg-type]

    def table(self, judged: JudgedSegments) -> tuple[Floats, Ints]:
        assert judged.labels is not None
        counts = self.counts(judged.labels, judged.human, judged.scores)
        return self.statistic(counts), counts.labels

    def _thresholds(self, judged: JudgedSegments) -> Floats:
        """Tie threshold of each metric, (M,), in its own units."""
        epsilon, relative = self.threshold
        if not relative:
            return np.full(len(judged.scores), epsilon)
        assert judged.labels is not None
        return epsilon * standard_deviations(group_scores(judged.human, judged.scores, judged.labels))

    @property
    def count_statistic(self) -> CountStatistic | None:
        return self.statistic if self.threshold[0] == 0 else None

    def whole_groups(self, judged: JudgedSegments, swap: Swap) -> SwapStatistic:
        from metaeval.kernels.resampling.permutation_groups import pooled_counts_swap

        if self.pool == "groups":
            return super().whole_groups(judged, swap)
        assert judged.labels is not None
        counts = self.counts(judged.labels, judged.human, judged.scores)
        return pooled_counts_swap(counts, self.statistic, mask_shape(swap, judged.human.shape))

    def resample_of(self, judged: JudgedSegments) -> ResampleStatistic:
        from metaeval.kernels.resampling.resampled_items import item_resample

        if self.by == "item" and self.on_nan == "drop" and self.pool == "groups":
            return item_resample(judged.human, judged.scores, self.statistic_name, self._thresholds(judged))
        return super().resample_of(judged)

    @property
    def adds_up(self) -> bool:
        return True

    def pooled(self, values: Floats, n_pairs: Ints, counts: Sequence[PairCounts]) -> Floats:
        return self.statistic(sum(counts[1:], counts[0]))[:, 0]


class TauC(CountedPairs):
    """Stuart's τ_c, which also looks at the number of distinct scores in a group."""

    @property
    def count_statistic(self) -> CountStatistic | None:
        return None

    @property
    def adds_up(self) -> bool:
        return False


class Accuracy(CountedPairs):
    """The share of right pairs among the pairs that humans do not tie."""

    @property
    def statistic_name(self) -> str:
        return "accuracy" if self["ties"] == "wrong" else "accuracy_with_half_ties"

    def value(self, block: Block, options: Options) -> Values:
        found = super().value(block, options)
        assert found.counts is not None
        return replace(found, details={"n_tied_metric": found.counts.n_tied_metric[:, 0].astype(np.float64)})


class Tabular(CountedPairs):
    """Any τ of the WMT family, from its table of coefficients."""

    @property
    def statistic(self) -> CountStatistic:
        return partial(kernels.tabular, coefficients=coefficient_table(str(self["coefficients"])))

    @property
    def is_quick_to_resample(self) -> bool:
        return False

    def resample_of(self, judged: JudgedSegments) -> ResampleStatistic:
        return GroupMeasure.resample_of(self, judged)


_DA_THRESHOLD = 25.0  # the organisers', on raw direct assessment


def _is_raw_percent(human: str) -> bool:
    """Whether a human score may consist of raw judgements from 0 to 100; True for an unknown name."""
    name = human.casefold()
    return not (name.endswith("-z") or protocol_of(human) == "mqm")


class KendallLike(CountedPairs):
    """The τ of WMT's DA years, over pairs whose human scores differ clearly."""

    why_tests: ClassVar[str] = "pairs are within segments, so whole segments are swapped"

    @property
    def by(self) -> str:
        return "item"

    @property
    def statistic(self) -> CountStatistic:
        return kernels.tau_10

    @property
    def count_statistic(self) -> CountStatistic | None:
        return None  # not all pairs count

    def remark_on(self, human: str | None) -> str | None:
        if self["threshold"] != _DA_THRESHOLD or human is None or _is_raw_percent(human):
            return None
        return f"a threshold of {_DA_THRESHOLD:g} is meant for raw direct assessment from 0 to 100, not for {human}"

    def counts(self, labels: Ints, human: Floats, metrics: Floats) -> PairCounts:
        return kernels.thresholded_pair_counts(human, metrics, labels, float(self["threshold"]))

    @property
    def is_quick_to_resample(self) -> bool:
        return False

    def resample_of(self, judged: JudgedSegments) -> ResampleStatistic:
        return GroupMeasure.resample_of(self, judged)

    def of_resample(self, human: Floats, metrics: Floats, origins: Origins) -> Floats:
        return GroupMeasure.of_resample(self, human, metrics, origins)  # copies differ by less than the threshold


def coefficient_table(text: str) -> list[list[float | None]]:
    """The 3×3 table of `tabular`: rows (human <, =, >) between `/`, cells (metric <, =, >) between `:`, X = excluded.

    Raises ValueError: another form.
    >>> coefficient_table("1:X:-1/X:X:X/-1:X:1")[0]
    [1.0, None, -1.0]
    """
    rows = [row.split(":") for row in text.split("/")]
    if len(rows) != 3 or any(len(row) != 3 for row in rows):
        raise ValueError(
            "3 rows separated by '/', each of 3 coefficients separated by ':', such as 1:X:-1/X:X:X/-1:X:1"
        )
    table = [[None if cell.strip().upper() == "X" else float(cell) for cell in row] for row in rows]
    if any(cell is not None and not math.isfinite(cell) for row in table for cell in row):
        raise ValueError("finite coefficients, or X")
    if any(table[row][column] != table[2 - row][2 - column] for row in range(3) for column in range(3)):
        raise ValueError("a table that is unchanged when rotated by 180 degrees (pairs are unordered)")
    return table


def _coefficients(text: str) -> Value:
    table = coefficient_table(text)
    return "/".join(":".join("X" if cell is None else shortest(cell) for cell in row) for row in table)


def _zero(text: str) -> Value:
    if EPSILON.parse(text) != 0:
        raise ValueError("0: tau_c is defined for epsilon = 0 only")
    return 0.0


def _positive(text: str) -> Value:
    value = number(text)
    if not 0 < value < math.inf:
        raise ValueError("a number above 0")
    return value


def _tau(name: str, meaning: str, formula: str, source: str) -> Definition:
    return Definition(CountedPairs, name, "seg", meaning, formula, source, (BY, EPSILON, POOL, ON_NAN))


DEFINITIONS = (
    _tau("tau_a", "ties count as neither right nor wrong", "(C−D) / P", "Kendall 1938"),
    _tau("tau_b", "corrected for ties on both sides", "(C−D) / √((C+D+Th)(C+D+Tm))", "Kendall 1945"),
    Definition(
        TauC,
        "tau_c",
        "seg",
        "corrected for different numbers of values; epsilon 0 only",
        "2(C−D) / (n²(k−1)/k)",
        "Stuart 1953",
        (BY, replace(EPSILON, parse=_zero), ON_NAN),
    ),
    _tau("tau_10", "a metric tie is an error", "(C−D−Tm) / (C+D+Tm)", "Callison-Burch et al. 2010"),
    _tau("tau_13", "ties are excluded", "(C−D) / (C+D)", "Macháček and Bojar 2013"),
    _tau("tau_14", "a metric tie is neither right nor wrong", "(C−D) / (C+D+Tm)", "Macháček and Bojar 2014"),
    _tau("tau_23", "ties by both are correct, other ties wrong", "(C+Thm−D−Th−Tm) / P", "Deutsch et al. 2023, table 1"),
    replace(
        _tau("acc23", "share of correct pairs, ties included", "(C+Thm) / P", "Deutsch et al. 2023, table 1"),
        range="[0, 1]",
        is_correlation=False,
    ),
)
ACCURACY = Definition(
    Accuracy,
    "accuracy",
    "seg",
    "share of correct pairs among those with different human scores; for challenge sets",
    "C / (C+D+Tm), or (C + Tm/2) / (C+D+Tm)",
    "Amrhein et al. 2022; Karpinska et al. 2022",
    (BY, Parameter("ties", "wrong", "how a metric tie counts", choice("wrong", "half")), EPSILON, POOL, ON_NAN),
    range="[0, 1]",
    is_correlation=False,
)
KENDALL_LIKE = Definition(
    KendallLike,
    "kendall_like",
    "seg",
    "agreement on pairs with clearly different DA scores (daRR); a metric tie is an error",
    "(C−D−Tm) / (C+D+Tm) over pairs with |Δh| ≥ threshold",
    "Bojar et al. 2017",
    (
        Parameter(
            "threshold", _DA_THRESHOLD, "smallest raw human difference for a pair to count", _positive, show_number
        ),
        Parameter("pool", "pairs", "all pairs together, or mean over segments", choice("groups", "pairs")),
    ),
)
TABULAR = Definition(
    Tabular,
    "tabular",
    "seg",
    "any τ of the WMT family from its table of coefficients",
    "Σ coefficient · pairs / Σ pairs",
    "Deutsch et al. 2023, appendix B",
    (
        BY,
        Parameter(
            "coefficients",
            "1:X:-1/X:X:X/-1:X:1",
            "weight of each outcome: rows human <,=,>, columns metric <,=,>, X = excluded",
            _coefficients,
            always=True,
        ),
        EPSILON,
        POOL,
        ON_NAN,
    ),
)
