"""Decisions by a threshold: the outputs they pass, their cost, and whether calibrated scores are reliable."""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from metaeval.kernels.agreement.decisions import Decision, best_decision, cross_fitted, decide
from metaeval.kernels.agreement.proportions import proportion_interval
from metaeval.kernels.agreement.reliability import Interval
from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.resampling.bootstrap import interval
from metaeval.kernels.resampling.draws import blocks
from metaeval.kernels.resampling.resampled_thresholds import LOOK_AT_ALL, Outputs
from metaeval.measures.decisions import GOOD, folds_of, good_outputs
from metaeval.measures.judged import LEAST_UNITS, Units, units_of
from metaeval.measures.measure import Measure
from metaeval.measures.options import Unit
from metaeval.results.answer import Result, table_parts
from metaeval.results.inputs import Inputs, metric_place
from metaeval.results.signature import Parts
from queries.blocks import Block
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.wording import are, counted, ends, option

CONFIDENCE = 0.95
NO_INTERVAL = Interval(np.nan, np.nan, np.nan)


@dataclass(frozen=True)
class DecisionInputs:
    """One metric against human scores: good (N, S') 1 or 0, NaN if unknown; scores (N, S'); rule: of good outputs.

    units: of the S' segments; errors of outputs in a unit are correlated. block: of that metric alone.
    """

    good: Floats
    scores: Floats
    units: Units
    rule: str
    block: Block

    @property
    def name(self) -> str:
        return self.block.metrics[0].name

    @property
    def rule_in_words(self) -> str:
        """What a good output is, such as "mqm ≥ -1"."""
        words = self.rule.replace("no_marked_error", "no marked error").replace(",", " and ")
        return words.replace("score>=", f"{self.block.selection.human} ≥ ")

    @property
    def remarks(self) -> tuple[str, ...]:
        """A line if outputs of people are among those of systems."""
        people = [one.name for one in self.block.selection.chosen_systems if one.kind == "human"]
        return (f"the outputs include human translations: {', '.join(people)}",) if people else ()

    @property
    def parts(self) -> Parts:
        """The parts that every signature has."""
        return [("metric", self.name), ("good", self.rule), ("unit", self.units.unit)]

    @property
    def has_intervals(self) -> bool:
        """Whether there are enough segments for intervals over new segments."""
        return self.units.n >= LEAST_UNITS

    @property
    def of_unit(self) -> Ints:
        """(N, S') number of each output's unit."""
        of_segments = np.arange(self.good.shape[1]) if self.units.documents is None else self.units.documents
        return np.broadcast_to(of_segments, self.good.shape)

    def outputs(self, factor: float = 1.0) -> Outputs:
        """The judged outputs, their scores multiplied."""
        there = ~np.isnan(self.good)
        units = np.unique(self.of_unit[there], return_inverse=True)[1]
        return Outputs.sorted(self.good[there] == 1, self.scores[there] * factor, units)

    def by_unit(self, members: Ints, n_members: int) -> tuple[Floats, Floats]:
        """(D, n_members) good outputs of each unit, and all of them, by which member of a partition they are in.

        members: (n,) of each judged output, row by row.
        """
        there = ~np.isnan(self.good)
        shape = (self.units.n, n_members)
        places = self.of_unit[there] * n_members + members
        good, every = (
            np.bincount(places, weights=one, minlength=self.units.n * n_members).reshape(shape)
            for one in (self.good[there], None)
        )
        return good.astype(np.float64), every.astype(np.float64)


def load_decision_inputs(
    warehouse: Warehouse, asked: Slice, metric: str, measure: Measure, unit: Unit | None = None
) -> DecisionInputs:
    """A metric's scores of judged segments and which outputs are good. measure: one with `good`, whose rule is used.

    Raises QuestionError: see `Inputs` and `units_of`; no such metric; by human scores all outputs are good or none, or
        nothing says which are.
    """
    alone = asked if asked.intersection else replace(asked, metrics=(metric,))  # whatever its status
    block = Inputs(warehouse, alone).block(measure)
    place = metric_place(block, metric)
    if place is None:
        raise QuestionError(f"no metric {metric!r} in {asked.testset} {asked.lp}")
    block = block.take(metrics=[place])
    if block.excluded:
        raise QuestionError(f"{block.metrics[0].name} is excluded: {block.excluded[block.metrics[0].name].sentence}")
    found = good_outputs(block, measure[GOOD.name])
    if found.why is not None:
        raise QuestionError(f"no decision to evaluate: {found.why}; use {option('good', 'NUMBER')}")
    if (why := measure.without_variation(block)) is not None:
        raise QuestionError(f"no decision to evaluate: {why}")
    kept = block.judged.any(axis=0)
    units = units_of(block.selection, kept, unit)
    return DecisionInputs(found.values[:, kept], block.scores[0][:, kept], units, found.rule, block)


def grid(decision: DecisionInputs, points: int) -> Floats:
    """Thresholds, rising: the scores themselves, at most so many of them, evenly by rank."""
    scores = np.unique(decision.scores[~np.isnan(decision.good)])
    places = np.linspace(0, len(scores) - 1, min(points, len(scores)))
    return np.asarray(scores[np.round(places).astype(np.int64)])


def as_typed(threshold: float, decision: DecisionInputs, digits: int = 4) -> float:
    """The threshold with the fewest decimals, at least `digits`, that lets the same outputs pass.

    threshold: one of the scores. Users type the threshold that they read; rounded to the nearest, it would often lie
    above the score itself and let fewer outputs pass.
    """
    below = decision.scores[decision.scores < threshold].max(initial=-np.inf)
    for n_digits in range(digits, 17):
        typed = float(np.floor(threshold * 10.0**n_digits) / 10.0**n_digits)
        if below < typed <= threshold:
            return typed
    return threshold


def curve(decision: DecisionInputs, *, points: int = 100) -> Result:
    """The outputs that each threshold lets pass.

    Columns: threshold, n_passed, share (of outputs called good), precision and recall, each with low and high (see
    `bands`), f1, mcc; rising thresholds. Facts: of all scores the decision with the highest MCC (best), and n_outputs.
    """
    thresholds = grid(decision, points)
    found = [decide(decision.good, decision.scores, one) for one in thresholds]
    n = int((~np.isnan(decision.good)).sum())
    n_passed = [one.n_true + one.n_false for one in found]
    typed = [as_typed(threshold, decision) for threshold in thresholds]
    columns: dict[str, object] = {"threshold": typed, "n_passed": n_passed, "share": np.array(n_passed) / n}
    for name, (low, high) in zip(("precision", "recall"), bands(decision, thresholds), strict=True):
        columns |= {name: [getattr(one, name) for one in found], f"{name}_low": low, f"{name}_high": high}
    columns |= {"f1": [one.f_beta() for one in found], "mcc": [one.mcc for one in found]}
    frame = pl.DataFrame(columns).with_columns(pl.col(pl.Float64).fill_nan(None))
    top = best(decision)
    facts = {"best": top and replace(top, threshold=as_typed(top.threshold, decision)), "n_outputs": n}
    return Result(frame, _parts(decision, "curve"), (_on_intervals(decision),), facts)


def _on_intervals(decision: DecisionInputs) -> str:
    if not decision.has_intervals:
        there = counted(decision.units.n, decision.units.unit)
        return (
            f"there are no intervals: {there} {are(decision.units.n, have=True)} "
            f"human scores, and they take at least {LEAST_UNITS}"
        )
    return (
        f"low, high: exact 95% intervals (Clopper-Pearson) {decision.units.words}, for the effective number of "
        "independent outputs"
    )


def _parts(decision: DecisionInputs, view: str) -> Parts:
    more = (*decision.parts, ("prevalence", f"{np.nanmean(decision.good):.6g}"), ("interval", "clopper_pearson_95"))
    return table_parts(("cutoff", view), decision.block, *more)


def bands(decision: DecisionInputs, thresholds: Floats) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Ends of the intervals of precision and of recall at rising thresholds; see `proportion_interval`."""
    scores = decision.scores[~np.isnan(decision.good)]
    reached = np.searchsorted(thresholds, scores, side="right")  # (n,) how many of the thresholds
    parts = decision.by_unit(reached, len(thresholds) + 1)
    n_true, n_called = (np.cumsum(one[:, ::-1], axis=1)[:, ::-1] for one in parts)  # from so many thresholds on
    if not decision.has_intervals:
        nothing = np.full(len(thresholds), np.nan)
        return (nothing, nothing), (nothing, nothing)
    of_good = np.broadcast_to(n_true[:, :1], n_true[:, 1:].shape)
    return (
        proportion_interval(n_true[:, 1:], n_called[:, 1:], CONFIDENCE),
        proportion_interval(n_true[:, 1:], of_good, CONFIDENCE),
    )


def threshold_for(decision: DecisionInputs, precision: float, miss: float = 10.0, look: float = 1.0) -> Result:
    """The lowest threshold at which a wanted precision is met, of all scores, what it lets pass, and its cost.

    Two rows: by the precision that is observed, and (`safe`) by the lower end of its 95% interval, at up to 400
    thresholds: from the highest threshold that meets it down to the last before one that does not, as the lowest of
    many that do would be chosen for its luck. Columns: rule, threshold, n_passed, share, precision with low and high,
    recall, cost (of an output: `miss` for each that passes and is not good, `look` for each that does not pass); null
    where no threshold does. Facts: highest, the highest precision of any threshold; reading, the rows, and where no
    threshold meets the precision that with the highest one.
    """
    every, thresholds = _every_threshold(decision), grid(decision, 400)
    enough = every.filter(pl.col("precision") >= precision)["threshold"]
    chosen = {
        "observed": enough[:1].to_list(),
        "safe": last_of_run(thresholds, bands(decision, thresholds)[0][0] >= precision),
    }
    highest = float(every["precision"].to_numpy().max())

    def row_of(rule: str, at: list[float]) -> dict[str, object]:
        if not at:
            return {"rule": rule}
        row = every.filter(pl.col("threshold").is_in(at)).row(0, named=True)
        (low, high), _ = bands(decision, np.array(at))
        row["threshold"] = as_typed(at[0], decision)
        price = miss * row["share"] * (1 - row["precision"]) + look * (1 - row["share"])
        return {"rule": rule, **row, "precision_low": low[0], "precision_high": high[0], "cost": price}

    rows = [row_of(rule, at) for rule, at in chosen.items()]
    n_looked = len(thresholds)
    looked = "" if n_looked == every.height else f" ({n_looked} of {every.height} thresholds examined, evenly by rank)"
    notes = [
        "observed: the lowest threshold that reaches the precision; safe: the lowest threshold from which the 95% "
        f"interval stays above it{looked}; on new {decision.units.unit}s like these, precision falls short with a "
        "probability of about 2.5%",
        _on_intervals(decision),
    ]
    more: list[dict[str, object]] = []
    if len(rows[0]) == 1:
        more = [row_of("most precise", every.filter(precision=highest)["threshold"][:1].to_list())]
        notes.insert(0, f"no threshold of {decision.name} reaches precision {precision:g}: at most {highest:.4f}")
    schema = {name: {"rule": pl.String, "n_passed": pl.Int64}.get(name, pl.Float64) for name in _THRESHOLD}
    whole = pl.DataFrame([{name: row.get(name) for name in schema} for row in (*rows, *more)], schema=schema)
    whole = whole.with_columns(pl.col(pl.Float64).fill_nan(None))
    wanted = (("wanted_precision", f"{precision:g}"), ("error_cost", f"{miss:g}"), ("review_cost", f"{look:g}"))
    return Result(
        whole.head(len(rows)),
        [*_parts(decision, "threshold"), *wanted],
        tuple(notes),
        {"highest": highest, "reading": whole},
    )


def last_of_run(thresholds: Floats, meets: Bools) -> list[float]:
    """The lowest of the thresholds that meet something without a gap from the highest that does; empty without any."""
    there = np.flatnonzero(meets)
    if not there.size:
        return []
    fails = np.flatnonzero(~meets[: there[-1]])
    return [float(thresholds[fails[-1] + 1 if fails.size else 0])]


_THRESHOLD = (
    "rule",
    "threshold",
    "n_passed",
    "share",
    "precision",
    "precision_low",
    "precision_high",
    "recall",
    "cost",
)


def _every_threshold(decision: DecisionInputs) -> pl.DataFrame:
    """Columns threshold, n_passed, share, precision, recall: each score as a threshold, rising."""
    thresholds, n_passed, n_good = _passed(decision)
    return pl.DataFrame(
        {
            "threshold": thresholds,
            "n_passed": n_passed,
            "share": n_passed / n_passed[0],
            "precision": n_good / n_passed,
            "recall": n_good / n_good[0],
        }
    )


def _passed(decision: DecisionInputs) -> tuple[Floats, Ints, Floats]:
    """Each score as a threshold, rising, how many outputs pass, and how many of them are good."""
    there = ~np.isnan(decision.good)
    scores, good = decision.scores[there], decision.good[there]
    order = np.argsort(scores, kind="stable")[::-1]
    scores, n_good = scores[order], np.cumsum(good[order])
    places = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))[::-1]  # the last of equal ones
    return scores[places], places + 1, n_good[places]


def cost(
    decision: DecisionInputs, miss: float, look: float, *, points: int = 100, draws: int = 1000, seed: int = 0
) -> Result:
    """Cost of a threshold per output: `miss` for each that passes and is not good, `look` for each that does not pass.

    Columns: threshold (null: look at all), share, cost, is_best, and of the cheapest alone low, high: the 95% interval
    of its cost, and threshold_low, threshold_high: 95% of those of resampled units (null: look at all).
    Rising thresholds, at most so many evenly by rank, and the cheapest of all scores. The lowest lets all pass.
    """
    thresholds, n_passed, n_good = _passed(decision)
    n = n_passed[0]
    costs = np.append((miss * (n_passed - n_good) + look * (n - n_passed)) / n, look)
    cheapest = int(np.argmin(costs))
    shown = np.append(np.isin(thresholds, grid(decision, points)), True)
    shown[cheapest] = True
    columns = {"threshold": [*thresholds.tolist(), None], "share": np.append(n_passed / n, 0.0), "cost": costs}
    every = pl.DataFrame(columns).with_columns(is_best=pl.Series(costs == costs[cheapest]))
    of_cost, of_threshold = cheapest_ends(decision, miss, look, draws, seed)
    intervals = {
        "low": of_cost.low,
        "high": of_cost.high,
        "threshold_low": of_threshold[0],
        "threshold_high": of_threshold[1],
    }
    frame = every.filter(pl.Series(shown)).with_columns(
        pl.col("threshold").map_elements(lambda one: as_typed(one, decision), return_dtype=pl.Float64),
        *(
            pl.when("is_best").then(pl.lit(value if np.isfinite(value) else None, pl.Float64)).alias(name)
            for name, value in intervals.items()
        ),
    )
    drawing = (("interval", "centred_95"), ("resamples", draws), ("seed", seed)) if decision.has_intervals else ()
    more = (*decision.parts, ("error_cost", f"{miss:g}"), ("review_cost", f"{look:g}"), *drawing)
    parts = table_parts(("cutoff", "cost"), decision.block, *more)
    if not decision.has_intervals:
        return Result(frame, parts, (_on_intervals(decision),))
    low, high = ("all" if end == LOOK_AT_ALL else f"{end:.4g}" for end in of_threshold)
    words = (
        f"interval {decision.units.words}, resampled, the cheapest threshold chosen again each time: 95% of these are "
        f"{ends(low, high)}" + (" (all: review all)" if "all" in (low, high) else "")
    )
    return Result(frame, parts, (words,))


def cheapest_ends(
    decision: DecisionInputs, miss: float, look: float, draws: int, seed: int
) -> tuple[Interval, tuple[float, float]]:
    """The interval of the lowest cost, chosen again in each resample, and the middle 95% of the cheapest thresholds."""
    if not decision.has_intervals:
        return NO_INTERVAL, (np.nan, np.nan)
    outputs = decision.outputs()
    (least,), _ = outputs.cheapest(outputs.once, miss, look)
    parts = [
        outputs.cheapest(outputs.drawn(stream, size), miss, look)
        for stream, size in blocks(np.random.default_rng([seed, 8]), draws)
    ]
    costs, thresholds = (np.concatenate(one) for one in zip(*parts, strict=True))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(thresholds, tail, method="lower"), np.quantile(thresholds, 1 - tail, method="higher")
    return interval(float(least), costs, CONFIDENCE, "centred", decision.units.n - 1), (float(low), float(high))


def best(decision: DecisionInputs) -> Decision | None:
    """The decision with the highest MCC, of all scores."""
    return best_decision(decision.good, decision.scores, "mcc")


def reliability(decision: DecisionInputs, *, bins: int = 10) -> Result:
    """Calibrated probability and observed share of good outputs, in bins of equally many outputs.

    Columns: probability (mean of the bin), observed, low, high (see `proportion_interval`, the bins kept), n; rising
    probabilities. Outputs of one probability are in one bin. The signature has the Brier score.
    Raises QuestionError: all outputs are of one document.
    """
    kept = decision.block.judged.any(axis=0)
    judged = ~np.isnan(decision.good)
    good, scores = decision.good[judged] == 1, decision.scores[judged]
    folds = folds_of(decision.block)[:, kept][judged]
    p = cross_fitted(good, scores, folds)
    if np.isnan(p).all():
        raise QuestionError(
            "the outputs of a document are calibrated on those of other documents, and there is only one"
        )
    edges = np.unique(np.quantile(p, np.linspace(0, 1, bins + 1)[1:-1], method="inverted_cdf"))
    of_bin = np.unique(np.searchsorted(edges, p), return_inverse=True)[1]
    n = np.bincount(of_bin)
    of_units = decision.by_unit(of_bin, len(n))
    nothing = np.full(len(n), np.nan)
    low, high = proportion_interval(*of_units, CONFIDENCE) if decision.has_intervals else (nothing, nothing)
    frame = pl.DataFrame(
        {
            "probability": np.bincount(of_bin, p) / n,
            "observed": np.bincount(of_bin, good) / n,
            "low": low,
            "high": high,
            "n": n,
        }
    ).with_columns(pl.col(pl.Float64).fill_nan(None))
    brier = float(np.mean((p - good) ** 2))
    parts = [*_parts(decision, "reliability"), ("brier", f"{brier:.6g}")]
    return Result(frame, parts, (_on_intervals(decision),))
