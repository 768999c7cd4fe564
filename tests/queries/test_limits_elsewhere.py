"""Limits of a user's SQL on systems without /proc, such as macOS: what the system does not tell is not asked of it."""

import os
import sys
from pathlib import Path

import pytest

from queries import adhoc, adhoc_process, limits
from queries.limits import MARGIN, Request
from tests.sharing import empty_bytes
from warehouse import LimitError
from warehouse.errors import is_of_memory
from warehouse.wording import option

resource = pytest.importorskip("resource")


@pytest.fixture
def without_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a system that has no /proc."""
    monkeypatch.setattr(limits, "Path", lambda place: tmp_path / str(place).removeprefix("/"))


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> dict[int, tuple[int, int]]:
    """What a process asks to be refused; nothing is."""
    asked: dict[int, tuple[int, int]] = {}
    monkeypatch.setattr(resource, "setrlimit", asked.__setitem__)
    monkeypatch.setattr("queries.adhoc_process.signal.signal", lambda number, handler: None)
    monkeypatch.setattr(sys, "platform", "darwin")
    return asked


def _request(path: Path) -> Request:
    return Request(path, "SELECT 1", {}, 2.0, 10**9, 10**8, None, str(path), parent=os.getppid())


@pytest.mark.usefixtures("without_proc")
def test_memory_that_nobody_tells_is_none() -> None:
    assert limits.memory_in_use(os.getpid()) == 0
    assert limits.address_space(os.getpid()) == 0


@pytest.mark.usefixtures("without_proc")
def test_without_proc_time_and_files_are_limited_and_the_address_space_is_not(
    tmp_path: Path, limited: dict[int, tuple[int, int]]
) -> None:
    adhoc_process.limit_process(_request(tmp_path))
    assert limited.keys() == {resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_CPU}
    assert limited[resource.RLIMIT_FSIZE][0] <= 10**8 + MARGIN


def test_with_proc_the_address_space_is_limited_too(tmp_path: Path, limited: dict[int, tuple[int, int]]) -> None:
    if not limits.address_space(os.getpid()):
        pytest.skip("the system tells no address space")
    adhoc_process.limit_process(_request(tmp_path))
    assert resource.RLIMIT_AS in limited


@pytest.mark.usefixtures("without_proc")
def test_a_query_is_answered_where_nobody_tells_its_memory(tmp_path: Path) -> None:
    database = tmp_path / "w.duckdb"
    database.write_bytes(empty_bytes())
    assert adhoc.answer(database, "SELECT count(*) AS n FROM testsets").rows() == [(0,)]


@pytest.mark.parametrize(
    "words",
    [
        "out of memory",
        "failed to offload data block: max_temp_directory_size reached",
        *("MemoryError", "std::bad_alloc", "can't start new thread"),
    ],
)
def test_a_message_about_a_limit_names_its_option(words: str) -> None:
    errors = [adhoc_process._limit(words), adhoc._unexpected(-9, words)]
    if is_of_memory(words):
        errors.append(adhoc._unexpected(1, words))
    for error in errors:
        assert isinstance(error, LimitError)
        assert option("spill" if "max_temp" in words and error is errors[0] else "memory") in error.text
