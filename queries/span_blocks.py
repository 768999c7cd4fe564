"""Blocks of error spans: marked and predicted errors in the outputs of a slice, as flat arrays."""

from dataclasses import replace

import numpy as np

from queries.annotations import human_with_errors
from queries.blocks import HUMAN_SCORER, Block, Floats, Ints, Spans, narrowed, places_of
from queries.catalog import ask, questions
from queries.reasons import Exclusion, Reason
from queries.selection import Selection
from warehouse import QuestionError, Warehouse
from warehouse.errors import IT

MAJOR, MINOR = 5.0, 1.0  # what an error counts in the score of an output


def annotations_in(block: Block, scorer: int) -> tuple[Ints, Ints]:
    """Annotations of a scorer on the outputs of a block, and the positions of these outputs (see `places_of`)."""
    spans = block.spans
    assert spans is not None
    chosen = np.flatnonzero(spans.scorer == scorer)
    places = places_of(block, [spans.systems[at] for at in spans.system[chosen]], spans.segment[chosen])
    is_there = places >= 0
    return chosen[is_there], places[is_there]


def fetch_span_block(warehouse: Warehouse, selection: Selection) -> Block:
    """The block of a selection in which annotated outputs count as judged, and outputs with a prediction as scored.

    Scores are -(5 major + 1 minor) of the spans that count, averaged over annotators. The gold spans are those of the
    selected human score, or of another human score of its protocol (`mqm.merged` for `mqm`). There are no submitted
    system scores.
    Raises QuestionError: no errors are marked; nothing is left.
    """
    gold, gold_id = _gold(warehouse, selection)
    if gold != selection.human:
        note = f"errors are those marked for {gold}; {selection.human} has none"
        selection = replace(selection, human=gold, human_id=gold_id, notes=(*selection.notes, note))
    systems, metrics = selection.chosen_systems, selection.chosen_metrics
    asked: dict[str, object] = {
        "evalset": selection.evalset_id,
        "scorers": [gold_id, *(choice.scorer_id for choice in metrics)],
        "systems": [choice.system_id for choice in systems],
        "segments": [int(segment) for segment in selection.segments],
    }
    annotations = warehouse.columns(questions()["slice_annotations"].text, asked)
    marked = warehouse.columns(questions()["slice_spans"].text, asked)
    identifiers = annotations["judgement_id"].astype(np.int64)
    scorer = annotations["scorer_id"].astype(np.int64)
    row_of = {choice.system_id: row for row, choice in enumerate(systems)}
    spans = Spans(
        systems=tuple(choice.name for choice in systems),
        scorer=np.where(scorer == gold_id, HUMAN_SCORER, scorer),
        system=np.array([row_of[int(one)] for one in annotations["system_id"]], dtype=np.int64),
        segment=annotations["segment"].astype(np.int64),
        annotation=np.searchsorted(identifiers, marked["judgement_id"].astype(np.int64)),
        start=marked["span_start"].astype(np.int64),
        end=marked["span_end"].astype(np.int64),
        is_in_source=marked["is_in_source"].astype(np.bool_),
        is_major=marked["is_major"].astype(np.bool_),
        category=marked["category"].astype(np.object_),
    )
    shape = len(systems), len(selection.segments)
    block = Block(
        selection=selection,
        systems=spans.systems,
        segments=np.array(selection.segments, dtype=np.int64),
        metrics=metrics,
        human=np.full(shape, np.nan),
        scores=np.full((len(metrics), *shape), np.nan),
        human_submitted=np.full(shape[0], np.nan),
        submitted=np.full((len(metrics), shape[0]), np.nan),
        spans=spans,
    )
    scores = [_scores(block, spans, scorer) for scorer in (HUMAN_SCORER, *(choice.scorer_id for choice in metrics))]
    with_spans = [
        replace(choice, segment_gap=None if (~np.isnan(found)).any() else Exclusion(Reason.NO_SPANS))
        for choice, found in zip(metrics, scores[1:], strict=True)
    ]
    cube = np.array(scores[1:]).reshape(len(metrics), *shape)
    return narrowed(replace(block, human=scores[0], scores=cube, metrics=tuple(with_spans)))


def _gold(warehouse: Warehouse, selection: Selection) -> tuple[str, int]:
    """Name and identifier of the human score whose judgements have the gold spans."""
    humans = [name for name in (selection.human,) if name is not None]
    gold = human_with_errors(warehouse, selection.evalset_id, humans)
    if gold is None:
        raise QuestionError(
            f"no errors were marked for {' or '.join(map(repr, humans)) or 'a human score'} of {IT}",
            where=f"{selection.slice.testset} {selection.slice.lp}",
        )
    rows = ask(warehouse, "humans_with_errors", evalset=selection.evalset_id)
    return gold, int(rows["scorer_id"][rows["human"].to_list().index(gold)])


def _scores(block: Block, spans: Spans, scorer: int) -> Floats:
    """(N, S) scores of outputs from their spans, averaged over annotations; NaN if there are none."""
    annotations, places = annotations_in(block, scorer)
    found, rows = spans.spans_of(annotations)
    penalties = np.bincount(rows, weights=np.where(spans.is_major[found], MAJOR, MINOR), minlength=len(annotations))
    size = block.human.size
    n = np.bincount(places, minlength=size)
    total = np.bincount(places, weights=penalties, minlength=size)
    mean = np.full(size, np.nan)
    np.divide(-total, n, out=mean, where=n > 0)
    return mean.reshape(block.human.shape) + 0.0
