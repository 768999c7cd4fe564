"""The metrics of the simulated task: how each one sees quality."""

from dataclasses import dataclass

BIAS_SHARE = 0.3
"""Spread of a metric's liking for systems over that of their strengths, at a signal-to-noise ratio of 1."""


@dataclass(frozen=True)
class MetricDesign:
    """How a metric family enters: its kind, the year's signal-to-noise ratios, its scale and its steps.

    base_metric: `{yy}` stands for the year's two digits. kind: string | neural | quantised | sentinel |
        constant | random. references: which it compares with, `src` for none; others than refA only where the
        language pair has them. ratios: one for each of `YEARS`; None: not there yet. scale: its
        ends. step: of a quantised one, 0 for none. bias: how much more than others it likes some systems.
    """

    base_metric: str
    family: str
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
    _Design("simBLEU", "simBLEU", "string", "baseline", _REFS, (0.42,) * 4, _PERCENT, 0, 1.3, True),
    _Design("simchrF", "simchrF", "string", "baseline", _REFS, (0.52,) * 4, _PERCENT, 0, 1.2, True),
    _Design("simTER", "simTER", "string", "contrastive", _REF, (0.34,) * 4, (-100, 0), 0, 1.3),
    _Design("Embermatch", "Embermatch", "neural", "baseline", _REF, (0.64,) * 4),
    _Design("Oriole", "Oriole", "neural", "baseline", _REF, (0.95,) * 4, (-1.5, 1.5)),
    _Design("Kestrel-{yy}", "Kestrel", "neural", "primary", _REFS, (0.80, 1.15, 1.55, 2.30)),
    _Design("Kestrel-{yy}-QE", "Kestrel-QE", "neural", "primary", _SRC, (0.58, 0.80, 1.10, 1.60)),
    _Design("Marlin-{yy}", "Marlin", "neural", "primary", _REF, (0.72, 1.05, 1.75, 2.70), _PENALTY),
    _Design("Marlin-XL-{yy}", "Marlin-XL", "neural", "contrastive", _SRC, (None, 1.35, 2.0, 3.2), _PENALTY),
    _Design("Tally-errors", "Tally", "quantised", "primary", _SRC, (None, None, 1.3, 1.4), _PENALTY, 1),
    _Design("Rubric-100", "Rubric-100", "quantised", "primary", _SRC, (0.66, 0.72, 0.86, 1.20), _PERCENT, 5),
    _Design("Rubric-5", "Rubric-5", "quantised", "contrastive", _SRC, (0.48,) * 4, (1, 5), 1),
    _Design("Onlooker", "Onlooker", "sentinel", "baseline", _SRC, (0.0,) * 4),
    _Design("Steady", "Steady", "constant", "contrastive", _SRC, (0.0,) * 4),
    _Design("Dice", "Dice", "random", "baseline", _SRC, (0.0,) * 4),
)
"""Over the years string-like ones and Oriole stay as they are; Kestrel, Marlin and Rubric-100 get better."""
