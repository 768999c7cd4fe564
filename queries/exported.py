"""System means and pair counts over exported Parquet, by DuckDB, Polars or Spark: for data that no one machine holds.

The SQL is plain enough for DuckDB and Spark alike; Polars says the same as a lazy query. `docs/scale.md` tells when
and how to go there.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from queries.catalog import questions
from queries.engines import COUNTS, ENGINES, Engine, outcomes
from queries.spark import ask_spark
from warehouse import SourceError
from warehouse.database.frames import frame
from warehouse.errors import unknown
from warehouse.export import is_export, is_unfinished

_PARTITIONS = "*/*/*.parquet"  # testset=.../lp=.../data.parquet
_SPARK_COLUMNS = "kind STRING, scorer STRING, system STRING, segment INT, value DOUBLE, testset STRING, lp STRING"


def system_means(
    folder: Path, engine: Engine = "duckdb", *, testset: str | None = None, lp: str | None = None, session: Any = None
) -> pl.DataFrame:
    """Means of segment scores by system, of everything that was exported, or of a test set or language pair.

    Columns testset, lp, kind, scorer, system, n_segments, n_missing (int64), mean (null without a score), in this
    order; the last digits of a mean depend on the order of addition. session: a SparkSession, which may belong to a
    cluster; without one the active session, else Spark here.
    Raises SourceError: the folder is no export. QuestionError: Spark is not installed, or has no Java.
    """
    if engine == "polars":
        found = _polars_means(_scan(folder), testset, lp)
    else:
        found = _ask(folder, engine, "exported_means", {"testset": testset, "lp": lp}, session)
    return found.with_columns(pl.col("n_segments", "n_missing").cast(pl.Int64), pl.col("mean").cast(pl.Float64))


def pair_counts(
    folder: Path,
    testset: str,
    lp: str,
    human: str,
    engine: Engine = "duckdb",
    *,
    epsilon: float = 0.0,
    session: Any = None,
) -> pl.DataFrame:
    """Pair counts of each metric inside segments, summed, over all systems that the human score judged.

    Columns metric and the five counts (int64), sorted by metric. session and errors: see `system_means`.
    """
    if engine == "polars":
        found = _polars_pairs(_scan(folder), testset, lp, human, epsilon)
    else:
        values = {"testset": testset, "lp": lp, "human": human, "epsilon": epsilon}
        found = _ask(folder, engine, "exported_pairs", values, session)
    return found.with_columns(pl.col(*COUNTS).cast(pl.Int64))


def of_all(folder: Path, question: Callable[[str, str], pl.DataFrame], executor: Executor) -> pl.DataFrame:
    """The answers of a question on each exported evaluation set, in their order, computed by an executor.

    question: what is asked of a test set and language pair; a function of a module, or `functools.partial` of one, as
    it is pickled. executor: threads, or machines that all read the folder, such as Dask's `Client.get_executor()` or
    `queries.spark.SparkExecutor`. Answers come with testset and lp in front; numbers do not depend on the executor.
    Raises SourceError: the folder is no export.
    """
    places = sorted(path.parent for path in _checked(folder).glob(_PARTITIONS))
    named = [tuple(part.partition("=")[2] for part in place.parts[-2:]) for place in places]
    answers = executor.map(question, [testset for testset, _ in named], [lp for _, lp in named])
    return pl.concat(
        answer.select(pl.lit(testset).alias("testset"), pl.lit(lp).alias("lp"), pl.exclude("testset", "lp"))
        for (testset, lp), answer in zip(named, answers, strict=True)
    )


def _checked(folder: Path) -> Path:
    """Raises SourceError: no export."""
    if not is_export(folder):
        raise SourceError(f"{folder}: no exported Parquet; `scorehouse export DIR` writes it")
    if is_unfinished(folder):
        raise SourceError(f"{folder}: an export that was not finished; export it again")
    return folder / "score"


def _ask(folder: Path, engine: str, question: str, values: dict[str, object], session: Any) -> pl.DataFrame:
    text = questions()[question].text
    if engine == "duckdb":
        return _ask_duckdb(_checked(folder), text, values)
    if engine == "spark":
        scores = str(_checked(folder))
        return ask_spark(text, values, "score", lambda own: own.read.schema(_SPARK_COLUMNS).parquet(scores), session)
    raise unknown("engine", engine, ENGINES)


def _ask_duckdb(folder: Path, text: str, values: dict[str, object]) -> pl.DataFrame:
    files = str(folder / _PARTITIONS).replace("'", "''")
    with duckdb.connect() as connection:
        connection.execute(
            f"""
            CREATE VIEW score AS
            SELECT testset, lp, kind, scorer, system, segment, value
            FROM read_parquet(
              '{files}', hive_partitioning = true, hive_types = {{'testset': VARCHAR, 'lp': VARCHAR}}
            )
            """
        )
        return frame(connection.sql(text, params=values))


def _scan(folder: Path) -> pl.LazyFrame:
    partitions = {"testset": pl.String, "lp": pl.String}
    return pl.scan_parquet(_checked(folder) / _PARTITIONS, hive_partitioning=True, hive_schema=partitions)


def _polars_means(score: pl.LazyFrame, testset: str | None, lp: str | None) -> pl.DataFrame:
    for column, wanted in (("testset", testset), ("lp", lp)):
        if wanted is not None:
            score = score.filter(pl.col(column) == wanted)
    keys = ("testset", "lp", "kind", "scorer", "system")
    return (
        score.group_by(keys)
        .agg(n_segments=pl.col("value").count(), n_missing=pl.col("value").null_count(), mean=pl.col("value").mean())
        .sort(keys)
        .collect(engine="streaming")
    )


def _polars_pairs(score: pl.LazyFrame, testset: str, lp: str, human: str, epsilon: float) -> pl.DataFrame:
    present = score.filter(pl.col("testset") == testset, pl.col("lp") == lp, pl.col("value").is_not_null()).select(
        "kind", "scorer", "system", "segment", "value"
    )
    judged = present.filter(pl.col("kind") == "human", pl.col("scorer") == human).select(
        "system", "segment", human=pl.col("value")
    )
    scored = (
        present.filter(pl.col("kind") == "metric")
        .select("scorer", "system", "segment", metric=pl.col("value"))
        .join(judged, on=["system", "segment"])
    )
    return (
        scored.join(scored, on=["scorer", "segment"])
        .filter(pl.col("system_right") > pl.col("system"))
        .group_by("scorer")
        .agg(**outcomes(epsilon))
        .rename({"scorer": "metric"})
        .sort("metric")
        .collect(engine="streaming")
    )
