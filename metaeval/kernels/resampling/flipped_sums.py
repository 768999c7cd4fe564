"""Inner counts of soft pairwise accuracy for every hybrid of two metrics, by comparing sums of flipped segments.

A hybrid's sum over the flipped segments has a part kept from metric a and a part taken from metric b: it is at most 0
if the taken part of b is at most the kept part of a (with its sign turned). Each part depends on one metric, so a draw
needs M sums of either kind for each system pair and flip, and M² comparisons of them, which take most of the time: they
run over long stretches of memory.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.resampling.prepared import TOLERANCE, Swap

#: Rounding of a sum of standardised scores, for each segment; sums nearer than this to 0 are 0.
ROUNDING = 64 * float(np.finfo(np.float64).eps)
#: Flips compared at a time: a multiple of 8, and at most 255 in each of 8 byte lanes.
CHUNK = 2040
#: Outcomes of comparisons held at a time, one byte each.
OUTCOMES = 1 << 22
#: The same, of system pairs that are compared together.
AT_ONCE = 1 << 18
#: Sums of all segments that are kept for all draws; where there are more, they are computed in each.
GAPS_KEPT = 1 << 23


class FlippedSums:
    """Sums of the flipped segments' differences that all draws share.

    scores: (M, N, S) standardised, 0 where not judged; judged: (N, S); flips: (n_flips, S), True where the sign is −1.
    """

    def __init__(self, swap: Swap, scores: Floats, judged: Bools, flips: Bools) -> None:
        self.used: Bools = judged.sum(axis=0) >= 2
        self.swap = swap
        self.judged = judged[:, self.used]
        scores = scores[:, :, self.used]
        if swap == "inputs":  # what systems share on a segment cancels; without it sums round less
            means = scores.sum(axis=1, keepdims=True) / self.judged.sum(axis=0)
            scores = np.where(self.judged, scores - means, 0.0)
        self.scores = scores
        n_metrics, n_systems, n_segments = scores.shape
        by_segment = scores.transpose(2, 1, 0).reshape(n_segments, n_systems * n_metrics)
        self.by_segment = np.ascontiguousarray(by_segment)
        n_flips = len(flips)
        self.n_padding = -n_flips % 8  # flips of nothing: always counted, then taken off
        self.flips = np.zeros((n_segments, n_flips + self.n_padding))
        self.flips[:, :n_flips] = flips[:, self.used].T
        self.first, self.second = np.triu_indices(n_systems, 1)
        self._whole = (self.by_segment.T @ self.flips).reshape(n_systems, n_metrics, -1)
        everything = np.ones(self.judged.shape, dtype=np.bool_)
        self.whole_lone = {
            pair: gaps
            for pair, (i, j) in enumerate(zip(self.first, self.second, strict=True))
            if (gaps := self.lone_gaps(i, j, everything)) is not None
        }
        sizes = [size.sum(axis=1) for size, _ in map(self._sizes, range(self.first.size))]
        self._slack = 0.5 * TOLERANCE * np.array(sizes).reshape(-1, n_metrics, 1) + ROUNDING * n_segments
        self._gaps = None
        if self.first.size * n_metrics * self.flips.shape[1] <= GAPS_KEPT:
            self._gaps = self._whole_gaps(slice(0, self.first.size), slice(0, self.flips.shape[1]))

    def whole_gaps(self, pairs: slice, flips: slice) -> Floats:
        """Sums of all segments' differences with the sign turned, and the slack of ties: (pairs, M, flips)."""
        return self._whole_gaps(pairs, flips) if self._gaps is None else self._gaps[pairs, :, flips]

    def _whole_gaps(self, pairs: slice, flips: slice) -> Floats:
        gaps = np.empty((pairs.stop - pairs.start, len(self.scores), flips.stop - flips.start))
        for place, pair in enumerate(range(pairs.start, pairs.stop)):
            i, j = self.first[pair], self.second[pair]
            np.subtract(self._whole[j, :, flips], self._whole[i, :, flips], out=gaps[place])
            if pair in self.whole_lone:
                gaps[place] -= self.whole_lone[pair][:, flips]
        gaps += self._slack[pairs]
        return gaps

    def lone_gaps(self, i: np.integer, j: np.integer, mask: Bools) -> Floats | None:
        """Correction that removes the segments that only one of the two systems has from their gap, (M, n_flips).

        None if both have the same segments.
        """
        is_lone = self.judged[i] ^ self.judged[j]
        if not is_lone.any():
            return None
        chosen = np.flatnonzero(is_lone & (mask[i] | mask[j]))
        first = np.where(mask[i, chosen], self.scores[:, i, chosen], 0.0)
        second = np.where(mask[j, chosen], self.scores[:, j, chosen], 0.0)
        return np.asarray((second - first) @ self.flips[chosen], dtype=np.float64)

    def swapped_slack(self, pair: int, masks: Bools) -> Floats:
        """Half of 1e-9 Σ |d| of the swapped part in each draw, (n_draws, M); masks: (n_draws, S) or (n_draws, N, S).

        Sums within twice this are tied. The slack of all segments also allows for the rounding of the sums.
        """
        size, both = self._sizes(pair)
        if self.swap == "inputs":
            return np.asarray(0.5 * TOLERANCE * (masks[:, both].astype(np.float64) @ size.T))
        n_common = int(both.sum())
        parts = zip((self.first[pair], self.second[pair]), (size[:, :n_common], size[:, n_common:]), strict=True)
        sums = [masks[:, k][:, both].astype(np.float64) @ own.T for k, own in parts]
        return np.asarray(0.5 * TOLERANCE * (sums[0] + sums[1]))

    def _sizes(self, pair: int) -> tuple[Floats, Bools]:
        """|d| of the common segments of a pair, (M, s), and which segments these are, (S,).

        If single scores are swapped, Σ |d| of a hybrid is not a sum of parts, so its bound Σ |x_i| + |x_j| is used: (M,
        2 s).
        """
        i, j = self.first[pair], self.second[pair]
        both = self.judged[i] & self.judged[j]
        first, second = self.scores[:, i][:, both], self.scores[:, j][:, both]
        if self.swap == "both":
            return np.abs(np.concatenate([first, second], axis=1)), both
        return np.abs(first - second), both

    def drawn(self, swaps: Bools) -> DrawnSums:
        """The sums of some draws; swaps: (n_draws, *mask_shape)."""
        return DrawnSums(self, swaps[..., self.used])


class DrawnSums:
    """Sums of the flipped segments' differences, one draw after the other, for each system pair."""

    def __init__(self, shared: FlippedSums, masks: Bools) -> None:
        self._shared = shared
        self._masks = masks
        n_pairs, (n_metrics, n_systems, n_segments) = shared.first.size, shared.scores.shape
        n_flips = shared.flips.shape[1]
        self._n_at_once = max(1, min(n_pairs, AT_ONCE // max(1, n_metrics**2 * n_flips)))
        self._rooms: dict[tuple[int, int], _Room] = {}
        slacks = [shared.swapped_slack(pair, masks) for pair in range(n_pairs)]
        self._slack = np.array(slacks).reshape(n_pairs, len(masks), n_metrics, 1)
        # Used again for every draw: fresh memory is slow.
        self._chosen_scores = np.empty((n_segments, n_systems * n_metrics))
        self._chosen_flips = np.empty(shared.flips.shape)
        self._taken = np.empty((n_systems * n_metrics, n_flips))

    def counts(self, draw: int) -> Iterator[tuple[slice, Ints]]:
        """For some system pairs at a time: which pairs they are, and [pair, shift, a], the number of flips in which the
        hybrid of metric a with the swapped units of metric (a + shift) mod M has a sum of 0 or less, (pairs, M, M).
        """
        shared, n_metrics = self._shared, len(self._shared.scores)
        mask = np.broadcast_to(self._masks[draw], shared.judged.shape)
        taken = self._system_sums(mask)
        n_flips = taken.shape[2]
        for start in range(0, len(shared.first), self._n_at_once):
            pairs = range(start, min(start + self._n_at_once, len(shared.first)))
            which = slice(pairs.start, pairs.stop)
            lone = [self._lone_part(pair, mask) for pair in pairs]
            counts = np.full((len(pairs), n_metrics, n_metrics), -shared.n_padding)
            for begin in range(0, n_flips, CHUNK):
                some = slice(begin, min(begin + CHUNK, n_flips))
                room = self._room(len(pairs), some.stop - begin)
                for place, pair in enumerate(pairs):
                    i, j = shared.first[pair], shared.second[pair]
                    np.subtract(taken[i, :, some], taken[j, :, some], out=room.taken[place])
                    if (part := lone[place]) is not None:
                        room.taken[place] += part[:, some]
                room.taken -= self._slack[which, draw]
                np.add(shared.whole_gaps(which, some), room.taken, out=room.kept)
                counts += room.counts()
            yield which, counts

    def _room(self, n_pairs: int, n_flips: int) -> _Room:
        """The memory for the comparisons, reused for the same number of pairs and flips."""
        if (n_pairs, n_flips) not in self._rooms:
            self._rooms[n_pairs, n_flips] = _Room(n_pairs, len(self._shared.scores), n_flips)
        return self._rooms[n_pairs, n_flips]

    def _lone_part(self, pair: int, mask: Bools) -> Floats | None:
        """Correction to the taken gap of a pair for segments that only one of its systems has."""
        shared = self._shared
        return shared.lone_gaps(shared.first[pair], shared.second[pair], mask) if pair in shared.whole_lone else None

    def _system_sums(self, mask: Bools) -> Floats:
        """Sums of each system's masked, flipped scores over its judged segments: (N, M, n_flips)."""
        shared = self._shared
        n_metrics, n_systems = shared.scores.shape[:2]
        chosen = np.flatnonzero(mask.any(axis=0))
        scores = shared.by_segment.take(chosen, axis=0, out=self._chosen_scores[: chosen.size], mode="clip")
        flips = shared.flips.take(chosen, axis=0, out=self._chosen_flips[: chosen.size], mode="clip")
        if shared.swap == "both":
            scores *= np.repeat(mask[:, chosen], n_metrics, axis=0).T
        sums: Floats = np.matmul(scores.T, flips, out=self._taken)  # (N·M, s) @ (s, n_flips)
        return sums.reshape(n_systems, n_metrics, -1)


class _Room:
    """Both sides of the comparisons of some system pairs, and their outcomes.

    taken, kept: (pairs, M, n) to be filled. All shifts are windows on the same memory, which contains the metrics'
    taken parts twice, so comparisons run over long stretches; outcomes, one byte each, are added up eight at a time.
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
