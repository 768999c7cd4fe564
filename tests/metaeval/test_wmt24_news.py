"""WMT24's news segments with MQM: values that the field's toolkit gives on the same table, of every metric."""

import csv
from pathlib import Path

import pytest

import metaeval
from tests.helpers import beside_data
from warehouse import Warehouse, load

EXACT = {
    "acc_eq(by=item)": "acc_eq_item",
    "pearson(by=item)": "pearson_item",
    "pearson(by=none)": "pearson_none",
    "pdp": "pdp",
    "pa": "pa",
}
SPA = "spa(n=inf)"
SEEDS = 0.002  # how far SPA of 1000 resamples is from its limit
TIED = "sentinel-src"  # scores all translations of a segment alike: SPA then depends on the order of systems


@pytest.mark.slow
def test_values_of_wmt24_news_are_those_of_the_toolkit(tmp_path: Path) -> None:
    with beside_data("expected", "wmt24", "news.tsv").open(encoding="utf-8", newline="") as file:
        expected = {row["metric"]: row for row in csv.DictReader(file, delimiter="\t") if row["lp"] == "en-de"}
    report = load([beside_data("more", "mslc", "wide", "wmt24.news.en-de.tsv")], tmp_path / "w.duckdb")
    assert not report.faults
    with Warehouse.open(tmp_path / "w.duckdb") as warehouse:
        frame = metaeval.rank(warehouse, "wmt24.news", "en-de", [*EXACT, SPA], human_references=True).frame
    rows = {(row["base_metric"], row["measure"]): row for row in frame.rows(named=True)}
    assert {metric for metric, _ in rows} == set(expected)
    for (metric, measure), row in rows.items():
        told = expected[metric]
        assert row["n_systems"] == int(told["n_systems"])
        assert row["n_segments"] == int(told["n_segments"])
        if measure == "pearson(by=item)" and int(told["n_groups"]) == 0:
            assert row["value"] is None  # constant in every segment: the toolkit says 0
            continue
        if (metric, measure) == (TIED, SPA):
            continue
        value = told[EXACT.get(measure, "spa_seed4")]
        tolerance = 1e-9 if measure in EXACT else SEEDS
        found = float("nan") if row["value"] is None else row["value"]
        wanted = float(value) if value else float("nan")
        assert found == pytest.approx(wanted, rel=0, abs=tolerance, nan_ok=True), (metric, measure)
        if measure == "pearson(by=item)":
            assert row["n_groups"] - row["n_groups_nan"] == int(told["n_groups"]), metric
