"""Wide rankings on the command line: every format, special characters, and LaTeX that compiles."""

import csv
import io
import json
import re
import unicodedata
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from cli.render import Format
from cli.render.wide import wide_texts
from cli.report.content import Part, wide_grids
from cli.report.making import ReportSection
from cli.report.page import page
from cli.report.sections import SECTIONS
from metaeval.studies.ranking.wide import Wide
from tests.cli.running import Scorehouse
from tests.helpers import together

SPECIAL = "a&b%c$d#e_f{g}h~i^j\\k<l>m|n\"o'p`q[r]"


def made() -> Wide:
    values = np.array([[0.61234, -0.5], [0.5, float("nan")]])
    clusters = np.array([[1, 12], [2, 0]])
    return Wide(
        (SPECIAL, "B"), ("wmt23", "wmt23"), ("en-de", "zh_en"), values, clusters, np.array([[1, 1], [0, 0]]) > 0
    )


def test_a_terminal_has_bold_best_values_and_a_file_stars() -> None:
    plain = wide_texts(made(), 3, None)[Format.TABLE].splitlines()
    assert plain[0].split() == ["metric", "wmt23", "en-de", "wmt23", "zh_en"]
    assert plain[2].split()[1:] == ["*0.612", "¹", "*-0.500", "¹²"]
    assert plain[3].split() == ["B", "0.500", "²", "-"]
    bold = wide_texts(made(), 3, 100)[Format.TABLE]
    assert re.findall(r"\x1b\[1m\s*([^\x1b]*)\x1b\[0m", bold)[-2:] == ["0.612 ¹", "-0.500 ¹²"]


def test_markdown_and_latex_mark_the_best_and_bracket_clusters() -> None:
    texts = wide_texts(made(), 3, None)
    assert "| **0.612** (1) | **-0.500** (12) |" in texts[Format.MARKDOWN]
    lines = texts[Format.LATEX].splitlines()
    assert lines[:5] == [
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r" & \multicolumn{2}{c}{wmt23} \\",
        r"\cmidrule(lr){2-3}",
        r"metric & en-de & zh\_en \\",
    ]
    assert lines[6].endswith(r"& \textbf{0.612} (1) & \textbf{$-$0.500} (12) \\")
    assert lines[7] == r"B & 0.500 (2) & -- \\"


def test_clusters_of_a_column_are_equally_wide_so_that_values_stand_below_each_other() -> None:
    clusters = np.array([[1, 0], [12, 0], [0, 0]])
    values = np.full((3, 2), 0.5)
    found = Wide(("A", "B", "C"), ("", ""), ("en-de", "zh-en"), values, clusters, values > 1)
    lines = wide_texts(found, 1, None)[Format.LATEX].splitlines()
    assert lines[-5:-2] == [
        r"A & 0.5 (1)\phantom{0} & 0.5 \\",
        r"B & 0.5 (12) & 0.5 \\",
        r"C & 0.5\phantom{ (00)} & 0.5 \\",
    ]


def test_what_is_copied_holds_each_value_as_a_number_of_its_own() -> None:
    found = replace(made(), metrics=("A", "B"))
    frame = pl.DataFrame(
        {"testset": "wmt23", "lp": "en-de", "measure": "pa", "base_metric": ["A", "B"]}
        | {"value": [0.612, 0.5], "cluster": [1, 2], "rank": [1, 2], "metric": ["A", "B"]}
    )
    part = Part("wmt23", grids=wide_grids("", frame))
    report = page((ReportSection(SECTIONS["rankings"], (part,)),), "", static=True)
    for text in (*wide_texts(found, 3, None).values(), report[report.index("<tbody>") : report.index("</tbody>")]):
        copied = re.sub(r"<[^>]*>|\\(textbf|phantom)|[{}$*]", "", unicodedata.normalize("NFKC", text))
        assert {"0.612", "0.500"} <= set(re.findall(r"-?\d\.\d+", copied)) <= {"0.612", "-0.500", "0.500"}


@pytest.mark.slow
def test_a_ranking_of_all_language_pairs_is_one_table(scorehouse: Scorehouse) -> None:
    words = ("rank", "sim24", "all", "-m", "pa", "--wide")
    table = scorehouse(*words).table
    assert table[0].split()[0] == "metric"
    assert "en-de" in table[0].split()
    rows = list(csv.DictReader(io.StringIO(scorehouse(*words, "--format", "csv").out)))
    long = scorehouse("rank", "sim24", "all", "-m", "pa", "--format", "json").json
    values = {(row["base_metric"], row["lp"]): row["value"] for row in long}
    assert rows
    for row in rows:
        for lp in set(row) - {"metric"}:
            assert (float(row[lp]) if row[lp] else None) == values.get((row["metric"], lp))
    assert json.loads(scorehouse(*words, "--format", "json").out)[0].keys() == rows[0].keys()


@pytest.mark.slow
def test_clusters_are_raised_and_columns_of_their_own_for_programs(scorehouse: Scorehouse) -> None:
    words = (
        "rank",
        "sim24",
        "en-de",
        "-m",
        "acc_eq",
        "--wide",
        "--significance",
        "--resamples",
        "20",
        "--status",
        "primary",
    )
    assert "¹" in scorehouse(*words).out
    assert {"metric", "en-de", "cluster en-de"} == scorehouse(*words, "--format", "json").json[0].keys()


@pytest.mark.slow
def test_a_ranking_by_domain_is_wide_for_reading_and_long_for_programs(scorehouse: Scorehouse) -> None:
    words = ("rank", "sim24", "en-de", "-m", "pearson", "--by", "domain")
    long = scorehouse(*words, "--format", "json").json
    domains = list(dict.fromkeys(row["domain"] for row in long))
    assert scorehouse(*words).table[0].split() == ["metric", *domains]
    two = scorehouse(*words, "-m", "pa").table
    assert two[0].split()[:3] == ["#", "domain", "metric"]


def test_intervals_are_columns_on_request(scorehouse: Scorehouse) -> None:
    words = ("rank", "sim24", "en-de", "-m", "pa", "--intervals", "--resamples", "20")
    header, _, first, *_ = scorehouse(*words).table
    assert header.split() == ["#", "metric", "pa"]
    assert re.fullmatch(r" *1  \S+ +0\.\d{4} \[0\.\d{3}, 0\.\d{3}\]", first)
    ran = scorehouse(*words, "--format", "json")
    assert all(row["low"] <= row["value"] <= row["high"] for row in ran.json)
    assert any("95% intervals of the value over all such systems" in note for note in ran.notes)


@pytest.mark.slow
@together("form", ["table", "markdown", "latex"])
def test_every_form_for_reading_says_what_its_marks_mean(form: str, scorehouse: Scorehouse) -> None:
    words = ("rank", "sim24", "en-de,cs-uk", "-m", "pa", "--wide", "--format")
    assert "bold, or *: the best of its column" in scorehouse(*words, form).notes
    assert "bold, or *: the best of its column" not in scorehouse(*words, "csv").notes
