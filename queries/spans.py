"""Error spans of a slice as flat arrays."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
GOLD = 0  # in a scorer's place; scorers are numbered from 1
_NOBODY = -2


@dataclass(frozen=True, eq=False)
class Spans:
    """Annotations of a slice and their spans, whatever systems and segments of it a block has.

    scorer: (A,) of each annotation, `GOLD` or the metric's identifier. system, segment:
    (A,) the output, system by place in `systems`. annotation: (K,) place of each span's annotation, ascending; start,
    end: half-open, in characters; is_in_source: side; is_major: severity, critical among them; category: empty
    where it is not known.
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
    category: npt.NDArray[np.object_]

    def spans_of(self, annotations: Ints) -> tuple[Ints, Ints]:
        """Places of the spans of some annotations, and for each of them the place of its annotation among these."""
        first, last = (np.searchsorted(self.annotation, annotations, side=side) for side in ("left", "right"))
        n = last - first
        rows = np.repeat(np.arange(len(n)), n)
        return np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n) + np.repeat(first, n), rows

    def only(self, chosen: Bools) -> "Spans":
        """All annotations with some of their spans."""
        of_spans = ("annotation", "start", "end", "is_in_source", "is_major", "category")
        return replace(self, **{name: getattr(self, name)[chosen] for name in of_spans})

    def beside(self, other: "Spans", scorer: int) -> "Spans":
        """With the gold annotations of other spans as those of this scorer."""
        both = {
            name: np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("segment", "start", "end", "is_in_source", "is_major", "category")
        }
        gold = other.scorer == GOLD
        return Spans(
            systems=(*self.systems, *other.systems),
            scorer=np.concatenate([self.scorer, np.where(gold, scorer, _NOBODY)]),
            system=np.concatenate([self.system, other.system + len(self.systems)]),
            annotation=np.concatenate([self.annotation, other.annotation + len(self.scorer)]),
            **both,
        )
