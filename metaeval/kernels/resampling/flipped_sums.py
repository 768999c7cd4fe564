"""Inner counts of soft pairwise accuracy for every hybrid of two metrics: sums of flipped segments, compared.

A hybrid's sum over the flipped segments is what metric a keeps less what it lacks: it is at most 0 where the taken part
of b is at most the kept part of a. Each part depends on one metric, so a draw needs M sums of either kind for each
system pair and flip, and M² comparisons of them, which take most of the time: they run over long stretches of memory.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Bools, Floats, Ints

from .permutation import TOLERANCE
from .swap_units import Swap

#: Rounding of a sum of standardised scores, for each segment; sums nearer than this to 0 are 0.
ROUNDING = 64 * float(np.finfo(np.float64).eps)
#: Flips compared at a time: a multiple of 8, and at most 255 in each of 8 byte lanes.
CHUNK = 2040
#: Outcomes of comparisons held at a time, one byte each.
OUTCOMES = 1 << 22
#: The same, of system pairs that are compared together.
AT_ONCE = 1 << 18


class FlippedSums:
    """Sums of the flipped segments' differences, for each system pair of one draw after the other.

    scores: (M, N, S) standardised, 0 where not judged; judged: (N, S); flips: (n_flips, S), True where the sign is −1;
    swaps: (n_draws, *mask_shape).
    """

    def __init__(self, swap: Swap, scores: Floats, judged: Bools, flips: Bools, swaps: Bools) -> None:
        used = judged.sum(axis=0) >= 2
        self._swap = swap
        self._judged = judged[:, used]
        self._masks = swaps[..., used]
        scores = scores[:, :, used]
        if swap == "inputs":  # what systems share on a segment cancels; without it sums round less
            means = scores.sum(axis=1, keepdims=True) / self._judged.sum(axis=0)
            scores = np.where(self._judged, scores - means, 0.0)
        self._scores = scores
        n_metrics, n_systems, n_segments = scores.shape
        by_segment = scores.transpose(2, 1, 0).reshape(n_segments, n_systems * n_metrics)
        self._by_segment = np.ascontiguousarray(by_segment)
        n_flips = len(flips)
        self._n_padding = -n_flips % 8  # flips of nothing: always counted, then taken off
        self._flips = np.zeros((n_segments, n_flips + self._n_padding))
        self._flips[:, :n_flips] = flips[:, used].T
        self._first, self._second = np.triu_indices(n_systems, 1)
        pairs = list(zip(self._first, self._second, strict=True))
        n_pairs, n_sums = len(pairs), n_metrics * self._flips.shape[1]
        self._n_at_once = max(1, min(n_pairs, AT_ONCE // max(1, n_metrics * n_sums)))
        self._rooms: dict[tuple[int, int], _Room] = {}
        everything = np.ones(self._judged.shape, dtype=np.bool_)
        self._whole = self._system_sums(everything)
        self._whole_lone = {
            pair: gaps for pair, (i, j) in enumerate(pairs) if (gaps := self._lone_gaps(i, j, everything)) is not None
        }
        slacks = [self._slack(i, j) for i, j in pairs]
        self._whole_slack = np.array([whole for whole, _ in slacks]).reshape(n_pairs, n_metrics, 1)
        self._slacks = np.array([swapped for _, swapped in slacks]).reshape(n_pairs, len(swaps), n_metrics, 1)

    def counts(self, draw: int) -> Iterator[tuple[slice, Ints]]:
        """For some system pairs at a time: which, and [pair, shift, a], the number of flips in which the hybrid of
        metric a with the swapped units of metric (a + shift) mod M has a sum of 0 or less, (pairs, M, M).
        """
        mask = np.broadcast_to(self._masks[draw], self._judged.shape)
        taken = self._system_sums(mask)
        kept = self._whole - taken
        n_flips = taken.shape[2]
        for start in range(0, len(self._first), self._n_at_once):
            pairs = range(start, min(start + self._n_at_once, len(self._first)))
            which = slice(pairs.start, pairs.stop)
            lone = [self._lone_parts(pair, mask) for pair in pairs]
            taken_slack = self._slacks[which, draw]
            kept_slack = self._whole_slack[which] - taken_slack
            counts = np.full((len(pairs), len(self._scores), len(self._scores)), -self._n_padding)
            for begin in range(0, n_flips, CHUNK):
                some = slice(begin, min(begin + CHUNK, n_flips))
                room = self._room(len(pairs), some.stop - begin)
                for place, pair in enumerate(pairs):
                    i, j = self._first[pair], self._second[pair]
                    np.subtract(taken[i, :, some], taken[j, :, some], out=room.taken[place])
                    np.subtract(kept[j, :, some], kept[i, :, some], out=room.kept[place])
                    if (parts := lone[place]) is not None:
                        room.taken[place] += parts[0][:, some]
                        room.kept[place] += parts[1][:, some]
                room.taken -= taken_slack
                room.kept += kept_slack
                counts += room.counts()
            yield which, counts

    def _room(self, n_pairs: int, n_flips: int) -> _Room:
        """Used again for as many pairs and flips."""
        if (n_pairs, n_flips) not in self._rooms:
            self._rooms[n_pairs, n_flips] = _Room(n_pairs, len(self._scores), n_flips)
        return self._rooms[n_pairs, n_flips]

    def _lone_parts(self, pair: int, mask: Bools) -> tuple[Floats, Floats] | None:
        """What is added to the taken and the kept gap of a pair for segments that only one of its systems has."""
        whole = self._whole_lone.get(pair)
        if whole is None or (extra := self._lone_gaps(self._first[pair], self._second[pair], mask)) is None:
            return None
        return extra, extra - whole

    def _system_sums(self, mask: Bools) -> Floats:
        """Sums of each system's masked, flipped scores over its judged segments: (N, M, n_flips)."""
        n_metrics, n_systems = self._scores.shape[:2]
        chosen = np.flatnonzero(mask.any(axis=0))
        scores = self._by_segment[chosen]
        if self._swap == "both":
            scores *= np.repeat(mask[:, chosen], n_metrics, axis=0).T
        sums: Floats = scores.T @ self._flips[chosen]  # (N·M, s) @ (s, n_flips)
        return sums.reshape(n_systems, n_metrics, -1)

    def _lone_gaps(self, i: np.integer, j: np.integer, mask: Bools) -> Floats | None:
        """What takes the segments that only one of the two systems has out of their gap, (M, n_flips).

        None where both have the same segments.
        """
        is_lone = self._judged[i] ^ self._judged[j]
        if not is_lone.any():
            return None
        chosen = np.flatnonzero(is_lone & (mask[i] | mask[j]))
        first = np.where(mask[i, chosen], self._scores[:, i, chosen], 0.0)
        second = np.where(mask[j, chosen], self._scores[:, j, chosen], 0.0)
        return np.asarray((second - first) @ self._flips[chosen], dtype=np.float64)

    def _slack(self, i: np.integer, j: np.integer) -> tuple[Floats, Floats]:
        """Half of 1e-9 Σ |d|, of all segments (M,) and of the swapped part in each draw (n_draws, M).

        Ties are decided within twice this. All segments' slack has the rounding of the sums on top.
        """
        both = self._judged[i] & self._judged[j]
        if self._swap == "both":  # Σ |d| of a hybrid is not a sum of parts; Σ |x_i| + |x_j| bounds it
            parts = [(np.abs(self._scores[:, k][:, both]), self._masks[:, k][:, both]) for k in (i, j)]
        else:
            parts = [(np.abs(self._scores[:, i] - self._scores[:, j])[:, both], self._masks[:, both])]
        whole = sum(np.asarray(size.sum(axis=1)) for size, _ in parts)
        swapped = sum(np.asarray(mask.astype(np.float64) @ size.T) for size, mask in parts)
        half = 0.5 * TOLERANCE
        rounding = ROUNDING * self._judged.shape[1]
        return np.asarray(half * whole + rounding), np.asarray(half * swapped)


class _Room:
    """Both sides of the comparisons of some system pairs, and their outcomes.

    taken, kept: (pairs, M, n) to be filled. All shifts are windows on the same memory, in which the metrics' taken
    parts stand twice, so comparisons run over long stretches; outcomes, one byte each, are added up eight at a time.
    """

    def __init__(self, n_pairs: int, n_metrics: int, n_flips: int) -> None:
        self.kept = np.empty((n_pairs, n_metrics, n_flips))
        self._twice = np.empty((n_pairs, 2, n_metrics, n_flips))
        self.taken = self._twice[:, 0]
        size = n_metrics * n_flips
        windows = np.lib.stride_tricks.sliding_window_view(self._twice.reshape(n_pairs, -1), size, axis=1)
        self._windows = windows[:, :: max(1, n_flips)][:, :n_metrics]
        self._mine = self.kept.reshape(n_pairs, 1, size)
        self._step = min(n_metrics, max(1, OUTCOMES // max(1, n_pairs * size)))
        self._outcomes = np.empty((n_pairs, self._step, size), dtype=np.bool_)
        self._lanes = self._outcomes.view(np.uint64).reshape(n_pairs, self._step, n_metrics, -1)

    def counts(self) -> Ints:
        """[pair, shift, a]: flips where taken of metric (a + shift) mod M ≤ kept of metric a, (pairs, M, M)."""
        self._twice[:, 1] = self.taken
        n_pairs, n_metrics, _ = self.kept.shape
        sums = np.empty((n_pairs, n_metrics, n_metrics), dtype=np.uint64)
        for first in range(0, n_metrics, self._step):
            shifts = slice(first, min(first + self._step, n_metrics))
            n_shifts = shifts.stop - first
            np.less_equal(self._windows[:, shifts], self._mine, out=self._outcomes[:, :n_shifts])
            np.einsum("psak->psa", self._lanes[:, :n_shifts], out=sums[:, shifts])
        return _lane_sums(sums)


def _lane_sums(lanes: npt.NDArray[np.uint64]) -> Ints:
    """Sum of the eight bytes of each number: first in pairs, then by one multiplication."""
    even = np.uint64(0x00FF00FF00FF00FF)
    pairs = (lanes & even) + ((lanes >> np.uint64(8)) & even)  # four sums of 16 bits
    return ((pairs * np.uint64(0x0001000100010001)) >> np.uint64(48)).astype(np.int64)
