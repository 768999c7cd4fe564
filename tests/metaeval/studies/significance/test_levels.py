"""Measured levels: what is told beside a test, and what the file of results says."""

import csv
from pathlib import Path

import pytest

from metaeval.measures.applicable import TESTS
from metaeval.measures.registry import parse_measure
from metaeval.studies.significance import metric_tests
from metaeval.studies.significance.metric_tests import LEAST_WORLDS, NULLS, Level, measured_levels

FILE = Path(metric_tests.__file__).with_name("levels.csv")


@pytest.mark.parametrize(
    ("share", "is_off"), [(0.05, False), (0.075, False), (0.0751, True), (0.025, False), (0.0249, True), (0.24, True)]
)
def test_a_level_is_off_where_it_differs_by_more_than_half(share: float, is_off: bool) -> None:
    assert Level(share, "made").is_off == is_off


def test_the_level_that_is_told_is_the_one_furthest_off(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {
        ("pa", "perm-inputs", "segments", "equal"): (Level(0.03, "one"), Level(0.09, "other"), Level(0.06, "third")),
        ("pa", "perm-inputs", "segments", "exchangeable"): (Level(0.05, "one"),),
        ("pa", "perm-both", "both", "exchangeable"): (Level(0.3, "one"),),
        ("pa", "bootstrap-normal by document", "documents", "equal"): (Level(0.04, "one"),),
    }
    monkeypatch.setattr(metric_tests, "_measured", lambda: found)
    measure = parse_measure("pa")
    of_both = {"equal": Level(0.09, "other"), "exchangeable": Level(0.05, "one")}
    assert measured_levels(measure, "perm-inputs", "segments") == of_both
    assert measured_levels(measure, "perm-both", "both") == {"exchangeable": Level(0.3, "one")}
    by_document = measured_levels(measure, "bootstrap-normal", "segments", unit="document")
    assert by_document == {"equal": Level(0.04, "one")}
    assert measured_levels(measure, "perm-inputs", "systems") == {}
    assert measured_levels(parse_measure("pa(ties=tship)"), "perm-inputs", "segments") == {}


@pytest.mark.parametrize(("measure", "same"), [("spa", "spa(n=50)"), ("tau_eq(by=item)", "acc_eq(by=item)")])
def test_measures_that_are_tested_alike_share_their_levels(measure: str, same: str) -> None:
    assert parse_measure(measure).measured_as == parse_measure(same).measured_as


def test_every_line_of_the_results_is_a_test_that_there_is() -> None:
    with FILE.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            measure = parse_measure(line["measure"])
            named = line["test"].removesuffix(metric_tests.BY_DOCUMENT).removesuffix(metric_tests.BY_ANNOTATOR)
            by = line["test"].removeprefix(named)
            test = named.removesuffix(metric_tests.MID_P)
            assert test in TESTS
            assert test in measure.tests
            assert measure.takes_few_values or test == named
            drawn = {metric_tests.BY_DOCUMENT: "documents", metric_tests.BY_ANNOTATOR: "annotators"}
            assert line["population"] == drawn.get(by, line["population"])
            assert 0 <= int(line["n_found"]) <= int(line["n_worlds"])
            assert line["population"] in ("segments", "systems", "both", *drawn.values())
            assert line["null"] in NULLS


def test_few_worlds_are_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A level from fewer worlds than `LEAST_WORLDS` has an interval too wide to be told."""
    lines = ["data,null,population,effect,measure,test,n_worlds,n_found,n_undefined"]
    lines += [
        f"made,equal,segments,0,pa,perm-inputs,{LEAST_WORLDS - 1},99,0",
        "made,equal,segments,0.5,pdp,perm-inputs,999,99,0",
    ]
    lines += [f"made,equal,segments,0,spearman,perm-inputs,{LEAST_WORLDS},10,0"]
    (tmp_path / "levels.csv").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(metric_tests, "files", lambda package: tmp_path)
    metric_tests._measured.cache_clear()
    try:
        found = {
            name: measured_levels(parse_measure(name), "perm-inputs", "segments") for name in ("pa", "pdp", "spearman")
        }
    finally:
        metric_tests._measured.cache_clear()
    assert found == {"pa": {}, "pdp": {}, "spearman": {"equal": Level(10 / LEAST_WORLDS, "made")}}
