"""Human scores: error counts, the errors themselves, and direct assessments."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from warehouse.export.mtme import Errors, RatingTable, ScoreTable
from warehouse.simulation.plan import (
    DA_YEARS,
    MQM_YEARS,
    RATING_YEARS,
    Flags,
    Floats,
    Integers,
    Plan,
    Texts,
    positions,
    score_table,
)


def human_scores(
    rng: np.random.Generator, plan: Plan, texts: Texts
) -> tuple[dict[str, ScoreTable], dict[str, RatingTable]]:
    """The year's human scores, and the ratings behind them, by name."""
    tables: dict[str, ScoreTable] = {}
    ratings: dict[str, RatingTable] = {}
    if plan.year in DA_YEARS:
        raw, z = _direct_assessment(rng, plan)
        tables |= {"wmt-raw": score_table(plan, raw), "wmt-z": score_table(plan, z)}
    if plan.year in MQM_YEARS:
        counts = _error_counts(rng, plan.quality)
        is_judged = _judged_scores(rng, plan, share=0.6 if plan.year == 2022 else 0.8, n_scores=9)
        penalty = sum(weight * counts[kind] for kind, weight in ERROR_WEIGHTS.items())
        tables["mqm"] = score_table(plan, np.where(is_judged, 0.0 - np.round(penalty, 1), np.nan))
        if plan.year in RATING_YEARS:
            ratings["mqm.merged"] = _ratings(rng, plan, texts, counts, is_judged)
    return tables, ratings


ERROR_WEIGHTS = MappingProxyType({"major": 5.0, "minor": 1.0, "punctuation": 0.1})
ERROR_RATES = MappingProxyType({"major": (-1.45, 1.1), "minor": (-1.0, 0.9), "punctuation": (-2.2, 0.4)})
"""Logarithm of the expected number of errors at quality 0, and how fast it falls with quality."""
MAX_ERRORS = 5
ERROR_CATEGORIES = MappingProxyType(
    {
        "major": ("accuracy/invented meaning", "accuracy/left out"),
        "minor": ("fluency/agreement", "style/stilted", "terminology/unusual"),
        "punctuation": ("fluency/punctuation",),
    }
)


def _error_counts(rng: np.random.Generator, quality: Floats) -> dict[str, Integers]:
    """Errors of each kind: (n_systems, n_segments), at most MAX_ERRORS."""
    return {
        kind: np.minimum(rng.poisson(np.exp(level - slope * quality)), MAX_ERRORS)
        for kind, (level, slope) in ERROR_RATES.items()
    }


def _judged_scores(rng: np.random.Generator, plan: Plan, share: float, n_scores: int) -> Flags:
    """Which scores exist: (n_systems, n_segments), those of about `share` of the documents, except for a few scores."""
    position = positions(plan.documents)
    is_left_out = rng.random(position.max() + 1) >= share
    is_left_out[rng.integers(len(is_left_out))] = True
    judged = np.broadcast_to(~is_left_out[position], plan.quality.shape).copy()
    segments = rng.choice(np.flatnonzero(judged[0]), n_scores, replace=False)
    judged[rng.integers(0, len(plan.systems), n_scores), segments] = False
    return judged


def _ratings(
    rng: np.random.Generator, plan: Plan, texts: Texts, counts: Mapping[str, Integers], is_judged: Flags
) -> RatingTable:
    """The errors behind the MQM score, each on a word of the output; one annotator per document."""
    annotators = rng.integers(1, 6, len(plan.documents))[positions(plan.documents)]
    errors: dict[str, list[Errors | None]] = {}
    raters: dict[str, list[str | None]] = {}
    for row, system in enumerate(plan.systems):
        errors[system] = [
            _errors(rng, text, {kind: int(number[row, column]) for kind, number in counts.items()})
            if is_judged[row, column]
            else None
            for column, text in enumerate(texts.outputs[system])
        ]
        raters[system] = [
            f"rater{annotator}" if judged else None
            for annotator, judged in zip(annotators.tolist(), is_judged[row].tolist(), strict=True)
        ]
    return RatingTable(errors, raters)


def _errors(rng: np.random.Generator, text: str, n_errors: Mapping[str, int]) -> Errors:
    kinds = [kind for kind, number in n_errors.items() for _ in range(number)]
    if not kinds:
        return []
    words = text.removesuffix(".").split(" ")
    starts = np.cumsum([0, *(len(word) + 1 for word in words[:-1])]).tolist()
    found = []
    for kind, index, choice in zip(
        kinds, rng.integers(0, len(words), len(kinds)).tolist(), rng.random(len(kinds)).tolist(), strict=True
    ):
        categories = ERROR_CATEGORIES[kind]
        found.append(
            {
                "start": starts[index],
                "end": starts[index] + len(words[index]),
                "category": categories[int(choice * len(categories))],
                "severity": "major" if kind == "major" else "minor",
                "score": ERROR_WEIGHTS[kind],
                "is_source_error": False,
            }
        )
    return found


def _direct_assessment(rng: np.random.Generator, plan: Plan) -> tuple[Floats, Floats]:
    """Raw (0 to 100) and z scores: (n_systems, n_segments), means of one to three annotators; NaN: none."""
    shape = (3, *plan.quality.shape)
    n_judgements = rng.choice(4, plan.quality.shape, p=[0.08, 0.52, 0.28, 0.12])
    n_judgements[:, rng.random(len(plan.documents)) < 0.05] = 0
    annotator = rng.integers(0, 20, shape)
    centre, spread = rng.normal(68, 9, 20)[annotator], rng.uniform(6, 14, 20)[annotator]
    raw = np.clip(np.round(centre + spread * (plan.quality + rng.normal(0, 1.1, shape))), 0, 100)
    z = np.empty(shape)
    for person in range(20):
        own = annotator == person
        z[own] = (raw[own] - raw[own].mean()) / raw[own].std()
    is_given = np.arange(3)[:, None, None] < n_judgements
    return _mean_given(raw, is_given), _mean_given(z, is_given)


def _mean_given(values: Floats, is_given: Flags) -> Floats:
    """Mean over the first axis without missing values; NaN if all are missing."""
    n_given = is_given.sum(axis=0)
    total = np.where(is_given, values, 0.0).sum(axis=0)
    mean = np.full(total.shape, np.nan)
    np.divide(total, n_given, out=mean, where=n_given > 0)
    return mean
