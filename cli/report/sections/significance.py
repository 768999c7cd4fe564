"""Metric against metric: matrices of p-values."""

from functools import partial

from cli.report.content import MOST_NAMES, Part, figure, on_page
from cli.report.desk import Desk
from cli.report.making import Section, detailed_jobs
from metaeval.charts.significance import significance_matrix
from metaeval.significance.options import pairs_that_differ
from queries.longitudinal import EvalsetState
from warehouse import QuestionError
from warehouse.wording import counted


def _part(desk: Desk, state: EvalsetState) -> Part:
    found = desk.ranked(state).comparisons
    if not found:
        raise QuestionError("fewer than two metrics, or no test applies")
    signatures = tuple(dict.fromkeys(one.signature for one in found))
    counts = [
        f"{one.measure}: {pairs_that_differ(one.n_significant, 'metrics')} (p ≤ {one.alpha:g}), "
        f"{counted(one.n_clusters, 'cluster')}"
        for one in found
    ]
    return Part(
        f"{state.testset} {state.lp}",
        tuple(figure(significance_matrix(one), is_folded=len(one.metrics) > MOST_NAMES) for one in found),
        notes=tuple(f"{one.measure}: {on_page(note)}" for one in found for note in (one.generalises, *one.notes[1:])),
        signatures=tuple(line for one in signatures for line in one.splitlines()),
        lead="; ".join(counts) + ".",
        measures=tuple(one.measure for one in found),
    )


SECTION = Section(
    "significance",
    "Significance",
    "Is a metric better than another, or by chance? p-values of every pair of metrics, best metric first.",
    partial(detailed_jobs, "significance", _part),
)
