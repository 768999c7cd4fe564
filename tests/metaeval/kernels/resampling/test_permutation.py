"""The permutation engine: counts against plain loops with the same masks, and what may not change them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metaeval.kernels.agreement.correlation import pairwise_difference_pearson, pearson, spearman
from metaeval.kernels.agreement.pair_counts import pair_counts
from metaeval.kernels.agreement.systems import pairwise_accuracy, soft_pairwise_accuracy
from metaeval.kernels.agreement.tau import TAUS, tau_a, tau_b
from metaeval.kernels.arrays.grouping import group_labels
from metaeval.kernels.resampling import permutation_groups
from metaeval.kernels.resampling.permutation import difference_p_values, draw_swaps, permutation_test, standardise
from metaeval.kernels.resampling.permutation_all_pairs import all_pairs_swap
from metaeval.kernels.resampling.permutation_groups import (
    any_swap,
    group_swap,
    pooled_counts_swap,
    right_pairs_swap,
)
from metaeval.kernels.resampling.permutation_item_pairs import item_pairs_swap
from metaeval.kernels.resampling.permutation_pearson import pairwise_difference_swap, pearson_swap
from metaeval.kernels.resampling.permutation_spa import soft_pairwise_swap
from metaeval.kernels.resampling.permutation_system import accuracy_swap, pooled_swap, system_swap
from metaeval.kernels.resampling.prepared import SwapStatistic
from metaeval.kernels.resampling.system_tests import draw_signs, normal_p_values, sign_flip_p_values
from tests import naive_significance as naive
from tests.drawn_units import swap_blocks
from tests.helpers import refused

Floats = npt.NDArray[np.float64]
SIGNS = draw_signs(np.random.default_rng(5), 21, 9)
SHAPE = (4, 9)
DOCUMENTS = ["a", "a", "b", "b", "b", "c", "c", "d", "d"]


def scores(seed: int, missing: str, n_metrics: int = 3) -> tuple[Floats, Floats]:
    """Coarse scores, so that ties are frequent: human (4, 9), metrics (3, 4, 9)."""
    rng = np.random.default_rng(seed)
    human = rng.integers(-3, 1, SHAPE).astype(float)
    metrics = np.round(human + rng.normal(0, 2, (n_metrics, *SHAPE)), 1)
    metrics[-1] = np.round(metrics[-1])
    if missing == "segments":
        human[:, [2, 5]] = np.nan
    elif missing == "cells":
        human[rng.random(SHAPE) < 0.25] = np.nan
        metrics[:, np.isnan(human)] = np.nan
    return human, metrics


def labels(by: str) -> npt.NDArray[np.int64]:
    return group_labels(by, SHAPE, documents=DOCUMENTS)  # type: ignore[arg-type]


def of_segments(values: Floats, human: Floats) -> SwapStatistic:
    """Values (M, n_groups) of the segments with two judged systems or more, to be swapped whole."""
    judged = np.flatnonzero(np.count_nonzero(~np.isnan(human), axis=0) >= 2)
    return group_swap(values, judged, human.shape[1:])


Case = tuple[Callable[[Floats, Floats, str], SwapStatistic], Callable[[], naive.Statistic], tuple[str, ...]]
EVERY = ("inputs", "systems", "both")
CASES: dict[str, Case] = {
    **{
        f"pearson(by={by})": (
            lambda h, m, swap, by=by: pearson_swap(h, m, labels(by), swap),  # type: ignore[misc]
            lambda by=by: naive.pearson_in_groups(labels(by)),  # type: ignore[misc]
            EVERY,
        )
        for by in ("none", "item", "system", "doc")
    },
    "pdp": (pairwise_difference_swap, lambda: naive.pairwise_difference_pearson, EVERY),  # type: ignore[dict-item]
    **{
        f"system {name}": (
            lambda h, m, swap, name=name: system_swap(h, m, name, swap),  # type: ignore[misc]
            lambda name=name: naive.system_correlation(name),  # type: ignore[misc]
            EVERY,
        )
        for name in ("pearson", "spearman", "kendall")
    },
    **{
        f"pa {ties}": (
            lambda h, m, swap, ties=ties: accuracy_swap(h, m, swap, ties=ties),  # type: ignore[misc]
            lambda ties=ties: naive.pairwise_accuracy(ties),  # type: ignore[misc]
            EVERY,
        )
        for ties in ("organisers", "tship")
    },
    "spa": (
        lambda h, m, swap: soft_pairwise_swap(h, m, SIGNS, swap),  # type: ignore[arg-type]
        lambda: naive.soft_pairwise(SIGNS),
        EVERY,
    ),
    "spa(n=inf)": (
        lambda h, m, swap: soft_pairwise_swap(h, m, None, swap),  # type: ignore[arg-type]
        lambda: naive.soft_pairwise(None),
        EVERY,
    ),
    "spearman(by=item) of groups": (
        lambda h, m, swap: of_segments(spearman(h, m, labels("item")), h),
        lambda: naive.rank_correlation_by_item("spearman"),
        ("inputs",),
    ),
    "kendall(by=item) of pairs": (
        lambda h, m, swap: item_pairs_swap(h, m, TAUS["tau_b"], swap),  # type: ignore[arg-type]
        lambda: naive.rank_correlation_by_item("kendall"),
        EVERY,
    ),
    "acc23(by=item) of pairs": (
        lambda h, m, swap: item_pairs_swap(h, m, TAUS["acc23"], swap),  # type: ignore[arg-type]
        lambda: naive.acc23_by_item,
        EVERY,
    ),
    "tau_a(by=item, pool=pairs) of pairs": (
        lambda h, m, swap: item_pairs_swap(h, m, TAUS["tau_a"], swap, pool="pairs"),  # type: ignore[arg-type]
        lambda: naive.tau_a_pooled_over_items,
        EVERY,
    ),
    "tau_a(by=item, pool=pairs)": (
        lambda h, m, swap: pooled_counts_swap(pair_counts(h, m, labels("item")), tau_a, (9,)),
        lambda: naive.tau_a_pooled_over_items,
        ("inputs",),
    ),
    "any": (
        lambda h, m, swap: any_swap(h, m, pairwise_difference_pearson, swap),  # type: ignore[arg-type]
        lambda: naive.pairwise_difference_pearson,
        EVERY,
    ),
}
MISSING = ("nothing", "segments", "cells")
LONG = pytest.mark.long("every swap of every statistic with all that can be missing: 15 seconds")
EACH_ONCE = [
    pytest.param(*(name, swap, missing), marks=() if len(swaps) == 1 or (place + number) % len(MISSING) == 0 else LONG)
    for name, (_, _, swaps) in CASES.items()
    for place, swap in enumerate(swaps)
    for number, missing in enumerate(MISSING)
]
"""Each statistic with every swap and with all that can be missing; not with every two of them together."""


@pytest.mark.every(3)
@pytest.mark.parametrize(("name", "swap", "missing"), EACH_ONCE)
def test_counts_equal_a_double_loop_over_the_same_masks(name: str, swap: str, missing: str) -> None:
    build, naive_statistic, _ = CASES[name]
    human, metrics = scores(seed=len(name) + len(swap), missing=missing)
    statistic = build(human, metrics, swap)
    n_draws = 5
    masks = itertools.chain(*swap_blocks(np.random.default_rng(3), n_draws, statistic.mask_shape))
    filled = np.where(np.isfinite(human), metrics, 0.0)
    values, differences = naive.swapped_differences(naive_statistic(), human, filled, swap, masks)
    rows, columns = np.triu_indices(len(metrics), 1)
    off_diagonal = ~np.eye(len(metrics), dtype=bool)
    for alternative in ("greater", "two-sided"):
        result = permutation_test(
            statistic,
            rng=np.random.default_rng(3),
            n_draws=n_draws,
            alternative=alternative,
            keep_null=True,
            n_threads=1,
        )
        expected = naive.n_extreme(values, differences, two_sided=alternative == "two-sided")
        assert result.n_extreme[off_diagonal].tolist() == expected[off_diagonal].tolist()
        np.testing.assert_allclose(result.values, values, atol=1e-12)
        np.testing.assert_allclose(result.null, differences[:, rows, columns].T, atol=1e-10)


def test_a_swap_of_one_segment_is_worked_out_by_hand() -> None:
    # one system pair, three segments; PDP of a perfect and a reversed metric
    human = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    metrics = np.array([human, 1.0 - human])
    statistic = pairwise_difference_swap(human, metrics)
    swaps = np.array([[False, False, False], [True, False, False], [True, True, True]])
    hybrids = statistic.hybrids(swaps)
    # all differences are ±2 standard deviations: the mean of 1, 1, 1; then −1, 1, 1; then −1, −1, −1
    np.testing.assert_allclose(hybrids[:, 0, 1], [1.0, 1.0 / 3.0, -1.0])
    np.testing.assert_allclose(hybrids[:, 1, 0], [-1.0, -1.0 / 3.0, 1.0])


def spa_of(human: Floats, metrics: Floats, signs: npt.NDArray[np.int8] | None) -> Floats:
    """Soft pairwise accuracy of each metric by the measure's kernels; without signs the normal limit."""
    every, judged = np.concatenate([human[np.newaxis], metrics]), ~np.isnan(human)
    p = normal_p_values(every, judged) if signs is None else sign_flip_p_values(every, judged, signs)
    return soft_pairwise_accuracy(p[0], p[1:])


@pytest.mark.parametrize("n_flips", [1, 7, 8, 2040, 2041, 2500])
def test_any_number_of_inner_signs_is_counted_whole(n_flips: int) -> None:
    human, metrics = scores(2, "cells")
    signs = draw_signs(np.random.default_rng(1), n_flips, SHAPE[1])
    result = permutation_test(
        soft_pairwise_swap(human, metrics, signs), rng=np.random.default_rng(0), n_draws=2, n_threads=1
    )
    np.testing.assert_allclose(result.values, spa_of(human, metrics, signs), atol=1e-12)


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1), missing=st.sampled_from(["nothing", "segments", "cells"]))
def test_swapping_the_two_metrics_mirrors_p(seed: int, missing: str) -> None:
    human, metrics = scores(seed, missing, n_metrics=2)
    run = partial(permutation_test, n_draws=10, n_threads=1)
    for build in (
        lambda m: accuracy_swap(human, m),
        lambda m: pairwise_difference_swap(human, m),
        lambda m: soft_pairwise_swap(human, m, SIGNS[:8]),
    ):
        p = run(build(metrics), rng=np.random.default_rng(seed)).p
        mirrored = run(build(metrics[::-1]), rng=np.random.default_rng(seed)).p
        assert np.array_equal(p, mirrored[::-1, ::-1], equal_nan=True)


@given(seed=st.integers(0, 2**32 - 1), factor=st.sampled_from([0.125, 4.0, 1024.0]))
def test_the_scale_of_a_metric_does_not_matter(seed: int, factor: float) -> None:
    human, metrics = scores(seed, "cells", n_metrics=2)
    rescaled = metrics * np.array([factor, 1.0])[:, None, None]
    for build in (lambda m: system_swap(human, m, "kendall", "both"), lambda m: pearson_swap(human, m, labels("none"))):
        one = permutation_test(build(metrics), rng=np.random.default_rng(seed), n_draws=20, n_threads=1)
        other = permutation_test(build(rescaled), rng=np.random.default_rng(seed), n_draws=20, n_threads=1)
        assert one.n_extreme.tolist() == other.n_extreme.tolist()


def larger_case() -> tuple[Floats, Floats]:
    rng = np.random.default_rng(11)
    human = np.round(rng.normal(0, 1, (5, 40)), 1)
    human[rng.random(human.shape) < 0.1] = np.nan
    return human, np.round(human + rng.normal(0, 1, (6, 5, 40)), 2)


def larger_statistics() -> list[SwapStatistic]:
    human, metrics = larger_case()
    signs = draw_signs(np.random.default_rng(1), 60, 40)
    return [
        pearson_swap(human, metrics, group_labels("item", human.shape), "both"),
        pairwise_difference_swap(human, metrics, "both"),
        system_swap(human, metrics, "spearman"),
        accuracy_swap(human, metrics, "both"),
        soft_pairwise_swap(human, metrics, signs),
        soft_pairwise_swap(human, metrics, signs, "both"),
        soft_pairwise_swap(human, metrics, None),
    ]


@pytest.mark.slow
def test_threads_change_nothing() -> None:
    for statistic in larger_statistics():
        run = partial(permutation_test, statistic, n_draws=110, keep_null=True)
        reference = run(rng=np.random.default_rng(4), n_threads=1)
        result = run(rng=np.random.default_rng(4), n_threads=2)
        assert np.array_equal(result.p, reference.p, equal_nan=True)
        assert np.array_equal(result.null, reference.null, equal_nan=True)  # type: ignore[arg-type]


def test_p_may_be_zero_unless_one_is_added() -> None:
    rng = np.random.default_rng(0)
    human = rng.normal(0, 1, (4, 50))
    metrics = np.stack([human + rng.normal(0, 0.1, human.shape), rng.normal(0, 1, human.shape)])
    statistic = pearson_swap(human, metrics, np.zeros(human.shape, dtype=np.int64))
    plain = permutation_test(statistic, rng=np.random.default_rng(1), n_draws=99)
    added = permutation_test(statistic, rng=np.random.default_rng(1), n_draws=99, plus_one=True)
    assert plain.p[0, 1] == 0.0
    assert added.p[0, 1] == 0.01
    assert np.isnan(plain.p[0, 0])


def test_identical_metrics_have_p_one() -> None:
    human, metrics = scores(3, "cells", n_metrics=1)
    twins = np.concatenate([metrics, metrics])
    for statistic in (
        accuracy_swap(human, twins),
        system_swap(human, twins, "pearson"),
        pairwise_difference_swap(human, twins),
        soft_pairwise_swap(human, twins, SIGNS),
    ):
        for alternative in ("greater", "two-sided"):
            result = permutation_test(statistic, rng=np.random.default_rng(0), n_draws=50, alternative=alternative)
            assert result.p[0, 1] == result.p[1, 0] == 1.0


def test_a_metric_without_a_value_has_no_p() -> None:
    human, metrics = scores(3, "nothing")
    metrics[1] = 0.25
    result = permutation_test(system_swap(human, metrics, "pearson"), rng=np.random.default_rng(0), n_draws=50)
    assert np.isnan(result.values).tolist() == [False, True, False]
    assert np.isnan(result.p[1]).all()
    assert np.isnan(result.p[:, 1]).all()
    assert 0.0 <= result.p[0, 2] <= 1.0


def test_a_metric_of_segments_alone_has_no_correlation_in_any_hybrid_with_itself() -> None:
    """Its means are equal, so what is left of them after a swap is rounding, whose size the sum of 0 does not tell."""
    for seed in range(100):  # about 1 in 5 had a value or a warning
        rng = np.random.default_rng(seed)
        human, other = rng.normal(size=(2, 5, 40))
        metrics = np.stack([np.tile(rng.normal(size=40), (5, 1)), other])
        hybrids = system_swap(human, metrics, "pearson").hybrids(rng.random((25, 40)) < 0.5)
        assert np.isnan(hybrids[:, 0, 0]).all(), seed
        assert np.isfinite(hybrids[:, 1, 1]).all(), seed


def test_a_draw_without_a_value_counts_as_extreme() -> None:
    # both metrics are constant on one segment; swapping all others leaves one hybrid with no group at all
    values = np.array([[0.9, np.nan], [np.nan, 0.2]])
    result = permutation_test(group_swap(values, [0, 1], (2,)), rng=np.random.default_rng(0), n_draws=200, n_threads=1)
    swaps = np.concatenate(list(swap_blocks(np.random.default_rng(0), 200, (2,))))
    undefined = swaps[:, 0] != swaps[:, 1]
    n_observed = np.sum(~swaps[:, 0] & ~swaps[:, 1])
    assert result.n_extreme[0, 1] == undefined.sum() + n_observed


def test_an_early_stop_freezes_clear_pairs_and_leaves_the_others_alone() -> None:
    human, metrics = larger_case()
    statistic = pairwise_difference_swap(human, metrics)
    full = permutation_test(statistic, rng=np.random.default_rng(2), n_draws=1000)
    stopped = permutation_test(statistic, rng=np.random.default_rng(2), n_draws=1000, early_stop=(0.02, 0.5))
    whole = stopped.n_draws == 1000
    assert (stopped.n_draws[~np.eye(6, dtype=bool)] < 1000).any()
    assert np.array_equal(stopped.p[whole], full.p[whole])
    assert set(np.unique(stopped.n_draws[~np.eye(6, dtype=bool)] % 100)) == {0}
    short = ~whole & ~np.eye(6, dtype=bool)
    assert ((stopped.p[short] < 0.02) | (stopped.p[short] > 0.5)).all()
    again = permutation_test(statistic, rng=np.random.default_rng(2), n_draws=1000, early_stop=(0.02, 0.5), n_threads=6)
    assert np.array_equal(again.n_extreme, stopped.n_extreme)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [all_pairs_swap, partial(item_pairs_swap, statistic=tau_b)])
def test_hybrids_of_settled_pairs_are_not_computed_and_nothing_changes(
    kernel: Callable[..., SwapStatistic], monkeypatch: pytest.MonkeyPatch
) -> None:
    statistic = kernel(*larger_case())
    original = type(statistic).wanted_hybrids
    wants: list[npt.NDArray[np.bool_]] = []

    def of_wanted(self: SwapStatistic, swaps: npt.NDArray[np.bool_], wanted: npt.NDArray[np.bool_]) -> Floats:
        wants.append(wanted)
        return original(self, swaps, wanted)

    def of_all(self: SwapStatistic, swaps: npt.NDArray[np.bool_], wanted: npt.NDArray[np.bool_]) -> Floats:
        return original(self, swaps, np.ones_like(wanted))

    found = []
    for method in (of_wanted, of_all):
        monkeypatch.setattr(type(statistic), "wanted_hybrids", method)
        rng = np.random.default_rng(2)
        found.append(permutation_test(statistic, rng=rng, n_draws=600, early_stop=(0.02, 0.5), n_threads=1))
    fewest = min(np.count_nonzero(wanted) for wanted in wants)
    assert 0 < fewest < statistic.n_metrics * (statistic.n_metrics - 1)
    for name in ("p", "n_draws", "n_extreme"):
        np.testing.assert_array_equal(getattr(found[0], name), getattr(found[1], name), err_msg=name)


def test_kept_differences_give_the_same_p() -> None:
    human, metrics = larger_case()
    for alternative in ("greater", "two-sided"):
        result = permutation_test(
            pairwise_difference_swap(human, metrics),
            rng=np.random.default_rng(2),
            n_draws=200,
            alternative=alternative,
            keep_null=True,
        )
        p = difference_p_values(result.null, result.values, alternative=alternative)
        assert np.array_equal(p, result.p, equal_nan=True)


@pytest.mark.every(2)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("ties", ["organisers", "tship"])
def test_pooled_accuracy_equals_a_plain_loop_over_language_pairs_standardised_together(
    ties: str, missing: bool
) -> None:
    """Scores of the language pairs lie apart, so standardising each on its own would give other hybrids."""
    rng = np.random.default_rng(0)
    sets: list[tuple[Floats, Floats]] = []
    for n_systems, level in ((5, 0.0), (7, 4.0), (3, -1.0)):
        human = rng.integers(-3, 4, n_systems) / 2.0
        metrics = np.array([1.0, 10.0, 1.0, 0.0])[:, np.newaxis] * (
            human + rng.integers(-3, 4, (4, n_systems)) + level * np.arange(4)[:, np.newaxis]
        )  # the last metric is constant
        if missing:
            human[1] = np.nan
        sets.append((human, metrics))
    result = permutation_test(pooled_swap(sets, ties=ties), rng=np.random.default_rng(1), n_draws=25, keep_null=True)  # type: ignore[arg-type]
    agreements = [pairwise_accuracy(human, metrics, ties) for human, metrics in sets]  # type: ignore[arg-type]
    np.testing.assert_allclose(result.values, (agreements[0] + agreements[1] + agreements[2]).accuracy)
    masks = np.concatenate(list(swap_blocks(np.random.default_rng(1), 25, (15,))))
    values, differences = naive.pooled_accuracy_differences(sets, masks, ties)
    off = ~np.eye(4, dtype=bool)
    assert np.array_equal(result.n_extreme[off], naive.n_extreme(values, differences, two_sided=False)[off])
    np.testing.assert_allclose(result.null.T, differences[:, *np.triu_indices(4, 1)], atol=1e-12)


def test_pooling_one_language_pair_is_the_test_of_that_pair() -> None:
    rng = np.random.default_rng(3)
    human = rng.normal(0, 1, 6)
    metrics = human + rng.normal(0, 1, (3, 6))
    alone = permutation_test(accuracy_swap(human, metrics, "systems"), rng=np.random.default_rng(1), n_draws=50)
    pooled = permutation_test(pooled_swap([(human, metrics)]), rng=np.random.default_rng(1), n_draws=50)
    assert np.array_equal(alone.n_extreme, pooled.n_extreme)
    refused("nothing to pool", pooled_swap, [])


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize("statistic", ["acc23", "tau_23"])
@pytest.mark.parametrize("missing", [False, True])
def test_right_pairs_of_swapped_segments_equal_a_plain_loop_in_fractions(
    missing: bool, statistic: str, alternative: str
) -> None:
    """Every draw by pairs and fractions: each metric keeps its own tie threshold, segments differ in pairs."""
    rng = np.random.default_rng(3)
    human = rng.integers(-3, 1, (5, 11)).astype(float)
    metrics = np.array([1.0, 10.0, 0.1])[:, None, None] * (human + rng.integers(-2, 3, (3, 5, 11)))
    epsilon = np.array([1.0, 0.0, 0.1])
    if missing:
        human[rng.random(human.shape) < 0.3] = np.nan
    shares: list[list[Fraction]] = [[], [], []]
    units = []
    for s in range(11):
        cells = [i for i in range(5) if np.isfinite(human[i, s])]
        pairs = [(i, j) for i in cells for j in cells if i < j]
        if not pairs:
            continue
        units.append(s)
        for place in range(3):
            gaps = [metrics[place, i, s] - metrics[place, j, s] for i, j in pairs]
            signs = [0 if abs(gap) <= epsilon[place] else int(np.sign(gap)) for gap in gaps]
            n_right = sum(
                sign == naive.sign(human[i, s] - human[j, s]) for sign, (i, j) in zip(signs, pairs, strict=True)
            )
            shares[place].append(Fraction(n_right, len(pairs)))
    prepared = right_pairs_swap(human, metrics, statistic, epsilon=epsilon)  # type: ignore[arg-type]
    result = permutation_test(
        prepared,
        rng=np.random.default_rng(1),
        n_draws=60,
        alternative=alternative,
        keep_null=True,  # type: ignore[arg-type]
    )
    unit = 1 if statistic == "acc23" else 2
    means = [sum(own, Fraction(0)) / len(units) for own in shares]
    np.testing.assert_allclose(result.values, [float(unit * mean - (unit - 1)) for mean in means], atol=1e-12)
    masks = np.concatenate(list(swap_blocks(np.random.default_rng(1), 60, (11,))))
    for a, b in [(0, 1), (1, 0), (0, 2), (2, 1)]:
        observed, n_extreme = means[a] - means[b], 0
        for mask in masks:
            gaps = [y - x if mask[s] else x - y for s, x, y in zip(units, shares[a], shares[b], strict=True)]
            drawn = sum(gaps, Fraction(0)) / len(units)
            n_extreme += abs(drawn) >= abs(observed) if alternative == "two-sided" else drawn >= observed
        assert result.n_extreme[a, b] == n_extreme


def test_a_denominator_beyond_whole_floats_is_compared_within_a_tolerance(monkeypatch: pytest.MonkeyPatch) -> None:
    human, metrics = larger_case()
    exact = permutation_test(right_pairs_swap(human, metrics, "acc23"), rng=np.random.default_rng(1), n_draws=50)
    monkeypatch.setattr(permutation_groups, "LARGEST_WHOLE", 1)
    rounded = right_pairs_swap(human, metrics, "acc23")
    assert isinstance(rounded, permutation_groups.GroupSwap)
    again = permutation_test(rounded, rng=np.random.default_rng(1), n_draws=50)
    assert np.array_equal(exact.n_extreme, again.n_extreme)
    refused("no group", right_pairs_swap, np.array([[0.0, np.nan]]), np.zeros((2, 1, 2)), "acc23")


def test_raw_ties_compare_accuracies_as_floats() -> None:
    rng = np.random.default_rng(0)
    human = rng.normal(0, 1, (12, 80))
    metrics = human + rng.normal(0, 3, (6, 12, 80))
    run = partial(permutation_test, n_draws=300, alternative="two-sided")
    counted = run(accuracy_swap(human, metrics), rng=np.random.default_rng(1))
    raw = run(accuracy_swap(human, metrics, raw_ties=True), rng=np.random.default_rng(1))
    np.testing.assert_allclose(raw.values, counted.values)
    # equal differences of two shares of 66 pairs are torn apart by rounding: never more extreme draws
    assert (raw.n_extreme <= counted.n_extreme).all()
    assert (raw.n_extreme < counted.n_extreme).any()


def test_masks_are_fair_and_independent_coins() -> None:
    swaps = draw_swaps(np.random.default_rng(0), 4000, (3, 5))
    assert swaps.shape == (4000, 3, 5)
    # standard error of each mean is 0.008
    assert np.abs(swaps.mean(axis=0) - 0.5).max() < 0.032
    correlation = np.corrcoef(swaps.reshape(4000, -1).T) - np.eye(15)
    assert np.abs(correlation).max() < 0.08


def test_standardised_scores_have_mean_zero_and_unit_variance_over_judged_cells() -> None:
    human, metrics = scores(6, "cells")
    z = standardise(human, np.nan_to_num(metrics))
    judged = np.isfinite(human)
    np.testing.assert_allclose(z[:, judged].mean(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(z[:, judged].std(axis=1), 1.0)
    assert (z[:, ~judged] == 0.0).all()


@pytest.fixture
def n_nulls(in_full: bool) -> int:
    """How many nulls are simulated."""
    return 1000 if in_full else 300


def null_p_values(build: Callable[[Floats, Floats], SwapStatistic], n_simulations: int) -> Floats:
    """p-values on exchangeable metrics: the same quality, noise of their own."""
    p = []
    for seed in range(n_simulations):
        rng = np.random.default_rng([77, seed])
        human = rng.normal(0, 1, (5, 40)) + rng.normal(0, 0.5, (5, 1))
        metrics = human + rng.normal(0, 1, (2, 5, 40))
        p.append(permutation_test(build(human, metrics), rng=rng, n_draws=100, n_threads=1).p[0, 1])
    return np.array(p)


@pytest.mark.slow
@pytest.mark.parametrize(
    "build",
    [
        lambda h, m: pearson_swap(h, m, np.zeros(h.shape, dtype=np.int64)),
        lambda h, m: pearson_swap(h, m, np.zeros(h.shape, dtype=np.int64), "both"),
        lambda h, m: of_segments(pearson(h, m, group_labels("item", h.shape)), h),
        pairwise_difference_swap,
        lambda h, m: system_swap(h, m, "pearson"),
    ],
    ids=["pearson", "pearson perm-both", "pearson by item", "pdp", "system pearson"],
)
def test_p_values_of_continuous_measures_are_uniform_under_the_null(
    build: Callable[[Floats, Floats], SwapStatistic], n_nulls: int
) -> None:
    p = null_p_values(build, n_nulls)
    # p is a multiple of 1/100: shifted by a half step; a true null fails this once in 1,000 seeds
    assert stats.kstest(p - 0.005, "uniform").pvalue > 0.001


@pytest.mark.slow
def test_p_values_of_soft_pairwise_accuracy_are_uniform_under_the_null(n_nulls: int) -> None:
    p = null_p_values(lambda h, m: soft_pairwise_swap(h, m, None), n_nulls)
    assert stats.kstest(p - 0.005, "uniform").pvalue > 0.001


@pytest.mark.slow
def test_p_values_of_pairwise_accuracy_are_never_too_small(n_nulls: int) -> None:
    p = null_p_values(lambda h, m: accuracy_swap(h, m), n_nulls)
    for alpha in (0.01, 0.05, 0.1, 0.2, 0.5):
        # without + 1 the smallest of n drawn p-values is 0: valid at (α n + 1) / (n + 1); n = 100
        bound = (100 * alpha + 1) / 101
        assert np.mean(p <= alpha) <= bound + 3 * np.sqrt(bound * (1 - bound) / p.size)


def test_an_interrupt_from_the_progress_call_propagates() -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    human, metrics = larger_case()
    for n_threads in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            permutation_test(
                pairwise_difference_swap(human, metrics),
                rng=np.random.default_rng(0),
                n_threads=n_threads,
                progress=stop,
            )


def test_arguments_that_make_no_sense_are_refused() -> None:
    human, metrics = scores(0, "nothing")
    rng = np.random.default_rng(0)
    good = pairwise_difference_swap(human, metrics)
    refused("at least 2", permutation_test, pairwise_difference_swap(human, metrics[:1]), rng=rng)
    refused("n_draws", permutation_test, good, rng=rng, n_draws=0)
    refused("alternative 'less'", permutation_test, good, rng=rng, alternative="less")
    refused("early stop", permutation_test, good, rng=rng, keep_null=True, early_stop=(0.1, 0.5))
    refused("unknown swap 'rows'", pairwise_difference_swap, human, metrics, "rows")
    refused("can only swap systems", accuracy_swap, human[:, 0], metrics[:, :, 0], "inputs")
    refused("unknown measure 'spa'", system_swap, human, metrics, "spa")
    metrics[1, 2, 3] = np.nan
    refused(r"metric 1 .* system 2, segment 3", soft_pairwise_swap, human, metrics, SIGNS)
