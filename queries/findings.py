"""Findings of the audit: the message of each check for a row of its query, and the SQL that shows it."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import polars as pl

from queries import catalog
from warehouse.facts.metrics import JUDGES_NOTHING, describe
from warehouse.wording import counted, ends, every, option

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
Row = Mapping[str, Any]
Said = tuple[Severity, str, str]
"""What a check makes of one row of its query: severity, subject, finding."""

_CORPUS_SCORES = frozenset({"BLEU", "chrF", "TER", "NIST"})  # families whose system score is one of the whole corpus
_NAMED = 5  # systems of a finding
_NEED_NOT = "; such a metric need not agree with others"


@dataclass(frozen=True)
class Finding:
    """One finding.

    severity: error (the stored data are very probably wrong), warning (check before you trust it), info (good to know).
    check: name of the check; subject: metric, human score, system or file concerned; n and value: its main numbers (how
        many, how much), which `finding` puts into words. query: SQL for `scorehouse sql` that shows it.
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


def at_least(severity: Severity, findings: Iterable[Finding]) -> list[Finding]:
    """The findings of at least this severity."""
    shown = SEVERITIES[: SEVERITIES.index(severity) + 1]
    return [finding for finding in findings if finding.severity in shown]


def findings_frame(findings: list[Finding]) -> pl.DataFrame:
    """Columns severity, check, testset, lp, subject, finding, n, value, query; one row per finding."""
    schema: dict[str, Any] = dict.fromkeys(Finding.__dataclass_fields__, pl.String)
    schema |= {"n": pl.Int64, "value": pl.Float64}
    return pl.DataFrame(
        [tuple(getattr(finding, name) for name in schema) for finding in findings], schema=schema, orient="row"
    )


def by_kind(findings: pl.DataFrame) -> pl.DataFrame:
    """One row per kind of finding, errors first. Columns severity, check, n, worst: the finding with the largest n.

    findings: as from `findings_frame`.
    """
    worst = findings.sort("n", descending=True, nulls_last=True, maintain_order=True)
    place = pl.concat_str("testset", "lp", "subject", separator=" ", ignore_nulls=True)
    return (
        worst.group_by("severity", "check", maintain_order=True)
        .agg(n=pl.len().cast(pl.Int64), worst=pl.concat_str(place, pl.lit(": "), "finding").first())
        .sort(pl.col("severity").replace_strict(list(SEVERITIES), list(range(len(SEVERITIES)))), -pl.col("n"), "check")
        .select("severity", "check", "n", "worst")
    )


def shown_query(check: str, values: Row) -> str:
    """The query of `audit_<check>_shown.sql` with its parameter values inserted, on one line.

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


def _judges(base_metric: str) -> bool:
    return describe(base_metric).kind not in JUDGES_NOTHING


def _identical(row: Row) -> Said:
    return (
        "warning",
        f"{row['metric']}, {row['other']}",
        f"the same {counted(row['n_scores'], 'segment score')} for {every(row['n'], 'system')} that they scored",
    )


def _submitted(row: Row) -> Said:
    is_corpus = row["kind"] == "metric" and describe(row["base_metric"]).family in _CORPUS_SCORES
    why = " (expected of a corpus-level metric)" if is_corpus else ""
    return (
        "info" if is_corpus else "warning",
        row["scorer"],
        f"submitted system score is not the mean of the segment scores{why}: {row['n']} of {row['n_systems']} "
        f"systems, by up to {row['value']:.4g}",
    )


def _constant(row: Row) -> Said:
    words = [f"{row['n_constant']} constant"] if row["n_constant"] else []
    words += [f"{row['n_nearly']} nearly constant"] if row["n_nearly"] else []
    n = row["n_constant"] + row["n_nearly"]
    systems = counted(row["n_systems"], "system")
    said = [f"segment scores of {n} of {systems} do not vary: {' and '.join(words)}"] if n else []
    said += [f"{every(row['n_alike'], 'MT system')} have the same score"] if row["n_alike"] else []
    return (
        "warning" if row["kind"] == "metric" and _judges(row["base_metric"]) else "info",
        row["scorer"],
        "; ".join(said),
    )


def _outputs(row: Row) -> Said:
    share = row["n"] / row["n_texts"]
    is_random = row["kind"] == "metric" and describe(row["base_metric"]).kind == "random"
    why = " (expected of random scores)" if is_random else ""
    return (
        "warning" if row["kind"] == "metric" and share >= 0.05 and not is_random else "info",
        row["scorer"],
        f"identical outputs of several systems scored differently{why}: {row['n']} of {row['n_texts']} such texts, "
        f"by up to {row['value']:.4g} (standard deviation of all scores {row['sd']:.4g})",
    )


def _missing(row: Row) -> Said:
    words = []
    if row["n_systems_missing"]:
        systems = counted(row["n_systems"], "system")
        words.append(f"no scores for {row['n_systems_missing']} of {systems} ({row['names']})")
    if row["n_segments_missing"]:
        n_systems = counted(row["n_systems_incomplete"], "system")
        n_missing = counted(row["n_segments_missing"], "segment score")
        words.append(
            f"{n_missing} missing, in {n_systems}: rankings that need any of these exclude the metric "
            f"(`{option('rank.intersection', True)}` does not)"
        )
    return ("warning" if row["n_mt_missing"] or row["n_segments_missing"] else "info", row["metric"], "; ".join(words))


def _misspelt(row: Row) -> Said:
    of_other = f"{row['other']} ({counted(row['n_other'], 'score')})"
    return (
        "error",
        row["system"],
        f"{counted(row['n'], 'score')} of a system with nearly the same name as {of_other}; misspelt?",
    )


def _shifted(row: Row) -> Said:
    by = counted(abs(row["shift"]), "segment")
    judges = row["kind"] == "human" or _judges(row["base_metric"])
    return (
        "error" if judges else "info",
        f"{row['scorer']}, {row['system']}",
        f"scores agree better if shifted {'back' if row['shift'] > 0 else 'forward'} by {by}: correlation with the "
        f"mean of the metrics {row['shifted']:.3f} shifted, {row['in_place']:.3f} as they are"
        + ("" if judges else _NEED_NOT),
    )


def _sign(row: Row) -> Said:
    alone = row["systems"] or []
    if alone:
        whose = f"scores of {counted(len(alone), 'system')}"
        r = ", ".join(
            f"{one['r']:.3f} ({one['name']}{'' if one['is_judged'] else ', not judged'})" for one in alone[:_NAMED]
        )
        r += f", … {len(alone) - _NAMED} more" if len(alone) > _NAMED else ""
    else:
        whose, r = "scores", f"{row['value']:.3f} over "
        r += f"segments, median of {counted(row['n'], 'system')}" if row["n"] else "systems"
    judges = _judges(row["base_metric"])
    return (
        "info" if not judges else "error" if not alone or any(one["is_judged"] for one in alone) else "warning",
        row["metric"],
        f"{whose} correlate negatively with the mean of all other metrics: {r}"
        + ("; wrong sign?" if judges else _NEED_NOT),
    )


def _outliers(row: Row) -> Said:
    known = ", and on the organisers' list" if row["is_outlier"] else ", and not on the organisers' list"
    return (
        "info",
        f"{row['human']}, {row['system']}",
        f"an outlier by the MAD rule{known}: {row['score']:.4g} lies {abs(row['value']):.1f} deviations "
        f"{'above' if row['value'] > 0 else 'below'} the median of {row['n']} MT systems",
    )


def _coverage(row: Row) -> Said:
    uneven = row["n_systems"] > 1 and row["least"] < row["most"]
    words = [f"{row['n']} of {row['n_scores']} (system, segment) pairs judged ({row['value']:.0%})"]
    if uneven:
        words.append(f"unevenly over {row['n_systems']} MT systems: {ends(row['least'], row['most'])} segments each")
    if row["n_raters"]:
        words.append(
            f"{counted(row['n_judgements'], 'judgement')} by {counted(row['n_raters'], 'annotator')}, "
            f"{ends(row['fewest'], row['highest'])} each"
        )
    return ("warning" if uneven and row["least"] < row["most"] / 2 else "info", row["human"], "; ".join(words))


def _noise(row: Row) -> Said:
    return (
        "info",
        row["human"],
        f"{row['n']} of {row['n_distinct']} distinct values differ from the next only by floating-point error, so "
        f"ties are lost (`{option('rank.round_human')}` merges them)",
    )


def _refused(row: Row) -> Said:
    return "error", row["path"], f"excluded as broken: {row['fault']}"


def _names(row: Row) -> Said:
    return "info", row["metric"], f"not in the metric registry; family {row['family']} inferred from its name"


CHECKS: Mapping[str, Callable[[Row], Said]] = {
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
    "names": _names,
}
"""Checks by name: each has its question in audit_<name>.sql, with n and value, and what shows a finding, by parameters
that are columns of the question, in audit_<name>_shown.sql."""
MEANINGS: Mapping[str, str] = {
    "identical": "two metrics have the same segment scores",
    "submitted": "a submitted system score is not the mean of the segment scores",
    "constant": "scores do not vary",
    "outputs": "identical outputs of several systems are scored differently",
    "misspelt": "two systems have nearly the same name",
    "missing": "scores are missing",
    "shifted": "scores fit other segments better",
    "sign": "scores correlate negatively with the mean of all other metrics",
    "outliers": "a system is an outlier by the MAD rule",
    "coverage": "not all outputs are judged",
    "noise": "human scores differ only by floating-point error",
    "refused": "a file was excluded as broken",
    "names": "a metric is not in the metric registry",
    "issues": "an issue is known",
}
"""What the findings of each kind say."""
