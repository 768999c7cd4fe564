"""A metric disturbed: independent noise, bias of segments or of systems, outliers; the same draws at every strength."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Bools, Floats, count

Kind = Literal["independent", "segment", "system", "outliers"]
KINDS: tuple[Kind, ...] = get_args(Kind)
OUTLYING = 10.0  # standard deviations


def noisy_scores(
    scores: npt.ArrayLike, used: npt.ArrayLike, kind: Kind, strength: float, *, seed: int, n_draws: int
) -> Floats:
    """(n_draws, N, S): a metric's scores with noise, in units of their own standard deviation.

    scores: (N, S), read where used. strength: with "independent" noise the standard deviation of a normal number added
    to each score; with "segment" or "system" that of one added to all scores of a segment or of a system; with
    "outliers" the share of scores (rounded to a whole number) that are set to the mean plus or minus 10 standard
    deviations, each sign with a chance of one half. The k-th draw is the same at every strength, except that it is
    scaled, and outliers of a smaller share are among those of a larger one; kinds are drawn apart.
    Raises ValueError: shapes, a score that is not finite where used, nothing used, a negative strength, or a share of
        outliers above 1.
    Source: DiIanni and Deutsch 2025, whose strengths are not printed.
    >>> noisy_scores([[1.0, 3.0]], [[True, True]], "outliers", 0.5, seed=0, n_draws=1).tolist()
    [[[12.0, 3.0]]]
    """
    values, mask = np.asarray(scores, dtype=np.float64), np.asarray(used, dtype=bool)
    count(n_draws, "n_draws")
    if values.ndim != 2 or values.shape != mask.shape:
        raise ValueError(f"scores and used must be (n_systems, n_segments), got {values.shape} and {mask.shape}")
    if not mask.any() or not np.isfinite(values[mask]).all():
        raise ValueError("expected at least one score that is used, and all of these finite")
    if not strength >= 0 or (kind == "outliers" and strength > 1):
        raise ValueError(f"strength {strength} of {kind}: expected at least 0, for outliers a share up to 1")
    unit = float(values[mask].std())
    return np.stack(
        [_disturbed(values, mask, kind, strength, unit, _stream(seed, kind, draw)) for draw in range(n_draws)]
    )


def _stream(seed: int, kind: Kind, draw: int) -> np.random.Generator:
    return np.random.default_rng([seed, KINDS.index(kind), draw])


def _disturbed(
    values: Floats, used: Bools, kind: Kind, strength: float, unit: float, rng: np.random.Generator
) -> Floats:
    n_systems, n_segments = values.shape
    if kind == "outliers":
        places = rng.permutation(np.flatnonzero(used))
        signs = rng.choice([-1.0, 1.0], size=places.size)
        n = round(strength * places.size)
        found = values.copy().ravel()
        found[places[:n]] = values[used].mean() + OUTLYING * unit * signs[:n]
        return found.reshape(values.shape)
    shape = {"independent": (n_systems, n_segments), "segment": (1, n_segments), "system": (n_systems, 1)}[kind]
    return values + strength * unit * rng.normal(size=shape)
