"""System scores from preferences (expected wins, TrueSkill and others), and how certain their order is."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from metaeval.kernels.agreement.preferences import (
    better_than_others,
    bradley_terry,
    expected_wins,
    preference_counts,
)
from metaeval.kernels.arrays.checks import Bools, Floats
from metaeval.kernels.resampling.trueskill import trueskill
from queries.blocks import Block
from queries.evalsets import BY_PREFERENCES, preference_score
from queries.preference_blocks import preferences_in
from queries.preferences import NOBODY, Preferences
from warehouse import QuestionError, Warehouse
from warehouse.facts.testsets import facts
from warehouse.wording import counted

RUNS = 100  # of TrueSkill, where its mean stands for human scores: as far off as .005
_STREAM = 21  # of the seed
_SEED = 0


def of_preferences(warehouse: Warehouse, block: Block) -> Block:
    """The block with system scores made of preferences, if its human score is of this kind: NAME:ew and others.

    Preferences between its systems on its segments count if both outputs are judged. It then has no segment scores.
    Raises QuestionError: the human score has no preferences, or none that system scores can be made of.
    """
    human = block.selection.human
    how = preference_score(human)
    if how is None:
        return block
    found = preferences_in(warehouse, block)
    by = f", {counted(len(found.raters), 'annotator')}" if found.raters else ""
    runs = f", the mean of {RUNS} runs" if how == "trueskill" else ""
    notes = [f"{human}: {BY_PREFERENCES[how]} by {counted(len(found), 'preference')}{by}{runs}"]
    if how == "trueskill":
        found, more = as_published(found, block.selection.slice.testset)
        notes += more
    scores = system_scores_of(found, how)
    selection = replace(block.selection, notes=(*block.selection.notes, *notes))
    return replace(block, selection=selection, human=np.full_like(block.human, np.nan), human_submitted=scores)


def as_published(found: Preferences, testset: str) -> tuple[Preferences, list[str]]:
    """Preferences as often as the organisers' TrueSkill counted them, and a line on those that count more than once."""
    times = facts(testset).resubmitted
    is_again = _resubmitted(found) if times > 1 and len(found) else np.zeros(len(found), dtype=np.bool_)
    if not is_again.any():
        return found, []
    n = len(np.unique(found.ranking[is_again]))
    line = f"{counted(n, 'ranking')} submitted twice in a row by an annotator count {times} times each, as in the task"
    return found.only(np.repeat(np.arange(len(found)), np.where(is_again, times, 1))), [line]


def _resubmitted(found: Preferences) -> Bools:
    """(n,) whether a preference is of a ranking that is the same as the one before or after it, by the same annotator.

    found: sorted by ranking, as it is stored.
    """
    begin = np.flatnonzero(np.diff(found.ranking, prepend=-1))
    end = np.append(begin[1:], len(found))
    same = np.column_stack([found.rater, found.segment, found.first, found.second, found.answer, found.is_same_output])
    is_again = np.zeros(len(found), dtype=np.bool_)
    in_a_row = (np.diff(found.ranking[begin]) == 1) & (found.rater[begin[1:]] != NOBODY)
    for place in np.flatnonzero(in_a_row & (np.diff(end - begin) == 0)):
        one, other = (slice(begin[at], end[at]) for at in (place, place + 1))
        if np.array_equal(same[one], same[other]):
            is_again[one.start : other.stop] = True
    return is_again


def system_scores_of(found: Preferences, how: str) -> Floats:
    """(N,) scores of systems by one of `BY_PREFERENCES`, NaN for a system that was never compared.

    Raises QuestionError: no preference is left, or none that strengths of systems can be estimated from.
    """
    n = len(found.systems)
    if not len(found):
        raise QuestionError("no preferences between these systems")
    if how == "trueskill":
        scores: Floats = runs_of(found, RUNS, _SEED).mean(axis=0)
        return scores
    try:
        return scores_of_counts(*preference_counts(found.first, found.second, found.answer, n), how)
    except ValueError as error:
        raise QuestionError(f"Bradley-Terry: {error}") from error


def scores_of_counts(wins: npt.ArrayLike, ties: npt.ArrayLike, how: str) -> Floats:
    """(N,) scores of systems by ew, bto, boe or bt from (N, N) wins and ties; NaN for one that was never compared.

    Raises ValueError: strengths have no maximum, see `bradley_terry`.
    """
    if how == "ew":
        return expected_wins(wins)
    if how in ("bto", "boe"):
        return better_than_others(wins, ties if how == "boe" else None)
    won, tied = np.asarray(wins, dtype=np.float64), np.asarray(ties, dtype=np.float64)
    compared = (won + won.T + tied).sum(axis=1) > 0
    strengths = np.full(len(won), np.nan)
    strengths[compared] = bradley_terry(won[np.ix_(compared, compared)], tied[np.ix_(compared, compared)])[0]
    return strengths


def runs_of(found: Preferences, n_runs: int, seed: int) -> Floats:
    """(n_runs, N) mean skills of each run of TrueSkill; the same for the same preferences."""
    arrays = (found.first, found.second, found.answer)
    return _runs(tuple(array.tobytes() for array in arrays), len(found.systems), n_runs, seed)


@lru_cache(maxsize=32)
def _runs(arrays: tuple[bytes, ...], n_systems: int, n_runs: int, seed: int) -> Floats:
    first, second, answer = (np.frombuffer(array, dtype=np.int64) for array in arrays)
    rng = np.random.default_rng([seed, _STREAM])
    return trueskill(first, second, answer, rng=rng, n_systems=n_systems, n_runs=n_runs)
