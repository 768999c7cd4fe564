"""The audit: runs its checks on the warehouse and sorts their findings."""

from collections.abc import Collection, Iterable, Iterator

from queries import catalog
from queries.evalsets import expand
from queries.findings import CHECKS, SEVERITIES, Finding, shown_query
from queries.listing import listing
from warehouse import Warehouse
from warehouse.errors import known_name
from warehouse.facts.issues import Issue
from warehouse.facts.issues import issues as published_issues

KINDS = (*CHECKS, "issues")
"""Kinds of findings."""


def audit(
    warehouse: Warehouse, testset: str | None = None, lp: str | None = None, checks: Collection[str] = ()
) -> list[Finding]:
    """All findings of the warehouse, of a test set or of an evaluation set: worst first, then by place and check.

    testset, lp: one, several joined by commas, or "all"; None also means all. checks: only findings of these checks; ()
    for all.
    Raises QuestionError: unknown test set, language pair or check.
    """
    asked = {known_name("check", name, KINDS) for name in checks or KINDS}
    found: list[Finding] = []
    for place in _places(warehouse, testset, lp):
        for check in CHECKS:
            if check in asked:
                found += _run(warehouse, check, *place)
        if "issues" in asked:
            found += _known_issues(warehouse, *place)
    return worst_first(finding for finding in found if finding.check in asked)


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Findings, each once: by severity, then by place and check."""
    return sorted(
        dict.fromkeys(findings),
        key=lambda f: (SEVERITIES.index(f.severity), f.testset, f.lp or "", f.check, f.subject, f.finding),
    )


def _places(warehouse: Warehouse, testset: str | None, lp: str | None) -> list[tuple[str | None, str | None]]:
    """Test sets and language pairs to check; None means all.

    Raises QuestionError: unknown names.
    """
    if lp not in (None, "all"):
        return [*expand(warehouse, testset or "all", lp).chosen]
    if testset in (None, "all"):
        return [(None, None)]
    testsets = list(dict.fromkeys(testset.split(",")))
    for name in testsets:
        listing(warehouse, "testsets", name)  # refuses unknown names
    return [(name, None) for name in testsets]


def _run(warehouse: Warehouse, check: str, testset: str | None, lp: str | None) -> Iterator[Finding]:
    for row in catalog.ask(warehouse, f"audit_{check}", testset=testset, lp=lp).rows(named=True):
        severity, subject, finding = CHECKS[check](row)
        place, numbers = (row["testset"], row["lp"]), (row.get("n"), row.get("value"))
        yield Finding(severity, check, *place, subject, finding, *numbers, shown_query(check, row))


def _known_issues(warehouse: Warehouse, testset: str | None, lp: str | None) -> Iterator[Finding]:
    """Published issues of the loaded data: those in the file, and those known to this version, in its wording."""
    loaded = {
        (name, pair)
        for name, pair in warehouse.rows("SELECT testset, lp FROM evalsets")
        if testset in (None, name) and lp in (None, pair)
    }
    rows = warehouse.rows("SELECT testset, lp, scorer, system, issue, citation FROM known_issues")
    stored = (Issue(*row) for row in rows)
    issues = {
        (one.testset, one.lp, one.scorer, one.system, one.citation): one for one in (*stored, *published_issues())
    }
    for issue in sorted(issues.values(), key=lambda item: (item.testset, item.lp or "", item.scorer or "", item.issue)):
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
