"""How much data does it take to find a difference? Power by simulation, required size by a logistic fit, intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.resampling.draws import Advance

Trial = Callable[[int, np.random.Generator], tuple[bool, float]]
Z = 1.959963984540054  # of a two-sided 95% interval
Z_80 = 1.2815515655446004  # of a two-sided 80% interval
ROUNDS = 4  # data sets at the fitted size, which is fitted again
NEAR = 4.0  # sizes so many times larger or smaller than the fitted one are fitted
MOST_LOG, MOST_ERROR = 100.0, 10.0  # of the logarithm of a size: a fit that says more says nothing


@dataclass(frozen=True)
class RequiredSize:
    """Number of units needed to reach a power.

    size: NaN if the power is not reached within the sizes tried. low, high: 95% interval that reflects only the number
    of simulated data sets and takes the observed difference as true; data_low, data_high: interval with the uncertainty
    of that difference, NaN = unbounded. pessimistic: the size if the true difference is the lower end of its 80%
    interval; NaN = no size is enough. effect: the observed difference in standard errors of the test at the current
    size, from the fit; without a fit, divided by its standard deviation in the simulations. sizes, found, simulations:
    (K,) sizes tried, number of simulated data sets in which the difference was found, and number of simulations.
    """

    size: float
    low: float
    high: float
    data_low: float
    data_high: float
    pessimistic: float
    effect: float
    sizes: Floats
    found: Floats
    simulations: Floats

    def power(self, size: float) -> float:
        """Fitted power at a size; NaN without a fit."""
        near = _near(self.sizes, self.size)
        if np.isnan(self.size):
            return float("nan")
        a, b, centre, _ = _fit(self.sizes[near], self.found[near], self.simulations[near])
        return float(1 / (1 + np.exp(-(a + b * (np.log(size) - centre)))))


def required_size(
    trial: Trial,
    difference: float,
    *,
    there: int,
    least: int,
    most: int,
    power: float = 0.8,
    alpha: float = 0.05,
    n_simulations: int = 200,
    seed: int = 0,
    progress: Advance | None = None,
) -> RequiredSize:
    """The number of units at which a test finds a difference in a share of `power` of the simulations.

    trial: makes one data set of this many units with a generator; returns whether the test finds the difference in the
    observed direction, and the difference in this data set. difference: the observed difference. there: current number
    of units. least, most: range of sizes that may be tried. Sizes are doubled or halved from `there` until the power is
    crossed; then, four times, data sets are made at the size that a logistic fit in log size gives. alpha: two-sided
    level of the test. If the test statistic at the current size is d standard errors, the difference is found with this
    power at that size · (z(1 - alpha / 2) + z(power))² / d². d itself has a standard error of 1, so d ± z gives sizes
    of size · (d / (d ± z))².
    """
    from scipy.special import ndtri

    tallies = _Tallies(trial, n_simulations, seed, progress)
    spread = float(np.std(tallies.add(there), ddof=1))
    effect = abs(difference) / spread if spread > 0 else float("inf")
    low, high = _bracket(tallies, there, least, most, power)
    if low is None or high is None:
        nan = float("nan")
        size = float(least) if low is None else nan  # even the fewest are enough
        return RequiredSize(size, nan, nan, nan, nan, nan, effect, *tallies.arrays)
    size = float(np.sqrt(low * high))
    for _ in range(ROUNDS):
        tallies.add(round(size))
        size = float(np.clip(_size(tallies, power, size)[0], low, high))
    size, error = _size(tallies, power, size)
    size = float(np.clip(size, least, most))  # a flat fit has its power anywhere
    shown = (float(ndtri(1 - alpha / 2)) + float(ndtri(power))) * float(np.sqrt(there / size))
    below, above = np.log(scaled(shown, Z)), np.log(scaled(shown, -Z))
    return RequiredSize(
        size=size,
        low=size * float(np.exp(-Z * error)),
        high=size * float(np.exp(Z * error)),
        data_low=size * float(np.exp(-np.hypot(below, Z * error))),
        data_high=size * float(np.exp(np.hypot(above, Z * error))),
        pessimistic=size * scaled(shown, -Z_80),
        effect=shown,
        **dict(zip(("sizes", "found", "simulations"), tallies.arrays, strict=True)),
    )


def scaled(effect: float, by: float) -> float:
    """Factor on the number of units for an effect that is larger or smaller by this many standard errors."""
    return (effect / (effect + by)) ** 2 if effect + by > 0 else float("nan")


class _Tallies:
    """Data sets made so far, by size."""

    def __init__(self, trial: Trial, n_simulations: int, seed: int, progress: Advance | None) -> None:
        self._trial, self._n_simulations, self._seed, self._progress = trial, n_simulations, seed, progress
        self._found: dict[int, list[bool]] = {}
        self._n_calls = 0

    def add(self, size: int) -> list[float]:
        """Make data sets of a size and return the differences in them."""
        known = self._found.setdefault(size, [])
        differences = []
        for _ in range(self._n_simulations):
            is_found, difference = self._trial(size, np.random.default_rng([self._seed, size, len(known)]))
            known.append(is_found)
            differences.append(difference)
        self._n_calls += 1
        if self._progress is not None:
            self._progress(size, self._n_calls)
        return differences

    def share(self, size: int) -> float:
        """Share of the data sets of a size in which the difference was found; they are made first if there are none."""
        if size not in self._found:
            self.add(size)
        return float(np.mean(self._found[size]))

    @property
    def arrays(self) -> tuple[Floats, Floats, Floats]:
        sizes = sorted(self._found)
        found = [sum(self._found[size]) for size in sizes]
        simulations = [len(self._found[size]) for size in sizes]
        return tuple(np.array(one, dtype=np.float64) for one in (sizes, found, simulations))  # type: ignore[return-value]


def _bracket(tallies: _Tallies, there: int, least: int, most: int, power: float) -> tuple[int | None, int | None]:
    """Sizes with a power below and above the target; None if there is no such size."""
    low = high = there
    while tallies.share(high) < power:
        if high == most:
            return high, None
        low, high = high, min(2 * high, most)
    while tallies.share(low) >= power:
        if low == least:
            return None, low
        low, high = max(low // 2, least), low
    return low, high


def _near(sizes: Floats, size: float) -> npt.NDArray[np.bool_]:
    """Which of the sizes tried are near a size, or near the closest end if it is far outside."""
    size = float(np.clip(size, sizes.min(), sizes.max()))
    return np.asarray((sizes >= size / NEAR) & (sizes <= size * NEAR))


def _size(tallies: _Tallies, power: float, about: float) -> tuple[float, float]:
    """The size for a power, from a fit to nearby sizes, and the standard error of its logarithm."""
    sizes, found, simulations = tallies.arrays
    near = _near(sizes, about)
    a, b, centre, covariance = _fit(sizes[near], found[near], simulations[near])
    wanted = np.log(power / (1 - power))
    gradient = np.array([-1 / b, -(wanted - a) / b**2])
    error = float(np.sqrt(gradient @ covariance @ gradient))
    return float(np.exp(np.clip(centre + (wanted - a) / b, -MOST_LOG, MOST_LOG))), min(error, MOST_ERROR)


def _fit(sizes: Floats, found: Floats, simulations: Floats) -> tuple[float, float, float, Floats]:
    """Logistic regression of power on log size: a and b around the mean log size, and their covariance (2, 2).

    Adding half a data set of either outcome at each size keeps the fit finite (Haldane's correction).
    """
    n, y = simulations + 1, found + 0.5
    x = np.log(sizes)
    centre = float(np.average(x, weights=n))
    design = np.column_stack([np.ones_like(x), x - centre])
    beta = np.array([0.0, 1.0])
    for _ in range(100):
        p = 1 / (1 + np.exp(-np.clip(design @ beta, -30, 30)))
        information = design.T @ (design * (n * p * (1 - p))[:, np.newaxis]) + 1e-9 * np.eye(2)
        step = np.linalg.solve(information, design.T @ (y - n * p))
        beta = beta + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-10:
            break
    return float(beta[0]), max(float(beta[1]), 1e-6), centre, np.linalg.inv(information)
