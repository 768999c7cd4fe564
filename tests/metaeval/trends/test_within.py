"""Progress within the same data: slopes by hand and by a naive loop, who counts, and pooling."""

import math

import numpy as np
import pytest

from metaeval import kernels
from metaeval.trends.within import contrast, weights_of_slope, within
from metaeval.trends.within_tables import within_frame, within_json
from tests.metaeval.trends.histories import made_history, made_point
from warehouse import QuestionError

# by the registry: BLEU 2002, TER 2006, chrF 2015, CharacTER 2016, EED 2019; BEER and YiSi-1 are of unknown year
YEARS = {"BLEU": 2002, "TER": 2006, "chrF": 2015, "CharacTER": 2016, "EED": 2019}
VALUES = {"BLEU": 0.70, "TER": 0.72, "chrF": 0.79, "CharacTER": 0.80, "EED": 0.84}


def naive_slope(values: dict[str, float]) -> float:
    names = [name for name in values if name in YEARS]
    x, y = [YEARS[name] for name in names], [values[name] for name in names]
    mean_x, mean_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
    top = math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return top / math.fsum((a - mean_x) ** 2 for a in x)


def test_slope_and_error_by_hand() -> None:
    # years 2000, 2010, 2020: c = (-10, 0, 10) / 200; slope = 0.05 (v3 - v1), variance = 0.0025 (1 + 1 - 2 * 0.5) * 0.04
    weights = weights_of_slope([2000, 2010, 2020])
    assert weights == pytest.approx([-0.05, 0.0, 0.05])
    shared = 0.04 * (np.eye(3) * 0.5 + 0.5)
    slope, error = contrast([0.5, 0.9, 0.7], shared, weights)
    assert slope == pytest.approx(0.01)
    assert error == pytest.approx(math.sqrt(0.0025 * 0.04))


def test_each_set_has_the_least_squares_slope_over_known_years() -> None:
    more = {**VALUES, "YiSi-1": 0.1, "BEER": 0.2, "Random-sysname": 0.0}
    found = within(made_history((2019, made_point("wmt19", "en-de", more))))
    (one,) = found.sets
    assert one.slope == pytest.approx(naive_slope(VALUES))
    assert (one.n_metrics, one.first_year, one.last_year) == (5, 2002, 2019)
    c = weights_of_slope(list(YEARS.values()))
    assert one.error == pytest.approx(0.1 * math.sqrt(float(c @ c)))
    assert found.unknown == ("BEER", "YiSi-1")  # the random metric is no research, and of no year
    assert math.isnan(found.pooled.low)
    assert found.pooled.mean == pytest.approx(one.slope)


def test_years_that_a_user_gives_come_before_those_of_the_registry() -> None:
    more = {**VALUES, "YiSi-1": 0.9}
    found = within(made_history((2019, made_point("wmt19", "en-de", more))), [("YiSi*", 2019), ("BLEU", 2001)])
    assert found.unknown == ()
    assert (found.sets[0].n_metrics, found.sets[0].first_year) == (6, 2001)


def test_shifting_all_values_of_a_set_leaves_its_slope() -> None:
    moved = {name: value - 0.3 for name, value in VALUES.items()}
    first, second = (
        within(made_history((2019, made_point("wmt19", "en-de", values)))).sets[0] for values in (VALUES, moved)
    )
    assert second.slope == pytest.approx(first.slope)
    assert second.error == pytest.approx(first.error)


def test_slopes_are_pooled_and_each_set_left_out_once() -> None:
    spread = {"cs-en": 0.9, "de-en": 1.0, "en-de": 1.1, "en-fi": 1.4}
    points = [
        (2019, made_point("wmt19", lp, {name: 0.7 + (value - 0.7) * k for name, value in VALUES.items()}))
        for lp, k in spread.items()
    ]
    found = within(made_history(*points))
    slopes = [naive_slope(VALUES) * k for k in spread.values()]
    assert [one.slope for one in found.sets] == pytest.approx(slopes)
    variance = found.sets[0].error ** 2
    expected = kernels.random_effects(slopes, [variance] * 4)
    assert (found.pooled.mean, found.pooled.low) == (pytest.approx(expected.mean), pytest.approx(expected.low))
    assert found.leave_one_out[3] == pytest.approx(np.mean(slopes[:3]), rel=1e-6)
    frame = within_frame(found)
    assert frame.filter(frame["what"] == "pooled")["left_out_low"][0] == pytest.approx(min(found.leave_one_out))


def test_bridges_are_not_counted_twice_and_protocols_stand_apart() -> None:
    points = [
        (2020, made_point("wmt20", "en-de", VALUES)),
        (2020, made_point("wmt20", "en-de", VALUES, bridge="mqm")),
        (2020, made_point("wmt20", "en-de", VALUES, human="mqm", bridge="wmt-z")),
        (2023, made_point("wmt23", "en-de", VALUES, human="mqm")),
    ]
    found = within(made_history(*points))
    assert [(one.testset, one.protocol) for one in found.sets] == [("wmt20", "da"), ("wmt23", "mqm")]
    assert list(found.by_protocol) == ["da", "mqm"]


def test_contaminated_metrics_are_named_and_can_be_left_out() -> None:
    values = {**VALUES, "COMETKiwi": 0.95}  # trained on WMT20's human scores
    history = made_history((2020, made_point("wmt20", "en-de", values, reference_free=["COMETKiwi"])))
    found = within(history, [("COMETKiwi", 2020)])
    assert (found.sets[0].n_metrics, found.contaminated) == (6, ("COMETKiwi in wmt20",))
    without = within(history, [("COMETKiwi", 2020)], without_contaminated=True)
    assert without.sets[0].slope == pytest.approx(naive_slope(VALUES))
    later = made_history((2023, made_point("wmt23", "en-de", values, reference_free=["COMETKiwi"])))
    assert within(later).contaminated == ()


def test_kinds_are_compared_with_string_metrics_on_the_same_data() -> None:
    values = {**VALUES, "BEER": 0.9, "ESIM": 0.8, "UNI": 0.1}
    found = within(made_history((2019, made_point("wmt19", "en-de", values, reference_free=["UNI"]))))
    differences = {one.kind: one.pooled.mean for one in found.contrasts}
    assert differences["trained"] == pytest.approx(0.85 - 0.77)
    assert differences["trained, reference-free"] == pytest.approx(0.1 - 0.77)


def test_a_set_without_enough_metrics_or_years_says_so() -> None:
    few = made_point("wmt20", "en-de", {"BLEU": 0.7, "chrF": 0.8})
    found = within(
        made_history(
            (2019, made_point("wmt19", "en-de", VALUES)),
            (2020, few),
            missing=[(2022, "wmt22", "en-de", "no human score")],
        )
    )
    assert found.skipped == {
        "wmt22 en-de": "no human score",
        "wmt20 en-de": "2 metrics of 2 known publication years, a slope needs 5 of 2",
    }
    with pytest.raises(QuestionError, match="no slope over publication years: wmt20 en-de"):
        within(made_history((2020, few)))


def test_json_has_the_documented_shape() -> None:
    shape = within_json(within(made_history((2019, made_point("wmt19", "en-de", VALUES)))))
    assert {"measure", "sets", "pooled", "signature"} <= set(shape)
    assert list(shape["sets"][0])[:8] == ["testset", "lp", "human", "slope", "low", "high", "n_metrics", "first_year"]
    assert {"slope", "low", "high", "tau2", "i2", "n_sets"} <= set(shape["pooled"])
