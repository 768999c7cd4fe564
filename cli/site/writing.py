"""A site is written: pages with their tables beside them, the copied warehouse, the engine, and what machines read."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl

from cli.charts.drawing import csv_text
from cli.render.cells import one_line
from cli.report.page import pieces
from cli.site import metadata
from cli.site.content import Page
from cli.site.engine import VERSION, copy_engine
from cli.site.folder import fresh_site
from cli.site.gathering import SiteData, gather
from cli.site.pages import Pages, compact
from metaeval.options import Run
from metaeval.signature import program_version
from queries.pages import page_query
from warehouse.export.copying import copy_warehouse
from warehouse.wording import counted

MOST_BYTES = 95_000_000
"""Of one file: pages services take no larger ones."""
MENU = (
    ("scorehouse", "index.html"),
    ("Metrics", "metrics/index.html"),
    ("Systems", "systems/index.html"),
    ("Years", "years.html"),
    ("Methods", "methods.html"),
    ("SQL", "sql.html"),
    ("Data", "data/README.html"),
)
_STATIC = ("site.css", "site.js", "sql.js", "icon.svg")


@dataclass(frozen=True)
class SiteSummary:
    """What was written. why_no_engine: "" where SQL runs."""

    n_pages: int
    n_bytes: int
    seconds: float
    why_no_engine: str
    n_own: int


def write_site(
    run: Run,
    database: Path,
    folder: Path,
    only: Sequence[str] = (),
    *,
    with_texts: bool = False,
    engine: Path | None = None,
) -> SiteSummary:
    """Write a site into a folder.

    Raises UsageError: the folder is not free; the engine is another file. QuestionError: an unknown test set.
    """
    begun = time.monotonic()
    with fresh_site(folder) as root:
        why_no_engine = copy_engine(root / "engine", engine)  # refused before anything is computed
        gathered = gather(run, only)
        data = root / "data"
        data.mkdir()
        copy_warehouse(database, data / "warehouse.duckdb", only or None, with_texts=with_texts)
        parts = _split(data / "warehouse.duckdb")
        n_pages = _write_pages(run, root, gathered, only, parts, why_no_engine, with_texts=with_texts)
        n_bytes = _size(root)
    n_own = gathered.metrics.filter(pl.col("is_own"))["metric"].n_unique()
    return SiteSummary(n_pages, n_bytes, time.monotonic() - begun, why_no_engine, n_own)


def _size(root: Path) -> int:
    return sum(path.stat().st_size for path in root.rglob("*") if path.is_file())


def _split(path: Path) -> list[str]:
    """The names of a file's parts, in order; the file itself where it is small enough."""
    if path.stat().st_size <= MOST_BYTES:
        return [path.name]
    names: list[str] = []
    with path.open("rb") as file:
        while block := file.read(MOST_BYTES):
            names.append(f"{path.name}.{len(names) + 1:02}")
            path.with_name(names[-1]).write_bytes(block)
    path.unlink()
    return names


def _write_pages(
    run: Run,
    root: Path,
    gathered: SiteData,
    only: Sequence[str],
    parts: Sequence[str],
    why_no_engine: str,
    *,
    with_texts: bool,
) -> int:
    """The number of pages."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    def shown(value: Any) -> Any:
        is_markup = hasattr(value, "__html__")  # marked as safe in a template: our own
        return one_line(value) if isinstance(value, str) and not is_markup and "\n" not in value else value

    environment = Environment(
        loader=PackageLoader("cli.site"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    day = datetime.now(UTC).date()
    texts = "Texts of segments are included." if with_texts else "Scores only: texts of segments are not included."
    megabytes = round(sum((root / "data" / name).stat().st_size for name in parts) / 1e6)
    environment.globals |= {
        "menu": MENU,
        "version": program_version(),
        "date": day.isoformat(),
        "n_evalsets": counted(gathered.evalsets.height, "evaluation set"),
        "texts": texts,
        "has_engine": not why_no_engine,
        "why_no_engine": why_no_engine,
        "engine_version": VERSION,
        "parts": [f"data/{name}" for name in parts],
        "megabytes": megabytes,
        "pieces": pieces,
    }
    for name in _STATIC:
        text = files("cli.site").joinpath("templates", name).read_text("utf-8")
        (root / name).write_text(text, encoding="utf-8")
    pages, n_pages = Pages(gathered, only), 0
    total = len(pages.evalsets) + len(pages.metrics) + len(pages.systems)
    for page in pages:
        if run.progress is not None and not n_pages % 20:
            run.progress("writing pages", n_pages, total)
        _write(root, environment, page)
        n_pages += 1
    _write_data(root, environment, gathered, pages, parts, day, with_texts=with_texts)
    return n_pages + 1


def _write(root: Path, environment: Any, page: Page, **more: Any) -> None:
    path = root / f"{page.path}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(environment.get_template(page.kind).render(page=page, **more), "utf-8", "backslashreplace")
    for table in page.tables:
        for ending, text in table.files().items():
            path.with_name(f"{page.name}.{table.name}.{ending}").write_text(text, "utf-8", "backslashreplace")
    if page.pairs:
        path.with_name(f"{page.name}.pairs.json").write_text(compact(page.pairs), "utf-8", "backslashreplace")


def _write_data(
    root: Path, environment: Any, gathered: SiteData, pages: Pages, parts: Sequence[str], day: Any, *, with_texts: bool
) -> None:
    """Tables of everything, what machines read, and the page that lists them."""
    data = root / "data"
    sources = gathered.sources.drop("path").with_columns(licence=pl.lit(None, pl.String))
    tables = {
        "rankings": gathered.ranked.drop("signature", strict=False),
        "evalsets": gathered.evalsets,
        "metrics": gathered.metrics,
        "systems": gathered.systems,
        "human_scores": gathered.human_scores,
        "sources": sources,
    }
    tables = {name: frame for name, frame in tables.items() if frame.width}
    for name, frame in tables.items():
        (data / f"{name}.csv").write_text(csv_text(frame.to_dicts()), "utf-8", "backslashreplace")
    about = metadata.description(gathered.evalsets, with_texts=with_texts)
    warehouse = [f"data/{name}" for name in parts]
    written = {
        "croissant.json": metadata.croissant(root, tables, about, warehouse, day),
        "data/datapackage.json": metadata.datapackage(root, tables, about, day),
        "CITATION.cff": metadata.citation(about, day),
        "README.md": metadata.readme(about),
        "search.json": compact(pages.search()),
    }
    for name, text in written.items():
        (root / name).write_text(text, "utf-8", "backslashreplace")
    listed = [
        *((name, "the warehouse, a DuckDB database", _bytes(data / name)) for name in parts),
        ("rankings.csv", "every ranking of this site", ""),
        ("evalsets.csv", "evaluation sets", ""),
        ("metrics.csv", "metrics by evaluation set", ""),
        ("systems.csv", "systems by evaluation set", ""),
        ("human_scores.csv", "human scores of systems", ""),
        ("sources.csv", "every file loaded, with its checksum, and its licence where it is known", ""),
        ("datapackage.json", "these tables as a data package", ""),
        ("../croissant.json", "the data set as Croissant", ""),
        ("../README.md", "how to publish this folder", ""),
    ]
    listed = [one for one in listed if (data / one[0]).is_file()]
    page = Page(
        "data/README",
        "Data, licences and how to cite",
        about,
        command=("list", "sources"),
        sql=page_query("sources"),
        kind="data.html",
    )
    _write(root, environment, page, files=listed, parts=list(parts))


def _bytes(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.1f} MB"
