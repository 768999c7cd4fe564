"""Progress: a bar with the time left on a terminal, nothing anywhere else."""

import io
import sys

import pytest

from cli.render.output import progress


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch) -> _Terminal:
    """In place of stderr, from here on (what a fixture puts there does not last into the test)."""
    made = _Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return made


def test_a_terminal_sees_what_is_being_done_and_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    with progress(quiet=False) as advance:
        advance("spa perm-inputs", 25, 1000)
        advance("spa perm-inputs", 1000, 1000)
        advance("[red]t24[/red]\x1b[2J\n en-de", 1, 2)
    text = screen.getvalue()
    assert "[red]t24[/red]\\x1b[2J\\n en-de" in text
    assert "\x1b[2J" not in text
    assert "spa perm-inputs" in text
    assert "0:00:00" in text


def test_less_done_than_before_is_another_task_with_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.progress import Progress

    terminal(monkeypatch)
    resets = []
    monkeypatch.setattr(Progress, "reset", lambda self, task, **more: resets.append(task))
    with progress(quiet=False) as advance:
        for done in (50, 100):
            advance("pa perm-inputs", done, 100)
        assert resets == []
        for done in (50, 100):
            advance("pa interval", done, 100)
    assert len(resets) == 1


def test_quiet_or_without_a_terminal_nothing_is_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = terminal(monkeypatch)
    with progress(quiet=True) as advance:
        advance("spa", 1, 2)
    assert screen.getvalue() == ""
    monkeypatch.undo()
    with progress(quiet=False) as advance:
        advance("spa", 1, 2)
    assert capsys.readouterr().err == ""
