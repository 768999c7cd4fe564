"""Plans: how many segments, systems or judgements tell two metrics, or two systems, apart."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from metaeval.evaluation import evaluate
from metaeval.inputs import Inputs, check_judged, where
from metaeval.kernels.resampling.draws import BLOCK
from metaeval.kernels.resampling.required_size import RequiredSize, Trial, required_size
from metaeval.measures import Measure
from metaeval.measures.applicable import PERMUTATIONS, Population
from metaeval.options import Options
from metaeval.planning.worlds import Unit, drawn_worlds, judged_worlds, single_judgements
from metaeval.signature import line, program_version, slice_parts
from metaeval.significance.metric_tests import chosen, fitted_options, run_test
from metaeval.significance.options import TestOptions
from metaeval.significance.runner import EARLY_STOP
from metaeval.tables.table import Table
from queries.blocks import Block
from queries.selection import Slice
from warehouse import QuestionError, Warehouse
from warehouse.progress import Progress

if TYPE_CHECKING:
    import polars as pl

Floats = npt.NDArray[np.float64]
MOST = 64  # times the units that there are
FEWEST = {"segments": 10, "systems": 5, "judgements": 10}
_COLUMNS = (
    *("unit", "first", "second", "needed", "low", "high", "data_low", "data_high", "pessimistic"),
    *("n_there", "power_there", "difference", "effect", "power", "alpha", "test", "measure", "reason", "signature"),
)


@dataclass(frozen=True)
class Asked:
    """How much power, at which level, by how many worlds. draws: resamples of the test in each world of two metrics."""

    unit: Unit = "segments"
    power: float = 0.8
    alpha: float = 0.05
    worlds: int = 100
    draws: int = 500
    seed: int = 0

    def check(self) -> None:
        """Raises QuestionError: a number out of its range."""
        if not 0.5 <= self.power < 1 or not 0 < self.alpha < 0.5:
            raise QuestionError(f"power {self.power}, alpha {self.alpha}: expected from 0.5 to below 1, and below 0.5")
        if self.worlds < 20 or self.draws < 20:
            raise QuestionError(f"{self.worlds} worlds, {self.draws} resamples: at least 20 of each are needed")


@dataclass(frozen=True)
class Plan:
    """table: one row (`_COLUMNS`). curve: units, power, n_worlds: the sizes that were tried."""

    table: Table
    curve: "pl.DataFrame"
    found: RequiredSize


@dataclass(frozen=True)
class _Question:
    """What is simulated: a trial, the better one of the two first, and what describes it."""

    names: tuple[str, str]
    difference: float
    there: int
    trial: Trial
    test: str
    measure: str
    parts: list[tuple[str, object]]
    assumes: tuple[str, ...]
    notes: tuple[str, ...] = ()


def plan_metrics(
    warehouse: Warehouse,
    asked: Slice,
    metrics: tuple[str, str],
    measure: Measure,
    options: Options,
    what: Asked,
    progress: Progress | None = None,
) -> Plan:
    """How many segments, systems or judgements tell two metrics apart by a measure.

    Each world draws so many segments (or systems) with replacement, or so many single judgements of the outputs that
    there are, whose means are the human score, and runs the test that holds its level for that population (judgements:
    for new segments); the difference is found where p <= alpha, two-sided, in the direction observed. Worlds are made
    with `Measure.in_worlds`; permutation tests stop early in worlds that are clear after 100 resamples.
    Raises QuestionError: see `select`; no single judgements; metrics without scores; no difference.
    """
    what.check()
    asked_measure, measure = measure, measure.in_worlds
    block = Inputs(warehouse, replace(asked, metrics=metrics), options.round_human).block(measure)
    if len(block.metrics) != 2:
        there = ", ".join(metric.name for metric in block.metrics) or "none"
        raise QuestionError(f"two metrics are needed, {' and '.join(metrics)} are: {there}")
    if what.unit != "systems" or measure.definition.needs_segments:
        check_judged(block)
    if np.isnan(evaluate(measure, block, options).value).any():
        raise QuestionError(f"{measure} of {' and '.join(metrics)} is not defined in {where(block.selection)}")
    drawn = judged_worlds(warehouse, block) if what.unit == "judgements" else drawn_worlds(block, what.unit)
    block = drawn.block
    population: Population = "systems" if what.unit == "systems" else "segments"
    wanted = TestOptions(draws=what.draws, alpha=what.alpha, population=population, n_threads=1)
    testing = chosen(measure, block, options, wanted)
    test = testing.test
    assert test is not None
    if test in PERMUTATIONS and EARLY_STOP[0] < what.alpha < EARLY_STOP[1]:
        testing = replace(testing, early_stop=True)
    options = fitted_options(measure, test, options, asked)
    values = run_test(block, measure, options, replace(testing, draws=BLOCK)).evaluation.value
    if len(values) != 2 or np.isnan(values).any() or values[0] == values[1]:
        raise QuestionError(f"{measure} shows no difference of {' and '.join(metrics)} in {where(block.selection)}")
    first = int(values[1] > values[0])
    names = (block.metrics[first].name, block.metrics[1 - first].name)

    def trial(size: int, rng: np.random.Generator) -> tuple[bool, float]:
        world = drawn.world(size, rng)
        seed = int(rng.integers(2**31))
        try:
            tested = run_test(world, measure, replace(options, seed=seed), testing)
        except QuestionError:  # a world in which the measure is not defined
            return False, 0.0
        found = tested.evaluation.value
        if len(found) != 2 or np.isnan(found).any():
            return False, 0.0
        difference = float(found[first] - found[1 - first])
        p = float(tested.p[first, 1 - first])
        return bool(difference > 0 and p <= what.alpha), difference

    limit = f"worlds are made with {measure}, the limit of {asked_measure.definition.name} for many signs"
    question = _Question(
        names=names,
        difference=float(abs(values[0] - values[1])),
        there=drawn.there,
        trial=trial,
        test=test,
        measure=str(asked_measure),
        parts=slice_parts(block.selection),
        assumes=(drawn.assumes,),
        notes=() if measure == asked_measure else (limit,),
    )
    return _planned(question, what, progress)


def plan_systems(
    warehouse: Warehouse,
    asked: Slice,
    systems: tuple[str, str],
    options: Options,
    what: Asked,
    progress: Progress | None = None,
) -> Plan:
    """How many segments, or judgements of each system, tell two systems apart by the human score.

    Segments: differences over the segments annotated for both, drawn with replacement, tested by Wilcoxon's signed-rank
    test. Judgements: single ones of each system, drawn with replacement whatever their segment, tested by Wilcoxon's
    rank-sum test. Both two-sided, found where p <= alpha in the direction observed (of the means).
    Raises QuestionError: see `select`; systems as unit; nothing annotated for both; no difference.
    """
    what.check()
    if what.unit == "systems":
        raise QuestionError("two systems need segments or judgements; systems tell metrics apart")
    block = Inputs(warehouse, replace(asked, systems=systems), options.round_human).of_level("seg")
    check_judged(block)
    if len(block.systems) != 2:
        raise QuestionError(f"two systems are needed, {' and '.join(systems)} are: {', '.join(block.systems)}")
    sides = _of_judgements(warehouse, block) if what.unit == "judgements" else _of_segments(block)
    difference = float(sides[0].mean() - sides[1].mean())
    if difference == 0:
        raise QuestionError(f"{' and '.join(block.systems)} have the same mean: no number of {what.unit} is enough")
    first, second = (0, 1) if difference > 0 else (1, 0)
    better, worse = sides[first], sides[second]
    trial = _rank_sum(better, worse, what.alpha) if what.unit == "judgements" else _signed(better - worse, what.alpha)
    assumes = {
        "segments": "new segments are like those annotated for both systems, and no two of them are alike",
        "judgements": "new judgements are like those that there are, each of a segment and annotator of its own",
    }
    question = _Question(
        names=(block.systems[first], block.systems[second]),
        difference=abs(difference),
        there=min(len(better), len(worse)),
        trial=trial,
        test="rank-sum" if what.unit == "judgements" else "wilcoxon",
        measure=str(block.selection.human),
        parts=slice_parts(block.selection),
        assumes=(assumes[what.unit],),
    )
    return _planned(question, what, progress)


def _of_segments(block: Block) -> tuple[Floats, Floats]:
    both = block.judged.all(axis=0)
    if both.sum() < FEWEST["segments"]:
        raise QuestionError(
            f"{int(both.sum())} segments of {where(block.selection)} are annotated for both systems; take judgements"
        )
    return block.human[0, both], block.human[1, both]


def _of_judgements(warehouse: Warehouse, block: Block) -> tuple[Floats, Floats]:
    """Single judgements of the two systems, by the block's human score or another score of its protocol."""
    frame = single_judgements(warehouse, block)
    sides = tuple(
        frame["value"].filter(frame["system"] == name).to_numpy().astype(np.float64) for name in block.systems
    )
    if min(len(side) for side in sides) < FEWEST["judgements"]:
        raise QuestionError(f"fewer than {FEWEST['judgements']} single judgements of a system")
    return sides[0], sides[1]


def _signed(gaps: Floats, alpha: float) -> Trial:
    from scipy.stats import wilcoxon

    def trial(size: int, rng: np.random.Generator) -> tuple[bool, float]:
        drawn = rng.choice(gaps, size)
        difference = float(drawn.mean())
        there = drawn[drawn != 0]
        is_found = there.size > 0 and difference > 0 and float(wilcoxon(there).pvalue) <= alpha
        return bool(is_found), difference

    return trial


def _rank_sum(better: Floats, worse: Floats, alpha: float) -> Trial:
    from scipy.stats import mannwhitneyu

    def trial(size: int, rng: np.random.Generator) -> tuple[bool, float]:
        one, other = rng.choice(better, size), rng.choice(worse, size)
        difference = float(one.mean() - other.mean())
        return bool(difference > 0 and float(mannwhitneyu(one, other).pvalue) <= alpha), difference

    return trial


def _planned(question: _Question, what: Asked, progress: Progress | None) -> Plan:
    import polars as pl

    fewest, most = FEWEST[what.unit], MOST * question.there
    if question.there < fewest:
        raise QuestionError(f"{question.there} {what.unit}: at least {fewest} are needed to plan with")
    told: Callable[[int, int], None] | None = None
    if progress is not None:
        shown = progress

        def tell(size: int, n: int) -> None:
            shown(f"worlds of {size} {what.unit}", n, 0)

        told = tell
    found = required_size(
        question.trial,
        question.difference,
        there=question.there,
        least=fewest,
        most=most,
        power=what.power,
        alpha=what.alpha,
        n_worlds=what.worlds,
        seed=what.seed,
        progress=told,
    )
    signature = _signature(question, what)
    row = _row(question, what, found, most, signature)
    schema: dict[str, Any] = dict.fromkeys(_COLUMNS, pl.Float64)
    schema |= dict.fromkeys(("unit", "first", "second", "test", "measure", "reason", "signature"), pl.String)
    whole = ("needed", "low", "high", "data_low", "data_high", "pessimistic", "n_there")
    schema |= dict.fromkeys(whole, pl.Int64)
    frame = pl.DataFrame([row], schema=schema, orient="row")
    curve = pl.DataFrame(
        {"units": found.sizes.astype(np.int64), "power": found.found / found.worlds, "n_worlds": found.worlds}
    )
    return Plan(Table(frame, signature, _notes(question, what, found)), curve, found)


def _row(question: _Question, what: Asked, found: RequiredSize, most: int, signature: str) -> dict[str, Any]:
    share = dict(zip(found.sizes.tolist(), (found.found / found.worlds).tolist(), strict=True))

    def whole(value: float) -> int | None:
        return int(np.ceil(value)) if np.isfinite(value) else None

    reason = None
    if np.isnan(found.size):
        reason = f"not reached: power {share[float(most)]:.2f} with {most} {what.unit}, {MOST} times those there are"
    elif np.isnan(found.high):
        reason = "reached with the fewest that were tried"
    return {
        "unit": what.unit,
        "first": question.names[0],
        "second": question.names[1],
        "needed": whole(found.size),
        "low": whole(found.low),
        "high": whole(found.high),
        "data_low": whole(found.data_low),
        "data_high": whole(found.data_high),
        "pessimistic": whole(found.pessimistic),
        "n_there": question.there,
        "power_there": share[float(question.there)],
        "difference": question.difference,
        "effect": found.effect,
        "power": what.power,
        "alpha": what.alpha,
        "test": question.test,
        "measure": question.measure,
        "reason": reason,
        "signature": signature,
    }


def _signature(question: _Question, what: Asked) -> str:
    parts: list[tuple[str, object]] = [
        ("plan", what.unit),
        ("first", question.names[0]),
        ("second", question.names[1]),
        ("measure", question.measure),
        *[part for part in question.parts if part[0] not in ("metrics", "systems")],
        ("test", question.test),
        ("alternative", "two-sided"),
        ("alpha", what.alpha),
        ("power", what.power),
        ("worlds", what.worlds),
        ("test_resamples", what.draws if question.test.startswith("perm") else None),
        ("fit", "logistic,log_n"),
        ("seed", what.seed),
        ("scorehouse", program_version()),
    ]
    return line(parts)


def _notes(question: _Question, what: Asked, found: RequiredSize) -> tuple[str, ...]:
    notes = [
        f"assumed: {'; '.join(question.assumes)}",
        *question.notes,
        "low, high: 95% interval from the number of worlds, the observed difference taken for the true one; data_low, "
        "data_high: with its uncertainty, null = without bound",
        "pessimistic: were the true difference the lower end of its 80% interval; null = no number is enough",
    ]
    if not np.isnan(found.size) and found.size > question.there:
        notes.append(f"more {what.unit} than there are ({question.there}) are drawn with replacement: an extrapolation")
    if found.effect < 1.96:
        notes.append(f"the observed difference is {found.effect:.2f} standard errors: it may well be chance")
    return tuple(notes)


def reading(frame: "pl.DataFrame") -> "pl.DataFrame":
    """The columns that people read."""
    shown = ("unit", "n_there", "power_there", "power", "needed", "low", "high", "data_low", "data_high", "pessimistic")
    return frame.select(*shown, *(() if frame["reason"].null_count() == frame.height else ("reason",)))
