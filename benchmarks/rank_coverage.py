"""How often 95% rank ranges hold the true rank, of systems and of metrics.

    python -m benchmarks.rank_coverage [N_WORLDS]

Systems: 8 with true means a gap apart, on 100 segments, standard deviation 1. Metrics: 8 whose errors grow by a step,
on 12 systems; a world is 150 segments of a pool of 3,000, and a metric's true rank is its rank by the measure on the
pool.
"""

import sys

import numpy as np

from benchmarks.null_worlds import Floats, Ints, Pair, block_of, options_of
from metaeval.kernels.resampling.rank_ranges import ranges_by_test, rank_ranges, ranks_of_draws, resampled_means
from metaeval.kernels.resampling.system_tests import paired_t_p_values, wilcoxon_p_values
from metaeval.measures.registry import parse_measure
from metaeval.results.evaluation import evaluate
from metaeval.results.study import SliceResult
from metaeval.studies.ranking.intervals import metric_ranges

N, N_RATED, N_JUDGED, POOL, SEGMENTS, DRAWS = 8, 100, 12, 3000, 150, 400
GAPS = (0.05, 0.1, 0.2, 0.4)
STEPS = (0.05, 0.2)
MEASURES = ("acc_eq(by=item)", "pearson(by=none)", "pearson(by=item)", "pdp", "pa")


def of_systems(gap: float, n_worlds: int) -> dict[str, float]:
    """The share of ranges that hold the true rank, by the method that computed them."""
    rng = np.random.default_rng([1, int(1000 * gap)])
    held: dict[str, list[float]] = {}
    for _ in range(n_worlds):
        scores = rng.normal(size=(N, N_RATED)) + rng.normal(size=N_RATED) - gap * np.arange(N)[:, np.newaxis]
        judged, means = np.ones(scores.shape, dtype=bool), scores.mean(axis=1)
        found = {
            "resamples": rank_ranges(resampled_means(scores, judged, rng, DRAWS)),
            "paired-t": ranges_by_test(means, paired_t_p_values(scores[np.newaxis], judged)),
            "wilcoxon": ranges_by_test(means, wilcoxon_p_values(scores[np.newaxis], judged)),
        }
        for way, ranges in found.items():
            held.setdefault(way, []).append(_holding(ranges, np.arange(1, N + 1)))
    return {way: float(np.mean(shares)) for way, shares in held.items()}


def pool_of_metrics(step: float, rng: np.random.Generator, n_segments: int = POOL) -> Pair:
    """All segments: outputs differ by system, segment and chance; annotators and metrics see them with errors."""
    shape = (N_JUDGED, n_segments)
    quality = 0.3 * rng.normal(size=(N_JUDGED, 1)) + rng.normal(size=n_segments) + rng.normal(size=shape)
    metrics = [quality + (1 + step * place) * rng.normal(size=shape) for place in range(N)]
    return Pair(np.round(quality + 0.5 * rng.normal(size=shape)), np.stack(metrics), np.arange(n_segments))


def of_metrics(text: str, step: float, n_worlds: int) -> float:
    """The share of ranges that hold the rank on the pool; 4 worlds share a pool."""
    measure, options = parse_measure(text), options_of(parse_measure(text))
    rng = np.random.default_rng([2, int(1000 * step)])
    held = []
    for number in range(n_worlds):
        if number % 4 == 0:
            pool = pool_of_metrics(step, rng)
            truth = ranks_of_draws(evaluate(measure, block_of(pool), options).value[:, np.newaxis])[:, 0]
        chosen = rng.integers(0, POOL, SEGMENTS)
        block = block_of(pool.of_segments(chosen, np.arange(SEGMENTS)))
        result = SliceResult(block, evaluate(measure, block, options), "", (), str(measure))
        low, high, _ = metric_ranges(result, options_of(measure, number), DRAWS)
        held.append(_holding((low, high), truth))
    return float(np.mean(held))


def _holding(ranges: tuple[Ints, Ints], truth: Ints | Floats) -> float:
    return float(((ranges[0] <= truth) & (truth <= ranges[1])).mean())


def main(n_worlds: int) -> None:
    """Print the shares."""
    for gap in GAPS:
        shares = ", ".join(f"{way} {share:.3f}" for way, share in of_systems(gap, n_worlds).items())
        print(f"systems {gap} apart: {shares}", flush=True)
    for text in MEASURES:
        shares = ", ".join(f"errors growing by {step}: {of_metrics(text, step, n_worlds):.3f}" for step in STEPS)
        print(f"metrics by {text}: {shares}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
