"""Rankings: with intervals and clusters for the evaluation sets in detail, values alone for all others."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from cli.charts.ranking import ranking_dots
from cli.report.content import Part, figure, grid
from cli.report.desk import SYSTEM_MEASURE, Desk
from cli.report.making import Job, Section
from metaeval.measures import Measure
from metaeval.ranking import named, ranked, read
from queries.longitudinal import EvalsetState
from queries.selection import Slice
from warehouse import QuestionError

if TYPE_CHECKING:
    import polars as pl

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
_BRIEF = {"testset": "test set", "lp": "language pair", "human": "human score", **_COLUMNS}


def _jobs(desk: Desk) -> Sequence[Job]:
    jobs = [
        Job("ranking", f"{one.testset} {one.lp}", (one,), desk.computing, partial(_detailed, desk, one))
        for one in desk.detailed
    ]
    if desk.others:
        jobs.append(Job("rankings", "All other evaluation sets", desk.others, desk.computing, partial(_others, desk)))
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
        (figure(ranking_dots(found.frame, found.signature, found.lines), signatures),),
        (grid(f"Ranking of metrics, {heading}", found.frame, _COLUMNS),),
        found.notes,
        signatures,
    )


def _others(desk: Desk) -> Part:
    """All other evaluation sets in one table; those that the usual measures cannot rank by the measure of systems."""
    import polars as pl

    frames, signatures, notes = [], [], []
    lacking: dict[str, list[tuple[str, str]]] = {}
    for state in desk.others:
        try:
            frame, signature = _values(desk, state)
        except QuestionError as error:
            lacking.setdefault(str(error), []).append((state.testset, state.lp))
            continue
        frames.append(frame)
        signatures += signature
    notes += [f"Not ranked: {named(places)}: {reason}." for reason, places in lacking.items()]
    if not frames:
        raise QuestionError("; ".join(lacking))
    frame = pl.concat(frames, how="diagonal")
    shown = {name: title for name, title in _BRIEF.items() if name not in ("low", "high", "cluster")}
    return Part(
        "All other evaluation sets",
        grids=(grid("Rankings without intervals and clusters", frame, shown),),
        notes=tuple(notes),
        signatures=tuple(signatures),
    )


def _values(desk: Desk, state: EvalsetState) -> "tuple[pl.DataFrame, list[str]]":
    asked = Slice(state.testset, state.lp)
    choices = [desk.measures()]
    if not desk.settings.measures:
        choices.append([Measure.parse(SYSTEM_MEASURE)])
    reason = "no measure has a value"
    for measures in choices:
        try:
            with desk.opened() as warehouse:
                table = ranked(read(warehouse, asked, measures, desk.options))
        except QuestionError as error:
            reason = str(error)
            continue
        frame = table.frame.filter(table.frame["value"].is_not_null())
        if frame.height:
            there = set(frame["measure"].to_list())
            lines = [one for one in table.signature.splitlines() if any(f"measure:{m}|" in one for m in there)]
            return frame, lines
    raise QuestionError(reason)


def _limits(desk: Desk) -> Sequence[str]:
    if not desk.others:
        return ()
    return (f"{len(desk.others)} evaluation sets have one table together, without intervals and clusters.",)


SECTION = Section(
    "rankings",
    "Rankings",
    "Which metrics agree best with human scores: values with 95% intervals; metrics in the same significance cluster "
    f"cannot be told apart. Where humans scored systems alone, the measure is {SYSTEM_MEASURE}.",
    _jobs,
    _limits,
)
