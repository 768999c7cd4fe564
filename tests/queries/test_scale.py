"""Exported Parquet gives the same answers by DuckDB, Polars and Spark as the warehouse itself."""

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

from queries.engines import Engine
from queries.exported import of_all, pair_counts, system_means
from queries.spark import SparkExecutor, spark_session
from warehouse import QuestionError, SourceError, Warehouse
from warehouse.export import export

pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")  # PySpark 3.5 leaves them open

EVALSETS = (("sim24", "en-de"), ("sim24", "cs-uk"), ("sim23", "en-de"))
COUNTS = ("n_concordant", "n_discordant", "n_tied_human", "n_tied_metric", "n_tied_both")


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


@pytest.fixture(params=["duckdb", "polars", "spark"])
def engine(request: pytest.FixtureRequest) -> tuple[Engine, Any]:
    """An engine with its session."""
    return request.param, request.getfixturevalue("spark") if request.param == "spark" else None


@pytest.fixture(scope="module")
def means(simulated_warehouse: Warehouse) -> pl.DataFrame:
    """Means of the exported evaluation sets, as the warehouse has them."""
    return simulated_warehouse.sql(
        """
        SELECT testset, lp, kind, scorer, system, n_segments, n_missing, mean
        FROM system_scores
        WHERE n_segments + n_missing > 0 AND testset || ' ' || lp IN ('sim24 en-de', 'sim24 cs-uk', 'sim23 en-de')
        ORDER BY ALL
        """
    )


@pytest.fixture(scope="module")
def counts(simulated_warehouse: Warehouse) -> pl.DataFrame:
    """Pair counts of one of them, as the warehouse has them."""
    sums = ", ".join(f"sum({name})::BIGINT AS {name}" for name in COUNTS)
    return simulated_warehouse.sql(
        f"""
        SELECT metric, {sums}
        FROM pair_counts
        WHERE testset = 'sim24' AND lp = 'en-de' AND human = 'mqm'
        GROUP BY metric
        ORDER BY metric
        """
    )


def test_system_means_are_those_of_the_warehouse(
    exported: Path, means: pl.DataFrame, engine: tuple[Engine, Any]
) -> None:
    found = system_means(exported, engine[0], session=engine[1])
    assert found.height > 500
    assert_frame_equal(found, means, check_exact=False, rel_tol=1e-12)  # sums in another order


def test_system_means_of_one_evaluation_set_alone(exported: Path, engine: tuple[Engine, Any]) -> None:
    everything = system_means(exported)
    found = system_means(exported, engine[0], testset="sim24", lp="en-de", session=engine[1])
    expected = everything.filter(pl.col("testset") == "sim24", pl.col("lp") == "en-de")
    assert found.height > 0
    assert_frame_equal(found, expected, check_exact=False, rel_tol=1e-12)


def test_pair_counts_are_those_of_the_warehouse(
    exported: Path, counts: pl.DataFrame, engine: tuple[Engine, Any]
) -> None:
    assert_frame_equal(pair_counts(exported, "sim24", "en-de", "mqm", engine[0], session=engine[1]), counts)


def test_pair_counts_with_a_tie_threshold(
    exported: Path, simulated_warehouse: Warehouse, engine: tuple[Engine, Any]
) -> None:
    sums = ", ".join(f"sum({name})::BIGINT AS {name}" for name in COUNTS)
    expected = simulated_warehouse.sql(
        f"SELECT metric, {sums} FROM concordance('sim24', 'en-de', 'mqm', 0.05) GROUP BY metric ORDER BY metric"
    )
    found = pair_counts(exported, "sim24", "en-de", "mqm", engine[0], epsilon=0.05, session=engine[1])
    assert_frame_equal(found, expected)
    assert found["n_tied_metric"].sum() > 0


def test_what_does_not_exist_has_no_rows(exported: Path, engine: tuple[Engine, Any]) -> None:
    found = pair_counts(exported, "sim99", "en-de", "mqm", engine[0], session=engine[1])
    assert found.shape == (0, 6)
    assert system_means(exported, engine[0], testset="sim99", session=engine[1]).shape == (0, 8)


def test_a_folder_that_is_no_export_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no exported Parquet"):
        system_means(tmp_path)
    with pytest.raises(SourceError, match="no exported Parquet"):
        pair_counts(tmp_path, "sim24", "en-de", "mqm", "polars")


def test_an_unknown_engine_is_refused(exported: Path) -> None:
    with pytest.raises(QuestionError, match="duckdb, polars, spark"):
        system_means(exported, "hive")  # type: ignore[arg-type]


def test_without_pyspark_one_line_says_how_to_get_it(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyspark.sql", None)
    with pytest.raises(QuestionError, match=r"scorehouse\[spark\]"):
        system_means(exported, "spark")


def test_without_java_one_line_says_what_spark_needs(exported: Path) -> None:
    pytest.importorskip("pyspark", reason="PySpark (extra `spark`) is not installed")
    program = (
        "import sys; from pathlib import Path; from queries.exported import system_means; "
        "system_means(Path(sys.argv[1]), 'spark')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(exported)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "JAVA_HOME": str(exported / "no-java")},
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("warehouse.errors.QuestionError: Spark did not start; it needs Java (17 or newer")


@pytest.mark.parametrize("cluster", ["threads", "spark"])
def test_all_evaluation_sets_are_asked_by_any_executor(
    exported: Path, cluster: str, request: pytest.FixtureRequest
) -> None:
    own = SparkExecutor(request.getfixturevalue("spark")) if cluster == "spark" else ThreadPoolExecutor(2)
    with own as executor:
        found = of_all(exported, partial(pair_counts, exported, human="mqm", engine="duckdb"), executor)
    assert found.select("testset", "lp").unique(maintain_order=True).rows() == sorted(EVALSETS)
    for (testset, lp), rows in found.group_by("testset", "lp"):
        alone = pair_counts(exported, str(testset), str(lp), "mqm")
        assert_frame_equal(rows.drop("testset", "lp"), alone)


def test_a_session_that_was_there_before_goes_on_and_keeps_its_tables(exported: Path, spark: Any) -> None:
    spark.sql("SELECT 1 AS x").createOrReplaceTempView("score")
    assert system_means(exported, "spark", testset="sim24").height > 0
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
    assert [kind for kind, _ in blocks] == ["sql", "python", "python", "python", "python"]
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
