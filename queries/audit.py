"""Data-quality findings: each a claim with numbers, and the SQL that shows it."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from queries import catalog
from queries.damage import changed_evalsets
from queries.listing import listing
from warehouse import Warehouse
from warehouse.errors import unknown
from warehouse.facts.issues import Issue
from warehouse.facts.issues import issues as published_issues
from warehouse.facts.metrics import describe
from warehouse.progress import Progress

if TYPE_CHECKING:
    import polars as pl

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
Row = Mapping[str, Any]

CHECKSUM = "checksum"  # the check that reads every row
_CORPUS_SCORES = frozenset({"BLEU", "chrF", "TER", "NIST"})  # families whose system score is one of the whole corpus
_JUDGES_NOTHING = frozenset({"random", "sentinel"})  # kinds of metrics that ought not to agree with humans


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
class _Reported:
    """What a check makes of one row of its query."""

    severity: Severity
    subject: str
    finding: str
    n: int | None = None
    value: float | None = None
    shown: Mapping[str, str] | None = None


def audit(
    warehouse: Warehouse,
    testset: str | None = None,
    lp: str | None = None,
    checks: Collection[str] = (),
    *,
    deep: bool = False,
    progress: Progress | None = None,
) -> list[Finding]:
    """All findings of the warehouse, of a test set or of an evaluation set: worst first, then by place and check.

    checks: only those of these checks; () for all. deep: also read every row and compare with the checksums that were
    stored when it was written; those findings are of the check `checksum`.
    Raises QuestionError: unknown test set, language pair or check.
    """
    names = [*CHECKS, *_OTHER_CHECKS, CHECKSUM]
    for name in checks:
        if name not in names:
            raise unknown("check", name, names)
    if testset is not None:
        listing(warehouse, "lps", testset, lp)  # refuses unknown names
    asked = set(checks or names) | ({CHECKSUM} if deep else set())
    found = [finding for check in CHECKS if check in asked for finding in _run(warehouse, check, testset, lp)]
    for name, other in _OTHER_CHECKS.items():
        if name in asked:
            found += other(warehouse, testset, lp)
    if deep or CHECKSUM in checks:
        found += _changed(warehouse, testset, lp, progress)
    return sorted(
        (finding for finding in found if finding.check in asked),
        key=lambda f: (SEVERITIES.index(f.severity), f.testset, f.lp or "", f.check, f.subject, f.finding),
    )


def findings_frame(findings: list[Finding]) -> "pl.DataFrame":
    """Columns severity, check, testset, lp, subject, finding, n, value, query; one row per finding."""
    import polars as pl

    schema: dict[str, Any] = dict.fromkeys(Finding.__dataclass_fields__, pl.String)
    schema |= {"n": pl.Int64, "value": pl.Float64}
    return pl.DataFrame(
        [tuple(getattr(finding, name) for name in schema) for finding in findings], schema=schema, orient="row"
    )


def _run(warehouse: Warehouse, check: str, testset: str | None, lp: str | None) -> Iterator[Finding]:
    for row in catalog.ask(warehouse, f"audit_{check}", testset=testset, lp=lp).rows(named=True):
        reported = CHECKS[check](row)
        shown = {"testset": row["testset"], "lp": row["lp"], **(reported.shown or {})}
        yield Finding(
            severity=reported.severity,
            check=check,
            testset=row["testset"],
            lp=row["lp"],
            subject=reported.subject,
            finding=reported.finding,
            n=reported.n,
            value=reported.value,
            query=shown_query(check, shown),
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


def _identical(row: Row) -> _Reported:
    return _Reported(
        "warning",
        f"{row['metric']}, {row['other']}",
        f"the same {row['n_scores']} segment scores for all {row['n']} systems that both scored",
        row["n"],
        shown={"metric": row["metric"], "other": row["other"]},
    )


def _submitted(row: Row) -> _Reported:
    base = row["scorer"].rpartition("-")[0] or row["scorer"]
    is_corpus = row["kind"] == "metric" and describe(base).family in _CORPUS_SCORES
    why = " (expected of a corpus-level metric)" if is_corpus else ""
    return _Reported(
        "info" if is_corpus else "warning",
        row["scorer"],
        f"submitted system score is not the mean of the segment scores{why}: {row['n']} of {row['n_systems']} "
        f"systems, by up to {row['value']:.4g}",
        row["n"],
        row["value"],
        {"kind": row["kind"], "scorer": row["scorer"]},
    )


def _constant(row: Row) -> _Reported:
    words = [f"{row['n_constant']} constant"] if row["n_constant"] else []
    words += [f"{row['n_nearly']} nearly constant"] if row["n_nearly"] else []
    return _Reported(
        "warning" if row["kind"] == "metric" else "info",
        row["scorer"],
        f"segment scores of {row['n']} of {row['n_systems']} systems do not vary: {' and '.join(words)}",
        row["n"],
        shown={"scorer": row["scorer"]},
    )


def _negative(row: Row) -> _Reported:
    lowest = min(r for r in (row["r_systems"], row["r_segments"]) if r is not None)
    words = []
    if row["r_systems"] is not None:
        words.append(f"{row['r_systems']:.3f} over {row['n_systems']} systems")
    if row["r_segments"] is not None:
        words.append(f"{row['r_segments']:.3f} over {row['n_cells']} segment scores")
    expected = describe(row["base_metric"], row["year"]).kind in _JUDGES_NOTHING
    why = "; such a metric need not agree with humans" if expected else "; wrong sign?" if lowest < -0.3 else ""
    return _Reported(
        "warning" if lowest < -0.3 and not expected else "info",
        row["metric"],
        f"correlation with {row['human']} is negative: {', '.join(words)}{why}",
        row["n_systems"],
        lowest,
        {"human": row["human"], "metric": row["metric"]},
    )


def _outputs(row: Row) -> _Reported:
    share = row["n"] / row["n_texts"]
    return _Reported(
        "warning" if row["kind"] == "metric" and share >= 0.05 else "info",
        row["scorer"],
        f"identical outputs of several systems scored differently: {row['n']} of {row['n_texts']} such texts, "
        f"by up to {row['value']:.4g} (standard deviation of all scores {row['sd']:.4g})",
        row["n"],
        row["value"],
        {"scorer": row["scorer"]},
    )


def _missing(row: Row) -> _Reported:
    words = []
    if row["n_systems_missing"]:
        words.append(f"no scores for {row['n_systems_missing']} of {row['n_systems']} systems ({row['names']})")
    if row["n_segments_missing"]:
        words.append(f"{row['n_segments_missing']} segment scores missing, in {row['n_systems_incomplete']} systems")
    return _Reported(
        "warning" if row["n_mt_missing"] or row["n_segments_missing"] else "info",
        row["metric"],
        "; ".join(words),
        row["n_systems_missing"] or row["n_segments_missing"],
        shown={"metric": row["metric"]},
    )


def _shifted(row: Row) -> _Reported:
    by = f"{abs(row['shift'])} segment{'s' if abs(row['shift']) > 1 else ''}"
    return _Reported(
        "error",
        f"{row['scorer']}, {row['system']}",
        f"scores agree better when shifted by {by} {'back' if row['shift'] > 0 else 'on'}: "
        f"correlation with the mean of the metrics {row['shifted']:.3f} there, {row['value']:.3f} in place",
        row["n"],
        row["shifted"] - row["value"],
        {"scorer": row["scorer"], "system": row["system"]},
    )


def _outliers(row: Row) -> _Reported:
    known = ", and on the organisers' list" if row["is_outlier"] else ", and not on the organisers' list"
    return _Reported(
        "info",
        f"{row['human']}, {row['system']}",
        f"an outlier by the MAD rule{known}: {row['score']:.4g} lies {abs(row['value']):.1f} deviations "
        f"{'above' if row['value'] > 0 else 'below'} the median of {row['n']} MT systems",
        row["n"],
        row["value"],
        {"human": row["human"]},
    )


def _coverage(row: Row) -> _Reported:
    uneven = row["n_systems"] > 1 and row["least"] < row["most"]
    words = [f"{row['n']} of {row['n_cells']} (system, segment) pairs judged ({row['value']:.0%})"]
    if uneven:
        words.append(f"unevenly over {row['n_systems']} MT systems: {row['least']} to {row['most']} segments each")
    if row["n_raters"]:
        words.append(
            f"{row['n_judgements']} judgements by {row['n_raters']} annotators, "
            f"{row['fewest']} to {row['highest']} each"
        )
    return _Reported(
        "warning" if uneven and row["least"] < row["most"] / 2 else "info",
        row["human"],
        "; ".join(words),
        row["n"],
        row["value"],
        {"human": row["human"]},
    )


def _noise(row: Row) -> _Reported:
    return _Reported(
        "info",
        row["human"],
        f"{row['n']} of {row['n_distinct']} distinct values differ from the next by float noise alone, so ties are "
        "lost (--round-human merges them)",
        row["n"],
        row["value"],
        {"human": row["human"]},
    )


def _refused(row: Row) -> _Reported:
    return _Reported("error", row["path"], f"excluded as broken: {row['fault']}")


CHECKS: Mapping[str, Callable[[Row], _Reported]] = {
    "identical": _identical,
    "submitted": _submitted,
    "constant": _constant,
    "negative": _negative,
    "outputs": _outputs,
    "missing": _missing,
    "shifted": _shifted,
    "outliers": _outliers,
    "coverage": _coverage,
    "noise": _noise,
    "refused": _refused,
}
"""Checks by name: each has its question in audit_<name>.sql and what shows a finding in audit_<name>_shown.sql."""


def _known_issues(warehouse: Warehouse, testset: str | None, lp: str | None) -> Iterator[Finding]:
    """Published issues of what is loaded: those of the file, and those that the program knows."""
    loaded = {
        (name, pair)
        for name, pair in warehouse.rows("SELECT testset, lp FROM evalsets")
        if testset in (None, name) and lp in (None, pair)
    }
    rows = warehouse.rows("SELECT testset, lp, scorer, system, issue, citation FROM known_issues")
    issues = {Issue(*row) for row in rows} | set(published_issues())
    for issue in sorted(issues, key=lambda item: (item.testset, item.lp or "", item.scorer or "", item.issue)):
        if any(name == issue.testset and issue.lp in (None, pair) for name, pair in loaded):
            yield Finding(
                severity="info",
                check="issues",
                testset=issue.testset,
                lp=issue.lp,
                subject=", ".join(filter(None, (issue.scorer, issue.system))) or "all",
                finding=f"{issue.issue} ({issue.citation})",
                n=None,
                value=None,
                query=shown_query("issues", {"testset": issue.testset}),
            )


def _changed(warehouse: Warehouse, testset: str | None, lp: str | None, progress: Progress | None) -> Iterator[Finding]:
    """Evaluation sets whose rows are not those that were written, by the checksums that were stored with them."""
    for changed in changed_evalsets(warehouse, testset, lp, progress):
        yield Finding(
            severity="error",
            check=CHECKSUM,
            testset=changed.testset,
            lp=changed.lp,
            subject=", ".join(changed.tables),
            finding="rows are not those that were written: the file is damaged, or another program changed it; "
            "load the evaluation set into a new warehouse",
            n=len(changed.tables),
            value=None,
            query=shown_query(CHECKSUM, {"testset": changed.testset, "lp": changed.lp}),
        )


def _unlisted_names(warehouse: Warehouse, testset: str | None, lp: str | None) -> Iterator[Finding]:
    """Metrics whose name the registry does not have, so that a rule gave them their family."""
    for row in catalog.ask(warehouse, "audit_names", testset=testset, lp=lp).rows(named=True):
        facts = describe(row["base_metric"], row["year"])
        if facts.is_known or row["is_own"]:
            continue
        yield Finding(
            severity="info",
            check="names",
            testset=row["testset"],
            lp=row["lp"],
            subject=row["base_metric"],
            finding=f"not in the metric registry; family {facts.family} inferred from its name",
            n=None,
            value=None,
            query=shown_query("names", {"testset": row["testset"], "lp": row["lp"], "metric": row["base_metric"]}),
        )


_OTHER_CHECKS: Mapping[str, Callable[[Warehouse, str | None, str | None], Iterator[Finding]]] = {
    "issues": _known_issues,
    "names": _unlisted_names,
}
