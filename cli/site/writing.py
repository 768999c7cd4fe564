"""Writing a site: pages and their tables, the copied warehouse, the engine, and metadata for machines."""

import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl

from cli.charts.drawing import TABLES, csv_text
from cli.report.page import environment as templates_of
from cli.site import metadata
from cli.site.content import Page, Table
from cli.site.engine import VERSION, copy_engine
from cli.site.folder import fresh_site
from cli.site.gathering import SiteData, gather
from cli.site.metadata import ParquetTable
from cli.site.pages import Pages, compact
from metaeval.results.run import Run
from metaeval.results.signature import program_version
from queries.listing import dictionary
from queries.pages import page_query
from warehouse import Warehouse
from warehouse.export.copying import copy_warehouse
from warehouse.export.csv import export_views
from warehouse.facts.licences import release_of
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
    """A summary of the written site. why_no_engine: "" if SQL runs."""

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

    Raises UsageError: the folder is not free; the engine is a wrong file. QuestionError: an unknown test set.
    """
    begun = time.monotonic()
    with fresh_site(folder) as root:
        why_no_engine = copy_engine(root / "engine", engine)  # refused before anything is computed
        gathered = gather(run, only)
        data = root / "data"
        data.mkdir()
        copied = data / "warehouse.duckdb"
        copy_warehouse(database, copied, only or None, with_texts=with_texts)
        tables = _tables(copied, gathered)
        warehouse = (compressed(copied), copied.stat().st_size)
        copied.unlink()
        n_pages = _write_pages(run, root, gathered, only, tables, warehouse, why_no_engine, with_texts=with_texts)
        n_bytes = _size(root)
    n_own = gathered.metrics.filter(pl.col("is_own"))["metric"].n_unique()
    return SiteSummary(n_pages, n_bytes, time.monotonic() - begun, why_no_engine, n_own)


def _size(root: Path) -> int:
    return sum(path.stat().st_size for path in root.rglob("*") if path.is_file())


def _tables(copied: Path, gathered: SiteData) -> list[ParquetTable]:
    """Every view of the copy, and the site's own tables, as Parquet files next to it."""
    names = list(export_views(copied, copied.parent))
    for name, frame in (("rankings", gathered.ranked.drop("signature", strict=False)), ("sources", gathered.sources)):
        if frame.width:
            frame.write_parquet(copied.with_name(f"{name}.parquet"), compression="zstd")
            names.append(name)
    with Warehouse.open(copied) as warehouse:
        things = dictionary(warehouse).filter(kind="view").select("name", pl.col("column").fill_null(""), "meaning")
    meanings = {name: dict(things.filter(name=name).select("column", "meaning").iter_rows()) for name in names}
    meanings["rankings"] = {"": "Rankings of this site. One row per evaluation set, measure and metric."}
    return [ParquetTable.of(copied.with_name(f"{name}.parquet"), meanings[name]) for name in names]


def compressed(path: Path) -> list[str]:
    """The names of the compressed file's parts, in order: a single one if it is small enough."""
    parts: list[Path] = []
    squeezer = zlib.compressobj(6, wbits=31)  # gzip, without a time

    def write(data: bytes) -> None:
        while data:
            room = MOST_BYTES - parts[-1].stat().st_size if parts else 0
            if not room:
                parts.append(path.with_name(f"{path.name}.gz.{len(parts) + 1:02}"))
                room = MOST_BYTES
            with parts[-1].open("ab") as file:
                file.write(data[:room])
            data = data[room:]

    with path.open("rb") as file:
        while block := file.read(1 << 22):
            write(squeezer.compress(block))
    write(squeezer.flush())
    if len(parts) == 1:
        parts = [parts[0].rename(path.with_name(f"{path.name}.gz"))]
    return [part.name for part in parts]


def _write_pages(
    run: Run,
    root: Path,
    gathered: SiteData,
    only: Sequence[str],
    tables: Sequence[ParquetTable],
    warehouse: tuple[Sequence[str], int],
    why_no_engine: str,
    *,
    with_texts: bool,
) -> int:
    """The number of pages. warehouse: its compressed parts, and its bytes without compression."""
    environment = templates_of("cli.site", "cli.report", keeps_lines=True)
    day = datetime.now(UTC).date()
    texts = "Texts of segments are included." if with_texts else "Scores only: texts of segments are not included."
    parts, n_bytes = warehouse
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
        "n_bytes": n_bytes,
    }
    for name in _STATIC:
        text = files("cli.site").joinpath("templates", name).read_text("utf-8")
        (root / name).write_text(TABLES.read_text("utf-8") + text if name == "site.js" else text, encoding="utf-8")
    pages, n_pages = Pages(gathered, only), 0
    total = len(pages.evalsets) + len(pages.metrics) + len(pages.systems)
    for page in pages:
        if run.progress is not None and not n_pages % 20:
            run.progress("writing pages", n_pages, total)
        _write(root, environment, page)
        n_pages += 1
    _write_data(root, environment, gathered, pages, tables, parts, day, with_texts=with_texts)
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
    root: Path,
    environment: Any,
    gathered: SiteData,
    pages: Pages,
    tables: Sequence[ParquetTable],
    parts: Sequence[str],
    day: Any,
    *,
    with_texts: bool,
) -> None:
    """Tables of everything, metadata for machines, and the page that lists them."""
    data = root / "data"
    frames = {
        "rankings": gathered.ranked.drop("signature", strict=False),
        "evalsets": gathered.evalsets,
        "metrics": gathered.metrics,
        "systems": gathered.systems,
        "human_scores": gathered.human_scores,
        "sources": gathered.sources,
    }
    for name, frame in frames.items():
        if frame.width:
            (data / f"{name}.csv").write_text(csv_text(frame.to_dicts()), "utf-8", "backslashreplace")
    about = metadata.description(gathered.evalsets, with_texts=with_texts)
    warehouse = [f"data/{name}" for name in parts]
    releases = releases_of(gathered.sources)
    licences = releases["licence"].unique().sort().to_list()
    written = {
        "croissant.json": metadata.croissant(root, tables, about, warehouse, licences, day),
        "data/datapackage.json": metadata.datapackage(tables, about, licences, day),
        "CITATION.cff": metadata.citation(about, day),
        "README.md": metadata.readme(about),
        "search.json": compact(pages.search()),
    }
    for name, text in written.items():
        (root / name).write_text(text, "utf-8", "backslashreplace")
    listed = [
        *((name, "the warehouse, a DuckDB database, compressed") for name in parts),
        ("rankings.csv", "every ranking of this site"),
        ("evalsets.csv", "evaluation sets"),
        ("metrics.csv", "metrics by evaluation set"),
        ("systems.csv", "systems by evaluation set"),
        ("human_scores.csv", "human scores of systems"),
        ("sources.csv", "every file loaded, with its checksum, its release and its licence"),
        ("datapackage.json", "the tables below as a data package"),
        *((Path(one.path).name, one.meanings.get("") or f"{one.name}.csv as Parquet") for one in tables),
        ("../croissant.json", "the data set as Croissant"),
        ("../README.md", "how to publish this folder"),
    ]
    sized = [(name, words, _bytes(data / name)) for name, words in listed if (data / name).is_file()]
    page = Page(
        "data/README",
        "Data, licences and how to cite",
        about,
        tables=(Table("licences", "Licences of the files loaded", releases),),
        command=("list", "sources"),
        sql=page_query("sources"),
        kind="data.html",
    )
    _write(root, environment, page, files=sized, parts=list(parts))


def releases_of(sources: pl.DataFrame) -> pl.DataFrame:
    """Releases, their licences and other terms, their test sets, and the number of files from each."""
    rows = sources.unique(["testset", "origin"]).select(
        "release", "licence", "testset", terms=pl.struct("testset", "origin").map_elements(_terms, pl.String)
    )
    return (
        rows.group_by("release", "licence", "terms")
        .agg(files=pl.len(), testsets=pl.col("testset").unique().sort().str.join(", "))
        .sort("release", nulls_last=True)
    )


def _terms(place: Mapping[str, str]) -> str | None:
    return release_of(place["testset"], place["origin"]).terms or None


def _bytes(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size > 50_000 else f"{size / 1e3:.1f} kB"
