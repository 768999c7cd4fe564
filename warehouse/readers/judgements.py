"""Judgements: scores computed from marked errors, and JSON judgements with score, errors and time as frames."""

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

import polars as pl

from warehouse.readers.text.tables import finite

OF_SEVERITY = {"minor": 1.0, "major": 5.0, "critical": 5.0}  # what an error without a weight counts, of a metric
DECIMALS = 9  # sums of weights such as 0.1 are rounded to so many, so that equal errors make equal scores


def score_of_errors(weights: Iterable[float | None]) -> float:
    """Minus the sum of the weights, independent of their order; an error without a weight counts 0.

    >>> score_of_errors([1.0, 0.1, 0.1]) == score_of_errors([0.1, 1.0, 0.1, None]) == -1.2
    True
    >>> score_of_errors([])
    0.0
    """
    return 0.0 - round(math.fsum(weight for weight in weights if weight is not None), DECIMALS)


def weight_of(severity: str | None) -> float | None:
    """The weight of an error that has only a severity; None for other severities.

    >>> weight_of("Major"), weight_of(" minor"), weight_of("undecided")
    (5.0, 1.0, None)
    """
    return OF_SEVERITY.get((severity or "").strip().lower())


JUDGEMENT = (
    *("judgement", "line", "lp", "domain", "document", "index", "segment"),
    *("item", "system", "scorer", "value", "rater", "time", "status"),
)
ERROR = ("judgement", "category", "severity", "span_start", "span_end", "is_source_error")
Error = tuple[str | None, str | None, int | None, int | None, bool | None]  # as in ERROR
SPAN = "spans with start, end (characters from 0) and severity"
_SIDES = {"target": False, "source": True}
_MISSING = "missing"
_WHOLE = ("judgement", "line", "index", "segment", "span_start", "span_end")
_START_OF_TIME = datetime(1970, 1, 1)
_LATEST_TIME = 4e9  # seconds since then
_LAST_CHARACTER = 2**31 - 2


class WrongJudgementError(ValueError):
    """Invalid judgement, error or segment: what was found, and what was expected."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(found)
        self.found = found
        self.expected = expected


def frames(
    judgements: Iterable[tuple[Any, ...]], errors: Iterable[tuple[Any, ...]], testset: str | None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Frames of judgements and their errors in the form of records. Columns in the order of JUDGEMENT and ERROR."""
    kinds: dict[str, Any] = dict.fromkeys(_WHOLE, pl.Int64) | {"value": pl.Float64, "time": pl.Datetime("us")}
    kinds["is_source_error"] = pl.Boolean
    judged, marked = ({name: kinds.get(name, pl.String) for name in names} for names in (JUDGEMENT, ERROR))
    table = pl.DataFrame(list(judgements), schema=judged, orient="row")
    return (
        table.with_columns(testset=pl.lit(testset), n=pl.lit(1)),
        pl.DataFrame(list(errors), schema=marked, orient="row"),
    )


def score_of(value: object) -> float | None:
    """The score, from a finite number or its text; None if missing.

    Raises WrongJudgementError: it is anything else.
    """
    number = number_of(value)
    if number is None and value is not None:
        raise WrongJudgementError(f"score {value!r}", "a finite number, or null if missing")
    return number


def number_of(value: object) -> float | None:
    """A finite number, perhaps parsed from a text; None for anything else."""
    if isinstance(value, str):
        return finite(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        return None
    return float(value)


def time_of(times: object) -> datetime | None:
    """The last of some times in seconds since 1970; None if it is not a time."""
    seconds = number_of(times[-1]) if isinstance(times, Sequence) and not isinstance(times, str) and times else None
    if seconds is None or not 0 <= seconds <= _LATEST_TIME:
        return None
    return _START_OF_TIME + timedelta(seconds=seconds)


def span_of(error: object, needs: Literal["place", "severity"] | None = None, *, is_inclusive: bool = False) -> Error:
    """One error from JSON: start and end, severity, category and side; a list of categories is a path.

    needs: required keys; if there are none, a start or an end may stand alone. is_inclusive: the end is the
    last character. `missing` for start and end marks an omission, which has no position.
    Raises WrongJudgementError: it is not a valid error.
    """
    if not isinstance(error, Mapping):
        raise WrongJudgementError(f"error span {str(error)!r}", SPAN)
    start, end = (
        next((error[key] for key in (at, f"{at}_i", f"{at}_index") if key in error), None) for at in ("start", "end")
    )
    category, severity, side = (error.get(key) for key in ("category", "severity", "side"))
    if isinstance(category, list):
        category = "/".join(map(str, category))
    in_source = error.get("is_source_error")
    if side not in (*_SIDES, None) or not isinstance(in_source, bool | None):
        raise WrongJudgementError(f"an error span with side {side!r}", SPAN)
    if not all(isinstance(text, str | None) for text in (category, severity)) or (
        needs == "severity" and severity is None
    ):
        raise WrongJudgementError(f"an error span with severity {severity!r}", SPAN)
    first, last = (_place_of(at) for at in (start, end))
    is_nowhere = first is None and (start, end) != (_MISSING, _MISSING)
    if (needs and (first is None) != (last is None)) or (needs == "place" and is_nowhere):
        raise WrongJudgementError(f"an error span from {start!r} to {end!r}", SPAN)
    behind = None if last is None else last + is_inclusive
    return category, severity, first, behind, _SIDES[side] if in_source is None and side else in_source


def place_of_text(quoted: str, text: str, start: int, end: int) -> tuple[int, int] | None:
    """Position of a span's words in a text; None if they are not at the span's place and not in the text exactly once.

    Blanks at the ends do not belong to a span: some programs include the one before a word.
    >>> [place_of_text("cat", "the cat", *place) for place in ((4, 7), (3, 7), (0, 3))]
    [(4, 7), (4, 7), (4, 7)]
    >>> place_of_text("a", "a cat", 4, 5), place_of_text("dog", "a cat", 2, 5)
    (None, None)
    """
    words = quoted.strip()
    if text[start:end] == quoted or not words:
        return start, end
    if text[start:end].strip() == words:
        first = text.index(words, start)
    elif text.count(words) == 1:
        first = text.index(words)
    else:
        return None
    return first, first + len(words)


def _place_of(at: object) -> int | None:
    """The number of a character, from 0; None if absent or `missing`."""
    if at is None or at in ("", _MISSING):
        return None
    if isinstance(at, bool) or not isinstance(at, int | float) or at % 1 or not 0 <= at <= _LAST_CHARACTER:
        raise WrongJudgementError(f"an error span with character {at!r}", SPAN)
    return int(at)
