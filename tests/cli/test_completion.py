"""What completion offers, in the shells themselves: a name of a stranger's warehouse stays a word and runs nothing."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import duckdb
import pytest

from cli.ending import run_program
from cli.main import program
from cli.quoting import in_bash
from tests.helpers import metric_tables, tiny_layout
from tests.warehouse.building import loaded

NAMES = (
    *("A-22_x.1+refA", "b $(touch ran)", "c`touch ran`", "d e", "e'f", 'f"g', "g;touch ran", "h\\$(touch ran)", "i*"),
    *("j[noref]", "k!l", "l{a,b}", "m'$(touch ran)", 'n"$(touch ran)"', "o&touch ran", "p|touch ran", "q>ran", "r  s"),
    *("t (5-shot)", "u~", "v=$(touch ran)", "w\\", "x'\\''$(touch ran)", "y?[a]*\\*", "z#", "0:$(touch ran):b"),
)
"""Names that differ in their first letters."""
UNSEEN = ("1\ntouch ran", "2\ttouch ran", "3\x1b[2J", "4\u202ex", "--output=ran", "-oran")
"""Names that are not offered."""
_LINE = "scorehouse rank tiny24 en-de --metrics "
_START: Mapping[str, tuple[str, str]] = {
    "bash": ("bash --norc --noprofile -i", "source ./script"),
    "zsh": ("zsh -f -i", "autoload -U compinit; compinit -u -D; source ./script"),
    "fish": ("fish --no-config -i", "source ./script"),
}
_ON_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""
_SCOREHOUSE = """#!/bin/sh
if [ -n "$_SCOREHOUSE_COMPLETE" ]; then
    line="${COMP_WORDS:-$_TYPER_COMPLETE_ARGS}"
    exec cat "./offers/${line##*[[:space:]]}"
fi
for word; do :; done
printf '%s\\0' "$word" >> ./words
"""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of such names."""
    folder, table = tmp_path_factory.mktemp("names"), metric_tables()["Fine-src"]
    many = {f"{at:02}-src": table for at in range(len(NAMES) + len(UNSEEN))}
    database = loaded(tiny_layout(folder, metrics=many, texts=False), folder / "a.duckdb")
    with duckdb.connect(str(database)) as connection:
        for at, name in enumerate((*NAMES, *UNSEEN)):
            connection.execute("UPDATE internal.scorer SET name = $2 WHERE name = $1", [f"{at:02}-src", name])
    return database


def _of_program(
    shell: str, what: str, word: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """What the program prints for a shell: its script, or offers for a word."""
    environment = {
        "_SCOREHOUSE_COMPLETE": f"{what}_{shell}",
        "COMP_WORDS": (_LINE + word).replace(" ", "\n"),
        "COMP_CWORD": "5",
        "_TYPER_COMPLETE_ARGS": _LINE + word,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_TYPER_COMPLETE_WORD_TO_COMPLETE": word,
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        run_program(program(), [])
    for name in environment:
        monkeypatch.delenv(name)
    return capsys.readouterr().out


def _typed(command: str, lines: list[str], folder: Path) -> None:
    """Type lines into a shell on a terminal of its own, until it has ended."""
    main, other = pty.openpty()
    environment = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder), "TERM": "xterm", "PS1": "> "}
    environment |= {"LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    words = [sys.executable, "-c", _ON_TERMINAL, *command.split()]
    process = subprocess.Popen(
        words, stdin=other, stdout=other, stderr=other, cwd=folder, env=environment, start_new_session=True
    )
    os.close(other)
    end, shown = time.monotonic() + 60, b""
    try:
        for line in [*lines, "exit\r"]:
            os.write(main, line.encode())
            while select.select([main], [], [], 0.15)[0]:
                shown += os.read(main, 65536)
        while process.poll() is None:
            assert time.monotonic() < end, shown.decode("utf-8", "replace")
            if select.select([main], [], [], 0.1)[0]:
                os.read(main, 65536)
    except OSError:  # the terminal is closed with the shell
        pass
    finally:
        process.kill()
        process.wait()
        os.close(main)
        (folder / "shown").write_bytes(shown)


@pytest.mark.slow
@pytest.mark.parametrize("shell", _START)
def test_a_name_that_is_completed_and_entered_is_one_word_and_runs_nothing(
    shell: str, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    monkeypatch.setenv("SCOREHOUSE_DB", str(database))
    for name in ("bin", "offers"):
        (tmp_path / name).mkdir()
    (tmp_path / "bin" / "scorehouse").write_text(_SCOREHOUSE)
    (tmp_path / "bin" / "scorehouse").chmod(0o755)
    for name in NAMES:  # which a shell might put in their place
        (tmp_path / name).touch()
        (tmp_path / in_bash(name)).touch()
    (tmp_path / "script").write_text(_of_program(shell, "source", "", monkeypatch, capsys))
    letters = [name[0] for name in (*NAMES, *UNSEEN)]
    for letter in letters:
        (tmp_path / "offers" / letter).write_text(_of_program(shell, "complete", letter, monkeypatch, capsys))
    command, first = _START[shell]
    _typed(command, [f"{first}\r", *(f"{_LINE}{letter}\t\r" for letter in letters)], tmp_path)
    words = (tmp_path / "words").read_text().split("\0")[:-1]
    assert words == [*NAMES, *(name[0] for name in UNSEEN)], (tmp_path / "shown").read_text()
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_behind_an_open_quote_and_for_powershell_only_what_stays_a_word_is_offered(
    database: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SCOREHOUSE_DB", str(database))

    def offered(shell: str, word: str) -> list[str]:
        return [one for one in _of_program(shell, "complete", word, monkeypatch, capsys).splitlines() if one]

    assert offered("bash", "d") == ["'d e'"]
    assert offered("bash", "'d") == offered("bash", '"d') == []
    assert offered("bash", "'A") == ["A-22_x.1+refA"]
    assert offered("powershell", "m") == ["'m''$(touch ran)'::: "]
    assert offered("pwsh", "A") == ["A-22_x.1+refA::: "]
