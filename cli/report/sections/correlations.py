"""How metrics correlate with each other."""

from functools import partial

from cli.report.content import MOST_NAMES, Part, figure
from cli.report.desk import Desk
from cli.report.making import Section, detailed_jobs
from queries.longitudinal import EvalsetState
from warehouse import QuestionError


def _part(desk: Desk, state: EvalsetState) -> Part:
    try:
        found = desk.ask("correlations", state)
    except QuestionError:
        found = desk.ask("correlations", state, measure="pearson")
    return Part(
        f"{state.testset} {state.lp}",
        (figure(found.chart(), is_folded=len(found.frame) > MOST_NAMES),),
        notes=found.notes,
        signatures=tuple(found.signature.splitlines()),
        measures=(found.question.measure,),
    )


SECTION = Section(
    "correlations",
    "Correlations",
    "Which metrics are alike: correlations over the annotated (system, segment) scores, alike metrics side by side; "
    "over systems where there are no scores of segments.",
    partial(detailed_jobs, "correlations", _part),
)
