"""Tables of docs/levels.md, from what the simulations counted."""

from collections.abc import Mapping

from benchmarks import coverage, levels, system_levels
from benchmarks.counted import interval
from benchmarks.null_worlds import POPULATIONS
from benchmarks.null_worlds import Population as PopulationOfWorlds
from docs.tables import table
from metaeval.measures import parse_measure
from metaeval.options import Population
from metaeval.significance.metric_tests import MID_P, Null, by_default
from metaeval.significance.options import TestOptions

_POPULATIONS = {"segments": "new segments", "systems": "new systems", "both": "new both", "documents": "new documents"}


_DATA = (levels.SIMULATED, *(" ".join(evalset) for evalset in levels.EVALSETS))
_POPULATION_OF: Mapping[PopulationOfWorlds, Population] = {
    "segments": "segments",
    "systems": "systems",
    "both": "both",
    "documents": "segments",
}


def levels_of(null: Null) -> str:
    """One row a population, measure and test: how often it has p ≤ .05 where there is no difference, by data."""
    found = {
        row: count
        for row, count in levels.read().items()
        if row.null == null and row.effect == 0 and levels.is_for(row.population, row.measure, row.test)
    }
    shares = {
        (row.population, row.measure, row.test, row.data): _level(count.n_found, count.n_worlds)
        for row, count in found.items()
    }
    tested = sorted(
        dict.fromkeys((row.population, row.measure, row.test) for row in found),
        key=lambda one: (POPULATIONS.index(one[0]), [*levels.TESTED].index(one[1])),
    )
    rows = [
        [
            _POPULATIONS[population],
            f"`{name}`",
            f"`{test}`{', default' if test == _default(name, population) else ''}",
            *(shares.get((population, name, test, data), "") for data in _DATA),
        ]
        for population, name, test in tested
    ]
    return table(["data sets of", "measure", "test", *_DATA], rows)


def _default(name: str, population: PopulationOfWorlds) -> str:
    """The default test of a measure for a population, with ties as they are counted by default."""
    measure, of_tests = parse_measure(name), _POPULATION_OF[population]
    if measure.holding_test(of_tests) is None:
        return ""
    testing = by_default(measure, measure.default_test(of_tests), of_tests, TestOptions())
    return f"{testing.test}{MID_P if testing.mid_p else ''}"


def _level(n_found: int, n_worlds: int) -> str:
    """A share as `_of`, bold where it is outside .035 to .065.

    >>> _level(236, 1000), _level(50, 1000), _level(4, 400)
    ('**.236**', '.050', '**.010** (400)')
    """
    share, *number = _of(n_found, n_worlds).split(" ")
    return " ".join([share if 0.035 <= n_found / n_worlds <= 0.065 else f"**{share}**", *number])


def _of(n_found: int, n_worlds: int) -> str:
    """A share, with the number of worlds where that is not 1,000.

    >>> _of(236, 1000), _of(20, 400)
    ('.236', '.050 (400)')
    """
    shown = f"{n_found / n_worlds:.3f}".removeprefix("0")
    return shown if n_worlds == 1000 else f"{shown} ({n_worlds})"


def power() -> str:
    """One row a population, measure and test: how often it finds a metric that is worse by noise of two sizes."""
    found = {row: count for row, count in levels.read().items() if row.effect}
    columns = [(data, effect) for data in _DATA for effect in levels.EFFECTS]
    shares = {
        (row.population, row.measure, row.test, row.data, row.effect): _of(count.n_found, count.n_worlds)
        for row, count in found.items()
    }
    columns = [column for column in columns if any(known[3:] == column for known in shares)]
    rows = [
        [_POPULATIONS[one[0]], f"`{one[1]}`", f"`{one[2]}`", *(shares.get((*one, *column), "") for column in columns)]
        for one in dict.fromkeys((row.population, row.measure, row.test) for row in found)
    ]
    return table(["data sets of", "measure", "test", *(f"{data}, {effect:g}" for data, effect in columns)], rows)


def intervals() -> str:
    """One row a measure and type of interval: how often it holds the truth, by data and what is resampled."""
    found = coverage.read()
    shares = {
        (row.measure, row.method, row.data, row.resample, row.of): _held(count.n_holding, count.n_intervals)
        for row, count in found.items()
    }
    columns = list(dict.fromkeys((row.data, row.resample, row.of) for row in found))
    kinds = dict.fromkeys((row.measure, row.method) for row in found)
    rows = [[f"`{m}`", f"`{how}`", *(shares.get((m, how, *column), "") for column in columns)] for m, how in kinds]
    named = [f"{data}, `{resample}`: {of}" for data, resample, of in columns]
    return table(["measure", "interval", *named], rows)


def _held(n_holding: int, n_intervals: int) -> str:
    """A share of intervals; bold where its 95% binomial interval excludes 93 to 97%.

    >>> _held(90, 100), _held(80, 100)
    ('.90', '**.80**')
    """
    low, high = interval(n_holding, n_intervals)
    shown = f"{n_holding / n_intervals:.2f}".removeprefix("0")
    return f"**{shown}**" if high < 0.93 or low > 0.97 else shown


def system_tests() -> str:
    """One row a test of `systems` and its unit: how often it finds one of two exchangeable systems better."""
    found = system_levels.read()
    shares = {row: _level(count.n_found, count.n_worlds) for row, count in found.items()}
    columns = dict.fromkeys((row.data, row.scorer) for row in found)
    rows = []
    for test, unit, null in dict.fromkeys((row.test, row.unit, row.null) for row in found):
        of_row = {
            (row.data, row.scorer): share
            for row, share in shares.items()
            if (row.test, row.unit, row.null) == (test, unit, null)
        }
        rows.append([_POPULATIONS[null], f"`{test}`", unit, *(of_row.get(column, "") for column in columns)])
    rows.sort(key=lambda row: row[0], reverse=True)
    return table(["data sets of", "test", "unit", *(f"{data}, {scorer}" for data, scorer in columns)], rows)
