"""Advice names only options that the command has; the fixture `scorehouse` looks at every line of every test."""

import ast
import re
from pathlib import Path

import pytest

from cli.hints import generated, options_of
from cli.main import COMMANDS, exit_code, program
from docs.generate import commands
from tests import sharing
from tests.cli.running import Scorehouse, foreign_options, refused
from tests.helpers import LP, TESTSET, tiny_bytes, together

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


@together(
    ("words", "line", "found"),
    [
        (
            ("protocol", "wmt24"),
            "1 metric is excluded (added by a user (included by --user-metrics))",
            ["protocol: --user-metrics"],
        ),
        (("rank", "sim24", "en-de"), "added by a user (included by --user-metrics)", []),
        (("means", "sim24", "en-de"), "no metric is left (rank --explain lists all)", []),
        (("means", "sim24", "en-de"), "no metric is left (rank --nothing lists all)", ["rank: --nothing"]),
        (("means", "sim24", "en-de"), "`scorehouse protocol wmt24 --on sim24` ranks it", []),
        (
            ("means", "sim24", "en-de"),
            "`scorehouse protocol wmt24 --user-metrics` ranks it",
            ["protocol: --user-metrics"],
        ),
        (("means", "--nothing"), "means has no option --nothing", []),
    ],
)
def test_options_that_a_command_does_not_have_are_found(words: tuple[str, ...], line: str, found: list[str]) -> None:
    assert foreign_options(words, line) == found


@pytest.mark.slow
def test_a_protocol_names_no_option_that_includes_metrics_of_ones_own(
    scorehouse: Scorehouse, own_database: Path
) -> None:
    ran = scorehouse("--db", own_database, "protocol", "wmt24", "--on", TESTSET)
    assert "1 metric is excluded (added by a user); --verbose names it" in ran.notes


@pytest.mark.slow
def test_a_hint_is_shown_by_commands_that_have_its_option(scorehouse: Scorehouse, own_database: Path) -> None:
    words = ("scatter", TESTSET, LP, "Mine", "--intersection", "--kind", "reference-based")
    assert "(" not in refused(scorehouse("--db", own_database, *words), 2, "excluded: ")
    ran = scorehouse("--db", own_database, "rank", TESTSET, LP, "--explain", "--format", "json")
    assert "added by a user (included by --user-metrics)" in {row["reason"] for row in ran.json}


@pytest.mark.slow
def test_a_hint_of_an_error_is_shown_by_commands_that_have_its_option(
    own_database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As users start the program."""
    words = (TESTSET, LP, "--metrics", "Mine*")
    assert exit_code(["--db", str(own_database), "rank", *words]) == 2
    assert "added by a user (included by --user-metrics" in capsys.readouterr().err


@pytest.mark.slow
def test_a_file_to_rank_is_refused_without_advice_for_those_that_are_added(
    scorehouse: Scorehouse, own_database: Path, tmp_path: Path
) -> None:
    cut = tmp_path / "Other-src.seg.score"
    cut.write_text(ROWS.removesuffix("\n"))
    (line,) = scorehouse("--db", own_database, "rank", TESTSET, LP, "--with", cut).notes
    assert line.endswith(
        "the last line has no line feed; the file may be truncated, expected a line feed after the last line"
    )
    words = ("--metric", "Other", "--reference-free", "--testset", TESTSET, "--lp", LP)
    assert "--allow-unterminated" in scorehouse("--db", own_database, "add", cut, *words).err


ROOT = Path(__file__).parents[2]
BELOW = ("migrations", "warehouse", "queries", "metaeval")


def test_every_command_that_a_text_names_is_there() -> None:
    texts = [path.read_text("utf-8") for package in (*BELOW, "cli") for path in (ROOT / package).rglob("*.py")]
    named = {name for text in texts for name in re.findall(r"`scorehouse ([a-z][a-z-]*)", text)}
    assert len(named) > 10
    assert named <= {*COMMANDS}


def test_summaries_and_flags_are_written_down_as_commands_have_them() -> None:
    written = (ROOT / "cli" / "commands.json").read_text("utf-8")
    assert written == commands(), "run `python -m docs.generate`"


@together("package", BELOW)
def test_packages_below_the_command_line_spell_no_option(package: str) -> None:
    """They name it by `warehouse.wording.option`, also in what help shows; names of other programs' options aside."""
    paths = sorted(path.relative_to(ROOT) for path in (ROOT / package).rglob("*.py"))
    assert [word for path in paths for word in spelt_in((ROOT / path).read_text(encoding="utf-8"))] == []


def spelt_in(text: str) -> list[str]:
    """Options in the literals of a text, docstrings among them; questions have an example of their command."""
    if "--" not in text:
        return []
    constants = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
    texts = (value.partition("Example: scorehouse ")[0] for value in constants if isinstance(value, str))
    said = " ".join(texts)
    return re.findall(r"(?<![\w`-])--[a-z][a-z-]*", said)


def test_options_that_a_text_spells_are_found() -> None:
    assert spelt_in('"""Says --explain."""\nx = f"take --unit {y} of `--to_json`; -- no --"  # --comment') == [
        "--explain",
        "--unit",
    ]


_OF_THE_LIBRARY = re.compile(
    r"No such|Possible options|requires an|does not take|Got unexpected|Missing |Invalid value"
)
OPTIONAL_VALUES = {("rank", "--human"), ("correlations", "--human")}  # alone, it means all human scores


def _told(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert exit_code(words) == 2, words
    line = capsys.readouterr().err
    assert _OF_THE_LIBRARY.search(line) is None, line
    return line


@pytest.mark.slow
def test_an_unknown_option_is_answered_with_options_of_that_command_or_none(
    in_full: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every fifth option of any command, with --all every one, at each command that does not have it."""
    commands = program().commands
    own = {name: options_of(command) for name, command in commands.items()}
    renamed, every_option = generated()["renamed"], frozenset[str]().union(*own.values())
    for name, known in own.items():
        for word in sorted(every_option - known)[:: 1 if in_full else 5]:
            if not word.startswith("-") or any(one in known for one in renamed.get(word, ())):
                continue  # an argument; or said to have a new name
            line = _told([name, word], capsys)
            assert line.startswith(f"error: {name} has no option {word}"), line
            offered = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", line.partition(word)[2])) - {"--help"}
            assert offered <= known, line


@pytest.mark.slow
def test_an_option_that_is_misspelt_or_used_wrongly_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    for name, command in program().commands.items():
        known = options_of(command)
        for param in command.params:
            for word in param.opts if param.param_type_name == "option" and not param.hidden else ():
                if word[:-1] not in known and len(word) > 6 and word[:-1] not in generated()["renamed"]:
                    line = _told([name, word[:-1]], capsys)
                    assert re.search(rf"did you mean .*{word}\b", line), line
                if (name, word) in OPTIONAL_VALUES:
                    continue
                if not param.is_flag:
                    assert _told([name, word], capsys).startswith(f"error: {word}: expected a value")
                elif word.startswith("--"):
                    assert _told([name, f"{word}=1"], capsys).startswith(f"error: {word} takes no value")


def test_commands_and_arguments_that_are_unknown_or_missing_are_named_in_the_same_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert (
        _told(["rnk"], capsys) == "error: there is no command 'rnk'; did you mean 'rank'? (see `scorehouse --help`)\n"
    )
    assert _told(["xyz"], capsys) == "error: there is no command 'xyz' (see `scorehouse --help`)\n"
    assert "; use remove (see" in _told(["unload", "x"], capsys)
    assert "scorehouse has no option --measure; write it behind rank" in _told(["--measure", "pa", "rank"], capsys)
    for name, command in program().commands.items():
        if all(param.nargs != -1 for param in command.params if param.param_type_name == "argument"):
            _told([name, *("word" for _ in range(9))], capsys)
