"""When may a campaign stop? Always-valid intervals of systems against the best, and replays in random order."""

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.confidence_sequences import FEWEST, confidence_sequence, possible_winners
from metaeval.measures.options import Options
from metaeval.results.answer import Result
from metaeval.results.inputs import Inputs, check_judged, where
from metaeval.results.signature import option_parts, slice_parts, stamped
from metaeval.studies.planning.plans import members_of, unit_of
from metaeval.studies.planning.settings import PlanSettings
from queries.blocks import Block
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.progress import Progress
from warehouse.wording import are, counted

_STREAM = 11  # of the seed


def sequential(
    warehouse: Warehouse, asked: Slice, options: Options, what: PlanSettings, progress: Progress | None = None
) -> Result:
    """Systems that may still be the best, however often you check, and how early the campaign could have stopped.

    One row per system, best first: system, mean, difference (the leader's mean minus its own), low, high (its
    always-valid interval; null for the leader, and until enough units differ), is_possible (whether it may still be the
    best), share_needed (mean share of its judgements that replays of the campaign used), n_segments, n_units.
    Only segments annotated for all systems count. Replays take the units (documents or segments) in random order, stop
    judging a system once it is excluded, and end when one system is left. Facts: saved (share of all judgements that
    replays did not use), decided (share of replays that ended with one system), kept (share of replays that kept the
    leader of the whole campaign).
    Raises QuestionError: fewer than two systems; too few units annotated for all systems.
    """
    block = Inputs(warehouse, asked, options.round_human).of_level("seg")
    check_judged(block)
    if len(block.systems) < 2:
        raise QuestionError(f"fewer than two systems have human scores in {where(block.selection)}")
    both = np.asarray(block.judged.all(axis=0))
    unit = unit_of(block.selection, both, what.unit)
    members = members_of(block.selection, both, unit)
    if len(members) <= FEWEST:
        raise QuestionError(
            f"{counted(len(members), unit)} of {where(block.selection)} annotated for all systems; intervals start "
            f"once {FEWEST} differ"
        )
    sizes = np.array([len(one) for one in members], dtype=np.int64)
    totals = np.stack([block.human[:, one].sum(axis=1) for one in members], axis=1)
    order = np.argsort(-totals.sum(axis=1), kind="stable")
    totals, names = totals[order], [block.systems[place] for place in order]
    means = totals.sum(axis=1) / sizes.sum()
    each = 2 * what.alpha / (len(names) - 1)
    gap, low, high = (ends[:, -1] for ends in confidence_sequence(totals[0] - totals, sizes, alpha=each))
    needed, decided, kept = _replayed(totals, sizes, what, progress)
    nothing = ~np.isfinite(low)
    nothing[0] = True
    columns = {
        "system": names,
        "mean": means,
        "difference": gap,
        "low": np.where(nothing, np.nan, low),
        "high": np.where(nothing, np.nan, high),
        "is_possible": ~(low > 0),
        "share_needed": needed.mean(axis=0),
        "n_segments": [int(sizes.sum())] * len(names),
        "n_units": [len(members)] * len(names),
    }
    frame = pl.DataFrame(columns).with_columns(pl.col(pl.Float64).fill_nan(None))
    facts: dict[str, object] = {"saved": float(1 - needed.mean()), "decided": decided, "kept": kept, "unit": unit}
    parts = stamped(
        ("plan", "sequential"),
        *slice_parts(block.selection),
        *option_parts(options),
        ("unit", unit),
        ("interval", "asymptotic_confidence_sequence"),
        ("fewest", FEWEST),
        ("alpha", what.alpha),
        ("correction", f"bonferroni_{len(names) - 1}"),
        ("replays", what.simulations),
        ("n_systems", len(names)),
        ("n_segments", int(sizes.sum())),
        ("seed", what.seed),
    )
    return Result(frame, parts, _notes(block, both, facts, what), facts)


def _replayed(
    totals: Floats, sizes: Ints, what: PlanSettings, progress: Progress | None
) -> tuple[Floats, float, float]:
    """(replays, systems) shares of judgements needed, and shares of replays that were decided and kept the leader."""
    rng = np.random.default_rng([what.seed, _STREAM])
    needed = np.empty((what.simulations, len(totals)))
    n_decided = n_kept = 0
    for replay in range(what.simulations):
        order = rng.permutation(len(sizes))
        alive, out = possible_winners(totals[:, order], sizes[order], alpha=what.alpha)
        is_decided = alive.sum(axis=0) == 1
        end = int(np.argmax(is_decided)) + 1 if is_decided.any() else len(sizes)
        judged = np.cumsum(sizes[order]) / sizes.sum()
        needed[replay] = judged[np.minimum(out, end) - 1]
        n_decided += bool(is_decided.any())
        n_kept += bool(alive[0, -1])
        if progress is not None:
            progress("replays", replay + 1, what.simulations)
    return needed, n_decided / what.simulations, n_kept / what.simulations


def _notes(block: Block, both: np.ndarray, facts: dict[str, object], what: PlanSettings) -> tuple[str, ...]:
    notes = [
        f"difference, low, high: the leader's mean minus the system's; the intervals may be looked at after every "
        f"{facts['unit']}, and the best system is excluded in at most {what.alpha:.0%} of campaigns",
        f"share_needed: in {what.simulations} replays in random order, which stop judging a system once it is "
        f"excluded; {facts['decided']:.0%} of them ended with one system, {facts['kept']:.0%} kept the leader",
    ]
    if n_left := int((block.judged.any(axis=0) & ~both).sum()):
        notes.append(f"{counted(n_left, 'segment')} annotated for only some of the systems {are(n_left)} excluded")
    return (*notes, *block.selection.notes)
