"""Who leads each test set, metrics by language pairs, and which evaluation sets the report shows how."""

from collections.abc import Sequence
from functools import partial

import polars as pl

from cli.report.content import Part, grid, message, wide_grids
from cli.report.desk import Desk
from cli.report.making import Job, Section
from metaeval.ranking import leaders, named
from queries.listing import listing, official_human
from queries.longitudinal import EvalsetState
from warehouse import QuestionError
from warehouse.wording import counted

_EVALSETS = {
    "testset": "test set",
    "lp": "language pair",
    "shown": "in this report",
    "standard_human_seg": "human score of segments",
    "standard_human_sys": "of systems",
    "n_segments": "segments",
    "n_systems": "systems",
    "n_metrics": "metrics",
}


def _jobs(desk: Desk) -> Sequence[Job]:
    testsets: dict[str, list[EvalsetState]] = {}
    for one in desk.humans:
        testsets.setdefault(one.testset, []).append(one)
    return [
        *(
            Job("summary", testset, tuple(states), desk.computing, partial(_summary, desk, testset, states))
            for testset, states in testsets.items()
        ),
        Job("overview", "Evaluation sets", (), (), partial(_part, desk), is_kept=False),
    ]


def _summary(desk: Desk, testset: str, states: Sequence[EvalsetState]) -> Part:
    """A headline, and a row a metric with a column a language pair."""
    frames: list[pl.DataFrame] = []
    signatures: list[str] = []
    reasons: dict[str, list[tuple[str, str]]] = {}
    for place, state in enumerate(states):
        desk.progress(f"ranking of {state.testset} {state.lp}", place, len(states))
        try:
            found = desk.ranked(state)
        except QuestionError as error:
            reasons.setdefault(message(error), []).append((state.testset, state.lp))
            continue
        frames.append(found.frame)
        signatures += found.signature.splitlines()
    if not frames:
        raise QuestionError("; ".join(reasons))
    frame = pl.concat(frames, how="diagonal")
    return Part(
        testset,
        grids=wide_grids(f"{testset}: metrics by language pairs; bold: best; in brackets: significance cluster", frame),
        notes=tuple(f"Not ranked: {named(of)}: {reason}." for reason, of in reasons.items()),
        signatures=tuple(signatures),
        lead=leaders(frame),
        measures=tuple(frame["measure"].unique(maintain_order=True)),
    )


def _part(desk: Desk) -> Part:
    with desk.opened() as warehouse:
        evalsets = listing(warehouse, "lps")
    shown = {(one.testset, one.lp): _shown(desk, one) for one in desk.states}
    names = list(zip(evalsets["testset"].to_list(), evalsets["lp"].to_list(), strict=True))
    shown_as = pl.Series("shown", [shown.get(name, "no") for name in names], dtype=pl.String)
    evalsets = evalsets.with_columns(official_human("seg"), official_human("sys"), shown_as)
    evalsets = evalsets.filter(pl.col("shown") != "no")
    notes = [
        f"This report is on {len(desk.states)} of {counted(len(desk.every), 'evaluation set')} in {desk.database.name}."
    ]
    if desk.reason:
        notes.append(f"Nothing can be ranked: {desk.reason}.")
    notes += unranked(desk.states, desk.humans)
    return Part(
        "Evaluation sets", grids=(grid("Evaluation sets of this report", evalsets, _EVALSETS),), notes=tuple(notes)
    )


def unranked(states: Sequence[EvalsetState], ranked: Sequence[EvalsetState]) -> list[str]:
    """A line for each reason why evaluation sets are not ranked."""
    found: dict[str, list[tuple[str, str]]] = {}
    for one in states:
        if one in ranked:
            continue
        if not one.n_humans:
            reason = "no human score is loaded"
        elif not one.n_metrics:
            reason = "no metric is loaded"
        else:
            reason = "the official human score is not loaded; `scorehouse rank --human NAME` ranks by another one"
        found.setdefault(reason, []).append((one.testset, one.lp))
    return [f"Not ranked: {named(of)}: {reason}." for reason, of in found.items()]


def _shown(desk: Desk, state: object) -> str:
    if state in desk.detailed:
        return "in detail"
    return "ranking" if state in desk.humans else "no ranking"


def _limits(desk: Desk) -> Sequence[str]:
    if not desk.others:
        return ()
    return (
        f"Charts of rankings, matrices, calibration curves and scatter plots are of {len(desk.detailed)} of the "
        f"{len(desk.humans)} evaluation sets with human scores (--details {desk.settings.details}: those whose "
        "segments humans scored first, then the latest, then those with most metrics): "
        f"{named([(one.testset, one.lp) for one in desk.detailed])}.",
    )


SECTION = Section(
    "overview",
    "Overview",
    "Which metrics agree best with human scores, by language pair. Metrics in the same significance cluster cannot be "
    "told apart, nor can all of different clusters.",
    _jobs,
    _limits,
    is_open=True,
)
