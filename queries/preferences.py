"""Preferences of a scorer (human or metric) as arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from queries.catalog import ask
from warehouse import Warehouse

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
NOBODY = -1  # in a rater's place


@dataclass(frozen=True, eq=False)
class Preferences:
    """Preferences between two outputs; arrays are (n,), one entry per judged pair.

    systems: names; first, second: indices of the two systems, in the order in which they were shown. segment: its
    number. answer: 1 if the first is better, -1 if the second is, 0 for a tie. ranking: its number; pairs from several
    files may share a number. rater: index in `raters`, NOBODY if unknown. is_same_output: shown as one output.
    by_metric: name -> (n,) mean answer of a metric that states preferences, for the same two outputs.
    """

    systems: tuple[str, ...]
    raters: tuple[str, ...]
    first: Ints
    second: Ints
    segment: Ints
    ranking: Ints
    rater: Ints
    answer: Ints
    is_same_output: Bools
    by_metric: Mapping[str, Floats] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.answer)

    def only(self, kept: Bools | Ints) -> "Preferences":
        """Some of the preferences: a mask, or indices, which may repeat."""
        names = ("first", "second", "segment", "ranking", "rater", "answer", "is_same_output")
        by_metric = {name: answers[kept] for name, answers in self.by_metric.items()}
        return replace(self, by_metric=by_metric, **{name: getattr(self, name)[kept] for name in names})

    def renumbered(self, axis: str, places: Ints, n: int) -> "Preferences":
        """Preferences on some systems or segments, renumbered by their positions in `places`, each copy separately.

        axis: first, second or segment, which had n values before.
        """
        order = np.argsort(places, kind="stable")
        n_copies = np.bincount(places, minlength=n)
        values = getattr(self, axis)
        each = n_copies[values]
        within = np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each)
        start = np.repeat((np.cumsum(n_copies) - n_copies)[values], each)
        kept = self.only(np.repeat(np.arange(len(self)), each))
        return replace(kept, **{axis: order[start + within]})

    def of_systems(self, systems: Sequence[str]) -> "Preferences":
        """Preferences between some systems, numbered in this order."""
        place = {name: at for at, name in enumerate(systems)}
        to = np.array([place.get(name, -1) for name in self.systems], dtype=np.int64)
        kept = self.only((to[self.first] >= 0) & (to[self.second] >= 0)) if len(self) else self
        return replace(kept, systems=tuple(systems), first=to[kept.first], second=to[kept.second])


def fetch_preferences(warehouse: Warehouse, evalset_id: int, scorer_id: int) -> Preferences:
    """All preferences of a scorer on an evaluation set."""
    found = ask(warehouse, "slice_preferences", evalset=evalset_id, scorer=scorer_id)
    systems = sorted({*found["system_a"].unique(), *found["system_b"].unique()})
    raters = sorted(found["rater"].drop_nulls().unique())
    place = {name: at for at, name in enumerate(systems)}
    rater = {name: at for at, name in enumerate(raters)}

    def numbers(column: str, places: dict[str, int]) -> Ints:
        numbered = found[column].replace_strict(places, default=NOBODY) if len(places) else [NOBODY] * found.height
        return np.asarray(numbered, dtype=np.int64)

    return Preferences(
        systems=tuple(systems),
        raters=tuple(raters),
        first=numbers("system_a", place),
        second=numbers("system_b", place),
        rater=numbers("rater", rater),
        segment=np.asarray(found["segment"], dtype=np.int64),
        ranking=np.asarray(found["ranking"], dtype=np.int64),
        answer=np.asarray(found["answer"], dtype=np.int64),
        is_same_output=np.asarray(found["is_same_output"], dtype=np.bool_),
    )
