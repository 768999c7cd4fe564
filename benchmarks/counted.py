"""What simulations counted so far, by row, as CSV: the fields of the row, then those of the count."""

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

_Row = TypeVar("_Row")
_Count = TypeVar("_Count")
N_NAMES = 5  # fields of a row; what is behind them are numbers


def read_counts(path: Path, row: Callable[..., _Row], count: Callable[..., _Count]) -> dict[_Row, _Count]:
    """The results so far; none where there is no file."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        lines = [list(line.values()) for line in csv.DictReader(file)]
    return {row(*line[:N_NAMES]): count(*map(int, line[N_NAMES:])) for line in lines}


def write_counts(path: Path, fields: Sequence[str], lines: Iterable[Sequence[object]]) -> None:
    """Keep the results; a file half written is never in their place."""
    beside = path.with_suffix(".part")
    with beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(fields)
        writer.writerows(lines)
    beside.replace(path)
