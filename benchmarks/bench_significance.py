"""Speed and memory of the tests of metric against metric, all pairs at once, on simulated scores of real size.

    python -m benchmarks.bench_significance              # all cases
    python -m benchmarks.bench_significance spa pairs    # those whose name contains one of the words

43 metrics (903 pairs), 15 systems, 1,200 segments, 1,000 draws, as many threads as there are cores. The baselines
are the plain loops of tests/naive_significance.py for one pair of metrics and one draw, scaled to all.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Case, markdown_table
from metaeval.kernels.agreement.correlation import pearson as pearson_in_groups
from metaeval.kernels.agreement.pair_counts import pair_counts
from metaeval.kernels.agreement.tau import average, tau_b
from metaeval.kernels.arrays.grouping import Grouping, group_labels
from metaeval.kernels.calibration.tie_calibration import calibrate
from metaeval.kernels.resampling.pair_outcomes import pair_outcome_p_values
from metaeval.kernels.resampling.permutation import draw_swaps, permutation_test
from metaeval.kernels.resampling.permutation_all_pairs import all_pairs_swap
from metaeval.kernels.resampling.permutation_groups import (
    any_swap,
    group_swap,
    right_pairs_swap,
)
from metaeval.kernels.resampling.permutation_item_pairs import item_pairs_swap
from metaeval.kernels.resampling.permutation_pearson import pairwise_difference_swap, pearson_swap
from metaeval.kernels.resampling.permutation_spa import soft_pairwise_swap
from metaeval.kernels.resampling.permutation_system import accuracy_swap
from metaeval.kernels.resampling.prepared import Swap, mask_shape
from metaeval.kernels.resampling.system_tests import draw_signs
from tests import naive_significance as naive

N_METRICS, N_SYSTEMS, N_SEGMENTS, N_DRAWS = 43, 15, 1200, 1000
N_PAIRS = N_METRICS * (N_METRICS - 1) // 2


def simulated() -> tuple[Any, Any]:
    """human (15, 1200) and metrics (43, 15, 1200), always the same."""
    rng = np.random.default_rng(2026)
    quality = rng.normal(0, 0.3, (N_SYSTEMS, 1))
    human = -np.floor(rng.gamma(0.5, 4.0, (N_SYSTEMS, N_SEGMENTS)) * np.exp(-quality))
    human[human == 0] = 0.0
    noise = rng.normal(0, 1, (N_METRICS, N_SYSTEMS, N_SEGMENTS))
    return human, 0.2 * human + noise * rng.uniform(0.5, 2, (N_METRICS, 1, 1))


def calibrated() -> tuple[Any, Any, Any, Any]:
    """The same with each metric's tie threshold, found outside the measured time."""
    human, metrics = simulated()
    labels = group_labels("item", human.shape)
    return human, metrics, labels, calibrate(human, metrics, labels).epsilon


def tested(statistic: Any) -> Any:
    return permutation_test(statistic, rng=np.random.default_rng(1), n_draws=N_DRAWS)


def two_sided(statistic: Any) -> Any:
    return permutation_test(statistic, rng=np.random.default_rng(1), n_draws=N_DRAWS, alternative="two-sided")


def tau_b_by_item(data: tuple[Any, Any]) -> Any:
    return tested(item_pairs_swap(*data, tau_b, "both"))


def tau_b_of_all(data: tuple[Any, Any]) -> Any:
    return tested(all_pairs_swap(*data, "both"))


def tau_b_by_system(data: tuple[Any, Any]) -> Any:
    human, metrics = data
    return tested(all_pairs_swap(human, metrics, "both", group_labels("system", human.shape)))


def tau_b_anew(by: Grouping, data: tuple[Any, Any]) -> Any:
    """One metric's scores swapped into all others, for one draw: tau_b of every hybrid counted anew."""
    human, metrics = data
    swaps = draw_swaps(np.random.default_rng(1), 1, human.shape)
    statistic = any_swap(human, metrics, partial(_tau_b, by), "both")
    return statistic.statistic(human, np.where(swaps[0], statistic.scores, statistic.scores[0]))


def _tau_b(by: Grouping, human: Any, metrics: Any) -> Any:
    return average(tau_b, pair_counts(human, metrics, group_labels(by, human.shape))).value


def tau_b_cases(by: Grouping, run: Any, target: float | None) -> list[Case]:
    """Two cases: counting every hybrid anew (one metric and draw, scaled to all), and the kernel."""
    anew = f"counted anew: tau_b(by={by}) perm-both"
    return [
        Case(anew, partial(tau_b_anew, by), simulated, scale=N_METRICS * N_DRAWS, repeats=1),
        Case(f"tau_b(by={by}) perm-both", run, simulated, target, baseline=anew, repeats=1),
    ]


def spa(n_flips: int | None, swap: Swap, data: tuple[Any, Any]) -> Any:
    signs = None if n_flips is None else draw_signs(np.random.default_rng(0), n_flips, N_SEGMENTS)
    return tested(soft_pairwise_swap(*data, signs, swap))


def accuracy(swap: Swap, data: tuple[Any, Any]) -> Any:
    return tested(accuracy_swap(*data, swap))


def pearson(swap: Swap, data: tuple[Any, Any]) -> Any:
    return tested(pearson_swap(*data, group_labels("none", data[0].shape), swap))


def of_segments(statistic: Any, data: tuple[Any, Any]) -> Any:
    """Values of all segments, which are all judged and are swapped whole."""
    return group_swap(statistic(*data, group_labels("item", data[0].shape)), np.arange(N_SEGMENTS), (N_SEGMENTS,))


def pearson_by_item(data: tuple[Any, Any]) -> Any:
    return tested(of_segments(pearson_in_groups, data))


def pdp(data: tuple[Any, Any]) -> Any:
    return tested(pairwise_difference_swap(*data))


def pairs(data: tuple[Any, Any, Any, Any]) -> Any:
    return pair_outcome_p_values(*data)


def acc_eq_by_default(data: tuple[Any, Any]) -> Any:
    """`compare` of acc_eq(by=item): thresholds calibrated, then whole segments swapped."""
    human, metrics = data
    epsilon = calibrate(human, metrics, group_labels("item", human.shape)).epsilon
    return two_sided(right_pairs_swap(human, metrics, "acc23", epsilon=epsilon))


def tau_b_by_default(data: tuple[Any, Any]) -> Any:
    """`compare` of tau_b(by=item)."""
    return two_sided(of_segments(lambda *scores: tau_b(pair_counts(*scores)), data))


def spa_by_default(data: tuple[Any, Any]) -> Any:
    """`compare` of spa."""
    signs = draw_signs(np.random.default_rng(0), 1000, N_SEGMENTS)
    return two_sided(soft_pairwise_swap(*data, signs))


def naive_test(name: str, swap: Swap, data: tuple[Any, Any]) -> Any:
    """One pair of metrics, one draw."""
    human, metrics = data
    signs = draw_signs(np.random.default_rng(0), 1000, N_SEGMENTS)
    statistic = {
        "spa": naive.soft_pairwise(signs),
        "pa": naive.pairwise_accuracy("organisers"),
        "pearson": naive.pearson_in_groups(group_labels("none", human.shape)),
        "pdp": naive.pairwise_difference_pearson,
    }[name]
    masks = np.random.default_rng(1).random((1, *mask_shape(swap, human.shape))) < 0.5
    a, b = (naive.z_scores(human, metric) for metric in metrics[:2])
    return [statistic(human, naive.hybrid(one, other, swap, masks[0])) for one, other in ((a, b), (b, a))]


def naive_pairs(n_segments: int, data: tuple[Any, Any, Any, Any]) -> Any:
    """Two metrics, some segments."""
    human, metrics, _, epsilon = data
    few = human[:, :n_segments], metrics[:2, :, :n_segments]
    return naive.pairs_only_right(*few, group_labels("item", few[0].shape), epsilon[:2])


def cases() -> list[Case]:
    """Every target with its baseline before it."""
    make = simulated
    all_tests = float(N_PAIRS * N_DRAWS)

    def loop(name: str, swap: Swap) -> Case:
        run = partial(naive_test, name, swap)
        return Case(f"plain loop: {name} perm-{swap}", run, make, scale=all_tests, repeats=1)

    spa_loop, pa_loop = "plain loop: spa perm-inputs", "plain loop: pa perm-inputs"
    return [
        Case("compare by default: acc_eq(by=item) perm-inputs", acc_eq_by_default, make, 20.0, repeats=1),
        Case("compare by default: tau_b(by=item) perm-inputs", tau_b_by_default, make, 60.0, repeats=1),
        Case("compare by default: spa(n=1000) perm-inputs", spa_by_default, make, 30.0, repeats=1),
        loop("spa", "inputs"),
        Case("spa(n=1000) perm-inputs", partial(spa, 1000, "inputs"), make, 60.0, baseline=spa_loop, repeats=1),
        Case("spa(n=inf) perm-inputs", partial(spa, None, "inputs"), make, 6.0, baseline=spa_loop),
        Case("spa(n=1000) perm-both", partial(spa, 1000, "both"), make, baseline=spa_loop, repeats=1),
        loop("pa", "inputs"),
        Case("pa perm-inputs", partial(accuracy, "inputs"), make, 1.0, baseline=pa_loop),
        Case("pa perm-systems", partial(accuracy, "systems"), make, 1.0, baseline=pa_loop),
        loop("pearson", "inputs"),
        Case(
            "pearson(by=none) perm-inputs",
            partial(pearson, "inputs"),
            make,
            0.3,
            baseline="plain loop: pearson perm-inputs",
        ),
        Case("pearson(by=item) perm-inputs", pearson_by_item, make, 0.3),
        loop("pdp", "inputs"),
        Case("pdp perm-inputs", pdp, make, 0.3, baseline="plain loop: pdp perm-inputs"),
        loop("pearson", "both"),
        Case(
            "pearson(by=none) perm-both",
            partial(pearson, "both"),
            make,
            0.5,
            baseline="plain loop: pearson perm-both",
        ),
        *tau_b_cases("item", tau_b_by_item, 60.0),
        *tau_b_cases("none", tau_b_of_all, None),
        *tau_b_cases("system", tau_b_by_system, None),
        Case(
            "plain loop: acc_eq(by=item) pairs, no draws",
            partial(naive_pairs, 10),
            calibrated,
            scale=N_PAIRS * N_SEGMENTS / 10,
            repeats=1,
        ),
        Case(
            "acc_eq(by=item) pairs",
            pairs,
            calibrated,
            0.5,
            baseline="plain loop: acc_eq(by=item) pairs, no draws",
        ),
    ]


def main(words: list[str]) -> None:
    """Print the table of the chosen cases; a case brings its baseline along."""
    every = cases()
    chosen = [case for case in every if not words or any(word in case.name for word in words)]
    wanted = {case.name for case in chosen} | {case.baseline for case in chosen}
    print(markdown_table([case for case in every if case.name in wanted]))


if __name__ == "__main__":
    main(sys.argv[1:])
