"""Copies: a system or segment that a resample holds twice makes no pair with itself.

Its copies agree in every score, so each such pair would be a tie that every metric gets right.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.pair_counts import PairCounts, pair_counts
from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Ints

OUTCOMES = ("n_concordant", "n_discordant", "n_tied_human", "n_tied_metric", "n_tied_both")


@dataclass(frozen=True)
class Origins:
    """Which system each row and which segment each column of a resample comes from; None = each from its own."""

    systems: Ints | None = None
    segments: Ints | None = None

    def system_pairs(self, n_systems: int) -> Bools:
        """(n_pairs,) of the pairs of rows i < j in row order: are they two systems, not one twice?"""
        first, second = np.triu_indices(n_systems, 1)
        if self.systems is None:
            return np.ones(first.size, dtype=np.bool_)
        return np.asarray(self.systems[first] != self.systems[second])


ORIGINAL = Origins()


def pair_counts_without_copies(
    human: npt.ArrayLike,
    metrics: npt.ArrayLike,
    labels: npt.ArrayLike,
    epsilon: npt.ArrayLike = 0.0,
    *,
    relative: bool = False,
    origins: Origins = ORIGINAL,
) -> PairCounts:
    """`pair_counts` of a resample without the pairs that copies of one system, or of one segment, make.

    Arguments as there; labels count from 0. Two scores make no pair where their rows are two copies of one system or
    their columns two copies of one segment. Groups that have no pair left are excluded, as groups of one score are.
    n_scores and n_distinct stay those of the whole group.
    """
    human = checks.human_scores(human)
    groups = checks.group_labels(labels, human.shape)
    counts = pair_counts(human, metrics, groups, epsilon, relative=relative)
    if origins.systems is None and origins.segments is None:
        return counts
    rows, columns = (np.arange(n, dtype=np.int64) for n in human.shape)
    row, column = rows[:, np.newaxis], columns[np.newaxis]
    system = row if origins.systems is None else origins.systems[:, np.newaxis]
    segment = column if origins.segments is None else origins.segments[np.newaxis]

    def within(*parts: Ints) -> Ints:
        """Outcomes (5, M, n_groups) of the pairs inside each group whose scores agree in all parts."""
        finer = groups
        for part in parts:
            finer = np.where(groups >= 0, finer * (int(part.max(initial=0)) + 1) + part, -1)
        found = pair_counts(human, metrics, finer, counts.epsilon)
        group_of = np.full(int(finer.max(initial=0)) + 1, -1, dtype=np.int64)
        group_of[finer[groups >= 0]] = groups[groups >= 0]
        places = np.searchsorted(counts.labels, group_of[found.labels])
        by_group = np.zeros((counts.labels.size, len(OUTCOMES), len(counts.epsilon)), dtype=np.int64)
        np.add.at(by_group, places, _outcomes(found).transpose(2, 0, 1))
        return by_group.transpose(1, 2, 0)

    excluded = np.zeros((len(OUTCOMES), *counts.n_concordant.shape), dtype=np.int64)
    if origins.systems is not None:
        excluded += within(system) - within(row)
    if origins.segments is not None:
        excluded += within(segment) - within(column)
    if origins.systems is not None and origins.segments is not None:
        excluded -= within(system, segment) - within(row, segment) - within(system, column)
    return _with_outcomes(counts, _outcomes(counts) - excluded)


def _outcomes(counts: PairCounts) -> Ints:
    return np.stack([getattr(counts, name) for name in OUTCOMES])


def _with_outcomes(counts: PairCounts, outcomes: Ints) -> PairCounts:
    """The counts with other outcomes, without groups that have no pair."""
    kept = outcomes.sum(axis=0).any(axis=0)
    return replace(
        counts,
        **dict(zip(OUTCOMES, outcomes[:, :, kept], strict=True)),
        n_scores=counts.n_scores[kept],
        labels=counts.labels[kept],
        n_distinct=counts.n_distinct[:, kept],
    )
