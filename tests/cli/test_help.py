"""Help: every command explains itself, and the examples it gives work."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from cli.hints import generated
from cli.main import COMMANDS
from tests.cli.running import Scorehouse, examples, refused
from tests.helpers import but_slow, tiny_layout, together
from tests.sharing import written
from tests.wording import NOT_OF_THE_FIELD
from warehouse import Warehouse, load

ROOT = Path(__file__).resolve().parents[2]


@together("name", COMMANDS)
def test_help_of_a_command_has_a_sentence_an_example_and_the_field_s_words(name: str, scorehouse: Scorehouse) -> None:
    ran = scorehouse(name, "--help")
    assert ran.code == 0
    assert ran.err == ""
    lines = ran.out.splitlines()
    first = next(line for line in lines[lines.index("", 1) :] if line.strip())  # after the usage, which may be long
    assert first.startswith("  ")
    assert first.strip()[0].isupper()
    (example,) = examples(name)
    assert shlex.split(example)[0] == name
    assert f"Example: scorehouse {name}" in ran.out
    assert not re.search(r"\[\[|\{\{|\{\[", ran.out)
    text = " ".join(ran.out.split())
    assert "list[" not in text  # no type of Python's
    assert not NOT_OF_THE_FIELD.findall(text)
    assert "...}..." not in text
    page = lines[-1].removeprefix("Documentation: ")
    assert re.search(rf"\b{name}\b", (ROOT / page).read_text(encoding="utf-8"))


def test_the_program_s_help_has_a_whole_sentence_of_one_line_for_each_command(scorehouse: Scorehouse) -> None:
    summaries = generated()["summaries"]
    assert list(summaries) == list(COMMANDS)
    assert [
        text for text in summaries.values() if not (len(text) <= 60 and text.endswith(".") and ".." not in text)
    ] == []
    lines = scorehouse("--help").out.splitlines()
    assert [f"{name} {text}" for name, text in summaries.items() if f"{name} {text}" not in map(_joined, lines)] == []


def _joined(line: str) -> str:
    return " ".join(line.split())


SMALL = ("compute", "thresholds", "audit", "add", "remove", "diff", "export")
"""Commands that write, or take long on many systems, and whose example names no metric of the simulated task."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A warehouse with the tiny task under a name of the simulated one."""
    folder = tmp_path_factory.mktemp("small")
    report = load([tiny_layout(folder, testset="sim24")], folder / "small.duckdb")
    assert report.is_clean, report.faults
    return (folder / "small.duckdb").read_bytes()


DEAR = {"audit", "explore", "load", "noise", "plan", "protocol", "report", "trend", *SMALL}


@pytest.mark.parametrize("name", but_slow(DEAR, (name for name in COMMANDS if name != "demo")))
def test_the_example_of_a_command_works(
    name: str, scorehouse: Scorehouse, small: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "own.duckdb"
    if name == "load" or name in SMALL:
        monkeypatch.setenv("SCOREHOUSE_DB", str(own))
    if name == "load":
        tiny_layout(tmp_path / "shared-task", testset="sim24")
    if name in SMALL:
        written(own, small)
    if name == "add":
        _own_scores(own, tmp_path / "own")
    if name == "diff":
        shutil.copy(own, "before.duckdb")
        shutil.copy(own, "after.duckdb")
    (example,) = examples(name)
    ran = scorehouse(*shlex.split(example))
    assert ran.code == 0, ran.err
    page = {"report": "report.html", "explore": "page.html"}.get(name)
    assert ran.out or (page is not None and (tmp_path / page).stat().st_size)


def _own_scores(database: Path, folder: Path) -> None:
    """Scores of a metric of one's own for sim24 en-de, in the organisers' form."""
    with Warehouse.open(database) as warehouse:
        cells = warehouse.rows(
            """
            SELECT system, value FROM scores
            WHERE testset = 'sim24' AND lp = 'en-de' AND metric = 'Rough-refA'
            ORDER BY system, segment
            """
        )
    assert cells
    folder.mkdir()
    lines = [f"{system}\t{value}\n" for system, value in cells]
    (folder / "en-de.MyMetric.seg.score").write_text("".join(lines))


def test_the_example_of_the_demo_is_the_demo_itself() -> None:
    assert examples("demo") == ["demo"]  # its own tests run it


@together("words", [["--help"], ["-h"], []])
def test_help_names_every_command(words: list[str], scorehouse: Scorehouse) -> None:
    ran = scorehouse(*words)
    assert ran.code == (0 if words else 2)
    assert ran.err == ""
    for name in COMMANDS:
        assert re.search(rf"^  {name}\s", ran.out, re.MULTILINE)


@together("name", ["compare", "report"])
def test_help_says_how_large_a_number_may_be(name: str, scorehouse: Scorehouse) -> None:
    assert "Number of resamples, from 1 to 1,000,000." in scorehouse(name, "--help").out


def test_the_version_is_a_line_of_its_own(scorehouse: Scorehouse) -> None:
    ran = scorehouse("--version")
    assert (ran.code, ran.err) == (0, "")
    assert re.fullmatch(r"scorehouse \d+\.\d+\.\d+\n", ran.out)


@together(
    ("words", "hints"),
    [
        (["rnk"], ["'rnk'", "did you mean 'rank'"]),
        (["rank", "sim24", "en-de", "--measures", "pa"], ["--measures", "--measure"]),
        (["rank"], ["TESTSET", "scorehouse rank --help"]),
        (["list", "metric"], ["'metric'", "'metrics'"]),
        (["list", "testsets", "sim24", "en-de"], ["without a language pair"]),
        (["list", "measures", "sim24"], ["the same for all test sets"]),
        (["rank", "sim24", "en-de", "--format", "xml"], ["xml", "latex"]),
        (["rank", "sim24", "en-de", "--format", "tabel"], ["did you mean 'table'"]),
        (["counts", "sim24", "en-de", "--by", "document"], ["document", "item"]),
        (["load"], ["load needs PATHS", "scorehouse load --help"]),
    ],
)
def test_a_wrong_command_line_is_one_line_with_a_hint(
    words: list[str], hints: list[str], scorehouse: Scorehouse
) -> None:
    refused(scorehouse(*words), 2, *hints)
