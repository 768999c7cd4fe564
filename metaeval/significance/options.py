"""How metrics are tested against each other, and who computes: threads, or a cluster of Dask or Spark."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from threading import Thread
from types import MappingProxyType
from typing import Any

from metaeval.kernels.resampling.draws import BLOCK
from metaeval.kernels.resampling.permutation import BLOCKS_BETWEEN_LOOKS
from metaeval.measures.applicable import BY_UNIT, PERMUTATIONS
from metaeval.options import Test, TestOptions
from warehouse.errors import QuestionError
from warehouse.wording import counted, option

SMALLEST = 1e-300  # an exact p below this underflows to 0
FIRST_LOOK = BLOCKS_BETWEEN_LOOKS * BLOCK  # draws before an early stop looks for the first time


def check_applicable(testing: TestOptions, tests: Sequence[Test]) -> None:
    """Raises QuestionError: something is requested that none of the tests has."""
    there = dict.fromkeys(tests)
    for name, applicable in _SETTINGS.items():
        is_asked = testing.unit in ("document", "annotator") if name == "unit" else getattr(testing, name)
        if is_asked and not set(applicable) & set(there):
            asked = f"unit {testing.unit}" if name == "unit" else name.replace("_", " ")
            raise QuestionError(f"{asked} goes with {' or '.join(applicable)}, not with {' or '.join(there)}")


def resolution_of(testing: TestOptions, is_exact: bool) -> float:
    """What a p of 0 stands for: p below this number."""
    if is_exact:
        return SMALLEST
    return 1.0 / (min(testing.resamples, FIRST_LOOK) if testing.early_stop else testing.resamples)


def fitted_to(testing: TestOptions, test: Test) -> TestOptions:
    """The options for one test, without those that it has no use for."""
    unused = {name: getattr(TestOptions, name) for name, applicable in _SETTINGS.items() if test not in applicable}
    # where ties count whole, it is the same question whether that was said or is the default
    return replace(
        testing,
        test=test,
        interval_over=None,
        interval=None,
        all_tests=False,
        **{"mid_p": testing.mid_p or None, **unused},
    )


_SETTINGS: Mapping[str, tuple[Test, ...]] = MappingProxyType(
    {
        "plus_one": PERMUTATIONS,
        "mid_p": PERMUTATIONS,
        "early_stop": PERMUTATIONS,
        "unit": BY_UNIT,
        "legacy_df": ("williams",),
        "absolute": ("williams",),
    }
)


def pairs_that_differ(n: int, of: str) -> str:
    """How many pairs differ significantly, in words. of: metrics, or systems.

    >>> pairs_that_differ(1, "metrics"), pairs_that_differ(12, "systems")
    ('1 pair of metrics differs significantly', '12 pairs of systems differ significantly')
    """
    return f"{counted(n, 'pair')} of {of} {'differs' if n == 1 else 'differ'} significantly"


PATIENCE = 10  # seconds
_SPARK = ("spark://", "local[", "yarn", "k8s://")  # what Spark's masters begin with


@contextmanager
def executing(testing: TestOptions) -> Iterator[TestOptions]:
    """The options with the executor of a cluster, where one is named; in the end the connection is closed.

    Its address is Dask's scheduler, or "local" for a cluster of processes on this machine; or Spark's master, such as
    "spark://host:7077" or "local[2]".
    Raises QuestionError: the extra is not installed, or the address does not answer.
    """
    address = testing.dask
    if address is None:
        yield testing
        return
    if address.startswith(_SPARK):
        from queries.spark import SparkExecutor, spark_session

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
    if address == "local":
        return Client(threads_per_worker=1, dashboard_address=None)  # type: ignore[no-untyped-call]
    try:
        client = _within(2 * PATIENCE, lambda: Client(address, timeout=PATIENCE))  # type: ignore[no-untyped-call]
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            client.close()
            raise TimeoutError("it has no workers") from None
        return client
    except (OSError, TimeoutError, ValueError) as error:
        raise QuestionError(f"{option('dask')} {address}: no cluster answers there: {error}") from error


def _within(seconds: float, act: Callable[[], Any]) -> Any:
    """What a function returns; it is left alone in its thread where it takes longer.

    Raises TimeoutError; what the function raises.
    """
    done: Future[Any] = Future()

    def run() -> None:
        try:
            done.set_result(act())
        except Exception as error:
            done.set_exception(error)

    Thread(target=run, daemon=True).start()
    try:
        return done.result(seconds)
    except TimeoutError:
        raise TimeoutError(f"no answer within {seconds:g} s") from None
