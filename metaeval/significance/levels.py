"""Measured levels of tests: how often each finds a difference between equally good metrics (docs/levels.md)."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from metaeval.measures import Measure
from metaeval.measures.applicable import Population, Test

NOMINAL = 0.05
LEAST_WORLDS = 200  # with fewer a level is not known well enough to be stated
MID_P = " --mid-p"  # after a test's name: ties count half
OFF = 0.5  # of the nominal level: further off than this is reported


@dataclass(frozen=True)
class Level:
    """Share of data sets with two equally good metrics in which a test has p ≤ 0.05, and what these were made from."""

    share: float
    data: str

    @property
    def is_off(self) -> bool:
        """Whether it differs from the nominal level by more than half."""
        return abs(self.share - NOMINAL) > OFF * NOMINAL


@cache
def _measured() -> dict[tuple[str, str, str], tuple[Level, ...]]:
    """(measure, test, null) -> levels on every kind of data."""
    found: dict[tuple[str, str, str], tuple[Level, ...]] = {}
    text = files(__package__).joinpath("levels.csv").read_text(encoding="utf-8")
    for line in csv.DictReader(text.splitlines()):
        n_worlds = int(line["n_worlds"])
        if float(line["effect"]) == 0 and n_worlds >= LEAST_WORLDS:
            key = (line["measure"], line["test"], line["null"])
            found[key] = (*found.get(key, ()), Level(int(line["n_found"]) / n_worlds, line["data"]))
    return found


def measured_level(measure: Measure, test: Test, population: Population, *, mid_p: bool = False) -> Level | None:
    """The level of a test for a population that is furthest off over the kinds of data; None where not measured.

    mid_p: with ties counted half, which matters to measures that take few values alone.
    """
    named = f"{test}{MID_P}" if mid_p and measure.takes_few_values else test
    levels = _measured().get((measure.measured_as, named, population), ())
    return max(levels, key=lambda level: abs(level.share - NOMINAL), default=None)
