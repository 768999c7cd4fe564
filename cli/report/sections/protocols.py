"""Old rules on new data: who would have won a test set by the rules of each year."""

from collections.abc import Sequence
from functools import partial

from cli.report.content import Part, grid
from cli.report.desk import Desk
from cli.report.making import Job, Section

_COLUMNS = {
    "protocol": "rules of",
    "winner": "winner",
    "overall": "overall score",
    "n_metrics": "metrics",
    "kendall": "Kendall's τ with the year's own rules",
    "tasks": "measures",
    "lps": "language pairs",
}


def _jobs(desk: Desk) -> Sequence[Job]:
    testsets = dict.fromkeys(one.testset for one in desk.humans)
    return [
        Job(
            "protocols",
            testset,
            tuple(one for one in desk.every if one.testset == testset),
            desk.computing,
            partial(_part, desk, testset),
        )
        for testset in testsets
    ]


def _part(desk: Desk, testset: str) -> Part:
    found = desk.ask("protocol", rules=testset, matrix=True, seed=desk.settings.seed, fresh=desk.settings.fresh)
    answered = found.frame.drop_nulls("winner")
    lps = answered["lps"].unique()
    said = f", {lps[0]}" if len(lps) == 1 else ""
    columns = {name: heading for name, heading in _COLUMNS.items() if name != "lps" or not said}
    return Part(
        testset,
        (),
        (grid(f"{testset} by the rules of each year{said}", answered, columns),),
        found.notes,
        tuple(found.signature.splitlines()),
        measures=tuple(one for tasks in answered["tasks"] for one in tasks.split("; ")),
    )


SECTION = Section(
    "protocols",
    "Old rules on new data",
    "Each test set by the rules of every year that has its inputs: who wins, and how far the ranking is from that by "
    "the year's own rules.",
    _jobs,
    lambda desk: (
        "Of all language pairs that the rules take, whichever the report is on; without significance tests, which "
        "`scorehouse protocol --significance` has.",
    ),
)
