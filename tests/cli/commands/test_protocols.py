"""`protocol --matrix` and its like: its views, formats and refusals."""

import shutil
from pathlib import Path

import pytest

from metaeval.studies.protocols import protocols
from tests.cli.running import Scorehouse, refused
from tests.helpers import tiny_layout, tiny_warehouse


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("protocols")
    with tiny_warehouse(folder, tiny_layout(folder / "a", testset="wmt24")) as warehouse:
        return Path(shutil.copy(warehouse.path, folder / "copy.duckdb"))


@pytest.mark.slow
def test_who_wins_under_which_rule(scorehouse: Scorehouse, database: Path) -> None:
    rows = scorehouse("--db", database, "protocol", "--matrix", "--format", "json").json
    assert [row["protocol"] for row in rows] == list(protocols())
    assert all((row["winner"] is None) == (row["reason"] is not None) for row in rows)
    ran = scorehouse("--db", database, "protocol", "--matrix")
    ranked = [row["protocol"].removeprefix("wmt") for row in rows if row["winner"] is not None]
    header, _, *lines = ran.table
    assert header.split() == ["metric", *ranked]
    assert lines
    agreement = scorehouse("--db", database, "protocol", "--agreement", "--format", "csv")
    assert agreement.out.startswith("testset,year,protocol,versus,kendall,spearman,n_common")


@pytest.mark.slow
def test_one_view_at_a_time(scorehouse: Scorehouse, database: Path) -> None:
    refused(scorehouse("--db", database, "protocol"), 2, "--matrix", "list protocols")
    refused(
        scorehouse("--db", database, "protocol", "--matrix", "--thresholds"),
        2,
        "--matrix and --thresholds cannot be combined",
    )
    refused(scorehouse("--db", database, "protocol", "--thresholds"), 2, "returns in a later year")
    refused(scorehouse("--db", database, "protocol", "wmt99x", "--matrix"), 2, "unknown test set")
