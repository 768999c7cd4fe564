"""Numbers by rows and columns, as a heat map whose cells have their number written in where there is room."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cli.charts.specification import RAMP, Rows, Spec, chart, field, named, names_axis, tooltip

_FEW = 8  # numbers, whose quartiles say little
MOST_NUMBERS = 24  # columns beside each other in which numbers can still be read
NO_VALUE = "no value"


def heat_map(
    cells: Rows,
    *,
    rows: tuple[str, Sequence[str]],
    columns: tuple[str, Sequence[str]],
    value: str,
    title: str,
    signature: Sequence[str],
    lines: Sequence[str],
    marked: str | None = None,
    by_column: bool = False,
) -> Spec:
    """cells: with the fields of rows and columns and `value`. rows, columns: the field and its names in order.

    value: what the numbers are; marked: a field that says which cells are bold; by_column: colours go from the lowest
    number of each column to its highest, for columns that do not compare. A cell without a number is grey with a cross.
    """
    down, row_order = rows
    across, column_order = columns
    numbers: dict[str, list[float]] = {}
    for cell in cells:
        if cell["value"] is not None and cell["value"] == cell["value"]:
            numbers.setdefault(cell[across] if by_column else "", []).append(cell["value"])
    ends = {name: _ends(some) for name, some in numbers.items()}
    n_numbers = sum(map(len, numbers.values()))
    low, high = (0.0, 1.0) if by_column else ends.get("", _ends([]))
    shade, legend = "value", value
    if by_column:
        shade, legend = "shade", "in its column: 0 lowest, 1 highest"
        cells = [{**cell, "shade": _shade(cell["value"], ends.get(cell[across]))} for cell in cells]
    elif n_below := sum(number < low for some in numbers.values() for number in some):
        lines = [*lines, f"colours end at {low:.2f}: {n_below} smaller values are as light as that"]
    has_numbers = len(column_order) <= MOST_NUMBERS
    size = 38 if has_numbers else max(12, min(20, 800 // len(column_order)))
    angle = -60 if max(map(len, column_order), default=0) > 5 else 0
    axes = {
        "x": names_axis(across, column_order, labelAngle=angle, orient="top" if angle == 0 else "bottom"),
        "y": names_axis(down, row_order),
    }
    layers: list[dict[str, Any]] = [
        {
            "data": named("values"),
            "transform": [{"filter": "isValid(datum.value)"}],
            "mark": "rect",
            "encoding": {
                **axes,
                "color": field(
                    shade,
                    "Q",
                    legend,
                    scale={"range": list(RAMP), "domain": [low, high], "interpolate": "lab", "clamp": True},
                ),
                "tooltip": [*tooltip(down, across), {"field": "value", "format": ".4f"}],
            },
        }
    ]
    if has_numbers:
        middle = low + 0.6 * (high - low)
        encoding = {
            **axes,
            "text": {"field": "value", "format": ".2f" if marked is None else ".3f"},
            "color": {"condition": {"test": f"datum.{shade} > {middle!r}", "value": "#ffffff"}, "value": "#222222"},
        }
        bold = [(f"datum.{marked}", "bold"), (f"!datum.{marked}", "normal")] if marked else [("true", "normal")]
        layers += [
            {
                "data": named("values"),
                "transform": [{"filter": f"isValid(datum.value) && {which}"}],
                "mark": {"type": "text", "fontSize": 10, "fontWeight": weight},
                "encoding": encoding,
            }
            for which, weight in bold
        ]
    more: Spec = {}
    if n_numbers < len(cells):
        shown = [*tooltip(down, across), {"field": "is", "title": value}]
        layers += _without_value(axes, shown, 10 if size > 14 else 8)
        more = {"resolve": {"scale": {"color": "independent"}}}
    return chart(
        title,
        signature,
        {"values": cells},
        *lines,
        width={"step": size},
        height={"step": 18 if has_numbers else size},
        layer=layers,
        **more,
    )


def _shade(value: float | None, ends: tuple[float, float] | None) -> float | None:
    """Where a number stands between the ends of its column's colours."""
    if value is None or value != value or ends is None:
        return None
    return min(max((value - ends[0]) / (ends[1] - ends[0]), 0.0), 1.0)


def _without_value(axes: Spec, shown: list[Spec], font_size: int) -> list[Spec]:
    """The layers of cells without a number, which must not look like one of the numbers; they have a legend."""
    own = [{"filter": "!isValid(datum.value)"}, {"calculate": f"'{NO_VALUE}'", "as": "is"}]
    colour = field("is", "N", scale={"domain": [NO_VALUE], "range": ["#b8b8c8"]})
    return [
        {
            "data": named("values"),
            "transform": own,
            "mark": "rect",
            "encoding": {**axes, "color": colour, "tooltip": shown},
        },
        {
            "data": named("values"),
            "transform": own,
            "mark": {"type": "text", "fontSize": font_size, "color": "#222222", "text": "\N{MULTIPLICATION SIGN}"},
            "encoding": axes,
        },
    ]


def _ends(numbers: Sequence[float]) -> tuple[float, float]:
    """Ends of the colours, apart also where all numbers are equal.

    A few numbers far below the others (more than three interquartile ranges) would leave one colour to those: they are
    beyond the end.
    >>> _ends([0.5, 0.5]), _ends([]), _ends([0.1, 0.7, 0.8, 0.9]), _ends([-9, *range(90, 100)])
    ((0.0, 1.0), (0.0, 1.0), (0.1, 0.9), (76.5, 99))
    """
    low, high = (min(numbers), max(numbers)) if numbers else (0.5, 0.5)
    if high == low:
        return low - 0.5, high + 0.5
    if len(numbers) >= _FEW:
        lower, upper = (float(end) for end in np.quantile(numbers, [0.25, 0.75]))
        low = max(low, lower - 3 * (upper - lower)) if upper > lower else low
    return low, high
