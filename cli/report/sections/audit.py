"""What is wrong or odd in the data."""

from collections.abc import Sequence
from functools import partial

import polars as pl

from cli.report.content import Part, grid
from cli.report.desk import Desk
from cli.report.making import Job, Section
from queries.audit import audit
from queries.findings import SEVERITIES, Finding, findings_frame

MOST = 300  # rows
_KINDS = {"severity": "severity", "check": "check", "n": "findings", "first": "the first"}
_COLUMNS = {
    "severity": "severity",
    "check": "check",
    "testset": "test set",
    "lp": "language pair",
    "subject": "subject",
    "finding": "finding",
}


def _jobs(desk: Desk) -> Sequence[Job]:
    testsets = ", ".join(dict.fromkeys(one.testset for one in desk.states))
    return [Job("audit", testsets, desk.states, (), partial(_part, desk, testsets))]


def _part(desk: Desk, heading: str) -> Part:
    found = _found(desk)
    counts = ", ".join(f"{len([one for one in found if one.severity == name])} {name}" for name in SEVERITIES)
    notes = [f"Findings: {counts}. error: what is stored cannot be right; warning: look before you trust it."]
    if len(found) > MOST:
        notes.append(f"The table has the first {MOST} of {len(found)}, worst first; `scorehouse audit` lists all.")
    frame = findings_frame(found)
    kinds = frame.group_by("severity", "check", maintain_order=True).agg(
        n=pl.len(), first=pl.format("{}: {}", "subject", "finding").first()
    )
    return Part(
        heading,
        grids=(grid("Kinds of findings", kinds, _KINDS), grid("Findings in the data", frame.head(MOST), _COLUMNS)),
        notes=tuple(notes),
    )


def _found(desk: Desk) -> list[Finding]:
    """Findings of the evaluation sets of the report, and of their test sets as a whole."""
    covered = {(one.testset, one.lp) for one in desk.states}
    testsets = {one.testset for one in desk.states}
    whole = len(desk.states) == len(desk.every)
    with desk.opened() as warehouse:
        found = audit(warehouse, None if whole else ",".join(testsets))
    return [one for one in found if whole or one.lp is None or (one.testset, one.lp) in covered]


SECTION = Section(
    "audit",
    "Audit",
    "Errors and oddities in the data: duplicates, shifted files, wrong signs, gaps, noise, known issues.",
    _jobs,
)
