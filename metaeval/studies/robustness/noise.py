"""Noise injected into a metric: how each measure falls as the noise rises."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.arrays.scales import KINDS, noisy_scores
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options
from metaeval.results.answer import Result, fixed, table_notes, table_parts
from metaeval.results.evaluation import evaluate, lines_on
from metaeval.results.inputs import Inputs, check_judged
from metaeval.results.signature import line, option_parts
from metaeval.studies.robustness.settings import NoiseSettings
from queries.blocks import Block
from queries.selection import MetricChoice
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.progress import Progress


def with_metrics(block: Block, names: Sequence[str], scores: Floats) -> Block:
    """The block with other metrics. scores: (M, N, S), for every judged (system, segment) pair."""
    choices = tuple(MetricChoice.made_up(name) for name in names)
    return replace(block, metrics=choices, scores=scores, submitted=np.full(scores.shape[:2], np.nan))


def values_of(block: Block, measure: Measure, options: Options) -> Floats:
    """(M,) the measure of each metric of such a block; NaN where not defined. System scores are means over what is
    judged.

    Raises QuestionError: other system scores are requested.
    """
    if options.system_score not in (None, "judged-mean"):
        raise QuestionError("noise is added to segment scores, so system scores are means over annotated segments")
    found = evaluate(measure, block, replace(options, system_score="judged-mean"))
    if len(found.metrics) != len(block.metrics):
        raise ValueError("a score is missing where one is judged")
    return found.value


DEFAULT_MEASURES = ("pdp", "pearson(by=none)", "pearson(by=item)", "acc_eq(by=item)")
HUMAN = "human score itself"
RANGE = (0.05, 0.95)
_COLUMNS = ("metric", "kind", "strength", "measure", "value", "low", "high", "sd", "lost", "n_undefined", "n_draws")


def noise(
    warehouse: Warehouse,
    asked: Slice,
    metric: str | None,
    measures: Sequence[Measure],
    options: Options,
    what: NoiseSettings,
    progress: Progress | None = None,
) -> Result:
    """Values of measures as noise in a metric rises, each the mean over draws with its spread.

    metric: a metric of the slice; None for the human score itself, which is a perfect metric without noise. All
    measures see the same draws. Columns: metric, kind (independent: noise on each score; segment, system: one bias for
    all its scores; outliers), strength (standard deviations of the metric, for outliers a share), measure, value (mean
    over draws), low, high (5 and 95% of the draws), sd, lost (value without noise minus value), n_undefined (draws
    without a value, excluded), n_draws, signature. Rows by kind, measure, strength.
    Raises QuestionError: see `select`; a metric without scores for all that is judged.
    Source: DiIanni and Deutsch 2025.
    """
    block, name = _block(warehouse, asked, metric, options)
    scores = block.scores[0] if metric is not None else block.human
    kinds = [one for one in KINDS if one in what.kinds]
    steps = [(kind, strength) for kind in kinds for strength in what.levels(kind)]
    rows: list[dict[str, Any]] = []
    for number, (kind, strength) in enumerate(steps):
        if progress is not None:
            progress(f"{kind} noise of {strength:g}", number, len(steps))
        drawn = noisy_scores(scores, block.judged, kind, strength, seed=what.seed, n_draws=what.simulations)
        # All draws of no noise are the same.
        copies = drawn[:1] if strength == 0 else drawn
        made = with_metrics(block, [f"draw {place}" for place in range(len(copies))], copies)
        for measure in measures:
            values = values_of(made, measure, options)
            rows.append(
                {"metric": name, "kind": kind, "strength": strength, "measure": str(measure), **_spread(values)}
            )
    parts = table_parts(
        ("noise", name),
        block,
        ("measures", ",".join(map(str, measures))),
        ("simulations", what.simulations),
        ("seed", what.seed),
        ("kinds", _changed(kinds, KINDS)),
        ("strengths", _changed(what.strengths, NoiseSettings.strengths)),
        ("shares", _changed(what.shares, NoiseSettings.shares)),
        *option_parts(options),
        n_metrics=1,
    )
    frame = _frame(rows, [str(measure) for measure in measures], what)
    notes = (
        "strength: standard deviations of the metric's scores; outliers: share of scores set to 10 standard deviations "
        "from their mean",
        "system scores are means over annotated segments",
        *lines_on(measures, block, options),
        *table_notes(block, {}),
    )
    return Result(frame.with_columns(signature=pl.lit(line(parts))), parts, notes)


def _changed(given: Sequence[object], default: Sequence[object]) -> str | None:
    return None if tuple(given) == tuple(default) else ",".join(map(str, given))


def _block(warehouse: Warehouse, asked: Slice, metric: str | None, options: Options) -> tuple[Block, str]:
    """The block of segment scores with the one metric, or none; and what the metric is called."""
    if metric is None:
        block = Inputs(warehouse, asked, options.round_human).of_level("seg")
        check_judged(block)
        return block.take(metrics=[]), HUMAN
    block = Inputs(warehouse, replace(asked, metrics=(metric,)), options.round_human).judged_segments()
    if len(block.metrics) > 1:
        raise QuestionError(f"{metric!r} names several metrics: {', '.join(one.name for one in block.metrics)}")
    return block, block.metrics[0].name


def _spread(values: Floats) -> dict[str, Any]:
    there = values[~np.isnan(values)]
    found = {"n_undefined": len(values) - len(there), "n_draws": len(values)}
    if not there.size:
        return {"value": None, "low": None, "high": None, "sd": None, **found}
    low, high = np.quantile(there, RANGE)
    sd = float(there.std(ddof=1)) if there.size > 1 else 0.0
    return {"value": float(there.mean()), "low": float(low), "high": float(high), "sd": sd, **found}


def _frame(rows: Sequence[dict[str, Any]], measures: Sequence[str], what: NoiseSettings) -> pl.DataFrame:
    schema: dict[str, Any] = dict.fromkeys(_COLUMNS, pl.Float64)
    schema |= dict.fromkeys(("metric", "kind", "measure"), pl.String) | dict.fromkeys(
        ("n_undefined", "n_draws"), pl.Int64
    )
    clean = pl.col("value").filter(pl.col("strength") == 0).first().over("kind", "measure")
    frame = pl.DataFrame([{**row, "lost": None} for row in rows], schema=schema, orient="row")
    order: dict[str, list[str]] = {"kind": [*dict.fromkeys(what.kinds)], "measure": [*dict.fromkeys(measures)]}
    places = [
        pl.col(name).replace_strict({one: place for place, one in enumerate(known)}, return_dtype=pl.Int64)
        for name, known in order.items()
    ]
    return frame.with_columns(lost=clean - pl.col("value")).sort(*places, "strength").select(_COLUMNS)


def reading(frame: pl.DataFrame) -> pl.DataFrame:
    """A line for each kind and strength, a column for each measure: value and range."""
    cell = pl.format("{} [{}, {}]", *(fixed(name, 3) for name in ("value", "low", "high")))
    shown = pl.when(pl.col("value").is_null()).then(pl.lit("-")).when(pl.col("strength") == 0).then(fixed("value", 3))
    return frame.with_columns(cell=shown.otherwise(cell)).pivot(
        on="measure", index=["kind", "strength"], values="cell", maintain_order=True
    )
