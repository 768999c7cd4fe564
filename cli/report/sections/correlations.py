"""How metrics correlate with each other."""

from functools import partial

from cli.report.content import MOST_NAMES, Part, figure
from cli.report.desk import Desk
from cli.report.making import Section, detailed_jobs
from metaeval.charts.correlations import correlation_matrix
from metaeval.measures import parse_measure
from metaeval.tables.agreement import agreement, clustered
from queries.longitudinal import EvalsetState
from queries.selection import Slice
from warehouse import QuestionError

OF_SEGMENTS, _OF_SYSTEMS = "pearson(by=none)", "pearson"


def _part(desk: Desk, state: EvalsetState) -> Part:
    asked = Slice(state.testset, state.lp)
    with desk.opened() as warehouse:
        measure = parse_measure(OF_SEGMENTS)
        try:
            found = agreement(warehouse, asked, measure, desk.options)
        except QuestionError:
            measure = parse_measure(_OF_SYSTEMS)
            found = agreement(warehouse, asked, measure, desk.options)
    chart = correlation_matrix(found.frame, clustered(found), str(measure), found.signature)
    return Part(
        f"{state.testset} {state.lp}",
        (figure(chart, is_folded=len(found.frame) > MOST_NAMES),),
        notes=found.notes,
        signatures=tuple(found.signature.splitlines()),
    )


SECTION = Section(
    "correlations",
    "Correlations",
    "Which metrics are alike: correlations over the annotated (system, segment) scores, alike metrics side by side; "
    "over systems where there are no scores of segments.",
    partial(detailed_jobs, "correlations", _part),
)
