"""Are metrics getting better: families over the years, their gaps to an anchor, bridges between human protocols."""

from collections.abc import Sequence
from functools import partial

from cli.report.anchor import anchor
from cli.report.content import Part, figure, grid
from cli.report.desk import Desk
from cli.report.making import Job, Section
from metaeval.charts.history import history_chart
from metaeval.measures import parse_measure
from metaeval.trends.gaps import pooled_by_year
from metaeval.trends.history import history
from metaeval.trends.tables import bridges
from metaeval.trends.views import Asked, show
from queries.selection import Slice
from warehouse import QuestionError

MEASURE = "pa"


def _jobs(desk: Desk) -> Sequence[Job]:
    if not desk.humans:
        return []
    old = anchor(desk)
    heading = ", ".join(dict.fromkeys(one.lp for one in desk.humans)) if desk.settings.lps != "all" else "All years"
    return [Job("trend", heading, desk.states, (*desk.computing, old), partial(_part, desk, heading, old))]


def _part(desk: Desk, heading: str, old: str) -> Part:
    if len({one.year for one in desk.humans}) < 2:
        raise QuestionError("the report is on a single year")
    found = history(
        desk.opened,
        Slice(desk.settings.testsets, desk.settings.lps),
        parse_measure(MEASURE),
        desk.options,
        desk.testing,
        old,
        database=desk.database,
        fresh=desk.settings.fresh,
        progress=desk.progress,
    )
    shown = show(found, Asked(seed=desk.settings.seed))
    by_year = pooled_by_year(shown.rows, found.measure, "random-effects")
    steps = bridges(shown.rows)
    grids = [grid("Values and gaps by year", shown.reading.frame)]
    if steps.height:
        grids.append(grid("Bridges: two human protocols on the same systems", steps))
    return Part(
        heading,
        (figure(history_chart(shown.rows, by_year, found.anchor, shown.reading.signature)),),
        tuple(grids),
        shown.reading.notes,
        tuple(shown.reading.signature.splitlines()),
    )


SECTION = Section(
    "trends",
    "Over the years",
    "Values of different years stand on other systems and other human scores: the gap to an anchor on the same data, "
    "and bridges between human protocols, are what can be compared.",
    _jobs,
)
