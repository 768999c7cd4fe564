"""Advice names only options that the command has; the fixture `scorehouse` looks at every line of every test."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.ending import _FLAGS_OF_BEFORE, _command
from cli.hints import flag, options_of
from cli.main import COMMANDS, exit_code, program
from tests import sharing
from tests.cli.running import Scorehouse, foreign_options, refused
from tests.cli.running import options_of as words_of
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
        (("protocol", "wmt24"), "1 metric is excluded (added by a user (included by --own))", ["protocol: --own"]),
        (("rank", "sim24", "en-de"), "added by a user (included by --own)", []),
        (("means", "sim24", "en-de"), "no metric is left (rank --explain lists all)", []),
        (("means", "sim24", "en-de"), "no metric is left (rank --nothing lists all)", ["rank: --nothing"]),
        (("means", "sim24", "en-de"), "`scorehouse protocol wmt24 --on sim24` ranks it", []),
        (("means", "sim24", "en-de"), "`scorehouse protocol wmt24 --own` ranks it", ["protocol: --own"]),
        (("means", "--nothing"), "No such option: --nothing", []),
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
    words = ("scatter", TESTSET, LP, "Mine", "--intersection", "--kind", "reference-based")
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


@together("name", COMMANDS)
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


ROOT = Path(__file__).parents[2]
BELOW = ("migrations", "warehouse", "queries", "metaeval")
SPEAKING = (*BELOW, "cli")
OF_OWN = {"own_scores.py", "tool_outputs.py"}  # readers of one's own metrics alone, which no `load` asks


def literals(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of what a program can say, without docstrings; {} stands for what comes into a text."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    silent = {
        id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and _has_docstring(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            silent |= {id(part) for part in ast.walk(node)}
            yield node.lineno, "".join(map(_said, node.values))
        if isinstance(node, ast.Call) and id(node) not in silent and (named := _option(node)):
            yield node.lineno, named
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield node.lineno, node.value


def _said(part: ast.expr) -> str:
    """A part of a text; an option that it names as the command line spells it."""
    inside = part.value if isinstance(part, ast.FormattedValue) else part
    return str(inside.value) if isinstance(inside, ast.Constant) else _option(inside) or "{}"


def _option(node: ast.AST) -> str | None:
    """What `warehouse.wording.option` is called with, as the command line spells it."""
    if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "option"):
        return None
    name, value = (getattr(one, "value", None) for one in [*node.args, None][:2])
    return None if name is None else flag(str(name), None if value is None else str(value))


def _has_docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return bool(node.body) and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)


def speakers(path: Path) -> list[str]:
    """The commands that can say what stands in a file."""
    parts = path.parts
    if parts[0] == "cli":
        module = ".".join(path.with_suffix("").parts)
        return [name for name, command in COMMANDS.items() if command.__module__ == module] or list(COMMANDS)
    if parts[:2] == ("warehouse", "readers"):
        return ["add"] if path.name in OF_OWN else ["load"]
    return (
        ["load", "add", "rank"] if parts[:2] in (("warehouse", "loading"), ("warehouse", "staging")) else list(COMMANDS)
    )


def foreign(path: Path, text: str) -> list[str]:
    """Options in the literals of a file that no command has which can say them, or not the command named with them."""
    if path.match("commands/explore.py"):  # marimo's
        return []
    if "--" not in text and "option(" not in text:
        return []
    found = []
    for line, said in literals(ast.parse(text)):
        for word in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", said):
            if word in ("--help", *_FLAGS_OF_BEFORE) or any(word in words_of(name) for name in speakers(path)):
                continue
            named = {name for name in COMMANDS if re.search(rf"(?<![\w-]){name}(?![\w-])[^`;]*{word}(?![\w-])", said)}
            if not any(word in words_of(name) for name in named):
                found.append(f"{path}:{line}: {word}")
    return found


@together("package", SPEAKING)
def test_every_option_that_a_text_names_is_one_of_a_command_that_can_say_it(package: str) -> None:
    paths = sorted(path.relative_to(ROOT) for path in (ROOT / package).rglob("*.py"))
    assert [word for path in paths for word in foreign(path, (ROOT / path).read_text(encoding="utf-8"))] == []


def test_every_command_that_a_text_names_is_there() -> None:
    texts = [path.read_text("utf-8") for package in SPEAKING for path in (ROOT / package).rglob("*.py")]
    named = {name for text in texts for name in re.findall(r"`scorehouse ([a-z][a-z-]*)", text)}
    assert len(named) > 10
    assert named <= {*COMMANDS}


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


@together(
    ("place", "text", "found"),
    [
        ("warehouse/readers/long_table.py", 'x = "name it with --metric"', ["--metric"]),
        ("warehouse/readers/long_table.py", 'x = f"{a}: name it with --metric {b}"', ["--metric"]),
        ("warehouse/readers/long_table.py", "x = f\"name it with {option('metric', b)}\"", ["--metric"]),
        ("warehouse/readers/long_table.py", "x = option('metric')", ["--metric"]),
        ("warehouse/readers/long_table.py", "x = option('testset')", []),
        ("warehouse/readers/long_table.py", 'x = "`scorehouse add FILE --metric NAME` takes it"', []),
        ("warehouse/readers/long_table.py", 'x = "`scorehouse export FILE --metric NAME` takes it"', ["--metric"]),
        ("warehouse/readers/own_scores.py", 'x = "name it with --metric"', []),
        ("cli/commands/export.py", 'x = "see --nothing"', ["--nothing"]),
        ("metaeval/study.py", '"""Says --nothing."""', []),
    ],
)
def test_texts_with_foreign_options_are_found(place: str, text: str, found: list[str]) -> None:
    assert [line.rpartition(" ")[2] for line in foreign(Path(place), text)] == found
