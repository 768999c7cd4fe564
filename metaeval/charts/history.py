"""The chart of a history: small multiples by human protocol, one line per kind of metric, intervals, bridges dashed."""

import textwrap
from collections import Counter
from collections.abc import Iterator
from typing import Any

import altair as alt
import polars as pl
from altair.utils.schemapi import debug_mode

from metaeval.charts.parts import GREY, Rows, bulk, classes, tips, titled
from warehouse.errors import QuestionError

MOST = 8  # groups that can be told apart by colour
DODGE = 0.07  # years between the marks of two groups
_NAMED = 3  # points beyond an axis that are named in a year
_ROOM = 75  # pixels that such a name needs
_WIDE = 4.8  # pixels of a character of it


@debug_mode(False)  # which checks parts as if they were whole charts; the tests check the whole
def history_chart(rows: pl.DataFrame, by_year: pl.DataFrame, anchor: str, signature: str) -> alt.VConcatChart:
    """Values, and below them gaps to the anchor: for each kind of metric, the family that returns in most years.

    rows: as of `studies.trends.groups.grouped`; by_year: as of `studies.trends.gaps.pooled_by_year`. One panel for
    each human protocol, the earliest first; all other families are grey lines. Bars are 95% intervals, pooled if a year
    has several evaluation sets (with fewer than 3, and for a mean of values, there is none). Hollow points: metrics
    trained on that year's human scores. A dashed line joins the two values of a bridge: a step of the protocol, not of
    the metric.
    Raises QuestionError: there is no value.
    """
    if rows["value"].count() == 0:
        raise QuestionError("no value to draw")
    shown = _groups(rows)
    points = _dodged(_points(by_year, rows, shown), shown)
    steps = _dodged(_steps(rows, shown), shown)
    measure = str(rows["measure"][0])
    in_order = sorted(points, key=lambda one: (one["year"], one["protocol"]))
    protocols = list(dict.fromkeys(one["protocol"] for one in in_order))
    below, edges = [], []
    for column, title in (("value", measure), ("gap", f"gap to {anchor}")):
        low, high = _ends(points, column)
        scale = alt.Scale(domain=[low, high], zero=False, padding=8)
        edges += (beyond := _edges(points, column, low, high))
        titles = [title, *[None] * (len(protocols) - 1)]
        drawn = [
            _panel(points, steps, protocol, column, its_title, shown, scale, beyond)
            for protocol, its_title in zip(protocols, titles, strict=True)
        ]
        below.append(alt.HConcatSpecGenericSpec(drawn, spacing=12))
    return titled(
        alt.VConcatSpecGenericSpec(below),
        f"{measure} over the years, by human protocol",
        signature,
        {"years": points, "bridges": steps, "edges": edges},
        *_in_words(_way(rows), by_year, points, steps, edges),
    )


_SHOWN = {
    "family": "one family per kind of metric, the one with most years; other families grey",
    "version": "one metric per kind, the one with most years; other metrics grey",
    "kind": "the best metric of each kind in each evaluation set",
    "best": "the best of all metrics in each evaluation set",
}


def _in_words(way: str, by_year: pl.DataFrame, points: Rows, steps: Rows, edges: Rows) -> Iterator[str]:
    """What the marks that are there mean."""
    yield _SHOWN[way]
    if any(one["n_sets"] > 1 for one in points):
        yield f"over several evaluation sets: values pooled by {by_year['pool'][0]}, gaps by random effects"
    marks = {
        "bars: 95% intervals": any(one[end] is not None for one in points for end in ("low", "gap_low")),
        "hollow points: trained on human scores of that year": any(one["contaminated"] for one in points),
    }
    if any(marks.values()):
        yield "; ".join(text for text, is_there in marks.items() if is_there)
    if steps:
        yield "dashed: step between protocols on the same systems, due to the protocol and not the metric"
    if edges:
        yield "triangles at the edge: points beyond the axis"


def _ends(points: Rows, column: str) -> tuple[float, float]:
    """The ends of an axis: values not far from the rest, with whole intervals, and a gap of zero."""
    low, high = bulk([one[column] for one in points])
    names = ("low", "high") if column == "value" else ("gap_low", "gap_high")
    before = None
    while (low, high) != before:  # a longer axis may reach another point, with an interval of its own
        before = low, high
        near = [one for one in points if one["shown"] and one[column] is not None and low <= one[column] <= high]
        ends = [one[name] for one in near for name in names if one[name] is not None]
        ends += [0.0] if column == "gap" else []
        low, high = min([low, *ends]), max([high, *ends])
    return low, high


def _groups(rows: pl.DataFrame) -> dict[str, str]:
    """Group -> its displayed name: for each kind the group in most years, then with most values."""
    if _way(rows) == "best":
        return {"best": "best of all"}
    valued = rows.lazy().filter(pl.col("value").is_not_null() & pl.col("bridge").is_null())
    found = (
        valued.filter(pl.col("by") == _way(rows))
        .group_by("group", "kind")
        .agg(n_years=pl.col("year").n_unique(), n=pl.len())
        .sort("n_years", "n", "group", descending=[True, True, False])
        .unique("group" if _way(rows) == "kind" else "kind", keep="first", maintain_order=True)
        .unique("group", keep="first", maintain_order=True)
        .head(MOST)
        .sort("group")
        .collect()
    )
    return {
        group: group if group.startswith(kind) or kind is None else f"{group} ({kind})"
        for group, kind in found.select("group", "kind").rows()
    }


def _way(rows: pl.DataFrame) -> str:
    """Families if there are any."""
    return "family" if "family" in rows["by"].unique() else str(rows["by"][0])


def _points(by_year: pl.DataFrame, rows: pl.DataFrame, shown: dict[str, str]) -> Rows:
    """One for each protocol, year and group; shown: whether it has a colour."""
    columns = ("protocol", "year", "group", "kind", "value", "low", "high", "gap", "gap_low", "gap_high", "n_sets")
    return (
        by_year.lazy()
        .filter(pl.col("by") == _way(rows), pl.col("value").is_not_null(), pl.col("year").is_not_null())
        .unique(["protocol", "year", "group"], maintain_order=True)
        .select(
            *columns,
            name=pl.col("group").replace(shown),
            shown=pl.col("group").is_in(list(shown)),
            contaminated=pl.col("contaminated").fill_null(value=False),
        )
        .collect()
        .rows(named=True)
    )


def _dodged(marks: Rows, shown: dict[str, str]) -> Rows:
    """Marks with a position `x` shifted from their year, so that groups do not hide each other."""
    middle, places = (len(shown) - 1) / 2, {group: place for place, group in enumerate(shown)}
    return [{**one, "x": one["year"] + DODGE * (places.get(one["group"], middle) - middle)} for one in marks]


def _steps(rows: pl.DataFrame, shown: dict[str, str]) -> Rows:
    """The two values of each bridge, in the panel of the protocol that is not the official one."""
    from metaeval.studies.trends.tables import bridges
    from warehouse.facts.human_protocols import protocol_of

    found = bridges(rows).filter(pl.col("group").is_in(list(shown)))
    return [
        {
            "protocol": protocol_of(row["other_human"]),
            "year": row["year"],
            "group": row["group"],
            "name": shown[row["group"]],
            "from": row["value"],
            "value": row["other_value"],
        }
        for row in found.rows(named=True)
    ]


def _edges(points: Rows, column: str, low: float, high: float) -> Rows:
    """Values beyond the ends of an axis: one row per line of text, the farthest of a year first.

    The lines of one panel and end are written below each other, whatever their year, so that none hides another.
    """
    found: dict[tuple[str, bool, int], Rows] = {}
    for one in points:
        if one[column] is not None and not low <= one[column] <= high:
            found.setdefault((one["protocol"], one[column] < low, one["year"]), []).append(one)
    edges: Rows = []
    n_years = Counter((protocol, is_low) for protocol, is_low, _ in found)
    n_lines = Counter({place: int(n > 1) for place, n in n_years.items()})  # triangles of several years stand alone
    for (protocol, is_low, year), beyond in sorted(found.items()):
        end = low if is_low else high
        beyond.sort(key=lambda one: -abs(one[column] - end))
        lines = [f"{one['group']} {one[column]:.2f}" for one in beyond[:_NAMED]]
        lines += [f"{len(beyond) - _NAMED} more"] if len(beyond) > _NAMED else []
        years = _years(points, protocol)
        room = (years[-1] + 0.5 - year) / (years[-1] - years[0] + 1) * _width(years)
        is_left = room >= min(_ROOM, _width(years) / 2)
        n_characters = int(((room if is_left else _width(years) - room) - 5) / _WIDE)
        wrapped = [textwrap.wrap(line, n_characters, break_long_words=False, break_on_hyphens=False) for line in lines]
        lines = [part for parts in wrapped for part in (reversed(parts) if is_low else parts)]  # from the edge inwards
        place = {"protocol": protocol, "year": year, "column": column, "end": end, "is_low": is_low}
        place["side"] = "left" if is_left else "right"
        for number, text in enumerate(lines):
            edges.append({**place, "line": n_lines[protocol, is_low], "is_first": number == 0, "text": text})
            n_lines[protocol, is_low] += 1
    return edges


def _years(points: Rows, protocol: str) -> list[int]:
    return sorted({point["year"] for point in points if point["protocol"] == protocol})


def _width(years: list[int]) -> int:
    """Pixels of the panel of a protocol with values in these years."""
    return max(130, 90 * len(years))


def _named_at_edges(edges: Rows, protocol: str, column: str, scale: alt.Scale) -> list[alt.Chart]:
    """Triangles at the ends of an axis, and next to them the names of the values beyond."""
    layers = []
    own = [one for one in edges if one["protocol"] == protocol]
    for is_low, line, side in sorted({(one["is_low"], one["line"], one["side"]) for one in own}):
        here = {"protocol": protocol, "column": column, "is_low": is_low, "line": line}
        base = alt.Chart(alt.NamedData("edges")).encode(x=alt.X("year:Q"), y=alt.Y("end:Q").scale(scale))
        for field, value in here.items():
            base = base.transform_filter(alt.FieldEqualPredicate(field=field, equal=value))
        shape = "triangle-down" if is_low else "triangle-up"
        layers.append(base.transform_filter("datum.is_first").mark_point(shape=shape, color=GREY, size=40))
        dx, dy = (5 if side == "left" else -5), (-11 * line if is_low else 11 * line)
        layers.append(base.mark_text(align=side, dx=dx, dy=dy, fontSize=9).encode(text=alt.Text("text:N")))
    return layers


def _panel(
    points: Rows,
    steps: Rows,
    protocol: str,
    column: str,
    title: str | None,
    shown: dict[str, str],
    scale: alt.Scale,
    edges: Rows,
) -> Any:
    """One protocol: lines over the years, points with intervals, and the steps of its bridges.

    A plain specification, because charts copy all charts below them, in a dozen panels for seconds.

    title: of the vertical axis, which panels without one share with the panel on their left.
    """
    low, high = ("low", "high") if column == "value" else ("gap_low", "gap_high")
    least, most = scale["domain"]
    is_inside = f"datum.{column} >= {least!r} && datum.{column} <= {most!r}"
    years = _years(points, protocol)
    x = (
        alt.X("x:Q")
        .scale(domain=[years[0] - 0.5, years[-1] + 0.5], nice=False)
        .axis(values=years, format="d", title=None, grid=False)
    )
    y = alt.Y(f"{column}:Q").title(title).scale(scale).axis(labels=title is not None, ticks=title is not None)
    is_own = alt.FieldEqualPredicate(field="protocol", equal=protocol)
    base = alt.Chart(alt.NamedData("years")).transform_filter(is_own).encode(x=x, y=y)
    own = base.transform_filter("datum.shown").encode(color=classes(alt.Color("name:N"), list(shown.values())))
    named = own.transform_filter(is_inside).encode(
        shape=classes(alt.Shape("name:N"), list(shown.values())),
        tooltip=tips("group:N", "kind:N", "year:N", f"{column}:N", f"{low}:N", f"{high}:N", "n_sets:N"),
    )
    layers = [
        base.transform_filter("!datum.shown")
        .mark_line(clip=True, strokeWidth=1, color=GREY, opacity=0.35, point=alt.OverlayMarkDef(size=8, color=GREY))
        .encode(detail=alt.Detail("group:N"), tooltip=tips("group:N", "year:N", f"{column}:N")),
        own.transform_filter(is_inside)
        .mark_rule(clip=True, opacity=0.5)
        .encode(y=alt.Y(f"{low}:Q"), y2=alt.Y2(f"{high}:Q")),
        own.mark_line(clip=True, strokeWidth=1.8),
        named.transform_filter("!datum.contaminated").mark_point(clip=True),
        named.transform_filter("datum.contaminated").mark_point(
            clip=True, filled=False, size=55, strokeWidth=2, fill="white"
        ),
    ]
    if column == "value" and any(step["protocol"] == protocol for step in steps):
        bridge = alt.Chart(alt.NamedData("bridges")).transform_filter(is_own)
        layers.append(
            bridge.mark_rule(clip=True, strokeDash=[4, 3], strokeWidth=1.5).encode(
                x=x, y=alt.Y("from:Q"), y2=alt.Y2("value:Q"), color=classes(alt.Color("name:N"), list(shown.values()))
            )
        )
    layers += _named_at_edges(edges, protocol, column, scale)
    return alt.LayerSpec(layers, title=protocol, width=_width(years), height=260)
