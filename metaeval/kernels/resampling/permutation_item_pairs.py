"""Taus by item of hybrids, for any swap: pairs of a segment's systems are counted by matrix products.

A pair of systems (i, j) of a hybrid has both scores from metric a, both from metric b, or one from each. The draw alone
decides which of these it is, and the metrics alone decide the sign of its difference, so the balance of right and wrong
pairs for all draws and hybrids is a product of two matrices. Their entries are whole and their sums small, hence exact
in float32.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.pair_counts import PairCounts, pair_counts
from metaeval.kernels.agreement.tau import CountStatistic, OnNan, Pool, average
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints, ratio
from metaeval.kernels.arrays.grouping import group_labels
from metaeval.kernels.resampling.permutation import standardise
from metaeval.kernels.resampling.prepared import Swap, SwapStatistic, mask_shape

Singles = npt.NDArray[np.float32]
#: Hybrids times segments whose counts are held at a time.
AT_ONCE = 1 << 16
#: Systems up to which sums of pairs are exact in float32.
MOST_SYSTEMS = 1 << 11


@dataclass(frozen=True)
class ItemPairsSwap(SwapStatistic):
    """A tau by item of every hybrid; segments, systems or single scores are swapped.

    human: (N, S), NaN = not judged; scores: (M, N, S) standardised. own: (M,) value of each metric. alike: (2, n) pairs
    of metrics that share a score on some segment, in both orders. statistic, pool, on_nan: as in `tau.average`.
    """

    swap: Swap
    human: Floats
    scores: Floats
    own: Floats
    alike: Ints
    statistic: CountStatistic
    pool: Pool
    on_nan: OnNan

    def hybrids(self, swaps: Bools) -> Floats:
        return self.wanted_hybrids(swaps, np.ones((self.n_metrics, self.n_metrics), dtype=np.bool_))

    def wanted_hybrids(self, swaps: Bools, wanted: Bools) -> Floats:
        """See `SwapStatistic`; others are NaN."""
        mask = {"inputs": swaps[:, np.newaxis], "systems": swaps[:, :, np.newaxis]}.get(self.swap, swaps)
        mask = np.broadcast_to(mask, (len(swaps), *self.human.shape))
        a, b = np.nonzero(wanted)
        how = self._pooled if self.pool == "pairs" else self._averaged
        values = np.full((len(swaps), self.n_metrics, self.n_metrics), np.nan)
        values[:, a, b] = how(mask, _Hybrids(a, b, self._alike_among(a, b)))
        diagonal = np.arange(self.n_metrics)
        values[:, diagonal, diagonal] = self.own
        return values

    def _alike_among(self, a: Ints, b: Ints) -> Ints:
        is_alike = np.zeros((self.n_metrics, self.n_metrics), dtype=np.bool_)
        is_alike[*self.alike] = True
        return np.flatnonzero(is_alike[a, b])

    def _averaged(self, mask: Bools, hybrids: _Hybrids) -> Floats:
        shape = (len(mask), hybrids.a.size)
        total, n_defined, n_groups = np.zeros(shape), np.zeros(shape), 0
        step = max(1, AT_ONCE // (len(mask) * self.n_metrics**2))  # however many are wanted: sums round alike
        waiting: list[_Counts] = []
        for counts in self._by_segment(mask, hybrids):
            waiting.append(counts)
            n_groups += 1
            if len(waiting) == step:
                self._add(waiting, total, n_defined)
                waiting = []
        if waiting:
            self._add(waiting, total, n_defined)
        return ratio(total, n_defined if self.on_nan == "drop" else np.float64(n_groups))

    def _add(self, counts: list[_Counts], total: Floats, n_defined: Floats) -> None:
        values = self.statistic(_as_pair_counts(counts)).reshape((*total.shape, len(counts)))
        defined = ~np.isnan(values)
        total += np.where(defined, values, 0.0).sum(axis=-1)
        n_defined += defined.sum(axis=-1)

    def _pooled(self, mask: Bools, hybrids: _Hybrids) -> Floats:
        shape = (len(mask), hybrids.a.size)
        summed: PairCounts | None = None
        for counts in self._by_segment(mask, hybrids):
            one = _as_pair_counts([counts])
            summed = one if summed is None else summed + one
        if summed is None:
            return np.full(shape, np.nan)
        values: Floats = self.statistic(summed.pooled()).reshape(shape)
        return np.where(np.isnan(values), 0.0, values) if self.on_nan == "zero" else values

    def _by_segment(self, mask: Bools, hybrids: _Hybrids) -> Iterator[_Counts]:
        """Counts of each segment with at least two judged systems."""
        for segment in range(self.human.shape[1]):
            systems = np.flatnonzero(~np.isnan(self.human[:, segment]))
            if systems.size > 1:
                human, scores = self.human[systems, segment], self.scores[:, systems, segment]
                yield _counts(human, scores, mask[:, systems, segment], hybrids)


class _Hybrids(NamedTuple):
    """Metric a with scores from metric b, both (H,), and the indices of the pairs that are alike."""

    a: Ints
    b: Ints
    alike: Ints


class _Counts(NamedTuple):
    """Pairs of one segment and every hybrid, (k, H): concordant minus discordant, untied by metric and humans, untied
    by the metric; and the numbers of all pairs, of pairs untied by humans, and of systems.
    """

    balance: Singles
    untied: Singles
    metric_untied: Singles
    n_pairs: int
    human_untied: int
    n_systems: int


def _counts(human: Floats, scores: Floats, mask: Bools, hybrids: _Hybrids) -> _Counts:
    """human: (n,), scores: (M, n), mask: (k, n), True = taken from metric b."""
    n_systems = human.size
    a, b, alike = hybrids
    taken = mask.astype(np.float32)
    kept = 1 - taken
    first, second = np.triu_indices(n_systems, 1)
    sign = np.sign(human[first] - human[second]).astype(np.float32)
    clear = np.abs(sign)
    metric_sign = np.sign(scores[:, first] - scores[:, second]).astype(np.float32).T  # (n_pairs, M)
    metric_clear = np.abs(metric_sign)
    sums = []
    for source in (kept, taken):
        pairs = source[:, first] * source[:, second]
        sums.append(((pairs * sign) @ metric_sign, (pairs * clear) @ metric_clear, pairs @ metric_clear))
    balance, untied, metric_untied = (
        own.take(a, axis=1) + other.take(b, axis=1) for own, other in zip(*sums, strict=True)
    )
    first, second = np.concatenate([first, second]), np.concatenate([second, first])
    sign, clear = np.concatenate([sign, -sign]), np.concatenate([clear, clear])
    pairs = kept[:, first] * taken[:, second]
    signed, told = pairs * sign, pairs * clear
    higher, lower = scores[:, first], scores[:, second]
    above = (higher.take(a, axis=0) > lower.take(b, axis=0)).astype(np.float32)
    balance += 2 * (signed @ above.T)
    balance -= signed.sum(axis=1)[:, np.newaxis]
    untied += told.sum(axis=1)[:, np.newaxis]
    metric_untied += pairs.sum(axis=1)[:, np.newaxis]
    if alike.size:  # neither above nor below
        tied = (higher[a[alike]] == lower[b[alike]]).astype(np.float32).T
        balance[:, alike] += signed @ tied
        untied[:, alike] -= told @ tied
        metric_untied[:, alike] -= pairs @ tied
    n_pairs = n_systems * (n_systems - 1) // 2
    return _Counts(balance, untied, metric_untied, n_pairs, int(clear.sum()) // 2, n_systems)


def _as_pair_counts(counts: list[_Counts]) -> PairCounts:
    """The counts of some segments as groups, of hybrids as metrics."""
    balance, untied, metric_untied = (
        np.stack([getattr(one, name).ravel() for one in counts], axis=1).astype(np.int64)
        for name in ("balance", "untied", "metric_untied")
    )
    n_pairs, human_untied, n_scores = (
        np.array([getattr(one, name) for one in counts], dtype=np.int64)
        for name in ("n_pairs", "human_untied", "n_systems")
    )
    return PairCounts(
        n_concordant=(untied + balance) // 2,
        n_discordant=(untied - balance) // 2,
        n_tied_human=metric_untied - untied,
        n_tied_metric=human_untied - untied,
        n_tied_both=n_pairs - human_untied - metric_untied + untied,
        n_scores=n_scores,
        labels=np.arange(len(counts)),
        n_distinct=np.full(untied.shape, -1, dtype=np.int64),
        epsilon=np.zeros(len(untied)),
    )


def item_pairs_swap(
    human: npt.ArrayLike,
    metrics: npt.ArrayLike,
    statistic: CountStatistic,
    swap: Swap = "both",
    *,
    pool: Pool = "groups",
    on_nan: OnNan = "drop",
) -> ItemPairsSwap:
    """A function of pair counts by item, without a tie threshold, prepared for `permutation_test`.

    human: (N, S), NaN = not judged; metrics: (M, N, S), standardised before the swaps. statistic: from counts to
    (n_metrics, n_groups), any but tau_c; pool, on_nan: as in `tau.average`, except "common".
    Raises ValueError: arrays, or too many systems.
    """
    human = checks.human_scores(human)
    if len(human) > MOST_SYSTEMS:
        raise ValueError(f"{len(human)} systems: sums of their pairs are exact for at most {MOST_SYSTEMS}")
    metrics = checks.metric_scores(metrics, ~np.isnan(human))
    scores = standardise(human, metrics)
    labels = group_labels("item", human.shape)
    own = average(statistic, pair_counts(human, scores, labels), pool, on_nan).value
    alike = _alike(scores, ~np.isnan(human))
    shape = mask_shape(swap, human.shape)
    return ItemPairsSwap(
        swap, human, scores, own, alike, statistic, pool, on_nan, n_metrics=len(scores), mask_shape=shape
    )


def _alike(scores: Floats, judged: Bools) -> Ints:
    """(2, n) metrics a ≠ b that give equal scores to two judged systems on some segment."""
    n_metrics, n_systems, n_segments = scores.shape
    flat = np.where(judged, scores, np.nan).reshape(-1, n_segments)
    order: Ints = np.argsort(flat, axis=0, kind="stable")
    ordered = np.take_along_axis(flat, order, axis=0)
    metric = order // n_systems
    found = np.zeros((n_metrics, n_metrics), dtype=np.bool_)
    for apart in range(1, len(flat)):  # in a run of equal scores all others
        is_equal = ordered[apart:] == ordered[:-apart]
        if not is_equal.any():
            break
        found[metric[:-apart][is_equal], metric[apart:][is_equal]] = True
    found |= found.T
    np.fill_diagonal(found, False)
    return np.stack(np.nonzero(found))
