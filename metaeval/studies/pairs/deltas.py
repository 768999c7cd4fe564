"""Deltas: how large a metric's difference between two systems must be for human scores to agree with it."""

import math
from collections.abc import Mapping, Sequence
from glob import escape
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import Bools, Floats
from metaeval.kernels.resampling.agreement_curve import (
    AgreementCurve,
    AgreementThresholds,
    PairsOfSet,
    agreement_thresholds,
)
from metaeval.measures.options import Options
from metaeval.measures.system_scores import without_noise
from metaeval.results.answer import Result, or_none
from metaeval.results.notes import Decisive
from metaeval.results.run import Run
from metaeval.results.signature import Parts, line, option_parts, restricted, stamped
from metaeval.studies.pairs.settings import DeltaSettings
from metaeval.studies.pairs.system_pairs import DIRECTIONS, SystemPairs, read_pairs
from queries.evalsets import expand, years_of_testsets
from queries.longitudinal import metric_names
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import unknown
from warehouse.facts.metrics import describe, folded
from warehouse.names import in_any_case
from warehouse.wording import are, counted, option

OTHER_SCALE = 20.0  # sets whose largest scores differ more than this many times have different scales
FEW_SETS = 5
N_GROUPS = 10
ALL = "all"


def deltas(run: Run, asked: Slice, metric: str, options: Options, what: DeltaSettings) -> Result:
    """Fit agreement with human scores as a function of a metric's differences, by human protocol and direction.

    asked: its test set and language pair may be several, joined by commas, or "all". metric: a base name, which selects
    the variant with the official reference, or the full name of a variant.
    One row per protocol (newest data first, of the same year the official one), direction (all together, `ALL`, first)
    and level of agreement. Columns: metric, protocol,
    direction, agreement (the level), delta with low and safe, the ends of its interval (see `Threshold`), reached
    (share of resamples that reach the level), n_pairs, n_at_least (pairs with a difference of at least delta),
    n_agreeing (those of them that the metric orders as human scores do), overall (the share of all pairs that it does),
    years (of the evaluation sets, ascending; a test set
    of unknown year is named), n_sets, n_systems, n_human_ties (pairs with equal human scores, which are excluded),
    n_metric_ties (pairs with equal metric scores, which count as wrong), n_not_significant, n_untested (excluded
    because human scores do not differ significantly, or because no segment was annotated for both systems), reason (why
    delta is null), signature. At a given difference: one row per protocol and direction, with the agreement there, the
    ends of its band (low, high), n_at_least, and the smallest and largest observed difference.
    Agreement is that of pairs with a difference of just that size; of larger ones it is higher.
    Facts, by protocol with all directions together: curves (difference, agreement, low, high: the fit with its band)
    and tenths (difference, agreement: in ten groups of the pairs).
    Raises QuestionError: unknown names, or no pair of systems.
    """
    with run.opened() as warehouse:
        metric = _known_metric(warehouse, asked, metric)
        years = years_of_testsets(warehouse)
    needs_p = what.human_alpha is not None
    read, notes = read_pairs(run, asked, options, tested=needs_p, each_protocol=True, metric=metric)
    official = {one.where: one.protocol for one in reversed(read)}
    read, others = _of_one_version(_with_metric(read, metric, notes), years)
    sets, lines = _on_one_scale(read)
    converted = _converted(sets, metric)
    notes += [*_spelled(sets, metric), *others, *converted, *lines]
    groups = _by_protocol(sets, official, years)
    rows: list[dict[str, Any]] = []
    curves, tenths = {}, {}
    for number, (protocol, direction, members) in enumerate(groups):
        if run.progress is not None:
            run.progress(f"resampling {protocol} {direction}", number, len(groups))
        if (fit := _fit(protocol, direction, members, what, years)) is not None:
            of_levels, curve, of_tenths = fit
            rows += of_levels
            if direction == ALL:
                curves[protocol], tenths[protocol] = curve, of_tenths
    if not rows:
        raise QuestionError(
            f"no pair of systems with {metric} and a human difference" + (f": {'; '.join(notes)}" if notes else "")
        )
    parts = _parts(sets, metric, options, what, asked)
    columns = COLUMNS if what.difference is None else _AT_A_DIFFERENCE
    schema: dict[str, Any] = dict.fromkeys(columns, pl.Float64)
    schema |= dict.fromkeys(("metric", "protocol", "direction", "years", "reason", "signature"), pl.String)
    schema |= {name: pl.Int64 for name in columns if name.startswith("n_")}
    same = {"metric": metric, "signature": line(parts)}
    frame = pl.DataFrame([row | same for row in rows], schema=schema, orient="row")
    words = [*_answers(metric, rows), *_reading(rows, what)] if what.difference is None else _reading_at(what)
    notes = [*words, *notes]
    return Result(frame, parts, tuple(notes), {"curves": curves, "tenths": tenths, "converted": converted})


def _by_protocol(
    sets: Sequence[SystemPairs], official: Mapping[str, str], years: Mapping[str, int | None]
) -> list[tuple[str, str, list[SystemPairs]]]:
    """Protocol, direction and members: all directions together, then each separately if there are several.

    The protocol of the newest evaluation sets comes first; of several, the one that is official for most pairs.
    official: evaluation set -> protocol of its official human score.
    """
    of_protocol: dict[str, list[SystemPairs]] = {}
    for one in sorted(sets, key=lambda one: one.protocol):
        of_protocol.setdefault(one.protocol, []).append(one)

    def importance(protocol: str) -> tuple[int, int, int]:
        members = of_protocol[protocol]
        n_official = sum(len(one.first) for one in members if official[one.where] == protocol)
        newest = max(years[one.testset] or 0 for one in members)
        return newest, n_official, sum(len(one.first) for one in members)

    found = []
    for protocol in sorted(of_protocol, key=importance, reverse=True):
        members = of_protocol[protocol]
        there = [direction for direction in DIRECTIONS if any(one.direction == direction for one in members)]
        found.append((protocol, ALL, members))
        parts = {direction: [one for one in members if one.direction == direction] for direction in there}
        found += [(protocol, direction, part) for direction, part in parts.items() if len(there) > 1]
    return found


def _known_metric(warehouse: Warehouse, asked: Slice, metric: str) -> str:
    """The metric in the spelling that evaluation sets of the slice have, if it is only one.

    Raises QuestionError: no evaluation set has the metric.
    """
    places = expand(warehouse, asked.testset, asked.lp, asked.human).chosen
    known = {name for place in places for names in metric_names(warehouse, *place) for name in names}
    if folded(metric) not in {folded(name) for name in known}:
        raise unknown("metric", metric, known)
    alike = in_any_case(escape(metric), known)
    return alike[0] if len(alike) == 1 else metric


def _with_metric(read: Sequence[SystemPairs], metric: str, notes: list[str]) -> list[SystemPairs]:
    """The sets in which the metric scored every system, and a note on the others.

    Raises QuestionError: a set has several variants of the metric.
    """
    for one in read:
        if len(one.metric_names) > 1:
            raise QuestionError(
                f"{one.where} has several variants of {metric}: name one of {', '.join(one.metric_names)}"
            )
    missing = sorted({one.where for one in read if not one.metric_names})
    if missing:
        these = f"{', '.join(missing)} {are(len(missing))} excluded"
        notes.append(f"{these}: {metric} has no scores of a system, or used another reference")
    return [one for one in read if one.metric_names]


def _spelled(sets: Sequence[SystemPairs], metric: str) -> list[str]:
    """A note on sets that spell the metric differently."""
    names: dict[str, set[str]] = {}
    for one in sets:
        if metric not in (one.metric_names[0], one.base_names[0]):
            names.setdefault(one.base_names[0], set()).add(one.testset)
    return [f"{name} of {', '.join(sorted(testsets))} counts as {metric}" for name, testsets in sorted(names.items())]


def _of_one_version(
    read: Sequence[SystemPairs], years: Mapping[str, int | None]
) -> tuple[list[SystemPairs], list[str]]:
    """The sets with the metric's newest version, and a note on the others.

    A name may have meant several models, whose scores are on different scales. If the versions of some years are known,
    a set without a known version is excluded, too.
    """
    version = {one.testset: describe(one.base_names[0], years[one.testset]).version for one in read}
    _, newest = max(((years[testset] or 0, one) for testset, one in version.items() if one), default=(0, None))
    gone: dict[str, list[str]] = {}
    for testset in sorted(version):
        if version[testset] != newest:
            gone.setdefault(version[testset] or "unknown", []).append(testset)
    names = "; ".join(f"{', '.join(testsets)} (version {one})" for one, testsets in sorted(gone.items()))
    kept = [one for one in read if version[one.testset] == newest]
    return kept, [f"only {read[0].base_names[0]}'s version {newest} is used, not that of {names}"] if gone else []


def _converted(sets: Sequence[SystemPairs], metric: str) -> list[str]:
    """A note on sets whose scores are known to range from 0 to 1 and were converted to the metric's usual scale."""
    names = sorted({one.testset for one in sets if one.factors[0] != 1})
    text = f"{metric} of {', '.join(names)} runs from 0 to 1 and was multiplied by 100"
    return [Decisive(text, "multiplied by 100:", f"{metric} of {', '.join(names)}")] if names else []


def _on_one_scale(sets: Sequence[SystemPairs]) -> tuple[list[SystemPairs], list[str]]:
    """The sets whose scores are on the scale of most pairs, and notes on the others."""
    if not sets:
        return [], []
    largest = np.array([one.largest[0] for one in sets])
    sizes = [len(one.first) for one in sets]
    typical = float(np.median(np.repeat(largest, sizes)))
    other = (largest * OTHER_SCALE < typical) | (largest > typical * OTHER_SCALE)
    kept = [one for one, out in zip(sets, other, strict=True) if not out]
    gone = [one.where for one, out in zip(sets, other, strict=True) if out]
    of = f"{len(gone)} of {counted(len(sets), 'evaluation set')}"
    note = f"{of} {are(len(gone))} excluded, whose scores are on another scale than most pairs: {', '.join(gone)}"
    return kept, [note] if gone else []


def _fit(
    protocol: str,
    direction: str,
    members: Sequence[SystemPairs],
    what: DeltaSettings,
    years: Mapping[str, int | None],
) -> tuple[list[dict[str, Any]], pl.DataFrame, pl.DataFrame] | None:
    """Rows for the levels, the fitted curve, and tenths of the pairs; None if no pair counts."""
    alpha = what.human_alpha
    told = [np.ones(len(one.first), dtype=bool) if alpha is None else one.p <= alpha for one in members]
    kept = [(one.human_gaps != 0) & apart for one, apart in zip(members, told, strict=True)]
    # Differences that rounding alone sets apart must be equal: the fit has one place for each.
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
    also = () if what.difference is None else (what.difference,)
    found = agreement_thresholds(sets, tuple(sorted(what.agreement)), rng=rng, n_draws=what.resamples, also=also)
    same = {
        "protocol": protocol,
        "direction": direction,
        "n_pairs": len(agrees),
        "overall": float(agrees.mean()),
        "years": ", ".join(sorted({str(years[one.testset] or one.testset) for one in used})),
        "n_sets": len(sets),
        "n_systems": sum(len(one.systems) for one in used),
        "n_human_ties": sum(int((one.human_gaps == 0).sum()) for one in members),
        "n_metric_ties": metric_ties,
        "n_not_significant": 0 if alpha is None else sum(int((one.p > alpha).sum()) for one in members),
        "n_untested": 0 if alpha is None else sum(int(np.isnan(one.p).sum()) for one in members),
    }
    rows, fitted = [same | _at(size, found) for size in also], found.curve
    differences = np.concatenate([one.differences for one in sets])
    for threshold in () if also else found.thresholds:
        is_reached = not np.isnan(threshold.difference)
        at_least = differences >= threshold.difference
        of_level = {
            "agreement": threshold.level,
            "delta": or_none(threshold.difference),
            "low": or_none(threshold.low),
            "safe": or_none(threshold.high),
            "reached": threshold.reached,
            "n_at_least": int(at_least.sum()) if is_reached else None,
            "n_agreeing": int(agrees[at_least].sum()) if is_reached else None,
            "reason": None if is_reached else _reason(len(agrees), threshold.level, fitted),
        }
        rows.append(same | of_level)
    band = {"difference": found.grid, "agreement": fitted.value(found.grid), "low": found.low, "high": found.high}
    return rows, pl.DataFrame(band), _tenths(differences, agrees)


def _at(size: float, thresholds: AgreementThresholds) -> dict[str, Any]:
    """The fitted agreement at a difference with its band; null outside the observed differences."""
    seen = thresholds.curve.differences
    at, is_seen = thresholds.grid == size, float(seen[0]) <= size <= float(seen[-1])
    values = {
        "agreement": thresholds.curve.value(thresholds.grid[at]),
        "low": thresholds.low[at],
        "high": thresholds.high[at],
    }
    return {
        "difference": size,
        **{name: or_none(float(value[0])) if is_seen else None for name, value in values.items()},
        "n_at_least": int(thresholds.curve.at_least[np.searchsorted(seen, size)]) if is_seen else 0,
        "smallest": float(seen[0]),
        "largest": float(seen[-1]),
        "reason": None if is_seen else _unseen(size, float(seen[0]), float(seen[-1])),
    }


def _unseen(size: float, smallest: float, largest: float) -> str:
    if size > largest:
        return f"more than the largest difference seen, {largest:.3g}"
    return f"less than the smallest difference seen, {smallest:.3g}"


_AT_A_DIFFERENCE = [
    *("difference", "agreement", "low", "high", "reason", "metric", "protocol", "direction", "years", "n_pairs"),
    *("n_at_least", "smallest", "largest", "overall", "n_sets", "n_systems", "n_human_ties", "n_metric_ties"),
    *("n_not_significant", "n_untested", "signature"),
]


def _reading_at(what: DeltaSettings) -> list[str]:
    share = (
        "agreement: isotonic fit, over all differences, of the share of pairs that the metric orders as human scores do"
    )
    return [
        share,
        "low, high: 95% band at this difference, evaluation sets resampled, and systems within them",
        *(
            [
                "pairs include those whose human difference may be due to chance "
                f"({option('human_alpha', 0.05)} excludes them)"
            ]
            if what.human_alpha is None
            else []
        ),
    ]


_WIDE = 0.8  # an interval this wide leaves open whether people agree


def at_in_a_sentence(frame: pl.DataFrame, curves: Mapping[str, pl.DataFrame]) -> tuple[str, str]:
    """What a difference means, for the protocol of the newest data. frame, curves: as from `deltas` at a difference."""
    whole = frame.filter(pl.col("direction") == ALL).sort(pl.col("agreement").is_null(), maintain_order=True)
    row = whole.row(0, named=True)
    data = f"{row['protocol']} {row['years']}, {counted(row['n_pairs'], 'pair')} of systems"
    what = f"a difference of {row['difference']:g} {row['metric']}"
    if row["agreement"] is None:
        return f"No data for {what}: it is {row['reason']} ({data}).", _of_a_hundred(row)
    least = "" if row["low"] is None or row["low"] > 0.5 else _least_with_most(curves[row["protocol"]])
    if row["low"] is not None and row["high"] - row["low"] >= _WIDE:
        share = f"anything from {row['low']:.0%} to {row['high']:.0%} of pairs"
        return f"Not known: human scores may agree with {share} with {what} ({data}).", least
    ends = "" if row["low"] is None else f" [{row['low']:.0%}, {row['high']:.0%}]"
    return f"Human scores agree with {row['agreement']:.0%}{ends} of pairs with {what} ({data}).", least


def _least_with_most(curve: pl.DataFrame) -> str:
    """From which difference on the band of agreement is above one half."""
    above = (curve["low"] > 0.5).to_numpy()
    first = len(above) - int(np.argmin(above[::-1])) if not above.all() else 0
    if first == len(above):
        return "At no difference seen is it 97.5% certain that they agree with most."
    return f"From {curve['difference'][first]:.3g} on, it is 97.5% certain that they agree with most."


def _of_a_hundred(row: Mapping[str, Any]) -> str:
    """A suggestion if the difference seems to be in points out of 100 but scores range from 0 to 1, else nothing."""
    if not row["largest"] < row["difference"] <= 100 * row["largest"]:
        return ""
    return f"If you mean points of 100, take {option('difference', format(row['difference'] / 100, 'g'))}."


def _tenths(gaps: Floats, agrees: Bools) -> pl.DataFrame:
    """Mean difference and share of agreeing pairs in each tenth of the pairs, sorted by difference."""
    order = np.argsort(gaps, kind="stable")
    parts = [part for part in np.array_split(order, N_GROUPS) if part.size]
    return pl.DataFrame(
        {"difference": [gaps[part].mean() for part in parts], "agreement": [agrees[part].mean() for part in parts]}
    )


def _parts(sets: Sequence[SystemPairs], metric: str, options: Options, what: DeltaSettings, asked: Slice) -> Parts:
    used = sorted({source for one in sets for source in one.used})
    levels = sorted(what.agreement)
    return stamped(
        ("deltas", metric),
        *restricted(asked, testset=asked.testset, lp=asked.lp, human=asked.human or "one_a_protocol"),
        ("difference", what.difference),
        ("levels", None if levels == list(DeltaSettings.agreement) else ",".join(f"{level:g}" for level in levels)),
        ("pairs", "all" if what.human_alpha is None else f"wilcoxon_p<={what.human_alpha:g}"),
        ("fit", "isotonic"),
        ("interval", "percentile_95"),
        ("resampled", "evaluation_sets,systems"),
        ("resamples", what.resamples),
        ("seed", what.seed),
        ("system_score", "+".join(used) or None),
        *option_parts(options),
        ("n_sets", len({one.where for one in sets})),
    )


def _answers(metric: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    """A line per protocol, all directions together: first level, differences, years; or that pairs are too few."""
    lines = []
    firsts = {row["protocol"]: row for row in reversed(rows) if row["direction"] == ALL}
    for row in reversed(firsts.values()):
        of, level = f"{row['protocol']} of {row['years']}", row["agreement"]
        if row["n_pairs"] < pairs_needed(level):
            lines.append(f"{of} has too few systems for an answer: {row['reason']}")
        if row["delta"] is None:
            continue
        safe = "none among the observed differences" if row["safe"] is None else f"{row['safe']:.3g}"
        lines.append(
            f"{of}: fitted agreement reaches {level:.0%} at a difference of {row['delta']:.3g} {metric}; "
            f"{_beyond(row)}; safe difference: {safe}"
        )
    return lines


def _beyond(row: Mapping[str, Any]) -> str:
    """With how many pairs from delta on human scores agree, and with how many others. row: one with a delta."""
    n, n_agreeing, n_others = row["n_pairs"], row["n_agreeing"], row["n_pairs"] - row["n_at_least"]
    pairs = f"{counted(row['n_at_least'], 'pair')} of systems"
    said = f"human scores agree with {n_agreeing} of {pairs} at least that far apart"
    return said + (f", {round(row['overall'] * n) - n_agreeing} of {counted(n_others, 'other')}" if n_others else "")


def in_a_sentence(frame: pl.DataFrame) -> tuple[str, str]:
    """Where agreement is high enough, for the protocol of the newest data. frame: as from `deltas`."""
    firsts = frame.filter(pl.col("direction") == ALL, pl.col("agreement") == pl.col("agreement").min())
    row = firsts.sort(pl.col("delta").is_null(), maintain_order=True).row(0, named=True)
    data, metric, level = f"{row['protocol']} {row['years']}", row["metric"], row["agreement"]
    if row["delta"] is None:
        return (
            f"No: at no difference of {metric} does fitted agreement with human scores reach {level:.0%} ({data}, "
            f"{counted(row['n_pairs'], 'pair')} of systems).",
            "",
        )
    safe = "none" if row["safe"] is None else f"{row['safe']:.3g}"
    start = f"Fitted agreement reaches {level:.0%} at a difference of {row['delta']:.3g} {metric} ({data})"
    return f"{start}: {_beyond(row)}.", f"Safe difference: {safe}."


def _reading(rows: Sequence[dict[str, Any]], what: DeltaSettings) -> list[str]:
    notes = [
        "delta: smallest difference at which the isotonic fit of agreement with human scores reaches the level; the "
        "fit rises in steps, so levels may share a delta; on new data, pairs at least this far apart reach the level "
        "on average, pairs exactly this far apart often do not",
        "low, safe: 95% interval of delta, over resampled evaluation sets and systems; pairs exactly as far "
        "apart as the safe difference reach the level too; no value if it lies beyond all observed differences",
        "no delta unless the fit reaches the level with at least 1 / (1 - level) pairs that far apart; nothing is "
        "extrapolated",
    ]
    if what.human_alpha is None:
        notes.append(
            f"pairs include those whose human difference may be due to chance ({option('human_alpha', 0.05)} "
            "excludes them)"
        )
    few = [f"{row['protocol']} {row['direction']} ({row['n_sets']})" for row in rows if row["n_sets"] < FEW_SETS]
    if few:
        which = ", ".join(dict.fromkeys(few))
        notes.append(
            f"fewer than {FEW_SETS} evaluation sets, so intervals do not show how much other sets differ: {which}"
        )
    return notes


COLUMNS = (
    *("metric", "protocol", "direction", "agreement", "delta", "low", "safe", "reached"),
    *(
        "n_pairs",
        "n_at_least",
        "n_agreeing",
        "overall",
        "years",
        "n_sets",
        "n_systems",
        "n_human_ties",
        "n_metric_ties",
    ),
    *("n_not_significant", "n_untested", "reason", "signature"),
)


def pairs_needed(level: float) -> int:
    """Number of pairs needed at this distance: with fewer, a single disagreeing pair would miss the level."""
    return math.ceil(1 / (1 - level) - 1e-9)


def _reason(n_pairs: int, level: float, curve: AgreementCurve) -> str:
    if n_pairs < pairs_needed(level):
        verb = "is" if n_pairs == 1 else "are"
        return f"{level:.0%} takes at least {pairs_needed(level)} pairs of systems, and there {verb} {n_pairs}"
    best, largest = float(curve.fitted[-1]), float(curve.differences[-1])
    if best < level:
        return f"agreement is only {best:.2f} at the largest difference, {largest:.4g}"
    return f"fewer than {pairs_needed(level)} pairs reach it"
