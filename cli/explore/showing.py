"""Answers as a page shows them; names and texts of a warehouse are never taken for markup."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any, Literal

import altair as alt
import marimo as mo
import polars as pl
import polars.selectors as cs

from cli.charts.drawing import page, specification
from cli.charts.program import drawing_program
from cli.render import DIGITS
from cli.render.cells import Least, digits_of, number_text
from cli.render.marks import Piece, in_colour, marked_texts
from cli.render.outputs import for_reading
from metaeval.questions.question import Question
from metaeval.results.answer import Answer
from metaeval.results.notes import Decisive
from queries.segment import Text
from warehouse import QuestionError, WarehouseError
from warehouse.wording import in_python

_ADDRESS = re.compile("(?:https?|data)(?=:)", re.IGNORECASE)
_PAGE = 20  # rows of a table before one turns the page
_MOST_NOTES = 4  # in sight
_MARKS = "<style>mark.minor {background: #fff3b0} mark.major, mark.critical {background: #ffc9c9}</style>"


def table(
    frame: pl.DataFrame,
    selection: Literal["single", "multi"] | None = None,
    selected: Sequence[int] = (),
    digits: int | Mapping[str, int] | None = None,
    least: Least | None = None,
) -> Any:
    """Rows to search, sort, select and download; texts stay as they are.

    selected: rows selected from the start. digits, least: as of an answer.
    """
    plain = frame.with_columns(
        pl.Series(name, [None if value is None else str(value) for value in frame[name].to_list()], pl.String)
        for name, kind in frame.schema.items()
        if kind.is_nested()
    ).with_columns(cs.by_dtype(pl.String, pl.Categorical, pl.Enum).cast(pl.String).fill_null(""))
    formats: dict[str, str | Callable[..., Any]] = {}
    for name, kind in plain.schema.items():
        if kind.is_numeric():
            limit = max((least or {}).get(name, ()), default=None)
            formats[name] = partial(_number, digits_of(name, DIGITS if digits is None else digits), limit)
        elif kind == pl.String:
            formats[name] = _text
    return mo.ui.table(
        plain,
        selection=selection,
        initial_selection=list(selected) or None,
        page_size=_PAGE,
        format_mapping=formats,
        show_column_summaries=False,
        show_data_types=False,
        show_download=True,
    )


def _number(digits: int, least: float | None, value: float | None) -> str:
    if value == 0 and least is not None:
        return f"<{least:.2g}"
    return str("" if value is None else value) if not isinstance(value, float) else number_text(value, digits)


def _text(value: str | None) -> str | None:
    """A text that the page does not take for the address of a link or picture: a zero-width joiner is inserted."""
    return value and _ADDRESS.sub("\\g<0>\N{WORD JOINER}", value)


def fault(error: WarehouseError) -> Any:
    """What went wrong, worded as in Python."""
    return mo.callout(words(in_python(str(error))), kind="danger")


def notes(answer: Answer[Any]) -> Any:
    """Notes that may change a decision are shown; the others, and the signature, are folded."""
    answer = answer.for_reading()
    first = [one for one in answer.notes if isinstance(one, Decisive)][:_MOST_NOTES]
    rest = [in_python(one) for one in answer.notes if one not in first and not answer.is_said(one)]
    folded = words("\n".join([*rest, answer.signature]))
    parts = [mo.callout(words("\n".join(map(in_python, first))), kind="warn")] if first else []
    return mo.vstack([*parts, mo.accordion({"Notes and signature": folded})])


def summary(answer: Answer[Any]) -> Any:
    """The answer in a sentence."""
    return words(in_python(answer.summary), "font-size: 1.15rem")


def words(text: str, style: str = "") -> Any:
    """Lines that break where the page ends."""
    return mo.Html(f'<p style="margin: 0; white-space: pre-line; overflow-wrap: anywhere; {style}">{escape(text)}</p>')


def chart(answer: Answer[Any]) -> Any:
    """The answer's chart, if it has one, no wider than the page: a frame as high as its chart."""
    asked = answer.question
    if not (isinstance(asked, Question) and asked.has_chart() and asked.charted):
        return mo.md("")
    try:
        drawn = page(specification(answer.chart()), drawing_program())
    except QuestionError:  # there is no chart of this one
        return mo.md("")
    title = escape(str(answer.title))
    return mo.Html(
        f'<iframe title="{title}" srcdoc="{escape(drawn)}" style="width: 100%; height: 30rem; border: 0"></iframe>'
    )


def rows(answer: Answer[Any]) -> Any:
    """The rows for reading."""
    return table(readable(answer), digits=answer.digits, least=answer.least)


def answer_parts(found: Answer[Any] | WarehouseError | None, *parts: Callable[[Answer[Any]], Any]) -> Any:
    """An answer with these parts, by default all; or the error instead; nothing while there is no answer."""
    if isinstance(found, WarehouseError):
        return fault(found)
    return mo.vstack([part(found) for part in parts or (summary, chart, rows, notes)] if found is not None else [])


def readable(answer: Answer[Any]) -> pl.DataFrame:
    """The rows for reading: first the columns that answer the question, and no column without any value."""
    frame = answer.for_reading().frame
    known = [name for name in frame.columns if frame[name].null_count() < len(frame) or frame.is_empty()]
    asked = answer.question
    first = [name for name in asked.answer_columns if name in known] if isinstance(asked, Question) else []
    return frame.select(list(dict.fromkeys([*known[:1], *first, *known])))


def ranking_table(found: Answer[Any] | WarehouseError | None, selected: Sequence[str] = ()) -> Any:
    """One row per metric to select; None while there is no ranking. selected: metrics selected from the start."""
    if not isinstance(found, Answer):
        return None
    frame = found.for_reading().frame
    rows = [place for place, name in enumerate(frame["metric"]) if name in selected]
    return table(frame.drop(cs.starts_with("epsilon ", "low ", "high ")), "multi", rows)


def outputs_table(found: Answer[Any] | WarehouseError | None) -> Any:
    """Outputs to select; None while there are none."""
    if isinstance(found, WarehouseError):
        return fault(found)
    if found is None or found.frame.is_empty():
        return None
    return table(for_reading(found.frame), "single")


def points(frame: pl.DataFrame) -> Any:
    """Outputs as points to select."""
    drawn = alt.Chart(frame).mark_circle(size=22, opacity=0.35)
    drawn = drawn.encode(x="human:Q", y=alt.Y("metric:Q", scale=alt.Scale(zero=False)), tooltip=["system", "segment"])
    return mo.ui.altair_chart(drawn.properties(width="container"), chart_selection="interval")


def segments_of(*selected: Any) -> list[int]:
    """Segments of the outputs selected in tables and charts."""
    values = [one.value for one in selected if one is not None and hasattr(one, "value")]
    return [int(number) for one in values if "segment" in one.columns for number in one["segment"].to_list()]


def query_rows(found: pl.DataFrame | WarehouseError) -> Any:
    """The rows of a query as a table, and as charts of their columns."""
    if isinstance(found, WarehouseError):
        return fault(found)
    return mo.ui.tabs({"Table": table(found), "Charts": mo.ui.data_explorer(found)})


def segment(answer: Answer[Any]) -> Any:
    """A segment: source, references and outputs, errors in colour, with all scores."""
    texts: Sequence[Text] = answer.result.texts
    parts = [_MARKS]
    for text, pieces in zip(texts, marked_texts(texts), strict=True):
        scores = ", ".join(f"{escape(name)} {value:.4g}" for name, value in text.scores.items() if value is not None)
        head = f"<b>{escape(text.name or text.kind)}</b> {scores}"
        body = "".join(map(_piece, in_colour(pieces)))
        parts.append(f"<div>{head}</div><p dir='auto' style='margin: 0 0 1em'>{body}</p>")
    return mo.vstack([words(str(answer.title)), mo.Html("".join(parts)), notes(answer)])


def _piece(piece: Piece) -> str:
    if not piece.severities:
        return escape(piece.text)
    said = escape(", ".join(piece.severities))
    return f'<mark class="{escape(piece.gravest)}" title="{said}">{escape(piece.text)}</mark>'
