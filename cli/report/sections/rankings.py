"""Rankings with intervals and clusters: a chart and a table for evaluation sets in detail, one table for the rest."""

from collections.abc import Sequence
from functools import partial

import polars as pl

from cli.report.content import Part, figure, grid, message
from cli.report.desk import SYSTEM_MEASURE, Desk
from cli.report.making import Job, Section
from metaeval.charts.ranking import ranking_dots
from metaeval.ranking import named
from queries.longitudinal import EvalsetState
from warehouse import QuestionError
from warehouse.wording import counted

_COLUMNS = {
    "measure": "measure",
    "rank": "rank",
    "metric": "metric",
    "value": "value",
    "low": "95% low",
    "high": "95% high",
    "cluster": "cluster",
    "epsilon": "ε",
    "n_systems": "systems",
    "n_segments": "segments",
}
_OTHERS = "All other evaluation sets"
_BRIEF = {"testset": "test set", "lp": "language pair", "human": "human score", **_COLUMNS}


def _jobs(desk: Desk) -> Sequence[Job]:
    jobs = [
        Job("ranking", f"{one.testset} {one.lp}", (one,), desk.computing, partial(_detailed, desk, one))
        for one in desk.detailed
    ]
    if desk.others:
        jobs.append(Job("rankings", _OTHERS, desk.others, desk.computing, partial(_others, desk)))
    if not desk.humans:
        jobs.append(Job("ranking", "No ranking", (), (), partial(_nothing, desk), is_kept=False))
    return jobs


def _nothing(desk: Desk) -> Part:
    raise QuestionError(desk.reason)


def _detailed(desk: Desk, state: EvalsetState) -> Part:
    found = desk.ranked(state)
    signatures = tuple(found.signature.splitlines())
    heading = f"{state.testset} {state.lp}"
    return Part(
        heading,
        (figure(ranking_dots(found.frame, found.signature, found.lines)),),
        (grid(f"Ranking of metrics, {heading}", found.frame, _COLUMNS),),
        found.notes,
        signatures,
    )


def _others(desk: Desk) -> Part:
    """All other evaluation sets in one table."""
    frames: list[pl.DataFrame] = []
    signatures: list[str] = []
    lines: list[str] = []
    reasons: dict[str, list[tuple[str, str]]] = {}
    for place, state in enumerate(desk.others):
        desk.progress(f"ranking of {state.testset} {state.lp}", place, len(desk.others))
        try:
            found = desk.ranked(state)
        except QuestionError as error:
            reasons.setdefault(message(error), []).append((state.testset, state.lp))
            continue
        frames.append(found.frame)
        signatures += found.signature.splitlines()
        lines += found.lines
    if not frames:
        raise QuestionError("; ".join(reasons))
    return Part(
        _OTHERS,
        grids=(grid("Rankings of metrics", pl.concat(frames, how="diagonal"), _BRIEF),),
        notes=(*dict.fromkeys(lines), *(f"Not ranked: {named(of)}: {reason}." for reason, of in reasons.items())),
        signatures=tuple(signatures),
    )


def _limits(desk: Desk) -> Sequence[str]:
    if not desk.others:
        return ()
    sets = counted(len(desk.others), "evaluation set has a table", "evaluation sets share a table")
    return (f"{sets} without charts; --details N draws more.",)


SECTION = Section(
    "rankings",
    "Rankings",
    "Which metrics agree best with human scores: values with 95% intervals; metrics in the same significance cluster "
    f"cannot be told apart. Where humans scored systems alone, the measure is {SYSTEM_MEASURE}.",
    _jobs,
    _limits,
)
