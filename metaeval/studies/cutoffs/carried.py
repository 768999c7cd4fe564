"""Decision thresholds carried to other evaluation sets and domains, and the loss."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import EQUAL, Floats
from metaeval.kernels.resampling.bootstrap import interval
from metaeval.kernels.resampling.draws import blocks
from metaeval.kernels.resampling.resampled_thresholds import Outputs, mcc_of
from metaeval.measures.measure import Measure
from metaeval.measures.options import Unit
from metaeval.measures.system_scores import usual_factor
from metaeval.results.answer import Result, table_parts
from metaeval.results.sentences import number
from metaeval.studies.cutoffs.decisions import CONFIDENCE, DecisionInputs, load_decision_inputs
from queries.evalsets import expand, years_of_testsets
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.facts.human_protocols import protocol_of
from warehouse.facts.metrics import describe
from warehouse.wording import are, counted

FOLDS = 10  # of units: with fewer a set's own thresholds are chosen on much less than another's
_CARRIED = (
    *("source", "target", "threshold", "own_threshold", "mcc", "own_mcc", "loss", "loss_low", "loss_high"),
    *("precision", "recall", "share", "source_precision"),
)


@dataclass(frozen=True)
class Carrying:
    """The outputs of an evaluation set or domain, and the thresholds chosen and judged on them.

    threshold: with the highest MCC; own: (4,) counts, with thresholds chosen on other units than they are judged on
    (see `Outputs.cross_fitted`). thresholds: (draws,), chosen again in each resample, which `resamples` reproduces.
    """

    outputs: Outputs
    threshold: float
    own: Floats
    thresholds: Floats
    seed: tuple[int, ...]

    @classmethod
    def of(cls, outputs: Outputs, draws: int, seed: tuple[int, ...], *, has_intervals: bool = True) -> "Carrying":
        """Make one. has_intervals: whether to resample; else the thresholds of resamples are NaN."""
        threshold, own = outputs.best(outputs.once)[0], outputs.cross_fitted(outputs.once, FOLDS)[:, 0]
        found = cls(outputs, float(threshold), own, np.full(draws, np.nan), seed)
        if not has_intervals:
            return found
        return replace(found, thresholds=np.concatenate([outputs.best(one) for one in found.resamples(draws)]))

    def resamples(self, draws: int) -> Iterator[Floats]:
        """Blocks of (k, n): how often each output counts in each resample; the same on every call."""
        for stream, size in blocks(np.random.default_rng(self.seed), draws):
            yield self.outputs.drawn(stream, size)

    def losses(self, others: Sequence["Carrying"], draws: int) -> Floats:
        """(draws, others) MCC here of the set's own threshold less that of others', all rechosen in each resample."""
        thresholds = np.column_stack([one.thresholds for one in others])
        parts, done = [], 0
        for weights in self.resamples(draws):
            carried = self.outputs.called(weights, thresholds[done : done + len(weights)])
            parts.append(mcc_of(self.outputs.cross_fitted(weights, FOLDS))[:, np.newaxis] - mcc_of(carried))
            done += len(weights)
        return np.concatenate(parts)


def transfer(
    decisions: Mapping[str, DecisionInputs], notes: tuple[str, ...] = (), *, draws: int = 1000, seed: int = 0
) -> Result:
    """A row for each source and target, in their order; a source's own row has no loss.

    decisions: one metric by name of evaluation set or domain. Thresholds are those with the highest MCC.
    Columns: source, target, threshold (the source's), own_threshold, mcc (on the target, by the source's threshold) and
    own_mcc (cross-fitted: by thresholds chosen on other units of the target), loss (own_mcc less mcc) with the ends of
    its 95% interval, precision, recall and share on the target, source_precision (cross-fitted). In a source's own row
    all values are cross-fitted. Null if there is no threshold.
    """
    # A stream for each set: resamples of a source and of a target must be independent.
    sets = {
        name: Carrying.of(one.outputs(_factor(one)), draws, (seed, 10, place), has_intervals=one.has_intervals)
        for place, (name, one) in enumerate(decisions.items())
    }
    rows = [_row(source, target, sets) for source in sets for target in sets]
    drawn = {target: one.losses(list(sets.values()), draws) for target, one in sets.items()}
    for row in rows:
        if row["source"] != row["target"]:
            loss = row["own_mcc"] - row["mcc"]
            column = drawn[row["target"]][:, list(sets).index(row["source"])]
            ends = interval(loss, column, CONFIDENCE, "normal")
            row |= {"loss": loss, "loss_low": ends.low, "loss_high": ends.high}
    schema = {name: pl.String if name in ("source", "target") else pl.Float64 for name in _CARRIED}
    frame = pl.DataFrame(rows, schema=schema).with_columns(pl.col(pl.Float64).fill_nan(None))
    one, *_ = decisions.values()
    more = (*one.parts, ("folds", FOLDS), ("resamples", draws), ("seed", seed), ("sets", len(decisions)))
    own = f"own_mcc: MCC of a threshold for each tenth of the target's {one.units.unit}s, chosen on the other nine"
    notes = (
        "threshold: highest MCC on the source; own_threshold: highest MCC on the target",
        own,
        "loss_low, loss_high: 95% interval over resamples of source and target",
        *_converted(decisions),
        *notes,
    )
    return Result(frame, table_parts(("cutoff", "transfer"), one.block, *more), notes)


def _converted(decisions: Mapping[str, DecisionInputs]) -> list[str]:
    """A line on thresholds of scores that are known to run from 0 to 1."""
    names = [name for name, one in decisions.items() if _factor(one) != 1]
    return [f"scores of {', '.join(names)} run from 0 to 1 and were multiplied by 100"] if names else []


def _versions(decisions: Mapping[str, DecisionInputs], years: Mapping[str, int | None]) -> list[str]:
    """A line if the metric's name has meant several models. years: of test sets."""
    found: dict[str, list[str]] = {}
    for name, one in decisions.items():
        year = years[one.block.selection.slice.testset]
        found.setdefault(describe(one.block.metrics[0].base_name, year).version or "unknown", []).append(name)
    names = "; ".join(f"{version} in {', '.join(there)}" for version, there in sorted(found.items()))
    return [f"versions of the metric, whose scores may be on different scales: {names}"] if len(found) > 1 else []


def _factor(decision: DecisionInputs) -> float:
    """The factor that brings scores to the metric's usual scale."""
    return usual_factor(decision.block.metrics[0], decision.block.selection.slice.testset, decision.scores)


def _row(source: str, target: str, sets: Mapping[str, Carrying]) -> dict[str, Any]:
    here, there = sets[source], sets[target]
    carried = there.outputs.called(there.outputs.once, np.array([[here.threshold]]))[:, 0, 0]
    counts = there.own if source == target else carried
    n_true, n_false, n_good, n_bad = counts.tolist()
    return {
        "source": source,
        "target": target,
        "threshold": here.threshold,
        "own_threshold": there.threshold,
        "mcc": float(mcc_of(counts)),
        "own_mcc": float(mcc_of(there.own)),
        "precision": _share(n_true, n_true + n_false),
        "recall": _share(n_true, n_good),
        "share": _share(n_true + n_false, n_good + n_bad),
        "source_precision": _share(float(here.own[0]), float(here.own[:2].sum())),
    }


def in_a_sentence(frame: pl.DataFrame, name: str, good: str) -> tuple[str, ...]:
    """What a threshold of the slice loses on other evaluation sets, and what those of its domains lose on each other.

    frame: as from `transfer`. Transfer between the slice and its own domains is not to new outputs and does not count.
    """
    rows, own = frame.drop_nulls("loss"), frame["source"][0]
    whole, inside = (pl.col("source") == own, pl.col("target").str.starts_with(f"{own}, "))
    elsewhere = rows.filter(whole, ~inside).with_columns(place="target")
    between = rows.filter(~whole, inside, pl.col("source").str.starts_with(f"{own}, "))
    ends = (pl.col(end).str.strip_prefix(f"{own}, ") for end in ("source", "target"))
    between = between.with_columns(place=pl.format("{} to {}", *ends))
    if elsewhere.is_empty() and between.is_empty():
        return (f"There is no other evaluation set or domain to try a threshold of {name} on.",)
    said = []
    if not elsewhere.is_empty():
        loses, average, most = _lost(elsewhere)
        n = counted(elsewhere.height, "other evaluation set")
        where = elsewhere["place"][0] if elsewhere.height == 1 else n
        said.append(f"A threshold of {name} chosen on {own} (good: {good}) {loses}{average} on {where}{most}.")
    if not between.is_empty():
        loses, average, most = _lost(between)
        where = f"from {between['place'][0]}"
        if between.height > 1:
            n = counted(len({*between["source"], *between["target"]}), "domain")
            where = f"between {'its ' * bool(said)}{n}"
        if said:
            said.append(f"{where[0].upper()}{where[1:]}, it {loses}{average}{most}.")
        else:
            said.append(f"A threshold of {name} (good: {good}) {loses}{average} {where} of {own}{most}.")
    return tuple(said)


def _lost(rows: pl.DataFrame) -> tuple[str, str, str]:
    """What is lost, that this is an average, and the greatest loss with its place, if any."""
    mean, top = fsum(rows["loss"]) / rows.height, rows.sort("loss", descending=True).row(0, named=True)
    loses = f"loses {number(mean) if mean > EQUAL else 'no'} MCC"
    if rows.height == 1 or top["loss"] <= EQUAL:
        return loses, "", ""
    return loses, " on average", f", at most {number(top['loss'])} ({top['place']})"


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def elsewhere(
    warehouse: Warehouse, asked: Slice, one: DecisionInputs, measure: Measure, unit: Unit | None = None
) -> tuple[dict[str, DecisionInputs], tuple[str, ...]]:
    """The metric on a slice, on its domains, and on other evaluation sets that have it and the protocol; and notes.

    one: the metric on the slice. unit: segments, if named; documents only if there are enough. Notes: versions of the
    metric, which sets are parts of others, and which allow no decision and why.
    """
    base_name, human = one.block.metrics[0].base_name, str(one.block.selection.human)
    found = {f"{asked.testset} {asked.lp}": one}
    slices = {
        f"{asked.testset} {asked.lp}, {domain}": replace(asked, domain=(domain,))
        for domain in sorted({name for name in one.block.selection.domains if name is not None})
    }
    others = [pair for pair in expand(warehouse, "all", "all").chosen if pair != (asked.testset, asked.lp)]
    slices |= {f"{testset} {lp}": Slice(testset, lp) for testset, lp in others}
    if sum(", " in name for name in slices) == 1:  # the one domain is the slice itself
        slices = {name: part for name, part in slices.items() if ", " not in name}
    n_without = 0
    for name, part in slices.items():
        try:
            there = load_decision_inputs(warehouse, part, base_name, measure, unit if unit == "segment" else None)
        except QuestionError:
            n_without += 1
            continue
        if protocol_of(str(there.block.selection.human)) == protocol_of(human):
            found[name] = there
        else:
            n_without += 1
    notes = _versions(found, years_of_testsets(warehouse))
    if any(", " in name for name in found):
        notes.append(
            f"domains of {next(iter(found))} are part of it, so transfer between it and them is not to new outputs"
        )
    if n_without:
        places = counted(n_without, "evaluation set or domain", "evaluation sets or domains")
        why = f"no {base_name}, no human scores by {protocol_of(human)}, or all or no outputs good"
        notes.append(f"{places} {are(n_without)} not compared ({why})")
    return found, tuple(notes)
