"""No output takes the place of the warehouse, of what a command reads, or of another output."""

import inspect
import os
import shutil
from pathlib import Path
from typing import get_args

import pytest

from cli.main import COMMANDS
from cli.options import folding
from tests.cli.running import Scorehouse, refused
from tests.cli.words import SLICE, WORDS

WRITING = [name for name in COMMANDS if "output" in inspect.signature(COMMANDS[name]).parameters]
CHARTED = [name for name in COMMANDS if "chart" in inspect.signature(COMMANDS[name]).parameters]
AS_TEXT = {name: () if name == "report" else ("--format", "csv") for name in COMMANDS}


@pytest.fixture
def database(default_database: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(default_database, tmp_path / "mine.json"))  # as a chart may be called


def _is_unchanged(path: Path, before: bytes) -> bool:
    return path.read_bytes() == before


def test_every_parameter_that_is_a_path_is_known() -> None:
    known = {*folding._READ, *folding._WRITTEN, "db", "archive"}
    for command in COMMANDS:
        for name, one in inspect.signature(COMMANDS[command]).parameters.items():
            hint = (*get_args(one.annotation), None)[0]
            assert Path not in {hint, *get_args(hint)} or name in known, (command, name)


@pytest.mark.parametrize("command", WRITING)
def test_no_command_writes_over_its_warehouse(
    command: str, scorehouse: Scorehouse, database: Path, tmp_path: Path
) -> None:
    before = database.read_bytes()
    link = tmp_path / "link.csv"
    link.symlink_to(database)
    for target in (database, link, Path(os.path.relpath(database))):
        line = refused(scorehouse("--db", database, command, *WORDS[command], "-o", target, *AS_TEXT[command]), 2)
        assert line == f"error: -o {target}: it is the warehouse"
    assert _is_unchanged(database, before)


@pytest.mark.parametrize("command", CHARTED)
def test_no_chart_takes_the_place_of_the_warehouse_or_of_the_table(
    command: str, scorehouse: Scorehouse, database: Path, tmp_path: Path
) -> None:
    before = database.read_bytes()
    line = refused(scorehouse("--db", database, command, *WORDS[command], "--chart", database), 2)
    assert line == f"error: --chart {database}: it is the warehouse"
    assert _is_unchanged(database, before)
    both = tmp_path / "both.json"
    line = refused(scorehouse("--db", database, command, *WORDS[command], "--chart", both, "-o", both), 2)
    assert line == "error: -o and --chart name one file"
    assert not both.exists()


@pytest.mark.parametrize("words", [("rank", *SLICE, "-m", "pa"), ("list", "testsets"), ("report", "sim24")])
def test_no_database_is_written_over(
    words: tuple[str, ...], scorehouse: Scorehouse, default_database: Path, tmp_path: Path
) -> None:
    other = Path(shutil.copy(default_database, tmp_path / "other.duckdb"))
    before = other.read_bytes()
    line = refused(scorehouse(*words, "-o", other, *AS_TEXT[words[0]]), 2)
    assert line == f"error: can't write '{other}': it is a database"
    assert _is_unchanged(other, before)


def test_what_a_command_reads_is_not_written_over(
    scorehouse: Scorehouse, default_database: Path, tmp_path: Path
) -> None:
    query, scores, folder = tmp_path / "q.sql", tmp_path / "Own-refA.seg.score", tmp_path / "task"
    query.write_text("SELECT 1 AS one")
    scores.write_text("A\t1\n")
    folder.mkdir()
    (folder / "facts.csv").write_text("a\n")
    other = Path(shutil.copy(default_database, tmp_path / "other.duckdb"))
    for words, target in (
        (("sql", "-f", query), query),
        (("add", scores, "--metric", "Own"), scores),
        (("rank", *SLICE, "--with", scores), scores),
        (("load", folder), folder / "facts.csv"),
        (("diff", other), other),
        (("diff", default_database, other), other),
    ):
        before = target.read_bytes()
        line = refused(scorehouse(*words, "-o", target, "--format", "csv"), 2)
        assert line == f"error: -o {target}: the command reads it"
        assert _is_unchanged(target, before)


def test_a_new_file_below_a_folder_that_is_read_is_written(scorehouse: Scorehouse, tmp_path: Path) -> None:
    exported = tmp_path / "exported"
    assert scorehouse("export", exported, *SLICE).code == 0
    target = tmp_path / "means.csv"
    assert scorehouse("means", *SLICE, "--from", exported, "-o", target).code == 0
    assert scorehouse("means", *SLICE, "--from", exported, "-o", target).code == 0  # again, over the old one
