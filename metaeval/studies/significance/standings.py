"""Metrics or systems, best first, with tests of every pair: ranks, clusters, and warnings about them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.clusters import (
    Correction,
    best_first,
    corrected_pairs,
    indistinct_across_clusters,
    ranks,
    share_with_clusters,
    significance_clusters,
)
from metaeval.kernels.resampling.draws import Alternative
from metaeval.results.notes import Decisive, hinted
from metaeval.results.sentences import (
    against_the_leader,
    first_of,
    leading,
    named,
    not_counted,
    number,
    of_a_test,
)
from warehouse.wording import counted, option

Columns = Mapping[str, Any]
_NONE: Columns = {}


@dataclass(frozen=True)
class Standings:
    """Metrics, or systems, best first (equal values in their original order).

    ranks: 0 without a value. p: (M, M), [i, j] for i < j = p-value that i is better than j (that they differ, if
    two-sided); NaN elsewhere. corrected: the same after the correction. least: (M, M), where the corrected p is 0, the
    bound that it is below; elsewhere the corrected p itself. clusters: from 1; entries without a value are last, in a
    cluster of their own.
    """

    names: tuple[str, ...] = field(metadata={"stored": "metrics"})
    values: Floats
    ranks: Ints
    p: Floats
    corrected: Floats
    least: Floats
    clusters: Ints
    correction: Correction
    alpha: float

    @property
    def n_significant(self) -> int:
        """Pairs with corrected p ≤ alpha."""
        return int(np.count_nonzero(self.corrected <= self.alpha))

    @property
    def n_clusters(self) -> int:
        """Number of clusters among entries with a value."""
        return len(np.unique(self.clusters[~np.isnan(self.values)]))

    @property
    def indistinct(self) -> list[tuple[str, str]]:
        """Pairs in different clusters that do not differ significantly."""
        pairs = indistinct_across_clusters(self.values, self.corrected, self.alpha)
        return [(self.names[better], self.names[worse]) for better, worse in pairs]

    def in_words(
        self,
        by: str,
        of: str,
        population: str,
        alternative: str,
        ranked: Sequence[tuple[str, float]] = (),
        idle: Collection[str] = (),
        n_left: int = 0,
    ) -> str:
        """Who leads, and how many do not differ significantly from the first.

        by: what has the values; of: "metric" or "system". ranked: names and values, best first, if some that have a
        value were not tested. idle: metrics that cannot lead, as they judge nothing. n_left: how many have no value.
        """
        tested = {name: one for name, one in zip(self.names, self.values.tolist(), strict=True) if one == one}
        value = dict(ranked) or tested
        first, others, high = first_of(list(value), list(value.values()), idle)
        among = f" of {counted(len(value) - len(high), of)}" if n_left or not tested.keys() >= value.keys() else ""
        leads = [leading(by, first, value[first[0]], of=among, most=most) for most in (3, 1)]
        known = [name for name in value if name in tested]
        if not tested.keys() & {*first} and (known if {*first} <= {*idle} else {*known} - {*idle}):
            first, others, below = first_of(known, [value[name] for name in known], idle)
            high += [name for name in below if name not in high]
            verb = "leads" if len(first) == 1 else "lead"
            leads = [
                f"{lead}, untested. Of the {len(known) - len(below)} tested, {named(first, most)} {verb} "
                f"({number(value[first[0]])})"
                for lead, most in zip(leads, (2, 1), strict=True)
            ]
        place = {name: at for at, name in enumerate(self.names)}
        rows, columns = ([place[name] for name in names if name in tested] for names in (first, others))
        p = self.corrected[np.ix_(rows, columns)]  # that a first one is better than another
        reverse = self.corrected[np.ix_(columns, rows)].T  # where the test's values have the opposite order
        cases = (p <= self.alpha, reverse <= self.alpha, ~np.isnan(np.fmin(p, reverse)))
        is_alike = all((one == one[:1]).all() for one in cases)  # for all that share the first place
        is_worse, is_better, is_tested = (one[:1].any(axis=0) for one in cases)
        is_open = is_tested & ~is_worse & ~is_better
        n_in_cluster = int((is_open & (self.clusters[columns] == 1)).sum())
        open_, better = ([self.names[columns[at]] for at in np.flatnonzero(one)] for one in (is_open, is_better))
        them = "it" if len(first) == 1 else "them"
        return against_the_leader(
            leads,
            open_,
            int(is_worse.sum()),
            int(is_tested.sum()),
            of_a_test(population, self.alpha, alternative),
            of,
            them=them if is_alike and not better else self.names[rows[0]],
            better=better,
            asides=not_counted(high),
            left=f"{counted(n_left, f'more {of}')} cannot be compared." if n_left else "",
            n_in_cluster=n_in_cluster if (self.clusters[rows] == 1).all() else None,
            is_partly=int(is_tested.sum()) < len(others),
        )

    def frame(self, kind: str, ranges: Columns = _NONE, more: Columns = _NONE) -> pl.DataFrame:
        """Rank (and ranges), name, value, cluster, further columns, and a column of corrected p-values per name."""
        return pl.DataFrame(
            {
                "rank": [int(rank) or None for rank in self.ranks],
                **ranges,
                kind: list(self.names),
                "value": pl.Series(self.values).fill_nan(None),
                "cluster": self.clusters,
                **more,
                **{name: pl.Series(self.corrected[:, at]).fill_nan(None) for at, name in enumerate(self.names)},
            }
        )

    @property
    def least_by_name(self) -> dict[str, list[float]]:
        """The bound that a p of 0 stands for in each row, by column of the frame."""
        return {name: self.least[:, place].tolist() for place, name in enumerate(self.names)}


def standings(
    names: Sequence[str], values: Floats, p: Floats, correction: Correction, alpha: float, resolution: float
) -> Standings:
    """p: (M, M), [a, b] = p-value that a is better than b, in the order of names. resolution: the bound of a p of 0."""
    order = best_first(values)
    values, raw = values[order], corrected_pairs(p[np.ix_(order, order)], "none")
    corrected = corrected_pairs(raw, correction)
    return Standings(
        names=tuple(names[place] for place in order),
        values=values,
        ranks=np.where(np.isnan(values), 0, ranks(values)),
        p=raw,
        corrected=corrected,
        least=corrected_pairs(np.where(raw == 0, resolution, raw), correction),
        clusters=significance_clusters(values, corrected, alpha),
        correction=correction,
        alpha=alpha,
    )


def warning_of_clusters(indistinct: Sequence[tuple[str, str]], of: str = "metrics") -> list[str]:
    """A note on metrics or systems in different clusters that do not differ significantly, if there are any."""
    if not indistinct:
        return []
    better, worse = indistinct[0]
    pairs = counted(len(indistinct), f"pair of {of} is", f"pairs of {of} are")
    return [
        Decisive(
            f"{pairs} in different clusters without a significant difference, such as {better} and {worse}",
            "pairs in different clusters without a significant difference:",
            str(len(indistinct)),
            len(indistinct),
        )
    ]


def clusters_by_chance(found: Standings, side: Alternative, of: str = "metrics") -> list[str]:
    """A note on the number of clusters after correction for all comparisons, as some clusters may be due to chance.

    No note for two entries, without tests, or if p-values are already corrected. With too few resamples, the note gives
    a range, from p-values of 0 and from the bounds that they stand for.
    """
    if found.correction != "none" or len(found.names) < 3 or np.isnan(found.p).all():
        return []
    # Holm multiplies a p of 0 as if it were exact; what it stands for may be too large to stay significant.
    has_value = ~np.isnan(found.values)
    by_holm = (
        significance_clusters(found.values, corrected_pairs(p, "holm"), found.alpha) for p in (found.least, found.p)
    )
    n, most = sorted(len(np.unique(clusters[has_value])) for clusters in by_holm)
    there = f"there {'is' if most == 1 else 'are'} {counted(n, 'cluster')}"
    if n < most:
        there = f"there are {n} to {most} clusters; more {option('resamples')} would decide"
    tested = int(np.count_nonzero(has_value))
    share = share_with_clusters(tested, found.alpha, two_sided=side == "two-sided")
    return [
        hinted(
            f"every pair of {of} is tested, so some clusters arise by chance: {tested} equally good {of} form more "
            f"than one in about {min(share, 0.99):.0%} of data sets; corrected for all comparisons (Holm) {there}",
            option("correction", "holm"),
        )
    ]


def unresolved(found: Standings, resolution: float) -> list[str]:
    """A note on significant p-values of 0 that a correction could make insignificant, if there are any.

    resolution: the bound that an uncorrected p of 0 stands for.
    """
    is_significant = found.corrected <= found.alpha
    n = int(np.count_nonzero(is_significant & (found.least > found.alpha)))
    if not n:
        return []
    return [
        f"{n} p-values of 0 mean below {resolution:.2g}, which the correction could raise to "
        f"{np.nanmax(found.least[is_significant]):.2g}; more {option('resamples')} would show whether they are "
        "significant"
    ]
