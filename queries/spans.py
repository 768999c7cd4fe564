"""Error spans of a slice as flat arrays."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
GOLD = 0  # in a scorer's place; scorers are numbered from 1


@dataclass(frozen=True, eq=False)
class Spans:
    """Annotations of a slice and their spans, whatever systems and segments of it a block has.

    scorer: (A,) of each annotation, `GOLD` or the metric's identifier. system, segment:
    (A,) the output, system by place in `systems`. annotation: (K,) place of each span's annotation, ascending; start,
    end: half-open, in characters; is_in_source: side; is_major: severity, critical among them.
    """

    systems: tuple[str, ...]
    scorer: Ints
    system: Ints
    segment: Ints
    annotation: Ints
    start: Ints
    end: Ints
    is_in_source: Bools
    is_major: Bools

    def spans_of(self, annotations: Ints) -> tuple[Ints, Ints]:
        """Places of the spans of some annotations, and for each of them the place of its annotation among these."""
        first, last = (np.searchsorted(self.annotation, annotations, side=side) for side in ("left", "right"))
        n = last - first
        rows = np.repeat(np.arange(len(n)), n)
        return np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n) + np.repeat(first, n), rows
