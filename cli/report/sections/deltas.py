"""Metric against humans: systems, differences of system pairs, segments; of the best metric and of an anchor."""

from collections.abc import Sequence

from cli.report.content import Figure, Part, figure, message
from cli.report.desk import Desk
from cli.report.making import Job, Section, detailed_jobs
from queries.longitudinal import EvalsetState
from warehouse import QuestionError


def _jobs(desk: Desk) -> Sequence[Job]:
    return detailed_jobs("deltas", _part, desk, desk.anchor) if desk.detailed else []


def _part(desk: Desk, state: EvalsetState, old: str) -> Part:
    best = str(desk.ranked(state).frame["metric"][0])
    figures: list[Figure] = []
    signatures, notes = [], []
    for metric in dict.fromkeys((best, old)):
        try:
            found = desk.ask("scatter", state, metric=metric)
        except QuestionError as error:
            if metric == best:
                raise
            notes.append(f"{metric}: {message(error)}")
            continue
        if found.signature in signatures:  # the best metric is the old one, under its full name
            continue
        figures.append(figure(found.chart()))
        signatures.append(found.signature)
        notes += found.found.notes
    return Part(
        f"{state.testset} {state.lp}", tuple(figures), notes=tuple(dict.fromkeys(notes)), signatures=tuple(signatures)
    )


SECTION = Section(
    "deltas",
    "Metric against humans",
    "The metric that leads the ranking, and an old one beside it: do their differences between two systems point where "
    "humans' differences do?",
    _jobs,
)
