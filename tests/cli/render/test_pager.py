"""Long results on a terminal go through a pager, and what is for a pipe is not padded to the width of a sentence."""

import os
import pty
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from cli.render import output
from cli.render.table import SENTENCE, table_text

LONG = "".join(f"line {number}\n" for number in range(100))
Shown = Callable[..., bytes]


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shown:
    """What the pager was given; empty where it was not started. The pager writes down its input."""
    taken = tmp_path / "taken"
    script = tmp_path / "pager"
    script.write_text(f"#!/bin/sh\ncat > '{taken}'\n")
    script.chmod(0o755)

    def run(text: str, *, pager: str | None = None, is_paged: bool = True, term: str = "xterm") -> bytes:
        monkeypatch.setenv("PAGER", str(script) if pager is None else pager)
        monkeypatch.setenv("TERM", term)
        controller, terminal = pty.openpty()
        try:
            with os.fdopen(os.dup(terminal), "w") as stdout, monkeypatch.context() as patched:
                patched.setattr(sys, "stdout", stdout)
                patched.setattr(output, "_lines_of_terminal", lambda out: 24)
                output.write_paged(text, None, is_paged=is_paged)
        finally:
            os.close(terminal)
            os.close(controller)
        return taken.read_bytes() if taken.exists() else b""

    return run


def test_more_lines_than_the_screen_has_go_through_the_pager(shown: Shown) -> None:
    assert shown(LONG) == LONG.encode()


@pytest.mark.parametrize(
    "more",
    [{"is_paged": False}, {"pager": ""}, {"pager": "cat"}, {"pager": "no-such-pager-here"}, {"term": "dumb"}],
)
def test_without_a_pager_or_a_screen_for_it_the_text_is_written(shown: Shown, more: dict[str, object]) -> None:
    assert shown("one\ntwo\n", **more) == b""
    assert shown(LONG[:200], **more) == b""


def test_what_fits_the_screen_needs_no_pager(shown: Shown) -> None:
    assert shown("one line\n") == b""


def test_files_and_pipes_have_no_pager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", "false")
    output.write_paged(LONG, tmp_path / "a.txt", is_paged=True)
    assert (tmp_path / "a.txt").read_text() == LONG


def test_a_sentence_pads_no_other_row() -> None:
    frame = pl.DataFrame({"name": ["a", "b"], "text": ["short", "a long sentence " * 60], "n": [1, 2]})
    _, rule, first, second = table_text(frame, 3).splitlines()
    assert max(map(len, (rule, first))) < 2 * SENTENCE
    assert len(second) > 900
    assert first == "a     short  1"
    assert table_text(frame.drop("text"), 3).splitlines()[2] == "a     1"
