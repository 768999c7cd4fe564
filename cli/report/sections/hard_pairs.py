"""Pairs of systems that no metric, or only one, orders as people do."""

from collections.abc import Sequence
from functools import partial

from cli.report.content import Part, figure, grid
from cli.report.desk import Desk
from cli.report.making import Job, Section

MOST = 100  # rows
_COLUMNS = {
    "testset": "test set",
    "lp": "language pair",
    "better": "better for people",
    "worse": "worse",
    "in_sd": "difference (sd)",
    "p": "p",
    "n_metrics": "metrics",
    "n_right": "right",
    "right": "which",
}


def _jobs(desk: Desk) -> Sequence[Job]:
    if not desk.humans:
        return []
    testsets = ", ".join(dict.fromkeys(one.testset for one in desk.humans))
    return [Job("hard-pairs", testsets, desk.humans, (), partial(_part, desk, testsets))]


def _part(desk: Desk, heading: str) -> Part:
    found = desk.ask("deltas", testset=desk.settings.testsets, lp=desk.settings.lps, hard=True)
    n = found.frame.height
    limit = (f"The table has the first {MOST} of {n} pairs; `scorehouse deltas --hard` lists all.",) if n > MOST else ()
    return Part(
        heading,
        (figure(found.chart()),),
        (grid("Hardest pairs of systems", found.frame.head(MOST), _COLUMNS),) if n else (),
        (*found.notes, *limit),
        tuple(found.signature.splitlines()),
    )


SECTION = Section(
    "hard-pairs", "Hardest system pairs", "Pairs of systems that at most one metric orders as people do.", _jobs
)
