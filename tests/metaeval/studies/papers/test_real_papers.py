"""Printed values that the real scores meet."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from metaeval.studies.papers import PAPERS, item_named, paper_named
from metaeval.studies.papers.items import Request
from metaeval.studies.papers.running import Outcome, run
from metaeval.studies.tables.autorank import autorank
from queries.slices import Slice
from tests.helpers import beside_data, reading
from warehouse import LoadReport, Warehouse, load


@cache
def _run(database: Path, paper: str, item: str, *where: str) -> Outcome:
    found = paper_named(paper)
    return run(Request(lambda: Warehouse.open(database)), found, item_named(found, item), *where)


def _values(found: Outcome) -> dict[tuple[str, str], float | None]:
    return {(row.cell.row, row.cell.column): row.cell.value for row in found.rows}


QUICK = [
    ("graham-2014", "figure-1", {"met": 4}),
    ("graham-2014", "figure-2", {"met": 16, "explained": 1}),
    ("graham-2014", "figure-3", {"met": 1, "not_loaded": 8}),
    ("graham-2014", "code-example", {"met": 5}),
]


@pytest.mark.parametrize(("paper", "item", "verdicts"), QUICK, ids=[f"{one} {other}" for one, other, _ in QUICK])
def test_items_without_resampling(
    real_load: tuple[Path, LoadReport], paper: str, item: str, verdicts: dict[str, int]
) -> None:
    found = _run(real_load[0], paper, item)
    assert Counter(row.verdict for row in found.rows if row.printed) == verdicts


def test_quality_estimation_of_wmt22_has_the_printed_values(further_load: tuple[Path, LoadReport]) -> None:
    found = _run(further_load[0], "zerva-2022", "sentence-level")
    assert Counter(row.verdict for row in found.rows if row.printed) == {"met": 128}


def test_preliminary_ranking_of_wmt25_has_the_printed_values(further_load: tuple[Path, LoadReport]) -> None:
    found = _run(further_load[0], "kocmi-2025", "preliminary-ranking")
    assert Counter(row.verdict for row in found.rows if row.printed) == {"met": 2939}
    report = beside_data("more", "wmt25-general-mt-automatic", "generated_report.tex").read_text(encoding="utf-8")
    (italian,) = (table for table in report.split(r"\begin{table*}") if r"\textbf{English-Italian}" in table)
    first_cells = (re.search(r"green!\d+!red!\d+\}([\d.]+)", line) for line in italian.splitlines())
    ranks = [float(cell[1]) for cell in first_cells if cell]
    with Warehouse.open(further_load[0]) as warehouse:  # a table that is not among the paper's items
        own = autorank(reading(warehouse), Slice("wmt25", "en-it_IT")).frame
    assert own.columns[6:] == [
        "GEMBA-ESA-CMDA-src",
        "GEMBA-ESA-GPT4.1-src",
        "MetricX-24-Hybrid-XL-src",
        "XCOMET-XL-src",
    ]
    assert own["autorank"].round(1).to_list() == ranks


@pytest.mark.slow
def test_means_of_mslc24_are_the_published_ones_up_to_the_rounding_of_scores(tmp_path: Path) -> None:
    load([beside_data("more", "mslc", "wide", "wmt24.news.en-es.tsv")], tmp_path / "w.duckdb")
    found = _run(tmp_path / "w.duckdb", "knowles-2024", "system-means")
    assert Counter(row.verdict for row in found.rows if row.printed) == {"met": 516, "explained": 2, "not_loaded": 1208}


def test_williams_p_of_both_degrees_of_freedom(real_load: tuple[Path, LoadReport]) -> None:
    values = _values(_run(real_load[0], "graham-2014", "code-example"))
    row = "AMBER over BLEU_4_closest_cased"
    assert values[row, "p"] == pytest.approx(0.0124588, abs=5e-8)
    assert values[row, "p_legacy"] == pytest.approx(0.0114079, abs=5e-8)
    values = _values(_run(real_load[0], "graham-2014", "figure-2"))
    assert (values["all pairs", "n_significant"], values["all pairs", "n_significant_legacy"]) == (36, 38)


def test_table_6_has_the_printed_values_and_its_years_those_of_the_shared_tasks(
    real_load: tuple[Path, LoadReport],
) -> None:
    found = _run(real_load[0], "kocmi-2021", "table-6")
    verdicts = Counter(row.verdict for row in found.rows if row.printed)
    assert verdicts == {"met": 30, "explained": 22, "not_loaded": 45}
    by_place = {(row.cell.testset, row.cell.row, row.cell.column): row.cell.value for row in found.rows}
    for metric, value in {"BLEU": 0.906, "YiSi-1": 0.967, "NIST": 0.860, "TER": 0.922}.items():
        assert by_place["wmt19", metric, "r"] == pytest.approx(value, abs=5e-4)
    for metric, value in {"BLEU": 0.839, "COMET": 0.856, "chrF": 0.870, "TER": 0.716}.items():
        assert by_place["wmt20", metric, "r"] == pytest.approx(value, abs=5e-4)
    assert by_place["wmt20", "COMET", "no outliers without en-zh"] == pytest.approx(0.762, abs=5e-4)


@pytest.mark.long("1000 swaps for every pair of 25 metrics, twice: a minute")
def test_table_1_of_soft_pairwise_accuracy(wmt23_database: Path) -> None:
    found = _run(wmt23_database, "thompson-2024", "table-1")
    verdicts = Counter(row.verdict for row in found.rows)
    assert verdicts["met"] + verdicts["noise"] == 20
    assert not verdicts["differs"]


def test_every_paper_is_named_by_its_first_author_and_year() -> None:
    assert {"thompson-2024", "graham-2014", "kocmi-2021", "deutsch-2023"} <= set(PAPERS)
