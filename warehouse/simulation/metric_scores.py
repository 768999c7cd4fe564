"""Scores of metrics: hidden quality through noise, liking and a scale."""

import numpy as np

from warehouse.export.mtme import ScoreTable
from warehouse.simulation.designs import BIAS_SHARE, METRIC_DESIGNS, MetricDesign
from warehouse.simulation.evalset import SimulatedMetric
from warehouse.simulation.levels import score_table
from warehouse.simulation.plan import CELL_SD, HUMAN_REFERENCE, OUTLIER, YEARS, Flags, Floats, Plan


def metric_scores(rng: np.random.Generator, plan: Plan) -> list[tuple[SimulatedMetric, ScoreTable]]:
    """Every metric of the year, one variant for each reference that it compares with."""
    drawn = []
    for design in METRIC_DESIGNS:
        ratio = design.ratios[YEARS.index(plan.year)]
        if ratio is None:
            continue
        for reference in design.references:
            if reference in ("src", *plan.references):
                fact = _metric_fact(design, plan.year, reference, ratio)
                drawn.append((fact, _metric_table(rng, plan, design, fact)))
    return drawn


def _metric_fact(design: MetricDesign, year: int, reference: str, ratio: float) -> SimulatedMetric:
    base = design.base_metric.format(yy=year % 100)
    return SimulatedMetric(
        name=f"{base}-{reference}",
        base_metric=base,
        reference=reference,
        family=design.family,
        version=str(year % 100) if "{yy}" in design.base_metric else None,
        kind=design.kind,
        # Another reference than the standard one is no entry of its own.
        status=design.status if reference in ("refA", "src") else "contrastive",
        signal_to_noise=ratio,
    )


def _metric_table(rng: np.random.Generator, plan: Plan, design: MetricDesign, fact: SimulatedMetric) -> ScoreTable:
    seg = _on_scale(_perceived(rng, plan, design, fact.signal_to_noise), design)
    rows = [row for row, system in enumerate(plan.systems) if system != fact.reference]
    return score_table(plan, seg, weights=plan.n_words if design.is_corpus_score else None, rows=rows)


def _perceived(rng: np.random.Generator, plan: Plan, design: MetricDesign, ratio: float) -> Floats:
    """Quality as the metric sees it: (n_systems, n_segments), about standard normal."""
    shape = plan.quality.shape
    if design.kind == "constant":
        return np.zeros(shape)
    if design.kind == "random":
        return rng.normal(0, 1, shape)
    if design.kind == "sentinel":
        return np.broadcast_to(_standardised(rng.normal(-plan.difficulty, 0.5)), shape).copy()
    signal_sd = float(np.hypot(CELL_SD, plan.strengths[_is_typical(plan)].std()))
    noise = rng.normal(0, signal_sd / ratio, shape)
    noise -= noise.mean(axis=1, keepdims=True)
    bias = _liking(rng, plan) * design.bias * BIAS_SHARE / ratio
    return _standardised(plan.quality + bias[:, None] + noise)


def _is_typical(plan: Plan) -> Flags:
    """(n_systems,): neither an outlier nor a human reference."""
    return np.array([system not in (OUTLIER, HUMAN_REFERENCE) for system in plan.systems])


def _liking(rng: np.random.Generator, plan: Plan) -> Floats:
    """(n_systems,) with the spread of the strengths, uncorrelated with them.

    A plain draw of 12 numbers correlates with quality by luck, by up to ±0.5: then the ranking of metrics by
    their system scores would be a matter of this luck and not of the signal-to-noise ratio.
    """
    is_typical = _is_typical(plan)
    typical = plan.strengths[is_typical]
    drawn = rng.normal(0, 1, len(typical))
    centred = typical - typical.mean()
    drawn -= drawn.mean() + centred * (drawn @ centred) / (centred @ centred)
    liking = np.zeros(len(plan.strengths))
    liking[is_typical] = drawn * typical.std() / drawn.std()
    return liking


def _standardised(values: Floats) -> Floats:
    return np.asarray((values - values.mean()) / values.std())


def _on_scale(perceived: Floats, design: MetricDesign) -> Floats:
    """The metric's own scale from low to high: an S-curve, in steps where it is quantised.

    >>> _on_scale(np.array([-9.0, 0.0, 9.0]), METRIC_DESIGNS[11]).tolist()  # Rubric-5
    [1.0, 3.0, 5.0]
    """
    low, high = design.scale
    if design.kind == "constant":
        return np.full(perceived.shape, high, dtype=np.float64)
    share = 1 / (1 + np.exp(-perceived))
    if design.step:
        n_steps = round((high - low) / design.step)
        # The S-curve leaves out the ends of a scale, which people and models use freely.
        share = np.clip(0.5 + 1.4 * (share - 0.5), 0, 1)
        return low + design.step * np.round(n_steps * share)
    return np.round(low + (high - low) * share, 7)
