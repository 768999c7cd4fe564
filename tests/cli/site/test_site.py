"""The site: its pages, links and files, the copied warehouse, and how it looks and works in a browser."""

import csv
import gzip
import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from cli.exit_codes import UsageError
from cli.main import exit_code
from cli.report.making import report_sections
from cli.report.question import Report
from cli.site.engine import FILES, copy_engine
from cli.site.folder import MARKER, fresh_site
from cli.site.slugs import slug, slugs
from cli.site.writing import compressed
from metaeval.results.run import Run
from queries.cookbook import recipes
from tests.cli.browsing import browser as browsing
from tests.cli.running import Scorehouse, refused
from tests.helpers import tiny_facts, tiny_layout
from warehouse import Warehouse, load
from warehouse.export.mtme import ScoreTable, write_facts
from warehouse.readers.claims import LoadHints

pytest.importorskip("vl_convert", reason="the site extra is not installed")
pytest.importorskip("jinja2", reason="the site extra is not installed")

HOSTILE = (
    "<script>window.ran=1<",
    '"><img src=x onerror=window.ran=1>',
    "../../x",
    "=1+1&amp;{{ 7*7 }}",
    "CON",
    "שלום",
)
RECIPES = (
    *("best-metric", "best-of-each-kind", "returning-metrics", "two-protocols", "string-metrics-win"),
    *("submitted-or-mean", "missing-scores", "hard-pairs", "returning-systems", "scales"),
)


class _Page(HTMLParser):
    """Where a page leads, which commands it names, and what runs in it."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.scripts: list[str | None] = []
        self.handlers: list[str] = []
        self.command = ""
        self._is_command = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.links += [value for name in ("href", "src") if (value := given.get(name))]
        self.ids |= {value for name, value in attrs if name == "id" and value}
        self.scripts += [given.get("src")] if tag == "script" else []
        self.handlers += [name for name in given if name.startswith("on") or name == "style"]
        self._is_command = given.get("class") == "command"

    def handle_data(self, data: str) -> None:
        self.command += data if self._is_command else ""

    def handle_endtag(self, tag: str) -> None:
        self._is_command = False


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text("utf-8"))
    return page


def _write(database: Path, folder: Path, *words: str) -> None:
    assert exit_code(["--db", str(database), "site", str(folder), "-q", *words]) == 0


@pytest.fixture(scope="module")
def without_npm() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cli.site.engine._packed", lambda: (None, "npm is not installed"))
        yield


@pytest.fixture(scope="module")
def hostile(simulated_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One test set of the simulated shared task, with metrics, systems and language pairs of names that do harm."""
    import duckdb

    from warehouse.export.copying import copy_warehouse

    path = tmp_path_factory.mktemp("hostile") / "hostile.duckdb"
    copy_warehouse(simulated_database, path, ["sim24"])
    with duckdb.connect(str(path)) as one:
        names = one.execute(
            "SELECT DISTINCT base_name FROM internal.scorer WHERE kind = 'metric' ORDER BY 1"
        ).fetchall()
        for (name,), bad in zip(names, HOSTILE, strict=False):
            given = {"name": name, "bad": bad}
            one.execute(
                "UPDATE internal.scorer SET base_name = $bad, name = $bad || substr(name, len($name) + 1) "
                "WHERE kind = 'metric' AND base_name = $name",
                given,
            )
            one.execute("UPDATE internal.metric_fact SET base_name = $bad WHERE base_name = $name", given)
        systems = one.execute("SELECT DISTINCT name FROM internal.system WHERE kind = 'mt' ORDER BY 1").fetchall()
        for (name,), bad in zip(systems, HOSTILE, strict=False):
            one.execute(
                "UPDATE internal.system SET name = $bad, canonical_name = lower($bad) WHERE name = $name",
                {"name": name, "bad": bad},
            )
        one.execute("UPDATE internal.testset SET name = '<b>../sim&24'")
    return path


@pytest.fixture(scope="module")
def written(hostile: Path, without_npm: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "folder"
    _write(hostile, folder)
    return folder


@pytest.mark.slow
def test_a_set_without_a_language_pair_is_named_without_one(tmp_path: Path, without_npm: None) -> None:
    rows = "".join(f"{system},{n},{n % 5},{n % 3}\n" for n in range(1, 20) for system in ("A", "B", "C"))
    (tmp_path / "dialogue.csv").write_text(f"system,segment,human,Fathom\n{rows}")
    assert load([tmp_path / "dialogue.csv"], tmp_path / "w.duckdb", given=LoadHints(testset="dialogue")).is_clean
    _write(tmp_path / "w.duckdb", tmp_path / "site")
    (page,) = (tmp_path / "site" / "evalsets" / "dialogue").glob("*.html")
    text = page.read_text("utf-8")
    assert "<h1>dialogue</h1>" in text
    assert "no-lp" not in _read(page).command


@pytest.fixture(scope="module")
def two_kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set with human scores of segments, none of which is declared, and one with human scores of systems only."""
    folder = tmp_path_factory.mktemp("kinds")
    systems = tuple("ABCDEFGH")
    human = np.arange(8.0)[:, None] + np.random.default_rng(0).normal(size=(8, 12))
    noise = np.random.default_rng(1).normal(size=(8, 12))
    seg = {"Fine-src": human, "Good-src": 2 * human, "Weak-src": human + 9 * noise}
    whole = {name: ScoreTable(systems, seg=one, sys=one.mean(axis=1)) for name, one in seg.items()}
    corpus = {name: ScoreTable(systems, sys=one.mean(axis=1)) for name, one in seg.items()}
    texts: dict[str, Any] = {"systems": systems, "texts": False, "documents": [("news", str(n)) for n in range(12)]}
    given = {"mqm": ScoreTable(systems, seg=human)}
    judged = tiny_layout(folder, testset="free24", humans=given, metrics=whole, facts=False, **texts)
    ranked = {"mqm": ScoreTable(systems, sys=human.mean(axis=1))}
    by_system = tiny_layout(folder, testset="corpus24", humans=ranked, metrics=corpus, **texts)
    facts = tiny_facts("corpus24")
    write_facts(by_system, replace(facts, primary=frozenset({"Fine", "Good", "Weak"}), baseline=frozenset()))
    report = load([judged, by_system], folder / "w.duckdb")
    assert report.is_clean, report.faults
    return folder / "w.duckdb"


@pytest.mark.slow
def test_the_front_page_has_the_measures_and_leaders_of_its_command_and_of_the_report(
    scorehouse: Scorehouse, two_kinds: Path, tmp_path: Path, without_npm: None
) -> None:
    _write(two_kinds, tmp_path / "site")
    program, *words = shlex.split(_read(tmp_path / "site" / "index.html").command)
    assert program == "scorehouse"
    assert [words[at + 1] for at, word in enumerate(words) if word == "-m"] == ["spa", "acc_eq(by=item)", "pa"]
    ran = scorehouse("--db", two_kinds, *words, "--format", "csv")
    rows = pl.read_csv(ran.out.encode()).drop_nulls("value")
    for testset, measure in (("free24", "spa"), ("corpus24", "pa")):
        (row,) = json.loads((tmp_path / "site" / f"index.leaders-{testset}.json").read_text("utf-8"))
        assert row["measure"] == measure
        first = rows.filter(testset=testset, measure=measure, rank=1)
        assert row["first"] == ", ".join(first["metric"]) == "Fine-src, Good-src"
        assert row["value"] == pytest.approx(first["value"][0])
        report = Report(testset=testset, section=("rankings",), resamples=20)
        ((section,), _) = report_sections(report, Run(lambda: Warehouse.open(two_kinds)))
        assert f"measure:{measure}|" in section.parts[0].signatures[0]


@pytest.mark.slow
def test_every_link_of_every_page_leads_to_a_file_of_the_site(written: Path) -> None:
    pages = {path: _read(path) for path in written.rglob("*.html")}
    assert len(pages) > 20
    for path, page in pages.items():
        for link in page.links:
            name, _, place = link.partition("#")
            assert not re.match(r"[a-z]+:|/", name), (path, link)
            target = (path.parent / name).resolve() if name else path
            assert target.is_relative_to(written.resolve()), (path, link)
            assert target.is_file(), (path, link)
            assert not place or name.endswith("sql.html") or place in pages[target].ids, (path, link)


@pytest.mark.slow
def test_every_page_has_the_command_that_asks_the_same_and_runs_nothing_but_the_site_s_scripts(written: Path) -> None:
    for path in written.rglob("*.html"):
        page = _read(path)
        assert page.command.startswith("scorehouse "), path
        assert {name.rpartition("/")[2] for name in page.scripts if name} == {"site.js"}, path
        assert None not in page.scripts, path
        assert page.handlers == [], path
        assert "default-src 'self'" in path.read_text("utf-8")


@pytest.mark.slow
def test_names_that_do_harm_are_shown_as_they_are_and_stay_out_of_paths(written: Path) -> None:
    search = json.loads((written / "search.json").read_text("utf-8"))
    metrics = {name: path for kind, name, path in search if kind == "metric"}
    assert {*HOSTILE} <= metrics.keys()
    for path in metrics.values():
        assert re.fullmatch(r"metrics/[a-z0-9._-]+\.html", path)
    heading = re.search(r"<h1>(.*?)</h1>", (written / metrics[HOSTILE[0]]).read_text("utf-8"))
    assert heading is not None
    assert heading[1] == "&lt;script&gt;window.ran=1&lt;"
    assert len({path.casefold() for *_, path in search}) == len(search)


@pytest.mark.slow
def test_tables_are_beside_their_pages_in_full(written: Path) -> None:
    (path,) = (written / "evalsets").glob("*/en-de.ranking-spa.csv")
    rows = list(csv.DictReader(path.read_text("utf-8").splitlines()))
    assert json.loads(path.with_suffix(".json").read_text("utf-8"))[0]["value"] == float(rows[0]["value"])
    pairs = json.loads(path.with_name("en-de.pairs.json").read_text("utf-8"))["spa"]
    n = len(pairs["metrics"])
    assert len(pairs["p"]) == n * (n - 1) // 2


@pytest.mark.slow
def test_what_machines_read_lists_files_that_are_there_with_their_checksums(written: Path) -> None:
    from cli.site.metadata import sha256

    croissant = json.loads((written / "croissant.json").read_text("utf-8"))
    for file in croissant["distribution"]:
        assert file["sha256"] == sha256(written / file["contentUrl"])
    ids = {file["@id"] for file in croissant["distribution"]}
    assert {field["source"]["fileObject"]["@id"] for one in croissant["recordSet"] for field in one["field"]} <= ids
    assert croissant["license"] == ["not stated"]
    package = json.loads((written / "data" / "datapackage.json").read_text("utf-8"))
    paths = {one["path"] for one in package["resources"]}
    assert {"scores.parquet", "system_scores.parquet", "rankings.parquet", "sources.parquet"} <= paths
    assert "texts.parquet" not in paths
    for one in package["resources"]:
        kinds = {field["name"]: field["type"] for field in one["schema"]["fields"]}
        frame = pl.read_parquet(written / "data" / one["path"])
        assert list(kinds) == frame.columns, one["path"]
        for column in frame.iter_columns():
            is_read_as_float = column.dtype.is_float() or (column.dtype.is_integer() and column.null_count() > 0)
            assert (kinds[column.name] == "number") == is_read_as_float, column.name
    sources = (written / "data" / "sources.csv").read_text("utf-8")
    assert {"release", "licence"} < set(sources.partition("\n")[0].split(","))
    assert "path" not in sources.partition("\n")[0].split(",")
    assert str(written.parent) not in sources


@pytest.mark.slow
def test_the_parquet_files_and_the_compressed_warehouse_have_the_scores_of_the_warehouse(
    hostile: Path, written: Path, tmp_path: Path
) -> None:
    unpacked = tmp_path / "warehouse.duckdb"
    unpacked.write_bytes(gzip.decompress((written / "data" / "warehouse.duckdb.gz").read_bytes()))
    page = (written / "sql.html").read_text("utf-8")
    assert "written without the engine" in page
    with Warehouse.open(unpacked) as copy, Warehouse.open(hostile) as whole:
        for view in ("scores", "system_scores", "judgements"):
            expected = whole.sql(f"SELECT * FROM {view}")
            for found in (copy.sql(f"SELECT * FROM {view}"), pl.read_parquet(written / "data" / f"{view}.parquet")):
                assert_frame_equal(found, expected, check_row_order=False, check_dtypes=False)


@pytest.mark.parametrize("most", [10, 1000])
def test_a_compressed_file_is_one_or_parts_that_join(most: int, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("cli.site.writing.MOST_BYTES", most)
    path = tmp_path / "x.duckdb"
    path.write_bytes(data := bytes(range(200)))
    names = compressed(path)
    assert (names == ["x.duckdb.gz"]) == (most == 1000)
    assert gzip.decompress(b"".join((tmp_path / name).read_bytes() for name in names)) == data
    assert all((tmp_path / name).stat().st_size <= most for name in names)


@pytest.mark.slow
def test_the_copy_has_no_texts_no_paths_and_the_answers_of_the_warehouse(
    simulated_database: Path, tmp_path: Path
) -> None:
    from warehouse.export.copying import copy_warehouse

    target = tmp_path / "copy.duckdb"
    counts = copy_warehouse(simulated_database, target)
    with Warehouse.open(target) as copy, Warehouse.open(simulated_database) as whole:
        assert copy.rows("SELECT count(*) FROM texts") == [(0,)]
        assert whole.rows("SELECT count(*) > 0 FROM texts") == [(True,)]
        assert copy.rows("SELECT count(*) FROM source WHERE path <> origin") == [(0,)]
        for table in counts:
            assert copy.rows(f"SELECT count(*) FROM {table}") == whole.rows(f"SELECT count(*) FROM {table}"), table
        tables = {
            name for (name,) in whole.rows("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'internal'")
        }
        assert tables - counts.keys() == {"segment_text", "schema_migration"}
        for name in RECIPES:
            query = recipes()[name].query  # DuckDB's threads add in any order
            assert_frame_equal(copy.sql(query), whole.sql(query), rel_tol=1e-12)


@pytest.mark.slow
def test_a_copy_of_one_test_set_has_the_rows_of_that_alone(simulated_database: Path, tmp_path: Path) -> None:
    from warehouse.export.copying import copy_warehouse

    original = Path(shutil.copy(simulated_database, tmp_path / "whole.duckdb"))  # other tests may hold the shared one
    target = tmp_path / "copy.duckdb"
    copy_warehouse(original, target, ["sim23"], with_texts=True)
    with Warehouse.open(target) as copy, Warehouse.open(original) as whole:
        for view in (
            "scores",
            "human_scores",
            "system_scores",
            "judgements",
            "spans",
            "metrics",
            "systems",
            "texts",
            "sources",
        ):
            query = f"SELECT count(*) FROM {view} WHERE testset = 'sim23'"
            assert copy.rows(f"SELECT count(*) FROM {view}") == whole.rows(query), view


def test_a_folder_with_other_files_is_refused_and_left_as_it_is(scorehouse: Scorehouse, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    refused(scorehouse("site", folder), 2, "holds other files")
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    refused(scorehouse("site", folder / "notes.txt"), 2, "a file, expected a folder")
    refused(scorehouse("site", tmp_path / "no" / "folder"), 2, "there is no folder")


def test_a_place_that_may_not_be_written_is_named_by_the_user_s_name_for_it(
    scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: path != closed)
    refused(scorehouse("site", closed / "site"), 2, f"can't write in '{closed}'")
    assert list(closed.iterdir()) == []


def _page(folder: Path, **texts: str) -> None:
    """Write a site of a few files into a folder."""
    with fresh_site(folder) as fresh:
        for name, text in texts.items():
            (fresh / "pages").mkdir(exist_ok=True)
            (fresh / "pages" / f"{name}.html").write_text(text)


def test_an_earlier_site_is_replaced_and_other_files_in_its_folder_stay(tmp_path: Path) -> None:
    folder, outside = tmp_path / "site", tmp_path / "outside.txt"
    outside.write_text("not the site's")
    _page(folder, index="old", other="old")
    (folder / "CNAME").write_text("mine")
    marker = json.loads((folder / MARKER).read_text("utf-8"))
    (folder / MARKER).write_text(json.dumps({"files": [*marker["files"], "../outside.txt", str(outside)]}))
    _page(folder, index="new")
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert there == {"CNAME", MARKER, "pages/index.html"}
    assert (folder / "pages" / "index.html").read_text() == "new"
    assert outside.exists()


def test_a_file_or_link_in_the_way_is_not_overwritten(tmp_path: Path) -> None:
    folder, outside = tmp_path / "site", tmp_path / "outside"
    outside.mkdir()
    _page(folder, index="old")
    (folder / "pages" / "mine.html").write_text("mine")
    with pytest.raises(UsageError, match="in the way"):
        _page(folder, mine="new")
    assert (folder / "pages" / "mine.html").read_text() == "mine"
    shutil.move(folder / "pages", outside / "pages")
    (folder / "pages").symlink_to(outside / "pages")
    with pytest.raises(UsageError, match="in the way"):
        _page(folder, index="new")
    assert (outside / "pages" / "index.html").read_text() == "old"


def test_names_become_parts_of_paths_that_no_file_system_confuses() -> None:
    names = [*HOSTILE, "BLEU", "bleu", "Bleu", ".", "..", "", "a/b", "a\\b", "nul.txt", "x" * 300, "x" * 301]
    found = slugs(names)
    assert len(set(found.values())) == len(names)
    for one in found.values():
        assert re.fullmatch(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?", one)
        assert ".." not in one
    assert slug("BLEURT-20") == "bleurt-20"


@pytest.mark.slow
def test_another_file_than_the_known_engine_is_refused(scorehouse: Scorehouse, tmp_path: Path) -> None:
    (tmp_path / "other.tgz").write_bytes(b"other")
    refused(scorehouse("site", tmp_path / "s", "--engine", tmp_path / "other.tgz"), 2, "this is another file")
    dist = tmp_path / "unpacked" / "dist"
    dist.mkdir(parents=True)
    refused(scorehouse("site", tmp_path / "s", "--engine", tmp_path / "unpacked"), 2, "is missing")
    for name in FILES:
        (tmp_path / "unpacked" / name).write_bytes(b"other")
    refused(scorehouse("site", tmp_path / "s", "--engine", tmp_path / "unpacked"), 2, "is not that of")
    refused(scorehouse("site", tmp_path / "s", "--engine", tmp_path / "none"), 2, "no such file")
    assert not (tmp_path / "s").exists()
    refused(scorehouse("site", tmp_path / "s", "--only", "sim99"), 2, "sim99")


# ------------------------------------------------------------------ in a browser


@pytest.fixture
def address(hostile: Path, tmp_path: Path) -> Iterator[str]:
    """The site with its engine, by a plain file server."""
    import functools
    import http.server
    import threading

    why = copy_engine(tmp_path / "engine", None)
    if why:
        pytest.skip(f"no duckdb-wasm here: {why}")
    folder = tmp_path / "site"
    _write(hostile, folder, "--engine", str(_unpacked(tmp_path / "engine")))

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def _unpacked(engine: Path) -> Path:
    """The engine as npm's package has it."""
    for name in FILES:
        (engine / "dist").mkdir(exist_ok=True)
        shutil.copy(engine / Path(name).name, engine / name)
    return engine


def _asked(browser: Any, query: str) -> list[list[str]]:
    """The rows of an answer in the browser, by its own page."""
    from selenium.webdriver.support.ui import WebDriverWait

    browser.execute_script(
        "document.getElementById('text').value = arguments[0]; document.body.dataset.state = 'busy';"
        "document.getElementById('query').requestSubmit()",
        query,
    )
    WebDriverWait(browser, 100).until(lambda one: one.execute_script("return document.body.dataset.state") != "busy")
    said = browser.execute_script("return document.getElementById('state').textContent")
    assert browser.execute_script("return document.body.dataset.state") == "done", said
    cells = "[...row.cells].map((cell) => cell.dataset.value ?? cell.textContent)"
    ask = f"return [...document.querySelectorAll('#answer tr')].map((row) => {cells})"
    return list(browser.execute_script(ask))


@pytest.mark.long("a browser: a minute")
def test_in_a_browser_pages_fit_nothing_runs_and_sql_answers_as_the_command_does(
    address: str, hostile: Path, scorehouse: Scorehouse
) -> None:
    axe = pytest.importorskip("axe_core_python.selenium", reason="axe-core-python is not installed")
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    with browsing() as browser:
        browser.get(address)
        evalset = browser.find_element(By.LINK_TEXT, "en-de").get_attribute("href")
        metric = browser.find_element(By.CSS_SELECTOR, "a[href^='metrics/']:not([href$='index.html'])").get_attribute(
            "href"
        )
        for place in (address, evalset, metric, f"{address}sql.html", f"{address}data/README.html"):
            for width, theme in ((1280, "light"), (390, "dark")):
                size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
                browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
                media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
                browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
                browser.get(place)
                assert browser.execute_script("return document.documentElement.scrollWidth") <= width, (place, width)
                found = axe.Axe().run(browser, options={"resultTypes": ["violations"]})["violations"]
                serious = [one["id"] for one in found if one["impact"] in ("serious", "critical")]
                assert serious == [], (place, width)

        browser.get(evalset)
        WebDriverWait(browser, 20).until(lambda one: one.find_element(By.CSS_SELECTOR, ".compare table tbody tr"))
        assert "significant" in browser.find_element(By.CSS_SELECTOR, ".compare tbody").text
        heading = browser.find_element(By.CSS_SELECTOR, "section.table th button")
        heading.send_keys(Keys.ENTER)
        assert browser.find_element(By.CSS_SELECTOR, "section.table th").get_attribute("aria-sort") == "ascending"
        browser.find_element(By.CSS_SELECTOR, ".search input").send_keys(HOSTILE[0][:7])
        WebDriverWait(browser, 20).until(lambda one: one.find_elements(By.CSS_SELECTOR, ".search li"))
        assert HOSTILE[0] in browser.find_element(By.CSS_SELECTOR, ".search ul").text

        browser.get(f"{address}sql.html")
        for name in RECIPES:
            query = recipes()[name].query
            head, *rows = _asked(browser, query)
            expected = scorehouse("--db", hostile, "sql", query, "--format", "json").json[:1000]
            assert _is_same(head, rows, expected), name
        assert browser.execute_script("return window.ran") is None
        assert [one["message"] for one in browser.get_log("browser") if one["level"] == "SEVERE"] == []
        messages = [json.loads(one["message"])["message"] for one in browser.get_log("performance")]
        asked = {one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"}
        assert {url for url in asked if not url.removeprefix("blob:").startswith(address)} == set()


def _is_same(head: list[str], rows: list[list[str]], expected: list[dict[str, Any]]) -> bool:
    """Whether the browser's cells are the command's values; to twelve digits, as engines add in other orders."""
    if len(rows) != len(expected):
        return False
    for row, wanted in zip(rows, expected, strict=True):
        for name, cell in zip(head, row, strict=True):
            value = wanted[name]
            if isinstance(value, float):
                if float(cell) != pytest.approx(value, rel=1e-12):
                    return False
            elif isinstance(value, bool):
                if cell != str(value).lower():
                    return False
            elif cell != ("" if value is None else str(value)):
                return False
    return True
