"""How metrics are tested against each other, and who computes: threads, or a cluster of Dask or Spark."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Thread
from types import MappingProxyType
from typing import Any

from metaeval.kernels.resampling.bootstrap import IntervalMethod, Resample
from metaeval.kernels.resampling.clusters import Correction
from metaeval.kernels.resampling.draws import BLOCK, Alternative
from metaeval.kernels.resampling.permutation import BLOCKS_BETWEEN_LOOKS
from metaeval.measures.applicable import BY_UNIT, PERMUTATIONS
from metaeval.options import Population, Test, Unit
from warehouse.errors import QuestionError
from warehouse.wording import counted, option

SMALLEST = 1e-300  # an exact p below this underflows to 0
FIRST_LOOK = BLOCKS_BETWEEN_LOOKS * BLOCK  # draws before an early stop looks for the first time


@dataclass(frozen=True)
class TestOptions:
    """How metrics are tested against each other.

    test: None = one that holds its level for the population. population: what the answer generalises to; None = what
        the test is for, or the measure's own (`Measure.default_population`). alternative: None = two-sided, in
        protocols the organisers' "greater". draws: resamples. plus_one: (b+1)/(n+1) p-values, mid_p: resamples that
        tie with the data count half (None = for measures that take few values, where no test is named), early_stop:
        early stopping; all three of permutation tests.
        unit: what is swapped, resampled or left out (None = documents where there are at least 10, else segments; in
        protocols segments).
        legacy_df, absolute: of Williams' test.
        resample, interval: what the intervals of two metrics resample (None = what the population says is new), and
        how they are made ("percentile", "normal" or "centred"; None = the test's own, else the measure's).
        keep_null: keep the drawn differences. executor, n_threads: who computes; the numbers do not depend on it, and
        options that differ in nothing else are equal.
    """

    __test__ = False  # the name begins with "Test", but it is no test

    test: Test | None = None
    population: Population | None = None
    alternative: Alternative | None = None
    draws: int = 1000
    alpha: float = 0.05
    correction: Correction = "none"
    plus_one: bool = False
    mid_p: bool | None = None
    early_stop: bool = False
    unit: Unit | None = None
    legacy_df: bool = False
    absolute: bool = False
    resample: Resample | None = None
    interval: IntervalMethod | None = None
    keep_null: bool = False
    executor: Executor | None = field(default=None, compare=False)
    n_threads: int | None = field(default=None, compare=False)

    @property
    def side(self) -> Alternative:
        """The alternative hypothesis: two-sided unless another is named."""
        return self.alternative or "two-sided"

    def check(self) -> None:
        """Raises QuestionError: a number out of its range."""
        if not 0 < self.alpha < 1:
            raise QuestionError(f"alpha {self.alpha}: expected a number between 0 and 1")
        if self.early_stop and self.keep_null:
            raise QuestionError("early stopping leaves no complete null distribution to keep")

    def check_fit(self, tests: Sequence[Test]) -> None:
        """Raises QuestionError: something is asked for that none of the tests has."""
        there = dict.fromkeys(tests)
        for name, applicable in _SETTINGS.items():
            is_asked = self.unit == "document" if name == "unit" else getattr(self, name)
            if is_asked and not set(applicable) & set(there):
                asked = "unit document" if name == "unit" else name.replace("_", " ")
                raise QuestionError(f"{asked} goes with {' or '.join(applicable)}, not with {' or '.join(there)}")

    def resolution(self, is_exact: bool) -> float:
        """What a p of 0 stands for: p below this number."""
        if is_exact:
            return SMALLEST
        return 1.0 / (min(self.draws, FIRST_LOOK) if self.early_stop else self.draws)

    def fitted(self, test: Test) -> "TestOptions":
        """These options for one test, without those that it has no use for."""
        unused = {name: getattr(TestOptions, name) for name, applicable in _SETTINGS.items() if test not in applicable}
        # where ties count whole, it is the same question whether that was said or is the default
        return replace(self, test=test, resample=None, interval=None, **{"mid_p": self.mid_p or None, **unused})


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
def executing(testing: TestOptions, address: str | None) -> Iterator[TestOptions]:
    """The options with the executor of a cluster, where one is named; in the end the connection is closed.

    address: of Dask's scheduler, or "local" for a cluster of processes on this machine; or Spark's master, such as
    "spark://host:7077" or "local[2]".
    Raises QuestionError: the extra is not installed, or nobody answers at the address.
    """
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
