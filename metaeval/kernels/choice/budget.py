"""Which segments a budget buys: whole documents, and shares of domains, where wanted."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Bools, Floats, Ints


def in_order(
    utility: npt.ArrayLike,
    costs: npt.ArrayLike,
    units: npt.ArrayLike | None = None,
    domains: npt.ArrayLike | None = None,
) -> Ints:
    """Places of all segments in the order in which they are chosen.

    utility: (S,), highest first, equal ones in the order of the test set. units: (S,) documents, numbered from 0, that
    are chosen whole, by the mean utility of their segments; None: each segment by itself. domains: (S,) numbered from
    0; then what comes first takes from each domain in proportion to the domain's cost: units of a domain stand at the
    share of its cost that is spent halfway through them. costs: (S,), above 0.
    >>> in_order([1.0, 3.0, 2.0, 2.0], [1, 1, 1, 1]).tolist()
    [1, 2, 3, 0]
    >>> in_order([1.0, 3.0, 2.0, 2.5], [1, 1, 1, 1], units=[0, 0, 1, 1]).tolist()
    [2, 3, 0, 1]
    >>> in_order([9.0, 8.0, 7.0, 1.0], [1, 1, 1, 1], domains=[0, 0, 1, 1]).tolist()
    [0, 2, 1, 3]
    """
    values, spent = np.asarray(utility, dtype=np.float64), np.asarray(costs, dtype=np.float64)
    unit = np.arange(len(values)) if units is None else np.asarray(units)
    n = np.bincount(unit)
    mean = values if units is None else np.bincount(unit, values) / np.maximum(n, 1)
    cost: Floats = np.bincount(unit, spent).astype(np.float64)
    first = np.full(len(n), len(values))
    np.minimum.at(first, unit, np.arange(len(values)))
    order: Ints = np.lexsort((first, -mean))
    if domains is not None:
        domain = np.zeros(len(n), dtype=np.int64)
        domain[unit] = np.asarray(domains)
        share = np.empty(len(n))
        for one in np.unique(domain):
            own = order[domain[order] == one]
            share[own] = (np.cumsum(cost[own]) - cost[own] / 2) / cost[own].sum()
        place = np.empty(len(n), dtype=np.int64)
        place[order] = np.arange(len(n))
        order = np.lexsort((place, share))
    rank = np.empty(len(n), dtype=np.int64)
    rank[order] = np.arange(len(n))
    return np.lexsort((np.arange(len(values)), rank[unit]))


def bought(order: Ints, costs: npt.ArrayLike, budget: float, units: npt.ArrayLike | None = None) -> Bools:
    """Which segments, in the order given, a budget buys: each unit that still fits, one after the other.

    order: as of `in_order`, with its costs and units. Returns (S,), by place.
    >>> bought(np.array([2, 0, 1]), [2.0, 1.0, 3.0], 4.0).tolist()
    [False, True, True]
    """
    spent = np.asarray(costs, dtype=np.float64)
    unit = np.arange(len(order)) if units is None else np.asarray(units)
    cost: Floats = np.bincount(unit, spent).astype(np.float64)
    chosen, left = np.zeros(len(cost), dtype=np.bool_), budget * (1 + 1e-12)
    for one in dict.fromkeys(unit[order].tolist()):
        if cost[one] <= left:
            chosen[one] = True
            left -= cost[one]
    return np.asarray(chosen[unit])
