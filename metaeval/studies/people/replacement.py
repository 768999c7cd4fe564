"""May a metric replace an annotator? Each metric is compared with the annotators of a human score.

An item is either a segment with two systems (the answer is the better system, or a tie) or an output (with its score).
A metric's tie threshold, or its regression line to the human scale, is fitted on the other half of the documents, so
that no item influences its own.
"""

from typing import Any, Literal

import numpy as np
import polars as pl

from metaeval.kernels.agreement.alternative_annotator import AlternativeAnnotator, alternative_annotator_test
from metaeval.kernels.agreement.preferences import best_preference_thresholds
from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.results.answer import Result, or_none
from metaeval.results.inputs import Inputs, metric_place
from metaeval.results.signature import slice_parts, stamped
from metaeval.studies.people.reliability import numbered
from queries.annotations import JudgedScore, annotations, judged_score
from queries.blocks import Block, places_of
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import unknown
from warehouse.wording import are, counted, option

Rule = Literal["authors", "clustered"]
Items = Literal["pairs", "scores"]
FEWEST_ITEMS = 30
_FALSE_DISCOVERIES = 0.05
_FEWEST_ANNOTATORS = 3
_MOST_ANSWERS = 50_000_000  # of all annotators: 400 MB


def replacements(
    warehouse: Warehouse,
    testset: str,
    lp: str,
    human: str | None,
    metric: str | None,
    epsilon: float,
    rule: Rule,
    by_document: bool,
    items: Items = "pairs",
) -> Result:
    """Whether each metric agrees with the annotators as well as they agree with each other.

    One row per metric and annotator: name, kind, agreement (mean share of the other annotators who give the same
    answer), for metrics winning_rate, advantage (share of items on which the metric agrees with the others at least as
    well as an annotator, mean over annotators), n_beaten and n_tested (annotators), and n_items. With metric, one row
    per annotator: annotator, agreement, advantage, p (one-sided, before correction), is_beaten, n_items.
    epsilon: see `alternative_annotator_test`. rule: "authors" treats items as independent, as in the source;
    "clustered" treats items of one segment as dependent. by_document: treat items of one document as dependent,
    whatever the rule. items: pairs of outputs, or scores, with the column rmse (root mean squared distance from the
    others) instead of agreement.
    Raises QuestionError: fewer than 3 annotators, no metric, an unknown metric, or too many items.
    """
    score = judged_score(warehouse, testset, lp, human)
    asked = Slice(testset=testset, lp=lp, human=score.human, status="all", intersection=True)
    block = Inputs(warehouse, asked, None).of_level("seg")
    block = block.take(segments=block.judged.any(axis=0), metrics=block.with_segments)
    raters, judged = _judgements(warehouse, score, block)
    pairs = np.triu_indices(len(block.systems), 1)
    of_pairs = items == "pairs"
    answers = _answers(judged, pairs) if of_pairs else judged.reshape(len(judged), -1)
    n_rows = len(pairs[0]) if of_pairs else len(block.systems)
    is_item = (~np.isnan(answers)).sum(axis=0) >= 2
    answers = answers[:, is_item]
    n_items = (~np.isnan(answers)).sum(axis=1)
    if (n_items > 0).sum() < _FEWEST_ANNOTATORS:
        raise QuestionError(
            f"the test leaves one annotator out and compares with the others: it needs "
            f"{counted(_FEWEST_ANNOTATORS, 'annotator')} "
            f"with outputs in common, {score.human} of {testset} {lp} has {(n_items > 0).sum()}"
        )
    documents = numbered(block.selection.documents)
    segments = np.arange(len(block.segments))
    group = np.tile(segments if documents is None else documents, n_rows)[is_item]
    clusters = group if by_document else np.tile(segments, n_rows)[is_item] if rule == "clustered" else None
    if of_pairs:
        differences = block.scores[:, pairs[0]] - block.scores[:, pairs[1]]
        of_metrics = _with_ties(differences.reshape(len(block.metrics), -1)[:, is_item], answers, group % 2 == 0)
    else:
        of_metrics = _on_human_scale(block.scores.reshape(len(block.metrics), -1)[:, is_item], answers, group % 2 == 0)
    names = [choice.name for choice in block.metrics]
    chosen = range(len(names))
    if metric is not None:
        place = metric_place(block, metric)
        if place is None:
            raise unknown("metric", metric, names, where=f"{testset} {lp}")
        chosen = range(place, place + 1)
    tests = [
        alternative_annotator_test(
            answers,
            of_metrics[place],
            epsilon=epsilon,
            scoring="accuracy" if of_pairs else "rmse",
            min_items=FEWEST_ITEMS,
            q=_FALSE_DISCOVERIES,
            clusters=clusters,
        )
        for place in chosen
    ]
    column = "agreement" if of_pairs else "rmse"
    agreement = _agreement(answers, answers, items, among_themselves=True)
    if metric is not None:
        columns = {column: agreement, "advantage": tests[0].advantage, "p": tests[0].p}
        frame = pl.DataFrame({"annotator": raters, **columns, "is_beaten": tests[0].is_beaten, "n_items": n_items})
        frame = frame.with_columns(pl.col(pl.Float64).fill_nan(None)).sort("p", "annotator", nulls_last=True)
    else:
        people = zip(raters, agreement, strict=True)
        values = zip(names, _agreement(of_metrics, answers, items), tests, strict=True)
        rows: list[tuple[Any, ...]] = [
            (name, "metric", *map(or_none, (value, test.winning_rate, test.advantage_probability)), *_counts(test))
            for name, value, test in values
        ]
        rows += [(name, "annotator", or_none(value), None, None, None, None) for name, value in people]
        frame = pl.DataFrame(rows, schema=_SCHEMA, orient="row")
        counts = [answers.shape[1]] * len(names) + n_items.tolist()
        frame = frame.with_columns(n_items=pl.Series(counts, dtype=pl.Int64))
        frame = frame.rename({"agreement": column}).sort(column, "name", descending=[of_pairs, False], nulls_last=True)
    parts = stamped(
        ("replace", "all" if metric is None else names[chosen[0]]),
        *slice_parts(block.selection),
        ("items", "pairs_of_systems" if of_pairs else "scores"),
        ("ties", "threshold_of_other_half" if of_pairs else None),
        ("scale", None if of_pairs else "line_of_other_half"),
        ("epsilon", f"{epsilon:g}"),
        ("clusters", "document" if by_document else "segment" if rule == "clustered" else None),
        ("correction", f"benjamini-yekutieli_{_FALSE_DISCOVERIES:g}"),
        ("n_annotators", len(raters)),
        ("n_systems", len(block.systems)),
        ("n_items", answers.shape[1]),
    )
    notes = _notes(agreement, n_items, epsilon, documents is None, items)
    if clusters is None:
        notes = (*notes, _INDEPENDENT)
    return Result(frame, parts, notes, {"agreement": agreement})


_INDEPENDENT = (
    "items count as independent, as in Calderon et al. 2025; pairs of outputs of one segment are not, and p-values are "
    f"too small: {option('rule', 'clustered')}"
)


_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("name", "kind"), pl.String),
    **dict.fromkeys(("agreement", "winning_rate", "advantage"), pl.Float64),
    **dict.fromkeys(("n_beaten", "n_tested"), pl.Int64),
}


def _counts(test: AlternativeAnnotator) -> tuple[int, int]:
    """Numbers of annotators whom a metric beats, and who were tested."""
    return int(test.is_beaten.sum()), int((~np.isnan(test.p)).sum())


def _notes(agreement: Floats, n_items: Ints, epsilon: float, without_documents: bool, items: Items) -> tuple[str, ...]:
    among = (
        f"annotators agree with each other on {np.nanmean(agreement):.3f} of the pairs of outputs (better, worse, tie)"
    )
    if items == "scores":
        among = (
            f"rmse: distance from the other annotators' scores, {np.nanmean(agreement):.3f} among annotators; metrics "
            "are put on the human scale by a line"
        )
    notes = [
        among,
        "winning_rate: share of annotators that the metric beats; .5 or more passes. It beats one who is right more "
        f"often than the metric on significantly less than {epsilon:g} of the items ({option('epsilon')})",
    ]
    if n_short := int((n_items < FEWEST_ITEMS).sum()):
        notes.append(f"{counted(n_short, 'annotator')} with fewer than {FEWEST_ITEMS} items {are(n_short)} not tested")
    if without_documents:
        notes.append("no documents are known: each segment stands for one")
    return tuple(notes)


def _judgements(warehouse: Warehouse, score: JudgedScore, block: Block) -> tuple[list[str], Floats]:
    """Annotators, and (annotators, systems, segments) mean judgements; NaN where an annotator did not judge."""
    found = annotations(warehouse, score).filter("counts").drop_nulls("rater")
    raters = sorted(set(found["rater"]))
    if not raters:
        raise QuestionError(
            f"the annotators of {score.human} of {block.selection.slice.testset} "
            f"{block.selection.slice.lp} are not on file"
        )
    shape = (len(raters), len(block.systems), len(block.segments))
    if shape[0] * shape[1] * (shape[1] - 1) // 2 * shape[2] > _MOST_ANSWERS:
        raise QuestionError(
            f"{counted(shape[0], 'annotator')} and {counted(shape[1], 'system')} give too many pairs of outputs"
        )
    place = places_of(block, found["system"].to_list(), found["segment"].to_list())
    number = {name: at for at, name in enumerate(raters)}
    rater = np.array([number[name] for name in found["rater"]], dtype=np.int64)
    at = (rater * shape[1] * shape[2] + place)[place >= 0]
    values = found["value"].to_numpy()[place >= 0]
    n = np.bincount(at, minlength=int(np.prod(shape)))
    total = np.bincount(at, values, minlength=int(np.prod(shape)))
    return raters, np.where(n > 0, total / np.maximum(n, 1), np.nan).reshape(shape)


def _answers(judged: Floats, pairs: tuple[Ints, Ints]) -> Floats:
    """(annotators, pairs × segments): 1 if the first output is better, −1 if the second is, 0 if tied, else NaN."""
    difference = judged[:, pairs[0]] - judged[:, pairs[1]]
    return np.sign(np.round(difference, 9)).reshape(len(judged), -1)


def _with_ties(differences: Floats, answers: Floats, is_first_half: Bools) -> Floats:
    """(metrics, items) answers of metrics; each half uses the tie threshold that is best in the other half."""
    found = np.sign(differences)
    for half in (is_first_half, ~is_first_half):
        rater, item = np.nonzero(~np.isnan(answers) & ~half)
        if len(item):
            threshold = best_preference_thresholds(differences[:, item], answers[rater, item].astype(np.int64))
            found[:, half] = np.where(np.abs(differences[:, half]) <= threshold[:, None], 0, found[:, half])
    return found


def _on_human_scale(scores: Floats, judged: Floats, is_first_half: Bools) -> Floats:
    """(metrics, items) scores mapped by the least-squares line to the annotators' means, fitted on the other half."""
    found = np.full(scores.shape, np.nan)
    target = np.nanmean(judged, axis=0)
    for half in (is_first_half, ~is_first_half):
        if not half.any() or half.all():
            continue
        x, y = scores[:, ~half], target[~half]
        centre = x.mean(axis=1, keepdims=True)
        spread = ((x - centre) ** 2).sum(axis=1)
        products = ((x - centre) * (y - y.mean())).sum(axis=1)
        slope = np.divide(products, spread, out=np.zeros(len(x)), where=spread > 0)
        found[:, half] = y.mean() + slope[:, None] * (scores[:, half] - centre)
    return found


def _agreement(given: Floats, answers: Floats, items: Items, *, among_themselves: bool = False) -> Floats:
    """(rows of given,) mean over items of the share of annotators, or of the others, with the same answer.

    For scores: the root mean squared distance from them.
    """
    found = np.full(len(given), np.nan)
    for row, one in enumerate(given):
        others = np.delete(answers, row, axis=0) if among_themselves else answers
        is_there = ~np.isnan(others) & ~np.isnan(one)
        n = is_there.sum(axis=0)
        if not n.any():
            continue
        if items == "scores":
            squares = np.where(is_there, (others - one) ** 2, 0).sum(axis=0)
            found[row] = np.sqrt((squares[n > 0] / n[n > 0]).mean())
        else:
            same = ((others == one) & is_there).sum(axis=0)
            found[row] = (same[n > 0] / n[n > 0]).mean()
    return found
