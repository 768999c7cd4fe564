"""Simulated plans: how often the intervals of the number of segments needed hold the true number.

    python -m benchmarks.bench_plan [N_WORLDS]

There are two cases: two systems whose segment differences are normal with mean d and standard deviation 1; and two
metrics that see the normally distributed quality of outputs with independent errors, compared by global Pearson
correlation (a permutation test that swaps segments). The true number is found by simulating data from the distribution
itself; the plan sees one sample of it.
"""

import sys
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from metaeval.kernels.resampling.permutation import permutation_test
from metaeval.kernels.resampling.permutation_pearson import pearson_swap
from metaeval.kernels.resampling.required_size import RequiredSize, Trial, required_size
from metaeval.kernels.resampling.saddlepoint import gap_p_values

Floats = npt.NDArray[np.float64]
N_SYSTEMS = 8
Sample = Callable[[int, np.random.Generator], Floats]


def gaps(mean: float) -> Sample:
    """Differences of two systems."""
    return lambda size, rng: rng.normal(mean, 1.0, size)


def found_gap(drawn: Floats) -> tuple[bool, float]:
    difference = float(drawn.mean())
    return bool(difference > 0 and 2 * gap_p_values(drawn[np.newaxis])[0][0] <= 0.05), difference


def outputs(better: float, worse: float) -> Sample:
    """(3, N, S): human scores, and two metrics whose errors have these standard deviations."""

    def sample(size: int, rng: np.random.Generator) -> Floats:
        quality = rng.normal(size=(N_SYSTEMS, size))
        noisy = (quality + error * rng.normal(size=quality.shape) for error in (0.5, better, worse))
        return np.stack(list(noisy))

    return sample


def found_metric(drawn: Floats) -> tuple[bool, float]:
    r = [float(np.corrcoef(drawn[0].ravel(), drawn[k].ravel())[0, 1]) for k in (1, 2)]
    tested = permutation_test(
        pearson_swap(drawn[0], drawn[1:], np.zeros(drawn[0].shape, dtype=np.int64)),
        rng=np.random.default_rng(0),
        n_draws=200,
        alternative="two-sided",
        n_threads=1,
    )
    return bool(r[0] > r[1] and tested.p[0, 1] <= 0.05), r[0] - r[1]


def planned(there: Floats, test: Callable[[Floats], tuple[bool, float]], n_simulations: int, seed: int) -> RequiredSize:
    """The plan from one sample, whose last axis is segments."""
    n = there.shape[-1]
    trial: Trial = lambda size, rng: test(there[..., rng.integers(0, n, size)])  # noqa: E731
    difference = test(there)[1]
    if difference <= 0:  # the plan would be for the other direction
        flipped = -there if there.ndim == 1 else there[[0, 2, 1]]
        return planned(flipped, test, n_simulations, seed)
    return required_size(trial, difference, there=n, least=10, most=64 * n, n_simulations=n_simulations, seed=seed)


def held(
    sample: Sample, test: Callable[[Floats], tuple[bool, float]], there: int, n_samples: int, n_simulations: int
) -> tuple[float, float, float, float]:
    """The true number, shares of data and of narrow intervals that hold it, the median plan over the truth."""
    true = required_size(
        lambda size, rng: test(sample(size, rng)),
        1.0,
        there=there,
        least=10,
        most=64 * there,
        n_simulations=1000,
        seed=99,
    ).size
    inside, narrow, sizes = [], [], []
    for number in range(n_samples):
        found = planned(sample(there, np.random.default_rng([3, number])), test, n_simulations, number)
        high = np.inf if np.isnan(found.data_high) else found.data_high
        low = np.inf if np.isnan(found.data_low) and np.isnan(found.size) else found.data_low
        inside.append(bool(np.isnan(found.size) or low <= true <= high))
        narrow.append(bool(found.low <= true <= found.high))
        sizes.append(found.size)
    return true, float(np.mean(inside)), float(np.mean(narrow)), float(np.nanmedian(sizes)) / true


CASES = {
    "two systems, d = 0.2, 300 segments": (gaps(0.2), found_gap, 300),
    "two systems, d = 0.2, 100 segments": (gaps(0.2), found_gap, 100),
    "two metrics, r = .80 and .75, 60 segments": (outputs(0.5, 0.66), found_metric, 60),
}


def main() -> None:
    n_samples = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print("| data | needed in truth | held | held by worlds alone | median plan over the truth |")
    print(f"|{' --- |' * 5}")
    started = time.process_time()
    for name, (sample, test, there) in CASES.items():
        true, inside, narrow, ratio = held(sample, test, there, n_samples, 60)
        print(f"| {name} | {true:.0f} | {inside:.2f} | {narrow:.2f} | {ratio:.2f} |", flush=True)
    print(f"{n_samples} samples each, {time.process_time() - started:.0f} s of CPU")


if __name__ == "__main__":
    main()
