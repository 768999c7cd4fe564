"""Named points on two axes: names that do not hide each other, axes by the bulk of the points, outliers at the edge."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from metaeval.charts.parts import BLUE, GREEN, PADDING, TIGHT, Rows, bulk, tips
from metaeval.results.stars import starred

_HEIGHT, _WIDE = 11.0, 6.0  # pixels of a line and of a character
_OVER, _ABOVE = 60.0, 8.0  # pixels that names may reach over the right edge, and over the upper and lower ones
SIDES = {
    "right": (6, 0, 0.0),
    "left": (-6, 0, 1.0),
    "above": (0, -11, 0.5),
    "below": (0, 11, 0.5),
    "upper right": (0, -11, 0.0),
    "lower right": (0, 11, 0.0),
}
"""Where a name may stand: pixels from its point, and the share of it that lies to the left of that."""
_Box = tuple[float, float, float, float]


def labelled(
    dataset: str, points: Rows, x: str, y: str, name: str, titles: Sequence[str], size: tuple[int, int]
) -> tuple[Any, Rows]:
    """A panel of named points, and its data. titles: of the axes.

    Points far from the others are triangles at the edge, named with their values. A point with `is` "own" is
    highlighted: it is on top and always named.
    """
    ends = {axis: bulk([point[axis] for point in points]) for axis in (x, y)}
    moved = [
        {**one, **{f"{axis}_at": min(max(one[axis], low), high) for axis, (low, high) in ends.items()}}
        for one in points
    ]
    for one in moved:
        is_far = (one[x], one[y]) != (one[f"{x}_at"], one[f"{y}_at"])
        one["beyond"] = f"{one[name]} ({one[x]:.3g}, {one[y]:.3g})" if is_far else None
        one["text"] = starred(one[name]) if one["beyond"] is None else one["beyond"]
    first = sorted(moved, key=lambda one: (one["beyond"] is None, one.get("is") != "own"))
    rows = placed(first, f"{x}_at", f"{y}_at", "text", size)
    rows.sort(key=lambda one: one.get("is") == "own")  # drawn last: on top
    base = alt.Chart(alt.NamedData(dataset)).encode(
        x=alt.X(f"{x}_at:Q").title(titles[0]).scale(TIGHT), y=alt.Y(f"{y}_at:Q").title(titles[1]).scale(TIGHT)
    )
    layers = [
        base.mark_point().encode(
            color=alt.ColorValue(BLUE, condition=[{"test": "datum.is === 'own'", "value": GREEN}]),
            shape=alt.ShapeValue("circle", condition=[{"test": "isValid(datum.beyond)", "value": "triangle-up"}]),
            tooltip=tips(f"{name}:N", f"{x}:N", f"{y}:N"),
        )
    ]
    for side, (dx, dy, share) in SIDES.items():
        own = base.transform_filter(alt.FieldEqualPredicate(field="label", equal=side))
        align: Any = {0.0: "left", 1.0: "right"}.get(share, "center")
        layers.append(own.mark_text(style="name", dx=dx, dy=dy, align=align).encode(text=alt.Text("text:N")))
    return alt.layer(*layers, width=size[0], height=size[1]), rows


def placed(points: Rows, x: str, y: str, name: str, size: tuple[int, int]) -> Rows:
    """The points with `label`, the side on which their name is written; empty if there is no room.

    x, y: fields with numbers, on linear scales over the values' range; size: of the plot in pixels. The first points
    choose first: sort the most important to the front. A point with `is` "own" is always named, whatever the name
    hides.
    """
    width, height = size
    xs, ys = _scaled([point[x] for point in points], width), _scaled([point[y] for point in points], height)
    taken: list[_Box] = [(at - 4, height - up - 4, at + 4, height - up + 4) for at, up in zip(xs, ys, strict=True)]
    found = []
    for point, at, up in zip(points, xs, ys, strict=True):
        long, middle = _WIDE * len(str(point[name])), height - up
        hidden: dict[str, tuple[int, _Box]] = {}  # side -> how many it hides, and where the name is
        for side, (dx, dy, share) in SIDES.items():
            left, top = at + dx - share * long, middle + dy - _HEIGHT / 2
            box = (left, top, left + long, top + _HEIGHT)
            if left >= 0 and box[2] <= width + _OVER and top >= -_ABOVE and box[3] <= height + _ABOVE:
                hidden[side] = sum(_meet(box, other) for other in taken), box
        label = min(hidden, key=lambda side: hidden[side][0], default="")
        if label and (hidden[label][0] == 0 or point.get("is") == "own"):
            taken.append(hidden[label][1])
        else:
            label = ""
        found.append({**point, "label": label})
    return found


def _scaled(values: list[float], size: int) -> list[float]:
    if not values:
        return []
    low, high = min(values), max(values)
    room = size - 2 * PADDING
    return [PADDING + room * (value - low) / (high - low) if high > low else size / 2 for value in values]


def _meet(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
