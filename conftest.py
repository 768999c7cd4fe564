"""How tests run: properties without a clock, long tests when asked for, and at the end nothing of DuckDB is held."""

import gc
import itertools
import math
import os
import sys
from collections import defaultdict
from collections.abc import Generator, Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, settings

# Hundreds of processes of the tests would each compile all packages anew where no bytecode may be kept.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A busy machine is no bug. Other examples are drawn in each run, so that they add up to many.
settings.register_profile("project", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=30)
settings.register_profile("all", settings.get_profile("project"), max_examples=500)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all",
        action="store_true",
        default=os.environ.get("SCOREHOUSE_TEST_ALL", "0") not in ("", "0"),
        help="run the tests marked `long` too, and draw more examples of properties (SCOREHOUSE_TEST_ALL=1)",
    )


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("all" if config.getoption("--all") else "project")
    config.addinivalue_line("markers", "long(why): what takes minutes, with what it takes them for; `--all` runs it")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--all"):
        return
    for item in items:
        if (marker := item.get_closest_marker("long")) is not None:
            (why,) = marker.args
            item.add_marker(pytest.mark.skip(reason=f"--all runs it: {why}"))


def _cpu_seconds() -> float:
    """What this process and its ended children have used so far."""
    return math.fsum(os.times()[:4])


_used = {"before": 0.0}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note the CPU time since the report before: what workers wait for says nothing of what a test costs."""
    report = yield
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
    costs: dict[str, list[float]] = defaultdict(list)
    for report in itertools.chain.from_iterable(terminalreporter.stats.values()):
        if hasattr(report, "cpu_seconds"):
            costs[report.nodeid].append(report.cpu_seconds)
    terminalreporter.section("CPU time")
    terminalreporter.write_line(
        f"{_cpu_seconds():.0f} s; the dearest tests, with the fixtures that they were first to ask for:"
    )
    for test, parts in sorted(costs.items(), key=lambda item: -math.fsum(item[1]))[:10]:
        terminalreporter.write_line(f"{math.fsum(parts):7.1f} s  {test}")


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

    def noted(*args: Any, **options: Any) -> duckdb.DuckDBPyConnection:
        connection = connect(*args, **options)
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
