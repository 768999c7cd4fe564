"""Advice names only options that the command has; the fixture `scorehouse` looks at every line of every test."""

from pathlib import Path

import pytest

from cli.ending import _command
from cli.hints import options_of
from cli.main import COMMANDS, exit_code, program
from tests import sharing
from tests.cli.running import Scorehouse, foreign_options, refused
from tests.helpers import LP, TESTSET, tiny_bytes

ROWS = "".join(f"{system}\t{value}\n" for system in ("Ash", "Beech", "Cherry") for value in range(5))


@pytest.fixture
def own_database(scorehouse: Scorehouse, tmp_path: Path) -> Path:
    """The tiny task with a metric of one's own."""
    database = sharing.written(tmp_path / "tiny.duckdb", tiny_bytes())
    own = tmp_path / "Mine.seg.score"
    own.write_text(ROWS)
    words = ("--metric", "Mine", "--reference-free", "--testset", TESTSET, "--lp", LP)
    assert scorehouse("--db", database, "add", own, *words).code == 0
    return database


@pytest.mark.parametrize(
    ("words", "line", "found"),
    [
        (("protocol", "wmt24"), "1 metric is excluded (added by a user (included by --own))", ["protocol: --own"]),
        (("rank", "sim24", "en-de"), "added by a user (included by --own)", []),
        (("ties", "sim24", "en-de"), "no metric is left (rank --explain lists all)", []),
        (("ties", "sim24", "en-de"), "no metric is left (rank --nothing lists all)", ["rank: --nothing"]),
        (("ties", "sim24", "en-de"), "`scorehouse protocol wmt24 --on sim24` ranks it", []),
        (("ties", "sim24", "en-de"), "`scorehouse protocol wmt24 --own` ranks it", ["protocol: --own"]),
        (("ties", "--nothing"), "No such option: --nothing", []),
    ],
)
def test_options_that_a_command_does_not_have_are_found(words: tuple[str, ...], line: str, found: list[str]) -> None:
    assert foreign_options(words, line) == found


def test_a_protocol_names_no_option_that_includes_metrics_of_ones_own(
    scorehouse: Scorehouse, own_database: Path
) -> None:
    ran = scorehouse("--db", own_database, "protocol", "wmt24", "--on", TESTSET)
    assert "1 metric is excluded (added by a user); --verbose names it" in ran.notes


def test_a_hint_is_shown_by_commands_that_have_its_option(scorehouse: Scorehouse, own_database: Path) -> None:
    words = ("scatter", TESTSET, LP, "Mine", "--intersection", "--reference-based")
    assert "(" not in refused(scorehouse("--db", own_database, *words), 2, "excluded: ")
    ran = scorehouse("--db", own_database, "rank", TESTSET, LP, "--explain", "--format", "json")
    assert "added by a user (included by --own)" in {row["reason"] for row in ran.json}


def test_a_hint_of_an_error_is_shown_by_commands_that_have_its_option(
    own_database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As users start the program."""
    words = (TESTSET, LP, "--metrics", "Mine*")
    assert exit_code(["--db", str(own_database), "rank", *words]) == 2
    assert "added by a user (included by --own" in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_the_options_of_a_command_are_known(name: str) -> None:
    found = options_of(_command(program([name]), ["-q", name]))
    assert "--db" in found
    assert "--help" not in found


@pytest.mark.slow
def test_a_file_to_rank_is_refused_without_advice_for_those_that_are_added(
    scorehouse: Scorehouse, own_database: Path, tmp_path: Path
) -> None:
    cut = tmp_path / "Other-src.seg.score"
    cut.write_text(ROWS.removesuffix("\n"))
    (line,) = scorehouse("--db", own_database, "rank", TESTSET, LP, "--with", cut).notes
    assert line.endswith(
        "the last line has no end, so that the file may be cut, expected a line feed after the last line"
    )
    words = ("--metric", "Other", "--reference-free", "--testset", TESTSET, "--lp", LP)
    assert "--allow-unterminated" in scorehouse("--db", own_database, "add", cut, *words).err
