"""Sources of variance in judgements, and the precision that more segments or more annotators would give."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.agreement.variance_components import (
    RESIDUAL,
    VarianceComponents,
    error_of_difference,
    intraclass_correlations,
    variance_components,
)
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.arrays.grouping import numbered
from metaeval.results.answer import Result, or_none
from metaeval.results.signature import Parts, stamped
from metaeval.studies.people.judgements import People, load_people
from metaeval.studies.people.reliability import Judgements
from queries.annotations import judged_score
from queries.slices import BY_ANNOTATOR
from warehouse import QuestionError, Warehouse
from warehouse.wording import counted, option

# What annotators of one segment have in common over systems is an effect of their own on the segment: the same strict
# annotator lowers all outputs of it, which cancels out in a difference of systems.
_TERMS = ("system", "segment", "system:segment", "segment:rater")
_SEGMENTS = (25, 50, 100, 200, 300, 500, 1000)
_RATERS = (1, 2, 3)


def components(warehouse: Warehouse, testset: str, lp: str, human: str | None) -> Result:
    """Variance components of single judgements, by restricted maximum likelihood.

    One row per component: component, variance, standard_error, share (of the sum). If each output has the same number
    of annotators, notes and facts give intraclass correlations.
    Raises QuestionError: no annotators are known, or the design identifies no components.
    """
    people, found, parts = _fitted(warehouse, testset, lp, human)
    total = math.fsum(found.variances.values())
    rows = [
        (name, variance, or_none(found.standard_errors[name]), variance / total)
        for name, variance in found.variances.items()
    ]
    schema = {"component": pl.String, "variance": pl.Float64, "standard_error": pl.Float64, "share": pl.Float64}
    notes = [_CALLED[name] for name in found.variances if name in _CALLED]
    if n_dropped := len(people.n_each) - len(people.judged.values):
        notes.append(f"{counted(n_dropped, 'judgement')} of annotators without spread excluded: they have no z-score")
    facts: dict[str, Any] = {"components": found}
    if left := [name for name in _TERMS if name not in found.variances]:
        notes.append(f"this design cannot tell {' and '.join(left)} from the rest: outputs with one judgement each")
    ratings, is_crossed = _ratings(people)
    if ratings is not None:
        found_icc = intraclass_correlations(ratings)
        facts["icc"] = found_icc["1"]
        facts["icc_by_model"] = {model: icc for model, icc in found_icc.items() if model == "1" or is_crossed}
        for model, icc in facts["icc_by_model"].items():
            notes.append(
                f"ICC({model}): {icc.single:.3f} [{icc.single_low:.3f}, {icc.single_high:.3f}] for one annotator, "
                f"{icc.mean:.3f} [{icc.mean_low:.3f}, {icc.mean_high:.3f}] for the mean of {ratings.shape[1]}, over "
                f"{counted(len(ratings), 'output')}; {_MODELS[model]}"
            )
    return Result(pl.DataFrame(rows, schema=schema, orient="row"), parts, tuple(notes), facts)


_MODELS = {
    "1": "of new annotators, others for each output",
    "2": "of new annotators who judge all outputs",
    "3": "of these annotators",
}
_CALLED = {
    "system:segment": "system:segment: some segments are harder for some systems; more segments average it out",
    "segment:rater": "segment:rater: an annotator is stricter on a segment, for all of its outputs",
    RESIDUAL: "residual: what is left of a single judgement; more segments and more annotators average it out",
}


def precision(warehouse: Warehouse, testset: str, lp: str, human: str | None) -> Result:
    """Standard error of the difference of two systems, by number of segments and of annotators per output.

    Rows: n_segments, n_raters, n_judgements (per system), error, detectable (difference that 80% of such campaigns
    would find significant at .05, two-sided). The same annotators judge both systems of a segment.
    Raises QuestionError: see `components`; or the design does not separate outputs from single judgements.
    """
    _, found, parts = _fitted(warehouse, testset, lp, human)
    specific, residual = _of_differences(found)
    segments, raters = (np.ravel(grid) for grid in np.meshgrid(_SEGMENTS, _RATERS, indexing="ij"))
    error = error_of_difference(specific, residual, segments, raters)
    frame = pl.DataFrame(
        {
            "n_segments": segments,
            "n_raters": raters,
            "n_judgements": segments * raters,
            "error": error,
            "detectable": _FACTOR * error,
        }
    )
    one, three, more = (float(error[(segments == n) & (raters == k)][0]) for n, k in ((100, 1), (100, 3), (300, 1)))
    notes = (
        f"300 judgements of a system: 300 segments × 1 annotator err by {more:.3f}, 100 × 3 by {three:.3f} "
        f"(100 × 1: {one:.3f})",
        "detectable: difference of two systems found significant (.05, two-sided) in 80% of such campaigns",
    )
    return Result(frame, parts, notes, {"components": found})


def difference_components(warehouse: Warehouse, testset: str, lp: str, human: str | None) -> tuple[float, float]:
    """Variance components that affect differences of systems: system:segment, and the residual.

    Raises QuestionError: see `precision`.
    """
    _, found, _ = _fitted(warehouse, testset, lp, human)
    return _of_differences(found)


def _of_differences(found: VarianceComponents) -> tuple[float, float]:
    if "system:segment" not in found.variances:
        raise QuestionError(
            "outputs with one judgement each do not show what a second annotator would add; "
            f"{option('view', 'variance')} has the components that they do show"
        )
    return found.variances["system:segment"], found.variances[RESIDUAL]


_FACTOR = 1.959964 + 0.841621  # normal quantiles of .975 and .8


def _fitted(warehouse: Warehouse, testset: str, lp: str, human: str | None) -> tuple[People, VarianceComponents, Parts]:
    is_standardised = human is not None and human.endswith(BY_ANNOTATOR)
    score = judged_score(warehouse, testset, lp, human.removesuffix(BY_ANNOTATOR) if human is not None else None)
    people = load_people(warehouse, score)
    if people is None or people.judged.raters is None:
        raise QuestionError(f"the annotators of {score.human} of {testset} {lp} are not on file")
    if is_standardised:
        people = replace(people, judged=_standardised(people.judged, people.judged.raters))
    judged = people.judged
    assert judged.raters is not None
    factors = {"system": judged.rows, "segment": judged.columns, "rater": judged.raters}
    terms = _distinct(factors)
    if not terms:
        raise QuestionError(f"the judgements of {score.human} of {testset} {lp} do not tell systems from segments")
    try:
        found = variance_components(judged.values, factors, terms)
    except ValueError as error:
        raise QuestionError(f"{score.human} of {testset} {lp}: {error}") from None
    parts = stamped(
        ("variance", "reml"),
        ("testset", testset),
        ("lp", lp),
        ("human", f"{score.human}{BY_ANNOTATOR}" if is_standardised else score.human),
        ("terms", "+".join(terms)),
        ("n_systems", judged.shape[0]),
        ("n_segments", judged.shape[1]),
        ("n_annotators", judged.n_raters),
        ("n_judgements", len(judged.values)),
    )
    return people, found, parts


def _standardised(judged: Judgements, raters: Ints) -> Judgements:
    """z-scores by annotator (ddof 1), without annotators who gave only one judgement or equal ones.

    Raises QuestionError: no annotator has two different judgements.
    """
    n = np.bincount(raters)
    centred = judged.values - (np.bincount(raters, judged.values) / np.maximum(n, 1))[raters]
    sd = np.sqrt(np.bincount(raters, centred**2) / np.maximum(n - 1, 1))[raters]
    kept = sd > 0
    if not kept.any():
        raise QuestionError("no annotator gave two different judgements: there is nothing to standardise")
    values = centred[kept] / sd[kept]
    return replace(judged, rows=judged.rows[kept], columns=judged.columns[kept], values=values, raters=raters[kept])


def _distinct(factors: dict[str, Ints]) -> list[str]:
    """Terms that a design identifies: fewer levels than judgements, and not the levels of an earlier term."""
    kept: dict[str, Ints] = {}
    n = len(factors["system"])
    for term in _TERMS:
        levels = numbered(*(factors[name] for name in term.split(":")))
        n_levels = int(levels.max()) + 1
        same = any(
            n_levels == int(other.max()) + 1 == int(numbered(levels, other).max()) + 1 for other in kept.values()
        )
        if 1 < n_levels < n and not same:
            kept[term] = levels
    return list(kept)


def _ratings(people: People) -> tuple[Floats | None, bool]:
    """(outputs, annotators) judgements if all outputs have the same number, at least two, else None.

    Also whether the same annotators judged all outputs; they are then the columns.
    """
    judged = people.judged
    outputs, n = np.unique(judged.outputs, return_counts=True)
    if n.min() != n.max() or n[0] < 2 or len(outputs) < 2 or judged.raters is None:
        return None, False
    order = np.lexsort((judged.raters, judged.outputs))
    raters = judged.raters[order].reshape(len(outputs), n[0])
    is_crossed = bool((raters == raters[0]).all() and len(np.unique(raters[0])) == n[0])
    return judged.values[order].reshape(len(outputs), n[0]), is_crossed


VIEWS = {"variance": components, "precision": precision}
"""By the name of the view of `annotators`."""
