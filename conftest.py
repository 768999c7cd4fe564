"""How tests run: properties without a clock, long tests when asked for, and at the end nothing of DuckDB is held."""

import gc
import os
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, settings

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
    gc.callbacks[:] = [call for call in gc.callbacks if not str(call.__module__).startswith("hypothesis.")]
