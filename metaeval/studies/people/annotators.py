"""Annotators: their agreement, differences and pace."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.agreement.reliability import drift, interval_alpha
from metaeval.kernels.arrays.checks import Floats
from metaeval.results.answer import Result, or_none
from metaeval.results.signature import Parts, line, stamped
from metaeval.studies.people.annotator_tables import View, legend, schema, summary
from metaeval.studies.people.judgements import People, load_people, resamples, shared
from metaeval.studies.people.reliability import N_SPLITS, Reliability, reliability
from queries.annotations import JudgedScore, annotations, judged_scores, note_on_columns, span_agreement
from warehouse import QuestionError, Warehouse
from warehouse.errors import IT
from warehouse.wording import counted

BREAK = 600.0
"""Seconds between two judgements that count as a break."""


def pace(warehouse: Warehouse, testset: str, lp: str, human: str | None = None) -> Result:
    """Seconds between an annotator's consecutive judgements, excluding breaks of more than ten minutes.

    Columns human, annotator, n_judgements, n_gaps, n_breaks, seconds (median), change: mean of the later half of the
    gaps divided by that of the earlier half, below 1 if the annotator became faster (null with fewer than 10 gaps).
    Judgements saved at the same moment (gap 0) count as gaps. Slowest first. Scores without times for all judgements
    are excluded.
    Raises QuestionError: no judgements, or none with times.
    """
    rows: list[tuple[object, ...]] = []
    scores = judged_scores(warehouse, testset, lp, human)
    for score in scores:
        frame = annotations(warehouse, score).filter(pl.col("counts") & pl.col("rater").is_not_null())
        if not frame.height or frame["time"].null_count():
            continue
        for (rater,), own in frame.sort("time", maintain_order=True).group_by("rater", maintain_order=True):
            seconds = own["time"].dt.epoch("ms").to_numpy() / 1000
            gaps: Floats = np.diff(seconds)
            kept = gaps[gaps <= BREAK]
            half = len(kept) // 2
            before = float(kept[:half].mean()) if len(kept) >= 10 else np.nan
            change = float(kept[half:].mean()) / before if before > 0 else np.nan
            median = float(np.median(kept)) if kept.size else np.nan
            counts = (own.height, len(kept), len(gaps) - len(kept))
            rows.append((score.human, rater, *counts, or_none(median), or_none(change)))
    if not rows:
        raise QuestionError(f"{IT} has no judgements with times", where=f"{testset} {lp}")
    names = ("human", "annotator", "n_judgements", "n_gaps", "n_breaks", "seconds", "change")
    schema = dict.fromkeys(names[:2], pl.String()) | dict.fromkeys(names[2:5], pl.Int64())
    schema |= dict.fromkeys(names[5:], pl.Float64())  # type: ignore[arg-type]
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    frame = frame.sort("human", "seconds", "annotator", descending=[False, True, False], nulls_last=True)
    parts = [("pace", human or "all"), ("testset", testset), ("lp", lp), ("break", f"{BREAK:.0f}s")]
    return Result(frame, stamped(*parts))


Interval = tuple[float | None, float | None, float | None]  # a value, and its lower and upper end
_INTERVAL = (0.025, 0.975)


def annotators(
    warehouse: Warehouse,
    testsets: str = "all",
    lps: str = "all",
    human: str | None = None,
    view: View | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """Annotators of the human scores that have single judgements.

    Judgements of systems (including human translations) with a value count, repeats and fillers too, although they are
    no part of the human score; attention checks, tutorials and superseded judgements do not.
    view: None means "annotators" if there is only one human score, else "sets".
    sets, one row per human score: testset, lp, human, n_annotators (null if unknown), n_judgements, n_excluded,
    n_outputs, n_shared (judged by at least two annotators), mean, sd, alpha with its interval, n_drifting (annotators
    whose drift differs from 0), halves, system_r, system_low, system_high, system_corrected, n_systems (scored by both
    halves), output_r, output_low, output_high, output_corrected, n_halved (outputs scored by both halves), signature.
    annotators, one row per annotator: testset, lp, human, annotator, n_judgements, n_excluded, n_outputs, n_shared,
    mean, sd, leniency (mean residual), difference (mean distance to the others' mean on shared outputs), drift with its
    interval, signature. pairs, one row per pair of annotators with outputs in common: testset, lp, human, annotator_a,
    annotator_b, n_shared, difference (mean of a minus b), distance (mean absolute difference), tau_b, alpha, spans_f
    (of the error spans that both marked), signature.
    Raises QuestionError: see `judged_scores`; the view needs annotators and none is known, or pairs and none share
    outputs.
    """
    scores = judged_scores(warehouse, testsets, lps, human)
    chosen = view or ("annotators" if len(scores) == 1 else "sets")
    rows: list[dict[str, Any]] = []
    facts: list[dict[str, Any]] = []  # of view sets, which the sentence on the annotators needs, too
    parts: list[Parts] = []
    remarks: dict[str, list[tuple[JudgedScore, str]]] = {}  # of which human scores each is true, and for how much
    for score in scores:
        people = load_people(warehouse, score)
        if people is None:
            remarks.setdefault("no judgement counts", []).append((score, ""))
            continue
        parts.append(_parts(score, people, chosen, draws, seed))
        for remark, how_many in _remarks(people, chosen):
            remarks.setdefault(remark, []).append((score, how_many))
        if view is None and chosen == "annotators" and not people.names:
            chosen = "sets"
        of_score = {"testset": score.testset, "lp": score.lp, "human": score.human}
        sets = [] if chosen == "pairs" else _set_rows(people, draws, seed)
        found = sets if chosen == "sets" else _ROWS[chosen](people)
        facts += [{**of_score, **row} for row in sets]
        if chosen == "pairs" and found:
            agreed = span_agreement(warehouse, score)
            found = [{**row, "spans_f": agreed.get((row["annotator_a"], row["annotator_b"]))} for row in found]
        if chosen == "annotators" and found:
            remarks.setdefault(summary(sets[0]), []).append((score, ""))
        rows += [{**of_score, **row, "signature": line(parts[-1])} for row in found]
    if not rows:
        what = "annotators are not known" if chosen == "annotators" else "no two annotators judged the same output"
        raise QuestionError(f"{' '.join(dict.fromkeys((testsets, lps)))}: {what}")
    frame = pl.DataFrame(rows, schema=schema(chosen), orient="row")
    notes = (f"{_named(of)}: {remark}" for remark, of in remarks.items())
    columns = (note_on_columns(warehouse, *place) for place in dict.fromkeys((one.testset, one.lp) for one in scores))
    return Result(frame, parts, (*notes, *filter(None, columns), *legend(chosen, frame)), {"sets": facts})


def _named(scores: Iterable[tuple[JudgedScore, str]]) -> str:
    """Human scores, each evaluation set before its own, and for how many of its judgements a remark is true."""
    places: dict[str, list[str]] = {}
    for one, how_many in scores:
        places.setdefault(f"{one.testset} {one.lp}", []).append(f"{one.human} {how_many}".rstrip())
    return "; ".join(f"{place} {', '.join(humans)}" for place, humans in places.items())


def _parts(score: JudgedScore, people: People, view: View, draws: int, seed: int) -> Parts:
    of_pairs = view == "pairs"
    halves = None if of_pairs else people.judged.halves
    return stamped(
        ("annotators", score.human),
        ("testset", score.testset),
        ("lp", score.lp),
        ("view", view),
        ("judgements", ",".join(("valid", *people.n_beside))),
        ("systems", "all_judged"),
        ("n_judgements", int(people.n_each.sum())),
        ("n_annotators", len(people.names) or None),
        ("alpha", "interval" if people.names else None),
        ("interval", "percentile,segments,these_annotators" if people.names and not of_pairs else None),
        ("resamples", draws if people.names and not of_pairs else None),
        ("drift", "jackknife,documents,t" if people.names and people.has_order and not of_pairs else None),
        ("spans", "mp,matching=many_to_many" if of_pairs else None),
        ("halves", halves),
        ("splits", halves and N_SPLITS),
        ("seed", None if of_pairs else seed),
    )


def _remarks(people: People, view: View) -> list[tuple[str, str]]:
    """Remarks, each with the judgements of these people that it is true for, if not all."""
    found = []
    if not people.names:
        found.append(("agreement and drift are unknown, because annotators are unknown", ""))
    elif not people.has_order and view != "pairs":
        found.append(("drift is unknown, because the order of annotation is", ""))
    if n := int((people.n_each > 1).sum()):
        found.append(("these values are each the mean of several judgements", f"({n})"))
    if people.n_beside:
        beside = ", ".join(counted(n, status) for status, n in people.n_beside.items())
        found.append(("repeats and fillers count although they are no part of the human score", f"({beside})"))
    return found


def _alpha(people: People, draws: int, seed: int) -> tuple[float | None, float | None, float | None, int]:
    """Alpha with its interval, and the number of outputs that at least two annotators judged."""
    if not people.names:
        return None, None, None, 0
    values, outputs, _ = shared(people)
    names, places = np.unique(outputs, return_inverse=True)
    if not len(names):
        return None, None, None, 0
    alpha = or_none(interval_alpha(values, places)[0])
    drawn = interval_alpha(values, places, resamples(people, draws, seed)[:, names % people.judged.shape[1]])
    return alpha, *_quantiles(drawn if alpha is not None else np.array([])), len(names)


def _drifts(people: People) -> list[Interval]:
    """For each annotator, the change of the residual from the first judgement to the last, with its interval.

    Documents are resampled: an annotator judges the segments of a document in a row, and these judgements are similar.
    """
    if not people.has_order or people.judged.raters is None:
        return [(None, None, None)] * len(people.names)
    owns = [people.judged.raters == number for number in range(len(people.names))]
    found = [drift(people.residuals[own], people.documents[own]) for own in owns]
    return [(or_none(one.value), or_none(one.low), or_none(one.high)) for one in found]


def _set_rows(people: People, draws: int, seed: int) -> list[dict[str, Any]]:
    judged = people.judged
    alpha, low, high, n_shared = _alpha(people, draws, seed)
    of_systems, of_outputs = reliability(judged, seed)
    drifts = _drifts(people)
    has_drift = any(value is not None for value, _, _ in drifts)
    return [
        {
            "n_annotators": len(people.names) or None,
            "n_judgements": int(people.n_each.sum()),
            "n_excluded": int(np.sum(list(people.n_excluded.values()), dtype=np.int64)),
            "n_outputs": len(np.unique(judged.outputs)),
            "n_shared": n_shared if people.names else None,
            "mean": float(judged.values.mean()),
            "sd": _sd(judged.values),
            "alpha": alpha,
            "alpha_low": low,
            "alpha_high": high,
            "n_drifting": len([one for one in drifts if _is_off(*one[1:])]) if has_drift else None,
            "halves": judged.halves,
            **_half_columns("system", of_systems),
            "n_systems": of_systems.n,
            **_half_columns("output", of_outputs),
            "n_halved": of_outputs.n,
        }
    ]


def _half_columns(what: str, found: Reliability) -> dict[str, float | None]:
    return {f"{what}_{name}": or_none(getattr(found, name)) for name in ("r", "low", "high", "corrected")}


def _annotator_rows(people: People) -> list[dict[str, Any]]:
    judged, residuals = people.judged, people.residuals
    if judged.raters is None:
        return []
    values, outputs, raters = shared(people)
    _, place = np.unique(outputs, return_inverse=True)
    n, total = np.bincount(place), np.bincount(place, values)
    apart = values - (total[place] - values) / (n[place] - 1) if values.size else values
    rows = []
    for number, (name, change) in enumerate(zip(people.names, _drifts(people), strict=True)):
        own, common = judged.raters == number, raters == number
        rows.append(
            {
                "annotator": name,
                "n_judgements": int(people.n_each[own].sum()),
                "n_excluded": people.n_excluded.get(name, 0),
                "n_outputs": len(np.unique(judged.outputs[own])),
                "n_shared": int(common.sum()),
                "mean": float(judged.values[own].mean()),
                "sd": _sd(judged.values[own]),
                "leniency": float(residuals[own].mean()),
                "difference": float(apart[common].mean()) if common.any() else None,
                **dict(zip(("drift", "drift_low", "drift_high"), change, strict=True)),
            }
        )
    return rows


def _pair_rows(people: People) -> list[dict[str, Any]]:
    from scipy.stats import kendalltau

    if not people.names:
        return []
    values, outputs, raters = shared(people)
    by_rater = {
        number: dict(zip(outputs[raters == number].tolist(), values[raters == number].tolist(), strict=True))
        for number in range(len(people.names))
    }
    rows = []
    for one in by_rater:
        for other in range(one + 1, len(people.names)):
            common = [output for output in by_rater[one] if output in by_rater[other]]
            if not common:
                continue
            a, b = (np.array([by_rater[number][output] for output in common]) for number in (one, other))
            both, units = np.concatenate([a, b]), np.tile(np.arange(len(common)), 2)
            is_defined = len(common) > 1 and a.min() < a.max() and b.min() < b.max()
            rows.append(
                {
                    "annotator_a": people.names[one],
                    "annotator_b": people.names[other],
                    "n_shared": len(common),
                    "difference": float((a - b).mean()),
                    "distance": float(np.abs(a - b).mean()),
                    "tau_b": or_none(float(kendalltau(a, b).statistic)) if is_defined else None,
                    "alpha": or_none(interval_alpha(both, units)[0]),
                }
            )
    return sorted(rows, key=lambda row: (-row["n_shared"], row["annotator_a"], row["annotator_b"]))


_ROWS = {"annotators": _annotator_rows, "pairs": _pair_rows}


def _quantiles(drawn: Floats) -> tuple[float | None, float | None]:
    there = drawn[~np.isnan(drawn)]
    if not there.size:
        return None, None
    low, high = np.quantile(there, _INTERVAL)
    return float(low), float(high)


def _is_off(low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and (low > 0 or high < 0)


def _sd(values: Floats) -> float | None:
    return float(values.std(ddof=1)) if len(values) > 1 else None
