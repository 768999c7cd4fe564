"""Exported Parquet on many machines, and what the page on scale says of it."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import metaeval
from queries.spark import SparkExecutor, of_all, spark_session
from warehouse import SourceError, Warehouse
from warehouse.export import export

pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")  # PySpark 3.5 leaves them open

EVALSETS = (("sim24", "en-de"), ("sim24", "cs-uk"), ("sim23", "en-de"))


@pytest.fixture(scope="module")
def exported(simulated_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two years of a language pair, and one of another."""
    folder = tmp_path_factory.mktemp("exported")
    for testset, lp in EVALSETS:
        export(simulated_database, folder, testset=testset, lp=lp)
    return folder


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    pytest.importorskip("pyspark", reason="PySpark (extra `spark`) is not installed")
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java", path=str(Path(home) / "bin") if home else None) is None:
        pytest.skip(f"Spark needs Java, and there is no `java` {'in JAVA_HOME' if home else 'on the PATH'}")
    session = spark_session()
    yield session
    session.stop()


def means(folder: Path, testset: str, lp: str) -> pl.DataFrame:
    return metaeval.means(folder, testset, lp).frame


def test_a_folder_that_is_no_export_is_refused(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as executor, pytest.raises(SourceError, match="no exported Parquet"):
        of_all(tmp_path, partial(means, tmp_path), executor)


@pytest.mark.slow
def test_without_java_one_line_says_what_spark_needs(exported: Path) -> None:
    pytest.importorskip("pyspark", reason="PySpark (extra `spark`) is not installed")
    program = "import sys; import metaeval; metaeval.means(sys.argv[1], 'sim24', 'en-de', engine='spark')"
    done = subprocess.run(
        [sys.executable, "-c", program, str(exported)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "JAVA_HOME": str(exported / "no-java")},
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("warehouse.errors.QuestionError: Spark did not start; it needs Java (17 or newer")


@pytest.mark.slow
@pytest.mark.parametrize("cluster", ["threads", "spark"])
def test_all_evaluation_sets_are_asked_by_any_executor(
    exported: Path, cluster: str, request: pytest.FixtureRequest
) -> None:
    own = SparkExecutor(request.getfixturevalue("spark")) if cluster == "spark" else ThreadPoolExecutor(2)
    with own as executor:
        found = of_all(exported, partial(means, exported), executor)
    assert found.select("testset", "lp").unique(maintain_order=True).rows() == sorted(EVALSETS)
    for (testset, lp), rows in found.group_by("testset", "lp"):
        assert_frame_equal(rows.drop("testset", "lp"), means(exported, str(testset), str(lp)))


def test_a_session_that_was_there_before_goes_on_and_keeps_its_tables(exported: Path, spark: Any) -> None:
    spark.sql("SELECT 1 AS x").createOrReplaceTempView("score")
    assert metaeval.means(exported, "sim24", "en-de", engine="spark").frame.height > 0
    assert [row.x for row in spark.sql("SELECT x FROM score").collect()] == [1]
    assert [table.name for table in spark.catalog.listTables()] == ["score"]


@pytest.mark.slow
def test_the_page_on_scale_tells_what_works(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its SQL and Python run as they stand there, on an export in a folder `scores`."""
    pytest.importorskip("sqlglot", reason="sqlglot is not installed")
    page = (Path(__file__).resolve().parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(python|sql)\n(.*?)```", page, re.DOTALL)
    assert [kind for kind, _ in blocks] == ["sql", "python", "python", "python"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores").symlink_to(exported)
    for kind, text in blocks:
        if kind == "python":
            exec(text, {})
        else:
            with duckdb.connect() as connection:
                assert len(connection.execute(text).fetchall()) > 10
    assert "SELECT" in capsys.readouterr().out
    with Warehouse.open(tmp_path / "again.duckdb") as warehouse:
        assert warehouse.rows("SELECT count(*) > 0 FROM scores") == [(True,)]
