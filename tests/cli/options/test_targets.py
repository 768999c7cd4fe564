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
from tests.cli.words import SLICE
from tests.helpers import together

AS_TEXT = ("--format", "csv")
RANK = ("rank", *SLICE, "-m", "pa")


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


def test_no_output_takes_the_place_of_the_warehouse_or_of_another(
    scorehouse: Scorehouse, database: Path, tmp_path: Path
) -> None:
    """What every command with outputs does, before it computes."""
    before = database.read_bytes()
    link = tmp_path / "link.csv"
    link.symlink_to(database)
    for target in (database, link, Path(os.path.relpath(database))):
        line = refused(scorehouse("--db", database, *RANK, "-o", target, *AS_TEXT), 2)
        assert line == f"error: -o {target}: it is the warehouse"
    line = refused(scorehouse("--db", database, *RANK, "--chart", database), 2)
    assert line == f"error: --chart {database}: it is the warehouse"
    assert _is_unchanged(database, before)
    both = tmp_path / "both.json"
    assert refused(scorehouse(*RANK, "--chart", both, "-o", both), 2) == "error: -o and --chart name one file"
    assert not both.exists()


@together("words", [(*RANK, *AS_TEXT), ("report", "sim24")])
def test_no_database_is_written_over(
    words: tuple[str, ...], scorehouse: Scorehouse, default_database: Path, tmp_path: Path
) -> None:
    other = Path(shutil.copy(default_database, tmp_path / "other.duckdb"))
    before = other.read_bytes()
    assert refused(scorehouse(*words, "-o", other), 2) == f"error: can't write '{other}': it is a database"
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


@pytest.mark.slow
def test_a_new_file_below_a_folder_that_is_read_is_written(scorehouse: Scorehouse, tmp_path: Path) -> None:
    exported = tmp_path / "exported"
    assert scorehouse("export", exported, *SLICE).code == 0
    target = tmp_path / "means.csv"
    assert scorehouse("means", *SLICE, "--from", exported, "-o", target).code == 0
    assert scorehouse("means", *SLICE, "--from", exported, "-o", target).code == 0  # again, over the old one
