"""Deltas: how large a metric's difference between two systems must be for people to agree with it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from metaeval.answer import Table, attributes, or_none
from metaeval.kernels.arrays.checks import Bools, Floats
from metaeval.kernels.resampling.agreement_curve import AgreementThresholds, PairsOfSet, agreement_thresholds
from metaeval.options import Options
from metaeval.pairs.settings import DeltaSettings
from metaeval.pairs.system_pairs import DIRECTIONS, SystemPairs, read_pairs
from metaeval.signature import option_parts, restricted, signed
from metaeval.system_scores import without_noise
from queries.evalsets import expand
from queries.longitudinal import metric_names
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import unknown
from warehouse.facts.testsets import facts
from warehouse.progress import Progress
from warehouse.wording import counted, option

OTHER_SCALE = 20.0  # sets whose largest scores differ more than this many times have different scales
FEW_SETS = 5
N_GROUPS = 10
ALL = "all"


@dataclass(frozen=True)
class Group:
    """Pairs of about the same difference: their mean difference and the share that the metric orders as people do."""

    difference: float
    share: float
    n_pairs: int


@dataclass(frozen=True)
class Fit:
    """The pairs of one human protocol and direction (`ALL` for all of them), and what was fitted to them.

    n_ties: pairs that people score the same, which are excluded; n_metric_ties: pairs that the metric scores the same,
    which count as wrong; n_not_significant, n_untested: excluded because people show no significant difference, or
    because no segment was annotated for both systems. agreement: share of pairs that the metric orders as people do.
    years: of the evaluation sets, ascending; a test set of unknown year has its name there.
    """

    protocol: str
    direction: str
    n_sets: int
    n_systems: int
    n_pairs: int
    n_ties: int
    n_metric_ties: int
    n_not_significant: int
    n_untested: int
    agreement: float
    groups: tuple[Group, ...]
    found: AgreementThresholds
    years: str


@dataclass(frozen=True)
class Deltas:
    """fits: by protocol, all directions first. notes: one line each."""

    metric: str
    fits: tuple[Fit, ...]
    signature: str
    notes: tuple[str, ...]


def deltas(
    warehouse: Warehouse,
    asked: Slice,
    metric: str,
    options: Options,
    what: DeltaSettings,
    progress: Progress | None = None,
) -> Deltas:
    """Fit agreement with people to a metric's differences, by human protocol and direction.

    asked: its test set and language pair may be several, joined by commas, or "all". metric: a base name, for the
    variant that used the official reference, or the full name of a variant.
    Raises QuestionError: unknown names, or no pair of systems at all.
    """
    _check_metric(warehouse, asked, metric)
    needs_p = what.human_alpha is not None
    read, notes = read_pairs(
        warehouse, asked, options, tested=needs_p, each_protocol=True, metric=metric, progress=progress
    )
    read = _with_metric(read, metric, notes)
    sets, lines = _on_one_scale(read)
    notes += [*_converted(sets, metric), *lines]
    groups = _by_protocol(sets)
    fits = []
    for number, (protocol, direction, members) in enumerate(groups):
        if progress is not None:
            progress(f"resampling {protocol} {direction}", number, len(groups))
        fit = _fit(protocol, direction, members, what)
        if fit is not None:
            fits.append(fit)
    if not fits:
        raise QuestionError(
            f"no pair of systems with {metric} and a human difference" + (f": {'; '.join(notes)}" if notes else "")
        )
    signature = _signature(sets, metric, options, what, asked)
    return Deltas(metric, tuple(fits), signature, (*_answers(metric, fits), *_reading(fits, what), *notes))


def _by_protocol(sets: Sequence[SystemPairs]) -> list[tuple[str, str, list[SystemPairs]]]:
    """Protocol, direction and members: all directions together, and each by itself where there are several."""
    found = []
    for protocol in sorted({one.protocol for one in sets}):
        members = [one for one in sets if one.protocol == protocol]
        there = [direction for direction in DIRECTIONS if any(one.direction == direction for one in members)]
        found.append((protocol, ALL, members))
        parts = {direction: [one for one in members if one.direction == direction] for direction in there}
        found += [(protocol, direction, part) for direction, part in parts.items() if len(there) > 1]
    return found


def _check_metric(warehouse: Warehouse, asked: Slice, metric: str) -> None:
    """Raises QuestionError: no evaluation set of the slice has the metric."""
    known: set[str] = set()
    for testset, lp in expand(warehouse, asked.testset, asked.lp, asked.human).chosen:
        known |= {name for names in metric_names(warehouse, testset, lp) for name in names}
    if metric not in known:
        raise unknown("metric", metric, known)


def _with_metric(read: Sequence[SystemPairs], metric: str, notes: list[str]) -> list[SystemPairs]:
    """The sets with scores of the metric for every system; a line on those without.

    Raises QuestionError: a set has several variants of the metric.
    """
    for one in read:
        if len(one.metric_names) > 1:
            raise QuestionError(
                f"{one.where} has several variants of {metric}: name one of {', '.join(one.metric_names)}"
            )
    missing = sorted({one.where for one in read if not one.metric_names})
    if missing:
        notes.append(f"without {', '.join(missing)}: {metric} has no scores of a system, or used another reference")
    return [one for one in read if one.metric_names]


def _converted(sets: Sequence[SystemPairs], metric: str) -> list[str]:
    """A line on sets whose scores are known to run from 0 to 1 and were brought to the metric's usual scale."""
    names = sorted({one.testset for one in sets if one.factors[0] != 1})
    return [f"{metric} of {', '.join(names)} runs from 0 to 1 and was multiplied by 100"] if names else []


def _on_one_scale(sets: Sequence[SystemPairs]) -> tuple[list[SystemPairs], list[str]]:
    """The sets whose scores are on the scale of most pairs, and lines on the others."""
    if not sets:
        return [], []
    largest = np.array([one.largest[0] for one in sets])
    sizes = [len(one.first) for one in sets]
    typical = float(np.median(np.repeat(largest, sizes)))
    other = (largest * OTHER_SCALE < typical) | (largest > typical * OTHER_SCALE)
    kept = [one for one, out in zip(sets, other, strict=True) if not out]
    gone = [one.where for one, out in zip(sets, other, strict=True) if out]
    of = f"{len(gone)} of {counted(len(sets), 'evaluation set')}"
    note = f"without {of}, whose scores are on another scale than most pairs: {', '.join(gone)}"
    return kept, [note] if gone else []


def _fit(protocol: str, direction: str, members: Sequence[SystemPairs], what: DeltaSettings) -> Fit | None:
    alpha = what.human_alpha
    told = [np.ones(len(one.first), dtype=bool) if alpha is None else one.p <= alpha for one in members]
    kept = [(one.human_gaps != 0) & apart for one, apart in zip(members, told, strict=True)]
    gaps = without_noise(np.concatenate([np.abs(one.metric_gaps[0]) for one in members]))
    parts = np.split(gaps, np.cumsum([len(one.first) for one in members])[:-1])
    sets, metric_ties = [], 0
    for one, part, use in zip(members, parts, kept, strict=True):
        agrees = np.sign(one.metric_gaps[0]) == np.sign(one.human_gaps)
        if use.any():
            sets.append(PairsOfSet(len(one.systems), one.first[use], one.second[use], part[use], agrees[use]))
            metric_ties += int((part[use] == 0).sum())
    if not sets:
        return None
    used = [one for one, use in zip(members, kept, strict=True) if use.any()]
    rng = np.random.default_rng([what.seed, DIRECTIONS.index(direction) + 1 if direction != ALL else 0])
    agrees = np.concatenate([one.agrees for one in sets])
    return Fit(
        protocol=protocol,
        direction=direction,
        n_sets=len(sets),
        n_systems=sum(len(one.systems) for one in used),
        n_pairs=len(agrees),
        n_ties=sum(int((one.human_gaps == 0).sum()) for one in members),
        n_metric_ties=metric_ties,
        n_not_significant=0 if alpha is None else sum(int((one.p > alpha).sum()) for one in members),
        n_untested=0 if alpha is None else sum(int(np.isnan(one.p).sum()) for one in members),
        agreement=float(agrees.mean()),
        groups=_groups(np.concatenate([one.differences for one in sets]), agrees),
        found=agreement_thresholds(sets, tuple(sorted(what.agreement)), rng=rng, n_draws=what.draws),
        years=", ".join(sorted({str(facts(one.testset).year or one.testset) for one in used})),
    )


def _groups(gaps: Floats, agrees: Bools) -> tuple[Group, ...]:
    """Tenths of the pairs, by their difference."""
    order = np.argsort(gaps, kind="stable")
    parts = [part for part in np.array_split(order, N_GROUPS) if part.size]
    return tuple(Group(float(gaps[part].mean()), float(agrees[part].mean()), len(part)) for part in parts)


def _signature(sets: Sequence[SystemPairs], metric: str, options: Options, what: DeltaSettings, asked: Slice) -> str:
    used = sorted({source for one in sets for source in one.used})
    levels = sorted(what.agreement)
    return signed(
        ("deltas", metric),
        *restricted(asked, testset=asked.testset, lp=asked.lp, human=asked.human or "one_a_protocol"),
        ("levels", None if levels == list(DeltaSettings.agreement) else ",".join(f"{level:g}" for level in levels)),
        ("pairs", "all" if what.human_alpha is None else f"wilcoxon_p<={what.human_alpha:g}"),
        ("fit", "isotonic"),
        ("interval", "percentile_95"),
        ("resampled", "evaluation_sets,systems"),
        ("resamples", what.draws),
        ("seed", what.seed),
        ("system_score", "+".join(used) or None),
        *option_parts(options),
        ("n_sets", len({one.where for one in sets})),
    )


def _answers(metric: str, fits: Sequence[Fit]) -> list[str]:
    """A line for each protocol, all directions together: the first level, its differences, and the years; or that there
    are too few pairs for it.
    """
    lines = []
    for fit in (one for one in fits if one.direction == ALL):
        first = fit.found.thresholds[0]
        if fit.n_pairs < pairs_needed(first.level):
            lines.append(f"{fit.protocol} of {fit.years}: too few systems for an answer: {_reason(fit, first.level)}")
        if np.isnan(first.difference):
            continue
        safe = "none among these differences" if np.isnan(first.high) else f"{first.high:.3g}"
        lines.append(
            f"{fit.protocol} of {fit.years}: people agree on {first.level:.0%} of pairs that are at least "
            f"{first.difference:.3g} {metric} apart; safe difference: {safe}"
        )
    return lines


def _reading(fits: Sequence[Fit], what: DeltaSettings) -> list[str]:
    notes = [
        "delta: smallest difference at which the isotonic fit of agreement with people reaches the level; on new data, "
        "pairs at least this far apart reach it together, those just this far apart often do not",
        "low, safe: ends of its 95% interval, evaluation sets resampled, and systems within them; pairs just as far "
        "apart as the safe difference reach the level, too; no value where it lies beyond all differences seen",
        "no delta where 1 / (1 - level) pairs that far apart do not reach the level; nothing is extrapolated",
    ]
    if what.human_alpha is None:
        notes.append(
            f"pairs include those whose human difference may be chance ({option('human_alpha', 0.05)} excludes them)"
        )
    if few := [fit for fit in fits if fit.n_sets < FEW_SETS]:
        which = ", ".join(f"{fit.protocol} {fit.direction} ({fit.n_sets})" for fit in few)
        notes.append(f"fewer than {FEW_SETS} evaluation sets, intervals do not show how much others differ: {which}")
    return notes


SCHEMA_NAMES = (
    *("metric", "protocol", "direction", "agreement", "delta", "low", "safe", "reached"),
    *("n_pairs", "n_at_least", "overall", "years", "n_sets", "n_systems", "n_human_ties", "n_metric_ties"),
    *("n_not_significant", "n_untested", "reason", "signature"),
)


def deltas_frame(found: Deltas) -> pl.DataFrame:
    """One row for each protocol, direction and level of agreement.

    Columns: metric, protocol, direction, agreement (the level), delta with low and safe, the ends of its interval (see
    `Threshold`), reached
    (share of resamples in which the level is), n_pairs, n_at_least (pairs with a difference of at least delta), overall
    (agreement over all pairs), n_sets, n_systems, n_human_ties, n_metric_ties, n_not_significant, n_untested (see
    `Fit`), reason (why delta is null), signature.
    """
    schema: dict[str, Any] = dict.fromkeys(SCHEMA_NAMES, pl.Float64)
    schema |= dict.fromkeys(("metric", "protocol", "direction", "years", "reason", "signature"), pl.String)
    schema |= {name: pl.Int64 for name in SCHEMA_NAMES if name.startswith("n_")}
    rows = [row for fit in found.fits for row in _rows(found, fit)]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _rows(found: Deltas, fit: Fit) -> list[dict[str, Any]]:
    curve = fit.found.curve
    rows = []
    for one in fit.found.thresholds:
        is_reached = not np.isnan(one.difference)
        at_least = int(curve.at_least[np.searchsorted(curve.differences, one.difference)]) if is_reached else None
        rows.append(
            {
                "metric": found.metric,
                "agreement": one.level,
                "delta": one.difference if is_reached else None,
                "low": or_none(one.low),
                "safe": or_none(one.high),
                "reached": one.reached,
                "n_at_least": at_least,
                "overall": fit.agreement,
                "n_human_ties": fit.n_ties,
                **attributes(fit, *_COUNTED),
                "reason": None if is_reached else _reason(fit, one.level),
                "signature": found.signature,
            }
        )
    return rows


_COUNTED = (
    *("protocol", "direction", "n_pairs", "years", "n_sets", "n_systems", "n_metric_ties", "n_not_significant"),
    "n_untested",
)


def pairs_needed(level: float) -> int:
    """How many pairs have to be that far apart: with fewer, one that disagrees would miss the level."""
    return math.ceil(1 / (1 - level) - 1e-9)


def _reason(fit: Fit, level: float) -> str:
    if fit.n_pairs < pairs_needed(level):
        verb = "is" if fit.n_pairs == 1 else "are"
        return f"{level:.0%} takes at least {pairs_needed(level)} pairs of systems, and there {verb} {fit.n_pairs}"
    best, largest = float(fit.found.curve.fitted[-1]), float(fit.found.curve.differences[-1])
    if best < level:
        return f"not reached: {best:.2f} at the largest difference, {largest:.4g}"
    return f"not reached by {pairs_needed(level)} pairs"


def deltas_table(found: Deltas) -> Table:
    """The frame with signature and notes."""
    return Table(deltas_frame(found), found.signature, found.notes)


def deltas_reading(found: Deltas) -> pl.DataFrame:
    """The columns that people read."""
    frame = deltas_frame(found)
    shown = ("protocol", "direction", "years", "n_sets", "n_pairs", "overall", "agreement", "delta", "low", "safe")
    return frame.select(*shown, *(() if frame["reason"].null_count() == frame.height else ("reason",)))
