"""Metric scores: hidden quality with noise, bias and a scale; and the error spans that some metrics predict."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from warehouse.export.mtme import Errors, RatingTable, ScoreTable
from warehouse.simulation.evalset import SimulatedMetric
from warehouse.simulation.plan import CELL_SD, HUMAN_REFERENCE, OUTLIER, YEARS, Flags, Floats, Plan, Texts, score_table

BIAS_SHARE = 0.3
"""Spread of a metric's liking for systems over that of their strengths, at a signal-to-noise ratio of 1."""


@dataclass(frozen=True)
class MetricDesign:
    """Design of a metric family: its kind, the years' signal-to-noise ratios, its scale and its steps.

    base_metric: `{yy}` stands for the year's two digits. kind: string | neural | quantised | sentinel |
        constant | random. references: used by the metric, `src` for none; other references than refA only if the
        language pair has them. ratios: one for each of `YEARS`; None: not yet submitted. scale: its
        ends. step: of a quantised metric, 0 for none. bias: size of its preference for some systems.
    """

    base_metric: str
    kind: str
    status: str
    references: tuple[str, ...]
    ratios: tuple[float | None, float | None, float | None, float | None]
    scale: tuple[float, float] = (0, 1)
    step: float = 0
    bias: float = 1
    is_corpus_score: bool = False


_REF, _REFS, _SRC = ("refA",), ("refA", "refB"), ("src",)
_PERCENT, _PENALTY = (0, 100), (-25, 0)
_Design = MetricDesign
METRIC_DESIGNS = (
    _Design("simBLEU", "string", "baseline", _REFS, (0.42,) * 4, _PERCENT, 0, 1.3, True),
    _Design("simchrF", "string", "baseline", _REFS, (0.52,) * 4, _PERCENT, 0, 1.2, True),
    _Design("simTER", "string", "contrastive", _REF, (0.34,) * 4, (-100, 0), 0, 1.3),
    _Design("Embermatch", "neural", "baseline", _REF, (0.64,) * 4),
    _Design("Oriole", "neural", "baseline", _REF, (0.95,) * 4, (-1.5, 1.5)),
    _Design("Kestrel-{yy}", "neural", "primary", _REFS, (0.80, 1.15, 1.55, 2.30)),
    _Design("Kestrel-{yy}-QE", "neural", "primary", _SRC, (0.58, 0.80, 1.10, 1.60)),
    _Design("Marlin-{yy}", "neural", "primary", _REF, (0.72, 1.05, 1.75, 2.70), _PENALTY),
    _Design("Marlin-XL-{yy}", "neural", "contrastive", _SRC, (None, 1.35, 2.0, 3.2), _PENALTY),
    _Design("Tally-errors", "quantised", "primary", _SRC, (None, None, 1.3, 1.4), _PENALTY, 1),
    _Design("Rubric-100", "quantised", "primary", _SRC, (0.66, 0.72, 0.86, 1.20), _PERCENT, 5),
    _Design("Rubric-5", "quantised", "contrastive", _SRC, (0.48,) * 4, (1, 5), 1),
    _Design("Onlooker", "sentinel", "baseline", _SRC, (0.0,) * 4),
    _Design("Steady", "constant", "contrastive", _SRC, (0.0,) * 4),
    _Design("Dice", "random", "baseline", _SRC, (0.0,) * 4),
)
"""Over the years string-like ones and Oriole stay as they are; Kestrel, Marlin and Rubric-100 get better."""


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

    12 random numbers correlate with quality by chance, by up to ±0.5. Then chance, not the signal-to-noise ratio, would
    decide the ranking of metrics by their system scores.
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
    """Scores on the metric's own scale from low to high: an S-curve, in steps if quantised.

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


PREDICTING: Mapping[str, tuple[float, float, float]] = {
    "Kestrel-24-refA": (0.6, 0.2, 0.25),
    "Tally-errors-src": (0.4, 0.35, 0.5),
}
"""Share of marked errors found, of those with the other severity, and further spans predicted in an output."""


def predictions(
    rng: np.random.Generator, marked: Mapping[str, RatingTable], texts: Texts, metrics: Mapping[str, ScoreTable]
) -> dict[str, RatingTable]:
    """The errors predicted by metrics with error spans, by full name: for every output, including unjudged outputs."""
    if not marked:
        return {}
    (gold,) = marked.values()
    return {
        name: RatingTable(
            {
                system: [
                    _predicted(rng, text, gold.errors[system][column] or (), *PREDICTING[name])
                    for column, text in enumerate(texts.outputs[system])
                ]
                for system in metrics[name].systems
            }
        )
        for name in sorted(PREDICTING.keys() & metrics.keys())
    }


def _predicted(
    rng: np.random.Generator, text: str, gold: Errors, share_found: float, share_confused: float, n_further: float
) -> Errors:
    found: list[dict[str, object]] = []
    for error in gold:
        if rng.random() < share_found:
            is_confused = rng.random() < share_confused
            severity = (
                {"major": "minor", "minor": "major"}[str(error["severity"])] if is_confused else error["severity"]
            )
            found.append({"start": error["start"], "end": error["end"], "severity": severity})
    words = text.split(" ")
    starts = np.cumsum([0, *(len(word) + 1 for word in words[:-1])]).tolist()
    for at in rng.integers(0, len(words), rng.poisson(n_further)).tolist():
        severity = "major" if rng.random() < 0.3 else "minor"
        found.append({"start": starts[at], "end": starts[at] + len(words[at]), "severity": severity})
    return found
