"""Charts as Vega-Lite specifications, drawn into files by the report extra; nothing is fetched."""

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.exit_codes import UsageError
from cli.render.cells import one_line
from cli.render.output import write

if TYPE_CHECKING:
    from metaeval.significance.comparison import Comparison

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_FORMATS = (".svg", ".png", ".html")
_NOT_IN_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")  # beside the control characters
_PLACEHOLDER = {"$schema": SCHEMA, "description": "where the specification goes"}


_GREENS = ("#00441b", "#238b45", "#74c476")  # significant, from the smallest p up
_OTHERS = ("#fdd0a2", "#fdae6b", "#d9d9d9")
_UNDEFINED = "not defined"


def significance_matrix(found: "Comparison") -> dict[str, Any]:
    """A heat map: cell (row, column) is coloured by p that the row's metric is better than the column's.

    Metrics are sorted best first; lines part the clusters; `=` marks metrics with exactly the same value. Greens are
    significant at the comparison's level.
    """
    places = range(len(found.metrics))
    names = [
        f"{rank}. {name}" if value == value else name
        for rank, name, value in zip(found.ranks, found.metrics, found.values, strict=True)
    ]
    classes = _classes(found.alpha)
    cells = [
        {
            "better": names[row],
            "worse": names[column],
            "p": _p_text(found.corrected[row, column], found.least[row, column]),
            "class": _class_of(found.corrected[row, column], classes),
            "mark": "=" if found.values[row] == found.values[column] else "",
        }
        for row in places
        for column in range(row + 1, len(names))
    ]
    edges = [names[place] for place in places[1:] if found.clusters[place] != found.clusters[place - 1]]
    size = max(12, min(22, 700 // max(len(names), 1)))
    axes = {
        "x": {
            "field": "worse",
            "type": "nominal",
            "scale": {"domain": names},
            "title": None,
            "axis": {"labelAngle": -60},
        },
        "y": {"field": "better", "type": "nominal", "scale": {"domain": names}, "title": None},
    }
    shown = [label for _, label, _ in classes if any(cell["class"] == label for cell in cells)]
    colours = {label: colour for _, label, colour in classes}
    if any(cell["class"] == _UNDEFINED for cell in cells):
        shown.append(_UNDEFINED)
        colours[_UNDEFINED] = "#f0f0fa"
    described = [part for part in found.signature.split("|") if not part.startswith("scorehouse:")]
    corrected = "" if found.correction == "none" else f" ({found.correction})"
    return {
        "$schema": SCHEMA,
        "title": {
            "text": _question(found),
            "subtitle": broken_lines(described, max(80, size * len(names) // 6)),
            "anchor": "start",
        },
        "width": {"step": size},
        "height": {"step": size},
        "layer": [
            {
                "data": {"values": cells},
                "mark": "rect",
                "encoding": {
                    **axes,
                    "color": {
                        "field": "class",
                        "type": "nominal",
                        "scale": {"domain": shown, "range": [colours[label] for label in shown]},
                        "title": f"p{corrected}",
                        "legend": {"symbolType": "square", "symbolStrokeWidth": 0, "symbolSize": 150},
                    },
                    "tooltip": [
                        {"field": "better"},
                        {"field": "worse"},
                        {"field": "p"},
                    ],
                },
            },
            {
                "data": {"values": [cell for cell in cells if cell["mark"]]},
                "mark": {"type": "text", "baseline": "middle", "fontWeight": "bold"},
                "encoding": {**axes, "text": {"field": "mark"}},
            },
            *(_cluster_lines(axis, edges, names) for axis in ("x", "y")),
        ],
        "config": {"view": {"stroke": None}, "axis": {"labelLimit": 260}},
    }


def _question(found: "Comparison") -> str:
    if found.alternative == "two-sided":
        return f"Do the row's and the column's metric differ, by {found.measure}? ({found.test})"
    return f"Is the row's metric better than the column's, by {found.measure}? ({found.test})"


def _classes(alpha: float) -> list[tuple[float, str, str]]:
    """Upper bound, label and colour of the classes of p, from small to large."""
    greens = [*(bound for bound in (0.001, 0.01) if bound < alpha), alpha]
    others = [bound for bound in (0.1, 0.5) if bound > alpha]
    labelled = [
        *zip(greens, _GREENS[-len(greens) :], strict=True),
        *zip([*others, 1.0], _OTHERS[-len(others) - 1 :], strict=True),
    ]
    last = max(alpha, *others, 0.0)
    return [
        (bound, f"\N{LESS-THAN OR EQUAL TO} {bound:g}" if bound <= last else f"> {last:g}", colour)
        for bound, colour in labelled
    ]


def _p_text(p: float, least: float) -> str | None:
    if p != p:
        return None
    return f"<{least:.2g}" if p == 0 else f"{p:.3g}"


def _class_of(p: float, classes: list[tuple[float, str, str]]) -> str:
    return next((label for bound, label, _ in classes if p <= bound), _UNDEFINED)


def _cluster_lines(axis: str, edges: list[str], names: list[str]) -> dict[str, Any]:
    return {
        "data": {"values": [{"edge": edge} for edge in edges]},
        "mark": {"type": "rule", "color": "black", "strokeWidth": 1},
        "encoding": {axis: {"field": "edge", "type": "nominal", "scale": {"domain": names}, "bandPosition": 0}},
    }


def broken_lines(parts: list[str], width: int) -> list[str]:
    """Parts joined by `|`, broken into lines of about this many characters."""
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) < width:
            lines[-1] += f"|{part}"
        else:
            lines.append(part)
    return lines


def check_chart(path: Path) -> None:
    """Raises UsageError: no chart can be drawn into such a file, or the report extra is not installed."""
    if path.suffix.lower() not in _FORMATS:
        raise UsageError(f"--chart {str(path)!r}: expected a file that ends in {', '.join(_FORMATS)}")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"--chart {str(path)!r}: there is no folder {str(path.parent)!r}")
    if find_spec("vl_convert") is None:
        raise UsageError('charts need the report extra: python3 -m pip install "scorehouse[report]"')


def draw(specification: dict[str, Any], path: Path) -> None:
    """Draw a chart into a file: SVG, PNG or a page that needs no network, by the file's ending.

    Raises UsageError: see `check_chart`.
    """
    check_chart(path)
    import vl_convert

    specification = _shown(specification)
    text, ending = json.dumps(specification), path.suffix.lower()
    if ending == ".svg":
        write(vl_convert.vegalite_to_svg(text), path)
    elif ending == ".png":
        write(vl_convert.vegalite_to_png(text, scale=2), path)
    else:
        write(_page(vl_convert.vegalite_to_html(json.dumps(_PLACEHOLDER), bundle=True), text), path)


def _shown(part: Any) -> Any:
    """A specification whose texts hold no character that XML doesn't: the renderer would end the process."""
    if isinstance(part, dict):
        return {name: _shown(value) for name, value in part.items()}
    if isinstance(part, list):
        return [_shown(value) for value in part]
    return _NOT_IN_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", one_line(part)) if isinstance(part, str) else part


def _page(page: str, text: str) -> str:
    """A page drawn from the placeholder, with a specification in its place that no text in it can end.

    Raises RuntimeError: the page does not hold the placeholder exactly once.
    """
    head, *tails = page.split(json.dumps(_PLACEHOLDER, separators=(",", ":")))
    if len(tails) != 1:
        raise RuntimeError(f"the renderer's page holds the specification {len(tails)} times, expected once")
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return head + text + tails[0]
