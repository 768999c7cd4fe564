"""Measured levels of tests: how often each finds a difference where there is none (docs/levels.md)."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

from metaeval.measures import Measure
from metaeval.options import Population, Test

#: What two metrics have in common: a measure's expected value, or the law of all their scores.
Null = Literal["equal", "exchangeable"]
NULLS: tuple[Null, ...] = get_args(Null)
NOMINAL = 0.05
LEAST_WORLDS = 200  # with fewer a level is not known well enough to be stated
MID_P = " mid_p"  # after a test's name: ties count half
BY_DOCUMENT = " by document"  # after a test's name: whole documents are swapped, resampled or left out
OFF = 0.5  # of the nominal level: further off than this is reported


@dataclass(frozen=True)
class Level:
    """Share of data sets with two such metrics in which a test has p ≤ 0.05, and what these were made from."""

    share: float
    data: str

    @property
    def distance(self) -> float:
        """From the nominal level."""
        return abs(self.share - NOMINAL)

    @property
    def is_off(self) -> bool:
        """Whether it differs from the nominal level by more than half."""
        return self.distance > OFF * NOMINAL


@cache
def _measured() -> dict[tuple[str, str, str, str], tuple[Level, ...]]:
    """(measure, test, population, null) -> levels on every kind of data."""
    found: dict[tuple[str, str, str, str], tuple[Level, ...]] = {}
    text = files(__package__).joinpath("levels.csv").read_text(encoding="utf-8")
    for line in csv.DictReader(text.splitlines()):
        n_worlds = int(line["n_worlds"])
        if float(line["effect"]) == 0 and n_worlds >= LEAST_WORLDS:
            key = (line["measure"], line["test"], line["population"], line["null"])
            found[key] = (*found.get(key, ()), Level(int(line["n_found"]) / n_worlds, line["data"]))
    return found


def measured_levels(
    measure: Measure, test: Test, population: Population, *, mid_p: bool = False, whole_documents: bool = False
) -> Mapping[Null, Level]:
    """By null, the level of a test for a population that is furthest off over the kinds of data, where measured.

    mid_p: with ties counted half, which matters to measures that take few values alone. whole_documents: of a test by
    document where documents are new.
    """
    named = f"{test}{MID_P}" if mid_p and measure.takes_few_values else test
    named, drawn = (f"{named}{BY_DOCUMENT}", "documents") if whole_documents else (named, population)
    found = {null: _measured().get((measure.measured_as, named, drawn, null), ()) for null in NULLS}
    return {null: max(levels, key=lambda one: one.distance) for null, levels in found.items() if levels}
