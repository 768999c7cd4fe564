"""How tests run the program, and what they find."""

import contextlib
import functools
import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from cli.main import COMMANDS, program

EXAMPLE = re.compile(r"Example: scorehouse (.+)")
PROGRAM = (sys.executable, "-c", "from scorehouse.start import run; run()")
"""The program as a process of its own."""
LATEX_ENGINES = ("tectonic", "pdflatex", "lualatex", "xelatex")


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def notes(self) -> list[str]:
        return self.err.splitlines()

    @property
    def table(self) -> list[str]:
        """The lines of a table, Markdown or LaTeX: those below the sentence."""
        first, *lines = self.out.splitlines()
        assert first.endswith("."), first
        return lines[1:] if lines[:1] == [""] else lines

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


Scorehouse = Callable[..., Ran]


def examples(name: str) -> list[str]:
    """The examples in a command's help, without the program's name."""
    return [match[1] for match in EXAMPLE.finditer(COMMANDS[name].__doc__ or "")]


def refused(ran: Ran, code: int, *words: str) -> str:
    """Assert that a command ended with this code, with nothing on stdout and one line with these words on stderr."""
    assert (ran.code, ran.out) == (code, ""), ran.err
    (line,) = ran.notes
    assert line.startswith("error: ")
    for word in words:
        assert word in line, f"{word!r} not in {line!r}"
    return line


_QUOTED = re.compile(r"`[^`]*`")


_whole = functools.cache(program)


@functools.cache
def options_of(command: str | None) -> frozenset[str]:
    """The options of a command; of None, those that stand before any."""
    group: Any = _whole()
    parameters = [*group.params, *(group.commands[command].params if command is not None else ())]
    return frozenset(word for one in parameters for word in (*one.opts, *one.secondary_opts)) | {"--help"}


def foreign_options(words: Sequence[str], line: str) -> list[str]:
    """Options in a line of a command that are neither among its own nor among those of the command named with them.

    What the words of the command line have, a line may quote.
    """
    command = next((word for word in words if word in COMMANDS), None)
    found = []
    for part in (*_QUOTED.findall(line), _QUOTED.sub(" ", line)):
        for match in re.finditer(r"(?<![\w-])--[a-z][a-z-]*", part):
            before = re.findall(r"[\w-]+", part[: match.start()])
            named = next(
                (word for word in reversed(before[-1:] if part[0] != "`" else before) if word in COMMANDS), None
            )
            if match[0] not in options_of(named or command) and not any(match[0] in word for word in words):
                found.append(f"{named or command}: {match[0]}")
    return found


class _Tags(HTMLParser):
    """What runs in a page, or brings something from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [tag] if tag in ("script", "img", "iframe", "object", "embed", "link", "image", "use") else []
        self.found += [name for name, _ in attrs if name.startswith("on")]


def faults_of_page(text: str) -> list[str]:
    """Tags and attributes of a page that run, or bring something from elsewhere."""
    parser = _Tags()
    parser.feed(text)
    return parser.found


@contextlib.contextmanager
def unchanged(path: Path) -> Iterator[None]:
    """Assert that a file has the same bytes afterwards, and that nothing new lies beside it."""
    before = hashlib.sha256(path.read_bytes()).digest(), sorted(path.parent.iterdir())
    yield
    assert (hashlib.sha256(path.read_bytes()).digest(), sorted(path.parent.iterdir())) == before
