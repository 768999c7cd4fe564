"""Names beside points that do not hide each other: where each is written, or that there is no room for it."""

from typing import Any

from cli.charts.specification import Rows, Spec, named

_HEIGHT, _WIDE = 11.0, 5.6  # pixels of a line and of a character
_OVER, _ABOVE = 60.0, 8.0  # pixels that names may reach over the right edge, and over the upper and lower ones
SIDES = {"right": (6, 0, 0.0), "left": (-6, 0, 1.0), "above": (0, -11, 0.5), "below": (0, 11, 0.5)}
"""Where a name may stand: pixels from its point, and the share of it that lies to the left of that."""
_Box = tuple[float, float, float, float]


def placed(points: Rows, x: str, y: str, name: str, size: tuple[int, int]) -> Rows:
    """The points with `label`, the side on which their name is written; empty where there is no room.

    x, y: fields with numbers, on linear scales over the values' range; size: of the plot in pixels. The first points
    choose first: sort what matters most to the front.
    """
    width, height = size
    xs, ys = _scaled([point[x] for point in points], width), _scaled([point[y] for point in points], height)
    taken: list[_Box] = [(at - 4, height - up - 4, at + 4, height - up + 4) for at, up in zip(xs, ys, strict=True)]
    found = []
    for point, at, up in zip(points, xs, ys, strict=True):
        long, middle = _WIDE * len(str(point[name])), height - up
        side = ""
        for one, (dx, dy, share) in SIDES.items():
            left, top = at + dx - share * long, middle + dy - _HEIGHT / 2
            box = (left, top, left + long, top + _HEIGHT)
            if (
                left >= 0
                and box[2] <= width + _OVER
                and top >= -_ABOVE
                and box[3] <= height + _ABOVE
                and not any(_meet(box, other) for other in taken)
            ):
                taken.append(box)
                side = one
                break
        found.append({**point, "label": side})
    return found


def _scaled(values: list[float], size: int) -> list[float]:
    if not values:
        return []
    low, high = min(values), max(values)
    return [size * (value - low) / (high - low) if high > low else size / 2 for value in values]


def _meet(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def label_layers(dataset: str, name: str, encoding: dict[str, Any]) -> list[Spec]:
    """Marks that write the names of placed points; encoding: of x and y."""
    aligned = {"right": "left", "left": "right"}
    return [
        {
            "data": named(dataset),
            "transform": [{"filter": {"field": "label", "equal": side}}],
            "mark": {
                "type": "text",
                "fontSize": 10,
                "dx": dx,
                "dy": dy,
                "align": aligned.get(side, "center"),
                "baseline": "middle",
            },
            "encoding": {**encoding, "text": {"field": name}},
        }
        for side, (dx, dy, _) in SIDES.items()
    ]
