"""Answers on a terminal fit it: nothing wider, no folded name, few lines on stderr, one screen of rows."""

import fcntl
import itertools
import os
import pty
import re
import struct
import sys
import termios
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from cli.ending import run_program
from cli.main import COMMANDS, named, program
from metaeval.questions import HOMES
from tests.cli.running import Ran
from tests.cli.words import WORDS
from warehouse import Warehouse

WIDTHS = (80, 100, 160)
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_BAR = "━"  # of the progress, which is gone in the end
_MORE: tuple[tuple[str, ...], ...] = (
    ("list", "lps"),
    ("list", "metrics"),
    ("list", "systems", "{set}", "{lp}"),
    ("list", "humans"),
    ("list", "measures"),
    ("list", "protocols"),
    ("list", "issues"),
    ("list", "results"),
    ("rank", "{set}", "{lp}"),
    ("rank", "{set}"),
    ("rank", "all", "all", "-m", "pa"),
    ("rank", "{set}", "{lp}", "-m", "pa", "-m", "pearson", "--significance", "--draws", "50"),
    ("rank", "{set}", "{lp}", "-m", "pa", "--intervals", "--ranges", "--draws", "50"),
    ("rank", "{set}", "{lp}", "-m", "pa", "--by", "domain"),
    ("rank", "{set}", "--wide"),
    ("rank", "{set}", "{lp}", "--explain"),
    ("compare", "{set}", "{lp}", "{a}", "{b}", "-m", "pa", "--draws", "50"),
    ("compare", "{set}", "-m", "pa", "--draws", "50"),
    ("correlations", "{set}", "{lp}", "-m", "pearson"),
    ("protocol", "{set}", "--matrix"),
    ("counts", "{set}", "{lp}", "--by", "system"),
    ("thresholds", "{set}", "{lp}"),
    ("thresholds", "{set}", "{lp}", "--ties"),
    ("segments", "{set}", "{lp}", "{a}", "-n", "3"),
    ("segments", "{set}", "{lp}", "{a}", "--by", "document"),
    ("deltas", "{set}", "{lp}", "--hard"),
    ("noise", "{set}", "{lp}", "-m", "pearson", "--oracles"),
    ("trend", "--within"),
    ("systems", "{set}", "{lp}", "{a}"),
    ("audit", "{set}"),
)
_REAL_ALONE = ("trend", "--within")  # needs years of publications
SIMULATED = {"set": "sim24", "lp": "cs-uk", "a": "simBLEU", "b": "simchrF"}
REAL = {"set": "wmt23", "lp": "en-de", "a": "XCOMET-Ensemble", "b": "MetricX-23"}
_QUESTIONS = [(name, *WORDS[name]) for name in COMMANDS if name in HOMES and name not in ("diff", "paper")]
_ON_SIMULATED = [
    *_QUESTIONS,
    *(tuple(word.format(**SIMULATED) for word in words) for words in _MORE if words != _REAL_ALONE),
]


def _filled(words: Sequence[str], names: dict[str, str]) -> tuple[str, ...]:
    return tuple(word.format(**names) for word in words)


def _on_terminal(words: Sequence[str], width: int, database: Path) -> Ran:
    """How a command ends on a terminal so wide, and what is left to read there."""
    texts = ["", ""]
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv("SCOREHOUSE_DB", str(database))
        patch.delenv("COLUMNS", raising=False)
        patch.setenv("TERM", "xterm-256color")
        threads, files = [], []
        for place, name in enumerate(("stdout", "stderr")):
            reader, writer = pty.openpty()
            stack.callback(os.close, reader)
            fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
            files.append(os.fdopen(writer, "w", encoding="utf-8"))
            threads.append(threading.Thread(target=_drain, args=(reader, place, texts)))
            patch.setattr(sys, name, files[-1])
        for thread in threads:
            thread.start()
        code = run_program(program(named(list(words))), list(words))
        for file in files:
            file.close()
        for thread in threads:
            thread.join()
    out, err = ("\n".join(line for line in text.splitlines() if _BAR not in line) for text in texts)
    return Ran(int(code), out, err)


def _drain(reader: int, place: int, texts: list[str]) -> None:
    found = b""
    while True:
        try:
            piece = os.read(reader, 65536)
        except OSError:  # all of it is read
            break
        if not piece:
            break
        found += piece
    text = _ESCAPE.sub("", found.decode()).replace("\r\n", "\n")
    texts[place] = "\n".join(line.rpartition("\r")[2] for line in text.split("\n"))


def _faults(ran: Ran, width: int, names: Sequence[str]) -> list[str]:
    """What does not fit a terminal so wide. names: of metrics and systems, which stand in one piece."""
    out, err = ran.out.splitlines(), ran.err.splitlines()
    found = [f"{len(line)} wide: {line}" for line in out if len(line) > width]
    found += [f"stderr, {len(line)} wide: {line}" for line in err if len(line) > min(width, 100)]
    found += [f"{len(out)} lines"] if len(out) > 60 else []
    found += [f"{len(err)} lines on stderr"] if len(err) > 6 else []
    for above, below in itertools.pairwise(out):
        starts = {match.start(): match[0] for match in re.finditer(r"\S+", below)}
        for match in re.finditer(r"\S+", above):
            if match.start() in starts and match[0] + starts[match.start()] in names:
                found.append(f"folded: {match[0]} {starts[match.start()]}")
    return found


def _names(database: Path) -> list[str]:
    with Warehouse.open(database) as warehouse:
        rows = warehouse.rows("SELECT metric FROM metrics UNION SELECT system FROM systems")
    return [str(name) for (name,) in rows]


@pytest.mark.parametrize("width", [WIDTHS[0], *(pytest.param(one, marks=pytest.mark.slow) for one in WIDTHS[1:])])
@pytest.mark.parametrize("words", _ON_SIMULATED, ids=" ".join)
def test_answers_fit_the_terminal(words: tuple[str, ...], width: int, default_database: Path) -> None:
    ran = _on_terminal(words, width, default_database)
    assert ran.code == 0, ran.err
    assert _faults(ran, width, _names(default_database)) == []


@pytest.mark.slow
@pytest.mark.parametrize("words", _MORE, ids=" ".join)
def test_answers_on_real_data_fit_the_terminal(words: tuple[str, ...], wmt23_database: Path) -> None:
    names = _names(wmt23_database)
    for width in WIDTHS:
        ran = _on_terminal(_filled(words, REAL), width, wmt23_database)
        assert ran.code == 0, ran.err
        assert _faults(ran, width, names) == []


def test_what_does_not_fit_is_found() -> None:
    folded = "metric   r\n───────  ─\nKestrel  1\n-24          \n"
    assert _faults(Ran(0, folded, "x\n" * 7), 100, ["Kestrel-24"]) == ["7 lines on stderr", "folded: Kestrel -24"]
    assert len(_faults(Ran(0, "x" * 101 + "\n" * 70, "y" * 101), 100, [])) == 3
