"""Human evaluation as WMT25 releases it: one segment a JSON line, with all judgements of each system's output.

`wmt25-genmt-humeval.jsonl` has a judgement for each system and round (`human1`, `annotator1`, `errors1`, `times1`,
`human2` …): the human scores `esa-human1` and `esa-human2`. Other files have a list of judgements for each system,
their score under `score` or `human`: the human score `esa`, or `esa-control` in the file of control segments.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from warehouse.errors import MOST_FAULTS, Fault
from warehouse.readers.claims import Claim, Given
from warehouse.readers.records import Records
from warehouse.readers.text.json_lines import first_object, json_objects
from warehouse.readers.text.tables import text_of
from warehouse.readers.vocabulary import testset_of
from warehouse.wording import counted

_HUMAN = "esa"
_SEPARATOR = "_#_"
_ROUND = re.compile(r"human(?P<round>[0-9]*)")
_START_OF_TIME = datetime(1970, 1, 1)
_LATEST_TIME = 4e9  # seconds since then
_LAST_CHARACTER = 2**31 - 2


class Wmt25HumanReader:
    """Reader of WMT25's human evaluation."""

    name = "wmt25-human/2"

    def claim(self, path: Path, head: Sequence[str], given: Given) -> Claim | str | None:
        first = first_object(head)
        if first is None or not isinstance(first.get("scores"), dict):
            return None
        if not isinstance(first.get("doc_id"), str) or first["doc_id"].count(_SEPARATOR) != 3:
            return None
        testset = given.testset or testset_of(path)
        if testset is None:
            return "human evaluation of an unknown test set; name it with --testset"
        return Claim.of_judgements(path, self.name, "humeval", testset, given.human or _HUMAN)

    def parse(self, data: bytes, claim: Claim, given: Given) -> Records:
        text, faults = text_of(data, claim.path)
        if not text:
            return Records(faults=faults)
        rows = _Rows(claim.human or _HUMAN, "-control" if "control" in claim.path.name else "")
        n_wrong = 0
        for line, segment in json_objects(text, claim.path, faults):
            try:
                rows.add(line, segment)
            except _WrongSegmentError as wrong:
                n_wrong += 1
                if n_wrong <= MOST_FAULTS:
                    faults.append(Fault(str(claim.path), line, wrong.found, wrong.expected))
        if n_wrong > MOST_FAULTS:
            faults.append(Fault(str(claim.path), 0, f"{n_wrong - MOST_FAULTS} more invalid lines"))
        whole = ("judgement", "line", "index")
        kinds: dict[str, Any] = dict.fromkeys(whole, pl.Int64) | {"value": pl.Float64, "time": pl.Datetime("us")}
        judged = {name: kinds.get(name, pl.String) for name in _JUDGEMENT}
        marked = {name: pl.String if name == "severity" else pl.Int64 for name in _ERROR}
        judgements = pl.DataFrame(rows.judgements, schema=judged, orient="row")
        return Records(
            judgements=judgements.with_columns(testset=pl.lit(claim.testset), n=pl.lit(1), status=pl.lit("valid")),
            ratings=pl.DataFrame(rows.errors, schema=marked, orient="row"),
            scores_from_judgements=True,
            faults=faults,
            notes=[
                f"{counted(len(rows.judgements), 'judgement')} with {counted(len(rows.errors), 'error')}; "
                f"{counted(rows.n_unjudged, 'segment')} not judged"
            ],
        )


_JUDGEMENT = (
    "judgement",
    "line",
    "lp",
    "domain",
    "document",
    "index",
    "item",
    "system",
    "scorer",
    "value",
    "rater",
    "time",
)
_ERROR = ("judgement", "severity", "span_start", "span_end")


class _WrongSegmentError(Exception):
    """A line that is no segment of this format."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(found)
        self.found = found
        self.expected = expected


@dataclass
class _Rows:
    """Judgements and errors so far, in the order of `_JUDGEMENT` and `_ERROR`.

    human: what the names of the human scores begin with. of_lists: the end of the name where judgements are a list.
    """

    human: str
    of_lists: str
    judgements: list[tuple[Any, ...]] = field(default_factory=list)
    errors: list[tuple[Any, ...]] = field(default_factory=list)
    n_unjudged: int = 0

    def add(self, line: int, segment: dict[str, Any]) -> None:
        """Add all that a line holds, or nothing.

        Raises _WrongSegmentError: it is no segment.
        """
        item = segment.get("doc_id")
        place = _place(item)
        judgements: list[tuple[Any, ...]] = []
        errors: list[tuple[Any, ...]] = []
        for system, suffix, one in _judgements(segment.get("scores"), self.of_lists):
            number = len(self.judgements) + len(judgements) + 1
            judged = (
                system,
                f"{self.human}{suffix}",
                _score(one["score"]),
                one["annotator"],
                _last_time(one["times"]),
            )
            judgements.append((number, line, *place, item, *judged))
            errors += [(number, *_span(error)) for error in one["errors"]]
        self.judgements += judgements
        self.errors += errors
        self.n_unjudged += not judgements


def _place(item: object) -> tuple[str, str, str, int]:
    """Language pair, domain, document and index, from 1; the file counts from 0."""
    parts = item.split(_SEPARATOR) if isinstance(item, str) else []
    if len(parts) != 4 or not re.fullmatch(r"[0-9]{1,9}", parts[3]):
        expected = "language pair, domain, document and number, with _#_ between them"
        raise _WrongSegmentError(f"doc_id {item!r}", expected)
    return parts[0], parts[1], parts[2], int(parts[3]) + 1


def _judgements(scores: object, of_lists: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """System, end of the human score's name, and the judgement under its names without the round."""
    if not isinstance(scores, dict):
        raise _WrongSegmentError("no scores", "an object with the judgements of each system")
    for system, judged in scores.items():
        if isinstance(judged, dict):
            rounds = [found["round"] for key in judged if (found := _ROUND.fullmatch(key)) is not None]
            if judged and not rounds:
                raise _without_score(system, judged)
            for number in rounds:
                one = {name: judged.get(name + number) for name in _FIELDS}
                yield system, f"-human{number}", _judgement(one | {"score": judged["human" + number]}, system)
        elif isinstance(judged, list) and all(isinstance(one, dict) for one in judged):
            for one in judged:
                key = next((key for key in _SCORES if key in one), None)
                if key is None:
                    raise _without_score(system, one)
                yield (
                    system,
                    of_lists,
                    _judgement({name: one.get(name) for name in _FIELDS} | {"score": one[key]}, system),
                )
        else:
            raise _WrongSegmentError(f"scores of {system!r}", "an object, or a list of objects")


def _without_score(system: str, judged: dict[str, Any]) -> _WrongSegmentError:
    return _WrongSegmentError(
        f"a judgement of {system!r} with the keys {', '.join(judged) or '(none)'}", "its score under score or human"
    )


_SCORES = ("score", "human")
_FIELDS = ("annotator", "errors", "times")


def _judgement(judged: dict[str, Any], system: str) -> dict[str, Any]:
    """The judgement, if its annotator is text and its errors are a list; either may be missing."""
    judged["errors"] = [] if judged["errors"] is None else judged["errors"]
    if not isinstance(judged["errors"], list) or not isinstance(judged["annotator"], str | None):
        raise _WrongSegmentError(f"a judgement of {system!r}", "an annotator and a list of errors")
    return judged


def _score(value: object) -> float | None:
    if value is None or (isinstance(value, float) and abs(value) < float("inf")):
        return value
    raise _WrongSegmentError(f"score {value!r}", "a finite number, or null where missing")


def _last_time(times: object) -> datetime | None:
    """The time of the last interaction, given in seconds since 1970; None where it is not."""
    seconds = times[-1] if isinstance(times, list) and times else None
    if not isinstance(seconds, float) or not 0 <= seconds <= _LATEST_TIME:
        return None
    return _START_OF_TIME + timedelta(seconds=seconds)


def _span(error: object) -> tuple[str | None, int | None, int | None]:
    """Severity, first character, and the one behind the last; the file names the last one."""
    if isinstance(error, dict) and isinstance(error.get("severity"), str | None):
        start, end = error.get("start_i"), error.get("end_i")
        if start == end == "missing":
            return error.get("severity"), None, None
        span = [at for at in (start, end) if isinstance(at, float) and at.is_integer() and 0 <= at <= _LAST_CHARACTER]
        if len(span) == 2:
            return error.get("severity"), int(span[0]), int(span[1]) + 1
    raise _WrongSegmentError(f"error {str(error)!r}", "start_i, end_i and severity")
