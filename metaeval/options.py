"""How it is computed and answered, whatever is asked: options, their limits and values; light, for the help."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from warehouse import Warehouse
    from warehouse.progress import Progress


def in_words(least: float | None, most: float | None) -> str:
    """Limits of a number; empty where there are none.

    >>> in_words(1, 1024), in_words(0, None), in_words(None, 15)
    ('from 1 to 1,024', 'from 0 on', 'of at most 15')
    """
    if least is None:
        return "" if most is None else f"of at most {most:,}"
    return f"from {least:,} on" if most is None else f"from {least:,} to {most:,}"


MOST_DRAWS = 1_000_000
"""More resamples would not end."""
MOST_SIMULATED = 10_000
MOST_DECIMALS = 15
"""Those of a double."""
LEAST_SIMULATED = 20
"""Data sets, and resamples of each, below which a simulated power says nothing."""


Test = Literal[
    "perm-inputs",
    "perm-systems",
    "perm-both",
    "pairs",
    "williams",
    "bootstrap",
    "bootstrap-normal",
    "jackknife-segments",
    "jackknife-systems",
    "jackknife-both",
]
Population = Literal["segments", "systems", "both"]
Unit = Literal["segment", "document"]
SystemScore = Literal["submitted", "mean", "judged-mean"]


@dataclass(frozen=True)
class Options:
    """How to compute, apart from the measure.

    system_score: source of system scores; None = the measure's default (submitted; for spa the judged mean).
    seed: the random seed. raw_ties: compare system scores as raw floats instead of within a tolerance.
    round_human: decimals to which human scores are rounded first; None = as stored.
    """

    system_score: SystemScore | None = None
    seed: int = 0
    raw_ties: bool = False
    round_human: int | None = None


@dataclass(frozen=True)
class Run:
    """How a question is answered; nothing of it changes a number.

    opened: gives the warehouse, open for reading. database: the file that keeps results; None keeps none.
    progress: told what is being done. for_reading: of the answer only its rows for reading are shown, so that whatever
    these do not show need not be computed.
    """

    opened: "Callable[[], AbstractContextManager[Warehouse]]"
    database: Path | None = None
    progress: "Progress | None" = None
    for_reading: bool = False
