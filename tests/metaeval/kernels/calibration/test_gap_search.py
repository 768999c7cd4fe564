from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels.arrays.grouping import group_labels, judged_groups
from metaeval.kernels.arrays.sorted_scores import HumanOrder, SortedScores
from metaeval.kernels.calibration.gap_search import Bins, GapSearch, bits_of, float_of
from metaeval.kernels.calibration.tie_calibration import ListedPairs, ScorePairs

GAPS = st.floats(0, 1e300, allow_nan=False)


def listed(tied: list[float], concordant: list[float]) -> ListedPairs:
    gaps = np.array(tied + concordant, dtype=np.float64)
    return ListedPairs(gaps, np.arange(gaps.size) < len(tied), None)


@given(GAPS, GAPS)
def test_bit_patterns_are_in_the_order_of_the_numbers(a: float, b: float) -> None:
    assert (bits_of(a) < bits_of(b)) == (a < b)
    assert float_of(bits_of(a)) == a


@given(st.lists(GAPS, min_size=1, max_size=20), st.integers(2, 50))
def test_every_gap_lies_between_the_edges_of_its_bin(gaps: list[float], n_bins: int) -> None:
    bins = Bins.divide(bits_of(min(gaps)), bits_of(max(gaps)) + 1, n_bins)
    assert bins.n <= n_bins
    for gap, k in zip(gaps, bins.of(np.array(gaps)).tolist(), strict=True):
        assert 0 <= k < bins.n
        assert bins.edge(k) <= bits_of(gap) < bins.edge(k + 1)


def test_a_window_of_two_floats_or_more_is_always_divided() -> None:
    assert Bins.divide(10, 12, 2).n == 2
    assert Bins.divide(0, bits_of(1.0), 2).n == 2


def test_the_level_rises_at_tied_pairs_and_falls_at_concordant_ones() -> None:
    source = listed([0.0, 1.0, 3.0, 3.0], [2.0, 4.0])
    assert [source.level(threshold) for threshold in (0.0, 1.0, 2.0, 3.0, 4.0)] == [1, 2, 1, 3, 2]
    found = GapSearch(source).run()
    assert found == (3, 3.0, 4.0)


def test_of_two_equal_maxima_the_smaller_threshold_is_taken() -> None:
    found = GapSearch(listed([1.0, 3.0], [2.0])).run()
    assert found == (1, 1.0, 2.0)


def test_no_pair_at_all_gives_threshold_0() -> None:
    found = GapSearch(listed([], [])).run()
    assert found == (0, 0.0, np.inf)


def test_listed_pairs_and_sorted_cells_show_the_same_windows() -> None:
    rng = np.random.default_rng(3)
    human = rng.integers(0, 3, (4, 12)).astype(np.float64)
    metric = np.round(rng.normal(size=human.shape), 1)
    groups = judged_groups(human, group_labels("system", human.shape))
    cells = SortedScores.sort(HumanOrder.of(human.ravel(), groups), metric.ravel())
    streamed = ScorePairs(cells, np.array([1, 2, 3, 4]))
    gaps, tied, weights = [], [], []
    for system in range(4):
        for i in range(12):
            for j in range(i):
                human_gap, gap = human[system, i] - human[system, j], metric[system, i] - metric[system, j]
                if human_gap == 0 or human_gap * gap > 0:
                    gaps.append(abs(gap))
                    tied.append(human_gap == 0)
                    weights.append(system + 1)
    held = ListedPairs(np.array(gaps), np.array(tied), np.array(weights))
    assert streamed.n_pairs == 4 * 66
    for threshold in (0.0, 0.1, 0.5, 3.0):
        assert streamed.level(threshold) == held.level(threshold)
    for low, high in ((0.0, 0.5), (0.3, 2.0), (0.0, np.inf)):
        window = bits_of(low), bits_of(high)
        for source in (streamed, held):
            gaps_there, _ = source.events(*window)
            assert ((gaps_there >= low) & (gaps_there < high)).all()
        for n_bins in (16, streamed.n_counted):  # looked at one by one, and counted at the bins' edges
            bins = Bins.divide(*window, n_bins)
            one, other = streamed.histogram(bins), held.histogram(bins)
            assert (one.tied == other.tied).all()
            assert (one.concordant == other.concordant).all()
            assert (one.n_pairs >= other.n_pairs).all()  # the streamed ones count discordant pairs, too
    assert streamed.span(bits_of(50.0), bits_of(60.0)) == (bits_of(50.0), bits_of(50.0))
    assert held.span(bits_of(50.0), bits_of(60.0)) == (bits_of(50.0), bits_of(50.0))
