"""What every chart has: a title over its signature, data sets that can be taken out, and colours that are safe.

Colours differ in lightness, too, so that a chart can be printed in grey; hues are those of Okabe and Ito
(without yellow, which fades on paper) or of one ramp, which colour-blind people can tell apart. Marks whose colour must
follow light and dark pages have none of their own: the configuration gives it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from warehouse.wording import counted

if TYPE_CHECKING:
    import polars as pl

Spec = dict[str, Any]
Rows = list[dict[str, Any]]
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#8c8c8c"
MIDDLE = "#767676"  # can be seen on a light page and on a dark one
CATEGORIES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7f7f7f", "#882255")
SHAPES = ("circle", "triangle-up", "square", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
RAMP = ("#f7fbff", "#c6dbef", "#6baed6", "#2171b5", "#08306b")
"""From small to large, light to dark."""
LINE_WIDTH = 110
"""Characters of a line below a title."""
MOST_VALUES = 6
"""That differ between the signatures of one chart and are still written out."""

_INK = {"light": "#222222", "dark": "#e8e8e8"}
_FAINT = {"light": "#5a5a5a", "dark": "#b4b4b4"}
_GRID = {"light": "#e4e4e4", "dark": "#3a3d42"}
_PAPER = {"light": "#ffffff", "dark": "#17191c"}


def config(theme: str = "light") -> Spec:
    """Colours of text, lines and paper on a light or a dark page.

    No `aria` for each mark: a page gives a chart its name and its data, and Vega obeys backslashes in such texts.
    """
    ink, faint, grid = _INK[theme], _FAINT[theme], _GRID[theme]
    guide = {"labelColor": ink, "titleColor": ink, "labelLimit": 260, "titleLimit": 400}
    return {
        "aria": False,
        "background": _PAPER[theme],
        "view": {"stroke": grid},
        "title": {"color": ink, "subtitleColor": faint, "subtitleFontSize": 10, "anchor": "start", "frame": "bounds"},
        "axis": {**guide, "gridColor": grid, "domainColor": faint, "tickColor": faint},
        "legend": guide,
        "header": {"labelColor": ink, "titleColor": ink, "labelLimit": 260},
        "rule": {"color": ink},
        "text": {"color": ink},
        "tick": {"color": ink},
    }


def chart(title: str, signature: Sequence[str], datasets: Mapping[str, Rows], *lines: str, **body: Any) -> Spec:
    """A specification. signature: one line a result; lines: in words below the title; datasets: name -> rows."""
    below = [*lines, *(line for one in signature for line in broken_lines(_described(one), LINE_WIDTH))]
    return {
        "$schema": SCHEMA,
        "title": {"text": title, "subtitle": below},
        "datasets": dict(datasets),
        **body,
        "config": config(),
    }


def common(signatures: Sequence[str]) -> list[str]:
    """One signature with what all have alike; the values of what differs are counted.

    >>> common(["measure:pa|lp:en-de|n_systems:12", "measure:pa|lp:he-en|n_systems:13"])
    ['measure:pa|lp:en-de,he-en|n_systems:12,13']
    """
    keyed = [dict(part.partition(":")[::2] for part in signature.split("|")) for signature in signatures]
    keys = dict.fromkeys(key for one in keyed for key in one)
    values = {key: list(dict.fromkeys(one[key] for one in keyed if key in one)) for key in keys}
    shown = {
        key: ",".join(found) if len(found) <= MOST_VALUES else counted(len(found), "value")
        for key, found in values.items()
    }
    return ["|".join(f"{key}:{value}" for key, value in shown.items())] if keyed else []


def _described(signature: str) -> list[str]:
    return [part for part in signature.split("|") if not part.startswith("scorehouse:")]


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


def rows_of(frame: "pl.DataFrame") -> Rows:
    """The rows of a frame."""
    return frame.rows(named=True)


def named(dataset: str) -> Spec:
    """The `data` of a mark: one of the chart's data sets."""
    return {"name": dataset}


def field(name: str, kind: str, title: str | None = None, **more: Any) -> Spec:
    """A channel of an encoding. kind: N, O or Q; a name may hold dots and brackets."""
    kinds = {"N": "nominal", "O": "ordinal", "Q": "quantitative"}
    return {"field": name, "type": kinds[kind], "title": title, **more}


def names_axis(name: str, order: Sequence[str], **axis: Any) -> Spec:
    """An axis of names in this order, none of them dropped however many there are."""
    return field(name, "N", scale={"domain": list(order)}, axis={"labelOverlap": False, **axis})


def tooltip(*names: str) -> list[Spec]:
    """What is shown where the mouse rests."""
    return [{"field": name} for name in names]
