"""Tables of docs/levels.md, from what the simulations counted."""

from typing import get_args

from benchmarks import coverage, levels, system_levels
from benchmarks.counted import interval
from benchmarks.null_worlds import NULLS, Null
from docs.tables import table
from metaeval.kernels.resampling.bootstrap import Resample
from metaeval.measures import parse_measure
from metaeval.measures.applicable import Test
from metaeval.significance.levels import MID_P
from metaeval.significance.metric_tests import by_default
from metaeval.significance.options import TestOptions

_POPULATIONS = {"segments": "new segments", "systems": "new systems", "both": "new both", "documents": "new documents"}


def levels_of(data: str) -> str:
    """One row a measure and test: how often it has p ≤ .05 where the metrics are equally good, for each population."""
    found = {row: count for row, count in levels.read().items() if row.data == data and row.effect == 0}
    shares = {(row.measure, row.test, row.null): _share(count.n_found, count.n_worlds) for row, count in found.items()}
    tested = dict.fromkeys((row.measure, row.test) for row in found)
    columns = [null for null in NULLS if any(null == known for _, _, known in shares)]
    rows = [[f"`{m}`", f"`{test}`", *(shares.get((m, test, null), "") for null in columns)] for m, test in tested]
    return table(["measure", "test", *(_POPULATIONS[null] for null in columns)], rows)


def power_of(data: str) -> str:
    """One row a measure and test: how often it finds a metric that is worse by noise of two sizes."""
    found = {row: count for row, count in levels.read().items() if row.data == data and row.effect in levels.EFFECTS}
    shares = {
        (row.null, row.measure, row.test, row.effect): _share(count.n_found, count.n_worlds, off=1.0)
        for row, count in found.items()
    }
    tested = dict.fromkeys((row.null, row.measure, row.test) for row in found)
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


_DATA = ("simulated", *(" ".join(evalset) for evalset in levels.EVALSETS))
#: What was the default, or is the organisers' test, of a measure in worlds of a kind.
_BEFORE: dict[tuple[Null, str], Test] = {
    ("segments", "acc_eq(by=item)"): "pairs",
    ("segments", "acc_eq(by=none)"): "pairs",
    ("segments", "pearson(by=none)"): "perm-both",
    ("segments", "pearson"): "williams",
    ("segments", "pa"): "perm-both",
    ("segments", "kendall"): "perm-inputs",
    ("segments", "spearman"): "perm-inputs",
    ("segments", "tau_ap"): "perm-inputs",
    ("segments", "spa(n=99)"): "perm-both",
    ("systems", "acc_eq(by=item)"): "pairs",
    ("systems", "tau_b(by=item)"): "perm-inputs",
    ("systems", "pearson(by=item)"): "perm-inputs",
    ("systems", "pearson(by=none)"): "perm-both",
    ("systems", "pdp"): "perm-inputs",
    ("systems", "pearson"): "williams",
    ("systems", "pa"): "perm-both",
    ("systems", "kendall"): "perm-systems",
    ("systems", "spearman"): "perm-systems",
    ("systems", "tau_ap"): "perm-systems",
    ("both", "acc_eq(by=item)"): "pairs",
    ("both", "tau_b(by=item)"): "perm-inputs",
    ("both", "pearson(by=item)"): "perm-inputs",
    ("both", "pearson(by=none)"): "perm-both",
    ("both", "pdp"): "perm-inputs",
    ("both", "pearson"): "perm-both",
    ("both", "pa"): "perm-both",
    ("both", "spa(n=99)"): "perm-both",
}


def before_and_after() -> str:
    """One row a population and measure: how often the former test and the default find what is not there."""
    found = {
        (row.data, row.null, row.measure, row.test): _share(count.n_found, count.n_worlds).split(" ")[0]
        for row, count in levels.read().items()
        if row.effect == 0
    }
    rows = []
    for (null, name), before in _BEFORE.items():
        assert null != "documents"
        measure = parse_measure(name)
        testing = by_default(measure, measure.default_test(null), null, TestOptions())
        now = f"{testing.test}{MID_P if testing.mid_p else ''}"
        shares = [[found.get((data, null, name, test), "") for data in _DATA] for test in (before, now)]
        rows.append([_POPULATIONS[null], f"`{name}`", f"`{before}`", *shares[0], f"`{now}`", *shares[1]])
    return table(["data sets of", "measure", "before", *_DATA, "now", *_DATA], rows)


def power_lost() -> str:
    """Of `acc_eq(by=item)`, in worlds of new segments: how often either test finds nothing, little and more."""
    tests: tuple[Test, ...] = ("pairs", "perm-inputs")
    found = {
        (row.data, row.test, row.effect): _share(count.n_found, count.n_worlds, off=1.0)
        for row, count in levels.read().items()
        if row.null == "segments" and row.measure == "acc_eq(by=item)"
    }
    effects = (0.0, *levels.EFFECTS)
    rows = [
        [data, f"`{test}`", *(found.get((data, test, one), "") for one in effects)] for data in _DATA for test in tests
    ]
    return table(["data", "test", "equally good", *(f"noise {effect:g}" for effect in levels.EFFECTS)], rows)
