"""How measures are computed, apart from the measure itself."""

from dataclasses import dataclass

from metaeval.choices import SystemScore


@dataclass(frozen=True)
class Options:
    """How to compute, apart from the measure.

    system_score: source of system scores; None = the measure's default (submitted; for spa the judged mean).
    seed: the random seed. raw_ties: compare system scores as raw floats instead of within a tolerance.
    round_human: decimals to which human scores are rounded first; None = as stored.
    """

    system_score: SystemScore | None = None
    seed: int = 0
    raw_ties: bool = False
    round_human: int | None = None
