"""Outputs to read, one below the other: scores, source and output with the errors that people marked."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from cli.render.cells import number_text, one_line
from cli.render.marks import Piece, marked, plain, styled

if TYPE_CHECKING:
    from metaeval.tables.disagreements import Output

_NO_TEXT = "(no text is loaded)"


def outputs_page(frame: pl.DataFrame, outputs: "Sequence[Output]", digits: int, *, is_terminal: bool) -> str:
    """A block of lines for each output; frame: the rows of the list.

    is_terminal: marked errors are styled, unless NO_COLOR is set.
    """
    has_styles = is_terminal and "NO_COLOR" not in os.environ
    blocks = [
        _block(row, output, digits, has_styles)
        for row, output in zip(frame.iter_rows(named=True), outputs, strict=True)
    ]
    return "\n".join(blocks)


def _block(row: dict[str, Any], output: "Output", digits: int, has_styles: bool) -> str:
    place = [f"segment {row['segment']}", *(f"{name} {row[name]}" for name in ("document", "domain") if row[name])]
    a, b = (
        f"{row[f'scorer_{side}']} {number_text(row[f'value_{side}'], digits)} (z {row[f'z_{side}']:+.2f})"
        for side in "ab"
    )
    scores = [a, b, f"residual {row['residual']:+.2f}"]
    lines = [f"{output.place}. {row['system']}, {', '.join(place)}", f"   {'   '.join(scores)}"]
    lines = [one_line(line) for line in lines]
    for name, text, in_source in (("source", output.source, True), ("output", output.output, False)):
        pieces = marked(text or "", output.errors, in_source=in_source)
        shown = _text(pieces, has_styles) if text or pieces else _NO_TEXT
        lines.append(f"   {name}: {shown}")
    labels = [_quoted(output, error.label, error.start, error.end, error.is_in_source) for error in output.errors]
    if labels:
        lines.append(one_line(f"   errors: {'; '.join(labels)}"))
    return "".join(f"{line}\n" for line in lines)


def _quoted(output: "Output", label: str, start: int | None, end: int | None, is_in_source: bool) -> str:
    """An error's severity and category with the words it is marked on, where they are known."""
    text = (output.source if is_in_source else output.output) or ""
    words = text[start:end] if start is not None and end is not None and start >= 0 else ""
    where = " in the source" if is_in_source else ""
    return f"{label}{where} “{words}”" if words else f"{label}{where}"


def _text(pieces: Sequence[Piece], has_styles: bool) -> str:
    if not has_styles:
        return one_line(plain(pieces))
    from rich.console import Console

    console = Console(force_terminal=True, highlight=False, soft_wrap=True)
    with console.capture() as captured:
        console.print(styled(pieces), end="")
    return captured.get()


def for_reading(frame: pl.DataFrame, outputs: "Sequence[Output]") -> pl.DataFrame:
    """The list as a narrower table: both scores by the names of their scorers, errors marked in the texts."""
    a, b = frame["scorer_a"][0], frame["scorer_b"][0]
    texts = [
        (
            plain(marked(one.source or "", one.errors, in_source=True)) or None,
            plain(marked(one.output or "", one.errors)) or None,
        )
        for one in outputs
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
    """The list of groups as a narrower table: what the groups are, and means by the names of their scorers."""
    if frame.is_empty():
        return frame
    a, b, by = (frame[name][0] for name in ("scorer_a", "scorer_b", "by"))
    names = {"group": by, "residual": "mean residual", "pearson": "Pearson's r", "z_a": f"mean z of {a}"}
    return frame.drop("scorer_a", "scorer_b", "by", "signature").rename({**names, "z_b": f"mean z of {b}"})
