"""Notes on a terminal: few short lines, with notes that may change a decision first; --verbose shows all of them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cli.hints import in_flags
from warehouse.wording import counted

if TYPE_CHECKING:
    from metaeval.results.notes import Decisive

MOST = 6  # lines on stderr, with those that are no notes
LONGEST = 100  # characters of a line


def brief(notes: Sequence[str], signature: str, width: int, n_other: int = 0) -> list[str]:
    """The notes and the signature in at most MOST lines, less n_other, each as wide as the terminal or LONGEST.

    Decisive notes come first, one line per kind, then a line on exclusions, then the others; the signature is last.
    """
    from metaeval.results.notes import Decisive, ExclusionNote

    width = min(width, LONGEST)
    by_kind: dict[str, list[Decisive]] = {}
    for one in notes:
        if isinstance(one, Decisive):
            by_kind.setdefault(one.kind, []).append(one)
    first = [_of_a_kind(kind, found, width) for kind, found in by_kind.items()]
    out = [one for one in notes if isinstance(one, ExclusionNote)]
    rest = [one for one in notes if not isinstance(one, Decisive | ExclusionNote)]
    lines = [in_flags(one) for one in (*first, *(_excluded(out) if len(out) > 1 else out), *rest)]
    room = MOST - n_other - bool(signature)
    n_more = len(lines) - room + 1 if len(lines) > room else 0
    shown = lines[: len(lines) - n_more]
    if n_more > 1 and out and len(first) < room:
        beside = f"{lines[len(first)]}; … {counted(n_more - 1, 'more note')}: -v"
        if len(beside) <= width:
            lines[len(first)], n_more = beside, 0
            shown = lines[:room]
    if n_more:
        shown.append(f"… {counted(n_more, 'more note')}: -v shows all")
    elif any(len(one) > width for one in shown):
        shown = [one if len(one) <= width else _cut(one, width - 6) + " (-v)" for one in shown]
    return [_cut(one, width) for one in (*shown, signature) if one]


def _of_a_kind(kind: str, notes: "Sequence[Decisive]", width: int) -> str:
    """One line for decisive notes of one kind, the worst first."""
    if len(notes) == 1 and (len(notes[0]) <= width or not notes[0].case):
        return notes[0]
    cases = [one.case for one in sorted(notes, key=lambda one: -one.size)]
    if len(whole := f"{kind} {'; '.join(cases)}") <= width or len(notes) == 1:
        return whole
    line = f"{kind} {cases[0]}"
    for place, one in enumerate(cases[1:], start=1):
        more = f"; {len(cases) - place} more (-v)"
        if len(line) + len(one) + len("; ") + len(more) > width:
            return f"{line}{more}" if len(line) + len(more) <= width else line
        line += f"; {one}"
    return line


def _excluded(notes: Sequence[str]) -> list[str]:
    """One line on how many systems and metrics are excluded; a name in two notes counts once."""
    named: dict[str, set[str]] = {}
    unnamed: dict[str, int] = {}
    for one in notes:
        what, names = str(getattr(one, "what", "")), getattr(one, "names", ())
        named.setdefault(what, set()).update(names)
        unnamed[what] = unnamed.get(what, 0) + (0 if names else int(getattr(one, "n", 0)))
    parts = [counted(unnamed[what] + len(named[what]), what) for what in sorted(named, reverse=True)]
    hints = dict.fromkeys(hint for one in notes if (hint := getattr(one, "hint", "")))
    return [f"excluded: {', '.join(parts)} ({'; '.join(['-v lists them', *hints])})"]


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"
