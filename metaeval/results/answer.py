"""Answers to questions: a frame, its signature, and what a reader should know."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar, overload

import polars as pl

from metaeval.results.notes import ExclusionNote, Partial, few_metrics, partial_first, placed, reworded
from metaeval.results.signature import Part, Parts, line, lines_of, slice_parts, stamped
from metaeval.results.stars import marking
from queries.reasons import Exclusion, by_reason
from warehouse import QuestionError
from warehouse.database.frames import spelt_frame
from warehouse.wording import NO_LP, are, counted, in_python, of_any_task

if TYPE_CHECKING:
    import altair as alt

    from queries.blocks import Block

R = TypeVar("R")


@dataclass(frozen=True)
class Result:
    """The result computed for a question, before anything is printed.

    frame: its columns are documented with the function that makes it; the most important come first.
    parts: of the signature, (key, value) in order; several such sequences for a signature of several lines.
    notes: what a reader should know, one line each.
    facts: numbers and arrays by name that charts and notes need and that are in no row.
    """

    frame: pl.DataFrame
    parts: Sequence[Part] | Sequence[Sequence[Part]] | str
    notes: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def signature(self) -> str:
        """One line per result."""
        return self.parts if isinstance(self.parts, str) else "\n".join(map(line, lines_of(self.parts)))

    @property
    def lines(self) -> Sequence[Sequence[Part]]:
        """The parts of the signature line by line."""
        assert not isinstance(self.parts, str)
        return lines_of(self.parts)

    @property
    def in_python(self) -> Self:
        """The result with options spelled as in Python, for users of the Python API."""
        return replace(self, frame=spelt_frame(self.frame, in_python), notes=tuple(map(in_python, self.notes)))

    def _repr_html_(self) -> str:
        """The frame with its signature and notes, as notebooks show it."""
        lines = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        signature = "<br>".join(escape(one) for one in in_python(self.signature).splitlines())
        return f"{self.frame._repr_html_()}<p><small>{signature}</small></p>" + (f"<ul>{lines}</ul>" if lines else "")


Table = Result  # for callers that have not moved yet


def block_parts(block: "Block", n_metrics: int | None = None) -> Parts:
    """The parts of a signature on a block: systems, metrics, segments, and what is not judged.

    n_metrics: where the block has no arrays of them.
    """
    return [
        ("n_systems", len(block.systems)),
        ("n_metrics", len(block.metrics) if n_metrics is None else n_metrics),
        ("n_segments", f"{block.n_judged_segments}/{block.selection.n_segments}"),
        ("n_missing", block.n_missing),
    ]


def table_parts(what: Part, block: "Block", *more: Part, n_metrics: int | None = None) -> Parts:
    """The signature parts of a table over a block.

    what: first key and value; more: settings of this table; n_metrics: where the block has no arrays of them.
    """
    return stamped(what, *slice_parts(block.selection), *block_parts(block, n_metrics), *more)


def table_signature(what: Part, block: "Block", *more: Part, n_metrics: int | None = None) -> str:
    """`table_parts` as text."""
    return line(table_parts(what, block, *more, n_metrics=n_metrics))


def table_notes(block: "Block", excluded: Mapping[str, Exclusion]) -> tuple[str, ...]:
    """Notes on a table over a block. excluded: metrics of the slice that are not in the table."""
    from metaeval.results.remarks import remarks  # NumPy, which lists do without

    few = few_metrics((metric.name for metric in block.metrics), excluded)
    return (*few, *without(excluded), *remarks(block))


def without(excluded: Mapping[str, Exclusion]) -> list[str]:
    """A line for each reason why metrics are excluded from a table."""
    return [
        ExclusionNote(
            f"{', '.join(names)} {are(len(names))} excluded: {why.sentence}", why.hint, "metric", len(names), names
        )
        for why, names in by_reason(excluded).items()
    ]


def fixed(column: str, digits: int) -> pl.Expr:
    """Numbers as text with this many decimals; null stays null.

    Rounded by Python, as all cells are: Polars' expressions round halves differently, such as 2.675 to two digits.

    >>> pl.DataFrame({"r": [0.9, -0.0001, None]}).select(fixed("r", 3))["r"].to_list()
    ['0.900', '0.000', None]
    """
    return pl.col(column).map_elements(lambda value: f"{round(value, digits) + 0.0:.{digits}f}", return_dtype=pl.String)


def attributes(one: object, *names: str) -> dict[str, Any]:
    """Attributes by name, for a row or an object of JSON."""
    return {name: getattr(one, name) for name in names}


def or_none(value: float) -> float | None:
    """The number as tables have it: None if it is not defined.

    >>> or_none(0.5), or_none(float("nan"))
    (0.5, None)
    """
    return None if value != value else float(value)


_LONGEST = 100  # characters of a short signature
_COUNTS = ("n_systems", "n_metrics", "n_segments", "n_pairs", "n_missing")


class Answerable(Protocol[R]):
    """The part of a question that its answer needs (`metaeval.questions.question.Question`)."""

    @property
    def name(self) -> str: ...

    @property
    def answer_columns(self) -> tuple[str, ...]: ...

    def in_few_words(self) -> str: ...

    def headline(self, answer: "Answer[R]") -> str: ...

    def headline_of_several(self, answers: "Sequence[Answer[R]]") -> str: ...

    def drawn(self, answer: "Answer[R]") -> "alt.VConcatChart": ...


@dataclass(frozen=True, kw_only=True)
class Answer(Result, Generic[R]):
    """A result with the data for pages, charts and JSON.

    question: the question that was asked.
    summary: the answer in one or two sentences, at most 200 characters; "" until `with_summary`.
    results: the result of each evaluation set whose rows are stacked.
    shape: nested values for JSON, if these are not the rows.
    reading, reading_notes: rows and notes for reading, if they differ.
    title: the subject of the rows, shown before them.
    least: by column, the limit below which each row's 0 lies.
    digits: decimals for reading, for all columns or by column.
    is_no: the answer is no, such as a printed value that is not met.
    own: names of the user's own metrics, if a chart or such metrics are requested.
    """

    question: Answerable[R]
    results: tuple[R, ...]
    summary: str = ""
    shape: object = None
    reading: pl.DataFrame | None = None
    reading_notes: tuple[str, ...] | None = None
    title: str | None = None
    least: Mapping[str, Sequence[float]] = field(default_factory=dict)
    digits: int | Mapping[str, int] | None = None
    is_no: bool = False
    own: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", partial_first(self.notes))
        if f"lp:{NO_LP}" in super().signature:
            object.__setattr__(self, "summary", of_any_task(self.summary))
            object.__setattr__(self, "notes", tuple(reworded(note, of_any_task) for note in self.notes))

    @property
    def in_python(self) -> Self:
        return replace(super().in_python, summary=in_python(self.summary))

    def with_summary(self) -> Self:
        """The answer with its summary."""
        if self.summary:
            return self
        text = self.question.headline(self)
        if self.partial and text:
            from metaeval.results.sentences import with_missing

            text = with_missing(text, *self.partial)
        return replace(self, summary=text)

    def _repr_html_(self) -> str:
        """The summary and the result behind it, as notebooks show it."""
        return (f"<p>{escape(self.summary)}</p>" if self.summary else "") + super()._repr_html_()

    def __repr__(self) -> str:
        """The summary, the question and the first rows; of rankings metric, value and rank."""
        first = [name for name in ("testset", "lp", "measure", "metric", "value", "rank") if name in self.frame.columns]
        frame = self.frame.select(first) if {"metric", "value", "rank"} <= {*first} else self.frame
        first_lines = [self.summary] if self.summary else []
        return "\n".join([*first_lines, self.short_signature() or self.question.name, str(frame)])

    @property
    def result(self) -> R:
        """The result of the answer's only evaluation set.

        Raises QuestionError: the answer is for several.
        """
        if len(self.results) > 1:
            what = f"{self.question.name} shows one at a time, and this answer has {len(self.results)}"
            raise QuestionError(f"name one test set and one language pair: {what}")
        return self.results[0]

    def for_reading(self) -> Self:
        """The answer with the rows and notes for reading in place of all rows and notes."""
        frame = self.frame if self.reading is None else self.reading
        return replace(self, frame=frame, notes=self.notes if self.reading_notes is None else self.reading_notes)

    def is_said(self, note: str) -> bool:
        """Whether the summary has what a note says on incomplete data."""
        return isinstance(note, Partial) and note.replace("partial: ", "", 1)[1:] in self.summary

    @property
    def partial(self) -> tuple[str, ...]:
        """Notes on incomplete data, which come before the rows."""
        return tuple(note for note in self.notes if isinstance(note, Partial))

    @property
    def counts(self) -> dict[str, str]:
        """The numbers of systems, metrics, segments and pairs behind the values; a range if rows differ."""
        found = {}
        for name in _COUNTS:
            if name in self.frame.columns and (values := self.frame[name].drop_nulls()).len():
                low, high = values.min(), values.max()
                found[name.removeprefix("n_")] = str(low) if low == high else f"{low!s}-{high!s}"
        return found

    def short_signature(self) -> str:
        """The options that are not the default, and the counts, in at most 100 characters."""
        if not self.signature:
            return self.signature.partition("\n")[0][:_LONGEST]
        text = ", ".join(
            [self.question.in_few_words(), *(f"{n} {name}" for name, n in self.counts.items() if n != "0")]
        )
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"

    def chart(self) -> "alt.VConcatChart":
        """The answer's chart; data that are not in its rows, such as intervals, are there if asked with `charted=True`.

        Raises QuestionError: the question has no chart, or none with these options or for several evaluation sets.
        """
        with marking(self.own):
            return self.question.drawn(self)


@overload
def answer_of(question: Answerable[Result], found: Result, **more: Any) -> Answer[Result]: ...


@overload
def answer_of(question: Answerable[R], found: Result, result: R, **more: Any) -> Answer[R]: ...


def answer_of(question: Answerable[Any], found: Result, *result: Any, **more: Any) -> Answer[Any]:
    """Make an answer of a result. result: the one for charts, if different. more: other fields of `Answer`."""
    results = result or (found,)
    return Answer(found.frame, found.parts, found.notes, found.facts, question=question, results=results, **more)


def drawable(answer: Answer[R | None]) -> R:
    """The result that a chart is made from.

    Raises QuestionError: this answer has no chart.
    """
    if (result := answer.result) is None:
        raise QuestionError(f"this answer of {answer.question.name} has no chart")
    return result


def _of_several(found: Mapping[tuple[str, str], Answer[R]]) -> str:
    """The summary of the first of several evaluation sets, and the number of others."""
    from metaeval.results.sentences import LONGEST, without_names

    (place, first), *others = found.items()
    count = f"{counted(len(others), 'other evaluation set')} below."
    text = f"{' '.join(place)}: {first.summary}"
    if len(text) + len(count) + 1 > LONGEST:
        text = without_names(text)
    while len(text) + len(count) + 1 > LONGEST and ". " in text:
        text = f"{text[:-1].rpartition('. ')[0]}."
    return f"{text} {count}" if len(text) + len(count) < LONGEST else f"{counted(len(found), 'evaluation set')} below."


def together(found: Mapping[str, Result], more: Sequence[str] = ()) -> Result:
    """Results for several names, such as human scores, as one; a note that only some have begins with their names."""
    said: dict[str, list[str]] = {}
    for name, one in found.items():
        for note in one.notes:
            said.setdefault(note, []).append(name)
    notes = [note if len(names) == len(found) else placed(", ".join(names), note) for note, names in said.items()]
    frame = pl.concat([one.frame for one in found.values()], how="diagonal")
    return Result(frame, [line for one in found.values() for line in one.lines], (*notes, *more))


def stacked(question: Answerable[R], found: Mapping[tuple[str, str], Answer[R]], skipped: Sequence[str]) -> Answer[R]:
    """Answers for several evaluation sets as one, whose rows begin with the evaluation set."""
    frames, shapes = [], []
    least: dict[str, Sequence[float]] = {}
    notes: list[str] = []
    total = question.headline_of_several(list(found.values()))
    for (testset, lp), one in found.items():
        place = {"testset": testset, "lp": lp}
        rest = [name for name in one.frame.columns if name not in place]
        frames.append(one.frame.select(*(pl.lit(value).alias(name) for name, value in place.items()), *rest))
        shapes.append({**place, **one.shape, "summary": one.summary} if isinstance(one.shape, Mapping) else None)
        own = [one.summary] if frames[1:] or total else []  # the first one's stands in front of all
        notes += [placed(f"{testset} {lp}", note) for note in (*own, *one.notes)]
        least |= dict.fromkeys(one.least, ())
    for name in least:
        none = [[math.nan] * one.frame.height for one in found.values()]
        each = [one.least.get(name, blank) for one, blank in zip(found.values(), none, strict=True)]
        least[name] = [value for of in each for value in of]
    first = next(iter(found.values()))
    return Answer(
        pl.concat(frames, how="diagonal"),
        "\n".join(one.signature for one in found.values()),
        (*notes, *skipped),
        question=question,
        results=tuple(result for one in found.values() for result in one.results),
        summary=total or _of_several(found),
        shape=None if None in shapes else shapes,
        least=least,
        digits=first.digits,
        is_no=any(one.is_no for one in found.values()),
    )
