"""Every command on every evaluation set of a warehouse, with every human score that it has."""

import io
import json
import re
import traceback
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from cli.ending import run_program
from cli.main import program
from tests.cli.running import foreign_options
from warehouse import Warehouse

_PROGRAM = program()  # built once, for thousands of calls
LISTS = ("lps", "metrics", "humans", "systems", "sources", "results", "issues")
ANNOTATORS = ("sets", "annotators", "pairs")
REPORTED = ("overview", "rankings", "significance", "correlations", "calibration", "deltas", "hard-pairs", "audit")
OF_A_SLICE = (
    ("rank", "-m", "pa", "-m", "acc23(by=item)"),
    ("rank", "-m", "spa(n=20)", "-m", "pearson", "--all-metrics"),
    ("rank", "-m", "pa", "-m", "tau_b(by=item)", "--all-metrics", "--ceiling"),
    ("compare", "-m", "pa", "--draws", "5"),
    ("compare", "-m", "tau_b(by=item)", "--draws", "5", "--all-metrics"),
    ("means",),
    ("means", "--all-metrics", "--engine", "duckdb"),
    ("counts",),
    ("counts", "--engine", "polars"),
    ("counts", "--all-metrics", "--by", "system", "--epsilon", "0.1"),
    ("ties",),
    ("thresholds", "--segments", "1-200"),
    ("correlations",),
    ("correlations", "-m", "pearson", "--all-metrics"),
    ("segments", "-n", "3"),
    ("segments", "--metric", "BLEU", "--metric", "XCOMET-XL", "--by", "length"),
    ("systems", "--draws", "5"),
    ("systems", "--scorer", "BLEU", "--draws", "5"),
    ("systems", "--scorer", "XCOMET-XL", "--test", "wilcoxon", "--system-score", "judged-mean"),
)

ANALYSES = (
    ("hard-pairs", "{testset}", "{lp}", "--least-metrics", "1"),
    ("deltas", "{first}", "{testset}", "{lp}", "--draws", "5"),
    ("scatter", "{testset}", "{lp}", "{first}"),
    ("noise", "{testset}", "{lp}", "-m", "pdp", "-m", "pa", "--kind", "outliers", "--share", "0.1", "--draws", "2"),
    ("noise", "{testset}", "{lp}", "--oracles", "-m", "pdp"),
    ("plan", "{testset}", "{lp}", "{first}", "{second}", "-m", "pearson", "--simulations", "20", "--draws", "20"),
    ("plan", "{testset}", "{lp}", "A", "B", "--tell", "systems", "--unit", "judgements", "--simulations", "20"),
    ("paper", "diianni-2025", "rankings", "--testset", "{testset}", "--lp", "{lp}"),
    ("paper", "kocmi-2021", "table-2", "--testset", "{testset}", "--lp", "{lp}", "--draws", "5"),
    ("paper", "deutsch-2023", "section-6.1", "--testset", "{testset}", "--lp", "{lp}"),
    ("trend", "{testset}", "{lp}", "-m", "pa", "--draws", "5"),
)
"""Words of analyses; names of the evaluation set and of two of its metrics are put in."""


def calls(
    warehouse: Warehouse, testsets: Sequence[str] | None = None, other: Path | None = None
) -> Iterator[tuple[str, ...]]:
    """The words of every command: on each evaluation set, with the official human score and with each by its name.

    other: a warehouse to compare this one with.
    """
    humans: dict[tuple[str, str], list[str]] = {}
    for testset, lp, human in warehouse.rows(
        """
        SELECT e.testset, e.lp, h.human
        FROM evalsets AS e
        LEFT JOIN humans AS h ON h.testset = e.testset AND h.lp = e.lp
        ORDER BY ALL
        """
    ):
        if testsets is None or testset in testsets:
            humans.setdefault((testset, lp), []).extend([] if human is None else [human])
    metrics = {
        (testset, lp): (first, second)
        for testset, lp, first, second in warehouse.rows(
            "SELECT testset, lp, min(metric), max(metric) FROM metrics GROUP BY ALL ORDER BY ALL"
        )
    }
    for testset in dict.fromkeys(testset for testset, _ in humans):
        yield from (("protocols", testset, f"--{what}") for what in ("matrix", "agreement", "thresholds"))
    for (testset, lp), names in humans.items():
        yield from (("list", what, testset, lp) for what in LISTS)
        first, second = metrics.get((testset, lp), ("BLEU", "chrF"))
        words_of = {"testset": testset, "lp": lp, "first": first, "second": second}
        yield "audit", testset, lp
        yield (
            "report",
            testset,
            "--lp",
            lp,
            "--draws",
            "5",
            *(word for name in REPORTED for word in ("--section", name)),
        )
        yield from (("annotators", testset, lp, "--draws", "20", "--view", view) for view in ANNOTATORS)
        yield "show", testset, lp, "1"
        if other is not None:
            yield (
                "diff",
                str(other),
                "--testset",
                testset,
                "--lp",
                lp,
                "-m",
                "pa",
                "-m",
                "tau_b(by=item)",
                "--exit-zero",
            )
        for human in (None, *names):
            named = () if human is None else ("--human", human)
            yield from ((command, testset, lp, *more, *named) for command, *more in OF_A_SLICE)
            yield from ((*(word.format(**words_of) for word in words), *named) for words in ANALYSES)
            yield "protocol", _protocol(testset), "--on", testset, "--lp", lp, *named


def _protocol(testset: str) -> str:
    """The protocol of a test set's year; of 2024 where it has none."""
    digits = "".join(sign for sign in testset if sign.isdecimal())[:4][-2:]
    return f"wmt{digits}" if 14 <= int(digits or 0) <= 25 else "wmt24"


def fault(database: Path, words: Sequence[str]) -> str | None:
    """What is wrong with how a command ended; None where it gave an answer, or one clear line why there is none.

    The report, which is a page and refuses --format json, is written to stdout.
    """
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    form = ("-o", "-") if words[0] == "report" else ("--format", "json")
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = run_program(_PROGRAM, ["--db", str(database), *words, *form])
        except BaseException:
            return traceback.format_exc()
    out.seek(0)
    data, notes = out.read(), err.getvalue().splitlines()
    if "Traceback" in err.getvalue():
        return err.getvalue()
    if foreign := [one for line in notes for one in foreign_options(words, line)]:
        return f"options that the command does not have: {foreign}"
    if code == 0 and words[0] == "report":
        return _fault_of_page(data)
    if code != 0:
        errors = [line for line in notes if line.startswith("error: ")]
        is_clear = code == 2 and len(errors) == 1 and not data and notes[-1:] == errors
        return None if is_clear else f"code {code}: {data[:100]!r} {notes}"
    if _is_empty(json.loads(data)) and words[0] != "list" and not _reasons(notes):
        return f"an empty answer without a reason: {data[:200]!r} {notes}"
    return None


def _fault_of_page(page: str) -> str | None:
    """What is wrong with a report: a section that is not there, or a part with neither content nor a reason."""
    absent = [name for name in REPORTED if f'<section id="{name}"' not in page]
    parts = [part.partition("</article>")[0] for part in page.split("<article ")[1:]]
    empty = [part[:60] for part in parts if not re.search("<figure|<table|<li>[^<]", part)]
    return f"sections {absent}, empty parts {empty}" if absent or empty or not parts else None


def _is_empty(answer: object) -> bool:
    """Whether an answer has no row, or no value in any row."""
    rows = answer.get("metrics", answer.get("systems", [answer])) if isinstance(answer, dict) else answer
    assert isinstance(rows, list)
    values = [row["value"] for row in rows if isinstance(row, dict) and "value" in row]
    return not rows or (bool(values) and all(value is None for value in values))


def _reasons(notes: Sequence[str]) -> list[str]:
    """Lines that are no signature and no progress."""
    return [line for line in notes if "|scorehouse:" not in line]
