"""Errors marked in a text: brackets with the severity, and on a terminal a style, too."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli.render.cells import one_line

if TYPE_CHECKING:
    from rich.text import Text as StyledText

    from queries.annotations import MarkedError
    from queries.segment import Text

UNNAMED = "error"  # a severity that is not known
Span = tuple[int, int, str]  # start, end, severity
_STYLES = {"critical": "bold underline red", "major": "bold underline red", "minor": "underline yellow"}
_STYLE = "underline"  # of any other severity
_ORDER = (*_STYLES, "")  # the gravest first
_BY = " by "  # between a severity and the metric that predicted the error
_PREDICTED = " italic"  # beside the style of the severity, where no annotator marked anything


@dataclass(frozen=True)
class Piece:
    """A piece of a marked text, either text or a bracket, with the severities of the errors that contain it."""

    text: str
    severities: tuple[str, ...] = ()
    is_bracket: bool = False

    @property
    def gravest(self) -> str:
        """The severity of the gravest error; none outside errors."""
        severities = [one.partition(_BY)[0] for one in self.severities]
        return min(severities, key=lambda one: _ORDER.index(one) if one in _ORDER else len(_ORDER), default="")

    @property
    def style(self) -> str:
        """The style of the gravest error; none outside errors."""
        if not self.severities:
            return ""
        return _STYLES.get(self.gravest, _STYLE) + (
            "" if any(_BY not in one for one in self.severities) else _PREDICTED
        )


def marked(text: str, errors: "Iterable[MarkedError]", *, in_source: bool = False) -> list[Piece]:
    """The text in pieces, errors in brackets that begin with their severity; nothing in it is escaped yet.

    in_source: the text is the source, and errors marked there count; else those of the output. Equal spans of one
    severity are marked once. If spans cross, the inner one is closed and opened again, so that brackets are nested. An
    error without a span is written after the text with its category. Predicted errors name their metric.
    """
    own = [error for error in errors if error.is_in_source == in_source]
    placed = [(error, _span(error, len(text))) for error in own]
    spans = {span for _, span in placed if span is not None}
    pieces: list[Piece] = []
    opened: list[Span] = []
    at = 0
    for place in sorted({edge for start, end, _ in spans for edge in (start, end)}):
        pieces += _run(text[at:place], opened)
        at = place
        ending = [span for span in opened if span[1] == place]
        if ending:
            first = opened.index(ending[0])
            pieces += [
                Piece("]", _severities(opened[: depth + 1]), True) for depth in range(len(opened) - 1, first - 1, -1)
            ]
            again = [span for span in opened[first:] if span[1] != place]
            del opened[first:]
        else:
            again = []
        for span in [*again, *sorted((one for one in spans if one[0] == place), key=lambda one: (-one[1], one[2]))]:
            opened.append(span)
            pieces.append(Piece(f"[{span[2]}: ", _severities(opened), True))
    pieces += _run(text[at:], opened)
    behind = {error.label: error.severity or UNNAMED for error, span in placed if span is None}
    for label, severity in behind.items():
        pieces += [Piece(" " if pieces else ""), Piece(f"[{label}]", (severity,))]
    return pieces


def marked_texts(texts: "Sequence[Text]") -> list[list[Piece]]:
    """The texts of a segment in pieces; its source has the errors that are marked there in any output."""
    every = [error for text in texts for error in text.errors]
    return [
        marked(text.text or "", every if text.kind == "source" else text.errors, in_source=text.kind == "source")
        for text in texts
    ]


def _span(error: "MarkedError", length: int) -> Span | None:
    """Start, end and severity of an error's span in a text of this length; None if it has none there."""
    start, end = error.start, error.end
    if start is None or end is None or not 0 <= start < min(end, length):
        return None
    return start, min(end, length), (error.severity or UNNAMED) + ("" if error.metric is None else _BY + error.metric)


def _run(text: str, opened: Sequence[Span]) -> list[Piece]:
    return [Piece(text, _severities(opened))] if text else []


def _severities(opened: Sequence[Span]) -> tuple[str, ...]:
    return tuple(severity for _, _, severity in opened)


def plain(pieces: Sequence[Piece]) -> str:
    """The marked text without styles; control characters in it stay as they are.

    >>> plain([Piece("a "), Piece("[major: ", ("major",)), Piece("b", ("major",)), Piece("]", ("major",))])
    'a [major: b]'
    """
    return "".join(piece.text for piece in pieces)


def in_colour(pieces: Sequence[Piece]) -> list[Piece]:
    """The marked text with styles instead of brackets."""
    return [piece for piece in pieces if not piece.is_bracket]


def styled(pieces: Sequence[Piece]) -> "StyledText":
    """The marked text for a terminal, without control characters that the terminal would obey."""
    from rich.text import Text

    text = Text()
    for piece in pieces:
        text.append(one_line(piece.text), style=piece.style)
    return text
