"""Systems ranked by preferences, with rank ranges and clusters, as the shared tasks of 2013 to 2016 printed them."""

from contextlib import suppress

import numpy as np
import polars as pl

from metaeval.kernels.agreement.preferences import preference_counts, preference_counts_by
from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.resampling.clusters import ranks
from metaeval.kernels.resampling.draws import resample_counts
from metaeval.kernels.resampling.trueskill import clusters_of_ranges, trimmed_rank_ranges
from metaeval.measures.preference_scores import as_published, runs_of, scores_of_counts, system_scores_of
from metaeval.results.answer import Result
from metaeval.results.inputs import Inputs, where
from metaeval.results.signature import slice_parts, stamped
from queries.blocks import fetch_block
from queries.evalsets import BY_PREFERENCES, preference_score, stored_human
from queries.preference_blocks import preferences_in
from queries.preferences import Preferences
from queries.selection import select
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import IT
from warehouse.wording import counted, option

_STREAM = 22  # of the seed
_LEAST_RUNS = 20  # of fewer, nothing can be left out at either end


def ranked_systems(warehouse: Warehouse, asked: Slice, *, draws: int = 1000, seed: int = 0) -> Result:
    """The systems of a slice ranked by a score computed from preferences (`BY_PREFERENCES`), best first.

    Columns rank, rank_low, rank_high, system, value, cluster, n_won, n_tied, n_lost (comparisons). TrueSkill: value is
    the mean over `draws` runs, and ranges are over these runs. Other scores: value is computed from all preferences,
    and ranges are over resamples of segments. A range contains 95% of the ranks. A cluster ends after a system whose
    worst rank is above the best rank of every system below.
    Raises QuestionError: see `Inputs`; the human score is not computed from preferences; fewer than 20 runs.
    """
    if asked.outliers == "mad":
        block = Inputs(warehouse, asked).of_level("sys")
    else:  # without the system scores, which TrueSkill takes long for
        block = fetch_block(warehouse, select(warehouse, asked, "sys"))
    selection = block.selection
    how = preference_score(selection.human)
    if how is None:
        human = stored_human(str(selection.human))
        known = ", ".join(f"{human}:{one}" for one in BY_PREFERENCES)
        reason = f"view ranges needs a system score made of preferences, not {selection.human} of {IT}"
        raise QuestionError(reason, where=where(selection), way_out=f"name one with {option('human')}: {known}")
    if draws < _LEAST_RUNS:
        raise QuestionError(
            f"rank ranges of {draws} runs leave nothing out: take {option('draws')} of {_LEAST_RUNS} or more"
        )
    found = preferences_in(warehouse, block)
    wins, ties = preference_counts(found.first, found.second, found.answer, len(found.systems))
    compared = np.flatnonzero((wins + wins.T + ties).sum(axis=1) > 0)
    by = f", {counted(len(found.raters), 'annotator')}" if found.raters else ""
    notes = [f"{BY_PREFERENCES[how]} by {counted(len(found), 'preference')}{by}", *selection.notes]
    if how == "trueskill":
        published, more = as_published(found, asked.testset)
        notes += more
        runs = runs_of(published, draws, seed)
        values = runs.mean(axis=0)
    else:
        runs = _resampled(found, how, np.random.default_rng([seed, _STREAM]), draws)
        values = system_scores_of(found, how)
        undefined = np.isnan(runs[:, compared]).any(axis=1)
        runs = runs[~undefined]
        if undefined.any():
            n = int(undefined.sum())
            notes.append(
                f"{counted(n, 'resample')} of {draws} without a value for every system, excluded from the ranges"
            )
    if len(runs) < _LEAST_RUNS:
        raise QuestionError(f"{selection.human} of {IT} is not defined in most resamples", where=where(selection))
    low, high = trimmed_rank_ranges(runs[:, compared])
    frame = pl.DataFrame(
        {
            "rank": ranks(values[compared]),
            "rank_low": low,
            "rank_high": high,
            "system": [found.systems[place] for place in compared],
            "value": values[compared],
            "cluster": clusters_of_ranges(values[compared], low, high),
            "n_won": wins.sum(axis=1)[compared],
            "n_tied": ties.sum(axis=1)[compared],
            "n_lost": wins.sum(axis=0)[compared],
        }
    ).sort("value", "system", descending=[True, False])
    parts = stamped(
        ("systems_by", selection.human),
        *slice_parts(selection),
        ("rank_range", "95%,runs" if how == "trueskill" else "95%,segments"),
        ("runs" if how == "trueskill" else "resamples", draws),
        ("seed", seed),
        ("n_systems", len(compared)),
        ("n_preferences", len(found)),
    )
    n_clusters = counted(int(frame["cluster"].n_unique()), "cluster")
    return Result(frame, parts, (n_clusters, *notes))


def _resampled(preferences: Preferences, how: str, rng: np.random.Generator, draws: int) -> Floats:
    """(draws, N) scores of systems on resampled segments."""
    n = len(preferences.systems)
    by_segment = preference_counts_by(preferences.segment, preferences.first, preferences.second, preferences.answer, n)
    drawn = resample_counts(rng, draws, len(by_segment[0]))
    wins, ties = ((drawn @ counts.reshape(-1, n * n)).reshape(-1, n, n) for counts in by_segment)
    scores = np.full((draws, n), np.nan)
    for row, (won, tied) in enumerate(zip(wins, ties, strict=True)):
        with suppress(ValueError):  # strengths at infinity: counted by the caller
            scores[row] = scores_of_counts(won, tied, how)
    return scores
