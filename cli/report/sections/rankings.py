"""Rankings with intervals and clusters of the evaluation sets in detail: a chart, and a table with a row a metric."""

from collections.abc import Sequence
from functools import partial

import polars as pl

from cli.report.content import Grid, Part, figure, grid
from cli.report.desk import SYSTEM_MEASURE, Desk
from cli.report.making import Job, Section, detailed_jobs
from metaeval.charts.ranking import ranking_dots
from queries.longitudinal import EvalsetState
from warehouse import QuestionError

_COLUMNS = {
    "rank": "rank",
    "rank_low": "rank from",
    "rank_high": "rank to",
    "value": "",
    "low": "95% low",
    "high": "95% high",
    "cluster": "cluster",
    "epsilon": "ε",
    "n_systems": "systems",
    "n_segments": "segments",
}


def _jobs(desk: Desk) -> Sequence[Job]:
    if not desk.humans:
        return [Job("ranking", "No ranking", (), (), partial(_nothing, desk), is_kept=False)]
    return detailed_jobs("ranking", _detailed, desk)


def _nothing(desk: Desk) -> Part:
    raise QuestionError(desk.reason)


def _detailed(desk: Desk, state: EvalsetState) -> Part:
    found = desk.ranked(state)
    heading = f"{state.testset} {state.lp}"
    return Part(
        heading,
        (figure(ranking_dots(found.frame, found.signature, found.lines, is_crossed=False)),),
        (side_by_side(f"Ranking of metrics, {heading}", found.frame),),
        found.notes,
        tuple(found.signature.splitlines()),
        measures=tuple(found.frame["measure"].unique(maintain_order=True)),
    )


def side_by_side(title: str, frame: pl.DataFrame) -> Grid:
    """A ranking with a row a metric and the columns of all measures beside each other.

    Columns without a value are not shown; numbers that all rows share stand in the title.
    """
    measures = frame["measure"].unique(maintain_order=True).to_list()
    table, headings = frame.select("metric").unique(maintain_order=True), {"metric": "metric"}
    for measure in measures:
        own = frame.filter(measure=measure)
        for name, heading in _COLUMNS.items():
            if name not in own.columns or own[name].count() == 0:
                continue
            if name.startswith("n_") and frame[name].n_unique() == 1:
                said = f"{own[name][0]} {heading}"
                title += f", {said}" if said not in title else ""
                continue
            key = f"{measure} {heading}".strip()
            headings[key] = key
            table = table.join(own.select("metric", pl.col(name).alias(key)), on="metric", how="left")
    return grid(title, table, headings, is_open=False)


def _limits(desk: Desk) -> Sequence[str]:
    if not desk.others:
        return ()
    n = len(desk.others)
    return (f"{n} more {'is' if n == 1 else 'are'} in the overview alone; --details N draws more.",)


SECTION = Section(
    "rankings",
    "Rankings",
    "Values with 95% intervals, ranks with 95% ranges; metrics in the same significance cluster cannot be told apart. "
    f"Where humans scored systems alone, the measure is {SYSTEM_MEASURE}.",
    _jobs,
    _limits,
)
