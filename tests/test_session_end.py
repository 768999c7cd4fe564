"""How a session of tests ends: without DuckDB's pages about leaks, also where a test failed or was never run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

TESTS = """
import duckdb
from hypothesis import given, strategies

@given(strategies.integers())
def test_property(number: int) -> None:
    assert number == number

def test_failure() -> None:
    connection = duckdb.connect()
    assert connection.execute("SELECT 1").fetchone() == (2,)
"""
EXAMPLE = """
import duckdb

def answer(connection: duckdb.DuckDBPyConnection) -> object:
    '''
    >>> answer(duckdb.connect())
    (1,)
    '''
    return connection.execute("SELECT 1").fetchone()
"""


@pytest.mark.long("a session of its own: 1 second")
def test_a_session_with_failures_and_tests_never_run_ends_without_a_page_about_leaks(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_one.py").write_text(TESTS)
    (tmp_path / "z_not_reached.py").write_text(EXAMPLE)
    words = ("-p", "conftest", "-p", "no:cacheprovider", "--doctest-modules", "-x", "-q", ".")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed, 1 passed" in done.stdout
    assert "leaked" not in done.stdout + done.stderr
