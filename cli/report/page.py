"""The page: sections laid out by the templates, all text escaped, everything in one file."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cli.charts.drawing import FIT, TABLES, Spec, csv_text, in_script
from cli.charts.program import drawing_program
from cli.render.cells import one_line
from cli.render.delimited import FORMULAS
from cli.render.latex import SIGNS
from cli.report.content import Figure
from cli.report.making import ReportSection
from metaeval.charts.parts import config
from metaeval.results.signature import program_version

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_BYTES = 3_000_000
_SAFE = ",.:;/() =+-_"  # characters that a link holds as they are
_COMMAND = re.compile(r"`((?:scorehouse |--)[^`]*)`")
_TAG = re.compile(r"<[A-Za-z][^<>]*>")
_NAMED = re.compile(r'(\bid="|url\(#|href="#)((?:clip|gradient)[\w-]*)')


@dataclass
class Footnotes:
    """Signatures, numbered in the order of their first use."""

    texts: list[str] = field(default_factory=list)

    def number(self, signature: str) -> int:
        """The number of a signature's footnote."""
        if signature not in self.texts:
            self.texts.append(signature)
        return self.texts.index(signature) + 1


def environment(*packages: str, keeps_lines: bool = False) -> "Environment":
    """The environment that fills in the templates of packages, earlier packages first; all text is escaped.

    keeps_lines: texts of several lines, such as SQL, stay as they are.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    def single_line(value: Any) -> Any:
        if not isinstance(value, str) or hasattr(value, "__html__") or (keeps_lines and "\n" in value):
            return value  # such as what a template marks as safe: our own, or made safe here
        return one_line(value)

    made = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=single_line,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["pieces"] = pieces
    return made


def page(sections: Sequence[ReportSection], title: str, *, static: bool, safe_cells: bool = False) -> str:
    """The report as HTML.

    static: without JavaScript, with charts drawn here. safe_cells: no text in the CSV that it offers is a formula.
    """
    templates = environment("cli.report")
    figures = [one for made in sections for part in made.parts for one in part.figures]
    drawn = [svg(one, place) for place, one in enumerate(figures)] if static else []
    texts = {
        name: files("cli.report").joinpath("templates", name).read_text("utf-8") for name in ("page.css", "page.js")
    }
    return templates.get_template("page.html").render(
        title=title,
        sections=sections,
        shown=[one for one in sections if not one.missing],
        footnotes=Footnotes(),
        static=static,
        drawn=drawn,
        place_of=places(figures),
        style=texts["page.css"],
        script="".join([FIT.read_text("utf-8"), TABLES.read_text("utf-8"), texts["page.js"]]),
        program="" if static or not figures else drawing_program(),
        charts=in_script([compact(one.spec) for one in figures]),
        settings=in_script(
            {
                "themes": {name: config(name) for name in ("light", "dark")},
                "formulas": FORMULAS if safe_cells else (),
                "signs": SIGNS,
            }
        ),
        links=partial(_links, safe_cells=safe_cells),
        grid_link=lambda grid: _link(csv_text(grid.records(), safe_cells=safe_cells)),
        version=program_version(),
        date=datetime.now(UTC).date().isoformat(),
    )


def places(figures: Sequence[Figure]) -> Callable[[Figure], int]:
    """The place of a chart on the page."""
    known = {id(one): place for place, one in enumerate(figures)}
    return lambda one: known[id(one)]


def compact(spec: Spec) -> Spec:
    """A specification whose data sets list the names of their columns only once."""
    rest = {name: value for name, value in spec.items() if name != "$schema"}
    return {**rest, "datasets": {name: _columns(rows) for name, rows in spec["datasets"].items()}}


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {"columns": names, "rows": [[row.get(name) for name in names] for row in rows]}


def svg(figure: Figure, place: int) -> str:
    """A chart as an element of the page. place: makes its names different from those of other charts."""
    import vl_convert

    text = json.dumps({**figure.spec, "config": config()}, allow_nan=False)
    drawn = str(vl_convert.vegalite_to_svg(text)).replace("<svg ", '<svg aria-hidden="true" ', 1)
    return _TAG.sub(lambda tag: _NAMED.sub(rf"\1chart-{place}-\2", tag[0]), drawn)


def _links(figure: Figure, *, safe_cells: bool) -> list[tuple[str, str]]:
    """Each data set of a chart: its name, and a link that holds it as CSV."""
    datasets = {name: rows for name, rows in figure.spec["datasets"].items() if any(rows)}
    return [(name.replace("_", " "), _link(csv_text(rows, safe_cells=safe_cells))) for name, rows in datasets.items()]


def pieces(text: str) -> list[str]:
    """A sentence in pieces; every second piece is a command or option that was in backticks.

    >>> pieces("`scorehouse audit` lists `all`.")
    ['', 'scorehouse audit', ' lists `all`.']
    """
    return _COMMAND.split(text)


def _link(text: str) -> str:
    return f"data:text/csv;charset=utf-8,{quote(text, safe=_SAFE)}"
