"""The program as a user runs it, in this process: what it writes to stdout and stderr, and how it ends."""

from pathlib import Path

import pytest

from cli.ending import run_program
from cli.main import program
from tests.cli.running import Ran, Scorehouse, foreign_options
from tests.sharing import Copies
from warehouse.wording import MARK


@pytest.fixture(scope="session")
def _copies(simulated_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Copies:
    return Copies(simulated_database, tmp_path_factory.mktemp("default"))


@pytest.fixture
def default_database(_copies: Copies) -> Path:
    """A copy of the simulated shared task: commands may store results in it."""
    return _copies.unchanged()


@pytest.fixture
def scorehouse(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, default_database: Path, tmp_path: Path
) -> Scorehouse:
    """Run the program with some words, on the simulated shared task unless they name another warehouse."""
    monkeypatch.setenv("SCOREHOUSE_DB", str(default_database))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def run(*words: object) -> Ran:
        capsys.readouterr()
        texts = [str(word) for word in words]
        code = run_program(program(), texts)
        written = capsys.readouterr()
        assert "Traceback" not in written.err
        assert MARK not in written.out
        assert f"\\x{ord(MARK):02x}" not in written.err
        assert [fault for line in written.err.splitlines() for fault in foreign_options(texts, line)] == []
        return Ran(int(code), written.out, written.err)

    return run
