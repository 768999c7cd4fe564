"""How tests run: properties without a clock, slow and long tests when asked for, and at the end nothing of DuckDB is
held."""

import gc
import itertools
import math
import os
import sys
from collections.abc import Generator, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, settings

# Hundreds of processes of the tests would each compile all packages anew where no bytecode may be kept.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A busy machine is no bug. Other examples are drawn in each run, so that they add up to many.
settings.register_profile("project", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=20)
settings.register_profile("all", settings.get_profile("project"), max_examples=500)

_KERNELS = "tests/metaeval/kernels/"
_of_a_core: dict[str, int] = {}  # how DuckDB is told of it: it counts all cores, and makes a thread for each


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--slow",
        action="store_true",
        default=os.environ.get("SCOREHOUSE_TEST_SLOW", "0") not in ("", "0"),
        help="run the tests marked `slow` too, as .ci/run does (SCOREHOUSE_TEST_SLOW=1)",
    )
    parser.addoption(
        "--all",
        action="store_true",
        default=os.environ.get("SCOREHOUSE_TEST_ALL", "0") not in ("", "0"),
        help="run the tests marked `slow` and `long` too, and draw more examples of properties (SCOREHOUSE_TEST_ALL=1)",
    )


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("all" if config.getoption("--all") else "project")
    _keep_to_a_core(config)
    config.addinivalue_line("markers", "slow: half a second or more, or all real files; `--slow` runs it, as CI does")
    config.addinivalue_line("markers", "long(why): what takes minutes, with what it takes them for; `--all` runs it")
    config.addinivalue_line("markers", "every(n): each n-th of many cases in each run, and all with `--all`")


@pytest.hookimpl(tryfirst=True)  # `-m slow` looks at the markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    _begin_the_middle_without_a_warehouse(items)
    for item in items:
        if {"real_load", "further_load", "wmt23_database"} & {*getattr(item, "fixturenames", ())}:
            item.add_marker(pytest.mark.slow)  # real files
    if config.getoption("--all"):
        return
    # to report a test as skipped costs what a quick test costs, and there are as many
    left_out = {"long"} if config.getoption("--slow") else {"long", "slow"}
    chosen = {item: _is_taken(item) and not left_out & {mark.name for mark in item.iter_markers()} for item in items}
    config.hook.pytest_deselected(items=[item for item in items if not chosen[item]])
    items[:] = [item for item in items if chosen[item]]


def pytest_report_header(config: pytest.Config) -> str:
    if config.getoption("--all"):
        return "tests: all"
    return (
        f"tests: {'those marked slow too' if config.getoption('--slow') else 'the quick ones; --slow runs the others'}"
    )


def _is_taken(item: pytest.Item) -> bool:
    """Whether a case is among those of each run: axes are gone through aslant, as by `tests.helpers.sampled`."""
    if (every := item.get_closest_marker("every")) is None:
        return True
    (n,) = every.args
    places: dict[str, int] = item.callspec.indices  # type: ignore[attr-defined]
    axes = [mark.args[0] for mark in item.iter_markers("parametrize")]
    firsts = [(axis.split(",") if isinstance(axis, str) else axis)[0].strip() for axis in axes]
    return sum(places[first] for first in firsts) % n == 0


def _begin_the_middle_without_a_warehouse(items: list[pytest.Item]) -> None:
    """Two workers begin with the first test and the one in the middle: one makes the shared warehouse, the other need
    not wait for it while it tests kernels."""
    kernels = [item for item in items if _KERNELS in item.nodeid]
    others = [item for item in items if _KERNELS not in item.nodeid]
    middle = len(items) // 2
    items[:] = [*others[:middle], *kernels, *others[middle:]]


def _keep_to_a_core(config: pytest.Config) -> None:
    """Each of as many workers as there are cores keeps to its own where all data are tiny: threads of DuckDB would only
    wait for each other. With `--slow` or `--all`, where real data are, questions are answered by all threads."""
    from tests.helpers import data_folder  # it imports our packages, whose bytecode is kept from here on

    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    is_thorough = config.getoption("--all") or (config.getoption("--slow") and data_folder().exists())
    if not worker or is_thorough or not hasattr(os, "sched_setaffinity"):
        return
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) == int(os.environ["PYTEST_XDIST_WORKER_COUNT"]):
        os.sched_setaffinity(0, {cores[int(worker.removeprefix("gw")) % len(cores)]})
        _of_a_core["threads"] = 1


def _cpu_seconds() -> float:
    """What this process and its ended children have used so far."""
    return math.fsum(os.times()[:4])


_used = {"before": 0.0}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note the CPU time since the test before: what workers wait for says nothing of what a test costs."""
    report = yield
    if call.when == "teardown":
        now = _cpu_seconds()
        report.cpu_seconds = now - _used["before"]  # type: ignore[attr-defined]  # goes to the process that reports
        _used["before"] = now
    return report


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: the collector of garbage need not look through it again."""
    gc.collect()
    gc.freeze()
    _used["before"] = _cpu_seconds()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the run cost, and the tests that cost most: a suite grows slow one test at a time."""
    reports = itertools.chain.from_iterable(terminalreporter.stats.values())
    costs = {report.nodeid: report.cpu_seconds for report in reports if hasattr(report, "cpu_seconds")}
    terminalreporter.section("CPU time")
    terminalreporter.write_line(
        f"{_cpu_seconds():.0f} s; the dearest tests, with the fixtures that they were first to ask for:"
    )
    for test, seconds in sorted(costs.items(), key=lambda item: -item[1])[:10]:
        terminalreporter.write_line(f"{seconds:7.1f} s  {test}")


def _is_open(connection: duckdb.DuckDBPyConnection) -> bool:
    try:
        connection.execute("SELECT 1")
    except duckdb.ConnectionException:
        return False
    return True


@pytest.fixture(scope="session", autouse=True)
def connections_end(request: pytest.FixtureRequest) -> Iterator[None]:
    """At the end of a worker every connection of DuckDB is closed, or the tests are named that opened one."""
    opened_in: dict[int, str] = {}
    connect = duckdb.connect

    def noted(
        *args: Any, config: Mapping[str, Any] = MappingProxyType({}), **options: Any
    ) -> duckdb.DuckDBPyConnection:
        connection = connect(*args, config={**_of_a_core, **config}, **options)
        opened_in[id(connection)] = os.environ.get("PYTEST_CURRENT_TEST", "?")
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duckdb, "connect", noted)
        yield
    if not request.session.testsfailed:  # a failed test's frames hold what it had
        gc.collect()
        held = [thing for thing in gc.get_objects() if isinstance(thing, duckdb.DuckDBPyConnection)]
        never_closed = sorted({opened_in.get(id(one), "a cursor") for one in held if _is_open(one)})
        assert never_closed == []


def pytest_unconfigure() -> None:
    """Take Hypothesis' clock off the garbage collector.

    Python frees the collector's callbacks after all else, and this one holds the whole session: its tests, and by the
    names that the examples in docstrings see, our modules and DuckDB, which then prints a page about leaks. A
    connection that is truly left open is found by `connections_end`.
    """
    gc.unfreeze()
    gc.callbacks[:] = [call for call in gc.callbacks if not str(call.__module__).startswith("hypothesis.")]
