"""How often the bootstrap interval of Krippendorff's alpha holds the true value, on simulated annotators.

`python -m benchmarks.alpha_coverage` prints a line for each size: outputs have normal true scores, to which each of two
annotators adds normal noise; alpha is then the true scores' share of the variance. Half of the true variance is common
to the outputs of a segment, and segments are resampled.
"""

import numpy as np

from metaeval.kernels.agreement.reliability import interval_alpha
from metaeval.kernels.resampling.draws import resample_counts

ALPHAS = (0.2, 0.5, 0.8)
SIZES = ((25, 4), (50, 4), (100, 4), (400, 1))  # segments, outputs of each
WORLDS, DRAWS = 1000, 500


def coverage(alpha: float, n_segments: int, n_each: int, *, shared: float = 0.5, seed: int = 0) -> float:
    """Share of simulated worlds whose 95% interval holds alpha. shared: part of the true variance, by segment."""
    rng = np.random.default_rng(seed)
    units = np.repeat(np.arange(n_segments * n_each), 2)
    segment_of = np.arange(n_segments * n_each) // n_each
    n_held = 0
    for _ in range(WORLDS):
        truth = rng.normal(0, (alpha * shared) ** 0.5, n_segments)[segment_of]
        truth = truth + rng.normal(0, (alpha * (1 - shared)) ** 0.5, len(segment_of))
        values = truth[units] + rng.normal(0, (1 - alpha) ** 0.5, len(units))
        drawn = interval_alpha(values, units, resample_counts(rng, DRAWS, n_segments)[:, segment_of])
        low, high = np.quantile(drawn, (0.025, 0.975))
        n_held += int(low <= alpha <= high)
    return n_held / WORLDS


if __name__ == "__main__":
    for n_segments, n_each in SIZES:
        shares = " ".join(f"alpha {alpha}: {coverage(alpha, n_segments, n_each):.3f}" for alpha in ALPHAS)
        print(f"{n_segments} segments of {n_each} outputs: {shares}")
