"""Decisions by a threshold: what each does, whether calibrated scores mean what they say, and what holds elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from metaeval.answer import Table, or_none, table_signature
from metaeval.inputs import Inputs, metric_place
from metaeval.kernels.agreement.decisions import Decision, best_decision, cross_fitted, decide
from metaeval.kernels.arrays.checks import Floats, Ints, ratio
from metaeval.kernels.resampling.bootstrap import bootstrap
from metaeval.kernels.resampling.resampled_decisions import WeightedResample, decision_resample
from metaeval.measures import Measure
from metaeval.measures.decisions import GOOD, folds_of, good_outputs
from queries.blocks import Block
from queries.evalsets import expand
from queries.selection import Slice
from warehouse import QuestionError, Warehouse
from warehouse.facts.human_protocols import protocol_of
from warehouse.wording import counted

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Decided:
    """One metric against people: good (N, S') 1 or 0, NaN where nobody says; scores (N, S'); rule: of good outputs.

    block: of that metric alone.
    """

    good: Floats
    scores: Floats
    rule: str
    block: Block

    @property
    def name(self) -> str:
        return self.block.metrics[0].name

    @property
    def said(self) -> tuple[tuple[str, object], ...]:
        """What every signature says of it."""
        return ("metric", self.name), ("good", self.rule)


def decided(warehouse: Warehouse, asked: Slice, metric: str, measure: Measure) -> Decided:
    """A metric's scores of judged segments and which of them are good. measure: one with `good`, whose rule counts.

    Raises QuestionError: see `Inputs`; no such metric; people find all outputs good or none, or nothing says so.
    """
    alone = asked if asked.intersection else replace(asked, metrics=(metric,))  # whatever its status
    block = Inputs(warehouse, alone).block(measure)
    place = metric_place(block, metric)
    if place is None:
        raise QuestionError(f"no metric {metric!r} in {asked.testset} {asked.lp}")
    block = block.only([one == place for one in range(len(block.metrics))])
    if block.excluded:
        raise QuestionError(f"{block.metrics[0].name} is excluded: {block.excluded[block.metrics[0].name].sentence}")
    if (why := measure.without_variation(block)) is not None:
        raise QuestionError(f"nothing to decide: {why}")
    kept = block.judged.any(axis=0)
    found = good_outputs(block, measure[GOOD.name])
    return Decided(found.values[:, kept], block.scores[0][:, kept], found.rule, block)


def grid(decision: Decided, points: int) -> Floats:
    """Thresholds, rising: the scores themselves, at most so many of them, evenly by rank."""
    scores = np.unique(decision.scores[~np.isnan(decision.good)])
    places = np.linspace(0, len(scores) - 1, min(points, len(scores)))
    return np.asarray(scores[np.round(places).astype(np.int64)])


def curve(decision: Decided, *, points: int = 100, draws: int = 1000, seed: int = 0) -> Table:
    """What each threshold lets pass.

    Columns: threshold, share (of outputs called good), precision and recall, each with low and high (95% of resamples
    of segments, at this threshold), f1, mcc; rising thresholds. The note: of all scores the one with the highest MCC.
    """
    thresholds = grid(decision, points)
    found = [decide(decision.good, decision.scores, one) for one in thresholds]
    n = int((~np.isnan(decision.good)).sum())
    columns: dict[str, object] = {"threshold": thresholds, "share": [(one.n_true + one.n_false) / n for one in found]}
    for name in ("precision", "recall"):
        low, high = _bands(decision, thresholds, name, draws, seed)
        columns |= {name: [getattr(one, name) for one in found], f"{name}_low": low, f"{name}_high": high}
    columns |= {"f1": [one.f_beta() for one in found], "mcc": [one.mcc for one in found]}
    frame = pl.DataFrame(columns).with_columns(pl.all().fill_nan(None))
    return Table(frame, _signature(decision, draws, seed), _on_best(decision, n))


def _on_best(decision: Decided, n: int) -> tuple[str, ...]:
    if (top := best(decision)) is None:
        return ()
    share = (top.n_true + top.n_false) / n
    values = f"MCC {top.mcc:.4f}, precision {top.precision:.4f}, recall {top.recall:.4f}"
    return (f"highest MCC: threshold {top.threshold:.6g}, which {share:.1%} pass: {values}",)


def _signature(decision: Decided, draws: int, seed: int) -> str:
    prevalence = f"{np.nanmean(decision.good):.6g}"
    more = (*decision.said, ("prevalence", prevalence), ("resamples", draws), ("seed", seed))
    return table_signature(("decide", "curve"), decision.block, *more)


def _bands(decision: Decided, thresholds: Floats, name: str, draws: int, seed: int) -> tuple[Floats, Floats]:
    scores = np.broadcast_to(decision.scores, (len(thresholds), *decision.scores.shape))
    statistic = decision_resample(decision.good, scores, name, 1.0, thresholds)  # type: ignore[arg-type]
    drawn = bootstrap(statistic, "inputs", rng=np.random.default_rng([seed, 8]), n_draws=draws)
    ends = [drawn.interval(place, CONFIDENCE) for place in range(len(thresholds))]
    return np.array([one.low for one in ends]), np.array([one.high for one in ends])


def threshold_for(decision: Decided, precision: float, *, draws: int = 1000, seed: int = 0) -> Table:
    """The lowest threshold at which a wanted precision is met, of all scores, and what it lets pass.

    Two rows: by the precision that is observed, and (`safe`) by the lower ends of its 95% intervals, that of resampled
    segments, at up to 400 thresholds, and the exact one of as many outputs (Clopper and Pearson 1934), which few
    outputs do not meet. Columns: rule, threshold, n_passed, share, precision, recall; null where no threshold does.
    """
    from scipy.stats import beta

    every, thresholds = _every_threshold(decision), grid(decision, 400)
    low, _ = _bands(decision, thresholds, "precision", draws, seed)
    lows = pl.DataFrame({"threshold": thresholds, "precision_low": low}).fill_nan(None)
    on_grid = every.join(lows, on="threshold")
    n_passed = on_grid["n_passed"].to_numpy()
    n_good = n_passed * on_grid["precision"].to_numpy()
    exact = beta.ppf((1 - CONFIDENCE) / 2, n_good, n_passed - n_good + 1)  # NaN without a good one
    safe = on_grid.filter((pl.col("precision_low") >= precision) & (exact >= precision)).drop("precision_low")
    rows: list[dict[str, object]] = []
    for rule, enough in (("observed", every.filter(pl.col("precision") >= precision)), ("safe", safe)):
        rows.append({"rule": rule, **(enough.row(0, named=True) if enough.height else {})})
    schema: dict[str, pl.DataType] = {"rule": pl.String(), **every.schema}
    looked = "" if on_grid.height == every.height else f" (of {on_grid.height} thresholds of {every.height}, by rank)"
    notes = [f"observed: the lowest threshold whose precision is as wanted; safe: whose 95% interval is{looked}"]
    if len(rows[0]) == 1:
        highest = every["precision"].to_numpy().max()
        notes.insert(0, f"no threshold of {decision.name} reaches precision {precision:g}: at most {highest:.4f}")
    elif len(rows[1]) == 1:
        notes.insert(0, f"no threshold of {decision.name} is safe for precision {precision:g}{looked}")
    frame = pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)
    return Table(frame, f"{_signature(decision, draws, seed)}|wanted_precision:{precision:g}", tuple(notes))


def _every_threshold(decision: Decided) -> pl.DataFrame:
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


def _passed(decision: Decided) -> tuple[Floats, Ints, Floats]:
    """Each score as a threshold, rising, how many outputs pass, and how many of them are good."""
    there = ~np.isnan(decision.good)
    scores, good = decision.scores[there], decision.good[there]
    order = np.argsort(scores, kind="stable")[::-1]
    scores, n_good = scores[order], np.cumsum(good[order])
    places = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))[::-1]  # the last of equal ones
    return scores[places], places + 1, n_good[places]


def cost(decision: Decided, miss: float, look: float, *, points: int = 100) -> Table:
    """What a threshold costs an output: `miss` for each that passes and is not good, `look` for each that does not.

    Columns: threshold (null: look at all), share, cost, is_best; rising thresholds, at most so many evenly by rank, and
    the cheapest of all scores. The lowest lets all pass.
    """
    thresholds, n_passed, n_good = _passed(decision)
    n = n_passed[0]
    costs = np.append((miss * (n_passed - n_good) + look * (n - n_passed)) / n, look)
    cheapest = int(np.argmin(costs))
    shown = np.append(np.isin(thresholds, grid(decision, points)), True)
    shown[cheapest] = True
    columns = {"threshold": [*thresholds.tolist(), None], "share": np.append(n_passed / n, 0.0), "cost": costs}
    every = pl.DataFrame(columns).with_columns(is_best=pl.Series(costs == costs[cheapest]))
    frame = every.filter(pl.Series(shown))
    more = (*decision.said, ("miss", f"{miss:g}"), ("look", f"{look:g}"))
    threshold, share, least, _ = every.row(cheapest)
    way = "to look at all outputs" if threshold is None else f"threshold {threshold:.6g}, which {share:.1%} pass"
    note = f"cheapest: {way}: {least:.4g} an output"
    return Table(frame, table_signature(("decide", "cost"), decision.block, *more), (note,))


def best(decision: Decided) -> Decision | None:
    """The decision with the highest MCC."""
    return best_decision(decision.good, decision.scores, "mcc")


def reliability(decision: Decided, *, bins: int = 10, draws: int = 1000, seed: int = 0) -> Table:
    """Calibrated probability beside the observed share of good outputs, in bins of as many outputs each.

    Columns: probability (mean of the bin), observed, low, high (95% of resamples of segments, the bins kept), n; rising
    probabilities. Outputs of one probability are in one bin. The signature has the Brier score.
    """
    kept = decision.block.judged.any(axis=0)
    judged = ~np.isnan(decision.good)
    good, scores = decision.good[judged] == 1, decision.scores[judged]
    folds = folds_of(decision.block)[:, kept][judged]
    p = cross_fitted(good, scores, folds)
    edges = np.unique(np.quantile(p, np.linspace(0, 1, bins + 1)[1:-1], method="inverted_cdf"))
    members = (np.searchsorted(edges, p)[np.newaxis] == np.arange(len(edges) + 1)[:, np.newaxis]).astype(np.float64)
    members = members[members.any(axis=1)]
    statistic = WeightedResample(judged, lambda weights: ratio(weights @ (members * good).T, weights @ members.T))
    drawn = bootstrap(statistic, "inputs", rng=np.random.default_rng([seed, 9]), n_draws=draws, n_threads=1)
    ends = [drawn.interval(place, CONFIDENCE) for place in range(len(members))]
    frame = pl.DataFrame(
        {
            "probability": members @ p / members.sum(axis=1),
            "observed": members @ good / members.sum(axis=1),
            "low": [one.low for one in ends],
            "high": [one.high for one in ends],
            "n": members.sum(axis=1).astype(np.int64),
        }
    )
    brier = float(np.mean((p - good) ** 2))
    more = (*decision.said, ("brier", f"{brier:.6g}"), ("resamples", draws), ("seed", seed))
    return Table(frame, table_signature(("decide", "reliability"), decision.block, *more))


_CARRIED = (
    *("source", "target", "threshold", "own_threshold", "mcc", "own_mcc", "loss", "precision", "recall", "share"),
    "source_precision",
)


def transfer(decisions: Mapping[str, Decided], notes: tuple[str, ...] = ()) -> Table:
    """A row for each source and target, in their order; a source's own row has no loss.

    decisions: one metric by name of evaluation set or domain. Thresholds are those with the highest MCC.
    Columns: source, target, threshold (the source's), own_threshold, mcc and own_mcc (on the target, by either), loss
    (own_mcc less mcc), precision, recall and share on the target, source_precision. Null where there is no threshold.
    """
    thresholds = {name: None if (top := best(one)) is None else top.threshold for name, one in decisions.items()}
    rows = []
    for source, one in decisions.items():
        for target, other in decisions.items():
            row: dict[str, object] = {"source": source, "target": target, "threshold": thresholds[source]}
            row["own_threshold"] = thresholds[target]
            if (own := thresholds[target]) is not None:
                row["own_mcc"] = or_none(decide(other.good, other.scores, own).mcc)
            if (threshold := thresholds[source]) is not None:
                found = decide(other.good, other.scores, threshold)
                n = found.n_good + found.n_bad
                row |= {name: or_none(getattr(found, name)) for name in ("mcc", "precision", "recall")}
                row["share"] = (found.n_true + found.n_false) / n
                row["source_precision"] = or_none(decide(one.good, one.scores, threshold).precision)
            rows.append(row)
    schema = {name: pl.String if name in ("source", "target") else pl.Float64 for name in _CARRIED}
    frame = pl.DataFrame(rows, schema=schema).with_columns(loss=pl.col("own_mcc") - pl.col("mcc"))
    one, *_ = decisions.values()
    more = (*one.said, ("sets", len(decisions)))
    notes = ("threshold: the one with the highest MCC on the source; own_threshold: on the target", *notes)
    return Table(frame, table_signature(("decide", "transfer"), one.block, *more), notes)


def elsewhere(
    warehouse: Warehouse, asked: Slice, one: Decided, measure: Measure
) -> tuple[dict[str, Decided], tuple[str, ...]]:
    """The metric on a slice, on its domains, and on other evaluation sets that have it and the protocol; and notes.

    one: the metric on the slice. Notes: which are parts of others, and where nothing can be decided and why.
    """
    base_name, human = one.block.metrics[0].base_name, str(one.block.selection.human)
    found = {f"{asked.testset} {asked.lp}": one}
    slices = {
        f"{asked.testset} {asked.lp}, {domain}": replace(asked, domains=(domain,))
        for domain in sorted({name for name in one.block.selection.domains if name is not None})
    }
    others = [pair for pair in expand(warehouse, "all", "all").chosen if pair != (asked.testset, asked.lp)]
    slices |= {f"{testset} {lp}": Slice(testset, lp) for testset, lp in others}
    if sum(", " in name for name in slices) == 1:  # the one domain is the slice itself
        slices = {name: part for name, part in slices.items() if ", " not in name}
    n_without = 0
    for name, part in slices.items():
        try:
            there = decided(warehouse, part, base_name, measure)
        except QuestionError:
            n_without += 1
            continue
        if protocol_of(str(there.block.selection.human)) == protocol_of(human):
            found[name] = there
        else:
            n_without += 1
    notes = []
    if any(", " in name for name in found):
        notes.append(f"domains of {next(iter(found))} are part of it: between it and them no outputs are new")
    if n_without:
        places = counted(n_without, "evaluation set or domain", "evaluation sets or domains")
        why = f"without {base_name}, without human scores by {protocol_of(human)}, or all outputs are good or none is"
        notes.append(f"not compared: {places} ({why})")
    return found, tuple(notes)
