"""Warehouses that many tests read: a simulated shared task, and the real scores if their files are there.

A file is loaded once in a session for all workers, an open warehouse is kept for one module: an open handle keeps other
ways of opening the same file (writing, or with limits) out of this process.
"""

import builtins
import hashlib
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import forking
from tests.helpers import beside_data, real_data
from tests.holding import warehouses_held
from tests.sharing import attach, copies_for_new_files, made_once
from warehouse import LoadReport, Warehouse, load
from warehouse.export import export
from warehouse.simulation import simulate_shared_task, write_shared_task
from warehouse.simulation.evalset import SimulatedEvalset

PACKAGES = ("migrations", "warehouse", "queries", "metaeval", "cli", "scorehouse")


@pytest.fixture(scope="session", autouse=True)
def no_sums_of_floats() -> Iterator[None]:
    """The builtin sum of floats differs between versions of Python: the five packages call math.fsum or numpy."""
    builtin = builtins.sum

    def checked(values: Iterable[Any], /, start: Any = 0) -> Any:
        summed = list(values)
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if caller.partition(".")[0] in PACKAGES:
            assert not any(isinstance(value, float) for value in (start, *summed)), f"a sum of floats in {caller}"
        return builtin(summed, start)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builtins, "sum", checked)
        yield


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the program keeps in the user's cache folder stays within the tests, which share it."""
    root = tmp_path_factory.getbasetemp()
    root = root.parent if os.environ.get("PYTEST_XDIST_WORKER") else root
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(root / "cache"))
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_new_files() -> Iterator[None]:
    """Tests begin new warehouse files as copies; those of the migrations and of whole shared tasks do not."""
    with pytest.MonkeyPatch.context() as patch, copies_for_new_files(True):
        patch.setattr("warehouse.database.updating.attach", attach)
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_openings() -> Iterator[None]:
    """The warehouse used last stays open until it is opened in another way."""
    if sys.platform != "linux":  # elsewhere a file that is open cannot be removed
        yield
        return
    with warehouses_held():
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_processes() -> Iterator[None]:
    """Processes of queries begin as copies of one of each worker; see `own_processes`."""
    if sys.platform != "linux":
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("queries.adhoc.subprocess", forking)
        yield
    forking.end()


@pytest.fixture
def own_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes of queries begin as they do for users."""
    monkeypatch.setattr("queries.adhoc.subprocess", subprocess)


@pytest.fixture(scope="session")
def in_full(request: pytest.FixtureRequest) -> bool:
    """Whether sweeps take all cases, as with `--all`, and not some of each class."""
    return bool(request.config.getoption("--all"))


@pytest.fixture(scope="session")
def simulated_task() -> tuple[SimulatedEvalset, ...]:
    """The simulated evaluation sets with their truth."""
    return simulate_shared_task()


def _digest(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


def _load(source: Path, database: Path) -> None:
    with copies_for_new_files(False):
        report = load([source], database)
    assert report.is_clean, report.faults
    database.with_suffix(".report").write_bytes(pickle.dumps(report))


@pytest.fixture(scope="session")
def simulated_database(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A warehouse file with the simulated shared task; read it only: at the end it must hold what it held."""

    def make(folder: Path) -> None:
        write_shared_task(folder / "task", request.getfixturevalue("simulated_task"))
        _load(folder / "task", folder / "simulated.duckdb")

    database = made_once(tmp_path_factory, "simulated", make) / "simulated.duckdb"
    before = _digest(database)
    yield database
    assert _digest(database) == before, "a test wrote into it"


@pytest.fixture(scope="session")
def exported_evalsets(simulated_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of Parquet with three evaluation sets, two years of one language pair and one of another."""

    def make(folder: Path) -> None:
        own = shutil.copyfile(simulated_database, folder / "own.duckdb")  # other tests may hold the shared file open
        for testset, lp in (("sim24", "cs-uk"), ("sim24", "en-de"), ("sim23", "en-de")):
            export(own, folder / "scores", "parquet", testset, lp)

    return made_once(tmp_path_factory, "exported_evalsets", make) / "scores"


@pytest.fixture(scope="module")
def simulated_warehouse(simulated_database: Path) -> Iterator[Warehouse]:
    with Warehouse.open(simulated_database) as warehouse:
        yield warehouse


@pytest.fixture(scope="session")
def wmt23_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse file with the real WMT23; read it only."""
    files = real_data("mt-metrics-eval-v2", "wmt23")
    return made_once(tmp_path_factory, "wmt23", lambda folder: _load(files, folder / "wmt23.duckdb")) / "wmt23.duckdb"


@pytest.fixture(scope="module")
def wmt23_warehouse(wmt23_database: Path) -> Iterator[Warehouse]:
    with Warehouse.open(wmt23_database) as warehouse:
        yield warehouse


@pytest.fixture(scope="session")
def real_load(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, LoadReport]:
    """A warehouse file with all real files, and the report of their load; read it only."""
    return _loaded_once(tmp_path_factory, "everything", real_data())


@pytest.fixture(scope="session")
def further_load(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, LoadReport]:
    """The same for all further data."""
    return _loaded_once(tmp_path_factory, "further", beside_data("more"))


def _loaded_once(factory: pytest.TempPathFactory, name: str, data: Path) -> tuple[Path, LoadReport]:
    def make(folder: Path) -> None:
        with copies_for_new_files(False):
            report = load([data], folder / "scores.duckdb")
        (folder / "report").write_bytes(pickle.dumps(report))

    folder = made_once(factory, name, make)
    report = pickle.loads((folder / "report").read_bytes())
    assert isinstance(report, LoadReport)
    return folder / "scores.duckdb", report
