"""Segments, annotators or a metric? Judgements needed to compare two systems, from variance components."""

import math
from collections.abc import Sequence
from dataclasses import replace
from glob import escape
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.resampling.required_size import Z, scaled
from metaeval.results.answer import Result
from metaeval.results.inputs import where
from metaeval.results.signature import slice_parts, stamped
from metaeval.studies.people.assisted import annotated_sample
from metaeval.studies.people.ceilings import judged_by
from metaeval.studies.people.variance import difference_components
from metaeval.studies.planning.plans import CHANCE, FEWEST, members_of, two_needed, unit_of
from metaeval.studies.planning.settings import PlanSettings
from queries.longitudinal import human_levels
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.wording import counted


def designs(
    warehouse: Warehouse,
    asked: Slice,
    systems: tuple[str, str],
    n_annotators: int | None,
    metrics: Sequence[str],
    what: PlanSettings,
) -> Result:
    """Segments and judgements per system needed to compare two systems, by number of annotators per output.

    Columns: first (the better system), second, n_annotators (null: as many as the human score has), n_segments,
    data_low, data_high (its 95% interval, as in `required_size`), n_judgements (per system), with metrics also saved,
    n_segments_assisted and n_judgements_assisted (with the metrics' help); difference, error (standard error of the
    difference with n_loaded segments), n_loaded.
    By the normal approximation: n = (z of 1 - alpha / 2 + z of power)² variance / difference². The variance of the
    difference on a segment is 2 (system:segment + residual / annotators), as in `annotators` (view precision), or the
    observed one without n_annotators. If documents are the unit, it is multiplied by their design effect.
    Raises QuestionError: see `annotated_sample`; not two systems; no difference; no variance components.
    """
    from scipy.stats import norm

    within = replace(asked, systems=tuple(map(escape, systems)))
    sample = annotated_sample(warehouse, within, metrics, what.seed, None)
    block = sample.block
    if len(block.systems) != 2:
        raise two_needed("systems", systems, block.selection.systems)
    human, scores = block.human[0] - block.human[1], sample.scores[:, 0] - sample.scores[:, 1]
    both = ~np.isnan(human)
    if both.sum() < FEWEST["segment"]:
        raise QuestionError(f"a plan needs at least {FEWEST['segment']} segments annotated for both systems")
    gaps = human[both]
    difference = float(gaps.mean())
    if difference == 0:
        raise QuestionError(f"{' and '.join(block.systems)} have the same mean: no number of segments is enough")
    first, second = (0, 1) if difference > 0 else (1, 0)
    unit = unit_of(block.selection, both, what.unit)
    effect = _design_effect(human, [*members_of(block.selection, both, unit)])
    observed = float(gaps.var(ddof=1))
    saved = None
    if metrics:
        found = sample.mean(human, scores)
        if found is None:
            raise QuestionError(f"{sample.name} scored too few of the segments annotated for both systems")
        saved = found[0].saved
    n_loaded = int(both.sum())
    shown = abs(difference) / math.sqrt(observed * effect / n_loaded) if observed > 0 else math.inf
    factor = ((norm.ppf(1 - what.alpha / 2) + norm.ppf(what.power)) / difference) ** 2
    variances: list[tuple[int | None, float]] = [(None, observed)]
    official, name = str(block.selection.human), None
    if n_annotators is not None:
        name = judged_by(human_levels(warehouse, asked.testset, asked.lp), official)
        if name is None:
            raise QuestionError(f"no single judgements of {official} are loaded for {where(block.selection)}")
        specific, residual = difference_components(warehouse, asked.testset, asked.lp, name)
        variances = [(k, 2 * (specific + residual / k)) for k in range(1, n_annotators + 1)]
    rows = []
    for k, variance in variances:
        n = math.ceil(factor * variance * effect)
        row: dict[str, Any] = {"first": block.systems[first], "second": block.systems[second], "n_annotators": k}
        low, high = (n * scaled(shown, by) for by in (Z, -Z))
        row |= {"n_segments": n, "data_low": math.ceil(low), "data_high": None if math.isnan(high) else math.ceil(high)}
        row["n_judgements"] = n * (k or 1)
        if saved is not None:
            left = max(variance - max(saved, 0) * observed, 0.0) / variance
            m = math.ceil(factor * variance * left * effect)
            row |= {"saved": 1 - left, "n_segments_assisted": m, "n_judgements_assisted": m * (k or 1)}
        error = math.sqrt(variance * effect / n_loaded)
        row |= {"difference": abs(difference), "error": error, "n_loaded": n_loaded}
        rows.append(row)
    parts = stamped(
        ("plan", "design"),
        *(part for part in slice_parts(block.selection) if part[0] != "systems"),
        ("systems", ",".join(systems)),
        ("components", name),
        ("by", sample.name or None),
        ("unit", unit),
        ("alpha", what.alpha),
        ("power", what.power),
        ("test", "normal,two-sided"),
        ("n_segments", n_loaded),
        ("seed", what.seed if metrics else None),
    )
    notes = [
        "assumes that new segments are like the annotated ones"
        + (", and independent of each other" if unit == "segment" else ""),
        "data_low, data_high: 95% interval of n_segments, with the uncertainty of the observed difference (no value: "
        "unbounded)",
        f"error: standard error of the difference with {counted(n_loaded, 'segment')} (n_loaded)",
    ]
    if unit == "document":
        notes.append(
            f"segments of a document are alike: {effect:.2f} times as many as independent ones (design effect)"
        )
    if shown < CHANCE:
        notes.append(f"the observed difference is {shown:.2f} standard errors: it may well be chance")
    if name is not None and name != official:
        notes.append(f"variance components are those of the judgements of {name}")
    return Result(pl.DataFrame(rows, schema_overrides={"data_high": pl.Int64}), parts, tuple(notes), {"unit": unit})


def _design_effect(human: Floats, members: Sequence[np.ndarray]) -> float:
    """Variance of the mean by units divided by that by segments, at least 1."""
    kept = np.concatenate(members)
    residuals = human - human[kept].mean()
    totals = np.array([residuals[one].sum() for one in members])
    n = len(members)
    plain = (residuals[kept] ** 2).sum() * len(kept) / (len(kept) - 1)
    return max(1.0, float(n / (n - 1) * (totals**2).sum() / plain)) if plain > 0 and n > 1 else 1.0
