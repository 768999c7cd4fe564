"""Judgements: the score that marked errors make, and judgements in JSON with score, errors and time, as frames."""

import math
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import polars as pl

from warehouse.readers.text.tables import finite

OF_SEVERITY = {"minor": 1.0, "major": 5.0, "critical": 5.0}  # what an error without a weight counts, of a metric
DECIMALS = 9  # sums of weights such as 0.1 are rounded to so many, so that equal errors make equal scores


def score_of_errors(weights: Iterable[float | None]) -> float:
    """Minus the sum of the weights, in whatever order they stand; an error without a weight counts nothing.

    >>> score_of_errors([1.0, 0.1, 0.1]) == score_of_errors([0.1, 1.0, 0.1, None]) == -1.2
    True
    >>> score_of_errors([])
    0.0
    """
    return 0.0 - round(math.fsum(weight for weight in weights if weight is not None), DECIMALS)


def weight_of(severity: str | None) -> float | None:
    """What an error counts that has a severity and no weight; None where the severity is another.

    >>> weight_of("Major"), weight_of(" minor"), weight_of("undecided")
    (5.0, 1.0, None)
    """
    return OF_SEVERITY.get((severity or "").strip().lower())


JUDGEMENT = (
    *("judgement", "line", "lp", "domain", "document", "index", "segment"),
    *("item", "system", "scorer", "value", "rater", "time", "status"),
)
ERROR = ("judgement", "category", "severity", "span_start", "span_end")
_WHOLE = ("judgement", "line", "index", "segment", "span_start", "span_end")
_START_OF_TIME = datetime(1970, 1, 1)
_LATEST_TIME = 4e9  # seconds since then
_LAST_CHARACTER = 2**31 - 2


class WrongJudgementError(Exception):
    """What is no judgement, or no segment with some: what was found, and what was expected."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(found)
        self.found = found
        self.expected = expected


def frames(
    judgements: Iterable[tuple[Any, ...]], errors: Iterable[tuple[Any, ...]], testset: str | None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Judgements and their errors, in the order of JUDGEMENT and ERROR, as the contract of records has them."""
    kinds: dict[str, Any] = dict.fromkeys(_WHOLE, pl.Int64) | {"value": pl.Float64, "time": pl.Datetime("us")}
    judged, marked = ({name: kinds.get(name, pl.String) for name in names} for names in (JUDGEMENT, ERROR))
    table = pl.DataFrame(list(judgements), schema=judged, orient="row")
    return (
        table.with_columns(testset=pl.lit(testset), n=pl.lit(1)),
        pl.DataFrame(list(errors), schema=marked, orient="row"),
    )


def score_of(value: object) -> float | None:
    """The score, a finite number or its text; None where it is missing.

    Raises WrongJudgementError: it is something else.
    """
    number = number_of(value)
    if number is None and value is not None:
        raise WrongJudgementError(f"score {value!r}", "a finite number, or null where missing")
    return number


def number_of(value: object) -> float | None:
    """A finite number, or the one that a text holds; None where it is none."""
    if isinstance(value, str):
        return finite(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        return None
    return float(value)


def time_of(times: object) -> datetime | None:
    """The last of some times, given in seconds since 1970; None where it is not."""
    seconds = number_of(times[-1]) if isinstance(times, Sequence) and not isinstance(times, str) and times else None
    if seconds is None or not 0 <= seconds <= _LATEST_TIME:
        return None
    return _START_OF_TIME + timedelta(seconds=seconds)


def span_of(error: object) -> tuple[str | None, str | None, int | None, int | None]:
    """Category, severity, first character, and the one behind the last; the file names the last one.

    Raises WrongJudgementError: it is no error.
    """
    if isinstance(error, dict):
        category, severity = error.get("category"), error.get("severity")
        start, end = error.get("start_i"), error.get("end_i")
        span = [place for at in (start, end) if (place := _place_of(at)) is not None]
        if isinstance(category, str | None) and isinstance(severity, str | None):
            if start == end == "missing":
                return category, severity, None, None
            if len(span) == 2:
                return category, severity, span[0], span[1] + 1
    raise WrongJudgementError(f"error {str(error)!r}", "start_i, end_i and severity")


def _place_of(at: object) -> int | None:
    """The number of a character; None for what is none."""
    if isinstance(at, bool) or not isinstance(at, int | float) or not float(at).is_integer():
        return None
    return int(at) if 0 <= at <= _LAST_CHARACTER else None
