"""A warehouse that scorehouse made with other versions of its libraries, DuckDB's above all, is as good as one of ours.

SCOREHOUSE_TEST_OTHER_PYTHON names the Python of another environment in which scorehouse is installed, from this source.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

OTHER = os.environ.get("SCOREHOUSE_TEST_OTHER_PYTHON", "")

pytestmark = pytest.mark.skipif(not OTHER, reason="SCOREHOUSE_TEST_OTHER_PYTHON names no other environment")

PROGRAM = "from cli.start import run; run()"
QUESTIONS = (
    ("list", "testsets"),
    ("rank", "sim24", "en-de", "-m", "spa"),
    ("audit", "sim24", "en-de", "--deep"),
    ("sql", "SELECT count(*) AS n, min(length) AS least FROM scored_segments WHERE testset = 'sim24' AND lp = 'en-de'"),
)
OWN = "SELECT testset, lp, system, segment, value AS score FROM scores WHERE testset = 'sim24' AND metric = 'Dice-src'"


def _run(python: str, database: Path, *words: object) -> str:
    """What a command prints, which must end well."""
    ran = subprocess.run(
        [python, "-c", PROGRAM, "--db", database, "-q", *map(str, words)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, (words, ran.stderr)
    return ran.stdout


@pytest.mark.parametrize(("makes", "asks"), [(OTHER, sys.executable), (sys.executable, OTHER)], ids=["theirs", "ours"])
def test_a_warehouse_of_other_versions_is_asked_and_written_to(makes: str, asks: str, tmp_path: Path) -> None:
    database, own = tmp_path / "a.duckdb", tmp_path / "own.csv"
    _run(makes, database, "demo", "--keep")
    _run(makes, database, "sql", OWN, "-o", own)
    for words in QUESTIONS:
        one, other = (json.loads(_run(python, database, *words, "--format", "json")) for python in (makes, asks))
        assert one == other, words
    _run(asks, database, "add", own, "--metric", "Mine", "--reference-free")
    n = "SELECT count(value) AS n FROM scores WHERE base_metric = 'Mine'"
    assert _run(makes, database, "sql", n) == _run(asks, database, "sql", n)
    _run(makes, database, "remove", "Mine")
    assert _run(asks, database, "sql", n, "--format", "csv").split() == ["n", "0"]
