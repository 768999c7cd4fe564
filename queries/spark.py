"""Many machines: all evaluation sets of an export by an executor; Spark, its session and its answers of plain SQL."""

import re
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl

from warehouse import QuestionError
from warehouse.export.reimport import exported_evalsets
from warehouse.wording import option

_PREFIX = "scorehouse_"  # before a view's name: no table of the caller's session has it


def of_all(folder: Path, question: Callable[[str, str], pl.DataFrame], executor: Executor) -> pl.DataFrame:
    """The answers of a question on each exported evaluation set, in their order, computed by an executor.

    question: what is asked of a test set and language pair; a function of a module, or `functools.partial` of one, as
    it is pickled. executor: threads, or machines that all read the folder, such as Dask's `Client.get_executor()` or
    `SparkExecutor`. Answers come with testset and lp in front; numbers do not depend on the executor.
    Raises SourceError: the folder is no export, or was not finished.
    """
    evalsets = sorted(exported_evalsets(folder))
    answers = executor.map(question, *zip(*evalsets, strict=True))
    return pl.concat(
        answer.select(pl.lit(testset).alias("testset"), pl.lit(lp).alias("lp"), pl.exclude("testset", "lp"))
        for (testset, lp), answer in zip(evalsets, answers, strict=True)
    )


class SparkExecutor(Executor):
    """Runs functions on the machines of a Spark session, each as a job of one task; it does not stop the session."""

    def __init__(self, session: Any) -> None:
        self._context = session.sparkContext
        self._threads = ThreadPoolExecutor(self._context.defaultParallelism)  # each waits for one job

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """The result of a call; function, arguments and result are pickled."""
        return self._threads.submit(self._run, fn, args, kwargs)

    def _run(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        return self._context.parallelize([None], 1).map(lambda _: fn(*args, **kwargs)).collect()[0]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)


def spark_session(master: str = "local[*]") -> Any:
    """Spark by a master, by default on this machine alone, with what these questions need set; stop it when done.

    Raises QuestionError: PySpark is not installed, or finds no Java that it can run on.
    """
    session = _spark().builder.master(master).appName("scorehouse")
    for name, value in (
        ("spark.ui.enabled", "false"),
        ("spark.ui.showConsoleProgress", "false"),
        ("spark.sql.shuffle.partitions", "4"),
        ("spark.driver.bindAddress", "127.0.0.1"),
        ("spark.driver.host", "127.0.0.1"),
    ):
        session = session.config(name, value)
    try:
        return session.getOrCreate()
    except RuntimeError as error:  # PySpark's own kind of it where Java ends or isn't there
        raise QuestionError(
            "Spark did not start; it needs Java (17 or newer for PySpark 4) on the PATH or in JAVA_HOME; PySpark says: "
            + " ".join(str(error).split())
        ) from error


def _spark() -> Any:
    """PySpark's class of sessions.

    Raises QuestionError: PySpark is not installed.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise QuestionError(
            "Spark needs PySpark, which is not installed: python3 -m pip install 'scorehouse[spark]' (and Java); "
            f"or {option('engine')} polars or duckdb"
        ) from error
    return SparkSession


def ask_spark(text: str, values: Mapping[str, object], relation: str, make: Callable[[Any], Any]) -> pl.DataFrame:
    """The answer of one of the plain questions, asked of a relation.

    make: the relation as Spark's frame, given the session: the active one, which goes on, else Spark here. Spark's AVG
    adds up in no fixed order.
    Raises QuestionError: see `spark_session`.
    """
    there = _spark().getActiveSession()  # one that the caller started is not ours to stop
    own = there or spark_session()
    try:
        make(own).createOrReplaceTempView(_PREFIX + relation)
        answer = own.sql(_as_spark_has_it(text, relation), args=dict(values))
        names = answer.columns
        rows = [tuple(row) for row in answer.collect()]
        own.catalog.dropTempView(_PREFIX + relation)
    finally:
        if there is None:
            own.stop()
    return pl.DataFrame({name: [row[place] for row in rows] for place, name in enumerate(names)})


def _as_spark_has_it(text: str, relation: str) -> str:
    """The text with Spark's parameters, the view's name, and without the order inside of an average.

    >>> _as_spark_has_it("-- Means.\\nSELECT AVG(x ORDER BY y) FROM score WHERE z = $z;", "score")
    'SELECT AVG(x) FROM scorehouse_score WHERE z = :z'
    """
    body = "\n".join(line for line in text.splitlines() if not line.startswith("--")).rstrip().removesuffix(";")
    body = re.sub(rf"\bFROM {relation}\b", f"FROM {_PREFIX}{relation}", body)
    body = re.sub(r"(AVG\(.*) ORDER BY \w+\)", r"\1)", body)
    return re.sub(r"\$([a-z_]+)", r":\1", body)
