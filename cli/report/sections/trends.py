"""Are metrics getting better: families over the years, their gaps to an anchor, bridges between human protocols."""

from collections.abc import Sequence
from functools import partial

from cli.report.content import Part, figure, grid
from cli.report.desk import Desk
from cli.report.making import Job, Section
from metaeval.trends.tables import bridges
from warehouse import QuestionError


def _jobs(desk: Desk) -> Sequence[Job]:
    if not desk.humans:
        return []
    old = desk.anchor
    heading = ", ".join(dict.fromkeys(one.lp for one in desk.humans)) if desk.settings.lps != "all" else "All years"
    return [Job("trend", heading, desk.states, (*desk.computing, old), partial(_part, desk, heading, old))]


def _part(desk: Desk, heading: str, old: str) -> Part:
    if len({one.year for one in desk.humans}) < 2:
        raise QuestionError("the report is on a single year")
    settings = desk.settings
    found = desk.ask(
        "trend",
        testset=settings.testsets,
        lp=settings.lps,
        anchor=old,
        draws=settings.draws,
        seed=settings.seed,
        fresh=settings.fresh,
    )
    shown = found.found.shown
    steps = bridges(shown.rows)
    grids = [grid("Values and gaps by year", shown.reading.frame)]
    if steps.height:
        grids.append(grid("Bridges: two human protocols on the same systems", steps))
    return Part(
        heading,
        (figure(found.chart()),),
        tuple(grids),
        shown.reading.notes,
        tuple(shown.reading.signature.splitlines()),
        measures=(found.question.measure,),
    )


SECTION = Section(
    "trends",
    "Over the years",
    "Values of different years stand on other systems and other human scores: the gap to an anchor on the same data, "
    "and bridges between human protocols, are what can be compared.",
    _jobs,
)
