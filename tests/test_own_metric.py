"""The tutorial of one's own metric, command by command: what it shows is what there is to see."""

import contextlib
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cli.main import COMMANDS, exit_code
from warehouse import Warehouse

PAGE = Path(__file__).resolve().parents[1] / "docs" / "rank-my-metric.md"
BLOCK = re.compile(r"```(sh|python|text)\n(.*?)```", re.DOTALL)


def _run(line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """What a line of the shell writes to stdout."""
    command, _, target = line.partition(" > ")
    words = shlex.split(command)
    if words[0] == "export":
        monkeypatch.setenv(*words[1].split("=", 1))
        return ""
    if words[0] == "python3":
        ran = subprocess.run([sys.executable, *words[1:]], capture_output=True, check=True)
        Path(target).write_bytes(ran.stdout)
        return ""
    assert words[0] == "scorehouse"
    assert words[1] in COMMANDS
    capsys.readouterr()
    assert exit_code(words[1:]) == 0, line
    return capsys.readouterr().out


def _table(text: str) -> list[dict[str, str]]:
    """The rows of a table below its sentence, without its clusters, which are raised, by column."""
    sentence, *lines = text.splitlines()
    assert sentence.startswith("MyMetric-refA ranks first ")
    header, _, *rows = (re.split(r" {2,}", re.sub(" ?[⁰¹²³⁴⁵⁶⁷⁸⁹]", "", line).strip()) for line in lines)
    return [dict(zip(header, row, strict=True)) for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize(
    "with_clusters",
    [False, pytest.param(True, marks=pytest.mark.long("1000 permutations for all pairs of metrics: 10 seconds"))],
)
def test_the_tutorial_works_command_by_command(
    with_clusters: bool,
    simulated_database: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`demo --keep` is left to the tests of the demo: its warehouse is the simulated task."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCOREHOUSE_DB", raising=False)
    shutil.copy(simulated_database, "demo.duckdb")
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    lines = [line for kind, text in blocks if kind == "sh" for line in text.splitlines()]
    assert lines[0] == "scorehouse demo --keep"
    assert [line.split()[1] for line in lines if line.startswith("scorehouse")][1:4] == ["export", "add", "rank"]
    out = ""
    for kind, text in blocks:
        if kind == "python":
            Path("my_metric.py").write_text(text, encoding="utf-8")
        elif kind == "sh":
            for line in text.splitlines():
                shown = line if with_clusters else line.removesuffix(" --significance")
                out = out if line == lines[0] else _run(shown, capsys, monkeypatch)
        elif text.startswith("texts/"):
            written = {path.as_posix() for path in Path("texts").rglob("*") if path.is_file()}
            shown = [line.split()[0].replace("SYSTEM", "*") for line in text.splitlines()]
            found = {path.as_posix() for pattern in shown for path in Path().glob(pattern)}
            assert found == written
        elif with_clusters:
            assert out == text
        else:
            assert _table(out) == _table(text)
            assert len(out.splitlines()) == len(text.splitlines()) > 5
    assert Path("my-metric.html").stat().st_size > 10_000
    with contextlib.closing(Warehouse.open("demo.duckdb")) as warehouse:
        assert warehouse.rows("SELECT metric FROM metrics WHERE is_own") == []
