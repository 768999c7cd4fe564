"""The views of a history: years, progress within the same data, trends over years, bridges; each a table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

import polars as pl

from metaeval.answer import Table, attributes
from metaeval.kernels.agreement.studies import RandomEffects
from metaeval.notes import hinted
from metaeval.trends.gaps import Pooling, over_years, pooled_by_year
from metaeval.trends.groups import By, grouped
from metaeval.trends.history import History
from metaeval.trends.tables import bridges, contexts, trend_signature, wide, without_answer, without_step
from metaeval.trends.within import SlopeOf, Within, within
from queries.selection import Slice
from warehouse import QuestionError
from warehouse.wording import counted, option


def within_frame(found: Within) -> pl.DataFrame:
    """One row for each set, then the pooled slopes, then the contrasts of kinds.

    Columns: what ("set", "pooled", "protocol", "kind"), name, estimate (slope a year, or difference of means), low,
    high, p, tau2, i2, n_sets, n_metrics, first_year, last_year; without any one set left_out_low, left_out_high, and
    without any one metric metric_out_low, metric_out_high.
    """
    rows: list[dict[str, Any]] = [
        {
            "what": "set",
            "name": f"{one.testset} {one.lp} {one.human}",
            "estimate": one.slope,
            **attributes(one, "low", "high", "n_metrics", "first_year", "last_year"),
        }
        for one in found.sets
    ]
    left, alone = found.leave_one_out, [one.without for one in found.metrics]
    rows.append(
        {
            **_row("pooled", "all sets, slope a year", found.pooled),
            "n_metrics": len(found.metrics),
            "first_year": min(one.first_year for one in found.sets),
            "last_year": max(one.last_year for one in found.sets),
            "left_out_low": left.min(),
            "left_out_high": left.max(),
            "metric_out_low": min(alone),
            "metric_out_high": max(alone),
        }
    )
    rows += [_row("protocol", f"{name}, slope a year", one) for name, one in found.by_protocol.items()]
    rows += [_row("kind", f"{one.kind} minus {one.against}", one.pooled) for one in found.contrasts]
    schema = {
        **dict.fromkeys(("what", "name"), pl.String),
        **dict.fromkeys(("estimate", "low", "high", "p", "tau2", "i2"), pl.Float64),
        **dict.fromkeys(("n_sets", "n_metrics", "first_year", "last_year"), pl.Int64),
        **dict.fromkeys(("left_out_low", "left_out_high", "metric_out_low", "metric_out_high"), pl.Float64),
    }
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.selectors.float().fill_nan(None))


def _row(what: str, name: str, one: RandomEffects) -> dict[str, Any]:
    return {"what": what, "name": name, **_pooled("estimate", one, "p", "tau2", "i2")}


def _pooled(mean: str, one: RandomEffects, *more: str) -> dict[str, Any]:
    return {mean: one.mean, **attributes(one, "low", "high", *more), "n_sets": one.n_studies}


def within_json(found: Within) -> dict[str, Any]:
    """The shape of `trend` within sets in json."""
    of_set = ("testset", "lp", "human", "slope", "low", "high", "n_metrics", "first_year", "last_year")
    return {
        "measure": found.measure,
        "sets": [attributes(one, *of_set) for one in found.sets],
        "pooled": _pooled("slope", found.pooled, "p", "tau2", "i2"),
        "signature": found.signature,
    }


View = Literal["years", "within", "over-years", "bridges"]
N_DECIDING = 5  # metrics that are named


@dataclass(frozen=True)
class Asked:
    """How a history is shown.

    by: groups of metrics. pool: how evaluation sets of a year are pooled; None shows each, or pools by their mean where
    a table for reading has several. published: publication years that a user gives (pattern of base names, year).
    slope_of: what the pooled slopes of "within" are of.
    """

    view: View = "years"
    by: tuple[By, ...] = ("family", "kind")
    pool: Pooling | None = None
    published: tuple[tuple[str, int], ...] = ()
    without_contaminated: bool = False
    slope_of: SlopeOf = "new-metrics"
    alpha: float = 0.05
    seed: int = 0


@dataclass(frozen=True)
class Shown:
    """table: of the view, for programs. reading: what a table for reading shows instead; rows: as of `grouped`; slopes:
    of the view "within".
    """

    table: Table
    reading: Table
    rows: pl.DataFrame
    slopes: Within | None = None


def slice_of_view(asked: Slice, view: View) -> Slice:
    """What a view reads: slopes are of primary and baseline metrics, unless all are asked for."""
    return replace(asked, primary=not asked.all_metrics) if view == "within" else asked


def show(found: History, asked: Asked) -> Shown:
    """A history in one of its views.

    Raises QuestionError: no evaluation set has a value; see `within` and `pool_values`.
    """
    if not found.official:
        why = "; ".join(without_answer(found, "")) or "no evaluation set"
        raise QuestionError(f"no value of {found.measure} in any year: {why}")
    return _VIEWS[asked.view](found, asked)


def _years(found: History, asked: Asked) -> Shown:
    rows = grouped(found, asked.by)
    reading = wide(rows, found, asked.by, asked.pool, asked.alpha)
    frame = rows if asked.pool is None else pooled_by_year(rows, found.measure, asked.pool)
    return Shown(replace(reading, frame=frame), reading, rows)


def _over_years(found: History, asked: Asked) -> Shown:
    rows = grouped(found, asked.by)
    frame = over_years(pooled_by_year(rows, found.measure, asked.pool or "mean"), asked.seed)
    signature = trend_signature(
        found,
        "over-years",
        ("by", ",".join(asked.by)),
        ("pool", asked.pool or "mean"),
        ("null", "years permuted"),
        ("alternative", "two-sided"),
        ("test_seed", asked.seed),
    )
    notes = (
        f"slope: change of the gap to {found.anchor} for each year; each human protocol by itself, without bridges",
        *_without_slope(frame),
        *contexts(rows, found.measure),
        *without_answer(found),
        *found.notes,
    )
    table = Table(frame, signature, notes)
    return Shown(table, table, rows)


def _without_slope(frame: pl.DataFrame) -> list[str]:
    """Lines on why there is no slope, where no group has one."""
    if frame["slope"].count():
        return []
    return [f"no slope: {reason}" for reason in frame["reason"].unique(maintain_order=True)] or ["no group has a value"]


def _bridges(found: History, asked: Asked) -> Shown:
    rows = grouped(found, asked.by)
    frame = bridges(rows)
    both = "outputs" if found.measure.definition.needs_segments else "systems"
    notes = [f"a step is a change of protocol, not of metrics: both values are on the {both} that both judged"]
    notes += [f"{entry.testset} {entry.lp}: {note}" for entry in found.entries for note in entry.found.notes]
    apart = without_step(rows)
    notes += apart
    if frame.is_empty() and not apart:
        notes.append("no evaluation set has human scores of two protocols with metrics that both can rank")
    table = Table(frame, trend_signature(found, "bridges", ("by", ",".join(asked.by))), (*notes, *found.notes))
    return Shown(table, table, rows)


def _within(found: History, asked: Asked) -> Shown:
    slopes = within(found, asked.published, without_contaminated=asked.without_contaminated, of=asked.slope_of)
    notes = [
        f"slope: change of {found.measure} for each year between the publications of two metrics, on the same data",
        *_of_slope(slopes),
        "kinds, and each evaluation set: of these very metrics, on new data",
        *_undated(slopes.unknown),
        *_unmatched(found, asked.published),
        f"trained on human scores of that year, {'excluded' if asked.without_contaminated else 'included'}: "
        f"{', '.join(slopes.contaminated) or 'none known'}",
        *_reasons(slopes),
        *found.notes,
    ]
    table = Table(within_frame(slopes), slopes.signature, tuple(notes))
    return Shown(table, table, grouped(found, asked.by), slopes)


def _of_slope(slopes: Within) -> list[str]:
    """What pooled slopes are of, what they hang on, and which names count as one metric."""
    n_metrics, n_sets = counted(len(slopes.metrics), "metric"), counted(len(slopes.sets), "evaluation set")
    left = f"without any one set it is {min(slopes.leave_one_out):.5f} to {max(slopes.leave_one_out):.5f}"
    lines = [f"pooled over {n_sets} by random effects, of these very {n_metrics}, not of new ones; {left}"]
    if slopes.of == "new-metrics":
        alone = [one.without for one in slopes.metrics]
        deciding = ", ".join(f"{one.name} ({one.published}) {one.pull:.0%}" for one in slopes.metrics[:N_DECIDING])
        lines = [
            f"pooled over {n_metrics} and {n_sets}, both samples (crossed random effects); metrics are "
            f"{slopes.metric_sd:.3f} off the slope (standard deviation) in all sets alike",
            f"{left}, without any one metric {min(alone):.5f} to {max(alone):.5f}",
            f"most depends on (share of the variance that the choice of metrics gives the slope): {deciding}",
        ]
    free = len([one for one in slopes.metrics if one.is_reference_free])
    if 0 < free < len(slopes.metrics):
        lines.append(
            hinted(
                f"{free} of {n_metrics} see no reference",
                f"{option('kind', 'reference-based')} compares like with like",
            )
        )
    merged = "; ".join(" = ".join(one.names) for one in slopes.metrics if len(one.names) > 1)
    return [*lines, f"counted as one metric in a set: {merged}"] if merged else lines


def _undated(names: Sequence[str]) -> list[str]:
    text = f"publication year not known of {counted(len(names), 'metric')}, excluded from slopes: {', '.join(names)}"
    return [hinted(text, f"{option('published')} NAME=YEAR")] if names else []


def _unmatched(found: History, published: Sequence[tuple[str, int]]) -> list[str]:
    """A line on publication years that are given to no metric."""
    names = {base for _, one in found.official for base in one.base_names}
    idle = [f"{by}={year}" for by, year in published if not any(fnmatchcase(name, by) for name in names)]
    return [f"publication years of no metric here: {', '.join(idle)}"] if idle else []


def _reasons(slopes: Within) -> list[str]:
    places: dict[str, list[str]] = {}
    for where, reason in slopes.skipped.items():
        places.setdefault(reason, []).append(where)
    return [f"no slope, {reason}: {', '.join(named)}" for reason, named in places.items()]


_VIEWS: dict[View, Callable[[History, Asked], Shown]] = {
    "years": _years,
    "within": _within,
    "over-years": _over_years,
    "bridges": _bridges,
}


def parse_published(texts: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Publication years as NAME=YEAR.

    Raises QuestionError: another form.
    >>> parse_published(["YiSi-1=2019"])
    (('YiSi-1', 2019),)
    """
    found = []
    for text in texts:
        name, sign, year = text.rpartition("=")
        if not (sign and name and year.isdecimal() and len(year) == 4):
            raise QuestionError(f"publication year {text!r}: expected NAME=YEAR, such as YiSi-1=2019")
        found.append((name, int(year)))
    return tuple(found)
