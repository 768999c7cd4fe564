"""Every kind of chart: what it draws on the simulated task, on odd evaluation sets, and of names that mean mischief."""

import json
import re
import xml.etree.ElementTree
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from cli.charts.drawing import ChartParts, parts_of_chart
from cli.charts.drawing import specification as vega_lite
from cli.main import program
from metaeval.charts import pairs, ranking, significance
from metaeval.charts import parts as shared
from metaeval.charts.heat_map import heat_map
from metaeval.results.stars import marking
from tests.cli.charts.drawing import FEW, KINDS, check_golden, faults, has_answer, heights_of_titles, specification
from tests.cli.running import Scorehouse, refused
from tests.helpers import MQM, SYSTEMS, but_slow, metric_tables, mqm_table, tiny_layout
from warehouse import load
from warehouse.export.mtme import ScoreTable

SIM = ("sim24", "en-de")
OF_PAPER = ("--testset", "sim24", "--lp", "en-de")
OTHERS: dict[str, tuple[str, ...]] = {
    "rank_language_pairs": ("rank", "sim24", "all", "-m", "pa", *FEW[:4]),
    "scatter": ("scatter", *SIM, "simBLEU"),
    "show": ("show", *SIM, "12", "--metrics", "Kestrel-24*", "--systems", "[A-D]*"),
    "protocol": ("protocol", "wmt24", "--on", "sim24", "--lp", "en-de"),
    "trend": ("trend", "sim24", "en-de", "-m", "pearson", "--resamples", "2", "--anchor", "simBLEU"),
    "hard_pairs": ("deltas", "sim24", "--hard"),
    "noise": ("noise", *SIM, "simBLEU-refA", "-m", "pa", "-m", "acc_eq(by=item)", "--simulations", "2"),
    "oracles": ("noise", *SIM, "--oracles", "-m", "pdp"),
    "autorank": ("autorank", *SIM),
    "spans": ("spans", *SIM),
    **{f"spans_{view}": ("spans", *SIM, "--view", view) for view in ("severities", "outputs")},
    "spans_by": ("spans", *SIM, "--by", "domain"),
    **{
        f"cutoff_{view}": ("cutoff", *SIM, "simBLEU", "--good", "-1", "--view", view)
        for view in ("threshold", "cost", "reliability", "transfer")
    },
    "cutoff_curve": ("cutoff", *SIM, "simBLEU", "--good", "-1", "--curve"),
    "deltas": ("deltas", "cs-uk", "simBLEU", "--human", "mqm", "--resamples", "5"),
    "plan": (
        *("plan", *SIM, "Oriole", "Embermatch", "-m", "pearson(by=none)"),
        *("--segments", "1-40", "--simulations", "20", "--resamples", "20"),
    ),
    "paper_curves": ("paper", "deutsch-2023", "figure-3", *OF_PAPER),
    "paper_heat_map": ("paper", "graham-2014", "figure-2", *OF_PAPER),
    "paper_scatter": ("paper", "graham-2014", "figure-1", *OF_PAPER),
}


def test_every_command_with_a_chart_is_tried() -> None:
    group = program()
    with_chart = {
        name
        for name, command in group.commands.items()  # type: ignore[attr-defined]
        if any(parameter.name == "chart" for parameter in command.params)
    }
    tried = {*(command for command, _ in KINDS.values()), *(words[0] for words in OTHERS.values())}
    assert with_chart == {*tried, "annotators"}  # which needs several judgements of an output: test_several_annotators


Drawn = Callable[[tuple[str, ...]], dict[str, Any]]


@pytest.fixture(scope="module")
def known() -> dict[tuple[str, ...], dict[str, Any]]:
    return {}


@pytest.fixture
def drawn(scorehouse: Scorehouse, tmp_path: Path, known: dict[tuple[str, ...], dict[str, Any]]) -> Drawn:
    """The specification that a command draws, which is asked for once."""

    def found(words: tuple[str, ...]) -> dict[str, Any]:
        if words not in known:
            known[words] = specification(scorehouse, tmp_path / "chart.json", *words)
        return known[words]

    return found


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize("kind", [*KINDS, *OTHERS])
def test_charts_of_the_simulated_task_are_those_that_were_looked_at(
    kind: str, drawn: Drawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, options = KINDS.get(kind, ("", ()))
    monkeypatch.setattr("metaeval.python_api.own_metrics", lambda warehouse: frozenset({"simBLEU-refA"}))
    found = drawn(OTHERS.get(kind) or (command, *SIM, *(() if command == "systems" else FEW), *options))
    assert faults(found) == []
    is_named = any("simBLEU" in name for name in _ordered_names(found))
    assert ("★ your own" in parts_of_chart(found).lines) is is_named, "one's own metric has a star"
    check_golden(kind, found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rank", "scatter", "deltas", "trend", "noise"])
def test_titles_of_panels_side_by_side_stand_at_one_height(kind: str, drawn: Drawn) -> None:
    vl_convert = pytest.importorskip("vl_convert", reason="the report extra is not installed")
    words = OTHERS.get(kind) or (KINDS[kind][0], *SIM, "-m", "pa", "-m", "acc_eq(by=item)", *KINDS[kind][1])
    heights = heights_of_titles(vl_convert.vegalite_to_svg(json.dumps(drawn(words))))
    assert len(heights) > 2, "its own title, the signature, and those of panels"
    assert [below - above for above, below in pairwise(heights) if 1.5 < below - above < 20] == []


def _ordered_names(part: Any) -> Iterator[str]:
    """What axes, colours and panels name."""
    if isinstance(part, dict):
        for name, value in part.items():
            if name in ("domain", "sort") and isinstance(value, list):
                yield from (one for one in value if isinstance(one, str))
            elif name != "datasets":
                yield from _ordered_names(value)
    elif isinstance(part, list):
        for one in part:
            yield from _ordered_names(one)


HOSTILE = ("<script>alert(1)<", "quo\"te's\x07\u202etxt", "\u05e9\u05dc\u05d5\u05dd", "=1+1&amp;%[program]%")


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Evaluation sets with little in them, with ties only, and with names that end scripts and cells."""
    folder = tmp_path_factory.mktemp("odd")
    one = ScoreTable(systems=SYSTEMS[:1], seg=np.array(MQM)[:1])
    tied = {"mqm": ScoreTable(systems=SYSTEMS, seg=np.zeros((4, 5)))}
    flat = {"Flat-src": ScoreTable(systems=SYSTEMS, seg=np.ones((4, 5)), sys=np.ones(4))}
    seg = np.arange(20.0).reshape(4, 5) % 7
    named = {
        "humans": {"mqm": ScoreTable(systems=HOSTILE, seg=seg, sys=seg.mean(axis=1))},
        "metrics": {
            f"{name}-src": ScoreTable(systems=HOSTILE, seg=seg + place, sys=seg.mean(axis=1))
            for place, name in enumerate(HOSTILE)
        },
    }
    layouts = [
        tiny_layout(folder, testset="whole24"),
        tiny_layout(folder, testset="single24", humans={"mqm": one}, metrics={"Fine-src": one}),
        tiny_layout(folder, testset="tied24", humans=tied, metrics=flat),
        tiny_layout(
            folder, testset="missing24", humans={"mqm": mqm_table()}, metrics={"Only-src": metric_tables()["Only-src"]}
        ),
        tiny_layout(folder, testset="hostile24", systems=HOSTILE, texts=False, **named),  # type: ignore[arg-type]
    ]
    report = load(layouts, folder / "odd.duckdb")
    assert not report.faults, report.faults
    return folder / "odd.duckdb"


@pytest.fixture
def on_odd(scorehouse: Scorehouse, odd: Path) -> Scorehouse:
    return lambda *words: scorehouse("--db", odd, *words, "-q")


def _calls(testset: str, metric: str) -> dict[str, tuple[str, ...]]:
    calls = {kind: (command, testset, "en-de", *options) for kind, (command, options) in KINDS.items()}
    return {
        **calls,
        "scatter": ("scatter", testset, "en-de", metric),
        "show": ("show", testset, "en-de", "1"),
        "protocol": ("protocol", "wmt24", "--on", testset, "--lp", "en-de", "--all-metrics"),
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("testset", "metric", "n_least"),
    [("single24", "Fine-src", 5), ("tied24", "Flat-src", 9), ("missing24", "Only-src", 3)],
)
def test_odd_evaluation_sets_have_charts_or_reasons(
    testset: str, metric: str, n_least: int, on_odd: Scorehouse, tmp_path: Path
) -> None:
    drawn = []
    for kind, words in _calls(testset, metric).items():
        path = tmp_path / f"{kind}.json"
        if has_answer(on_odd(*words, "--chart", path), path):
            drawn.append(kind)
            assert faults(json.loads(path.read_text("utf-8"))) == [], kind
    assert len(drawn) >= n_least, drawn


DRAWN_TWICE = pytest.mark.long("every chart of odd names as a page and drawn: 4 seconds")
OF_NAMES = [
    pytest.param(kind, ending, marks=() if ending == "html" or place % 4 == 0 else DRAWN_TWICE)
    for place, kind in enumerate(_calls("hostile24", "x"))
    for ending in ("html", "svg")
]


@pytest.mark.every(4)
@pytest.mark.parametrize(("kind", "ending"), OF_NAMES)
def test_names_in_every_chart_are_texts_and_nothing_else(
    kind: str, ending: str, on_odd: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("vl_convert", reason="the report extra is not installed")
    monkeypatch.setattr("cli.charts.drawing.drawing_program", lambda: "/* the program */")
    words = _calls("hostile24", "quo\"te'stxt-src")[kind]  # loaded without what no one sees
    ran = on_odd(*words, "--chart", tmp_path / f"x.{ending}")
    assert ran.code == 0, ran.err
    if ending == "svg":
        xml.etree.ElementTree.parse(tmp_path / "x.svg")
        return
    page = (tmp_path / "x.html").read_text("utf-8")
    assert (page.lower().count("<script"), page.lower().count("</script")) == (2, 2)
    assert page.count("the program") == 1
    (text,) = re.findall(r"const spec = (.*);$", page, re.MULTILINE)
    assert any(name in _texts(json.loads(text)["datasets"]) for name in HOSTILE)


def _texts(part: object) -> str:
    """All texts of a part of a specification, one a line."""
    if isinstance(part, dict):
        return _texts(list(part.values()))
    if isinstance(part, list):
        return "\n".join(map(_texts, part))
    return part if isinstance(part, str) else ""


def test_a_page_offers_its_data_and_follows_a_dark_screen(
    scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("vl_convert", reason="the report extra is not installed")
    monkeypatch.setattr("cli.charts.drawing.drawing_program", lambda: "/* the program */")
    assert scorehouse("thresholds", *SIM, *FEW, "--ties", "-q", "--chart", tmp_path / "x.html").code == 0
    page = (tmp_path / "x.html").read_text("utf-8")
    (link,) = re.findall(r'<a download="ties.csv" href="data:text/csv;charset=utf-8,([^"]*)">', page)
    assert link.startswith("scorer%2Cby%2Cties%2Corder%2Cn%2Cshare%2Cpanel%0A")
    assert 'download="chart.json"' in page
    (dark,) = re.findall(r"const dark = (.*);$", page, re.MULTILINE)
    assert json.loads(dark)["background"] == "#17191c"


@pytest.mark.long("every chart as SVG, PNG, page and specification on odd evaluation sets: a minute")
@pytest.mark.parametrize("ending", ["svg", "png", "html", "json"])
@pytest.mark.parametrize("testset", ["whole24", "single24", "tied24", "missing24", "hostile24"])
def test_every_chart_has_every_ending(testset: str, ending: str, on_odd: Scorehouse, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert", reason="the report extra is not installed")
    metric = {"tied24": "Flat-src", "missing24": "Only-src", "hostile24": f"{HOSTILE[0]}-src"}.get(testset, "Fine-src")
    drawn = 0
    for kind, words in _calls(testset, metric).items():
        path = tmp_path / f"{kind}.{ending}"
        drawn += has_answer(on_odd(*words, "--chart", path), path)
    assert drawn >= 3


@pytest.mark.slow
def test_what_cannot_be_drawn_is_refused_before_anything_is_computed(scorehouse: Scorehouse, tmp_path: Path) -> None:
    refused(
        scorehouse("thresholds", *SIM, "--ties", "--chart", tmp_path / "x.gif"), 2, ".svg, .pdf, .png, .html, .json"
    )
    refused(scorehouse("rank", "sim24", "all", "--chart", tmp_path / "x.svg"), 2, "one measure")
    refused(scorehouse("protocol", "--agreement", "--chart", tmp_path / "x.svg"), 2, "--agreement")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def coloured() -> Callable[[str], float]:
    """How light a colour is, from 0 to 1, as a grey printer sees it."""

    def lightness(colour: str) -> float:
        red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    return lightness


def test_ramps_and_stacked_bars_can_be_told_apart_in_grey(coloured: Callable[[str], float]) -> None:
    ramps = [shared.RAMP[::-1], significance._BLUES, significance._OTHERS]
    for ramp in ramps:
        greys = [coloured(colour) for colour in ramp]
        assert greys == sorted(greys)
    for kinds in (pairs._KINDS, pairs._TIED):
        greys = [coloured(colour) for colour in kinds.values()]
        assert min(abs(a - b) for a, b in pairwise(greys)) > 0.1


def _marks(part: Any) -> Iterator[dict[str, Any]]:
    """Every mark of a chart with its encoding."""
    if isinstance(part, dict):
        if "mark" in part:
            yield part
        for value in part.values():
            yield from _marks(value)
    elif isinstance(part, list):
        for value in part:
            yield from _marks(value)


@pytest.mark.slow
@pytest.mark.parametrize("kind", but_slow({"noise", "trend"}, ("noise", "trend", "hard_pairs", "scatter")))
def test_points_whose_colours_mean_something_differ_in_shape_or_lightness_and_none_is_black(
    kind: str, drawn: Drawn, coloured: Callable[[str], float]
) -> None:
    found = drawn(OTHERS[kind])
    assert '"black"' not in json.dumps(found)
    points = [one for one in _marks(found) if isinstance(one["mark"], dict) and one["mark"]["type"] == "point"]
    assert points
    for one in points:
        colour, shape = (one["encoding"].get(channel, {}) for channel in ("color", "shape"))
        if colour.get("type") == "nominal" and colour["field"] != shape.get("field"):
            greys = sorted(map(coloured, colour["scale"].get("range", shared.CATEGORIES)))
            assert min((b - a for a, b in pairwise(greys)), default=1) > 0.1, colour


def test_a_cluster_around_a_metric_that_was_not_tested_has_two_brackets() -> None:
    clusters = [1, 2, 2, None, 2, 3]
    rows: list[dict[str, Any]] = [
        {"label": f"{place}. m", "value": 1.0, "cluster": cluster} for place, cluster in enumerate(clusters, start=1)
    ]
    found = [(one["cluster"], one["first"], one["last"]) for one in ranking._clusters(rows)]
    assert found == [(1, "1. m", "1. m"), (2, "2. m", "3. m"), (2, "5. m", "5. m"), (3, "6. m", "6. m")]


def _heat_map(
    cells: list[dict[str, Any]], rows: list[str], columns: list[str], *lines: str, **more: bool
) -> ChartParts:
    axes: dict[str, Any] = {"rows": ("row", rows), "columns": ("column", columns), **more}
    return parts_of_chart(vega_lite(heat_map(cells, **axes, value="v", title="t", signature="s:1", lines=lines)))


def test_a_cell_without_a_number_is_drawn_as_one_and_has_a_legend() -> None:
    cells = [{"row": name, "column": "x", "value": value} for name, value in (("a", 0.0), ("b", None), ("c", 0.5))]
    found, whole = (
        _heat_map(some, ["a", "b", "c"], ["x"]).spec
        for some in (cells, [cell for cell in cells if cell["value"] is not None])
    )
    own = [
        layer for layer in found["layer"] if layer.get("transform", [None])[0] == {"filter": "!isValid(datum.value)"}
    ]
    assert [(layer["mark"]["type"], layer["mark"].get("text")) for layer in own] == [("rect", None), ("text", "×")]
    scale = own[0]["encoding"]["color"]["scale"]
    assert scale["domain"] == ["no value"]
    assert not set(scale["range"]) & set(shared.RAMP)
    assert own[0]["encoding"]["tooltip"][-1] == {"field": "is", "title": "v", "type": "nominal"}
    assert found["resolve"] == {"scale": {"color": "independent"}}
    assert whole["layer"] == [layer for layer in found["layer"] if layer not in own]


def test_the_schema_that_charts_name_is_that_of_the_program_that_draws_them() -> None:
    converter = pytest.importorskip("vl_convert", reason="the report extra is not installed")
    majors = {int(version.partition(".")[0]) for version in converter.get_vegalite_versions()}
    assert f"/v{max(majors)}." in _heat_map([], [], []).spec["$schema"]


def test_a_number_far_below_the_others_does_not_take_their_colours() -> None:
    numbers = [-1.0, *np.linspace(0.8, 0.9, 9)]
    cells = [{"row": str(n), "column": "x", "value": value} for n, value in enumerate(numbers)]
    found = _heat_map(cells, [str(n) for n in range(10)], ["x"], "words")
    scale = found.spec["layer"][0]["encoding"]["color"]["scale"]
    assert scale["domain"] == pytest.approx([0.8, 0.9])
    assert scale["clamp"] is True
    assert found.lines == ("words", "colours end at 0.80: 1 smaller values are as light as that")


@pytest.mark.slow
def test_metrics_far_from_the_others_are_at_the_edge_with_their_number() -> None:
    """The others reach from 0.8 to 0.89, with their intervals from 0.78 to 0.91."""
    near = [0.8 + n / 100 for n in range(10)]
    frame = pl.DataFrame(
        {
            **{name: [name] * 13 for name in ("testset", "lp", "human")},
            "measure": ["pa"] * 13,
            "metric": [f"m{n}" for n in range(13)],
            "value": [7.0, *near, -3.0, None],
            "low": [6.0, *(value - 0.02 for value in near), -4.0, None],
            "high": [8.0, *(value + 0.02 for value in near), -2.0, None],
            "rank": [*range(1, 13), None],
        }
    )
    ranges = [pl.lit(1).alias("rank_low"), pl.lit(4).alias("rank_high")]
    ranged = parts_of_chart(vega_lite(ranking.ranking_dots(frame.with_columns(ranges), "s:1", [])))
    assert [row["label"] for row in ranged.spec["datasets"]["ranking_1"]][1::11] == ["2 (1-4). m1", "m12"]
    with marking({"m3"}):
        found = parts_of_chart(vega_lite(ranking.ranking_dots(frame, "s:1", [])))
    rows = {row["metric"]: row for row in found.spec["datasets"]["ranking_1"]}
    assert (rows["m0"]["at"], rows["m0"]["beyond"]) == (pytest.approx(0.91), "7")
    assert (rows["m11"]["at"], rows["m11"]["beyond"]) == (pytest.approx(0.78), "-3")
    assert (rows["m12"]["at"], rows["m12"]["beyond"]) == (None, None)
    assert {row["at"] for row in rows.values() if row["beyond"] is None} == {*near, None}
    assert [row["metric"] for row in rows.values() if row["is"] == "own"] == ["m3"]
    assert found.lines == ("triangles at the edge: points beyond the axis", "★ your own")
    assert {"triangle-left", "triangle-right"} <= {mark["mark"].get("shape") for mark in _marks(found.spec)}


@pytest.mark.slow
def test_the_chart_of_years_has_the_signature_of_years_whatever_table_is_beside_it(
    scorehouse: Scorehouse, tmp_path: Path
) -> None:
    words = ("trend", "sim22", "en-de", "-m", "pearson", "--resamples", "2", "--anchor", "simBLEU")
    charts = [
        specification(scorehouse, tmp_path / f"{name}.json", *words, *more)
        for name, more in (("years", ()), ("bridges", ("--bridges",)))
    ]
    years, bridges = map(parts_of_chart, charts)
    assert (years.title, years.lines, years.signature) == (bridges.title, bridges.lines, bridges.signature)
    assert "trend:years" in "".join(years.signature)


def test_colours_of_columns_that_do_not_compare_go_from_each_one_s_lowest_to_its_highest() -> None:
    numbers = {"hard": (0.1, 0.2, 0.3), "easy": (0.7, 0.9, 0.8), "equal": (0.5, 0.5, None)}
    cells = [
        {"row": str(n), "column": name, "value": value}
        for name, values in numbers.items()
        for n, value in enumerate(values)
    ]
    found = _heat_map(cells, ["0", "1", "2"], list(numbers), by_column=True).spec
    colour = found["layer"][0]["encoding"]["color"]
    assert (colour["field"], colour["scale"]["domain"]) == ("shade", [0.0, 1.0])
    shades = [row["shade"] for row in found["datasets"]["values"]]
    assert shades[:8] == pytest.approx([0.0, 0.5, 1.0, 0.0, 1.0, 0.5, 0.5, 0.5])
    assert shades[8] is None
