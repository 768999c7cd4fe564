"""What the warehouse holds, and which evaluation sets the report shows how."""

from collections.abc import Sequence
from functools import partial

import polars as pl

from cli.report.content import Part, grid
from cli.report.desk import Desk
from cli.report.making import Job, Section
from metaeval.ranking import named
from queries.listing import listing
from queries.longitudinal import EvalsetState
from warehouse.wording import counted

_TESTSETS = {
    "testset": "test set",
    "year": "year",
    "description": "description",
    "n_lps": "language pairs",
    "n_metrics": "metrics",
    "n_humans": "human scores",
    "n_scores": "segment scores",
}
_EVALSETS = {
    "testset": "test set",
    "lp": "language pair",
    "shown": "in this report",
    "standard_human_seg": "official human score (segments)",
    "standard_human_sys": "official human score (systems)",
    "loaded_humans_seg": "loaded (segments)",
    "loaded_humans_sys": "loaded (systems)",
    "n_segments": "segments",
    "n_systems": "systems",
    "n_metrics": "metrics",
}


def _jobs(desk: Desk) -> Sequence[Job]:
    return [Job("overview", "The warehouse", (), (), partial(_part, desk), is_kept=False)]


def _part(desk: Desk) -> Part:
    with desk.opened() as warehouse:
        testsets, evalsets = listing(warehouse, "testsets"), listing(warehouse, "lps")
    shown = {(one.testset, one.lp): _shown(desk, one) for one in desk.states}
    names = list(zip(evalsets["testset"].to_list(), evalsets["lp"].to_list(), strict=True))
    evalsets = evalsets.with_columns(shown=pl.Series([shown.get(name, "no") for name in names], dtype=pl.String))
    evalsets = evalsets.filter(pl.col("shown") != "no")
    covered = {one.testset for one in desk.states}
    notes = [
        f"{desk.database.name}: {counted(testsets.height, 'test set')}, {counted(len(desk.every), 'evaluation set')}."
    ]
    if len(desk.states) < len(desk.every):
        notes.append(f"This report is on {len(desk.states)} of them, of {', '.join(sorted(covered))}.")
    if desk.reason:
        notes.append(f"Nothing can be ranked: {desk.reason}.")
    notes += unranked(desk.states, desk.humans)
    return Part(
        "The warehouse",
        grids=(
            grid("Test sets in the warehouse", testsets, _TESTSETS),
            grid("Evaluation sets of this report", evalsets, _EVALSETS),
        ),
        notes=tuple(notes),
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


SECTION = Section("overview", "Overview", "What the warehouse holds.", _jobs, _limits)
