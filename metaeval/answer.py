"""What a question answers: a frame, what it is, and what a reader should know."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from metaeval.notes import placed
from metaeval.table import Table

if TYPE_CHECKING:
    import altair as alt

_LONGEST = 100  # characters of a short signature
_COUNTS = ("n_systems", "n_metrics", "n_segments", "n_pairs", "n_missing")


@dataclass(frozen=True)
class Answer(Table):
    """frame: its columns are documented with the question; what people read first comes first.

    signature: one line a result. notes: what a reader should know, one line each. question: what was asked.
    found: what pages and charts are made of. shape: nested values that JSON is made of, where it is not the rows.
    reading, reading_notes: rows and notes for reading, where they are others.
    least: by column, what a 0 of each row stands for.
    digits: decimals for reading, for all columns or by column. title: what the rows are about, in front of them.
    is_no: the answer is no, such as a printed value that is not met.
    """

    question: Any = None
    found: Any = None
    shape: object = None
    reading: pl.DataFrame | None = None
    reading_notes: tuple[str, ...] | None = None
    title: str | None = None
    least: Mapping[str, Sequence[float]] = field(default_factory=dict)
    digits: int | Mapping[str, int] | None = None
    is_no: bool = False

    @property
    def counts(self) -> dict[str, str]:
        """How many systems, metrics, segments and pairs the values stand on; a range where rows differ."""
        found = {}
        for name in _COUNTS:
            if name in self.frame.columns and (values := self.frame[name].drop_nulls()).len():
                low, high = values.min(), values.max()
                found[name.removeprefix("n_")] = str(low) if low == high else f"{low!s}-{high!s}"
        return found

    def short_signature(self) -> str:
        """What was asked that is not the default, and the counts, in at most 100 characters."""
        if self.question is None or not self.signature:
            return self.signature.partition("\n")[0][:_LONGEST]
        text = ", ".join([self.question.in_words(), *(f"{n} {name}" for name, n in self.counts.items() if n != "0")])
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"

    def chart(self) -> "alt.VConcatChart":
        """The answer drawn; what its rows do not have, such as intervals, is there if it was asked with `charted=True`.

        Raises QuestionError: the question has no chart.
        """
        found: alt.VConcatChart = self.question.chart(self)
        return found


def answer_of(question: object, table: Table, **more: Any) -> Answer:
    """The answer that a table is. more: further fields of `Answer`."""
    return Answer(table.frame, table.signature, table.notes, question=question, **more)


def stacked(question: object, found: Mapping[tuple[str, str], Answer], skipped: Sequence[str]) -> Answer:
    """Answers for several evaluation sets as one, whose rows begin with theirs."""
    frames, shapes = [], []
    least: dict[str, Sequence[float]] = {}
    notes: list[str] = []
    for (testset, lp), one in found.items():
        place = {"testset": testset, "lp": lp}
        rest = [name for name in one.frame.columns if name not in place]
        frames.append(one.frame.select(*(pl.lit(value).alias(name) for name, value in place.items()), *rest))
        shapes.append({**place, **one.shape} if isinstance(one.shape, Mapping) else None)
        notes += [placed(f"{testset} {lp}", note) for note in one.notes]
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
        found=tuple(one.found for one in found.values()),
        shape=None if None in shapes else shapes,
        least=least,
        digits=first.digits,
    )
