"""p-values of the paired permutation test of two systems without draws: the saddlepoint approximation.

Each assignment of signs to n differences d gives a sum T = Σ σ d; the p-value is the share of assignments with T ≥ Σ d.
The cumulant generating function of T, Σ log cosh(t d), is known, so the share follows from one equation in t. Where the
approximation would fail, the share is computed instead: a few differences are enumerated, differences on a common grid
are counted by a Fourier transform, and sums dominated by a few differences are inverted term by term.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.draws import single_blas_thread
from metaeval.kernels.resampling.system_tests import TOLERANCE, unless_noise

MOST_ENUMERATED = 12
"""Differences other than 0 whose 2^n signs are all tried."""
MOST_DOMINATED = 0.1
"""Σ d⁴ / (Σ d²)², the reciprocal of the number of equally large differences, up to which the approximation is used."""
MOST_STEPS = 1 << 17
"""Steps of a grid in a sum of differences that are counted."""
_OFF_GRID = 1e-4  # of a step
_VALUES = 1 << 17  # numbers held at a time
_TERMS = 1 << 11  # of an inversion
_ITERATIONS = 60
_CENTRE = 0.01  # standard deviations within which the expansion about the middle is used
_TAIL = 7.0  # standard deviations beyond which a sum has less than 1e-10 (Hoeffding 1963)


def saddlepoint_p_values(scores: npt.ArrayLike, judged: npt.ArrayLike) -> Floats:
    """The limit of `sign_flip_p_values` for all draws, (n_scorers, n_systems, n_systems), in [0, 1], deterministic.

    Arguments and result as in `sign_flip_p_values`. Exact up to rounding if a pair has at most 12 nonzero differences,
    or if all scores of a scorer lie on a grid, such as whole numbers. Otherwise an approximation, with a measured error
    below .001, or up to .01 if a few differences are repeated and lie on no grid.
    Raises ValueError: shapes, fewer than 2 systems, a missing score where humans judged.
    Source: Lugannani and Rice 1980; Robinson 1982 for permutation tests.
    >>> saddlepoint_p_values([[[2.0, 2.0], [1.0, 0.0]]], [[True, True]] * 2)[0].round(9).tolist()
    [[1.0, 0.25], [1.0, 1.0]]
    """
    mask = np.asarray(judged, dtype=bool)
    if mask.ndim != 2 or len(mask) < 2:
        raise ValueError(f"judged must be (n_systems, n_segments) with 2 systems or more, got {mask.shape}")
    values = np.where(mask, checks.metric_scores(scores, mask), 0.0)
    first, second = np.triu_indices(len(mask), 1)
    both = mask[first] & mask[second]
    result = np.ones((len(values), len(mask), len(mask)))
    for scorer, own in enumerate(values):
        one, other = np.where(both, own[first], 0.0), np.where(both, own[second], 0.0)
        gaps = unless_noise(one - other, one, other)  # (n_pairs, S)
        step = common_step(own[mask])
        ahead, behind = _on_grid(np.rint(gaps / step).astype(np.int64)) if step else gap_p_values(gaps)
        result[scorer, first, second], result[scorer, second, first] = ahead, behind
    return result


def common_step(values: Floats) -> float:
    """The largest step such that all differences of these values are multiples of it; 0 if it would be too small.

    >>> round(common_step(np.array([0.0, -5.0, -1.1])), 9), common_step(np.array([0.1, 0.25, 3**0.5]))
    (0.1, 0.0)
    """
    known = np.unique(values)
    if known.size < 2:
        return 0.0
    spread = float(known[-1] - known[0])
    steps, noise = np.unique(np.diff(known)), TOLERANCE * spread
    steps = steps[steps > noise]
    while spread <= MOST_STEPS * steps[0] and steps.size > 1:  # Euclid's algorithm, of all at once
        rest = np.abs(steps - steps[0] * np.rint(steps / steps[0]))
        steps = np.unique(np.append(rest[rest > noise], steps[0]))
    n_steps = float(np.rint(spread / steps[0]))
    if n_steps > MOST_STEPS:
        return 0.0
    away = np.abs((known - known[0]) * (n_steps / spread) % 1.0 - 0.5)
    return spread / n_steps if (away > 0.5 - _OFF_GRID).all() else 0.0


def gap_p_values(gaps: Floats) -> tuple[Floats, Floats]:
    """(n_pairs, S) differences -> (n_pairs,) shares of sign vectors that reach their sum, and that do not exceed it.

    The p-values that the first system of a pair is better, and that the second is; approximated also on a grid.
    """
    largest = np.abs(gaps).max(axis=1, initial=0.0)
    gaps = gaps / np.where(largest > 0, largest, 1.0)[:, np.newaxis]
    n_varied = np.count_nonzero(gaps, axis=1)
    squares = gaps * gaps
    square = squares.sum(axis=1)
    dominance = (squares * squares).sum(axis=1) / np.where(square > 0, square, 1.0) ** 2
    ahead, behind = np.ones(len(gaps)), np.ones(len(gaps))
    few = (n_varied > 0) & (n_varied <= MOST_ENUMERATED)
    if few.any():
        ahead[few], behind[few] = _enumerated(gaps[few])
    many = n_varied > MOST_ENUMERATED
    for place in np.flatnonzero(many & (dominance > MOST_DOMINATED)):
        ahead[place] = _inverted(gaps[place][gaps[place] != 0])
        behind[place] = 1.0 - ahead[place]
    rows = np.flatnonzero(many & (dominance <= MOST_DOMINATED))
    n_rows = max(1, _VALUES // max(1, gaps.shape[1]))
    for start in range(0, rows.size, n_rows):
        some = rows[start : start + n_rows]
        ahead[some] = lugannani_rice(gaps[some])
        behind[some] = 1.0 - ahead[some]
    return ahead, behind


def lugannani_rice(gaps: Floats) -> Floats:
    """(n, S) differences -> (n,) shares of sign assignments whose sum reaches the observed one, assuming no ties.

    1 − Φ(w) + φ(w) (1/u − 1/w) at the t with K′(t) = Σ d, where K(t) = Σ log cosh(t d), w² = 2 (t Σ d − K(t)) and u² =
    t² K″(t). K′ is concave for t > 0, so Newton's steps from Σ d / Σ d² approach t from one side. If all differences
    have the same sign, only the observed assignment reaches the sum: 2^−n.
    """
    from scipy.special import ndtr

    total, size = gaps.sum(axis=1), np.abs(gaps).sum(axis=1)
    found = np.full(len(gaps), 0.5)
    x, square = np.abs(total), (gaps * gaps).sum(axis=1)
    z = x / np.sqrt(square)
    near = z < _CENTRE
    fourth = ((gaps * gaps) ** 2).sum(axis=1) / square**2
    found[near] = ndtr(-z[near]) + _density(z[near]) * fourth[near] / 12.0 * (3.0 * z[near] - z[near] ** 3)
    extreme = x >= size * (1.0 - TOLERANCE)
    found[extreme] = 0.5 ** np.count_nonzero(gaps[extreme], axis=1)
    rows = np.flatnonzero(~near & ~extreme)
    if rows.size:
        own, goal = np.abs(gaps[rows]), x[rows]
        t = _roots(own, goal, square[rows])
        arguments = own * t[:, np.newaxis]
        tangents = np.tanh(arguments)
        curvature = square[rows] - ((own * tangents) ** 2).sum(axis=1)
        cumulants = (arguments + np.log1p(np.exp(-2.0 * arguments)) - np.log(2.0)).sum(axis=1)
        w = np.sqrt(np.maximum(2.0 * (t * goal - cumulants), 0.0))
        u = t * np.sqrt(np.maximum(curvature, 0.0))
        found[rows] = ndtr(-w) + _density(w) * (1.0 / u - 1.0 / w)
    return np.clip(np.where(total < 0, 1.0 - found, found), 0.0, 1.0)


def _roots(gaps: Floats, goal: Floats, square: Floats) -> Floats:
    """(n,) t > 0 with Σ |d| tanh(t |d|) = goal; gaps: (n, S), at least 0."""
    t = goal / square
    active = np.arange(len(t))
    own, squares = gaps, gaps * gaps
    for _ in range(_ITERATIONS):
        tangents = np.tanh(own * t[active, np.newaxis])
        missing = goal[active] - np.einsum("ns,ns->n", own, tangents)
        tangents *= tangents
        slope = square[active] - np.einsum("ns,ns->n", squares, tangents)
        step = missing / np.maximum(slope, np.finfo(np.float64).tiny)
        t[active] += step
        going = np.abs(step) > 1e-6 * t[active]
        if not going.any():
            break
        if not going.all():
            active, own, squares = active[going], own[going], squares[going]
    return np.asarray(t)


def _density(z: Floats) -> Floats:
    return np.asarray(np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi))


def _enumerated(gaps: Floats) -> tuple[Floats, Floats]:
    """The shares by enumerating all signs, for at most `MOST_ENUMERATED` nonzero differences in each row."""
    order = np.argsort(gaps == 0, axis=1, kind="stable")[:, :MOST_ENUMERATED]
    own = np.take_along_axis(gaps, order, axis=1)
    numbers = np.arange(1 << own.shape[1])[:, np.newaxis]
    flipped = (numbers >> np.arange(own.shape[1]) & 1).astype(np.float64)  # (2^n, n)
    sums = own @ flipped.T  # of the flipped differences: at most 0 where the sum of all signs reaches the observed one
    slack = 0.5 * TOLERANCE * np.abs(own).sum(axis=1, keepdims=True)
    return np.mean(sums <= slack, axis=1), np.mean(sums >= -slack, axis=1)


def _inverted(gaps: Floats) -> float:
    """The share for one pair by Fourier's series of the sign.

    ½ − 2/π Σ over odd j of Π cos(j π d / W) sin(j π D / W) / j, D = Σ d, with a period 2 W that contains all sums.
    Exact except for the omitted terms; ties count half.
    """
    total, size = float(gaps.sum()), float(np.abs(gaps).sum())
    width = abs(total) + min(size, _TAIL * float(np.sqrt((gaps * gaps).sum())))
    odd = np.arange(1, 2 * _TERMS, 2)
    angles = odd * (np.pi / (width * (1.0 + TOLERANCE)))
    product = np.ones(len(angles))
    step = max(1, _VALUES // len(angles))
    for start in range(0, gaps.size, step):
        product *= np.cos(np.multiply.outer(gaps[start : start + step], angles)).prod(axis=0)
    share = 0.5 - 2.0 / np.pi * float((product * np.sin(angles * total) / odd).sum())
    return min(max(share, 0.5**gaps.size), 1.0)


def _on_grid(steps: Ints) -> tuple[Floats, Floats]:
    """The shares for (n_pairs, S) whole differences, exactly: the numbers of flipped steps by a Fourier transform."""
    sizes = np.abs(steps).sum(axis=1)
    reached = (sizes + steps.sum(axis=1)) // 2  # (|d| with a positive sign) of the observed signs
    values, kinds = np.unique(np.abs(steps), return_inverse=True)
    kinds = kinds.reshape(steps.shape)
    if int(sizes.max(initial=0)) * values.size > _VALUES * 64:
        return gap_p_values(steps.astype(np.float64))
    n_values = values.size
    pairs = np.repeat(np.arange(len(steps)), steps.shape[1])
    times = np.bincount(pairs * n_values + kinds.ravel(), minlength=len(steps) * n_values).reshape(len(steps), -1)
    n = int(2 ** np.ceil(np.log2(sizes.max(initial=0) + 1)))
    half = np.arange(n // 2 + 1)
    cosines = np.cos(np.pi / n * (np.multiply.outer(values, half) % (2 * n)))
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(np.abs(cosines)), -745.0)
    negative = (cosines < 0).astype(np.float64)
    ahead, behind = np.empty(len(steps)), np.empty(len(steps))
    step = max(1, 8 * _VALUES // half.size)
    for start in range(0, len(steps), step):
        some = slice(start, start + step)
        weights = times[some].astype(np.float64)
        with single_blas_thread():
            logarithm, n_negative = weights @ logs, weights @ negative
        signs = 1.0 - 2.0 * (n_negative % 2)
        turns = np.multiply.outer(sizes[some], half) % (2 * n)
        transform = signs * np.exp(logarithm) * np.exp(-1j * np.pi / n * turns)
        shares = np.fft.irfft(transform, n, axis=1) if n > 1 else np.ones((len(weights), 1))
        up_to = shares.cumsum(axis=1)
        own = np.arange(len(weights))
        behind[some] = up_to[own, reached[some]]
        ahead[some] = 1.0 - behind[some] + shares[own, reached[some]]
    return np.clip(ahead, 0.0, 1.0), np.clip(behind, 0.0, 1.0)
