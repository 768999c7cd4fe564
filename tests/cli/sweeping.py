"""Every command on every evaluation set of a warehouse, with every human score that it has; and what each answer owes.

Nothing ends in a traceback or in words of the kernels, values stay in the range of their measure, and where there is no
answer, one line says why.
"""

import io
import json
import re
import traceback
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from cli.ending import run_program
from cli.main import program
from metaeval.measures.registry import DEFINITIONS, parse_measure
from metaeval.questions.annotators import Annotators
from tests.cli.running import foreign_options
from warehouse import Warehouse
from warehouse.fields import fields_of

_PROGRAM = program()  # built once, for thousands of calls
LISTS = ("lps", "metrics", "humans", "systems", "sources", "results", "issues")
_OF_KERNELS = re.compile(
    r"n_systems\b|n_segments\b|n_documents|\bshape\b|must be \(|(?<![=/])\bnan\b|got \[|dtype|\bNone\b|numpy|KeyError"
    r"|broadcast|\barrays?\b|epsilon must|judged must|dimensions?\b"
)
ANNOTATORS = fields_of(Annotators)["view"].choices
REPORTED = {
    "overview": "Overview",
    "rankings": "Rankings",
    "significance": "Significance",
    "correlations": "Correlations",
    "calibration": "Tie thresholds",
    "deltas": "Metric against human scores",
    "hard-pairs": "Hardest system pairs",
    "audit": "Audit",
}
"""Sections of a report, and their titles."""
OF_A_SLICE = (
    ("rank", "-m", "pa", "-m", "acc23(by=item)"),
    ("rank", "-m", "spa(n=20)", "-m", "pearson", "--status", "all"),
    ("rank", "-m", "pa", "-m", "tau_b(by=item)", "--status", "all", "--ceiling"),
    ("rank", "-m", "pa", "--status", "all", "--ceiling", "--by", "domain"),
    ("compare", "-m", "pa", "--resamples", "5"),
    ("compare", "-m", "tau_b(by=item)", "--resamples", "5", "--status", "all"),
    ("advise", "-m", "pa"),
    ("autorank",),
    ("means",),
    ("means", "--status", "all"),
    ("counts",),
    ("counts", "--status", "all", "--by", "system", "--epsilon", "0.1"),
    ("thresholds", "--ties"),
    ("thresholds", "--segments", "1-200"),
    ("correlations",),
    ("correlations", "-m", "pearson", "--status", "all"),
    ("segments", "-n", "3"),
    ("segments", "--metric", "BLEU", "--metric", "XCOMET-XL", "--by", "length"),
    ("sample", "--balance", "--size", "20"),
    ("sample", "--evaluate", "--selections", "2"),
    ("judges",),
    ("judges", "--view", "bias", "--status", "all"),
    ("systems", "--resamples", "5"),
    ("systems", "--scorer", "BLEU", "--resamples", "5"),
    ("systems", "--scorer", "XCOMET-XL", "--test", "wilcoxon", "--system-score", "judged-mean"),
    ("spans",),
    ("spans", "--ceiling"),
    ("spans", "--ceiling", "--by", "severity"),
    ("spans", "--ceiling", "--pool"),
    ("spans", "--view", "severities"),
    ("spans", "--view", "outputs"),
)

ANALYSES = (
    ("deltas", "--hard", "{testset}", "{lp}", "--min-metrics", "1"),
    ("deltas", "{testset}", "{lp}", "{first}", "--resamples", "5"),
    ("scatter", "{testset}", "{lp}", "{first}"),
    (
        "noise",
        "{testset}",
        "{lp}",
        "-m",
        "pdp",
        "-m",
        "pa",
        "--kind",
        "outliers",
        "--share",
        "0.1",
        "--simulations",
        "2",
    ),
    ("noise", "{testset}", "{lp}", "--oracles", "-m", "pdp"),
    ("noise", "{testset}", "{lp}", "{first}", "-m", "acc_eq(by=item)", "--simulations", "2"),
    ("noise", "{testset}", "{lp}", "--languages"),
    ("cutoff", "{testset}", "{lp}", "{first}", "--good", "-1"),
    *(
        ("cutoff", "{testset}", "{lp}", "{first}", "--good", "-5", "--view", view, *resamples)
        for view, *resamples in (("cost", "--resamples", "20"), ("reliability",), ("transfer", "--resamples", "20"))
    ),
    ("cutoff", "{testset}", "{lp}", "{first}", "--curve"),
    ("systems", "{testset}", "{lp}", "{best}", "{last}"),
    ("plan", "{testset}", "{lp}", "{first}", "{second}", "-m", "pearson", "--simulations", "20", "--resamples", "20"),
    (
        "plan",
        "{testset}",
        "{lp}",
        "{best}",
        "{last}",
        "--compare",
        "systems",
        "--unit",
        "judgement",
        "--simulations",
        "20",
    ),
    ("paper", "diianni-2025", "rankings", "--testset", "{testset}", "--lp", "{lp}"),
    ("paper", "kocmi-2021", "table-2", "--testset", "{testset}", "--lp", "{lp}", "--resamples", "5"),
    ("paper", "deutsch-2023", "section-6.1", "--testset", "{testset}", "--lp", "{lp}"),
    ("trend", "{testset}", "{lp}", "-m", "pa", "--resamples", "5"),
)
"""Words of analyses; names of the evaluation set, of two of its metrics and of two of its systems are put in."""

BY_MEASURE = (
    ("rank", "{testset}", "{lp}", "-m", "{measure}", "--status", "all"),
    ("rank", "{testset}", "{lp}", "-m", "{measure}", "--status", "all", "--significance", "--resamples", "20"),
    ("compare", "{testset}", "{lp}", "-m", "{measure}", "--status", "all", "--resamples", "20"),
    ("compare", "{testset}", "{lp}", "{first}", "{second}", "-m", "{measure}", "--resamples", "20"),
    ("plan", "{testset}", "{lp}", "{first}", "{second}", "-m", "{measure}", "--simulations", "20", "--resamples", "20"),
)
MEASURES = (*DEFINITIONS, "acc_eq(by=none)", "pearson(by=none)", "tau_b(by=system)", "spa(n=20)")
THOROUGH = (
    *(
        ("rank", "{testset}", "{lp}", "--status", "all", "-m", "pa", "-m", "spa", *more)
        for more in (("--intervals", "--resamples", "20"), ("--by", "domain"), ("--explain",), ("--wide",))
    ),
    *(
        ("rank", "all", "all", "--status", "all", "-m", "pa", "-m", "acc_eq(by=item)", "--pool", how)
        for how in ("mean", "pairs")
    ),
    *(
        ("protocol", name, "--on", "{testset}", "--lp", "{lp}", "--all-metrics", *more)
        for name in ("wmt14", "wmt17", "wmt22", "wmt24", "wmt25")
        for more in ((), ("--significance", "--resamples", "20"))
    ),
    *(
        ("trend", "all", "all", "-m", measure, "--resamples", "20", *view)
        for measure in ("pearson", "acc_eq(by=item)")
        for view in (
            ("--within",),
            *(("--anchor", "{first}", *view) for view in ((), ("--over-years",), ("--bridges",), ("--pool", "mean"))),
        )
    ),
    *(("scatter", "{testset}", "{lp}", "{first}", "--view", view) for view in ("pairs", "segments")),
    *(
        ("segments", "{testset}", "{lp}", *more)
        for more in (("--by", "domain"), ("--metric", "{first}", "--metric", "{second}"))
    ),
    *(("counts", "{testset}", "{lp}", "--by", by) for by in ("none", "system")),
    *(
        ("thresholds", "{testset}", "{lp}", "-m", measure, *more)
        for measure in ("acc_eq(by=none)", "tau_eq(by=system)")
        for more in ((), ("--curve", "--points", "5"))
    ),
    *(("correlations", "{testset}", "{lp}", "-m", measure) for measure in ("kendall(by=item)", "spearman(by=system)")),
    *(
        ("systems", "{testset}", "{lp}", *more)
        for more in (("--test", "paired-t"), ("--unit", "document"), ("--scorer", "{first}", "--resamples", "5"))
    ),
    ("show", "{testset}", "{lp}", "1", "--metrics", "*", "--human", "*"),
    ("deltas", "--hard", "--min-metrics", "1", "--significant"),
    ("plan", "{testset}", "{lp}", "{best}", "{last}", "--compare", "systems", "--simulations", "20"),
    ("plan", "{testset}", "{lp}", "{best}", "{last}", "--compare", "systems", "--assisted-by", "{first}"),
    ("plan", "{testset}", "{lp}", "--sequential", "--simulations", "20"),
    ("systems", "{testset}", "{lp}", "--assisted-by", "{first}"),
    ("means", "{testset}", "{lp}", "--assisted-by", "{first}"),
    ("plan", "{testset}", "{lp}", "{first}", "{second}", "--unit", "system", "-m", "pa", "--simulations", "20"),
    *(
        ("export", f"{{folder}}.{form}", "{testset}", "{lp}", "--format", form)
        for form in ("parquet", "csv", "mtme", "subset2evaluate", "texts")
    ),
)
"""Further views, for small warehouses."""


def calls(
    warehouse: Warehouse,
    testsets: Sequence[str] | None = None,
    other: Path | None = None,
    *,
    thorough: Path | None = None,
) -> Iterator[tuple[str, ...]]:
    """The words of every command: on each evaluation set, with the official human score and with each by its name.

    other: a warehouse to compare this one with. thorough: also every measure and view; exports go to this folder.
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
    systems = {
        (testset, lp): (first, last)
        for testset, lp, first, last in warehouse.rows(
            "SELECT testset, lp, min(system), max(system) FROM systems GROUP BY ALL ORDER BY ALL"
        )
    }
    for testset in dict.fromkeys(testset for testset, _ in humans):
        yield from (("protocol", testset, f"--{what}") for what in ("matrix", "agreement", "thresholds"))
    for (testset, lp), names in humans.items():
        yield from (("list", what, testset, lp) for what in LISTS)
        first, second = metrics.get((testset, lp), ("BLEU", "chrF"))
        words_of = {"testset": testset, "lp": lp, "first": first, "second": second}
        words_of |= dict(zip(("best", "last"), systems.get((testset, lp), ("A", "B")), strict=True))
        yield "audit", testset, lp
        yield (
            "report",
            testset,
            "--lp",
            lp,
            "--resamples",
            "5",
            *(word for name in REPORTED for word in ("--section", name)),
        )
        yield from (("annotators", testset, lp, "--resamples", "20", "--view", view) for view in ANNOTATORS)
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
        if thorough is not None:
            words_of["folder"] = str(thorough / f"{testset}.{lp}")
            yield from (tuple(word.format(**words_of) for word in words) for words in THOROUGH)
            for measure in MEASURES:
                of_measure = {**words_of, "measure": measure}
                yield from (tuple(word.format(**of_measure) for word in words) for words in BY_MEASURE)


def _protocol(testset: str) -> str:
    """The protocol of a test set's year; of 2024 where it has none."""
    digits = "".join(sign for sign in testset if sign.isdecimal())[:4][-2:]
    return f"wmt{digits}" if 14 <= int(digits or 0) <= 25 else "wmt24"


def fault(database: Path, words: Sequence[str]) -> str | None:
    """What is wrong with how a command ended; None where it gave an answer, or one clear line why there is none.

    The report, which is a page and refuses --format json, is written to stdout; the format of an export is another.
    """
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    form = {"report": ("-o", "-"), "export": ()}.get(words[0], ("--format", "json"))
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = run_program(_PROGRAM, ["--db", str(database), *words, *form])
        except BaseException:
            return traceback.format_exc()
    out.seek(0)
    data, notes = out.read(), err.getvalue().splitlines()
    if "Traceback" in err.getvalue():
        return err.getvalue()
    if kernel := [line for line in _reasons(notes) if _OF_KERNELS.search(line)]:
        return f"words of the kernels: {kernel}"
    if foreign := [one for line in notes for one in foreign_options(words, line)]:
        return f"options that the command does not have: {foreign}"
    if code == 0 and words[0] == "report":
        return _fault_of_page(data)
    if code != 0:
        errors = [line for line in notes if line.startswith("error: ")]
        is_clear = code in (2, 3) and len(errors) == 1 and not data and notes[-1:] == errors
        if words[0] == "export" and Path(words[1]).exists():
            return f"a refused export left {words[1]}"
        return None if is_clear else f"code {code}: {data[:100]!r} {notes}"
    if words[0] == "export":
        return None
    answer = json.loads(data, parse_constant=_no_number)
    if words[0] != "list" and (without := _without_reason(answer, _reasons(notes))):
        return f"no value and no reason: {without} {data[:200]!r} {notes}"
    return _fault_of_values(answer)


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _fault_of_values(answer: object) -> str | None:
    """What is wrong with the numbers of an answer: out of their range, or a rank, a cluster or a p without a value."""
    if isinstance(answer, dict) and "values" in answer and "p" in answer:
        without = [place for place, value in enumerate(answer["values"]) if value is None]
        if any(answer["p"][one][two] is not None for one in without for two in range(len(answer["values"]))):
            return "a p-value of a metric without a value"
    for row in _rows(answer):
        if "value" in row and row["value"] is None and any(row.get(name) is not None for name in ("rank", "cluster")):
            return f"a rank without a value: {row}"
        if isinstance(row.get("value"), float) and "measure" in row:
            low, high = parse_measure(row["measure"]).definition.limits
            if not low - 1e-9 <= row["value"] <= high + 1e-9:
                return f"a value outside {low} to {high}: {row}"
        p = [value for name, value in row.items() if name in ("p", "gap_p", "least_p") and isinstance(value, float)]
        if not all(0 <= one <= 1 for one in p):
            return f"a p-value outside 0 to 1: {row}"
    return None


def _fault_of_page(page: str) -> str | None:
    """What is wrong with a report: a section that is not there without a reason, or a part with neither."""
    absent = [
        name
        for name, title in REPORTED.items()
        if f'<section id="{name}"' not in page and not re.search(rf">Not shown: {title}: [^<]", page)
    ]
    parts = [part.partition("</article>")[0] for part in page.split("<article ")[1:]]
    empty = [part[:60] for part in parts if not re.search("<figure|<table|<li>[^<]", part)]
    return f"sections {absent}, empty parts {empty}" if absent or empty or not parts else None


def _rows(answer: object) -> list[dict[str, Any]]:
    rows = answer.get("metrics", answer.get("systems", [answer])) if isinstance(answer, dict) else answer
    assert isinstance(rows, list)
    return [row for row in rows if isinstance(row, dict)] or [{} for _ in rows]


def _without_reason(answer: object, reasons: Sequence[str]) -> str | None:
    """What has no row, or no value in any row, without a line that says why; a measure's line begins with its name."""
    rows = _rows(answer)
    if not rows or all("value" in row and row["value"] is None for row in rows):
        return None if reasons else "the answer"
    by_measure: dict[str, list[object]] = {}
    for row in rows:
        if "value" in row and "measure" in row:
            by_measure.setdefault(row["measure"], []).append(row["value"])
    without = [measure for measure, values in by_measure.items() if all(value is None for value in values)]
    return next((measure for measure in without if not any(measure in line for line in reasons)), None)


def _reasons(notes: Sequence[str]) -> list[str]:
    """Lines that are no signature and no progress."""
    return [line for line in notes if "|scorehouse:" not in line]
