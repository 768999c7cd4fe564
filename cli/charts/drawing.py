"""Charts written to files: SVG, PDF, PNG, a page that needs no network, or the Vega-Lite specification."""

import csv
import io
import json
import math
import re
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cli.charts.program import drawing_program
from cli.exit_codes import UsageError, check_extra
from cli.render.cells import one_line
from cli.render.delimited import without_formula
from cli.render.output import write
from warehouse.wording import NO_LP, without_lp

if TYPE_CHECKING:
    import altair as alt

Spec = dict[str, Any]
ENDINGS = (".svg", ".pdf", ".png", ".html", ".json")
_NOT_IN_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")  # beside the control characters
FIT, TABLES = (files("cli.charts").joinpath(name) for name in ("fit.js", "tables.js"))
_MARK = re.compile(r"%\[([a-z]+)\]%")


def check_chart(path: Path) -> None:
    """Raises UsageError: charts cannot be written to such a file, or the report extra is not installed."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise UsageError(f"--chart {str(path)!r}: expected a file that ends in {', '.join(ENDINGS)}")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"--chart {str(path)!r}: there is no folder {str(path.parent)!r}")
    check_extra("charts need", "report", "altair", "vl_convert")


def draw(chart: "alt.VConcatChart", path: Path, *, has_signature: bool = True) -> None:
    """Write a chart to a file, by the file's ending: SVG, PDF, PNG, a page that needs no network, or Vega-Lite (JSON).

    has_signature: whether the signature is written below the chart.
    Raises UsageError: see `check_chart`.
    """
    check_chart(path)
    import vl_convert

    ending, found = path.suffix.lower(), specification(chart)
    if not has_signature:
        found.pop("title", None)
    if ending == ".json":
        write(json.dumps(found, allow_nan=False, ensure_ascii=False, indent=1) + "\n", path)
    elif ending == ".html":
        write(page(found, drawing_program()), path)
    elif ending == ".svg":
        write(vl_convert.vegalite_to_svg(json.dumps(found, allow_nan=False)), path)
    elif ending == ".pdf":
        write(vl_convert.vegalite_to_pdf(json.dumps(found, allow_nan=False)), path)
    else:
        write(vl_convert.vegalite_to_png(json.dumps(found, allow_nan=False), scale=2), path)


def specification(chart: "alt.VConcatChart") -> Spec:
    """The chart as Vega-Lite, with its data in named data sets, which a page offers for download."""
    # the data sets as they are, where Altair would copy them value by value; the tests check every kind of chart
    found, datasets = chart.to_dict(validate=False, ignore=["datasets"]), chart.datasets
    whole: Spec = prepared({**found, "datasets": {**found.get("datasets", {}), **datasets}})
    text = json.dumps(whole)
    return json.loads(without_lp(text)) if NO_LP in text else whole


@dataclass(frozen=True)
class ChartParts:
    """A chart in parts: its title, the lines below it, its signature in lines, and the specification without these."""

    title: str
    lines: tuple[str, ...]
    signature: tuple[str, ...]
    spec: Spec


def parts_of_chart(found: Spec) -> ChartParts:
    """The parts of a specification that `parts.titled` put together."""
    (body,) = found["vconcat"]
    heading, caption = body["title"], found.get("title", {"text": ()})
    outer = {name: value for name, value in found.items() if name not in ("vconcat", "title", "resolve")}
    spec = {**outer, **{name: value for name, value in body.items() if name != "title"}}
    return ChartParts(" ".join(heading["text"]), tuple(heading.get("subtitle", ())), tuple(caption["text"]), spec)


def prepared(part: Any) -> Any:
    """A specification that can be drawn: no NaN, and no character that is invalid in XML."""
    if isinstance(part, dict):
        return {prepared(name): prepared(value) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [prepared(value) for value in part]
    if isinstance(part, float):
        return part if math.isfinite(part) else None
    return _in_xml(str(part)) if isinstance(part, str) else part


@lru_cache(maxsize=4096)  # names of columns, metrics and systems are in every row
def _in_xml(text: str) -> str:
    return _NOT_IN_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", one_line(text))


def page(spec: Spec, program: str) -> str:
    """A page with the chart, links to its data, and colours that follow the reader's light or dark screen.

    program: JavaScript that draws it and defines `vegaEmbed`. No text of the specification can end its script element.
    """
    from metaeval.charts.parts import config

    shown = parts_of_chart(spec)
    parts = {
        "title": escape(shown.title),
        "below": "<br>".join(map(escape, shown.lines)),
        "signature": "<br>".join(map(escape, shown.signature)),
        "program": program,
        "fit": FIT.read_text("utf-8"),
        "specification": in_script(shown.spec),
        "dark": in_script(config("dark")),
        "links": "\n".join(_links(spec)),
    }
    return _MARK.sub(lambda mark: parts[mark[1]], files("cli.charts").joinpath("page.html").read_text("utf-8"))


def in_script(value: object) -> str:
    """JSON for a script element of a page: nothing in it can end the script."""
    text = json.dumps(value, allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _links(specification: Spec) -> list[str]:
    """A link to each data set as CSV, and one to the specification; the files are in the page itself."""
    wrote = [
        (f"{name}.csv", "text/csv", csv_text(rows), f"{name.replace('_', ' ')} (CSV)")
        for name, rows in specification["datasets"].items()
        if any(rows)
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
