"""Numbers by rows and columns, as a heat map whose cells have their number written in where there is room."""

from collections.abc import Sequence
from typing import Any

from cli.charts.specification import RAMP, Rows, Spec, chart, named, names_axis, tooltip

MOST_NUMBERS = 24  # columns beside each other in which numbers can still be read


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
) -> Spec:
    """cells: with the fields of rows and columns and `value`. rows, columns: the field and its names in order.

    value: what the numbers are; marked: a field that says which cells are bold.
    """
    down, row_order = rows
    across, column_order = columns
    numbers = [cell["value"] for cell in cells if cell["value"] is not None and cell["value"] == cell["value"]]
    low, high = (min(numbers), max(numbers)) if numbers else (0.0, 1.0)
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
                "color": {
                    "field": "value",
                    "type": "quantitative",
                    "title": value,
                    "scale": {"range": list(RAMP), "domain": _domain(low, high), "interpolate": "lab"},
                },
                "tooltip": [*tooltip(down, across), {"field": "value", "format": ".4f"}],
            },
        }
    ]
    if has_numbers:
        middle = low + 0.6 * (high - low)
        encoding = {
            **axes,
            "text": {"field": "value", "format": ".2f" if marked is None else ".3f"},
            "color": {"condition": {"test": f"datum.value > {middle!r}", "value": "#ffffff"}, "value": "#222222"},
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
    return chart(
        title,
        signature,
        {"values": cells},
        *lines,
        width={"step": size},
        height={"step": 18 if has_numbers else size},
        layer=layers,
    )


def _domain(low: float, high: float) -> list[float]:
    """Ends of the colours, apart also where all numbers are equal."""
    return [low, high] if high > low else [low - 0.5, high + 0.5]
