"""Counts of simulations, kept as CSV (fields of the row, then fields of the count), and the loop that adds to them."""

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

_Row = TypeVar("_Row")
_Count = TypeVar("_Count")
_Kind = TypeVar("_Kind")
N_NAMES = 5  # fields of a row; what is behind them are numbers


def read_counts(path: Path, row: Callable[..., _Row], count: Callable[..., _Count]) -> dict[_Row, _Count]:
    """The results so far; none if there is no file."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        lines = [list(line.values()) for line in csv.DictReader(file)]
    return {row(*line[:N_NAMES]): count(*map(int, line[N_NAMES:])) for line in lines}


def write_counts(path: Path, fields: Sequence[str], lines: Iterable[Sequence[object]]) -> None:
    """Write the results; a half-written file never replaces them."""
    beside = path.with_suffix(".part")
    with beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(fields)
        writer.writerows(lines)
    beside.replace(path)


class Simulate(Protocol):
    """Adds worlds to a file for some minutes. only: kinds whose name contains this, each up to the most."""

    def __call__(self, minutes: float, database: Path | None, only: str, most: int, path: Path) -> None: ...


def run_counting(
    arguments: Sequence[str], program: str, out: Path, simulate: Simulate, lines: Callable[[Path], Iterable[str]]
) -> int:
    """Add worlds if minutes are given, then print the lines of the file."""
    parser = argparse.ArgumentParser(prog=f"python -m {program}")
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--db", type=Path, help="a warehouse with real scores")
    parser.add_argument("--only", default="", help="kinds in whose name this stands")
    parser.add_argument("--most", type=int, default=1000, help="worlds of a kind")
    parser.add_argument("--out", type=Path, default=out)
    given = parser.parse_args(arguments)
    if given.minutes:
        warnings.simplefilter("ignore", RuntimeWarning)
        simulate(given.minutes, given.db, given.only, given.most, given.out)
    for line in lines(given.out):
        print(line)
    return 0


def add_to_fewest(
    minutes: float,
    kinds: Sequence[_Kind],
    so_far: Callable[[_Kind], int],
    most: int,
    add: Callable[[_Kind], None],
) -> None:
    """Add worlds to the kind with the fewest of them, until the time is over or all have the most."""
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end and (left := [kind for kind in kinds if so_far(kind) < most]):
        add(min(left, key=so_far))


def interval(n_found: int, n_worlds: int) -> tuple[float, float]:
    """95% interval of a share, Clopper and Pearson's.

    >>> [round(end, 4) for end in interval(5, 100)]
    [0.0164, 0.1128]
    """
    from scipy.stats import beta

    low = 0.0 if n_found == 0 else float(beta.ppf(0.025, n_found, n_worlds - n_found + 1))
    high = 1.0 if n_found == n_worlds else float(beta.ppf(0.975, n_found + 1, n_worlds - n_found))
    return low, high


def share_in_words(n_found: int, n: int) -> str:
    """A share with its interval.

    >>> share_in_words(5, 100)
    '0.050 [0.016, 0.113] of 100'
    """
    low, high = interval(n_found, n)
    return f"{n_found / n:.3f} [{low:.3f}, {high:.3f}] of {n}"
