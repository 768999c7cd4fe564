"""Tables 2 to 5 of Kocmi et al. 2021 on workbooks of campaigns, counted by hand."""

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from metaeval.studies.papers import item_named, paper_named
from metaeval.studies.papers.items import Request
from metaeval.studies.papers.running import run
from tests.warehouse.readers.samples import FACTS, workbook
from warehouse import Warehouse
from warehouse.loading.entry import load

HEADER = (
    *("Source", "Target", "User", "SegmentID", "Segment", "Score", "valid_line", "COMET_src", "Prism_src"),
    "BLEURT_default",
)
N = 16  # segments: up to 13 with ties, SciPy goes through all 2^n signs of every pair of systems
NEWS = ("ENU", "CHS", "news", "1" * 32)
DISCUSSION = ("DEU", "ENU", "Discussion", "2" * 32)
# system: human mean; Prism_src in the campaigns of news and of discussion, where it turns the first two round; COMET
SYSTEMS = {"ours": (80.0, 30.0, 20.0, 0.6), "Online-A": (70.0, 28.0, 24.0, 0.5), "theirs": (60.0, 20.0, 10.0, 0.3)}
BOTH = ("toship.11111111,toship.22222222", "all")


@pytest.fixture(scope="module")
def campaigns(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Two campaigns of three systems, each pair apart by 10 or 20 points on every segment."""
    root = tmp_path_factory.mktemp("campaigns")
    for source, target, domain, folder in (NEWS, DISCUSSION):
        (root / folder).mkdir()
        for place, (system, (human, prism_news, prism_discussion, comet)) in enumerate(SYSTEMS.items()):
            prism = prism_news if domain == "news" else prism_discussion
            rows = [
                (
                    source,
                    target,
                    "u1",
                    at,
                    f"h{at}",
                    human + at % 5,
                    True,
                    comet + at % 3 / 100,
                    prism + at % 4,
                    human / 100,
                )
                for at in range(N)
            ]
            facts = {**FACTS, "System": system, "domain": domain, "number_of_sentences": N, "COMET_src": comet}
            path = workbook(root, HEADER, rows, {**facts, "Prism_src": prism}, name="abc"[place] * 32)
            path.rename(root / folder / path.name)
    report = load([root], root / "campaigns.duckdb")
    assert not report.faults
    with Warehouse.open(root / "campaigns.duckdb") as warehouse:
        yield warehouse


def _values(warehouse: Warehouse, item: str) -> dict[tuple[str, str], float | None]:
    paper = paper_named("kocmi-2021")
    request = Request(lambda: nullcontext(warehouse), draws=50)
    found = run(request, paper, item_named(paper, item), *BOTH)
    return {(row.cell.row.partition("-")[0], row.cell.column): row.cell.value for row in found.rows}


@pytest.mark.slow
def test_pairs_of_campaigns_are_counted_by_hand(campaigns: Warehouse) -> None:
    values = _values(campaigns, "table-2")
    assert values["BLEURT_default", "All"] == 100
    for column in ("All", "0.05", "0.01", "0.001"):  # 16 differences of one sign and size: z = 4
        assert values["n", column] == 6
        assert values["Prism_src", column] == pytest.approx(100 * 5 / 6)
        assert values["COMET_src", column] == 100
    assert values["n", "Within"] == 0


def test_campaigns_by_direction_script_and_domain(campaigns: Warehouse) -> None:
    values = _values(campaigns, "table-3")
    counted = {"Everything": 6, "Into EN": 3, "From EN": 3, "Non Latin": 3, "Logograms": 3, "Discussion": 3}
    assert {column: values["n", column] for column in counted} == counted
    assert values["Prism_src", "Logograms"] == values["Prism_src", "From EN"] == 100
    assert values["Prism_src", "Discussion"] == values["Prism_src", "Into EN"] == pytest.approx(100 * 2 / 3)


def test_errors_of_tests_in_campaigns(campaigns: Warehouse) -> None:
    values = _values(campaigns, "table-4")
    names = ("No test", "Boot.", "Both", "Neither", "Type I n", "Type II n")
    assert [values["COMET_src", name] for name in names] == [100, 100, 6, 0, 0, 0]
    assert values["COMET_src", "Type II share"] is None
    assert [values["Prism_src", name] for name in names] == [pytest.approx(100 * 5 / 6)] * 2 + [6, 0, 0, 0]


def test_kinds_of_systems_in_campaigns(campaigns: Warehouse) -> None:
    values = _values(campaigns, "table-5")
    assert [values["n", column] for column in ("Both submitted", "One online", "Both online")] == [2, 4, 0]
    assert values["Prism_src", "Both submitted"] == 100
    assert values["Prism_src", "One online"] == 75
