"""Errors that people marked or metrics predicted in outputs: read for some segments, and told in one line each."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from queries.catalog import ask
from warehouse import Warehouse
from warehouse.facts.human_protocols import protocol_of


@dataclass(frozen=True)
class MarkedError:
    """One error. severity: spelled the same for all files. weight: its penalty, positive; None where there is none.

    start, end: the span's first character, from 0, and the one after it; None where nothing is marked in the text.
    is_in_source: whether the span lies in the source. rater: None where not known. metric: whose prediction it is; None
    for what people marked.
    """

    rater: str | None
    category: str | None
    severity: str | None
    weight: float | None
    start: int | None
    end: int | None
    is_in_source: bool
    metric: str | None = None

    @property
    def label(self) -> str:
        """Severity and category, such as "major accuracy/omission"; of a prediction also the metric."""
        return " ".join(word for word in (self.severity, self.category, self.metric) if word) or "error"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def error_schema() -> dict[str, Any]:
    """Polars' types of an error's fields."""
    schema: dict[str, Any] = dict.fromkeys(("rater", "category", "severity"), pl.String)
    schema |= {"weight": pl.Float64, "start": pl.Int64, "end": pl.Int64, "is_in_source": pl.Boolean}
    return schema | {"metric": pl.String}


Errors = Mapping[tuple[str, int], Sequence[MarkedError]]  # system and segment -> errors


def human_with_errors(warehouse: Warehouse, evalset: int, humans: Sequence[str]) -> str | None:
    """The human score whose judgements have the errors behind one of these: itself, else one of its protocol.

    humans: as preferred; the first with errors counts.
    """
    there = ask(warehouse, "humans_with_errors", evalset=evalset)["human"].to_list()
    alike = [name for human in humans for name in there if protocol_of(name) == protocol_of(human)]
    return next((name for name in (*humans, *alike) if name in there), None)


def marked_errors(
    warehouse: Warehouse, evalset: int, human: str | None, segments: Sequence[int], metrics: Sequence[str] = ()
) -> Errors:
    """The errors marked for a human score, then those that metrics predicted, by system and segment; those of the
    text's beginning first."""
    found: dict[tuple[str, int], list[MarkedError]] = {}
    rows = ask(warehouse, "marked_spans", evalset=evalset, human=human, metrics=list(metrics), segments=list(segments))
    for system, segment, *error in rows.iter_rows():
        found.setdefault((system, segment), []).append(MarkedError(*error))
    return found
