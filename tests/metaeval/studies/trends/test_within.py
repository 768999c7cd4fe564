"""Progress within the same data: slopes by hand and by a naive loop, who counts, and pooling."""

import math
from dataclasses import replace
from typing import get_args

import numpy as np
import polars as pl
import pytest

from metaeval import kernels
from metaeval.studies.trends.history import History
from metaeval.studies.trends.views import within_frame, within_json
from metaeval.studies.trends.within import Kinds, SlopeOf, contrast, weights_of_slope, within
from tests.metaeval.studies.trends.histories import made_history, made_point
from warehouse import QuestionError
from warehouse.facts.metrics import describe

# by the registry: BLEU 2002, TER 2006, chrF 2015, CharacTER 2016, EED 2019; Novel and Other-1 are not in it
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
    more = {**VALUES, "Other-1": 0.1, "Novel": 0.2, "Random-sysname": 0.0}
    found = within(made_history((2019, made_point("wmt19", "en-de", more))))
    (one,) = found.sets
    assert one.slope == pytest.approx(naive_slope(VALUES))
    assert (one.n_metrics, one.first_year, one.last_year) == (5, 2002, 2019)
    c = weights_of_slope(list(YEARS.values()))
    assert one.error == pytest.approx(0.1 * math.sqrt(float(c @ c)))
    assert found.unknown == ("Novel", "Other-1")  # the random metric is no research, and of no year
    assert math.isnan(found.slopes[0].pooled.low)
    assert found.slopes[0].pooled.mean == pytest.approx(one.slope)


def test_years_that_a_user_gives_come_before_those_of_the_registry() -> None:
    more = {**VALUES, "Other-1": 0.9}
    found = within(made_history((2019, made_point("wmt19", "en-de", more))), [("Other*", 2019), ("BLEU", 2001)])
    assert found.unknown == ()
    assert (found.sets[0].n_metrics, found.sets[0].first_year) == (6, 2001)


def test_slopes_are_pooled_and_each_set_left_out_once() -> None:
    spread = {"cs-en": 0.9, "de-en": 1.0, "en-de": 1.1, "en-fi": 1.4}
    points = [
        (2019, made_point("wmt19", lp, {name: 0.7 + (value - 0.7) * k for name, value in VALUES.items()}))
        for lp, k in spread.items()
    ]
    found = within(made_history(*points), of="these-metrics")
    slopes = [naive_slope(VALUES) * k for k in spread.values()]
    assert [one.slope for one in found.sets] == pytest.approx(slopes)
    variance = found.sets[0].error ** 2
    expected = kernels.random_effects(slopes, [variance] * 4)
    assert (found.slopes[0].pooled.mean, found.slopes[0].pooled.low) == (
        pytest.approx(expected.mean),
        pytest.approx(expected.low),
    )
    assert found.slopes[0].leave_one_out[3] == pytest.approx(np.mean(slopes[:3]), rel=1e-6)
    frame = within_frame(found)
    assert frame.filter(frame["what"] == "pooled")["left_out_low"][0] == pytest.approx(
        min(found.slopes[0].leave_one_out)
    )
    assert all(math.isnan(one.pull) for one in found.slopes[0].metrics)


def many_sets(rng: np.random.Generator) -> History:
    points = [
        (
            2019,
            made_point(
                "wmt19", lp, {name: value + rng.normal(0, 0.02) for name, value in VALUES.items()}, n_systems=n_systems
            ),
        )
        for lp, n_systems in (("cs-en", 8), ("de-en", 10), ("en-de", 12), ("en-fi", 16))
    ]
    return made_history(*points)


def test_metrics_are_a_sample_unless_these_very_ones_are_asked_for() -> None:
    history = many_sets(np.random.default_rng(4))
    found = within(history)
    n = np.array([8.0, 10, 12, 16])
    table = [[one.value[one.base_names.index(name)] for name in YEARS] for _, one in history.official]
    families = [describe(name).family for name in YEARS]
    expected = kernels.crossed_slope(table, list(YEARS.values()), n.mean() / n, families)
    assert found.slopes[0].pooled == expected.pooled
    assert found.slopes[0].metric_sd == expected.column_sd
    assert {one.name: one.without for one in found.slopes[0].metrics} == dict(
        zip(YEARS, expected.without_column, strict=True)
    )
    assert [one.pull for one in found.slopes[0].metrics] == sorted(expected.pull, reverse=True)
    assert found.slopes[0].leave_one_out == pytest.approx(expected.without_row)
    assert within(history, of="these-metrics").slopes[0].pooled.n_studies == found.slopes[0].pooled.n_studies == 4
    assert "generalise_to:new-metrics" in found.signature


@pytest.mark.slow
@pytest.mark.parametrize(
    ("twin", "name"), [("sacreBLEU-BLEU", "BLEU"), ("sentBLEU", "BLEU"), ("sacreBLEU-chrF", "chrF"), ("esim", "ESIM")]
)
def test_what_is_one_metric_counts_once(twin: str, name: str) -> None:
    """A second name with the same values changes nothing; with others their mean counts."""
    values = {**VALUES, "ESIM": 0.86}
    same = within(made_history((2019, made_point("wmt19", "en-de", {**values, twin: values[name]}))))
    once = within(made_history((2019, made_point("wmt19", "en-de", values))))
    assert same.sets[0].slope == pytest.approx(once.sets[0].slope)
    assert same.sets[0].n_metrics == once.sets[0].n_metrics == 6
    assert [one.names for one in same.slopes[0].metrics if len(one.names) > 1] == [tuple(sorted((twin, name)))]
    apart = within(made_history((2019, made_point("wmt19", "en-de", {**values, twin: values[name] + 0.02}))))
    mean = within(made_history((2019, made_point("wmt19", "en-de", {**values, name: values[name] + 0.01}))))
    assert apart.sets[0].slope == pytest.approx(mean.sets[0].slope)
    assert apart.sets[0].error < mean.sets[0].error  # two independent values of one metric


def test_one_paper_has_several_metrics_where_kind_or_reference_differ() -> None:
    """YiSi-0 counts characters, YiSi-2 sees no reference; prism and prismSrc are of one paper, too."""
    values = {"YiSi-0": 0.7, "YiSi-1": 0.8, "YiSi-2": 0.6, "prism": 0.8, "prismSrc": 0.3, "BLEU": 0.7}
    point = made_point("wmt20", "en-de", values, reference_free=["YiSi-2", "prismSrc"])
    found = within(made_history((2020, point)), kinds="pooled")
    assert found.sets[0].n_metrics == 6


def test_bridges_are_not_counted_twice_and_protocols_stand_apart() -> None:
    points = [
        (2020, made_point("wmt20", "en-de", VALUES)),
        (2020, made_point("wmt20", "en-de", VALUES, bridge="mqm")),
        (2020, made_point("wmt20", "en-de", VALUES, human="mqm", bridge="wmt-z")),
        (2023, made_point("wmt23", "en-de", VALUES, human="mqm")),
    ]
    found = within(made_history(*points))
    assert [(one.testset, one.protocol) for one in found.sets] == [("wmt20", "da"), ("wmt23", "mqm")]
    assert list(found.slopes[0].by_protocol) == ["da", "mqm"]


def test_contaminated_metrics_are_named_and_can_be_left_out() -> None:
    values = {**VALUES, "COMETKiwi": 0.95}  # trained on WMT20's human scores
    history = made_history((2020, made_point("wmt20", "en-de", values, reference_free=["COMETKiwi"])))
    found = within(history, [("COMETKiwi", 2020)], kinds="pooled")
    assert (found.sets[0].n_metrics, found.contaminated) == (6, ("COMETKiwi in wmt20",))
    without = within(history, [("COMETKiwi", 2020)], without_contaminated=True)
    assert without.sets[0].slope == pytest.approx(naive_slope(VALUES))
    assert without.signature != within(history, [("COMETKiwi", 2020)]).signature
    later = made_history((2023, made_point("wmt23", "en-de", values, reference_free=["COMETKiwi"])))
    assert within(later).contaminated == ()


def test_kinds_are_compared_with_string_metrics_on_the_same_data() -> None:
    values = {**VALUES, "BEER": 0.9, "ESIM": 0.8, "UNI": 0.1}
    found = within(made_history((2019, made_point("wmt19", "en-de", values, reference_free=["UNI"]))))
    differences = {kind: one.mean for kind, one in found.contrasts.items()}
    assert differences["trained"] == pytest.approx(0.85 - 0.77)
    assert differences["trained, reference-free"] == pytest.approx(0.1 - 0.77)


FREE = {"YiSi-2": 0.2, "prismSrc": 0.3, "COMETKiwi": 0.5, "UNI": 0.1, "LASIM": 0.15, "ibm1-morpheme": 0.1}


def both_kinds() -> History:
    """Reference-free metrics are newer and worse: together newer metrics look worse, of each kind they are better."""
    values = {**VALUES, **FREE}
    return made_history(
        *((2022, made_point("wmt22", lp, values, reference_free=list(FREE))) for lp in ("cs-en", "en-de", "en-zh"))
    )


def test_reference_based_and_reference_free_metrics_are_two_populations() -> None:
    found = within(both_kinds())
    assert [one.kind for one in found.slopes] == ["reference-based", "reference-free"]
    based, free = found.slopes
    alone = made_history(*((2022, made_point("wmt22", lp, VALUES)) for lp in ("cs-en", "en-de", "en-zh")))
    (same,) = within(alone).slopes
    assert (based.sets, based.pooled, based.metrics) == (same.sets, same.pooled, same.metrics)
    assert {one.is_reference_free for one in free.metrics} == {True}
    assert based.pooled.mean > 0
    assert free.pooled.mean > 0
    (pooled,) = within(both_kinds(), kinds="pooled").slopes
    assert (pooled.kind, len(pooled.metrics)) == ("all", len(based.metrics) + len(free.metrics))
    assert pooled.pooled.mean < 0
    shape = within_json(found)
    assert [one["kind"] for one in shape["sets"]] == ["reference-based"] * 3 + ["reference-free"] * 3
    assert shape["pooled"] == shape["by_kind"][0]
    assert [one["kind"] for one in shape["by_kind"]] == ["reference-based", "reference-free"]
    frame = within_frame(found)
    assert frame.filter(what="pooled")["kind"].to_list() == ["reference-based", "reference-free"]
    assert frame.filter(what="pooled")["name"].to_list() == ["all 3 sets"] * 2
    fewer = within_frame(replace(found, slopes=(based, replace(free, sets=free.sets[:2]))))
    assert fewer.filter(what="pooled")["name"].to_list() == ["all 3 sets", "2 of 3 sets"]
    assert "|kinds:separate|metrics:reference-based;reference-free|" in found.signature


def test_a_kind_with_too_few_metrics_says_so_and_one_without_any_is_not_mentioned() -> None:
    few = {name: FREE[name] for name in ("YiSi-2", "UNI")}
    found = within(made_history((2019, made_point("wmt19", "en-de", {**VALUES, **few}, reference_free=list(few)))))
    assert [one.kind for one in found.slopes] == ["reference-based"]
    assert found.skipped == (
        ("wmt19 en-de", "2 reference-free metrics of 1 known publication years, a slope needs 5 of 2"),
    )
    assert within(made_history((2019, made_point("wmt19", "en-de", VALUES)))).skipped == ()


@pytest.mark.parametrize("of", get_args(SlopeOf))
@pytest.mark.parametrize("kinds", get_args(Kinds))
def test_what_is_of_these_very_metrics_has_no_p(of: SlopeOf, kinds: Kinds) -> None:
    found = within(both_kinds(), of=of, kinds=kinds)
    frame = within_frame(found)
    of_new = pl.col("what").is_in(["pooled", "protocol"]) & pl.lit(of == "new-metrics")
    assert frame.filter(of_new)["p"].null_count() == 0
    assert frame.filter(~of_new)["p"].count() == 0
    assert frame.filter(what="kind")["low"].null_count() == 0
    assert np.isnan(within_json(found)["pooled"]["p"]) == (of == "these-metrics")


def test_metrics_of_one_family_do_not_count_as_many() -> None:
    values = {**VALUES, "COMET": 0.9, "BERTScore": 0.78, "YiSi-1": 0.82}
    more = {f"COMET-{name}": 0.9 + off for name, off in (("22", 0.01), ("20", -0.01), ("21", 0.005))}
    rng = np.random.default_rng(5)
    points = [
        (2022, made_point("wmt22", lp, {name: v + rng.normal(0, 0.005) for name, v in {**values, **more}.items()}))
        for lp in ("cs-en", "en-de", "en-zh", "zh-en")
    ]
    found = within(made_history(*points)).slopes[0]
    assert len(found.metrics) > len(values)
    assert found.n_families == len({describe(name).family for name in values})


def test_a_set_without_enough_metrics_or_years_says_so() -> None:
    few = made_point("wmt20", "en-de", {"BLEU": 0.7, "chrF": 0.8})
    found = within(
        made_history(
            (2019, made_point("wmt19", "en-de", VALUES)),
            (2020, few),
            missing=[(2022, "wmt22", "en-de", "no human score")],
        )
    )
    assert found.skipped == (
        ("wmt22 en-de", "no human score"),
        ("wmt20 en-de", "2 reference-based metrics of 2 known publication years, a slope needs 5 of 2"),
    )
    with pytest.raises(QuestionError, match="no slope over publication years: wmt20 en-de"):
        within(made_history((2020, few)))
