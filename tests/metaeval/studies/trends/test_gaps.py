"""Gaps over the years: pooled within a year and protocol, tested for a trend, never across a change of protocol."""

import math
from itertools import permutations

import numpy as np
import pytest

from metaeval import kernels
from metaeval.measures.registry import parse_measure
from metaeval.studies.trends.gaps import line_rows, over_years, pool_values, pooled_by_year, smoothed_variances
from metaeval.studies.trends.groups import BYS, CHOSEN, By, grouped
from metaeval.studies.trends.settings import TrendSettings
from metaeval.studies.trends.tables import wide
from metaeval.studies.trends.views import GROWING, show
from tests.metaeval.studies.trends.histories import made_history, made_point
from warehouse import QuestionError

PA, PEARSON = parse_measure("pa"), parse_measure("pearson")


def test_variances_depend_on_the_number_of_systems_alone() -> None:
    # v x n: 0.1, 0.4, 0.2; median 0.2
    assert smoothed_variances([0.01, 0.02, 0.02], [10, 20, 10]) == pytest.approx([0.02, 0.01, 0.02])
    assert smoothed_variances([math.nan, 0.02], [10, 10]) == pytest.approx([0.02, 0.02])


def test_a_mean_is_the_mean_and_hunter_and_schmidt_weigh_by_systems() -> None:
    values, errors, n = np.array([0.9, 0.6]), np.array([0.1, 0.1]), np.array([30.0, 10.0])
    assert pool_values(PA, values, errors, n, "mean").mean == pytest.approx(0.75)
    assert pool_values(PEARSON, values, errors, n, "hunter-schmidt").mean == pytest.approx(0.825)
    with pytest.raises(QuestionError, match="hunter-schmidt"):
        pool_values(PA, values, errors, n, "hunter-schmidt")


def test_correlations_are_pooled_as_fishers_z() -> None:
    values, n = np.array([0.9, 0.6, 0.8]), np.array([12.0, 12.0, 12.0])
    found = pool_values(PEARSON, values, np.full(3, 0.1), n, "random-effects")
    z = kernels.random_effects(np.arctanh(values), np.full(3, 1 / 9))
    assert found.mean == pytest.approx(math.tanh(z.mean))
    assert (found.low, found.high) == (pytest.approx(math.tanh(z.low)), pytest.approx(math.tanh(z.high)))
    perfect = pool_values(PEARSON, np.array([1.0, 0.6, 0.8]), np.full(3, 0.1), n, "random-effects")
    assert perfect.mean == pytest.approx(0.8)  # no z of 1: by the values themselves


def test_intervals_of_bounded_measures_end_at_their_limits() -> None:
    values, n = np.array([0.9, 0.6, 1.0]), np.array([10.0, 10.0, 10.0])
    for measure in (PA, PEARSON):
        found = pool_values(measure, values, np.full(3, 0.1), n, "random-effects")
        assert (found.mean < found.high, found.high) == (True, 1.0), measure
    history = made_history(*(
        (2019, made_point("wmt19", lp, {"BLEU": 0.0, "chrF": 1.0 - gap})) for lp, gap in
        (("cs-en", 0.0), ("de-en", 0.1), ("en-de", 0.9))
    ))  # fmt: skip
    by_year = pooled_by_year(grouped(history, ("family",)), PA, "mean")
    assert by_year.filter(group="chrF")["gap_high"].to_list() == [1.0]


def test_gaps_of_a_year_are_pooled_over_its_sets() -> None:
    found = made_history(
        *((2019, made_point("wmt19", lp, {"BLEU": 0.7, "chrF": 0.7 + gap})) for lp, gap in
          (("cs-en", 0.0), ("de-en", 0.1), ("en-de", 0.2))),
        (2020, made_point("wmt20", "en-de", {"BLEU": 0.7, "chrF": 0.8})),
    )  # fmt: skip
    by_year = pooled_by_year(grouped(found, ("family",)), PA, "mean")
    row = by_year.filter((by_year["year"] == 2019) & (by_year["group"] == "chrF")).row(0, named=True)
    assert (row["n_sets"], row["n_gaps"], row["value"], row["gap"]) == (3, 3, pytest.approx(0.8), pytest.approx(0.1))
    # three gaps, equally uncertain: error² = sample variance / 3
    assert row["gap_high"] - row["gap"] == pytest.approx(4.302653 * math.sqrt(0.01 / 3), rel=1e-6)
    alone = by_year.filter((by_year["year"] == 2020) & (by_year["group"] == "chrF")).row(0, named=True)
    assert (alone["gap_low"], alone["gap_high"]) == (pytest.approx(0.0), pytest.approx(0.2))  # its own interval
    assert alone["gap_variance"] == pytest.approx((0.1 / 1.959964) ** 2)


def history_of(gaps: dict[int, float], human: str = "wmt-z", base: float = 0.6) -> list[tuple[int, object]]:
    return [
        (year, made_point(f"wmt{year % 100}", "en-de", {"BLEU": base, "chrF": base + gap}, human=human))
        for year, gap in gaps.items()
    ]


def test_a_rising_gap_is_found_with_the_p_of_a_naive_loop_over_all_orders() -> None:
    gaps = {2018: 0.0, 2019: 0.05, 2020: 0.03, 2021: 0.1, 2022: 0.12}
    found = pooled_by_year(grouped(made_history(*history_of(gaps)), ("family",)), PA, "mean")  # type: ignore[arg-type]
    row = over_years(found, 0).filter(over_years(found, 0)["group"] == "chrF").row(0, named=True)
    years, values = list(gaps), list(gaps.values())
    mean = sum(years) / 5

    def slope(order: tuple[float, ...]) -> float:
        return sum((x - mean) * y for x, y in zip(years, order, strict=True)) / sum((x - mean) ** 2 for x in years)

    share = sum(abs(slope(order)) >= abs(slope(tuple(values))) - 1e-12 for order in permutations(values)) / 120
    assert (row["slope"], row["p"]) == (pytest.approx(slope(tuple(values))), pytest.approx(share))
    assert (row["n_years"], row["n_orders"], row["exact"]) == (5, 120, True)


@pytest.mark.parametrize("by", BYS)
def test_the_trend_of_a_maximum_says_that_it_grows_with_the_number_of_metrics(by: By) -> None:
    history = made_history(*history_of({2019: 0.0, 2020: 0.1, 2021: 0.2}))  # type: ignore[arg-type]
    shown = show(history, TrendSettings(over_years=True, by=(by,)))
    assert (GROWING in shown.notes) == (by in CHOSEN)


def test_sets_without_a_year_come_last() -> None:
    undated = (None, made_point("lab", "en-de", {"BLEU": 0.6, "chrF": 0.7}, human="human"))
    history = made_history(undated, *history_of({2019: 0.0, 2020: 0.1}))  # type: ignore[arg-type]
    shown = wide(grouped(history, ("family",)), history, ("family",), None, 0.05)
    assert shown.frame.columns[1:] == ["2020 da", "2019 da", "no year human"]


def test_few_years_say_how_small_p_can_be_at_all() -> None:
    three = pooled_by_year(
        grouped(made_history(*history_of({2019: 0.0, 2020: 0.1, 2021: 0.2})), ("family",)), PA, "mean"
    )  # type: ignore[arg-type]
    row = {row["group"]: row for row in over_years(three, 0).rows(named=True)}
    assert (row["chrF"]["p"], row["chrF"]["least_p"]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert row["BLEU"]["reason"] == "the gap is 0 every year: it is the anchor"
    two = pooled_by_year(grouped(made_history(*history_of({2019: 0.0, 2020: 0.1})), ("family",)), PA, "mean")  # type: ignore[arg-type]
    row = {row["group"]: row for row in over_years(two, 0).rows(named=True)}
    assert row["chrF"]["slope"] == pytest.approx(0.1)
    assert row["chrF"]["p"] is None
    assert "a trend needs 3" in row["chrF"]["reason"]


def test_a_change_of_protocol_is_no_trend() -> None:
    """Every value and gap is larger by MQM: a step between the protocols, and nothing within either."""
    flat = history_of({2017: 0.02, 2018: 0.021, 2019: 0.019, 2020: 0.02})
    other = history_of({2021: 0.2, 2022: 0.199, 2023: 0.201, 2024: 0.2}, "mqm", 0.7)
    found = pooled_by_year(grouped(made_history(*flat, *other), ("family",)), PA, "mean")  # type: ignore[arg-type]
    tested = over_years(found, 0)
    rows = {row["protocol"]: row for row in tested.filter(tested["group"] == "chrF").rows(named=True)}
    assert set(rows) == {"da", "mqm"}
    for row in rows.values():
        assert abs(row["slope"]) < 0.001
        assert row["p"] > 0.05


def test_lines_take_the_other_protocol_of_a_bridge_and_leave_the_official_one_once() -> None:
    found = made_history(
        (2020, made_point("wmt20", "en-de", {"BLEU": 0.8})),
        (2020, made_point("wmt20", "en-de", {"BLEU": 0.6}, bridge="mqm")),
        (2020, made_point("wmt20", "en-de", {"BLEU": 0.9}, human="mqm", bridge="wmt-z")),
        (2020, made_point("wmt20", "cs-en", {"BLEU": 0.7})),
    )
    lines = line_rows(grouped(found, ("family",)))
    kept = sorted(zip(lines["lp"], lines["protocol"], lines["value"], strict=True))
    assert kept == [("cs-en", "da", 0.7), ("en-de", "da", 0.8), ("en-de", "mqm", 0.9)]
