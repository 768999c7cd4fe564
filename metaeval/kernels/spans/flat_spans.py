"""Spans of many outputs as flat arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Span = Mapping[str, Any]  # start, end (half-open, characters), side, severity
SIDES = ("target", "source")
_IS_MAJOR = {"minor": False, "major": True, "critical": True}


@dataclass(frozen=True)
class Spans:
    """Marked errors, each a row: output (from 0), side (0 target, 1 source), start and end (half-open), severity."""

    output: np.ndarray
    side: np.ndarray
    start: np.ndarray
    end: np.ndarray
    is_major: np.ndarray

    @property
    def length(self) -> np.ndarray:
        length: np.ndarray = self.end - self.start
        return length

    def weights(self, of_severity: Mapping[str, float] | None) -> np.ndarray:
        """What each span counts: 1, or the weight of its severity."""
        if of_severity is None:
            return np.ones(len(self.start))
        return np.where(self.is_major, of_severity["major"], of_severity["minor"]).astype(float)


def flat(outputs: Sequence[Sequence[Span]]) -> Spans:
    """Lists of spans, one list an output, as arrays; a critical error counts as major.

    Left out are spans without a place (start or end None), empty ones, and those of another severity.
    """
    rows = [
        (number, SIDES.index(str(span.get("side", "target"))), span["start"], span["end"], _IS_MAJOR[severity])
        for number, spans in enumerate(outputs)
        for span in spans
        if (severity := str(span.get("severity")).lower()) in _IS_MAJOR
        and span["start"] is not None
        and span["end"] is not None
        and span["start"] < span["end"]
    ]
    table = np.array(rows, dtype=np.int64).reshape(len(rows), 5)
    output, side, start, end, is_major = table.T
    return Spans(output, side, start, end, is_major == 1)
