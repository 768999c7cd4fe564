"""Pooling: one value per metric from several evaluation sets, metrics matched by base name."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from metaeval import kernels
from metaeval.kernels.agreement.pair_counts import OUTCOMES
from metaeval.kernels.arrays.checks import Floats
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options
from metaeval.results.answer import Result
from metaeval.results.evaluation import Evaluation
from metaeval.results.inputs import where
from metaeval.results.notes import Partial
from metaeval.results.signature import Parts, draw_parts, line, option_parts, restricted, stamped
from metaeval.results.study import RANKING_SCHEMA, SliceResult, ranking_order
from warehouse import QuestionError
from warehouse.wording import are, counted, every

Pooling = Literal["mean", "pairs", "hunter-schmidt"]
_NAMED = 3  # evaluation sets; more are counted


def pool(results: Sequence[SliceResult], how: Pooling, options: Options) -> Result:
    """Pool the results of one measure over several evaluation sets. options: those that they were computed with.

    Rows as of a ranking, one per metric, with the variances if the method gives them.

    how: "mean": plain mean of the values. "pairs": all pairs (of systems for pa and spa, of scores for the pair-count
        family) together; a calibrated measure keeps its own tie threshold in each set. "hunter-schmidt": mean of
        correlations weighted by the number of systems (of scores at segment level), with its observed and sampling
        variance.
    A metric that is missing in a set, or undefined there, has no pooled value; notes say which and where. Sets in which
    no metric has a value, of which a note is with the results, do not count.
    Raises QuestionError: the measure cannot be pooled this way, or two variants of one metric in a set.
    Source: Kocmi et al. 2021 (pairs); Hunter and Schmidt 2004.
    """
    n_asked = len(results)
    results = [result for result in results if result.evaluation.n_distinct] or results
    measure = results[0].evaluation.measure
    _check(measure, how)
    places = [_places(result) for result in results]
    names = sorted(set().union(*places))
    why = {name: _why_not(name, results, places) for name in names}
    shared = [name for name in names if not why[name]]
    chosen = [
        _only(result.evaluation, [known[name] for name in shared])
        for result, known in zip(results, places, strict=True)
    ]
    values, variances = _pooled(measure, chosen, how, shared)
    parts = _parts(results, chosen, how, options)
    frame = _frame(results, chosen, names, shared, values, variances, line(parts))
    return Result(frame, parts, tuple(_notes(measure, why, len(results), n_asked)))


_Name = tuple[str, bool]  # base name, and whether it is reference-free


def _why_not(name: _Name, results: Sequence[SliceResult], places: Sequence[dict[_Name, int]]) -> str:
    """The evaluation sets in which a metric has no value to pool, in words; "" if it has one in all."""
    faults: dict[str, list[str]] = {"not in": [], "not defined in": []}
    for result, known in zip(results, places, strict=True):
        if name not in known:
            faults["not in"].append(where(result.selection))
        elif np.isnan(result.evaluation.value[known[name]]):
            faults["not defined in"].append(where(result.selection))
    return "; ".join(f"{what} {_some(sets, len(results))}" for what, sets in faults.items() if sets)


def _some(evalsets: Sequence[str], n: int) -> str:
    return ", ".join(evalsets) if len(evalsets) <= _NAMED else f"{len(evalsets)} of {counted(n, 'evaluation set')}"


def _notes(measure: Measure, why: dict[_Name, str], n_sets: int, n_asked: int) -> list[str]:
    """How much of the data is pooled, if not all; and metrics without a pooled value by reason, in one line."""
    together: dict[str, list[str]] = {}
    for name, reason in why.items():
        if reason:
            together.setdefault(reason, []).append(name[0])
    if not together and n_sets == n_asked:
        return []
    n_pooled = sum(not reason for reason in why.values())
    have = f"{n_pooled} of {counted(len(why), 'metric')} {'has' if n_pooled == 1 else 'have'} a value"
    text = f"{have} in {every(n_sets, 'evaluation set')}"
    if n_sets < n_asked:
        text = f"{n_sets} of {n_asked} evaluation sets {are(n_sets)} pooled by {measure}; {have} in all of these"
    reasons = [f"{', '.join(names)} ({reason})" for reason, names in together.items()]
    lines: list[str] = [Partial(f"partial: {text}")]
    return lines + ([f"{measure} has no pooled value for {'; '.join(reasons)}"] if reasons else [])


def _places(result: SliceResult) -> dict[_Name, int]:
    places: dict[_Name, int] = {}
    for place, metric in enumerate(result.evaluation.metrics):
        name = (metric.base_name, metric.reference is None)
        if name in places:
            raise QuestionError(
                f"{metric.base_name!r} has several variants in {where(result.selection)}; name one of them exactly"
            )
        places[name] = place
    return places


def _check(measure: Measure, how: Pooling) -> None:
    if how == "hunter-schmidt" and not measure.definition.is_correlation:
        raise QuestionError(f"hunter-schmidt pools correlations, and {measure} is not one; use mean or pairs")
    if how == "pairs" and not measure.adds_up:
        raise QuestionError(f"{measure} is not made of pairs that add up; take mean or hunter-schmidt")


def _only(evaluation: Evaluation, places: Sequence[int]) -> Evaluation:
    """An evaluation of some of its metrics, in the order given."""
    chosen = np.asarray(places, dtype=np.int64)
    arrays = {
        item.name: getattr(evaluation, item.name)[chosen]
        for item in fields(evaluation)
        if isinstance(getattr(evaluation, item.name), np.ndarray)
    }
    counts = evaluation.counts
    if counts is not None:
        counts = replace(
            counts,
            **{name: getattr(counts, name)[chosen] for name in OUTCOMES},
            n_distinct=counts.n_distinct[chosen],
            epsilon=counts.epsilon[chosen],
        )
    return replace(
        evaluation,
        **arrays,
        metrics=tuple(evaluation.metrics[place] for place in places),
        system_score=tuple(evaluation.system_score[place] for place in places),
        counts=counts,
    )


def _pooled(
    measure: Measure, chosen: Sequence[Evaluation], how: Pooling, shared: Sequence[_Name]
) -> tuple[Floats, dict[str, Floats]]:
    """Values (n_shared,), and variances by name."""
    if not shared:
        return np.empty(0), {}
    values = np.array([evaluation.value for evaluation in chosen])  # (n_sets, n_shared)
    if how == "mean":
        return values.mean(axis=0), {}
    if how == "hunter-schmidt":
        sizes = [_sample_size(evaluation) for evaluation in chosen]
        studies = [kernels.hunter_schmidt(values[:, place], sizes) for place in range(len(shared))]
        return np.array([study.mean for study in studies]), {
            "observed_variance": np.array([study.observed_variance for study in studies]),
            "sampling_variance": np.array([study.sampling_variance for study in studies]),
        }
    n_pairs = np.array([evaluation.n_pairs for evaluation in chosen])
    return measure.pooled(values, n_pairs, [one.counts for one in chosen if one.counts is not None]), {}


def _sample_size(evaluation: Evaluation) -> int:
    if evaluation.measure.level == "sys":
        return evaluation.n_systems
    return evaluation.n_judged


def _parts(results: Sequence[SliceResult], chosen: Sequence[Evaluation], how: Pooling, options: Options) -> Parts:
    asked = [result.selection.slice for result in results]
    measure = results[0].evaluation.measure
    sources = {source for evaluation in chosen for source in evaluation.system_score if source is not None}
    return stamped(
        ("measure", measure),
        ("pool", how),
        *restricted(
            asked[0],
            testset=",".join(dict.fromkeys(one.testset for one in asked)),
            lp=",".join(f"{one.testset}:{one.lp}" for one in asked),
            human=",".join(dict.fromkeys(str(result.selection.human) for result in results)),
            reference=",".join(str(result.selection.reference) for result in results),
        ),
        ("n_sets", len(results)),
        ("n_systems", "+".join(str(evaluation.n_systems) for evaluation in chosen)),
        ("n_metrics", len(chosen[0].metrics)),
        ("n_segments", "+".join(str(evaluation.n_segments) for evaluation in chosen)),
        ("n_missing", "+".join(str(evaluation.n_missing) for evaluation in chosen)),
        ("system_score", "+".join(sorted(sources)) or None),
        *draw_parts(measure, options),
        *option_parts(options),
    )


def _total(arrays: Sequence[npt.NDArray[np.int64]], place: int) -> int | None:
    values = [int(array[place]) for array in arrays]
    return None if min(values) < 0 else sum(values)


def _frame(
    results: Sequence[SliceResult],
    chosen: Sequence[Evaluation],
    names: Sequence[_Name],
    shared: Sequence[_Name],
    values: Floats,
    variances: dict[str, Floats],
    signature: str,
) -> pl.DataFrame:
    asked = [result.selection.slice for result in results]
    common: dict[str, Any] = {
        "testset": ",".join(dict.fromkeys(one.testset for one in asked)),
        "lp": ",".join(dict.fromkeys(one.lp for one in asked)),
        "human": ",".join(dict.fromkeys(str(result.selection.human) for result in results)),
        "measure": str(results[0].evaluation.measure),
        "epsilon": None,
        "cluster": None,
        "n_systems": sum(evaluation.n_systems for evaluation in chosen),
        "n_segments": sum(evaluation.n_segments for evaluation in chosen),
        "n_missing": sum(evaluation.n_missing for evaluation in chosen),
        "signature": signature,
    }
    place_of = {name: place for place, name in enumerate(shared)}
    every = [float(values[place_of[name]]) if name in place_of else float("nan") for name in names]
    rows: list[dict[str, Any]] = []
    of_each = [np.zeros(len(shared), dtype=bool) if one.by_order is None else one.by_order for one in chosen]
    by_order = np.all(of_each, axis=0)
    unranked = [name in place_of and bool(by_order[place_of[name]]) for name in names]
    for index, rank in ranking_order(every, [base for base, _ in names], unranked):
        place = place_of.get(names[index])
        row = {
            **common,
            "metric": names[index][0],
            "base_metric": names[index][0],
            "rank": rank,
            "value": None,
        }
        if place is not None:
            sources = {source for evaluation in chosen if (source := evaluation.system_score[place]) is not None}
            row |= {
                "value": every[index],
                "n_pairs": _total([evaluation.n_pairs for evaluation in chosen], place),
                "n_groups": _total([evaluation.n_groups for evaluation in chosen], place),
                "n_groups_nan": _total([evaluation.n_groups_nan for evaluation in chosen], place),
                "system_score": "+".join(sorted(sources)) or None,
                **{key: float(found[place]) for key, found in variances.items()},
            }
        rows.append(row)
    schema = {**RANKING_SCHEMA, **dict.fromkeys(variances, pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row")
