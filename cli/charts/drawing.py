"""Specifications drawn into files by the report extra: SVG, PNG, a page that needs no network, or the specification."""

import csv
import io
import json
import math
import re
from html import escape
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cli.charts.program import drawing_program
from cli.charts.specification import Spec, config
from cli.exit_codes import UsageError
from cli.render.cells import one_line
from cli.render.delimited import without_formula
from cli.render.output import write

ENDINGS = (".svg", ".png", ".html", ".json")
_NOT_IN_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")  # beside the control characters
_MARK = re.compile(r"%\[([a-z]+)\]%")


def check_chart(path: Path) -> None:
    """Raises UsageError: no chart can be drawn into such a file, or the report extra is not installed."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise UsageError(f"--chart {str(path)!r}: expected a file that ends in {', '.join(ENDINGS)}")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"--chart {str(path)!r}: there is no folder {str(path.parent)!r}")
    if ending != ".json" and find_spec("vl_convert") is None:
        raise UsageError(
            'charts need the report extra: python3 -m pip install "scorehouse[report]" (.json needs nothing)'
        )


def draw(specification: Spec, path: Path) -> None:
    """Draw a chart into a file, by the file's ending: SVG, PNG, a page that needs no network, or as it is (JSON).

    Raises UsageError: see `check_chart`.
    """
    check_chart(path)
    specification, ending = prepared(offering(specification)), path.suffix.lower()
    text = json.dumps(specification, allow_nan=False)
    if ending == ".json":
        write(json.dumps(specification, allow_nan=False, ensure_ascii=False, indent=1) + "\n", path)
        return
    if ending == ".html":
        write(page(specification, drawing_program()), path)
        return
    import vl_convert

    if ending == ".svg":
        write(vl_convert.vegalite_to_svg(text), path)
    else:
        write(vl_convert.vegalite_to_png(text, scale=2), path)


def offering(specification: Spec) -> Spec:
    """The specification with all its data in data sets, which can be taken out, and the colours of a light page."""
    datasets = dict(specification.get("datasets", {}))

    def moved(part: Any) -> Any:
        if isinstance(part, list):
            return [moved(one) for one in part]
        if not isinstance(part, dict):
            return part
        rows = part["values"] if set(part) == {"values"} and isinstance(part["values"], list) else None
        if rows and all(isinstance(row, dict) and row for row in rows):
            name = next((known for known, own in datasets.items() if own == rows), f"part_{len(datasets) + 1}")
            datasets[name] = rows
            return {"name": name}
        return {name: one if name == "datasets" else moved(one) for name, one in part.items()}

    drawn = moved(specification)
    return {**drawn, "datasets": datasets, "config": config()}


def prepared(part: Any) -> Any:
    """A specification that can be drawn: no NaN, and no character that XML lacks, at which the renderer would end."""
    if isinstance(part, dict):
        return {prepared(name): prepared(value) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [prepared(value) for value in part]
    if isinstance(part, float):
        return part if math.isfinite(part) else None
    return _NOT_IN_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", one_line(part)) if isinstance(part, str) else part


def page(specification: Spec, program: str) -> str:
    """A page with the chart, its data to take out, and colours that follow the reader's light or dark screen.

    program: what draws, which defines `vegaEmbed`. No text of the specification can end the script it stands in.
    """
    title = str(specification["title"]["text"])
    below = "".join(f"<br>{escape(line)}" for line in specification["title"]["subtitle"])
    parts = {
        "title": escape(title),
        "below": below.removeprefix("<br>"),
        "program": program,
        "specification": in_script({**specification, "title": None}),
        "dark": in_script(config("dark")),
        "links": "\n".join(_links(specification)),
    }
    return _MARK.sub(lambda found: parts[found[1]], files("cli.charts").joinpath("page.html").read_text("utf-8"))


def in_script(value: object) -> str:
    """JSON that can stand in a script of a page: nothing in it can end the script."""
    text = json.dumps(value, allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _links(specification: Spec) -> list[str]:
    """A link to each data set as CSV, and one to the specification; the files are in the page itself."""
    wrote = [
        (f"{name}.csv", "text/csv", csv_text(rows), f"{name.replace('_', ' ')} (CSV)")
        for name, rows in specification["datasets"].items()
        if rows
    ]
    wrote.append(("chart.json", "application/json", json.dumps(specification, allow_nan=False), "Vega-Lite (JSON)"))
    return [
        f'<a download="{escape(file)}" href="data:{kind};charset=utf-8,{quote(text)}">{escape(words)}</a>'
        for file, kind, text, words in wrote
    ]


def csv_text(rows: list[dict[str, Any]], *, safe_cells: bool = False) -> str:
    """Rows as comma-separated text, full precision, missing values empty. safe_cells: no text is a formula."""

    def cell(value: Any) -> Any:
        return without_formula(value) if safe_cells and isinstance(value, str) else value

    names = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(cell, names))
    writer.writerows([cell(row.get(name)) for name in names] for row in rows)
    return out.getvalue()
