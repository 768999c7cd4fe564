"""Rankings of systems without human scores: AutoRank over the mean scores of several metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from metaeval import kernels
from metaeval.results.answer import Result
from metaeval.results.inputs import no_metric
from metaeval.results.run import Run
from metaeval.results.signature import restricted, stamped
from queries import catalog
from queries.counting import system_means
from queries.evalsets import has_standard_reference, language_pairs
from queries.reasons import some_missing
from queries.selection import select
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import IT
from warehouse.facts.issues import autoranks
from warehouse.facts.metrics import JUDGES_NOTHING, describe
from warehouse.wording import are, counted


def as_json(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """An object for each system of a frame as of `autorank`, its scores by metric."""
    own = ("testset", "lp", "system", "autorank", "z")
    return [
        {name: row[name] for name in own}
        | {"scores": {name: row[name] for name in frame.columns[6:] if row[name] is not None}}
        for row in frame.rows(named=True)
    ]


def autorank(run: Run, asked: Slice, *, low: float = 25.0, high: float = 100.0) -> Result:
    """Rank systems by metrics alone.

    asked: its language pairs may be several, joined by commas, or "all". Without metrics named, those that the task
        itself ranked with, else all of the slice. Systems are those that all named metrics scored.
    low, high: see `kernels.autorank`.
    Columns: testset, lp, rank (competition ranking), system, autorank (1 for the best, the number of systems for the
        worst), z, then for each metric its mean over segments (null if it was not included); best first.
    Raises QuestionError: unknown names; fewer than two systems or no metric that tells any apart, where one language
        pair is requested.
    """
    if not 0 <= low < high <= 100:
        raise QuestionError(f"percentiles {low:g} and {high:g}: expected 0 <= low < high <= 100")
    with run.opened() as warehouse:
        lps = language_pairs(warehouse, asked.testset, asked.lp)
    ranked: dict[str, Result] = {}
    skipped: list[QuestionError] = []
    work = partial(_rank_language_pair, asked=asked, low=low, high=high)
    for lp, computed in zip(lps, run.each(work, [(asked.testset, lp) for lp in lps], "ranks"), strict=True):
        if not isinstance(computed, QuestionError):
            ranked[lp] = computed
        elif len(lps) == 1:
            raise computed
        else:
            skipped.append(computed)
    if not ranked:
        raise QuestionError(f"no language pair of {asked.testset} can be ranked; the first: {skipped[0]}")
    frame = pl.concat([one.frame for one in ranked.values()], how="diagonal")
    parts = stamped(
        ("table", "autorank"),
        *restricted(asked, testset=asked.testset, lp=asked.lp, human=None),
        ("by", "+".join(frame.columns[6:])),
        ("percentiles", f"{low:g},{high:g}"),
        ("n_systems", _span([one.frame.height for one in ranked.values()])),
        ("n_segments", _span([one.facts["n_segments"] for one in ranked.values()])),
    )
    n_without = [len(one.facts["without_metrics"]) for one in ranked.values()]
    return Result(frame, parts, tuple(_notes(asked, ranked, skipped)), {"n_without": n_without})


def _span(values: Sequence[int]) -> str:
    return f"{min(values)}" if len(set(values)) == 1 else f"{min(values)}-{max(values)}"


def _notes(asked: Slice, ranked: Mapping[str, Result], skipped: Sequence[QuestionError]) -> list[str]:
    notes = []
    for what, fact in (
        ("systems that not all of the metrics scored", "without_systems"),
        ("metrics that score too many systems the same", "flat"),
        ("sentinels and random scores", "idle"),
        ("metrics without segment scores of all systems", "without_metrics"),
    ):
        if parts := [f"{', '.join(names)} ({lp})" for lp, one in ranked.items() if (names := one.facts[fact])]:
            notes.append(f"{what} are excluded: {'; '.join(parts)}")
    n_missing = {lp: n for lp, one in ranked.items() if (n := one.facts["n_missing"])}
    if n_missing:
        where = ", ".join(f"{lp} {n}" for lp, n in n_missing.items())
        n = sum(n_missing.values())
        notes.append(f"{counted(n, 'score')} {are(n)} missing, and means are of the others: {where}")
    if skipped:
        notes.append(f"{counted(len(skipped), 'language pair')} {are(len(skipped))} skipped; the first: {skipped[0]}")
    if not asked.metrics and (known := autoranks().get(asked.testset)) is not None:
        notes.append(f"the metrics are those of the task's own AutoRank: {known.source}")
    return notes


def _rank_language_pair(run: Run, testset: str, lp: str, *, asked: Slice, low: float, high: float) -> Result:
    """The rows of one language pair; facts: n_segments, n_missing, and the names of what is excluded, by reason."""
    with run.opened() as warehouse:
        return _ranked(warehouse, replace(asked, testset=testset, lp=lp), low, high)


def _ranked(warehouse: Warehouse, asked: Slice, low: float, high: float) -> Result:
    where = f"{asked.testset} {asked.lp}"
    known = autoranks().get(asked.testset)
    named = asked.metrics
    if not named and known is not None:
        named = known.of(asked.lp, has_standard_reference(warehouse, asked.testset, asked.lp))
    kept, without_systems = _systems(warehouse, asked, named) if named else (asked, [])
    selection = select(warehouse, kept, "seg", human="none")
    means = system_means(warehouse, selection).filter(pl.col("n_segments") > 0)
    systems = [choice.name for choice in selection.chosen_systems]
    scored = {name: len(rows) for (name,), rows in means.group_by("scorer")}
    idle = [
        one.name for one in selection.chosen_metrics if not named and describe(one.base_name).kind in JUDGES_NOTHING
    ]
    metrics = [
        one.name for one in selection.chosen_metrics if scored.get(one.name) == len(systems) and one.name not in idle
    ]
    if not metrics:
        n = len(systems)
        gaps = {
            one.name: one.segment_gap or some_missing(n - scored.get(one.name, 0)) for one in selection.chosen_metrics
        }
        raise no_metric(selection, gaps, "has segment scores of all systems")
    if len(systems) < 2:
        raise QuestionError(f"{counted(len(systems), 'system')} of {IT}: a ranking needs two", where=where)
    means = means.filter(pl.col("scorer").is_in(metrics)).sort("scorer", "system")
    scores = means["mean"].to_numpy().reshape(len(metrics), len(systems))  # names are sorted on both axes
    has_scale = np.ptp(np.percentile(scores, (low, high), axis=1), axis=0) > 0
    flat = [name for name, there in zip(metrics, has_scale.tolist(), strict=True) if not there]
    if len(flat) == len(metrics):
        raise QuestionError(f"{', '.join(flat)}: no scale on {IT}, too many systems have the same score", where=where)
    metrics, scores = [name for name in metrics if name not in flat], scores[has_scale]
    z, scaled_ranks = kernels.autorank(scores, low, high)
    frame = pl.DataFrame(
        {
            "testset": [asked.testset] * len(systems),
            "lp": [asked.lp] * len(systems),
            "rank": (1 + (z[:, np.newaxis] < z).sum(axis=1)).tolist(),
            "system": systems,
            "autorank": scaled_ranks,
            "z": z,
            **{name: scores[place] for place, name in enumerate(metrics)},
        }
    )
    excluded = {
        "flat": flat,
        "idle": idle,
        "without_metrics": [one.name for one in selection.chosen_metrics if one.name not in (*metrics, *flat, *idle)],
        "without_systems": without_systems,
    }
    counts = {"n_segments": len(selection.segments), "n_missing": int(means["n_missing"].sum())}
    return Result(frame.sort("rank", "system"), (), (), excluded | counts)


def _systems(warehouse: Warehouse, asked: Slice, named: Sequence[str]) -> tuple[Slice, list[str]]:
    """The slice of these metrics and of the systems that all of them scored; and the systems that this excludes."""
    wanted = select(warehouse, replace(asked, metrics=tuple(named)), "seg", human="none")
    metrics = {choice.name for choice in wanted.metrics if {choice.name, choice.base_name} & set(named)}
    coverage = catalog.ask(warehouse, "coverage", evalset=wanted.evalset_id).filter(
        (pl.col("kind") == "metric")
        & (pl.col("level") == "seg")
        & (pl.col("n_values") > 0)
        & pl.col("scorer").is_in(metrics)
    )
    candidates = [choice.name for choice in wanted.chosen_systems]
    scored = {str(name) for (name,), rows in coverage.group_by("system") if len(rows) == len(metrics)}
    kept = tuple(name for name in candidates if name in scored)
    if metrics and not kept:
        where = f"{asked.testset} {asked.lp}"
        raise QuestionError(f"no system of {IT} is scored by all of {', '.join(named)}", where=where)
    only = kept if metrics else asked.systems
    gone = [name for name in candidates if metrics and name not in scored]
    return replace(asked, metrics=tuple(named), systems=only), gone
