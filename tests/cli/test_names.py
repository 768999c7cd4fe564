"""Names that are code to a browser, LaTeX, a spreadsheet or a terminal are names in every table and every format."""

import csv
import io
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
import pytest

import cli.options.output
from cli.render import Format, render
from tests.cli.running import LATEX_ENGINES, Scorehouse, faults_of_page
from tests.helpers import tiny_bytes
from tests.sharing import written

ODD = {
    "Fine": "<script>alert('1')</script>\"`",
    "Rough": '=HYPERLINK("x")\\end{tabular}%&_#$~^{}[2]',
    "Wrong": "+\x1b[31m|a|\x07\x9b1m\u202etxt",
    "Flat": "-1*b* _c_ \\\\ \u05e9\u05dc\u05d5\u05dd",
    "mqm": "@human\u2066|x",
    "Ash": "=1+1</td><img src=x onerror=y>",
    "Beech": "\u202eb\\a\\n\"'",
    "n1": "@doc & <b>|",
    "news": "+news\r\n\u2028|\\hline",
}
"""What the tiny task calls things -> what they are called here."""
RATERS = ("=rater<b>|`", "-r\u202e\\&_")
OF_SET = ("tiny24", "en-de")
COMMANDS = (
    ("list", "metrics"),
    ("list", "humans"),
    ("list", "systems"),
    ("list", "sources"),
    ("show", *OF_SET, "1", "--metrics", "*"),
    ("segments", *OF_SET),
    ("rank", *OF_SET, "-m", "pearson", "--status", "all", "--explain"),
    ("rank", *OF_SET, "-m", "pearson", "--wide", "--status", "all"),
    ("rank", *OF_SET, "-m", "pearson", "--by", "domain", "--status", "all"),
    ("compare", *OF_SET, "-m", "tau_b(by=item)", "--resamples", "3", "--status", "all"),
    ("protocol", "wmt24", "--on", "tiny24", "--lp", "en-de", "--all-metrics"),
    ("systems", *OF_SET, "--resamples", "3"),
    ("means", *OF_SET, "--status", "all"),
    ("counts", *OF_SET, "--by", "system", "--status", "all"),
    ("thresholds", *OF_SET, "--ties", "--status", "all"),
    ("thresholds", *OF_SET, "--status", "all"),
    ("correlations", *OF_SET, "--status", "all"),
    ("scatter", *OF_SET, ODD["Fine"]),
    ("deltas", "--hard", "tiny24", "--max-correct", "9"),
    ("trend", "tiny24", "en-de", "-m", "pearson", "--resamples", "2", "--anchor", ODD["Fine"]),
    ("sample", *OF_SET, "--status", "all"),
    ("annotators", *OF_SET, "--resamples", "5"),
    ("annotators", *OF_SET, "--view", "pairs"),
    ("audit", *OF_SET, "--queries"),
    ("sql", 'SELECT metric, system, domain, document, list(value) AS "=v" FROM scores GROUP BY ALL ORDER BY ALL'),
    ("diff", "plain.duckdb", "--verbose", "--exit-zero", "-m", "pearson"),
)
REPORTED = ("rankings", "deltas", "hard-pairs", "audit")
LAID_OUT = ("rank", "compare", "protocol", "trend", "audit", "diff")
"""Commands whose table for reading may be another than that for programs."""
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny task under odd names, beside itself as `plain.duckdb`."""
    folder = tmp_path_factory.mktemp("odd")
    written(folder / "plain.duckdb", tiny_bytes())
    database = written(folder / "odd.duckdb", tiny_bytes())
    with duckdb.connect(str(database)) as connection:
        connection.execute("SET search_path = 'internal'")
        for plain, name in ODD.items():
            told = {"plain": plain, "name": name}
            for statement in (
                "UPDATE scorer SET base_name = $name, name = replace(name, $plain, $name) WHERE base_name = $plain",
                "UPDATE evalset SET standard_human_seg = $name WHERE standard_human_seg = $plain",
                "UPDATE evalset SET standard_human_sys = $name WHERE standard_human_sys = $plain",
                "UPDATE metric_fact SET base_name = $name WHERE base_name = $plain",
                "UPDATE system SET name = $name WHERE name = $plain",
                "UPDATE segment_text SET name = $name WHERE name = $plain",
                "UPDATE segment SET document = $name WHERE document = $plain",
                "UPDATE segment SET domain = $name WHERE domain = $plain",
                "UPDATE source SET path = replace(path, $plain, $name), origin = replace(origin, $plain, $name)",
            ):
                connection.execute(statement, told)
        connection.execute(
            """
            INSERT INTO judgement (judgement_id, vector_id, segment, rater, value)
            SELECT row_number() OVER (ORDER BY v.vector_id, s.segment, r.rater),
              v.vector_id, s.segment, r.rater, (v.vector_id + s.segment) % 7
            FROM vector AS v
            JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'human' AND v.level = 'seg'
            JOIN segment AS s ON s.evalset_id = v.evalset_id
            CROSS JOIN unnest($raters) AS r (rater)
            """,
            {"raters": RATERS},
        )
    return database


def _every_format(
    number: int,
    words: tuple[str, ...],
    scorehouse: Scorehouse,
    odd: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[tuple[Format, str]]:
    """What a command writes in every format: as it is laid out for reading, and as for programs."""
    calls: list[tuple[Any, dict[str, Any]]] = []
    monkeypatch.setattr(
        cli.options.output, "render", lambda frame, kind, **more: calls.append((frame, {**more, "quiet": True}))
    )
    named = [str(odd.parent / word) if word == "plain.duckdb" else word for word in words]
    for asked in ("table", "json") if words[0] in LAID_OUT else ("table",):
        ran = scorehouse("--db", odd, *named, "--format", asked)
        assert ran.code == 0, (words, ran.err)
        assert not OBEYED.search(ran.err), ran.err
        assert not OBEYED.search(ran.out), ran.out
    assert calls, words
    for place, (frame, more) in enumerate(calls):
        for kind in Format:
            path = tmp_path / f"{number}-{place}.{kind}"
            safe = {"safe_cells": True} if kind in (Format.CSV, Format.TSV) else {}
            render(frame, kind, **{**more, **safe, "out": path})
            if kind is not Format.PARQUET:
                yield kind, path.read_text("utf-8")


def _faults(kind: Format, text: str) -> list[str]:
    """What is wrong with a table in a format."""
    match kind:
        case Format.JSON:
            json.loads(text)
            return OBEYED.findall(text)
        case Format.JSONL:
            rows = [json.loads(line) for line in text.splitlines()]
            return [] if rows else ["no lines"]
        case Format.CSV | Format.TSV:
            rows = list(csv.reader(io.StringIO(text, newline=""), delimiter="," if kind is Format.CSV else "\t"))
            widths = {len(row) for row in rows}
            cells = [cell for row in rows for cell in row if cell.startswith(FORMULA) and not _is_number(cell)]
            return cells if len(widths) == 1 else [f"rows of {sorted(widths)} cells"]
        case Format.MARKDOWN:
            plain = re.sub(r"\\.", "", text)
            widths = {line.count("|") for line in plain.splitlines()}
            raw = re.findall(r"<(?!/?sup>)|[_`\[\]]|(?<!\*)\*(?!\*)", plain)
            return OBEYED.findall(text) + raw + ([] if len(widths) == 1 else [f"rows of {sorted(widths)} cells"])
        case Format.LATEX:
            known = r"\\(?:[&%$#_{}\\]|[a-z]+\{\}|[a-z]+)|\{\[\}|\{\]\}|\$[^$\n]*\$"
            plain = re.sub(known, "", text)
            return OBEYED.findall(text) + re.findall(r"[%#~^\\<>|\"]|_", plain)
        case _:
            return OBEYED.findall(text)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@pytest.mark.slow
def test_odd_names_are_names_in_every_table_and_format(
    scorehouse: Scorehouse, odd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: dict[str, list[str]] = {}
    latex: list[str] = []
    for number, words in enumerate(COMMANDS):
        for kind, text in _every_format(number, words, scorehouse, odd, tmp_path, monkeypatch):
            if wrong := _faults(kind, text):
                found[f"{' '.join(words)} as {kind}"] = wrong[:5]
            latex += [text] if kind is Format.LATEX else []
    assert found == {}
    assert sum(r"\textless{}script\textgreater{}" in text for text in latex) > len(COMMANDS) / 2
    _compiled(latex, tmp_path)


@pytest.mark.long("a whole report: 2 seconds")
def test_odd_names_are_names_in_the_report_and_in_the_csv_that_it_offers(
    scorehouse: Scorehouse, odd: Path, tmp_path: Path
) -> None:
    for extra in ("altair", "jinja2", "vl_convert"):
        pytest.importorskip(extra, reason="the report extra is not installed")
    path = tmp_path / "x.html"
    sections = [word for name in REPORTED for word in ("--section", name)]
    words = ("report", "tiny24", *sections, "-m", "pearson", "--resamples", "3", "--static", "-q", "-o", path)
    offered = []
    for more in ((), ("--safe-cells",)):
        assert scorehouse("--db", odd, *words, *more).code == 0
        text = path.read_text("utf-8")
        assert "Not computed" not in text
        assert faults_of_page(text) == []
        assert not OBEYED.search(text)
        tables = [unquote(link) for link in re.findall(r'href="data:text/csv;charset=utf-8,([^"]*)"', text)]
        assert len(tables) > len(REPORTED)
        rows = [row for table in tables for row in csv.reader(io.StringIO(table, newline=""))]
        offered.append([cell for row in rows for cell in row if cell.startswith(FORMULA) and not _is_number(cell)])
    assert offered[0]
    assert offered[1] == []


def _compiled(tables: list[str], folder: Path) -> None:
    """All tables in one document, without letters of Hebrew, which LaTeX knows with further packages only."""
    engine = next((name for name in LATEX_ENGINES if shutil.which(name)), None)
    if engine is None:
        pytest.skip("all else passed; no LaTeX engine to compile the tables")
    head = "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{textcomp,booktabs}\\begin{document}\\tiny\n"
    body = "\\newpage\n".join(re.sub("[\u05d0-\u05ea]", "x", table) for table in tables)
    (folder / "x.tex").write_text(f"{head}{body}\\end{{document}}\n", "utf-8")
    ran = subprocess.run([engine, "-halt-on-error", "x.tex"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)
    assert ran.returncode == 0, ran.stdout[-1500:].decode("utf-8", "replace")
