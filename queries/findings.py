"""Findings of the audit: what each check says of a row of its query, and the SQL that shows it."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import polars as pl

from queries import catalog
from warehouse.facts.metrics import describe
from warehouse.wording import counted, option

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
Row = Mapping[str, Any]

_CORPUS_SCORES = frozenset({"BLEU", "chrF", "TER", "NIST"})  # families whose system score is one of the whole corpus
_JUDGES_NOTHING = frozenset({"random", "sentinel"})  # kinds of metrics that need not agree with others


@dataclass(frozen=True)
class Finding:
    """One finding.

    severity: error (what is stored can't be right), warning (look before you trust it), info (good to know).
    check: name of the check; subject: metric, human score, system or file concerned; n and value: its main numbers
        (how many, how much), said in words by `finding`. query: SQL for `scorehouse sql` that shows it.
    """

    severity: Severity
    check: str
    testset: str
    lp: str | None
    subject: str
    finding: str
    n: int | None
    value: float | None
    query: str


@dataclass(frozen=True)
class Reported:
    """What a check makes of one row of its query."""

    severity: Severity
    subject: str
    finding: str
    n: int | None = None
    value: float | None = None
    shown: Mapping[str, str] | None = None


def at_least(severity: Severity, findings: Iterable[Finding]) -> list[Finding]:
    """The findings of this severity or a worse one."""
    shown = SEVERITIES[: SEVERITIES.index(severity) + 1]
    return [finding for finding in findings if finding.severity in shown]


def findings_frame(findings: list[Finding]) -> pl.DataFrame:
    """Columns severity, check, testset, lp, subject, finding, n, value, query; one row per finding."""
    schema: dict[str, Any] = dict.fromkeys(Finding.__dataclass_fields__, pl.String)
    schema |= {"n": pl.Int64, "value": pl.Float64}
    return pl.DataFrame(
        [tuple(getattr(finding, name) for name in schema) for finding in findings], schema=schema, orient="row"
    )


def shown_query(check: str, values: Mapping[str, str]) -> str:
    """The query of `audit_<check>_shown.sql` with its parameters written out, on one line.

    >>> shown_query("issues", {"testset": "it's"})
    "SELECT lp, scorer, system, issue, citation FROM known_issues WHERE testset = 'it''s' ORDER BY ALL"
    """
    return re.sub(
        r"\$([a-z_]+)", lambda match: "'" + values[match[1]].replace("'", "''") + "'", _one_line(f"audit_{check}_shown")
    )


@cache
def _one_line(name: str) -> str:
    lines = [line for line in catalog.questions()[name].text.splitlines() if not line.startswith("--")]
    return " ".join(" ".join(lines).split()).removesuffix(";")


def _identical(row: Row) -> Reported:
    return Reported(
        "warning",
        f"{row['metric']}, {row['other']}",
        f"the same {counted(row['n_scores'], 'segment score')} for all {counted(row['n'], 'system')} that both scored",
        row["n"],
        shown={"metric": row["metric"], "other": row["other"]},
    )


def _submitted(row: Row) -> Reported:
    base = row["scorer"].rpartition("-")[0] or row["scorer"]
    is_corpus = row["kind"] == "metric" and describe(base).family in _CORPUS_SCORES
    why = " (expected of a corpus-level metric)" if is_corpus else ""
    return Reported(
        "info" if is_corpus else "warning",
        row["scorer"],
        f"submitted system score is not the mean of the segment scores{why}: {row['n']} of {row['n_systems']} "
        f"systems, by up to {row['value']:.4g}",
        row["n"],
        row["value"],
        {"kind": row["kind"], "scorer": row["scorer"]},
    )


def _constant(row: Row) -> Reported:
    words = [f"{row['n_constant']} constant"] if row["n_constant"] else []
    words += [f"{row['n_nearly']} nearly constant"] if row["n_nearly"] else []
    return Reported(
        "warning" if row["kind"] == "metric" else "info",
        row["scorer"],
        f"segment scores of {row['n']} of {row['n_systems']} systems do not vary: {' and '.join(words)}",
        row["n"],
        shown={"scorer": row["scorer"]},
    )


def _outputs(row: Row) -> Reported:
    share = row["n"] / row["n_texts"]
    return Reported(
        "warning" if row["kind"] == "metric" and share >= 0.05 else "info",
        row["scorer"],
        f"identical outputs of several systems scored differently: {row['n']} of {row['n_texts']} such texts, "
        f"by up to {row['value']:.4g} (standard deviation of all scores {row['sd']:.4g})",
        row["n"],
        row["value"],
        {"scorer": row["scorer"]},
    )


def _missing(row: Row) -> Reported:
    words = []
    if row["n_systems_missing"]:
        words.append(f"no scores for {row['n_systems_missing']} of {row['n_systems']} systems ({row['names']})")
    if row["n_segments_missing"]:
        n_systems = counted(row["n_systems_incomplete"], "system")
        n_missing = counted(row["n_segments_missing"], "segment score")
        words.append(
            f"{n_missing} missing, in {n_systems}: rankings exclude it (`{option('rank.intersection', True)}` does not)"
        )
    return Reported(
        "warning" if row["n_mt_missing"] or row["n_segments_missing"] else "info",
        row["metric"],
        "; ".join(words),
        row["n_systems_missing"] or row["n_segments_missing"],
        shown={"metric": row["metric"]},
    )


def _misspelt(row: Row) -> Reported:
    of_other = f"{row['other']} ({counted(row['n_other'], 'score')})"
    return Reported(
        "error",
        row["system"],
        f"{counted(row['n'], 'score')} of a system named nearly as {of_other}; misspelt?",
        row["n"],
        shown={"system": row["system"], "other": row["other"]},
    )


def _shifted(row: Row) -> Reported:
    by = counted(abs(row["shift"]), "segment")
    return Reported(
        "error",
        f"{row['scorer']}, {row['system']}",
        f"scores agree better when shifted by {by} {'back' if row['shift'] > 0 else 'on'}: "
        f"correlation with the mean of the metrics {row['shifted']:.3f} there, {row['value']:.3f} in place",
        row["n"],
        row["shifted"] - row["value"],
        {"scorer": row["scorer"], "system": row["system"]},
    )


def _sign(row: Row) -> Reported:
    if row["system"] is not None:
        over = f"over {counted(row['n'], 'segment')}"
    elif row["n"]:
        over = f"over segments, median of {counted(row['n'], 'system')}"
    else:
        over = "over systems"
    judges = describe(row["base_metric"]).kind not in _JUDGES_NOTHING
    return Reported(
        "error" if judges else "info",
        ", ".join(filter(None, (row["metric"], row["system"]))),
        f"scores fall where all others together rise: correlation {row['value']:.3f} {over}"
        + ("; wrong sign" if judges else "; such a metric need not agree with others"),
        row["n"],
        row["value"],
        {"metric": row["metric"]},
    )


def _outliers(row: Row) -> Reported:
    known = ", and on the organisers' list" if row["is_outlier"] else ", and not on the organisers' list"
    return Reported(
        "info",
        f"{row['human']}, {row['system']}",
        f"an outlier by the MAD rule{known}: {row['score']:.4g} lies {abs(row['value']):.1f} deviations "
        f"{'above' if row['value'] > 0 else 'below'} the median of {row['n']} MT systems",
        row["n"],
        row["value"],
        {"human": row["human"]},
    )


def _coverage(row: Row) -> Reported:
    uneven = row["n_systems"] > 1 and row["least"] < row["most"]
    words = [f"{row['n']} of {row['n_scores']} (system, segment) pairs judged ({row['value']:.0%})"]
    if uneven:
        words.append(f"unevenly over {row['n_systems']} MT systems: {row['least']} to {row['most']} segments each")
    if row["n_raters"]:
        words.append(
            f"{counted(row['n_judgements'], 'judgement')} by {counted(row['n_raters'], 'annotator')}, "
            f"{row['fewest']} to {row['highest']} each"
        )
    return Reported(
        "warning" if uneven and row["least"] < row["most"] / 2 else "info",
        row["human"],
        "; ".join(words),
        row["n"],
        row["value"],
        {"human": row["human"]},
    )


def _noise(row: Row) -> Reported:
    return Reported(
        "info",
        row["human"],
        f"{row['n']} of {row['n_distinct']} distinct values differ from the next by float noise alone, so ties are "
        f"lost (`{option('rank.round_human')}` merges them)",
        row["n"],
        row["value"],
        {"human": row["human"]},
    )


def _refused(row: Row) -> Reported:
    return Reported("error", row["path"], f"excluded as broken: {row['fault']}")


CHECKS: Mapping[str, Callable[[Row], Reported]] = {
    "identical": _identical,
    "submitted": _submitted,
    "constant": _constant,
    "outputs": _outputs,
    "misspelt": _misspelt,
    "missing": _missing,
    "shifted": _shifted,
    "sign": _sign,
    "outliers": _outliers,
    "coverage": _coverage,
    "noise": _noise,
    "refused": _refused,
}
"""Checks by name: each has its question in audit_<name>.sql and what shows a finding in audit_<name>_shown.sql."""
