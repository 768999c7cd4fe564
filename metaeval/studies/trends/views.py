"""The views of a history as tables: years, progress within the same data, trends over years, and bridges."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from metaeval.kernels.agreement.studies import RandomEffects
from metaeval.results.answer import Result, attributes
from metaeval.results.notes import hinted, reasons
from metaeval.results.sentences import between
from metaeval.studies.trends.gaps import over_years, pooled_by_year
from metaeval.studies.trends.groups import CHOSEN, grouped
from metaeval.studies.trends.history import History
from metaeval.studies.trends.settings import TrendSettings, View
from metaeval.studies.trends.tables import (
    bridges,
    by_reason,
    contexts,
    targets,
    trend_parts,
    wide,
    without_answer,
    without_step,
)
from metaeval.studies.trends.within import BASE_KIND, KindSlope, SlopeOf, Within, within
from queries.slices import Slice
from warehouse import QuestionError
from warehouse.names import in_any_case
from warehouse.wording import are, counted, every, option


def within_frame(slopes: Within) -> pl.DataFrame:
    """One row per set, then the pooled slopes by kind of metrics, then the contrasts between kinds.

    Columns: what ("set", "pooled", "protocol", "kind"), name, kind (of the metrics of a slope: reference-based,
    reference-free, all), estimate (slope per year, or difference of means), low, high, p (only for new metrics), tau2,
    i2, n_sets, n_metrics, first_year, last_year; left_out_low, left_out_high (range of estimates without any one set),
    metric_out_low, metric_out_high (without any one metric).
    """
    rows: list[dict[str, Any]] = [
        {
            "what": "set",
            "name": f"{one.testset} {one.lp} {one.human}",
            "estimate": one.slope,
            **attributes(one, "kind", "low", "high", "n_metrics", "first_year", "last_year"),
        }
        for one in slopes.sets
    ]
    n_all = len({(one.testset, one.lp, one.human) for one in slopes.sets})
    for slope in slopes.slopes:
        n = len({(one.testset, one.lp, one.human) for one in slope.sets})
        sets = every(n, "set") if n == n_all else f"{n} of {n_all} sets"
        left, alone = slope.leave_one_out, [one.without for one in slope.metrics]
        rows.append(
            {
                **_row("pooled", sets, slope.pooled),
                "kind": slope.kind,
                "n_metrics": len(slope.metrics),
                "first_year": min(one.first_year for one in slope.sets),
                "last_year": max(one.last_year for one in slope.sets),
                "left_out_low": left.min(),
                "left_out_high": left.max(),
                "metric_out_low": min(alone),
                "metric_out_high": max(alone),
            }
        )
    rows += [
        {**_row("protocol", name, one), "kind": slope.kind}
        for slope in slopes.slopes
        for name, one in slope.by_protocol.items()
    ]
    rows += [_row("kind", f"{kind} minus {BASE_KIND}", one) for kind, one in slopes.contrasts.items()]
    schema = {
        **dict.fromkeys(("what", "name", "kind"), pl.String),
        **dict.fromkeys(("estimate", "low", "high", "p", "tau2", "i2"), pl.Float64),
        **dict.fromkeys(("n_sets", "n_metrics", "first_year", "last_year"), pl.Int64),
        **dict.fromkeys(("left_out_low", "left_out_high", "metric_out_low", "metric_out_high"), pl.Float64),
    }
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.selectors.float().fill_nan(None))


def _row(what: str, name: str, one: RandomEffects) -> dict[str, Any]:
    return {"what": what, "name": name, **_pooled("estimate", one, "p", "tau2", "i2")}


def _pooled(mean: str, one: RandomEffects, *more: str) -> dict[str, Any]:
    return {mean: one.mean, **attributes(one, "low", "high", *more), "n_sets": one.n_studies}


def within_json(slopes: Within) -> dict[str, Any]:
    """The JSON shape of `trend` within sets; pooled is the first of by_kind."""
    of_set = ("testset", "lp", "human", "kind", "slope", "low", "high", "n_metrics", "first_year", "last_year")
    by_kind = [
        {"kind": slope.kind, **_pooled("slope", slope.pooled, "p", "tau2", "i2"), "n_metrics": len(slope.metrics)}
        for slope in slopes.slopes
    ]
    return {
        "measure": slopes.measure,
        "sets": [attributes(one, *of_set) for one in slopes.sets],
        "pooled": by_kind[0],
        "by_kind": by_kind,
        "signature": slopes.signature,
    }


N_DECIDING = 5  # metrics that are named
GROWING = "best of a kind or of all: a year with more metrics has a higher best value even without progress"


def slice_of_view(asked: Slice, view: View) -> Slice:
    """The slice of a view: slopes use primary and baseline metrics, unless all are requested."""
    is_narrowed = view == "within" and asked.status != "all"
    return replace(asked, status="primary") if is_narrowed else asked


def show(history: History, asked: TrendSettings, view: View | None = None) -> Result:
    """A history in one of its views.

    Facts: rows, as from `grouped`; for the years also reading, a table for people; for the view "within" also slopes.

    Raises QuestionError: no evaluation set has a value; see `within` and `pool_values`.
    """
    if not history.official:
        why = reasons(by_reason(history)) or "no evaluation set"
        raise QuestionError(f"{history.measure} has no value in any year: {why}")
    return _VIEWS[view or asked.view](history, asked)


def _years(history: History, asked: TrendSettings) -> Result:
    rows = grouped(history, asked.by)
    reading = wide(rows, history, asked.by, asked.pool, asked.alpha)
    frame = rows if asked.pool is None else pooled_by_year(rows, history.measure, asked.pool)
    return replace(reading, frame=frame, facts={**reading.facts, "rows": rows, "reading": reading})


def _over_years(history: History, asked: TrendSettings) -> Result:
    rows = grouped(history, asked.by)
    frame = over_years(pooled_by_year(rows, history.measure, asked.pool or "mean"), asked.seed)
    parts = trend_parts(
        history,
        "over-years",
        ("by", ",".join(asked.by)),
        ("pool", asked.pool or "mean"),
        ("null", "years permuted"),
        ("alternative", "two-sided"),
        ("test_seed", asked.seed),
    )
    details = contexts(rows, history.measure)
    notes = (
        f"slope: change of the gap to {history.anchor} for each year; each human protocol by itself, without bridges",
        *targets(history),
        *([] if set(CHOSEN).isdisjoint(asked.by) else [GROWING]),
        *_without_slope(frame),
        *without_answer(history),
        *history.notes,
        *details,
    )
    return Result(frame, parts, notes, {"rows": rows, "details": frozenset(details)})


def _without_slope(frame: pl.DataFrame) -> list[str]:
    """Notes on why there is no slope, if no group has one."""
    if frame["slope"].count():
        return []
    return [f"no slope: {reason}" for reason in frame["reason"].unique(maintain_order=True)] or ["no group has a value"]


def _bridges(history: History, asked: TrendSettings) -> Result:
    rows = grouped(history, asked.by)
    frame = bridges(rows)
    both = "outputs" if history.measure.definition.needs_segments else "systems"
    notes = [f"a step is a change of protocol, not of metrics: both values are on the {both} that both judged"]
    details = [f"{entry.testset} {entry.lp}: {note}" for entry in history.entries for note in entry.history.notes]
    details += without_step(rows)
    if frame.is_empty() and not without_step(rows):
        notes.append("no evaluation set has human scores of two protocols with metrics that both can rank")
    parts = trend_parts(history, "bridges", ("by", ",".join(asked.by)))
    return Result(frame, parts, (*notes, *history.notes, *details), {"rows": rows, "details": frozenset(details)})


def _within(history: History, asked: TrendSettings) -> Result:
    without, published = asked.without_contaminated, parse_published(asked.published)
    slopes = within(history, published, without_contaminated=without, of=asked.generalise_to, kinds=asked.kinds)
    notes = [
        f"slope: change of {history.measure} per year of publication, between metrics on the same data",
        *(note for one in slopes.slopes for note in _of_slope(slopes.of, one)),
        *_merged(slopes),
        "differences between kinds, and slopes of single evaluation sets: for these metrics on new data, without p",
        *_undated(slopes.unknown),
        *_unmatched(history, published),
        f"trained on human scores of that year, {'excluded' if without else 'included'}: "
        f"{', '.join(slopes.contaminated) or 'none known'}",
        *_reasons(slopes),
        *history.notes,
    ]
    facts = {"rows": grouped(history, asked.by), "slopes": slopes}
    return Result(within_frame(slopes), slopes.parts, tuple(notes), facts)


def _of_slope(of: SlopeOf, slope: KindSlope) -> list[str]:
    """Notes on the population of a pooled slope, and on the metrics that influence it most."""
    who = "" if slope.kind == "all" else f"{slope.kind}: "
    n_metrics, n_sets = counted(len(slope.metrics), "metric"), counted(len(slope.sets), "evaluation set")
    left = f"without any one set it is {between(slope.leave_one_out.tolist(), 5)}"
    lines = [f"{who}pooled over {n_sets} by random effects, for these {n_metrics}, not for new ones; {left}"]
    if of == "new-metrics":
        alone = [one.without for one in slope.metrics]
        deciding = ", ".join(f"{one.name} ({one.published}) {one.pull:.0%}" for one in slope.metrics[:N_DECIDING])
        n_families = counted(slope.n_families, "family", "families")
        alike = slope.family_sd**2 / slope.metric_sd**2 if slope.metric_sd > 0 else 0.0
        lines = [
            f"{who}pooled over {n_metrics} of {n_families} and {n_sets}, all of them samples (crossed random effects); "
            f"metrics deviate from the slope by {slope.metric_sd:.3f} (SD) in the same way in all sets; "
            f"families explain {alike:.0%} of this variance",
            f"{who}{left}, without any one metric {between(alone, 5)}",
            f"{who}most influential metrics (share of the slope's variance by choice of metrics): {deciding}",
        ]
    free = len([one for one in slope.metrics if one.is_reference_free])
    if 0 < free < len(slope.metrics):
        lines.append(
            hinted(
                f"{free} of {n_metrics} {are(free)} reference-free: two populations in one slope",
                f"{option('kinds', 'separate')} has one for each",
            )
        )
    return lines


def _merged(slopes: Within) -> list[str]:
    """A note on names that count as one metric."""
    named = (" = ".join(one.names) for slope in slopes.slopes for one in slope.metrics if len(one.names) > 1)
    merged = "; ".join(named)
    return [f"these count as one metric in a set: {merged}"] if merged else []


def _undated(names: Sequence[str]) -> list[str]:
    n = len(names)
    text = f"{counted(n, 'metric')} of unknown publication year {are(n)} excluded from slopes: {', '.join(names)}"
    return [hinted(text, f"{option('published')} NAME=YEAR")] if names else []


def _unmatched(history: History, published: Sequence[tuple[str, int]]) -> list[str]:
    """A note on publication years that match no metric."""
    names = {base for _, one in history.official for base in one.base_names}
    idle = [f"{by}={year}" for by, year in published if not in_any_case(by, names)]
    return [f"no metric here has the name of {', '.join(idle)}"] if idle else []


def _reasons(slopes: Within) -> list[str]:
    places: dict[str, list[str]] = {}
    for where, reason in slopes.skipped:
        places.setdefault(reason, []).append(where)
    return [f"{', '.join(named)} {are(len(named), have=True)} no slope: {reason}" for reason, named in places.items()]


_VIEWS: dict[View, Callable[[History, TrendSettings], Result]] = {
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
