"""Would another round of annotation rank systems the same way? Stable-ranking probability of single-rater scores."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.resampling.rank_ranges import is_stable, stable_ranking_probability
from metaeval.results.answer import Result
from metaeval.results.inputs import Inputs
from metaeval.results.signature import restricted, stamped
from queries.annotations import JudgedScore, annotations
from queries.blocks import places_of
from queries.listing import names
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import IT, unknown
from warehouse.names import in_any_case

_STREAM = 14  # of the seed


def ratings(warehouse: Warehouse, asked: Slice, humans: Sequence[str]) -> dict[str, Floats]:
    """Single-rater human scores (N, S) by name, on the systems and segments that all of them judged.

    humans: names or shell patterns that match at least two scores. If they match one score with several judgements per
    output, the first judgements of all outputs are one rating, the second ones another, and so on.
    Raises QuestionError: a pattern that matches nothing, a score without two judgements of outputs, nothing in common.
    """
    where = f"{asked.testset} {asked.lp}"
    known = names(warehouse, "human", [asked.testset], [asked.lp])
    matching = [in_any_case(pattern, known) for pattern in humans]
    for pattern, found in zip(humans, matching, strict=True):
        if not found:
            raise unknown("human score", pattern, known, where=where)
    chosen = [one for one in known if any(one in found for found in matching)]
    if len(chosen) == 1:
        return _of_judgements(warehouse, asked, chosen[0])
    blocks = {one: Inputs(warehouse, replace(asked, human=one)).of_level("seg") for one in chosen}
    systems = sorted(set.intersection(*(set(block.systems) for block in blocks.values())))
    scores = {one: block.human[[block.systems.index(system) for system in systems]] for one, block in blocks.items()}
    both = ~np.isnan(np.stack(list(scores.values()))).any(axis=(0, 1))
    if len(systems) < 2 or not both.any():
        raise QuestionError(f"{', '.join(chosen)} of {IT} have no segments of two systems in common", where=where)
    return {one: values[:, both] for one, values in scores.items()}


def _of_judgements(warehouse: Warehouse, asked: Slice, human: str) -> dict[str, Floats]:
    """As many ratings as most segments have for every system; raters change from output to output."""
    block = Inputs(warehouse, replace(asked, human=human)).of_level("seg")
    where = f"{asked.testset} {asked.lp}"
    evalset = block.selection.evalset_id
    frame = annotations(warehouse, JudgedScore(asked.testset, asked.lp, evalset, human))
    frame = frame.filter(pl.col("counts"), pl.col("system").is_in(block.systems)).with_columns(
        place=pl.int_range(pl.len()).over("system", "segment")
    )
    n_each = np.zeros((len(block.systems), len(block.segments)), dtype=np.int64)
    at = places_of(block, frame["system"], frame["segment"])
    np.add.at(n_each.reshape(-1), at[at >= 0], 1)
    fewest = n_each.min(axis=0)  # (S,)
    n_ratings = max(
        (n for n in range(2, int(fewest.max(initial=0)) + 1)), key=lambda n: n * (fewest >= n).sum(), default=0
    )
    if len(block.systems) < 2 or not n_ratings:
        raise QuestionError(f"{human} of {IT} has no two judgements of outputs: there are no two ratings", where=where)
    every = np.full((n_ratings, *n_each.shape), np.nan)
    for place, cell, value in zip(frame["place"].to_list(), at.tolist(), frame["value"].to_list(), strict=True):
        if cell >= 0 and place < n_ratings:
            every[place].reshape(-1)[cell] = value
    both = ~np.isnan(every).any(axis=(0, 1))
    return {f"{human} {place + 1}": every[place][:, both] for place in range(n_ratings)}


def stable_rankings(
    warehouse: Warehouse, asked: Slice, humans: Sequence[str], *, alpha: float = 0.05, draws: int = 1000, seed: int = 0
) -> Result:
    """Whether rankings by one round of ratings hold in another.

    A pair of rounds is stable if the second keeps the order of all pairs of systems that differ significantly in the
    first (permutation test, normal approximation, one-sided p ≤ alpha). One row per ordered pair of ratings, and one
    with first "mixed" for rounds that take a random rating of each segment, different in the two rounds. Columns:
    first, second, stable (1 or 0, or the probability), n_apart (pairs told apart), n_systems, n_segments, n_draws.
    Raises QuestionError: see `ratings`.
    """
    found = ratings(warehouse, asked, humans)
    n_systems, n_segments = next(iter(found.values())).shape
    # A stream of its own: the same seed elsewhere must not draw the same numbers.
    rng = np.random.default_rng([seed, _STREAM])
    probability, apart = stable_ranking_probability(list(found.values()), rng, draws, alpha)
    rows: list[tuple[object, ...]] = [("mixed", "mixed", probability, apart, draws)]
    for first, scores in found.items():
        for second, others in found.items():
            if first != second:
                stable, n_apart = is_stable(scores, others, alpha)
                rows.append((first, second, float(stable), float(n_apart), None))
    schema = {"first": pl.String, "second": pl.String, "stable": pl.Float64, "n_apart": pl.Float64, "n_draws": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row").with_columns(
        n_systems=pl.lit(n_systems), n_segments=pl.lit(n_segments)
    )
    parts = stamped(
        ("stable_rankings", "+".join(found)),
        *restricted(asked, testset=asked.testset, lp=asked.lp, human=None),
        ("test", "permutation,n=inf,one_sided"),
        ("alpha", alpha),
        ("resamples", draws),
        ("seed", seed),
        ("n_systems", n_systems),
        ("n_segments", n_segments),
    )
    note = f"another round of ratings keeps all that one tells apart in {probability:.0%} of {draws} pairs of rounds"
    return Result(frame, parts, (note,))
