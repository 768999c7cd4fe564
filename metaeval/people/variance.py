"""Where the variance of judgements comes from, and how precise more segments or more annotators would be."""

import math
from typing import Any

import numpy as np
import polars as pl

from metaeval.answer import Result, or_none
from metaeval.kernels.agreement.variance_components import (
    RESIDUAL,
    VarianceComponents,
    error_of_difference,
    intraclass_correlations,
    variance_components,
)
from metaeval.kernels.arrays.checks import Ints
from metaeval.kernels.arrays.grouping import numbered
from metaeval.people.judgements import People, read
from metaeval.signature import Parts, stamped
from queries.annotations import judged_score
from warehouse import QuestionError, Warehouse
from warehouse.wording import option

# What annotators of one segment have in common over systems is an effect of their own on the segment: the same strict
# annotator lowers all outputs of it, which cancels out in a difference of systems.
_TERMS = ("system", "segment", "system:segment", "segment:rater")
_SEGMENTS = (25, 50, 100, 200, 300, 500, 1000)
_RATERS = (1, 2, 3)


def components(warehouse: Warehouse, testset: str, lp: str, human: str | None) -> Result:
    """Variance components of single judgements, by restricted maximum likelihood.

    A row for each: component, variance, standard_error, share (of the sum). Intraclass correlations, where each output
    has the same number of annotators, are notes and facts.
    Raises QuestionError: no annotators on file, or a design that tells no components apart.
    """
    people, found, parts = _fitted(warehouse, testset, lp, human)
    total = math.fsum(found.variances.values())
    rows = [
        (name, variance, or_none(found.standard_errors[name]), variance / total)
        for name, variance in found.variances.items()
    ]
    schema = {"component": pl.String, "variance": pl.Float64, "standard_error": pl.Float64, "share": pl.Float64}
    notes = [f"{_CALLED[name]}" for name in found.variances if name in _CALLED]
    facts: dict[str, Any] = {"components": found}
    if left := [name for name in _TERMS if name not in found.variances]:
        notes.append(f"this design cannot tell {' and '.join(left)} from the rest: outputs with one judgement each")
    if (ratings := _ratings(people)) is not None:
        icc = intraclass_correlations(ratings)["1"]
        facts["icc"] = icc
        notes.append(
            f"ICC(1): {icc.single:.3f} [{icc.single_low:.3f}, {icc.single_high:.3f}] for one annotator, {icc.mean:.3f} "
            f"[{icc.mean_low:.3f}, {icc.mean_high:.3f}] for the mean of {ratings.shape[1]}, over {len(ratings)} outputs"
        )
    return Result(pl.DataFrame(rows, schema=schema, orient="row"), parts, tuple(notes), facts)


_CALLED = {
    "system:segment": "system:segment: some segments are harder for some systems; more segments average it out",
    "segment:rater": "segment:rater: an annotator is stricter on a segment, for all of its outputs",
    RESIDUAL: "residual: what is left of a single judgement; more segments and more annotators average it out",
}


def precision(warehouse: Warehouse, testset: str, lp: str, human: str | None) -> Result:
    """Standard error of the difference of two systems for numbers of segments and of annotators of each output.

    Rows: n_segments, n_raters, n_judgements (of one system), error, detectable (difference that 80% of such campaigns
    would find significant at .05, two-sided). The same annotators judge both systems of a segment.
    Raises QuestionError: see `components`; or judgements that do not tell outputs from single judgements.
    """
    _, found, parts = _fitted(warehouse, testset, lp, human)
    if "system:segment" not in found.variances:
        raise QuestionError(
            "outputs with one judgement each do not show what a second annotator would add; "
            f"{option('view', 'variance')} has the components that they do show"
        )
    segments, raters = (np.ravel(grid) for grid in np.meshgrid(_SEGMENTS, _RATERS, indexing="ij"))
    error = error_of_difference(found.variances["system:segment"], found.variances[RESIDUAL], segments, raters)
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


_FACTOR = 1.959964 + 0.841621  # normal quantiles of .975 and .8


def _fitted(warehouse: Warehouse, testset: str, lp: str, human: str | None) -> tuple[People, VarianceComponents, Parts]:
    score = judged_score(warehouse, testset, lp, human)
    people = read(warehouse, score)
    if people is None or people.judged.raters is None:
        raise QuestionError(f"the annotators of {score.human} of {testset} {lp} are not on file")
    judged = people.judged
    factors = {"system": judged.rows, "segment": judged.columns, "rater": people.judged.raters}
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
        ("human", score.human),
        ("terms", "+".join(terms)),
        ("n_systems", judged.shape[0]),
        ("n_segments", judged.shape[1]),
        ("n_annotators", judged.n_raters),
        ("n_judgements", len(judged.values)),
    )
    return people, found, parts


def _distinct(factors: dict[str, Ints]) -> list[str]:
    """The terms that a design tells apart: fewer levels than judgements, and not the levels of an earlier term."""
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


def _ratings(people: People) -> Any:
    """(outputs, annotators) judgements, where all outputs have the same number of at least two; else None."""
    outputs, n = np.unique(people.judged.outputs, return_counts=True)
    if n.min() != n.max() or n[0] < 2 or len(outputs) < 2:
        return None
    return people.judged.values[np.argsort(people.judged.outputs, kind="stable")].reshape(len(outputs), n[0])


VIEWS = {"variance": components, "precision": precision}
"""By the name of the view of `annotators`."""
