"""The table of docs/levels.md, from what the simulations counted."""

from collections.abc import Mapping

from benchmarks import levels
from benchmarks.null_worlds import POPULATIONS, Population
from docs.tables import table
from metaeval.measures.options import Population as PopulationOfTests
from metaeval.measures.registry import parse_measure
from metaeval.studies.significance.metric_tests import BY_DOCUMENT

_DATA = (levels.SIMULATED, *(" ".join(evalset) for evalset in levels.EVALSETS))
_TESTS_FOR: Mapping[Population, PopulationOfTests] = {
    "segments": "segments",
    "systems": "systems",
    "both": "both",
    "documents": "segments",
}
_COLUMNS: Mapping[str, tuple[Population, str]] = {
    **{f"new {population}": (population, "") for population in POPULATIONS[:3]},
    "new documents, tested by segment": ("documents", ""),
    "new documents, tested by document": ("documents", BY_DOCUMENT),
}
"""Their populations, and what stands behind the name of a test."""


def levels_of_defaults() -> str:
    """One row per measure: its default test for each population, and how often it finds equal metrics different."""
    counts: dict[tuple[object, ...], levels.Count] = {
        (row.measure, row.population, row.test, row.data): count
        for row, count in levels.read().items()
        if row.null == "equal" and row.effect == 0
    }
    rows = []
    for name in dict.fromkeys(measure for measure, *_ in counts):
        cells = []
        for population, by_unit in _COLUMNS.values():
            test = parse_measure(name).holding_test(_TESTS_FOR[population])
            places = [(name, population, f"{test}{by_unit}", data) for data in _DATA]
            found = [counts[place] for place in places if place in counts]
            shown = " ".join(_level(one.n_found, one.n_worlds) for one in found)
            cells.append(f"`{test}`: {shown}" if shown else "")
        if any(cells):
            rows.append([f"`{name}`", *cells])
    return table(["measure", *_COLUMNS], rows)


def _level(n_found: int, n_worlds: int) -> str:
    """A share, bold where it is outside .035 to .065.

    >>> _level(236, 1000), _level(50, 1000), _level(4, 400)
    ('**.236**', '.050', '**.010**')
    """
    share = n_found / n_worlds
    shown = f"{share:.3f}".removeprefix("0")
    return shown if 0.035 <= share <= 0.065 else f"**{shown}**"
