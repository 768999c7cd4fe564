"""`scorehouse diff` as a user runs it."""

import csv
import io
import shutil
from pathlib import Path

import duckdb
import pytest

from tests.cli.running import Scorehouse, refused, unchanged
from tests.helpers import tiny_bytes, with_views_of_before
from tests.sharing import written


@pytest.fixture
def before(tmp_path: Path) -> Path:
    return written(tmp_path / "before.duckdb", tiny_bytes())


@pytest.fixture
def after(tmp_path: Path) -> Path:
    path = written(tmp_path / "after.duckdb", tiny_bytes())
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE internal.aggregate_score SET value = value + 1 WHERE value BETWEEN 0.69 AND 0.71")
        connection.execute("UPDATE internal.source SET sha256 = 'new' WHERE path LIKE '%Flat-src.seg.score'")
    return path


@pytest.mark.slow
def test_nothing_that_differs_is_exit_code_0_and_said(scorehouse: Scorehouse, before: Path, tmp_path: Path) -> None:
    copy = shutil.copy(before, tmp_path / "copy.duckdb")
    with unchanged(before):
        ran = scorehouse("diff", before, copy)
    assert (ran.code, ran.out) == (0, "Nothing differs.\n")  # no table: it would have only its head
    assert scorehouse("diff", before, "--db", copy, "--format", "json").json["is_equal"] is True
    assert scorehouse("diff", before, copy, "--format", "csv").out.count("\n") == 1


@pytest.mark.slow
def test_what_differs_is_exit_code_1_with_a_row_for_each_kind_and_metric(
    scorehouse: Scorehouse, before: Path, after: Path
) -> None:
    ran = scorehouse("diff", before, after, "-m", "pearson", "--format", "csv")
    assert ran.code == 1
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    assert [row["what"] for row in rows[:3]] == ["sources", "system scores", "ranking by pearson"]
    assert rows[0]["detail"] == "tiny24/metric-scores/en-de/Flat-src.seg.score"
    assert rows[1]["detail"] == "largest: Only-src, Ash"
    assert (float(rows[1]["before"]), float(rows[1]["difference"])) == (0.7, 1.0)
    assert rows[2]["name"] == "Only-src"
    assert scorehouse("diff", before, after, "-m", "pearson", "--exit-zero").code == 0


@pytest.mark.slow
def test_json_has_every_name_and_every_metric(scorehouse: Scorehouse, before: Path, after: Path) -> None:
    found = scorehouse("diff", before, after, "-m", "pearson", "--exit-zero", "--format", "json").json
    assert list(found) == ["before", "after", "is_equal", "named", "counted", "rankings", "signature", "summary"]
    assert (found["before"], found["after"], found["is_equal"]) == (str(before), str(after), False)
    assert list(found["named"][0]) == ["what", "testset", "lp", "name", "change", "before", "after"]
    (counted,) = found["counted"]
    assert (counted["name"], counted["changed"], counted["system"], counted["unit"]) == ("Only-src", 1, "Ash", None)
    assert [*found["rankings"][0]][2:] == ["measure", "metric", "before", "after", "rank_before", "rank_after"]


@pytest.mark.slow
def test_a_table_lists_the_first_metrics_of_a_ranking_and_counts_the_others(
    scorehouse: Scorehouse, default_database: Path, tmp_path: Path
) -> None:
    after = tmp_path / "after.duckdb"
    shutil.copy(default_database, after)
    with duckdb.connect(str(after)) as connection:
        connection.execute("UPDATE internal.system SET is_outlier = true WHERE name = 'Dogwood'")
    words = ("diff", default_database, after, "--testset", "sim24", "--lp", "en-de", "-m", "pa")
    ran = scorehouse(*words)
    every = scorehouse(*words, "--verbose")
    first, all_of_them = (sum("ranking by pa" in line for line in each.table) for each in (ran, every))
    assert first == 10 < all_of_them
    assert f"{all_of_them - 10} more metrics whose value or rank differs" in ran.err
    assert "is_outlier false → is_outlier true" in every.out


@pytest.mark.slow
def test_warehouses_that_cannot_be_compared_are_one_line(
    scorehouse: Scorehouse, before: Path, after: Path, tmp_path: Path
) -> None:
    refused(scorehouse("diff", before, before), 2, "are the same file")
    refused(scorehouse("diff", before, after, "--db", after), 2, "as an argument or with --db, not both")
    refused(scorehouse("diff", before, after, "-m", "pa", "--no-rankings"), 2, "cannot be combined")
    refused(scorehouse("diff", before, after, "-m", "pb"), 2, "unknown measure 'pb'")
    refused(scorehouse("diff", before, after, "--testset", "tiny25"), 2, "unknown test set 'tiny25'")
    refused(scorehouse("diff", before, after, "--lp", "german"), 2, "unknown language pair")
    refused(scorehouse("diff", before, tmp_path / "gone.duckdb"), 4, "gone.duckdb: no warehouse yet")
    (tmp_path / "text.duckdb").write_text("not a database")
    refused(scorehouse("diff", tmp_path / "text.duckdb", before), 4, "not a DuckDB database")
    with_views_of_before(after)
    assert scorehouse("diff", before, after).code == 1  # they differ; the second was brought up to date
