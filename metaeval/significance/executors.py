"""Who computes: the threads of this machine, or a cluster of Dask or Spark."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from queries.spark import SparkExecutor, spark_session
from warehouse.errors import QuestionError
from warehouse.wording import option

if TYPE_CHECKING:
    from metaeval.significance.options import TestOptions

PATIENCE = 10  # seconds
_SPARK = ("spark://", "local[", "yarn", "k8s://")  # what Spark's masters begin with


@contextmanager
def executing(testing: "TestOptions", address: str | None) -> "Iterator[TestOptions]":
    """The options with the executor of a cluster, where one is named; in the end the connection is closed.

    address: of Dask's scheduler, or "local" for a cluster of processes on this machine; or Spark's master, such as
    "spark://host:7077" or "local[2]".
    Raises QuestionError: the extra is not installed, or nobody answers at the address.
    """
    if address is None:
        yield testing
        return
    if address.startswith(_SPARK):
        session = spark_session(address)
        try:
            with SparkExecutor(session) as executor:
                yield replace(testing, executor=executor)
        finally:
            session.stop()
        return
    with _client(address) as client:
        yield replace(testing, executor=client.get_executor())


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise QuestionError(
            f'{option("dask")} needs the dask extra: python3 -m pip install "scorehouse[dask]"'
        ) from error
    try:
        if address == "local":
            return Client(threads_per_worker=1, dashboard_address=None)  # type: ignore[no-untyped-call]
        return Client(address, timeout=PATIENCE)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise QuestionError(f"{option('dask')} {address}: no cluster answers there: {error}") from error
