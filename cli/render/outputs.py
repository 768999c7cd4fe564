"""Outputs to read, one below the other: scores, source and output with the errors that annotators marked."""

import os
from collections import Counter
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import polars as pl

from cli.render.cells import number_text, one_line
from cli.render.marks import Piece, in_colour, marked, plain, styled
from cli.render.table import MOST_LINES
from queries.annotations import MarkedError
from warehouse.wording import counted

_LINES = 3  # of a text on a terminal
_GOES_ON = " …"
NO_TEXT = "(no text is loaded)"


def outputs_page(
    frame: pl.DataFrame,
    digits: int,
    width: int | None = None,
    *,
    every_row: bool = False,
    errors_of: str | None = None,
) -> str:
    """A block of lines for each output; frame: the rows of the list, perhaps of several evaluation sets.

    width: of the terminal, which shows marked errors in colour instead of brackets (unless NO_COLOR is set), wraps
    texts, and shows only the first screen unless every_row is set. None elsewhere. errors_of: the human score that the
    errors were marked for, if it is not one of the scorers.
    """
    found: list[str] = []
    lead = f"   errors ({errors_of}): " if errors_of else "   errors: "
    n_lines = 0
    places: Counter[tuple[str | None, str | None]] = Counter()
    for row in frame.iter_rows(named=True):
        evalset = row.get("testset"), row.get("lp")
        places[evalset] += 1
        row |= {"place": places[evalset], "errors": _errors(row)}
        lines = _block(row, digits, lead) if width is None else _narrow_block(row, digits, lead, width, every_row)
        n_lines += len(lines) + 1
        if found and width is not None and not every_row and n_lines > MOST_LINES - 3:
            found.append(f"… {counted(frame.height - len(found), 'more output')}: --all\n")
            break
        found.append("".join(f"{line}\n" for line in lines))
    else:
        if width is not None and any(line.endswith(_GOES_ON) for block in found for line in block.splitlines()):
            found[-1] += f"{_GOES_ON.lstrip()}: --all has the whole texts\n"
    return "\n".join(found)


def _errors(row: dict[str, Any]) -> list[MarkedError]:
    return [MarkedError(**error) for error in row["errors"] or ()]


def _head(row: dict[str, Any], digits: int) -> tuple[str, list[str]]:
    """Which output it is, and its scores."""
    place = [f"segment {row['segment']}", *(f"{name} {row[name]}" for name in ("document", "domain") if row[name])]
    a, b = (
        f"{row[f'scorer_{side}']} {number_text(row[f'value_{side}'], digits)} (rank {row[f'rank_{side}']}{of})"
        for side, of in (("a", f" of {row['n_outputs']}"), ("b", ""))
    )
    first = f"{row['place']}. {row['system']}, {', '.join(place)}"
    return one_line(first), [one_line(one) for one in (a, b, f"residual {row['residual']:+.2f}")]


def _block(row: dict[str, Any], digits: int, lead: str) -> list[str]:
    first, scores = _head(row, digits)
    lines = [first, f"   {'   '.join(scores)}"]
    for name, text, in_source in (("source", row["source"], True), ("output", row["output"], False)):
        pieces = marked(text or "", row["errors"], in_source=in_source)
        lines.append(f"   {name}: {one_line(plain(pieces)) if text or pieces else NO_TEXT}")
    labels = [_quoted(row, error) for error in row["errors"]]
    return [*lines, one_line(f"{lead}{'; '.join(labels)}")] if labels else lines


def _narrow_block(row: dict[str, Any], digits: int, lead: str, width: int, every_row: bool) -> list[str]:
    first, scores = _head(row, digits)
    lines = [*wrap(first, width, subsequent_indent="   "), *_wrapped("   ", [Piece("   ".join(scores))], width)]
    for name, text, in_source in (("source", row["source"], True), ("output", row["output"], False)):
        pieces = marked(text or "", row["errors"], in_source=in_source)
        pieces = pieces if "NO_COLOR" in os.environ else in_colour(pieces)
        found = _wrapped(f"   {name}: ", pieces if text or pieces else [Piece(NO_TEXT)], width - len(_GOES_ON))
        lines += found if every_row else _cut(found, _LINES)
    labels = Counter(error.label + (" in the source" if error.is_in_source else "") for error in row["errors"])
    said = "; ".join(label if n == 1 else f"{n} × {label}" for label, n in labels.most_common())
    found = wrap(one_line(f"{lead}{said}"), width - len(_GOES_ON), subsequent_indent="   ") if said else []
    return [*lines, *(found if every_row else _cut(found, _LINES - 1))]


def _cut(lines: list[str], most: int) -> list[str]:
    return [*lines[: most - 1], lines[most - 1] + _GOES_ON] if len(lines) > most else lines


def _wrapped(lead: str, pieces: Sequence[Piece], width: int) -> list[str]:
    """The text wrapped to a terminal of this width, the first line with a prefix."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(force_terminal=True, highlight=False, width=width, height=MOST_LINES)
    text = Text(lead.lstrip())
    text.append_text(styled(pieces))
    with console.capture() as captured:
        console.print(Padding(text, (0, 0, 0, 3), expand=False))
    return [line.rstrip() for line in captured.get().splitlines()]


def _quoted(row: dict[str, Any], error: MarkedError) -> str:
    """An error's severity and category, and the words it is marked on if they are known."""
    text = row["source" if error.is_in_source else "output"] or ""
    start, end = error.start, error.end
    words = text[start:end] if start is not None and end is not None and start >= 0 else ""
    where = " in the source" if error.is_in_source else ""
    return f"{error.label}{where} “{words}”" if words else f"{error.label}{where}"


def for_reading(frame: pl.DataFrame) -> pl.DataFrame:
    """The list as a narrower table: both scores by the names of their scorers, errors marked in the texts."""
    a, b = frame["scorer_a"][0], frame["scorer_b"][0]
    texts = [
        (
            plain(marked(row["source"] or "", _errors(row), in_source=True)) or None,
            plain(marked(row["output"] or "", _errors(row))) or None,
        )
        for row in frame.iter_rows(named=True)
    ]
    return frame.select(
        "system",
        "segment",
        pl.col("value_a").alias(f"{a} (score)"),
        pl.col("value_b").alias(f"{b} (score)"),
        "residual",
        pl.Series("source", [source for source, _ in texts], dtype=pl.String),
        pl.Series("output", [output for _, output in texts], dtype=pl.String),
    )


def groups_for_reading(frame: pl.DataFrame) -> pl.DataFrame:
    """The list of groups as a narrower table: the groups, and means by the names of their scorers."""
    if frame.is_empty():
        return frame
    a, b, by = (frame[name][0] for name in ("scorer_a", "scorer_b", "by"))
    names = {
        "group": "length (characters)" if by == "length" else by,
        "residual": "mean residual",
        "pearson": "r",
        "z_a": f"mean z of {a}",
    }
    return frame.drop("scorer_a", "scorer_b", "by", "signature").rename({**names, "z_b": f"mean z of {b}"})
