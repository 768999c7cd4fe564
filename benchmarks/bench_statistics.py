"""Speed and memory of the statistics kernels on simulated scores of a real evaluation set's size.

    python -m benchmarks.bench_statistics            # all cases
    python -m benchmarks.bench_statistics spa tau    # those whose name holds one of the words

Human scores look like MQM: many are 0, the rest whole numbers below; metrics are noisy versions of them. The
baselines are the plain loops of tests/naive.py over a slice, scaled to the whole by the number of pairs.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np

from benchmarks import span_worlds
from benchmarks.harness import Case, markdown_table
from benchmarks.levels import SPAN_MEASURES
from benchmarks.null_worlds import options_of
from metaeval import kernels
from metaeval.kernels.arrays.grouping import Grouping
from metaeval.measures import parse_measure
from tests import naive


def simulated(n_metrics: int, n_systems: int, n_segments: int) -> tuple[Any, Any]:
    """human (n_systems, n_segments) and metrics (n_metrics, n_systems, n_segments), always the same."""
    rng = np.random.default_rng(2026)
    quality = rng.normal(0, 0.3, (n_systems, 1))
    human = -np.floor(rng.gamma(0.5, 4.0, (n_systems, n_segments)) * np.exp(-quality))
    human[human == 0] = 0.0
    noise = rng.normal(0, 1, (n_metrics, n_systems, n_segments))
    return human, 0.2 * human + noise * rng.uniform(0.5, 2, (n_metrics, 1, 1))


def counts(by: Grouping, data: tuple[Any, Any]) -> Any:
    human, metrics = data
    found = kernels.pair_counts(human, metrics, kernels.group_labels(by, human.shape))
    return kernels.average(kernels.tau_b, found)


def calibration(by: Grouping, data: tuple[Any, Any]) -> Any:
    human, metrics = data
    return kernels.calibrate(human, metrics, kernels.group_labels(by, human.shape))


def spa(n_draws: int | None, data: tuple[Any, Any]) -> Any:
    human, metrics = data
    scores, judged = np.concatenate([human[np.newaxis], metrics]), ~np.isnan(human)
    if n_draws is None:
        p = kernels.normal_p_values(scores, judged)
    else:
        signs = kernels.draw_signs(np.random.default_rng(1), n_draws, human.shape[1])
        p = kernels.sign_flip_p_values(scores, judged, signs)
    return kernels.soft_pairwise_accuracy(p[0], p[1:])


def correlations(name: str, by: Grouping, data: tuple[Any, Any]) -> Any:
    human, metrics = data
    function = kernels.pearson if name == "pearson" else kernels.spearman
    return function(human, metrics, kernels.group_labels(by, human.shape))


def spans(name: str, block: Any) -> Any:
    return parse_measure(name).value(block, options_of(parse_measure(name)))


def span_block() -> Any:
    """Gold spans and those of one metric, drawn alike."""
    rng, n_segments = np.random.default_rng(2026), 8334
    gold, metric = (span_worlds.drawn_spans(np.full((12, n_segments), 3), rng) for _ in range(2))
    pool = span_worlds.Pool((gold, metric, metric), n_segments)
    return pool.block(np.arange(n_segments), np.zeros(n_segments, dtype=np.bool_)).only([True, False])


def pdp(data: tuple[Any, Any]) -> Any:
    return kernels.pairwise_difference_pearson(*data)


def naive_counts(n_scores: int, data: tuple[Any, Any]) -> Any:
    human, metrics = data
    pairs = zip(human.ravel()[:n_scores].tolist(), metrics[0].ravel()[:n_scores].tolist(), strict=True)
    return naive.pair_counts(list(pairs))


def naive_calibration(n_segments: int, data: tuple[Any, Any]) -> Any:
    human, metrics = data
    labels = kernels.group_labels("item", human.shape)[:, :n_segments]
    return naive.calibration(human[:, :n_segments], metrics[0][:, :n_segments], labels)


def naive_spa(n_draws: int, data: tuple[Any, Any]) -> Any:
    human, metrics = data
    signs = np.random.default_rng(1).choice([-1, 1], (n_draws, human.shape[1])).tolist()
    first, second = metrics[0, 0].tolist(), metrics[0, 1].tolist()
    return naive.sign_flip_p_value(first, second, signs)


def pairs(n: int) -> float:
    return n * (n - 1) / 2


def cases() -> list[Case]:
    """Every line of the table; baselines before what is compared with them."""
    one_large = partial(simulated, 1, 14, 2000)
    many_large = partial(simulated, 43, 14, 2000)
    one_none = partial(simulated, 1, 13, 2000)
    items = partial(simulated, 43, 13, 2000)
    systems = partial(simulated, 43, 15, 2000)
    return [
        Case(
            "naive pair counts, 28,000 cells",
            partial(naive_counts, 1500),
            one_large,
            None,
            pairs(28_000) / pairs(1500),
            repeats=1,
        ),
        Case(
            "tau_b, no grouping, 28,000 cells, 1 metric",
            partial(counts, "none"),
            one_large,
            baseline="naive pair counts, 28,000 cells",
            repeats=9,
        ),
        # the target is 10 ms a metric
        Case("tau_b, no grouping, 28,000 cells, 43 metrics", partial(counts, "none"), many_large, 0.43),
        Case("tau_b by item, 43 × 13 × 2,000", partial(counts, "item"), items),
        Case("tau_b by system, 43 × 13 × 2,000", partial(counts, "system"), items),
        Case(
            "naive acc_eq by item, 43 × 13 × 2,000",
            partial(naive_calibration, 8),
            items,
            None,
            43 * (2000 / 8) ** 2,
            repeats=1,
        ),
        Case(
            "acc_eq by item, 43 × 13 × 2,000",
            partial(calibration, "item"),
            items,
            0.3,
            baseline="naive acc_eq by item, 43 × 13 × 2,000",
            repeats=5,
        ),
        Case("acc_eq by system, 1 × 13 × 2,000", partial(calibration, "system"), one_none),
        Case("acc_eq, no grouping, 26,000 cells, 1 metric", partial(calibration, "none"), one_none, 5.0),
        Case(
            "acc_eq, no grouping, 100,000 cells, 1 metric",
            partial(calibration, "none"),
            partial(simulated, 1, 20, 5000),
            repeats=1,
        ),
        Case("naive SPA, 43 × 15 × 2,000", partial(naive_spa, 20), systems, None, 1000 / 20 * 44 * 105, repeats=1),
        Case(
            "SPA, 1000 draws, 43 × 15 × 2,000",
            partial(spa, 1000),
            systems,
            0.2,
            baseline="naive SPA, 43 × 15 × 2,000",
            repeats=5,
        ),
        Case("SPA, normal approximation, 43 × 15 × 2,000", partial(spa, None), systems, repeats=5),
        Case("Pearson, no grouping, 43 × 13 × 2,000", partial(correlations, "pearson", "none"), items),
        Case("Pearson by item, 43 × 13 × 2,000", partial(correlations, "pearson", "item"), items),
        Case("Spearman by item, 43 × 13 × 2,000", partial(correlations, "spearman", "item"), items),
        Case("PDP, 43 × 13 × 2,000", pdp, items),
        *(Case(f"{name}, 100,000 × 3 spans", partial(spans, name), span_block, 5.0) for name in SPAN_MEASURES),
    ]


def main() -> None:
    words = sys.argv[1:]
    chosen = [case for case in cases() if not words or any(word in case.name for word in words)]
    names = {case.name for case in chosen}
    needed = [case for case in cases() if case.name in names or any(c.baseline == case.name for c in chosen)]
    print(markdown_table(needed))


if __name__ == "__main__":
    main()
