"""Preferences of a slice: those of its human score, and of metrics that state preferences."""

from dataclasses import replace

import numpy as np

from queries.blocks import Block, Bools, Floats, Ints
from queries.catalog import ask
from queries.evalsets import stored_human
from queries.preferences import Preferences, fetch_preferences
from queries.reasons import Exclusion, Reason
from warehouse import QuestionError, Warehouse
from warehouse.errors import IT
from warehouse.wording import counted


def preferences_in(warehouse: Warehouse, block: Block) -> Preferences:
    """Preferences of a block's human score between its systems, in its numbering, on judged segments.

    Raises QuestionError: there are none.
    """
    selection = block.selection
    where = f"{selection.slice.testset} {selection.slice.lp}"
    if selection.human is None or selection.human_id is None:
        raise QuestionError(f"{IT} has no human score with preferences", where=where)
    found = fetch_preferences(warehouse, selection.evalset_id, selection.human_id)
    if not len(found):
        stored = stored_human(selection.human)
        raise QuestionError(f"human score {stored!r} of {IT} has no preferences", where=where)
    here = _in_block(found, block)
    if not block.judged.any():
        return here
    return here.only(block.judged[here.first, here.segment] & block.judged[here.second, here.segment])


def _in_block(found: Preferences, block: Block) -> Preferences:
    here = found.of_systems(block.systems)
    place = np.searchsorted(block.segments, here.segment)
    kept: Bools = block.segments[np.minimum(place, len(block.segments) - 1)] == here.segment
    return replace(here, segment=place).only(kept)


def with_preferences(warehouse: Warehouse, block: Block) -> Block:
    """The block with the preferences of its human score, without systems that were shown as one output.

    A metric that states preferences needs an answer for each of these pairs. If the slice requests the intersection,
    only pairs with answers of all metrics count.
    Raises QuestionError: the human score has no preferences.
    """
    found = preferences_in(warehouse, block)
    found = found.only(~found.is_same_output)
    scorers = ask(warehouse, "preference_scorers").filter(kind="metric", evalset_id=block.selection.evalset_id)
    judges = [metric for metric in block.metrics if metric.scorer_id in {*scorers["scorer_id"]}]
    answers = [fetch_preferences(warehouse, block.selection.evalset_id, judge.scorer_id) for judge in judges]
    by_metric = {judge.name: _answers(_in_block(own, block), found) for judge, own in zip(judges, answers, strict=True)}
    found = replace(found, by_metric=by_metric)
    if block.selection.slice.intersection and judges:
        is_missing = np.isnan(np.stack([*by_metric.values()]))
        found = found.only(np.flatnonzero(~is_missing.any(axis=0)))
    gaps = {
        name: Exclusion(Reason.MISSING_SCORES, (counted(n, "preference"),))
        for name, of_metric in found.by_metric.items()
        if (n := int(np.isnan(of_metric).sum()))
    }
    metrics = tuple(replace(one, segment_gap=one.segment_gap or gaps.get(one.name)) for one in block.metrics)
    return replace(block, preferences=found, metrics=metrics)


def _answers(of_metric: Preferences, asked: Preferences) -> Floats:
    """(n,) mean answer of a metric for each pair of outputs that annotators compared, NaN if it gave none."""
    item, answer = _items(of_metric)
    known, place = np.unique(item, return_inverse=True)
    mean = np.bincount(place, weights=answer) / np.bincount(place)
    wanted, sign = _items(replace(asked, answer=np.ones(len(asked), dtype=np.int64)))
    if not len(known):
        return np.full(len(asked), np.nan)
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[at] == wanted, sign * mean[at], np.nan)


def _items(found: Preferences) -> tuple[Ints, Ints]:
    """Number of each segment and unordered pair of systems, and the answer for the system with the lower index."""
    n = len(found.systems)
    low, high = np.minimum(found.first, found.second), np.maximum(found.first, found.second)
    return (found.segment * n + low) * n + high, np.where(found.first < found.second, found.answer, -found.answer)


def differences_in(block: Block) -> tuple[Preferences, Floats]:
    """Preferences on the judged part of a block, and (M, n) by how much each metric prefers the first output.

    For a metric that states preferences: its mean answer; for others: the difference of scores.
    """
    found = block.preferences
    assert found is not None
    found = found.only(block.judged[found.first, found.segment] & block.judged[found.second, found.segment])
    gaps = block.scores[:, found.first, found.segment] - block.scores[:, found.second, found.segment]
    for place, metric in enumerate(block.metrics):
        if metric.name in found.by_metric:
            gaps[place] = found.by_metric[metric.name]
    return found, gaps
