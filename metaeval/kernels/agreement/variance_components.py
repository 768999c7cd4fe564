"""Sources of variance in judgements: components by REML, intraclass correlations, error of a difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.arrays.grouping import numbered

RESIDUAL = "residual"
_FLOOR = 1e-8  # of the total variance: the least that a component can be told from 0


class VarianceComponents(NamedTuple):
    """Variance of each term and of the residual, in squared units of the values.

    standard_errors: of the variances, from the curvature of the likelihood; NaN for a component at 0.
    """

    variances: dict[str, float]
    standard_errors: dict[str, float]
    mean: float  # generalised least squares estimate of the overall mean
    log_likelihood: float  # restricted, without constants


class _Design(NamedTuple):
    """Values by block, padded with zeros, and which values of a block share a level of a term.

    values, is_value: (n_blocks, size). crossed: (n_blocks, size, n_levels + 1), levels of the terms that extend beyond
    a block, side by side, and a column of ones for the mean. n_crossed: number of levels of each such term. nested: for
    each term within blocks, (n_blocks, size, size), 1 where two values share a level.
    """

    values: Floats
    is_value: Floats
    crossed: Floats
    n_crossed: list[int]
    nested: list[Floats]


def variance_components(
    values: npt.ArrayLike, factors: Mapping[str, npt.ArrayLike], terms: Sequence[str]
) -> VarianceComponents:
    """Variance of random effects by restricted maximum likelihood, for any design: (n,) values, none missing.

    factors: (n,) labels by name, such as system, segment and rater. terms: effects, such as "system", or
    "segment:rater" for a separate effect of each combination. A residual is always added. All terms are random, around
    one overall mean. Components are at least 0.
    The likelihood splits the values into blocks, one for each level of the factor with the most levels: terms with this
    factor are inverted within blocks, the others together. The cost grows with the number of blocks times the cube of
    their size, and with the cube of the number of levels of the other terms.
    Raises ValueError: lengths differ, a missing value, fewer than 3 values, a term with an unknown factor, or a term
    that cannot be told apart from the residual (one level per value) or from another term (the same levels).
    Source: Patterson and Thompson 1971; the likelihood by Henderson's mixed-model equations.
    """
    from scipy.optimize import minimize

    y, levels = _checked(values, factors, terms)
    n_levels = {name: int(labels.max()) + 1 for name, labels in levels.items()}
    single = [name for name in n_levels if ":" not in name]
    block = max(single, key=lambda name: n_levels[name])
    of_block = {term: block in term.split(":") for term in terms}
    design = _design(
        y - y.mean(), levels, block, [t for t in terms if not of_block[t]], [t for t in terms if of_block[t]]
    )
    order = [*(term for term in terms if not of_block[term]), *(term for term in terms if of_block[term]), RESIDUAL]
    total = float(y.var(ddof=1))
    if total == 0:
        raise ValueError("all values are equal: there is no variance to take apart")
    lowest = np.log(_FLOOR)

    def loss(logs: Floats) -> tuple[float, Floats]:
        shares = np.exp(logs)
        value, gradient, _ = _restricted_likelihood(design, shares * total)
        return -value, -gradient * shares * total

    start = np.log(np.full(len(order), 1 / len(order)))
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(lowest, 5.0)] * len(order), tol=1e-10)
    at = np.exp(found.x) * total
    value, _, mean = _restricted_likelihood(design, at)
    is_zero = found.x <= lowest + 1e-6
    errors = _standard_errors(design, at, ~is_zero)
    at = np.where(is_zero, 0.0, at)
    names = [*terms, RESIDUAL]
    return VarianceComponents(
        {name: float(at[order.index(name)]) for name in names},
        {name: float(errors[order.index(name)]) for name in names},
        float(y.mean() + mean),
        value,
    )


def _checked(
    values: npt.ArrayLike, factors: Mapping[str, npt.ArrayLike], terms: Sequence[str]
) -> tuple[Floats, dict[str, Ints]]:
    """The values, and the levels of every factor and term as numbers from 0."""
    y = np.asarray(values, dtype=np.float64)
    if y.ndim != 1 or len(y) < 3 or not np.isfinite(y).all():
        raise ValueError("values must be one-dimensional, at least 3, all finite")
    levels: dict[str, Ints] = {}
    for name, labels in factors.items():
        column = np.asarray(labels)
        if column.shape != y.shape:
            raise ValueError(f"factor {name!r} has shape {column.shape}, expected {y.shape}")
        levels[name] = numbered(column)
    for term in terms:
        parts = term.split(":")
        if unknown := [part for part in parts if part not in factors]:
            raise ValueError(f"term {term!r}: no factor is called {unknown[0]!r}")
        number = numbered(*(levels[part] for part in parts))
        if number.max() + 1 == len(y):
            raise ValueError(f"term {term!r} has a level for each value: the data cannot tell it from the residual")
        if twin := next(
            (other for other in terms if other != term and other in levels and _same(levels[other], number)), None
        ):
            raise ValueError(f"terms {twin!r} and {term!r} have the same levels: the data cannot tell them apart")
        levels[term] = number
    return y, levels


def _same(one: Ints, other: Ints) -> bool:
    """Whether two numberings divide the values into the same groups."""
    n = len(np.unique(one))
    return n == len(np.unique(other)) == len(np.unique(one * (other.max() + 1) + other))


def _design(y: Floats, levels: Mapping[str, Ints], block: str, crossed: list[str], nested: list[str]) -> _Design:
    blocks = levels[block]
    n_blocks = int(blocks.max()) + 1
    order = np.argsort(blocks, kind="stable")
    counts = np.bincount(blocks, minlength=n_blocks)
    begin = np.concatenate([[0], np.cumsum(counts)[:-1]])
    row = np.empty(len(y), dtype=np.int64)
    row[order] = np.arange(len(y)) - np.repeat(begin, counts)
    shape = (n_blocks, int(counts.max()))
    values, is_value = np.zeros(shape), np.zeros(shape)
    values[blocks, row], is_value[blocks, row] = y, 1.0
    n_crossed = [int(levels[term].max()) + 1 for term in crossed]
    columns = np.zeros((*shape, sum(n_crossed) + 1))
    first = 0
    for term, n in zip(crossed, n_crossed, strict=True):
        columns[blocks, row, first + levels[term]] = 1.0
        first += n
    columns[blocks, row, first] = 1.0
    shared = []
    for term in nested:
        labels = np.full(shape, -1, dtype=np.int64)
        labels[blocks, row] = levels[term]
        shared.append(((labels[:, :, None] == labels[:, None, :]) & (labels >= 0)[:, :, None]).astype(np.float64))
    return _Design(values, is_value, columns, n_crossed, shared)


def _restricted_likelihood(design: _Design, variances: Floats) -> tuple[float, Floats, float]:
    """Restricted log likelihood, its gradient in the variances (crossed, nested, residual), and the mean."""
    n_terms = len(design.n_crossed)
    of_crossed, of_nested, residual = variances[:n_terms], variances[n_terms:-1], variances[-1]
    size = design.values.shape[1]
    # Padding has variance 1 and no share in anything: its determinant is 1, its values are 0.
    within = np.eye(size) * np.where(design.is_value > 0, residual, 1.0)[:, :, None]
    for variance, shared in zip(of_nested, design.nested, strict=True):
        within = within + variance * shared
    inverse = np.linalg.inv(within)
    weighted = inverse @ design.crossed  # (n_blocks, size, n_levels + 1)
    spread = np.repeat(of_crossed, design.n_crossed)
    precision = np.append(1 / spread, 0.0)  # the mean is a fixed effect
    equations = np.einsum("bik,bil->kl", design.crossed, weighted, optimize=True) + np.diag(precision)
    solved = np.linalg.inv(equations)
    right = np.einsum("bik,bi->k", weighted, design.values)
    effects = solved @ right
    residuals = np.einsum("bij,bj->bi", inverse, design.values) - weighted @ effects  # P y, 0 on padding
    determinants = np.linalg.slogdet(within)[1].sum() + np.linalg.slogdet(equations)[1] + np.log(spread).sum()
    value = -0.5 * (determinants + (design.values * residuals).sum())
    slopes = []
    first = 0
    for variance, n in zip(of_crossed, design.n_crossed, strict=True):
        place = slice(first, first + n)
        trace = (n - np.trace(solved[place, place]) / variance) / variance
        slopes.append((effects[place] ** 2).sum() / variance**2 - trace)
        first += n
    projected = weighted @ solved  # (n_blocks, size, n_levels + 1)
    for shared in design.nested:
        trace = (inverse * shared).sum() - (projected * (shared @ weighted)).sum()
        slopes.append(np.einsum("bi,bij,bj->", residuals, shared, residuals, optimize=True) - trace)
    trace = (np.einsum("bii->bi", inverse) * design.is_value).sum() - (
        projected * weighted * design.is_value[:, :, None]
    ).sum()
    slopes.append((residuals**2).sum() - trace)
    return float(value), 0.5 * np.array(slopes), float(effects[-1])


def _standard_errors(design: _Design, variances: Floats, is_free: npt.NDArray[np.bool_]) -> Floats:
    """Root of the diagonal of the inverse information, by central differences of the gradient."""
    free = np.flatnonzero(is_free)
    information = np.empty((len(free), len(free)))
    for row, place in enumerate(free):
        step = np.zeros(len(variances))
        step[place] = 1e-4 * variances[place]
        above, below = (_restricted_likelihood(design, variances + sign * step)[1] for sign in (1, -1))
        information[row] = -(above - below)[free] / (2 * step[place])
    errors = np.full(len(variances), np.nan)
    covariance = np.diag(np.linalg.pinv((information + information.T) / 2))
    errors[free] = np.sqrt(np.where(covariance > 0, covariance, np.nan))
    return errors


class IntraclassCorrelation(NamedTuple):
    """Reliability of ratings, of one rater and of the mean of all, each with its 95% interval."""

    single: float
    single_low: float
    single_high: float
    mean: float
    mean_low: float
    mean_high: float


def intraclass_correlations(ratings: npt.ArrayLike, confidence: float = 0.95) -> dict[str, IntraclassCorrelation]:
    """ICC of three models by name: "1" (each item has its own raters), "2" (the same raters, seen as a sample) and "3"
    (exactly these raters).

    ratings: (n_items, n_raters), none missing.
    Raises ValueError: fewer than 2 items or raters, or a missing rating.
    Source: Shrout and Fleiss 1979; intervals of McGraw and Wong 1996.
    """
    from scipy.stats import f as f_distribution

    x = np.asarray(ratings, dtype=np.float64)
    if x.ndim != 2 or min(x.shape) < 2 or not np.isfinite(x).all():
        raise ValueError("ratings must be (n_items, n_raters), at least 2 of each, none missing")
    n, k = x.shape
    of_items, of_raters = x.mean(axis=1), x.mean(axis=0)
    between = k * ((of_items - x.mean()) ** 2).sum() / (n - 1)
    within = ((x - of_items[:, None]) ** 2).sum() / (n * (k - 1))
    raters = n * ((of_raters - x.mean()) ** 2).sum() / (k - 1)
    error = ((x - of_items[:, None] - of_raters + x.mean()) ** 2).sum() / ((n - 1) * (k - 1))
    tail = (1 - confidence) / 2

    def limits(ratio: float, df: float) -> tuple[float, float]:
        """Interval of the true ratio of mean squares."""
        return (
            ratio / f_distribution.ppf(1 - tail, n - 1, df),
            ratio * f_distribution.ppf(1 - tail, df, n - 1),
        )

    def by_ratio(ratio: float, df: float) -> IntraclassCorrelation:
        low, high = limits(ratio, df)
        single = [(value - 1) / (value + k - 1) for value in (ratio, low, high)]
        mean = [1 - 1 / value for value in (ratio, low, high)]
        return IntraclassCorrelation(*single, *mean)

    with np.errstate(divide="ignore"):
        models = {"1": by_ratio(between / within, n * (k - 1)), "3": by_ratio(between / error, (n - 1) * (k - 1))}
    single = (between - error) / (between + (k - 1) * error + k * (raters - error) / n)
    a, b = k * single / (n * (1 - single)), 1 + k * single * (n - 1) / (n * (1 - single))
    df = (a * raters + b * error) ** 2 / ((a * raters) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1)))
    upper, lower = f_distribution.ppf(1 - tail, n - 1, df), f_distribution.ppf(1 - tail, df, n - 1)
    rest = k * raters + (k * n - k - n) * error
    low = n * (between - upper * error) / (upper * rest + n * between)
    high = n * (lower * between - error) / (rest + n * lower * between)

    def of_mean(value: float) -> float:
        return float(k * value / (1 + (k - 1) * value))

    models["2"] = IntraclassCorrelation(single, low, high, of_mean(single), of_mean(low), of_mean(high))
    return {name: IntraclassCorrelation(*(float(value) for value in models[name])) for name in ("1", "2", "3")}


def error_of_difference(
    system_segment: float,
    residual: float,
    n_segments: npt.ArrayLike,
    n_raters: npt.ArrayLike,
    system_rater: float = 0.0,
) -> Floats:
    """Standard error of the difference of two systems' means, judged by the same raters on the same segments.

    system_segment, residual, system_rater: variances, see `variance_components`. n_segments, n_raters (per segment):
    numbers that broadcast. Rater and segment effects shared by both systems cancel out. system_rater counts as if every
    rater judged all segments.
    >>> error_of_difference(9.0, 12.0, [100, 300], [3, 1]).round(3).tolist()
    [0.51, 0.374]
    """
    n, k = np.asarray(n_segments, dtype=np.float64), np.asarray(n_raters, dtype=np.float64)
    return np.asarray(np.sqrt(2 * (system_segment / n + residual / (n * k) + system_rater / k)))
