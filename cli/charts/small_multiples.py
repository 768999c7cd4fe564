"""Values of several kinds beside each other, one panel each, names in one order: a protocol's tasks, a segment."""

from collections.abc import Sequence

from cli.charts.specification import BLUE, Rows, Spec, chart, field, named, names_axis

NARROW = 130
COLUMNS = 8
LINE = 20  # characters of a panel's title


def dot_panels(
    rows: Rows,
    order: Sequence[str],
    panels: Sequence[str],
    *,
    title: str,
    signature: Sequence[str],
    lines: Sequence[str],
    tooltips: Sequence[str] = (),
) -> Spec:
    """rows: with name, panel, value, and cluster where there is one. order: of the names; panels: of the panels."""
    drawn = []
    for place, panel in enumerate(panels):
        is_first = place % COLUMNS == 0
        own = [row for row in rows if row["panel"] == panel and row["value"] is not None]
        encoding = {
            "y": names_axis("name", order, labels=is_first, ticks=is_first, grid=True),
            "x": field(
                "value",
                "Q",
                None,
                scale={"zero": False, "nice": False, "padding": 6},
                axis={"tickCount": 4, "format": "~r"},
            ),
        }
        shown = ["name", "value", *tooltips, *(["cluster"] if any(row.get("cluster") for row in own) else [])]
        layers: list[Spec] = [
            {
                "mark": {"type": "point", "filled": True, "size": 40, "color": BLUE, "opacity": 1},
                "encoding": {**encoding, "tooltip": [{"field": one} for one in shown]},
            }
        ]
        if any(row.get("cluster") == 1 for row in own):
            layers.append(
                {
                    "transform": [{"filter": "datum.cluster == 1"}],
                    "mark": {"type": "point", "filled": False, "size": 130, "strokeWidth": 1.2, "stroke": "#d55e00"},
                    "encoding": encoding,
                }
            )
        drawn.append(
            {
                "title": {"text": _broken(panel), "fontSize": 10},
                "width": NARROW,
                "height": {"step": 15},
                "data": named("values"),
                "transform": [{"filter": {"field": "panel", "equal": panel}}],
                "layer": layers,
            }
        )
    return chart(title, signature, {"values": rows}, *lines, concat=drawn, columns=COLUMNS)


def _broken(words: str) -> list[str]:
    """Words in lines of about LINE characters."""
    lines = [""]
    for word in words.split(" "):
        if lines[-1] and len(lines[-1]) + len(word) >= LINE:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
