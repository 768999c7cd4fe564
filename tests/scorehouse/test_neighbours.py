"""Packages of others that have the names of ours are found at the start, and said in one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def _run(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), root])}
    return subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("place", ["cli/__init__.py", "queries.py"])
def test_a_package_in_the_place_of_ours_is_named_before_it_is_imported(tmp_path: Path, place: str) -> None:
    other = tmp_path / place
    other.parent.mkdir(exist_ok=True)
    other.write_text("raise RuntimeError('imported')", "utf-8")
    ran = _run(tmp_path, "from scorehouse.start import run; run()")
    assert ran.returncode == 4
    (line,) = ran.stderr.splitlines()
    assert line.startswith("error: ")
    assert "stands in the place of the package" in line
    assert "environment of its own" in line
    assert "ImportError" in _run(tmp_path, "import scorehouse; scorehouse.open").stderr
