"""The report: its sections, its store, what is refused; and names that mean mischief, in a page and in a browser."""

import json
import re
import shutil
from dataclasses import replace
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl
import pytest

from cli.charts.program import drawing_program
from cli.main import exit_code
from cli.report import page as paging
from cli.report.content import Figure, Grid, Part, figure, grid, part_of
from cli.report.making import Desk, ReportSection, report_sections, unranked
from cli.report.question import Report
from cli.report.sections import SECTIONS
from metaeval import spans
from metaeval.charts.parts import titled
from metaeval.measures.registry import parse_measure
from metaeval.results.notes import Decisive, ExclusionNote, NoteWithHint
from metaeval.results.run import Run
from queries.longitudinal import EvalsetState
from tests.cli.browsing import browser as browsing
from tests.cli.running import Scorehouse, faults_of_page, refused
from tests.helpers import tiny_facts, tiny_layout, together
from warehouse import Warehouse, load
from warehouse.export.mtme import ScoreTable, write_facts

pytest.importorskip("vl_convert", reason="the report extra is not installed")
pytest.importorskip("jinja2", reason="the report extra is not installed")

HOSTILE = (
    "<script>window.ran=1<",
    '"><img src=x onerror=window.ran=1>',
    "quo\"te's\x07\u202etxt\\",
    "\u05e9\u05dc\u05d5\u05dd",
    "=1+1&amp;<!--{{ 7*7 }}",
)
METRICS = (*(name.replace("\\", "") for name in HOSTILE), "BLEU")  # names of files have no backslash
PROGRAM = "/* the program */"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two years with metrics and systems of names that end scripts, attributes, comments and cells."""
    folder = tmp_path_factory.mktemp("hostile")
    seg = np.arange(25.0).reshape(5, 5) * 7 % 11
    layouts = []
    for year in (2023, 2024):
        humans = {"mqm": ScoreTable(systems=HOSTILE, seg=seg + year % 2 * np.eye(5), sys=seg.mean(axis=1))}
        metrics = {
            f"{name}-src": ScoreTable(
                systems=HOSTILE, seg=seg * 5 % (place + 3), sys=(seg * 5 % (place + 3)).mean(axis=1)
            )
            for place, name in enumerate(METRICS)
        }
        root = tiny_layout(
            folder, testset=f"odd{year % 100}", systems=HOSTILE, texts=False, humans=humans, metrics=metrics
        )
        facts = tiny_facts(root.name, "en-de")
        write_facts(root, replace(facts, year=year, primary=frozenset(METRICS), baseline=frozenset()))
        layouts.append(root)
    layouts.append(tiny_layout(folder, testset="mute24", humans={}))
    done = load(layouts, folder / "hostile.duckdb")
    assert not done.faults, done.faults
    return folder / "hostile.duckdb"


@pytest.fixture(scope="module")
def written(hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the hostile warehouse with all sections, which a browser can open."""
    folder = tmp_path_factory.mktemp("report")
    words = ("--db", hostile, "report", "-o", folder / "report.html", "--resamples", "20", "-q")
    assert exit_code([*map(str, words)]) == 0
    return folder / "report.html"


@pytest.fixture
def on_hostile(scorehouse: Scorehouse, hostile: Path, monkeypatch: pytest.MonkeyPatch) -> Scorehouse:
    monkeypatch.setattr("cli.report.page.drawing_program", lambda: PROGRAM)
    return lambda *words: scorehouse("--db", hostile, "report", *words)


def _embedded(text: str, name: str) -> Any:
    (found,) = re.findall(rf'<script type="application/json" id="{name}">(.*?)</script>', text)
    return json.loads(found)


# ------------------------------------------------------------------ the page


@pytest.mark.slow
def test_predicted_spans_have_a_table_of_metrics_and_the_ten_outputs_that_differ_most(
    simulated_database: Path, simulated_warehouse: Warehouse
) -> None:
    report = Report(testset="sim24", lp="en-de", section=("spans",))
    ((section,), _) = report_sections(report, Run(lambda: Warehouse.open(simulated_database)))
    outputs = spans(simulated_warehouse, "sim24", "en-de", view="outputs").frame
    assert [len(one.rows) for one in section.parts[0].grids] == [outputs["metric"].n_unique(), 10]


@pytest.mark.slow
def test_every_section_stands_on_the_page_with_its_parts(written: Path) -> None:
    text = written.read_text("utf-8")
    there = [name for name in SECTIONS if name != "spans"]  # nobody predicts any
    assert re.findall(r'<section id="([^"]+)"', text) == [*there, "signatures"]
    for name in there:
        assert f'<article id="{name}-1"' in text, name
        assert f'<a href="#{name}">' in text
    assert "Not computed" not in text
    assert len(_embedded(text, "charts")) == text.count("data-chart=") >= 10


@pytest.mark.slow
def test_every_box_that_scrolls_has_a_name_of_its_own(written: Path) -> None:
    names = re.findall(r'role="region" aria-label="([^"]+)"', written.read_text("utf-8"))
    assert len(names) > 20
    assert len(set(names)) == len(names)


@pytest.mark.slow
def test_every_footnote_that_is_named_is_there(written: Path) -> None:
    text = written.read_text("utf-8")
    named = set(re.findall(r'href="#(note-\d+)"', text))
    assert named == set(re.findall(r'<li id="(note-\d+)">', text))
    assert "measure:spa|testset:odd24" in text


@pytest.mark.slow
def test_names_on_the_page_are_texts_and_nothing_else(written: Path) -> None:
    text = written.read_text("utf-8")
    own = text.rsplit("<script>", 2)[0]
    assert own.count("<script") == 2, "the data of charts and the settings"
    assert faults_of_page(own) == ["script", "script"]
    assert "<!--" not in own
    assert "49-src" not in own, "no template"
    assert not set(own) & {"\x07", "\u202e", "\u2028", "\u2029"}
    for name in (HOSTILE[0], HOSTILE[1], HOSTILE[3], HOSTILE[4]):
        assert f"{name}-src" in unescape(own), name
    assert any(
        HOSTILE[1] in json.dumps(one, ensure_ascii=False).replace('\\"', '"') for one in _embedded(text, "charts")
    )


@pytest.mark.slow
def test_the_page_asks_for_nothing_from_outside(written: Path) -> None:
    own = written.read_text("utf-8").rsplit("<script>", 2)[0]
    assert not re.findall(r'(?:src|href)="(?!#)[^"]*"', own)
    assert "default-src 'none'" in own
    assert "<link" not in own


def _explained(text: str) -> set[str]:
    """The measures of the methods section."""
    section = text.partition('<section id="methods"')[2].partition("</section>")[0]
    return set(re.findall(r"<tr[^>]*>\s*<t[dh][^>]*>\s*([a-z][a-z_0-9]*(?:\([^()<]*\))?)\s*</t[dh]>", section)) - {
        "measure"
    }


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--section audit", set()),
        pytest.param("--section overview", {"spa", "acc_eq(by=item)"}, marks=pytest.mark.slow),
        ("--section rankings -m acc-t", {"acc_eq(by=item)"}),
        pytest.param("--section rankings -m pearson -m spa(n=20)", {"pearson", "spa(n=20)"}, marks=pytest.mark.slow),
        pytest.param("--section correlations", {"pearson(by=none)"}, marks=pytest.mark.slow),
        pytest.param(
            "--section calibration --section rankings -m pa", {"acc_eq(by=item)", "pa"}, marks=pytest.mark.slow
        ),
    ],
)
def test_the_methods_explain_the_measures_of_the_page_and_no_other(
    words: str, expected: set[str], on_hostile: Scorehouse, tmp_path: Path
) -> None:
    path = tmp_path / "x.html"
    ran = on_hostile("odd24", *words.split(), "--section", "methods", "--resamples", "20", "-o", path, "-q")
    assert ran.code == 0, ran.err
    text = path.read_text("utf-8")
    assert _explained(text) == expected
    methods = text.partition('<section id="methods"')[2].partition("</section>")[0]
    assert ("Clusters and p-values" in methods) == ("rankings" in words or "overview" in words)


@pytest.mark.slow
def test_the_methods_of_a_whole_page_explain_what_its_signatures_name(written: Path) -> None:
    text = unescape(written.read_text("utf-8").rsplit("<script>", 2)[0])
    signatures = text.partition('<section id="signatures"')[2]
    named = {
        str(parse_measure(found))
        for found in re.findall(r"\b(?:measure|matrix):([a-z0-9_]+(?:\([^()]*\))?)", signatures)
        if found != "protocols"
    }
    assert named
    assert named <= _explained(text)
    for measure in _explained(text) - named:  # of the protocols' tasks
        assert measure.partition("(")[0] in text.partition('<section id="protocols"')[2].partition("</section>")[0]


@pytest.mark.slow
def test_the_page_opens_with_a_headline_and_a_row_a_metric(written: Path) -> None:
    text = unescape(written.read_text("utf-8"))
    first = text.partition('<article id="overview-1"')[2].partition("</article>")[0]
    assert re.search(r'<p class="lead">(In the top cluster|First) in en-de: by spa ', first)
    assert re.findall(r"<th[^>]*>(.*?)</th>", first) == ["metric", "spa", "acc_eq(by=item)"]
    rows = re.findall(r"<tr><td[^>]*>(.*?)</td>", first)
    assert len(rows) == len(set(rows)) == len(METRICS)
    assert 'class="n best"' in first


@pytest.mark.slow
def test_of_each_section_the_first_chart_is_open_and_the_rest_is_folded(written: Path) -> None:
    text = written.read_text("utf-8").partition("<main")[2].partition("</main>")[0]
    open_text = re.sub(
        r"<details.*?</details>", "", re.sub(r"<details class=\"part\">.*?</article>", "", text, flags=re.S), flags=re.S
    )
    for section in open_text.split('<section id="')[1:]:
        assert section.count("data-chart=") <= 1, section.partition('"')[0]
    assert text.count("data-chart=") > open_text.count("data-chart=")


@pytest.mark.slow
def test_a_report_is_on_the_years_that_are_asked_for(on_hostile: Scorehouse, tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    assert on_hostile("odd24", "--section", "trends", "--section", "overview", "-o", path, "-q").code == 0
    text = path.read_text("utf-8")
    assert "Not shown: Over the years: the report covers a single year." in text
    assert "odd23" not in text.partition("<main")[2].partition("<script")[0]


@pytest.mark.slow
def test_chosen_sections_alone_in_the_order_of_the_page(on_hostile: Scorehouse, tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    ran = on_hostile("odd24", "--section", "methods", "--section", "overview", "-o", path)
    assert ran.code == 0, ran.err
    assert re.fullmatch(r"wrote 2 sections to .*x\.html, \d\.\d MB\n", ran.err)
    text = path.read_text("utf-8")
    assert re.findall(r'<section id="([^"]+)"', text) == ["overview", "methods", "signatures"]
    assert PROGRAM not in text, "no chart, no program"


@pytest.mark.slow
def test_a_static_page_has_no_script_and_draws_its_charts(on_hostile: Scorehouse, tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    ran = on_hostile("odd24", "--section", "rankings", "--static", "-o", path, "-q", "--resamples", "20")
    assert ran.code == 0, ran.err
    text = path.read_text("utf-8")
    assert "<script" not in text.lower()
    assert "script-src" not in text
    assert faults_of_page(text) == []
    (drawn,) = re.findall(r'<svg aria-hidden="true".*?</svg>', text, re.DOTALL)
    assert "\u05e9\u05dc\u05d5\u05dd" in drawn
    link = re.findall(r'download="table.csv" href="data:text/csv;charset=utf-8,([^"]*)"', text)[0]
    assert link.startswith("metric,spa,rank spa,low spa,high spa,rank_low spa,rank_high spa,")


@pytest.mark.slow
def test_evaluation_sets_beyond_those_in_detail_are_in_the_overview_and_the_page_says_so(
    on_hostile: Scorehouse, tmp_path: Path
) -> None:
    path = tmp_path / "x.html"
    words = ("--section", "overview", "--section", "rankings", "--details", "1", "--resamples", "20", "-o", path, "-q")
    assert on_hostile(*words).code == 0
    text = path.read_text("utf-8")
    assert "are of 1 of the 2 evaluation sets with human scores (<code>--details 1</code>" in text
    assert re.search(r'id="rankings-1-title">odd24 en-de<', text), "the latest is in detail"
    assert 'id="rankings-2-title"' not in text
    for place, testset in ((1, "odd23"), (2, "odd24")):
        assert re.search(rf'id="overview-{place}-title">{testset}<', text)
        assert f"<caption><span>{testset}: metrics by language pairs" in text


def test_what_cannot_be_computed_is_a_sentence_with_the_reason(on_hostile: Scorehouse, tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    assert on_hostile("mute24", "--section", "rankings", "--section", "significance", "-o", path, "-q").code == 0
    text = path.read_text("utf-8")
    assert re.findall(r'<section id="([^"]+)"', text) == ["signatures"], "empty sections are not shown"
    rankings, significance = re.findall(r'<p class="limit">(Not shown: .*?)</p>', text)
    assert "no human score is loaded" in rankings
    assert "no human score is loaded" in significance


def test_commands_in_sentences_are_code_and_backticks_of_names_stay() -> None:
    part = Part("h", notes=("`scorehouse audit` lists all; `--on wmt24`, too: `<b>` of `x`.",))
    section = SECTIONS["audit"]._replace(about="as `scorehouse protocol --significance` has")
    text = paging.page([ReportSection(section, (part,))], "t", static=True)
    assert "<li><code>scorehouse audit</code> lists all; <code>--on wmt24</code>, too: `&lt;b&gt;` of `x`.</li>" in text
    assert "as <code>scorehouse protocol --significance</code> has</p>" in text


def test_one_signature_is_one() -> None:
    for signatures, said in ((("x",), "1 signature<"), (("x", "y"), "2 signatures<")):
        sections = [ReportSection(SECTIONS["rankings"], (Part("a", signatures=signatures),))]
        assert said in paging.page(sections, "t", static=True)


@together("n", [1, 3, 4, 7])
def test_many_parts_behind_the_first_share_a_fold(n: int) -> None:
    parts = tuple(Part(f"part {place}", lead="x") for place in range(n))
    text = paging.page([ReportSection(SECTIONS["rankings"], parts)], "t", static=True)
    assert text.count("<details") == text.count("</details>") == 1 + n + (n > 3), (
        "those of the section and of signatures are two"
    )
    more = re.findall(r"<summary>(\d+ more: [^<]*)</summary>", text)
    assert more == ([f"{n - 1} more: {', '.join(part.heading for part in parts[1:])}"] if n > 3 else [])


@pytest.mark.slow
def test_every_command_that_the_sections_name_is_code(written: Path) -> None:
    own = written.read_text("utf-8").rsplit("<script", 4)[0]
    assert "<code>scorehouse protocol --significance</code>" in own
    assert re.findall("`[^`<]*`", own) == []


@pytest.mark.slow
def test_nothing_but_a_command_names_an_option(written: Path) -> None:
    page = written.read_text(encoding="utf-8")
    text = re.sub(r"(?s)<(code|script|style|svg)\b.*?</\1>|<!--.*?-->|<[^>]*>", " ", page)
    assert re.findall(r".{0,60}(?<![\w-])--[a-z].{0,30}", unescape(text)) == []


def test_the_overview_says_why_an_evaluation_set_is_not_ranked() -> None:
    states = [
        EvalsetState("a24", lp, 2024, n_humans, n_metrics, lp)
        for lp, n_humans, n_metrics in (("cs-uk", 2, 3), ("de-fr", 0, 3), ("en-de", 2, 3), ("en-ja", 1, 0))
    ]
    states.append(replace(states[2], testset="b25"))
    assert unranked(states, states[:1]) == [
        "Not ranked: a24 de-fr: no human score is loaded.",
        "Not ranked: a24 en-de; b25 en-de: the official human score is not loaded; "
        "`scorehouse report --human NAME` ranks by another one.",
        "Not ranked: a24 en-ja: no metric is loaded.",
    ]


# ------------------------------------------------------------------ the store


@pytest.mark.slow
def test_a_second_report_takes_its_parts_from_the_store(
    on_hostile: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (
        "odd23",
        "--section",
        "rankings",
        "--section",
        "spans",
        "--resamples",
        "21",
        "-q",
        "-o",
    )  # no one predicts any
    assert on_hostile(*words, tmp_path / "first.html").code == 0

    def refuse(*given: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(Desk, "ask", refuse)
    (tmp_path / "second.html").write_text("what was there before")
    assert on_hostile(*words, tmp_path / "second.html").code == 0
    first, second = ((tmp_path / name).read_text("utf-8") for name in ("first.html", "second.html"))
    assert first == second
    for changed in (("--recompute",), ("--seed", "1")):
        with pytest.raises(AssertionError, match="computed again"):
            on_hostile(*changed, *words, tmp_path / "third.html")
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".html") == ["first.html", "second.html"]


@pytest.mark.slow
def test_a_report_of_one_evaluation_set_is_the_same_when_its_parts_are_stored(scorehouse: Scorehouse) -> None:
    """Its overview of all sets and that of the one set have the same heading and the same data."""
    words = ("report", "sim24", "--lp", "en-de", "--section", "overview", "-o", "-")
    first, second = scorehouse(*words), scorehouse(*words)
    assert (first.code, second.code) == (0, 0)
    assert first.out == second.out
    assert "Evaluation sets of this report" in first.out


def test_a_part_is_stored_and_read_as_it_was() -> None:
    frame = pl.DataFrame(
        {"metric": ["A", None], "value": [0.123456789, float("nan")], "n": [1, 2], "is": [True, False]}
    )
    notes = ("n", Decisive("d", "few"), NoteWithHint("h", "look"), ExclusionNote("without A", "", "metric", 1, ("A",)))
    part = Part("x", (Figure("t", ("l",), {"datasets": {"d": [{"a": 1}]}}),), (grid("g", frame),), notes, ("s|t:1",))
    assert part_of(part.as_text()) == part
    cells = [[(cell.text, cell.value) for cell in row] for row in part.grids[0].cells()]
    assert cells == [
        [("A", None), ("0.1235", "0.123456789"), ("1", None), ("yes", None)],
        [("-", ""), ("-", ""), ("2", None), ("no", None)],
    ]
    assert part.grids[0].numbers == (False, True, True, False)


def test_a_chart_gives_its_title_and_lines_as_text_and_no_signature() -> None:
    body = alt.Chart(alt.NamedData("d")).mark_point().encode(x="a:Q")
    found = figure(titled(body, "x", "measure:pa|lp:en-de|n:3|scorehouse:1", {"d": [{"a": 1}]}, "bars: 95%"))
    assert (found.title, found.lines) == ("x", ("bars: 95%",))
    assert found.spec["datasets"] == {"d": [{"a": 1}]}
    assert found.spec["data"] == {"name": "d"}
    assert "measure:pa" not in json.dumps(found.spec)


def test_names_of_clips_of_two_charts_on_one_page_differ() -> None:
    spec = {
        "datasets": {"d": [{"a": 1, "b": 2}]},
        "data": {"name": "d"},
        "mark": {"type": "point", "clip": True},
        "encoding": {"x": {"field": "a", "type": "quantitative"}, "y": {"field": "b", "type": "quantitative"}},
    }
    drawn = [paging.svg(Figure("x", (), spec), place) for place in (0, 1)]
    ids = [set(re.findall(r'\bid="([^"]+)"', one)) for one in drawn]
    assert ids[0]
    assert ids[0].isdisjoint(ids[1])
    for one, own in zip(drawn, ids, strict=True):
        assert set(re.findall(r"url\(#([^)]+)\)", one)) <= own


def test_columns_of_a_data_set_are_named_once() -> None:
    rows = [{"a": 1, "b": None}, {"a": 2, "c": "x"}]
    found = paging.compact({"$schema": "x", "datasets": {"d": rows}, "mark": "bar"})
    assert found == {
        "datasets": {"d": {"columns": ["a", "b", "c"], "rows": [[1, None, None], [2, None, "x"]]}},
        "mark": "bar",
    }


# ------------------------------------------------------------------ what is refused


def test_what_cannot_be_written_or_found_is_one_line(
    on_hostile: Scorehouse, scorehouse: Scorehouse, tmp_path: Path
) -> None:
    refused(on_hostile("--section", "rankigs"), 2, "--section 'rankigs'", "hard-pairs", "did you mean 'rankings'?")
    refused(on_hostile("odd25"), 2, "odd25")
    refused(on_hostile("--lp", "en-fr"), 2, "en-fr")
    refused(on_hostile("-m", "spaa"), 2, "spaa")
    refused(on_hostile("--resamples", "0"), 2, "0")
    refused(on_hostile("-o", tmp_path / "no" / "x.html"), 2, "there is no folder")
    refused(on_hostile("-o", tmp_path), 2, "it is a folder")
    refused(scorehouse("--format", "json", "report"), 2, "--format is for tables; the report is a page")
    refused(scorehouse("--db", tmp_path / "no.duckdb", "report", "-o", tmp_path / "x.html"), 4, "no.duckdb")
    assert list(tmp_path.glob("*.html")) == []


@pytest.mark.parametrize("extra", ["altair", "jinja2", "vl_convert"])
def test_without_the_extra_one_line_says_how_to_get_it(
    extra: str, on_hostile: Scorehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.exit_codes.find_spec", lambda name: None if name == extra else find_spec(name))
    refused(on_hostile(), 2, 'python3 -m pip install "scorehouse[report]"')


def test_a_page_that_is_too_large_says_so(
    on_hostile: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "MOST_BYTES", 1000)
    ran = on_hostile("odd24", "--section", "methods", "-o", tmp_path / "x.html")
    assert ran.code == 0
    assert "larger than 0 MB; fewer --details" in ran.err


def test_the_program_that_draws_is_kept_where_it_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import vl_convert

    made = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda: made.append(1) or f"{PROGRAM}\n")
    assert [drawing_program(), drawing_program()] == [f"{PROGRAM}\n"] * 2
    assert len(made) == 1
    shutil.rmtree(tmp_path / "scorehouse")
    (tmp_path / "scorehouse").write_text("no folder")
    assert drawing_program() == f"{PROGRAM}\n"


# ------------------------------------------------------------------ in a browser


def _drawn(browser: Any, theme: str) -> None:
    """Wait until every chart is drawn in the colours of a theme."""
    from selenium.webdriver.support.ui import WebDriverWait

    ask = "return document.documentElement.dataset.drawn"
    WebDriverWait(browser, 300).until(lambda one: one.execute_script(ask) == theme)


def _column(browser: Any, place: int) -> list[str]:
    """The shown cells of a column of the first overview."""
    ask = """
      return [...document.querySelectorAll("#overview-1 tbody tr")].filter((row) => !row.hidden)
        .map((row) => row.cells[arguments[0]].dataset.value ?? row.cells[arguments[0]].textContent)
    """
    return list(browser.execute_script(ask, place))


@pytest.mark.long("a browser: 10 seconds")
def test_in_a_browser_charts_are_drawn_tables_sort_and_nothing_runs(written: Path) -> None:
    axe = pytest.importorskip("axe_core_python.selenium", reason="axe-core-python is not installed")
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    with browsing() as browser:
        browser.get(written.as_uri())
        _drawn(browser, "light")
        count = "(one) => one.querySelectorAll('svg path').length"
        ask = f"return [...document.querySelectorAll('[data-chart]')].map({count})"
        first = browser.execute_script(ask)
        assert any(first)
        assert not all(first), "what is folded is drawn when it is opened"
        contents = browser.find_element(By.CSS_SELECTOR, "nav")
        browser.find_element(By.LINK_TEXT, "Audit").click()
        assert contents.rect["y"] - browser.execute_script("return window.scrollY") == 0, "the contents stay in view"
        fold = browser.find_element(By.CSS_SELECTOR, "nav button")
        fold.click()
        drawn = "return [...arguments[0]].every((one) => one.querySelector('svg path'))"
        charts = browser.find_elements(By.CSS_SELECTOR, "[data-chart]")
        WebDriverWait(browser, 100).until(lambda one: one.execute_script(drawn, charts))
        paths = browser.execute_script(ask)
        assert len(paths) >= 10
        assert fold.text == "Fold all"
        assert HOSTILE[1] in browser.execute_script("return document.querySelector('#rankings-1 svg').textContent")

        heading = browser.find_element(By.XPATH, "//section[@id='overview']//th[2]/button")
        before = _column(browser, 1)
        heading.send_keys(Keys.ENTER)
        assert _column(browser, 1) == sorted(before, key=lambda text: (text == "", float(text or 0)))
        heading.send_keys(Keys.ENTER)
        assert _column(browser, 1) == sorted(before, key=lambda text: (text == "", -float(text or 0)))
        row = browser.find_element(By.XPATH, "//section[@id='overview']//th[2]")
        assert row.get_attribute("aria-sort") == "descending"
        browser.find_element(By.CSS_SELECTOR, "#overview-1 input").send_keys("BLEU")
        assert _column(browser, 0) == ["BLEU"]
        browser.find_element(By.CSS_SELECTOR, "#rankings-1 input").send_keys("BLEU-src")
        count = browser.find_element(By.CSS_SELECTOR, "#overview-1 output").text
        assert count == f"1 of {len(before)} rows"

        keep = "window.kept = []; URL.createObjectURL = (blob) => { window.kept.push(blob); return '#'; }"
        browser.execute_script(keep)
        for button in browser.find_elements(By.CSS_SELECTOR, "#rankings-1 .offer button"):
            button.send_keys(Keys.ENTER)
        texts = browser.execute_async_script(
            "Promise.all(window.kept.map((one) => one.text())).then(arguments[arguments.length - 1])"
        )
        assert texts[0].startswith("metric,value,low,high,rank,rank_low,rank_high,cluster,epsilon,at,beyond,label,is\n")
        assert '"quo""te\'stxt-src"' in texts[0], "loaded without the signs that nobody sees"
        assert texts[-1].splitlines()[0].startswith("metric,spa,rank spa,95% low spa,95% high spa,rank from spa")
        assert len(texts[-1].splitlines()) == 2, "the rows that the filter leaves"

        own = {"context": {"exclude": [["svg"]]}, "options": {"resultTypes": ["violations"]}}
        found = axe.Axe().run(browser, **own)["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")] == []

        beyond = "return [...document.querySelectorAll('svg')].map((one) => one.getBoundingClientRect().right)"
        for width in (1280, 1024, 390):
            size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width == 390}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            browser.refresh()
            _drawn(browser, "light")
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width
            assert max(browser.execute_script(beyond)) <= width
        folds = "return [...document.querySelectorAll('details.section')].map((one) => one.open)"
        assert browser.execute_script(folds)[:3] == [True, True, False], "narrow screens open what comes first"
        browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
        assert all(browser.execute_script(folds)), "all sections are printed"
        sizes = "return [...document.querySelectorAll('#rankings svg')].map((one) => one.width.baseVal.value)"
        assert 390 < max(browser.execute_script(sizes)) <= 700, "charts have the width of the paper at once"
        browser.execute_script("window.dispatchEvent(new Event('afterprint'))")
        dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
        _drawn(browser, "dark")

        assert browser.execute_script("return window.ran") is None
        assert browser.get_log("browser") == []
        messages = [json.loads(one["message"])["message"] for one in browser.get_log("performance")]
        asked = {one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"}
        assert {url.partition("#")[0] for url in asked} == {written.as_uri()}


def test_a_table_knows_its_rows_in_full() -> None:
    one = Grid("g", ("a", "b"), (True, False), ((0.1, "x"), (None, "y")))
    assert one.records() == [{"a": 0.1, "b": "x"}, {"a": None, "b": "y"}]


@pytest.mark.slow
def test_a_real_test_set_has_a_report(scorehouse: Scorehouse, wmt23_database: Path, tmp_path: Path) -> None:
    copy = shutil.copy(wmt23_database, tmp_path / "copy.duckdb")
    ran = scorehouse("--db", copy, "report", "wmt23", "en-de", "--resamples", "20", "-o", tmp_path / "real.html")
    assert (ran.code, ran.notes[0].partition(" sections")[0]) == (0, "wrote 10 of 12"), ran.err


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Evaluation sets whose human scores are not the official ones, and one whose metrics were not submitted."""
    folder = tmp_path_factory.mktemp("few")
    seg = np.random.default_rng(0).normal(size=(5, 5))
    table = {"systems": tuple("ABCDE"), "seg": seg, "sys": seg.mean(axis=1)}
    metrics = {name: ScoreTable(**{**table, "seg": seg + n}) for n, name in enumerate(("Fine-src", "Late-src"))}
    for lp, *humans in (("de-en", "da", "other"), ("en-de", "mqm")):
        loaded = metrics if lp == "de-en" else {"Late-src": metrics["Late-src"]}
        root = tiny_layout(
            folder / "in", lp=lp, systems=tuple("ABCDE"), texts=False,
            humans={human: ScoreTable(**table) for human in humans}, metrics=loaded, facts=False,
        )  # fmt: skip
    standards = {lp: tiny_facts("tiny24", lp).lps[lp] for lp in ("de-en", "en-de")}
    write_facts(root, replace(tiny_facts(), lps=standards, primary=frozenset({"Fine"}), baseline=frozenset()))
    facts = root / "testset.toml"
    facts.write_text(facts.read_text("utf-8").replace("[metrics]", '[metrics]\nnot_submitted = ["Late"]'))
    done = load([folder / "in"], folder / "few.duckdb")
    assert not done.faults, done.faults
    return folder / "few.duckdb"


@pytest.mark.slow
def test_sections_without_content_are_counted_with_the_reason_and_what_would_help(
    scorehouse: Scorehouse, few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.report.page.drawing_program", lambda: PROGRAM)
    words = ("--db", few, "report", "tiny24", "--section", "overview", "--section", "rankings", "--resamples", "20")
    ran = scorehouse(*words, "-o", tmp_path / "x.html")
    assert re.search(
        r"^wrote 1 of 2 sections to .*; without content: Rankings \(no metric of tiny24 en-de can be ranked: .*; "
        "`scorehouse report --status all` includes these metrics; "
        "`scorehouse report --human NAME` ranks by another human score\\)$",
        ran.notes[0],
    ), ran.err
    assert ">in detail<" not in (tmp_path / "x.html").read_text("utf-8"), "it cannot be ranked"
    for more, heading in ((("--human", "other"), "tiny24 de-en"), (("--status", "all"), "tiny24 en-de")):
        ran = scorehouse(*words, *more, "-o", tmp_path / "x.html")
        assert ran.notes[0].startswith("wrote 2 sections to"), ran.err
        assert f'id="rankings-1-title">{heading}<' in (tmp_path / "x.html").read_text("utf-8")
    refused(scorehouse(*words, "--human", "none"), 2, "no language pair of tiny24 has human score 'none'")
