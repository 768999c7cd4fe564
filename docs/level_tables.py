"""Tables of docs/levels.md, from what the simulations counted."""

from collections.abc import Mapping
from typing import get_args

from benchmarks import coverage, levels, system_levels
from benchmarks.counted import interval
from benchmarks.null_worlds import POPULATIONS
from benchmarks.null_worlds import Population as PopulationOfWorlds
from docs.tables import table
from metaeval.kernels.resampling.bootstrap import Resample
from metaeval.measures import parse_measure
from metaeval.measures.applicable import Population
from metaeval.significance.levels import MID_P, Null
from metaeval.significance.metric_tests import by_default
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
    found = {row: count for row, count in levels.read().items() if row.null == null and row.effect == 0}
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
    """A share, with the number of worlds where that is not 1,000; bold where it is outside .035 to .065.

    >>> _level(236, 1000), _level(50, 1000), _level(20, 400)
    ('**.236**', '.050', '.050 (400)')
    """
    share = n_found / n_worlds
    shown = f"{share:.3f}".removeprefix("0")
    shown = shown if 0.035 <= share <= 0.065 else f"**{shown}**"
    return shown if n_worlds == 1000 else f"{shown} ({n_worlds})"


def power_of(data: str) -> str:
    """One row a measure and test: how often it finds a metric that is worse by noise of two sizes."""
    found = {row: count for row, count in levels.read().items() if row.data == data and row.effect in levels.EFFECTS}
    shares = {
        (row.population, row.measure, row.test, row.effect): _share(count.n_found, count.n_worlds, off=1.0)
        for row, count in found.items()
    }
    tested = dict.fromkeys((row.population, row.measure, row.test) for row in found)
    rows = [
        [
            _POPULATIONS[null],
            f"`{m}`",
            f"`{test}`",
            *(shares.get((null, m, test, effect), "") for effect in levels.EFFECTS),
        ]
        for null, m, test in tested
    ]
    return table(["data sets of", "measure", "test", *(f"noise {effect:g}" for effect in levels.EFFECTS)], rows)


def coverage_of(data: str) -> str:
    """One row a measure and type of interval: how often it holds the truth, for what is resampled."""
    found = {row: count for row, count in coverage.read().items() if row.data == data}
    shares = {
        (row.measure, row.method, row.resample, row.of): _held(count.n_holding, count.n_intervals)
        for row, count in found.items()
    }
    columns = [(one, of) for one in get_args(Resample) for of in ("value", "difference")]
    columns = [column for column in columns if any(known[2:] == column for known in shares)]
    kinds = dict.fromkeys((row.measure, row.method) for row in found)
    rows = [[f"`{m}`", f"`{how}`", *(shares.get((m, how, *column), "") for column in columns)] for m, how in kinds]
    return table(["measure", "interval", *(f"`{one}`: {of}" for one, of in columns)], rows)


def _held(n_holding: int, n_intervals: int) -> str:
    """A share of intervals with its 95% binomial interval and their number; bold where that excludes 93 to 97%.

    >>> _held(90, 100), _held(80, 100)
    ('.900 [.824, .951] 100', '**.800** [.708, .873] 100')
    """
    low, high = interval(n_holding, n_intervals)
    shown = f"{n_holding / n_intervals:.3f}".removeprefix("0")
    shown = f"**{shown}**" if high < 0.93 or low > 0.97 else shown
    ends = ", ".join(f"{end:.3f}".removeprefix("0") for end in (low, high))
    return f"{shown} [{ends}] {n_intervals}"


def system_tests() -> str:
    """One row a test of `systems` and its unit: how often it finds one of two equally good systems better."""
    found = system_levels.read()
    shares = {row: _share(count.n_found, count.n_worlds) for row, count in found.items()}
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


def _share(n_found: int, n_worlds: int, off: float = 0.025) -> str:
    """A share with its 95% binomial interval and the number of worlds; bold where it is off .05 by more than `off`.

    >>> _share(236, 1000), _share(50, 1000)
    ('**.236** [.210, .264] 1000', '.050 [.037, .065] 1000')
    """
    share = n_found / n_worlds
    low, high = (f"{end:.3f}".removeprefix("0") for end in interval(n_found, n_worlds))
    shown = f"{share:.3f}".removeprefix("0")
    return f"{f'**{shown}**' if abs(share - 0.05) > off else shown} [{low}, {high}] {n_worlds}"
