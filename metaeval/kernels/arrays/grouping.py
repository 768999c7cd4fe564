"""Groups of (system, segment) scores; only scores of the same group are compared."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from . import checks
from .checks import Floats, Ints

Grouping = Literal["none", "item", "system", "doc", "domain"]


def group_labels(
    by: Grouping,
    shape: tuple[int, ...],
    documents: Sequence[Hashable] | npt.NDArray[np.generic] | None = None,
    domains: Sequence[Hashable] | npt.NDArray[np.generic] | None = None,
) -> Ints:
    """Group label of every score, (n_systems, n_segments): no grouping, or by item, system, document or domain.

    shape: (n_systems, n_segments).
    documents, domains: the document and the domain of each segment, (n_segments,), for "doc" and "domain"; labels
        number them in order of first appearance. All scores of a document (of all systems) are one group.
    Raises ValueError: an unknown grouping, or documents or domains missing or of another length.
    Source: Deutsch et al. 2023, appendix A, for none, item and system.
    >>> group_labels("item", (2, 3)).tolist()
    [[0, 1, 2], [0, 1, 2]]
    >>> group_labels("doc", (2, 3), documents=["a", "b", "a"]).tolist()
    [[0, 1, 0], [0, 1, 0]]
    """
    n_systems, n_segments = shape
    if by == "none":
        return np.zeros(shape, dtype=np.int64)
    if by == "system":
        return np.repeat(np.arange(n_systems, dtype=np.int64)[:, np.newaxis], n_segments, axis=1)
    if by == "item":
        of_segment = np.arange(n_segments, dtype=np.int64)
    elif by == "doc":
        of_segment = _first_appearance(documents, n_segments, "documents")
    elif by == "domain":
        of_segment = _first_appearance(domains, n_segments, "domains")
    else:
        raise ValueError(f"unknown grouping {by!r}; expected one of {', '.join(get_args(Grouping))}")
    return np.repeat(of_segment[np.newaxis], n_systems, axis=0)


def _first_appearance(
    names: Sequence[Hashable] | npt.NDArray[np.generic] | None, n_segments: int, argument: str
) -> Ints:
    if names is None:
        raise ValueError(f"this grouping needs {argument}, one for each segment")
    if len(names) != n_segments:
        raise ValueError(f"{argument} must have one entry for each of {n_segments} segments, got {len(names)}")
    number: dict[Hashable, int] = {}
    return np.array([number.setdefault(name, len(number)) for name in names], dtype=np.int64)


@dataclass(frozen=True)
class Bucket:
    """The groups of one size: `groups` (g,) indices into `Groups`, `members` (g, size) flat indices of the scores."""

    groups: Ints
    members: Ints

    @property
    def size(self) -> int:
        """Members in each group."""
        return int(self.members.shape[1])


@dataclass(frozen=True)
class Groups:
    """The groups with at least 2 judged scores, in the order of their labels.

    labels, sizes: (n_groups,). members: flat indices of the judged scores, group after group, ascending within each
    group. starts: (n_groups + 1,), where each group begins in `members`.
    """

    labels: Ints
    sizes: Ints
    members: Ints
    starts: Ints

    @property
    def n_pairs(self) -> Ints:
        """Unordered pairs of (system, segment) scores in each group, (n_groups,)."""
        return self.sizes * (self.sizes - 1) // 2

    def buckets(self) -> Iterator[Bucket]:
        """The groups gathered by size, smallest first."""
        for size in sorted(set(self.sizes.tolist())):
            groups = np.flatnonzero(self.sizes == size)
            yield Bucket(groups, self.members[self.starts[groups][:, np.newaxis] + np.arange(size)])

    def select(self, chosen: npt.NDArray[np.bool_]) -> Groups:
        """The groups where `chosen` (n_groups,) is True."""
        starts = np.concatenate([[0], np.cumsum(self.sizes[chosen])]).astype(np.int64)
        members = self.members[np.repeat(chosen, self.sizes)]
        return Groups(self.labels[chosen], self.sizes[chosen], members, starts)


def judged_groups(human: Floats, labels: Ints) -> Groups:
    """Gather the judged scores by label; groups with fewer than 2 of them are excluded.

    human: (n_systems, n_segments), NaN = not judged. labels: the same shape, -1 = score not used.
    """
    flat = labels.ravel()
    members = np.flatnonzero((flat >= 0) & ~np.isnan(human.ravel()))
    members = members[np.argsort(flat[members], kind="stable")]
    names, starts, sizes = np.unique(flat[members], return_index=True, return_counts=True)
    every = Groups(names, sizes, members, np.append(starts, members.size))
    return every.select(every.sizes >= 2)


@dataclass(frozen=True)
class GroupedScores:
    """Checked arrays of one call: flat human (n_scores,), flat metrics (n_metrics, n_scores), and the groups."""

    human: Floats
    metrics: Floats
    groups: Groups


def group_scores(human: npt.ArrayLike, metrics: npt.ArrayLike, labels: npt.ArrayLike) -> GroupedScores:
    """Check the three arrays of a segment-level kernel and gather the groups.

    Raises ValueError: as `checks.human_scores`, `checks.metric_scores` and `checks.group_labels`; metric
        scores are needed where there is a human score and the label is not -1.
    """
    human = checks.human_scores(human)
    labels = checks.group_labels(labels, human.shape)
    metrics = checks.metric_scores(metrics, ~np.isnan(human) & (labels >= 0))
    groups = judged_groups(human, labels)
    return GroupedScores(human.ravel(), metrics.reshape(len(metrics), -1), groups)


def numbered(*columns: npt.NDArray[np.generic]) -> Ints:
    """Number rows from 0, (n,), by their values in all columns, each (n,); rows with equal values share a number.

    >>> numbered(np.array(["a", "b", "a"]), np.array([1, 1, 1])).tolist()
    [0, 1, 0]
    """
    number = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        values, codes = np.unique(column, return_inverse=True)
        number = np.unique(number * len(values) + codes, return_inverse=True)[1]
    return number.astype(np.int64)
