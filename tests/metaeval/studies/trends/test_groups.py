"""Groups of metrics: who stands for a family, who is the best of a kind, and why a cell is empty."""

from typing import Any

import polars as pl
import pytest

from metaeval.measures.registry import parse_measure
from metaeval.results.sentences import LONGEST
from metaeval.studies.trends.gaps import pooled_by_year
from metaeval.studies.trends.groups import BYS, CHOSEN, COLUMNS, OF_ONE, By, grouped
from metaeval.studies.trends.headlines import of_bridges
from metaeval.studies.trends.tables import _people, bridge_notes, bridges, contexts, wide, without_answer, without_step
from tests.metaeval.studies.trends.histories import made_history, made_point

FOUND = made_history(
    (
        2019,
        made_point(
            "wmt19", "en-de", {"BLEU": 0.7, "YiSi-0": 0.95, "YiSi-1": 0.9, "LASIM": 0.3}, reference_free=["LASIM"]
        ),
    ),
    (
        2020,
        made_point(
            "wmt20",
            "en-de",
            {"BLEU": 0.8, "YiSi-1": 0.85, "COMETKiwi": 0.9},
            reference_free=["COMETKiwi"],
            excluded={"COMET": "no segment scores"},
        ),
    ),
    (2020, made_point("wmt20", "en-de", {"BLEU": 0.6, "YiSi-1": 0.7}, bridge="mqm", n_systems=7, ceiling=0.66)),
    (
        2020,
        made_point(
            "wmt20", "en-de", {"BLEU": 0.9, "YiSi-1": 0.85}, human="mqm", bridge="wmt-z", n_systems=7, ceiling=0.66
        ),
    ),
    (2023, made_point("wmt23", "en-de", {"BLEU": 0.9, "YiSi-1": 0.95, "COMET": 0.97}, human="mqm")),
    missing=[(2022, "wmt22", "en-de", "no human score is loaded")],
)


def rows(*by: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """(test set, human, bridge, group) -> row."""
    frame = grouped(FOUND, by)  # type: ignore[arg-type]
    return {(row["testset"], row["human"], row["bridge"], row["group"]): row for row in frame.rows(named=True)}


def test_a_family_is_shown_by_the_member_of_most_years_whatever_its_value() -> None:
    found = rows("family")
    assert found["wmt19", "wmt-z", None, "YiSi"]["metric"] == "YiSi-1-ref"  # YiSi-0 was better, once
    assert found["wmt20", "wmt-z", None, "YiSi"]["metric"] == "YiSi-1-ref"


def test_every_evaluation_set_has_a_row_of_each_group_with_a_value_or_a_reason() -> None:
    frame = grouped(FOUND, ("family", "kind"))
    assert tuple(frame.columns) == COLUMNS
    groups = frame.select("by", "group").n_unique()
    assert frame.height == groups * 6  # five points, and the evaluation set without any
    assert frame.filter(frame["value"].is_null() == frame["reason"].is_null()).is_empty()


def test_reasons_are_those_of_the_set_of_the_metric_or_that_there_is_none() -> None:
    found = rows("family")
    assert found["wmt22", None, None, "BLEU"]["reason"] == "no human score is loaded"
    assert found["wmt20", "wmt-z", None, "COMET"]["reason"] == "COMET: no segment scores"
    assert found["wmt19", "wmt-z", None, "COMET"]["reason"] == "no such metric in wmt19 en-de"
    assert without_answer(FOUND) == ["wmt22 en-de has no value: no human score is loaded"]


def test_a_cell_without_a_value_has_the_first_reason_whatever_the_test_set_is_called() -> None:
    why = "no scores in wmt21; and that is all"
    found = made_history(
        (2021, made_point("sim21", "de-en", {"BLEU": 0.6}, excluded={"COMET": why})),
        (2021, made_point("sim21", "en-de", {"BLEU": 0.6})),
        (2022, made_point("sim22", "en-de", {"BLEU": 0.6})),
        (2022, made_point("sim22", "de-en", {"BLEU": 0.6})),
        (2023, made_point("wmt23", "en-de", {"BLEU": 0.6, "COMET": 0.7})),
    )
    shown = wide(grouped(found, ["family"]), found, ["family"], None, 0.05)
    assert shown.frame.filter(group="COMET").row(0) == ("COMET", "0.700 +0.100", "-", "[1]")
    assert [note for note in shown.notes if note.startswith("[")] == [f"[1] COMET: {why}"]


def test_the_best_of_a_kind_is_chosen_by_value_and_reference_free_apart() -> None:
    found = rows("kind")
    assert found["wmt19", "wmt-z", None, "embedding"]["metric"] == "YiSi-1-ref"  # YiSi-0 is a string metric
    assert found["wmt19", "wmt-z", None, "string"]["metric"] == "YiSi-0-ref"
    assert found["wmt19", "wmt-z", None, "embedding, reference-free"]["metric"] == "LASIM-src"
    assert rows("best")["wmt19", "wmt-z", None, "best"]["metric"] == "YiSi-0-ref"
    assert rows("version")["wmt19", "wmt-z", None, "YiSi-0"]["value"] == 0.95


def test_rows_say_what_the_registry_knows() -> None:
    found = rows("version")
    assert found["wmt20", "wmt-z", None, "COMETKiwi"]["contaminated"] is True  # trained on WMT20's human scores
    assert found["wmt23", "mqm", None, "COMET"]["contaminated"] is False
    assert found["wmt23", "mqm", None, "COMET"]["published"] == 2022
    assert found["wmt19", "wmt-z", None, "YiSi-1"]["published"] == 2019
    assert found["wmt19", "wmt-z", None, "BLEU"]["protocol"] == "da"


def test_gaps_have_the_error_of_their_interval() -> None:
    row = rows("version")["wmt19", "wmt-z", None, "YiSi-1"]
    assert row["gap"] == pytest.approx(0.2)
    assert row["gap_high"] - row["gap_low"] == pytest.approx(2 * 1.959964 * row["gap_error"])
    assert row["error"] == pytest.approx(0.1)


@pytest.mark.parametrize("by", BYS)
def test_no_group_that_is_chosen_by_its_value_is_tested_as_if_it_were_named_beforehand(by: By) -> None:
    """FOUND has a p-value, a value's interval and a gap's for every metric."""
    frame = grouped(FOUND, [by]).drop_nulls("value")
    kept = frame.filter(pl.col("n_metrics").eq(1) | pl.lit(by not in CHOSEN))
    assert kept.select(OF_ONE).null_count().row(0) == (0,) * len(OF_ONE)
    chosen = frame.join(kept, on=["testset", "human", "bridge", "group"], how="anti", nulls_equal=True)
    assert all(one.is_empty() or one.null_count() == len(one) for one in chosen.select(OF_ONE))
    assert chosen.is_empty() == (by not in CHOSEN)
    pooled = pooled_by_year(grouped(FOUND, [by]), parse_measure("pa"), "random-effects")
    several = pooled.filter(pl.col("n_metrics") > 1, pl.lit(by in CHOSEN))
    assert all(one.null_count() == len(one) for one in several.select(OF_ONE))


def test_the_best_of_several_names_their_number_and_has_no_star() -> None:
    points = [
        (year, made_point(f"wmt{year - 2000}", "en-de", values, gap_p=0.001))
        for year, values in ((2019, {"BLEU": 0.5, "chrF": 0.6, "YiSi-1": 0.7}), (2020, {"BLEU": 0.5, "YiSi-1": 0.7}))
    ]
    by: list[By] = ["family", "kind", "best"]
    found = made_history(*points)
    shown = wide(grouped(found, by), found, by, None, 0.05)
    cells = {row[0]: row[1:] for row in shown.frame.rows()}
    assert cells["YiSi (YiSi-1)"] == cells["best embedding (of 1)"] == ("0.700 +0.200*", "0.700 +0.200*")
    assert cells["best of all (of 2 to 3)"] == ("0.700 +0.200", "0.700 +0.200")
    assert cells["best string (of 1 to 2)"] == ("0.500", "0.600 +0.100")
    assert sum(note.startswith("best: the highest of several values") for note in shown.notes) == 1


def test_rows_ascend_by_year_test_set_language_pair_and_group() -> None:
    frame = grouped(FOUND)
    keys = frame.select("year", "testset", "lp", "group").rows()
    assert keys == sorted(keys)


def test_a_bridge_names_who_stands_for_a_family_of_another_name() -> None:
    found = made_history(
        (2020, made_point("wmt20", "en-de", {"parbleu": 0.7, "COMET": 0.9})),
        (2020, made_point("wmt20", "en-de", {"parbleu": 0.7, "COMET": 0.9}, bridge="mqm")),
        (2020, made_point("wmt20", "en-de", {"parbleu": 0.8, "COMET": 0.9}, human="mqm", bridge="wmt-z")),
    )
    (line,) = bridge_notes(grouped(found, ("family",)), found)
    assert "; BLEU (parbleu) 0.700 by wmt-z, 0.800 by mqm; COMET 0.900 by wmt-z" in line


def test_a_bridge_is_both_values_on_the_common_systems_and_a_step_of_the_protocol() -> None:
    found = {row["group"]: row for row in bridges(grouped(FOUND, ("family",))).rows(named=True)}
    assert set(found) == {"BLEU", "YiSi"}
    row = found["BLEU"]
    assert (row["human"], row["other_human"], row["n_systems"]) == ("wmt-z", "mqm", 7)
    assert (row["value"], row["other_value"], row["agreement"]) == (0.6, 0.9, 0.66)
    assert row["step"] == pytest.approx(0.3)


def test_a_group_whose_best_differs_by_protocol_has_no_step_and_a_line() -> None:
    best = grouped(FOUND, ("best",))
    assert bridges(best).is_empty()
    (line,) = without_step(best)
    assert line.startswith("wmt20 en-de: ")
    assert line.endswith(" has no step: it is YiSi-1-ref by wmt-z and BLEU-ref by mqm")
    assert without_step(grouped(FOUND, ("family",))) == []


def test_what_people_reach_is_named_by_what_it_is_and_never_a_bound() -> None:
    def of(source: str | None, value: float | None) -> dict[str, Any]:
        return {"ceiling_source": source, "ceiling": value}

    second = "wmt-z as if it were a metric"
    halves = [f"split-half, a lower bound: {n} annotators of mqm, 100 splits" for n in (9, 61)]
    found = _people([of(second, 0.617), of(halves[0], 0.9), of(None, None), of(halves[1], 0.8), of(second, 0.617)])
    assert found == [
        "split-half, a lower bound: 0.800 to 0.900",
        "wmt-z as if it were a metric: 0.617",
    ]
    assert _people([of(None, None)]) == []


def test_a_line_by_the_other_protocol_says_that_it_stands_on_the_common_systems() -> None:
    """A ranking by that protocol alone has all systems that it judged, so its values may differ."""
    points = [
        (2020, made_point("wmt20", "en-de", {"BLEU": 0.7}, human="mqm", n_systems=7)),
        (2020, made_point("wmt20", "en-de", {"BLEU": 0.7}, human="mqm", bridge="wmt-z", n_systems=7)),
        (2020, made_point("wmt20", "en-de", {"BLEU": 0.8}, human="wmt-z", bridge="mqm", n_systems=7)),
    ]
    pa = parse_measure("pa")
    mqm, da = contexts(grouped(made_history(*points), ["family"]), pa)
    assert da.startswith("2020 da: wmt20 en-de; 7 systems (those that mqm judged too), ")
    assert mqm.startswith("2020 mqm: wmt20 en-de; 7 systems, ")
    both = contexts(
        grouped(made_history(*points, (2020, made_point("wmt20", "cs-en", {"BLEU": 0.8}, n_systems=9))), ["family"]), pa
    )
    assert "7 to 9 systems (in part those that mqm judged too), " in both[1]
    _, of_outputs = contexts(grouped(made_history(*points), ["family"]), parse_measure("acc_eq"))
    assert "7 systems (outputs that mqm judged too), " in of_outputs  # all human scores of segments are of these


def test_a_table_for_reading_names_the_metrics_that_stand_for_a_family_and_begins_with_the_latest_year() -> None:
    points = [
        (2019, made_point("wmt19", "en-de", {"BLEU": 0.7, "YiSi-1": 0.7, "BLEURT": 0.7, "chrF": 0.6})),
        (2020, made_point("wmt20", "en-de", {"parbleu": 0.8, "YiSi-1": 0.7, "BLEURT-20": 0.7, "CHRF": 0.6})),
        (2021, made_point("wmt21", "en-de", {"sentBLEU": 0.8, "YiSi-1": 0.7, "BLEURT": 0.7})),
    ]
    shown = wide(grouped(made_history(*points), ["family"]), made_history(*points), ["family"], None, 0.05)
    assert shown.frame.columns == ["group", "2021 da", "2020 da", "2019 da"]
    labels = ["BLEU (sentBLEU, parbleu, …)", "chrF", "YiSi (YiSi-1)", "BLEURT (BLEURT, BLEURT-20)"]
    assert shown.frame["group"].to_list() == labels


@pytest.mark.parametrize(
    ("n", "end"), [(1, "."), (4, "; the table has 1 more change."), (12, "; the table has 9 more changes.")]
)
def test_changes_that_the_sentence_does_not_name_are_counted(n: int, end: str) -> None:
    rows = [
        {"testset": f"t{n:02}", "lp": "en-de", "human": "da", "other_human": "mqm", "step": 0.0625, "agreement": 0.5}
        for n in range(n)
    ]
    said = of_bridges(FOUND, pl.DataFrame(rows))
    assert said.startswith("On the same systems, pa changes on average by +0.062 from da to mqm on t00 en-de")
    assert said.endswith(end)
    assert len(said) <= LONGEST
