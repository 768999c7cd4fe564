"""Who computes: the threads of this machine, or a Dask cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from warehouse.errors import QuestionError
from warehouse.wording import option

if TYPE_CHECKING:
    from metaeval.significance.options import TestOptions

PATIENCE = 10  # seconds


@contextmanager
def executing(testing: "TestOptions", address: str | None) -> "Iterator[TestOptions]":
    """The options with the executor of a Dask cluster, where one is named; in the end the connection is closed.

    Raises QuestionError: the extra is not installed, or nobody answers at the address.
    """
    if address is None:
        yield testing
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
        return Client(address, timeout=PATIENCE)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise QuestionError(f"{option('dask')} {address}: no cluster answers there: {error}") from error
