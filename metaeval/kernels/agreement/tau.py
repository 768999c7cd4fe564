"""Kendall's tau in its many forms, from pair counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Floats, Ints, ratio

from .pair_counts import PairCounts

Pool = Literal["groups", "pairs"]
OnNan = Literal["drop", "zero", "common"]
CountStatistic = Callable[[PairCounts], Floats]  # -> (n_metrics, n_groups)


def tau_a(counts: PairCounts) -> Floats:
    """(C − D) / all pairs, (n_metrics, n_groups), in [−1, 1]. Source: Kendall 1938."""
    return ratio(counts.n_concordant - counts.n_discordant, counts.n_pairs)


def tau_b(counts: PairCounts) -> Floats:
    """(C − D) / √((C+D+Th)(C+D+Tm)), (n_metrics, n_groups); NaN where either side is constant.

    Source: Kendall 1945. With a tie threshold above 0, "constant" means that no pair differs by more than the
    threshold.
    """
    untied = counts.n_concordant + counts.n_discordant
    metric_untied = (untied + counts.n_tied_human).astype(np.float64)
    human_untied = (untied + counts.n_tied_metric).astype(np.float64)
    return ratio(counts.n_concordant - counts.n_discordant, np.sqrt(metric_untied * human_untied))


def tau_c(counts: PairCounts) -> Floats:
    """2(C − D) / (n²(k−1)/k), (n_metrics, n_groups); NaN where either side is constant (k = 1).

    n: scores of the group; k: distinct human or metric values, whichever are fewer.
    Raises ValueError: a tie threshold above 0, or counts added up over groups.
    Source: Stuart 1953. Table 1 of Deutsch et al. 2023 prints the formula without the 2, but their results include it.
    """
    if (counts.epsilon != 0).any():
        raise ValueError(f"tau_c is defined for epsilon = 0 only, got {counts.epsilon.max()}")
    if (counts.n_distinct < 0).any():
        raise ValueError("tau_c needs the counts of whole groups: pool='groups'")
    k = counts.n_distinct.astype(np.float64)
    difference = 2.0 * (counts.n_concordant - counts.n_discordant)
    return ratio(difference * k, counts.n_scores.astype(np.float64) ** 2 * (k - 1))


def tau_10(counts: PairCounts) -> Floats:
    """(C − D − Tm) / (C + D + Tm), (n_metrics, n_groups); NaN where the human scores are constant.

    Source: Callison-Burch et al. 2010.
    """
    judged = counts.n_concordant + counts.n_discordant + counts.n_tied_metric
    return ratio(counts.n_concordant - counts.n_discordant - counts.n_tied_metric, judged)


def tau_13(counts: PairCounts) -> Floats:
    """(C − D) / (C + D), (n_metrics, n_groups); NaN where either side is constant.

    Source: Macháček and Bojar 2013.
    """
    return ratio(counts.n_concordant - counts.n_discordant, counts.n_concordant + counts.n_discordant)


def tau_14(counts: PairCounts) -> Floats:
    """(C − D) / (C + D + Tm), (n_metrics, n_groups); NaN where the human scores are constant.

    Source: Macháček and Bojar 2014.
    """
    judged = counts.n_concordant + counts.n_discordant + counts.n_tied_metric
    return ratio(counts.n_concordant - counts.n_discordant, judged)


def tau_23(counts: PairCounts) -> Floats:
    """(C + Thm − D − Th − Tm) / all pairs, (n_metrics, n_groups), in [−1, 1].

    Source: Deutsch et al. 2023, table 1.
    """
    right = counts.n_concordant + counts.n_tied_both
    return ratio(2 * right - counts.n_pairs, counts.n_pairs)


def acc23(counts: PairCounts) -> Floats:
    """(C + Thm) / all pairs, (n_metrics, n_groups), in [0, 1]. Source: Deutsch et al. 2023, table 1."""
    return ratio(counts.n_concordant + counts.n_tied_both, counts.n_pairs)


def accuracy(counts: PairCounts) -> Floats:
    """C / (C + D + Tm), (n_metrics, n_groups), in [0, 1]: share of pairs not tied by humans that the metric gets right.

    A metric tie is wrong. NaN where the human scores are constant. Source: Amrhein et al. 2022 (ACES), whose tau is
    twice this minus 1, and Karpinska et al. 2022 (DEMETR).
    """
    judged = counts.n_concordant + counts.n_discordant + counts.n_tied_metric
    return ratio(counts.n_concordant, judged)


def accuracy_with_half_ties(counts: PairCounts) -> Floats:
    """(C + Tm / 2) / (C + D + Tm), (n_metrics, n_groups), in [0, 1]: as `accuracy`, but a metric tie is half right."""
    judged = counts.n_concordant + counts.n_discordant + counts.n_tied_metric
    return ratio(counts.n_concordant + counts.n_tied_metric / 2, judged)


def tabular(counts: PairCounts, coefficients: Sequence[Sequence[float | None]]) -> Floats:
    """A tau of the WMT family from its table of coefficients, (n_metrics, n_groups).

    coefficients: 3 rows (human <, =, >) by 3 columns (metric <, =, >); None = the pairs of that cell are excluded.
        Value = Σ coefficient · pairs / Σ pairs over the included cells; NaN without such pairs. Pairs are unordered, so
        the table must stay the same when rotated by 180 degrees.
    Raises ValueError: not 3×3, or a table that depends on which score of a pair comes first.
    Source: Deutsch et al. 2023, appendix B, eq. 4 and tables 6–8.
    """
    if len(coefficients) != 3 or any(len(row) != 3 for row in coefficients):
        raise ValueError("coefficients must be 3 rows (human <, =, >) of 3 (metric <, =, >)")
    for row in range(3):
        for column in range(3):
            if coefficients[row][column] != coefficients[2 - row][2 - column]:
                raise ValueError(
                    f"coefficients [{row}][{column}] and [{2 - row}][{2 - column}] must be equal: pairs are unordered"
                )
    outcomes = (
        (coefficients[0][0], counts.n_concordant),
        (coefficients[0][2], counts.n_discordant),
        (coefficients[0][1], counts.n_tied_metric),
        (coefficients[1][0], counts.n_tied_human),
        (coefficients[1][1], counts.n_tied_both),
    )
    numerator = np.zeros(counts.n_concordant.shape)
    denominator = np.zeros(counts.n_concordant.shape, dtype=np.int64)
    for coefficient, n in outcomes:
        if coefficient is not None:
            numerator += coefficient * n
            denominator += n
    return ratio(numerator, denominator)


TAUS: Mapping[str, CountStatistic] = MappingProxyType(
    {
        "tau_a": tau_a,
        "tau_b": tau_b,
        "tau_c": tau_c,
        "tau_10": tau_10,
        "tau_13": tau_13,
        "tau_14": tau_14,
        "tau_23": tau_23,
        "acc23": acc23,
    }
)

STATISTICS: Mapping[str, CountStatistic] = MappingProxyType(
    {**TAUS, "accuracy": accuracy, "accuracy_with_half_ties": accuracy_with_half_ties}
)
"""The taus, and what else is made of pair counts alone, by name."""


@dataclass(frozen=True)
class GroupMean:
    """A statistic averaged over groups: arrays (n_metrics,).

    value: the mean, NaN without groups. n_groups: groups in the mean. n_groups_nan: groups in which the statistic is
    not defined.
    """

    value: Floats
    n_groups: Ints
    n_groups_nan: Ints


def group_mean(values: Floats, on_nan: OnNan = "drop") -> GroupMean:
    """Mean over groups of values (n_metrics, n_groups), NaN = not defined there.

    on_nan: "drop" excludes a metric's NaN groups, "zero" counts them as 0, "common" excludes the groups in which any
    metric of the call is NaN, so that all metrics are averaged over the same groups.
    Raises ValueError: an unknown on_nan.
    Source: Deutsch et al. 2023, section 4.2, on the effect of dropping groups.
    >>> group_mean(np.array([[1.0, np.nan], [0.5, 0.0]]), "common").value.tolist()
    [1.0, 0.5]
    """
    checks.known(on_nan, get_args(OnNan), "on_nan")
    is_nan = np.isnan(values)
    used = ~is_nan
    if on_nan == "zero":
        used = np.ones_like(is_nan)
    elif on_nan == "common":
        used = np.broadcast_to(~is_nan.any(axis=0), values.shape)
    n_groups = np.count_nonzero(used, axis=1).astype(np.int64)
    total = np.where(used & ~is_nan, values, 0.0).sum(axis=1)
    return GroupMean(ratio(total, n_groups), n_groups, np.count_nonzero(is_nan, axis=1).astype(np.int64))


def average(statistic: CountStatistic, counts: PairCounts, pool: Pool = "groups", on_nan: OnNan = "drop") -> GroupMean:
    """One value per metric from the counts of many groups.

    statistic: a function of this module, or any function from counts to (n_metrics, n_groups).
    pool: "groups" averages the statistic over groups, "pairs" adds the counts up first.
    Raises ValueError: an unknown pool or on_nan.
    """
    checks.known(pool, get_args(Pool), "pool")
    return group_mean(statistic(counts.pooled() if pool == "pairs" else counts), on_nan)
