"""Numbers by rows and columns, as a heat map whose cells show their number if there is room."""

from collections.abc import Sequence

import altair as alt

from metaeval.charts.parts import RAMP, Rows, bulk, names, tips, titled

MOST_NUMBERS = 24  # columns beside each other in which numbers can still be read
NO_VALUE = "no value"


def heat_map(
    cells: Rows,
    *,
    rows: tuple[str, Sequence[str]],
    columns: tuple[str, Sequence[str]],
    value: str,
    title: str,
    signature: str,
    lines: Sequence[str],
    marked: str | None = None,
    by_column: bool = False,
) -> alt.VConcatChart:
    """cells: with the fields of rows and columns and `value`. rows, columns: the field and its names in order.

    value: the meaning of the numbers; marked: a field that says which cells are bold; by_column: colours go from the
    lowest number of each column to its highest, for columns that do not compare. A cell without a number is grey with a
    cross.
    """
    down, row_order = rows
    across, column_order = columns
    numbers: dict[str, list[float]] = {}
    for cell in cells:
        if cell["value"] is not None and cell["value"] == cell["value"]:
            numbers.setdefault(cell[across] if by_column else "", []).append(cell["value"])
    ends = {name: (bulk(some)[0], max(some)) for name, some in numbers.items()}
    low, high = (0.0, 1.0) if by_column else ends.get("", (0.0, 1.0))
    shade, legend = "value", value
    if by_column:
        shade, legend = "shade", "in its column: 0 lowest, 1 highest"
        cells = [{**cell, "shade": _shade(cell["value"], ends.get(cell[across]))} for cell in cells]
    elif n_below := sum(number < low for some in numbers.values() for number in some):
        lines = [*lines, f"colours end at {low:.2f}: {n_below} smaller values are as light as that"]
    high = high if high > low else low + 1
    has_numbers = len(column_order) <= MOST_NUMBERS
    size = 38 if has_numbers else max(12, min(20, 800 // len(column_order)))
    angle = -60 if max(map(len, column_order), default=0) > 5 else 0
    base = alt.Chart(alt.NamedData("values")).encode(
        x=names(alt.X(across, type="nominal"), column_order, labelAngle=angle, orient="bottom" if angle else "top"),
        y=names(alt.Y(down, type="nominal"), row_order),
    )
    there = base.transform_filter("isValid(datum.value)")
    scale = alt.Scale(range=RAMP, domain=[low, high], interpolate="lab", clamp=True)
    colour = alt.Color(shade, type="quantitative").title(legend).scale(scale)
    layers = [
        there.mark_rect().encode(
            color=colour, tooltip=[*tips(f"{down}:N", f"{across}:N"), alt.Tooltip("value:Q", format=".4f")]
        )
    ]
    if has_numbers:
        text = there.encode(
            text=alt.Text("value:Q", format=".2f" if marked is None else ".3f"),
            color=alt.ColorValue(
                "#222222", condition=[{"test": f"datum.{shade} > {low + 0.6 * (high - low)!r}", "value": "#ffffff"}]
            ),
        )
        layers.append(text.transform_filter(f"!datum.{marked}" if marked else "true").mark_text())
        if marked:
            layers.append(text.transform_filter(f"datum.{marked}").mark_text(fontWeight="bold"))
    if sum(map(len, numbers.values())) < len(cells):  # these must not look like a number, and have a legend
        empty = base.transform_filter("!isValid(datum.value)").transform_calculate(**{"is": f"'{NO_VALUE}'"})
        grey = alt.Color("is:N").title(None).scale(domain=[NO_VALUE], range=["#b8b8c8"])
        layers.append(
            empty.mark_rect().encode(
                color=grey, tooltip=[*tips(f"{down}:N", f"{across}:N"), alt.Tooltip("is:N", title=value)]
            )
        )
        layers.append(empty.mark_text(fontSize=10 if size > 14 else 8, color="#222222", text="\N{MULTIPLICATION SIGN}"))
    body = alt.layer(*layers, width=alt.Step(size), height=alt.Step(18 if has_numbers else size))
    body = body.resolve_scale(color="independent")
    return titled(body, title, signature, {"values": cells}, *lines)


def _shade(value: float | None, ends: tuple[float, float] | None) -> float | None:
    """A number's position between the ends of its column's colours; the middle if all are equal."""
    if value is None or value != value or ends is None:
        return None
    low, high = ends
    return min(max((value - low) / (high - low), 0.0), 1.0) if high > low else 0.5
