"""Tie thresholds over the years: ε* of each metric in each year, and what a threshold from an earlier year loses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import polars as pl

from metaeval import kernels
from metaeval.measures.judged import labels
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options
from metaeval.results.answer import Result
from metaeval.results.evaluation import Evaluation, evaluate
from metaeval.results.inputs import Inputs, WarehouseOpener, check_used
from metaeval.results.notes import because
from metaeval.results.signature import option_parts, stamped
from metaeval.studies.tables.thresholds import calibrated
from queries.blocks import Block
from queries.longitudinal import EvalsetState, evalset_states
from queries.slices import Slice
from warehouse import QuestionError
from warehouse.facts.human_protocols import protocol_of
from warehouse.facts.metrics import describe, folded
from warehouse.wording import are, counted


@dataclass(frozen=True)
class _Year:
    state: EvalsetState
    block: Block
    evaluation: Evaluation

    def places(self, by: Callable[[str, int | None], object]) -> dict[object, int]:
        """Metric, and whether it is reference-free -> place; metrics that are the same by this are not there."""
        found: dict[object, list[int]] = {}
        for place, one in enumerate(self.evaluation.metrics):
            found.setdefault((by(one.base_name, self.state.year), one.reference is None), []).append(place)
        return {name: places[0] for name, places in found.items() if len(places) == 1}


def _version(name: str, year: int | None) -> object:
    """Family and version of a metric as it was named in a year; its name, if no version is known."""
    facts = describe(name, year)
    return (facts.family, facts.version) if facts.version is not None else folded(name)


def _returning(earlier: _Year, later: _Year) -> list[tuple[int, int]]:
    """Places of metrics that both have: of one version, whatever its name, and else of one name."""
    pairs: dict[int, int] = {}
    for by in (_version, lambda name, year: folded(name)):
        before, after = earlier.places(by), later.places(by)
        for name, place in before.items():
            if place not in pairs and name in after and after[name] not in pairs.values():
                pairs[place] = after[name]
    return sorted(pairs.items())


def carried_thresholds(opened: WarehouseOpener, testsets: str, measure: Measure, options: Options) -> Result:
    """Calibrated thresholds of metrics that return in a language pair, carried from each year to the later ones.

    Columns: lp, metric, year_from, testset_from, human_from, version_from, epsilon_from, year, testset, human, version,
    epsilon, value (at its own threshold), carried (at the earlier year's), loss (value minus carried), at_zero (without
    a threshold), same_protocol; by language pair, metric and years.
    Raises QuestionError: a measure without a calibrated threshold; no metric returns.
    """
    calibrated(measure)
    check_used(options, [measure])
    notes: list[str] = []
    years = _years(opened, testsets, measure, options, notes)
    rows = []
    for earlier in years:
        for later in years:
            is_later = (earlier.state.year or 0) < (later.state.year or 0)
            if earlier.state.lp == later.state.lp and is_later and earlier.state.year is not None:
                rows += _rows(earlier, later, measure)
    if not rows:
        raise QuestionError(f"no metric with a threshold by {measure} returns in a later year of a language pair")
    frame = pl.DataFrame(rows, orient="row", infer_schema_length=None).sort("lp", "metric", "year_from", "year")
    parts = stamped(
        ("thresholds", "carried"),
        ("measure", measure),
        ("testset", ",".join(dict.fromkeys(one.state.testset for one in years))),
        ("lp", ",".join(dict.fromkeys(one.state.lp for one in years))),
        *option_parts(options),
    )
    return Result(frame, parts, tuple(notes))


def carried_between(
    opened: WarehouseOpener, asked: Sequence[Slice], measure: Measure, options: Options
) -> tuple[list[dict[str, Any]], list[str]]:
    """Calibrated thresholds carried from each of some evaluation sets to each other of its language pair or test set.

    Rows as in `carried_thresholds`, and lp_from; notes on sets without segment scores.
    Raises QuestionError: a measure without a calibrated threshold; no metric is in two such sets.
    """
    calibrated(measure)
    found: list[_Year] = []
    notes: list[str] = []
    with opened() as warehouse:
        for one in asked:
            (state,) = evalset_states(warehouse, one.testset, one.lp)
            try:
                block = Inputs(warehouse, one, options.round_human).judged_segments()
            except QuestionError as error:
                notes.append(because(f"{one.testset} {one.lp} is excluded: ", error))
                continue
            found.append(_Year(state, block, evaluate(measure, block, options)))
    rows: list[dict[str, Any]] = []
    for source, target in permutations(found, 2):
        if source.state.lp == target.state.lp or source.state.testset == target.state.testset:
            rows += [{"lp_from": source.state.lp, **row} for row in _rows(source, target, measure)]
    if not rows:
        there = ", ".join(f"{one.state.testset} {one.state.lp}" for one in found) or "none"
        why = (
            "a threshold is carried between evaluation sets of one language pair or test set; no metric is in two of "
            f"those with segment scores: {there}"
        )
        raise QuestionError("; ".join([why, *notes]))
    return rows, notes


def _years(opened: WarehouseOpener, testsets: str, measure: Measure, options: Options, notes: list[str]) -> list[_Year]:
    """Evaluation sets of language pairs that have scores in several years; notes on those without segment scores."""
    with opened() as warehouse:
        states = [one for one in evalset_states(warehouse, testsets, "all") if one.n_humans and one.n_metrics]
        n_years = {one.lp: len({other.year for other in states if other.lp == one.lp}) for one in states}
        found = []
        for state in states:
            if n_years[state.lp] < 2:
                continue
            try:
                inputs = Inputs(warehouse, Slice(state.testset, state.lp), options.round_human)
                used = inputs.judged_segments()
            except QuestionError as error:
                notes.append(because(f"{state.testset} {state.lp} is excluded: ", error))
                continue
            if n := len(inputs.of_level("seg").excluded):
                notes.append(
                    f"{state.testset} {state.lp}: {counted(n, 'metric')} with missing segment scores {are(n)} excluded"
                )
            found.append((state, used))
    return [_Year(state, used, evaluate(measure, used, options)) for state, used in found]


def _rows(earlier: _Year, later: _Year, measure: Measure) -> list[dict[str, Any]]:
    """One row for each metric that both have."""
    assert measure.pair_statistic is not None
    common = _returning(earlier, later)
    if not common:
        return []
    places = [place for _, place in common]
    block, own = later.block, later.evaluation
    thresholds = np.array(
        [[earlier.evaluation.epsilon[before], 0.0] for before, _ in common], dtype=np.float64
    )  # (n_common, 2)
    human, scores = block.human, block.scores[places]
    values = kernels.calibration_curve(human, scores, labels(block, measure["by"]), thresholds, measure.pair_statistic)
    humans = [str(one.block.selection.human) for one in (earlier, later)]
    rows = []
    for row, (before, place) in enumerate(common):
        metric = own.metrics[place]
        rows.append(
            {
                "lp": later.state.lp,
                "metric": metric.base_name,
                "year_from": earlier.state.year,
                "testset_from": earlier.state.testset,
                "human_from": humans[0],
                "version_from": describe(earlier.evaluation.metrics[before].base_name, earlier.state.year).version,
                "epsilon_from": float(thresholds[row, 0]),
                "year": later.state.year,
                "testset": later.state.testset,
                "human": humans[1],
                "version": describe(metric.base_name, later.state.year).version,
                "epsilon": float(own.epsilon[place]),
                "value": float(own.value[place]),
                "carried": float(values[row, 0]),
                "loss": float(own.value[place] - values[row, 0]),
                "at_zero": float(values[row, 1]),
                "same_protocol": protocol_of(humans[0]) == protocol_of(humans[1]),
            }
        )
    return rows
