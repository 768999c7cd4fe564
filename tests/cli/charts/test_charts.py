"""Heat maps of p-values: what the specification says, and files that stand alone."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cli.charts.drawing import Spec, check_chart, draw, parts_of_chart, specification
from cli.exit_codes import UsageError
from metaeval.charts.significance import significance_matrix
from metaeval.studies.significance.comparison import Comparison
from tests.cli.running import Scorehouse
from tests.helpers import together

NAN = float("nan")


def made(p: list[list[float]], values: list[float], clusters: list[int], alpha: float = 0.05) -> Comparison:
    n = len(values)
    return Comparison(
        measure="pa",
        by="pa",
        test="perm-inputs",
        alternative="greater",
        population="segments",
        generalises_to="new segments of these systems",
        resamples=1000,
        correction="none",
        alpha=alpha,
        names=tuple("ABCDE"[:n]),
        values=np.array(values),
        ranks=np.arange(1, n + 1),
        p=np.array(p),
        corrected=np.array(p),
        clusters=np.array(clusters),
        n_distinct=n,
        parts=(
            ("measure", "pa"),
            ("testset", "x"),
            ("scorehouse", "1"),
            ("test", "perm-inputs"),
            ("test_resamples", "1000"),
        ),
        notes=(),
        idle=(),
        least=np.where(np.array(p) == 0, 0.001, np.array(p)),
    )


THREE = made([[NAN, 0.05, 0.0], [NAN, NAN, 0.7], [NAN] * 3], [0.9, 0.8, 0.8], [1, 2, 2])


def spec_of(found: Comparison) -> Spec:
    """What is drawn, without title and signature."""
    return parts_of_chart(specification(significance_matrix(found))).spec


def cells(found: Comparison) -> dict[tuple[str, str], dict[str, object]]:
    values = spec_of(found)["datasets"]["p_values"]
    return {(cell["better"], cell["worse"]): cell for cell in values}


def test_a_cell_for_each_pair_with_the_better_metric_in_the_row() -> None:
    assert set(cells(THREE)) == {("1. A", "2. B"), ("1. A", "3. C"), ("2. B", "3. C")}
    assert cells(THREE)["1. A", "3. C"]["p"] == "<0.001"


def test_the_signature_of_the_measure_and_the_test_is_a_caption_and_not_in_the_title() -> None:
    found = parts_of_chart(specification(significance_matrix(THREE)))
    assert found.signature == ("measure:pa|testset:x|test:perm-inputs|test_resamples:1000",)
    assert "pa|" not in "".join((found.title, *found.lines))


def test_a_p_of_0_is_below_what_the_draws_can_tell() -> None:
    shown = cells(THREE)
    assert [shown["1. A", name]["p"] for name in ("2. B", "3. C")] == ["0.05", "<0.001"]


def test_p_at_the_level_is_in_the_significant_class() -> None:
    classes = {pair: cell["class"] for pair, cell in cells(THREE).items()}
    assert classes == {("1. A", "2. B"): "≤ 0.05", ("1. A", "3. C"): "≤ 0.001", ("2. B", "3. C"): "> 0.5"}


@together(
    ("alpha", "labels"),
    [
        (0.05, ["≤ 0.001", "≤ 0.01", "≤ 0.05", "≤ 0.1", "≤ 0.5", "> 0.5"]),
        (0.01, ["≤ 0.001", "≤ 0.01", "≤ 0.1", "≤ 0.5", "> 0.5"]),
        (0.001, ["≤ 0.001", "≤ 0.1", "≤ 0.5", "> 0.5"]),
        (0.2, ["≤ 0.001", "≤ 0.01", "≤ 0.2", "≤ 0.5", "> 0.5"]),
        (0.6, ["≤ 0.001", "≤ 0.01", "≤ 0.6", "> 0.6"]),
    ],
)
def test_classes_of_p_follow_the_level(alpha: float, labels: list[str]) -> None:
    p = np.full((5, 5), NAN)
    p[np.triu_indices(5, 1)] = [0.0, 0.005, 0.01, 0.03, 0.09, 0.15, 0.3, 0.55, 0.59, 1.0]
    found = made(p.tolist(), [5, 4, 3, 2, 1], [1] * 5, alpha)
    scale = spec_of(found)["layer"][0]["encoding"]["color"]["scale"]
    assert scale["domain"] == labels
    blues = [colour in ("#08306b", "#2171b5", "#6baed6") for colour in scale["range"]]
    assert blues == [label.startswith("≤") and float(label[2:]) <= alpha for label in labels]


def test_exact_ties_are_marked_and_clusters_parted() -> None:
    datasets = spec_of(THREE)["datasets"]
    assert [(cell["better"], cell["worse"]) for cell in datasets["equal"]] == [("2. B", "3. C")]
    assert datasets["clusters"] == [{"edge": "2. B"}]
    edges = [layer for layer in spec_of(THREE)["layer"] if layer["data"] == {"name": "clusters"}]
    assert [list(layer["encoding"]) for layer in edges] == [["x"], ["y"]]


def test_a_metric_without_a_value_has_no_number_and_its_cells_are_not_defined() -> None:
    found = made([[NAN, 0.2, NAN], [NAN] * 3, [NAN] * 3], [0.9, 0.8, NAN], [1, 1, 2])
    assert cells(found)["1. A", "C"]["class"] == "not defined"
    assert cells(found)["1. A", "C"]["p"] is None


def test_a_correction_is_named_and_two_sides_are_asked_for() -> None:
    found = replace(THREE, correction="holm", alternative="two-sided")
    assert spec_of(found)["layer"][0]["encoding"]["color"]["title"] == "p (holm)"
    assert "differ, by pa?" in parts_of_chart(specification(significance_matrix(found))).title


@pytest.fixture
def drawn(tmp_path: Path) -> Path:
    pytest.importorskip("vl_convert", reason="the report extra is not installed")
    return tmp_path


@pytest.mark.slow
def test_an_svg_names_every_metric(drawn: Path) -> None:
    draw(significance_matrix(THREE), drawn / "x.svg")
    text = (drawn / "x.svg").read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert all(f"{place}. {name}" in text for place, name in enumerate("ABC", start=1))


@pytest.mark.slow
def test_a_png_is_an_image(drawn: Path) -> None:
    draw(significance_matrix(THREE), drawn / "x.PNG")
    assert (drawn / "x.PNG").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_a_page_needs_no_network(drawn: Path) -> None:
    draw(significance_matrix(THREE), drawn / "x.html")
    text = (drawn / "x.html").read_text(encoding="utf-8")
    assert not re.findall(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", text)
    assert not re.findall(r"<(?:link|script|iframe)[^>]*\s(?:src|href)=", text)
    assert "@import" not in text


@together("name", ["x.gif", "x", "x.svg.gz"])
def test_other_endings_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"\.svg, \.pdf, \.png, \.html"):
        check_chart(tmp_path / name)


@together("extra", ["altair", "vl_convert"])
@together("ending", [".svg", ".json"])
def test_the_missing_extra_is_named(extra: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.exit_codes.find_spec", lambda name: None if name == extra else name)
    with pytest.raises(UsageError, match=r"scorehouse\[report\]"):
        check_chart(tmp_path / f"x{ending}")


WITHOUT_CHARTS = """
import sys
sys.modules["altair"] = None
from cli.main import COMMANDS, exit_code
calls = [[name, "--help"] for name in COMMANDS]
calls += [[name, "sim24", "en-de", "-q"] for name in ("counts", "thresholds", "correlations")]
calls += [["show", "sim24", "en-de", "12", "-q"], ["scatter", "sim24", "en-de", "simBLEU", "-q"]]
print({" ".join(call) for call in calls if exit_code(call) != 0}, file=sys.stderr)
"""


@pytest.mark.slow
def test_help_and_tables_need_no_charts(simulated_database: Path) -> None:
    environment = {**os.environ, "SCOREHOUSE_DB": str(simulated_database)}
    command = [sys.executable, "-c", WITHOUT_CHARTS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "set()"


@pytest.mark.slow
def test_compare_draws_into_a_file(scorehouse: Scorehouse, drawn: Path) -> None:
    chart = drawn / "matrix.svg"
    ran = scorehouse("compare", "sim24", "cs-uk", "-m", "pa", "--resamples", 20, "--chart", chart)
    assert f"chart written to {chart}" in ran.notes
    assert chart.read_text(encoding="utf-8").startswith("<svg")


HOSTILE = (
    "</script><script>alert(1)</script><!--<script>",
    "line\u2028paragraph\u2029bell\x07null\x00escape\x1b[31m\x7f\x9b",
    "half\ud800\ufffe\uffff",
)


@pytest.mark.slow
def test_names_that_no_page_or_picture_can_hold_are_texts_in_them(drawn: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.charts.drawing.drawing_program", lambda: "/* the program */")
    for ending in ("svg", "png", "html"):
        draw(significance_matrix(replace(THREE, names=HOSTILE)), drawn / f"x.{ending}")
    picture, page = ((drawn / name).read_text("utf-8") for name in ("x.svg", "x.html"))
    xml.etree.ElementTree.fromstring(picture)
    assert "bell\\x07null\\x00escape" in picture
    assert (page.lower().count("<script"), page.lower().count("</script")) == (2, 2)
    assert not {"\u2028", "\u2029"} & {*page}
    assert "<!--" not in page
    (found,) = re.findall(r"const spec = (.*);$", page, re.MULTILINE)
    assert json.loads(found)["datasets"]["p_values"][0]["better"] == f"1. {HOSTILE[0]}"


@pytest.mark.slow
def test_a_chart_for_a_paper_is_a_pdf_and_has_no_signature(tmp_path: Path) -> None:
    draw(significance_matrix(THREE), tmp_path / "a.pdf", has_signature=False)
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    for has_signature in (True, False):
        draw(significance_matrix(THREE), tmp_path / "a.json", has_signature=has_signature)
        assert ("title" in json.loads((tmp_path / "a.json").read_text("utf-8"))) == has_signature
