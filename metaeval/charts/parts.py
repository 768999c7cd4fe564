"""Parts of every chart: a title and lines below it, a small signature below, named data sets, and safe colours.

Colours differ in lightness, too, so that a chart can be printed in grey; hues are those of Okabe and Ito
(without yellow, which fades on paper) or of one ramp, which colour-blind people can tell apart. Marks whose colour must
follow light and dark pages set no colour: the configuration does.
"""

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from metaeval.results.stars import PLAIN, is_starred, star
from warehouse.wording import counted

Rows = list[dict[str, Any]]
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#8c8c8c"
MIDDLE = "#767676"  # can be seen on a light page and on a dark one
CATEGORIES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7f7f7f", "#882255")
SHAPES = ("circle", "triangle-up", "square", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
RAMP = ("#f7fbff", "#c6dbef", "#6baed6", "#2171b5", "#08306b")
"""From small to large, light to dark."""
PADDING = 8  # pixels
TIGHT = alt.Scale(zero=False, nice=False, padding=PADDING)
"""A scale from the least value to the greatest."""
WORDS, CAPTION = 110, 170
"""Characters of a line below the title, and of a line of the signature."""
_BETWEEN = re.compile(r"\|(?=\w+:)")
MOST_VALUES = 6
"""That differ between the signatures of one chart and are still written out."""
MOST_NAMES = 12
"""Of one value that are still written out."""

_INK = {"light": "#222222", "dark": "#e8e8e8"}
_FAINT = {"light": "#5a5a5a", "dark": "#b4b4b4"}
_GRID = {"light": "#e4e4e4", "dark": "#3a3d42"}
_PAPER = {"light": "#ffffff", "dark": "#17191c"}
_FEW = 8  # values, whose quartiles say little


def config(theme: str = "light") -> dict[str, Any]:
    """Sizes, ranges of colours, and colours of text, lines and paper on a light or a dark page.

    No `aria` for each mark: a page gives a chart its name and its data, and Vega obeys backslashes in such texts.
    """
    ink, faint, grid = _INK[theme], _FAINT[theme], _GRID[theme]
    guide = {"labelColor": ink, "titleColor": ink, "labelLimit": 260, "titleLimit": 400, "titleFontWeight": "normal"}
    lines = {"gridColor": grid, "domainColor": faint, "tickColor": faint}
    return {
        "aria": False,
        "background": _PAPER[theme],
        "view": {"stroke": grid},
        "title": {"color": ink, "subtitleColor": faint, "subtitleFontSize": 10, "anchor": "start", "frame": "bounds"},
        "axis": {**guide, **lines, "labelOverlap": "greedy", "labelSeparation": 5, "labelFlush": False},
        "axisYQuantitative": {"labelFlush": True},  # else some panels' titles stand above a label at the upper edge
        "legend": {**guide, "orient": "top", "symbolOpacity": 1, "columns": 6},
        "header": {"labelColor": ink, "titleColor": ink, "labelLimit": 260, "labelFontSize": 11, "title": None},
        "point": {"filled": True, "opacity": 1, "size": 45, "color": BLUE},
        "line": {"color": BLUE},
        "area": {"color": BLUE, "opacity": 0.2},
        "bar": {"stroke": _PAPER[theme], "strokeWidth": 0.6},
        "rule": {"color": ink},
        "text": {"color": ink, "fontSize": 10, "baseline": "middle"},
        "tick": {"color": ink},
        "range": {"category": CATEGORIES, "symbol": SHAPES, "ramp": RAMP, "heatmap": RAMP},
    }


def placed(name: str, rank: int | None, low: int | None = None, high: int | None = None) -> str:
    """A name with its rank, and the range of it.

    >>> placed("BLEU", 3), placed("BLEU", 3, 2, 5), placed("BLEU", None)
    ('3. BLEU', '3 (2-5). BLEU', 'BLEU')
    """
    if rank is None:
        return name
    return f"{rank}. {name}" if low is None or high is None else f"{rank} ({low}-{high}). {name}"


def titled(
    body: Any, title: str, signature: str, datasets: Mapping[str, Rows], *lines: str, **outer: Any
) -> alt.VConcatChart:
    """A whole chart. body: this chart, which gets the title; signature: one line per result; datasets: name -> rows;
    lines: words below the title."""
    lines = (*lines, "★ your own") if is_starred() else lines
    words = [part for line in lines for part in textwrap.wrap(line, WORDS)]
    heading = alt.Title(textwrap.wrap(title, WORDS * 3 // 4), subtitle=words or alt.Undefined, offset=12)
    caption = broken_lines(common(signature.splitlines()), CAPTION) if signature else []
    below = alt.Title(caption, orient="bottom", fontSize=8, fontWeight="normal", color=MIDDLE, offset=12)
    body.title = heading  # `properties` would copy the body, and each of its panels several times
    return alt.vconcat(
        body,
        title=below if caption else alt.Undefined,
        datasets=dict(datasets),
        config=config(),
        resolve=alt.Resolve(legend=alt.LegendResolveMap(color="independent", shape="independent")),  # below the title
        **outer,
    )


def common(signatures: Sequence[str]) -> list[str]:
    """One signature for several: parts that all share, and parts that differ with their values listed or counted.

    >>> common(["measure:pa|lp:en-de|n_systems:12", "measure:pa|lp:he-en|n_systems:13"])
    ['measure:pa', 'lp:en-de,he-en', 'n_systems:12,13']
    >>> common(["metrics:" + "+".join("ABCDEFGHIJKLMN")])
    ['metrics:14 names']
    >>> common(["systems:A|B|lp:en-de"])
    ['systems:A|B', 'lp:en-de']
    """
    keyed = [_parts_of(signature) for signature in signatures]
    keys = dict.fromkeys(key for one in keyed for key in one if key != "scorehouse")
    values = {key: list(dict.fromkeys(one[key] for one in keyed if key in one)) for key in keys}
    return [f"{key}:{_listed(found)}" for key, found in values.items()]


def _parts_of(signature: str) -> dict[str, str]:
    """The parts of one line; names in their values may contain bars."""
    return dict(part.partition(":")[::2] for part in _BETWEEN.split(signature) if part)


def _listed(values: Sequence[str]) -> str:
    """The values, or how many there are; each may itself be a list of names."""
    if len(values) > MOST_VALUES:
        return counted(len(values), "value")
    return ",".join(one if one.count("+") < MOST_NAMES else counted(one.count("+") + 1, "name") for one in values)


def broken_lines(parts: Sequence[str], width: int) -> list[str]:
    """Parts joined by `|`, broken into lines of about this many characters.

    >>> broken_lines(["a:1", "b:2", "c:3"], 8)
    ['a:1|b:2', 'c:3']
    """
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) < width:
            lines[-1] += f"|{part}"
        else:
            lines.append(part)
    return lines


def bulk(values: Sequence[float | None]) -> tuple[float, float]:
    """The lowest and highest of the values that are not far from the rest: the ends of an axis or a colour scale.

    Far: more than three interquartile ranges beyond the quartiles.
    >>> bulk([0.5, None]), bulk([]), bulk([0.1, 0.7, 0.8, 0.9]), bulk([-9, *range(90, 100)])
    ((0.5, 0.5), (0.0, 1.0), (0.1, 0.9), (90.0, 99.0))
    """
    known = np.array([value for value in values if value is not None and value == value], dtype=float)
    if not known.size:
        return 0.0, 1.0
    if known.size >= _FEW:
        lower, upper = np.quantile(known, [0.25, 0.75])
        reach = 3 * (upper - lower)
        known = known[(known >= lower - reach) & (known <= upper + reach)] if reach > 0 else known
    return float(known.min()), float(known.max())


def within(rows: Rows, name: str, ends: tuple[float, float]) -> Rows:
    """The rows with `at`, the value moved to the nearer end of the axis, and `beyond`, its number if it was moved."""

    def moved(value: float | None) -> dict[str, Any]:
        at = None if value is None else min(max(value, ends[0]), ends[1])
        return {"at": at, "beyond": None if at == value else f"{value:.3g}"}

    return [{**row, **moved(row[name])} for row in rows]


def edges(base: Any, rows: Rows) -> list[Any]:
    """A triangle and its number for each row that `within` moved; base: a chart with `at` on its lower axis."""
    layers = []
    for side, sign, dx, align in (("left", "<", 8, "left"), ("right", ">", -8, "right")):
        if any(row["beyond"] and (row["value"] > row["at"]) is (side == "right") for row in rows):
            own = base.transform_filter(f"datum.beyond !== null && datum.value {sign} datum.at")
            layers.append(own.mark_point(shape=f"triangle-{side}", size=55, color=BLUE))
            layers.append(own.mark_text(align=align, dx=dx).encode(text=alt.Text("beyond:N")))
    return layers


def tips(*fields: str) -> list[alt.Tooltip]:
    """Tooltips. Altair also takes strings, but searches all its classes for each."""
    return [alt.Tooltip(field) for field in fields]


def names(channel: Any, order: Sequence[str], **axis: Any) -> Any:
    """An axis of names in this order, none of them dropped however many there are."""
    if (label := star(order)) != PLAIN:
        axis["labelExpr"] = label
    return channel.scale(domain=list(order)).axis(labelOverlap=False, title=None, **axis)


def classes(channel: Any, domain: Sequence[str]) -> Any:
    """Colours or shapes of these names, in this order, of the configuration's ranges."""
    named = channel.scale(domain=list(domain)).title(None)
    return named if (label := star(domain)) == PLAIN else named.legend(labelExpr=label)
