"""What others install: the wheel holds everything that the program needs, and works away from the checkout."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("cli", "metaeval", "migrations", "queries", "scorehouse", "warehouse")

pytestmark = pytest.mark.skipif(
    not os.environ.get("SCOREHOUSE_TEST_WHEEL"),
    reason="builds and installs for about a minute: SCOREHOUSE_TEST_WHEEL=1 runs it, as .ci/run does",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, check=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the programs of a fresh environment with the wheel and what it needs alone."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    pip = [sys.executable, "-m", "pip", "--python", str(programs / "python")]
    subprocess.run([*pip, "install", "--quiet", str(wheel)], check=True)
    return programs


def _run(programs: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "SCOREHOUSE_DB")}
    environment = {**kept, "XDG_DATA_HOME": str(folder)}
    command = [str(programs / words[0]), *words[1:]]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def _files_of_the_tree(*endings: str) -> set[str]:
    return {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.suffix in endings
    }


def test_the_wheel_holds_every_module_query_migration_fact_table_and_template(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert _files_of_the_tree(".py", ".sql", ".toml", ".csv", ".html", ".css", ".js") <= names
    assert {"cli/methods/agreement.md", "cli/methods/significance.md"} <= names
    assert "metaeval/studies/papers/printed/thompson-2024.csv" in names
    assert {f"{package}/py.typed" for package in PACKAGES} <= names


def test_the_wheel_holds_the_five_packages_and_the_licence_alone(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    others = {name for name in names if name.partition("/")[0] not in PACKAGES}
    assert all(re.match(r"scorehouse-[\d.]+\.dist-info/", name) for name in others), others
    assert any(name.endswith("licenses/LICENSE") for name in others)
    assert not [name for name in names if "__pycache__" in name or name.endswith((".duckdb", ".score"))]


def test_the_demo_runs_outside_the_checkout_without_what_developers_need(installed: Path, tmp_path: Path) -> None:
    done = _run(installed, tmp_path, "scorehouse", "demo")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("$ scorehouse ") >= 6
    assert "Traceback" not in done.stderr
    absent = _run(installed, tmp_path, "python", "-c", "import pytest")
    assert absent.returncode != 0


def test_the_installed_program_knows_its_version_and_types(installed: Path, tmp_path: Path) -> None:
    version = _run(installed, tmp_path, "scorehouse", "--version")
    assert re.fullmatch(r"scorehouse \d+\.\d+\.\d+\n", version.stdout)
    code = "import warehouse, metaeval, importlib.resources as r; print((r.files('warehouse') / 'py.typed').is_file())"
    assert _run(installed, tmp_path, "python", "-c", code).stdout == "True\n"
