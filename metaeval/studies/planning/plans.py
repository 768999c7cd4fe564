"""Plans: the number of units needed for a given power, as a table with signature and notes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from metaeval.kernels.arrays.checks import Floats, Ints, ratio
from metaeval.kernels.resampling.draws import Advance
from metaeval.kernels.resampling.required_size import RequiredSize, Trial, required_size
from metaeval.measures.applicable import PERMUTATIONS
from metaeval.measures.judged import LEAST_DOCUMENTS, units_of
from metaeval.results.answer import Result
from metaeval.results.inputs import where
from metaeval.results.signature import Parts, line, stamped
from metaeval.studies.people.ceilings import judged_by
from metaeval.studies.planning.settings import PlanSettings, Unit
from queries.blocks import Block, places_of
from queries.longitudinal import human_levels, judgements
from queries.reasons import Reason
from queries.selection import MetricChoice, Selection, SystemChoice
from warehouse import QuestionError, Warehouse
from warehouse.progress import Progress
from warehouse.wording import option


@dataclass(frozen=True)
class Simulation:
    """Simulated data sets. block: the loaded data, with n_loaded units; draw: returns a block of a number of units."""

    block: Block
    n_loaded: int
    draw: Callable[[int, np.random.Generator], Block]
    assumes: str


def simulation_of_units(block: Block, unit: Unit) -> Simulation:
    """Simulated data sets of documents, segments (those with a human score) or systems, drawn with replacement."""
    if unit == "system":
        members = [np.array([place]) for place in range(len(block.systems))]
    else:
        members = members_of(block.selection, block.judged.any(axis=0), unit)
    other = "segments" if unit == "system" else "systems"
    size_of_one = (
        f" (of {np.mean([len(one) for one in members]):.1f} segments on average)" if unit == "document" else ""
    )

    def draw(size: int, rng: np.random.Generator) -> Block:
        drawn = rng.choice(len(members), size)
        picks = np.concatenate([members[one] for one in drawn])
        return drawn_block(block, unit, picks, np.repeat(np.arange(size), [len(members[one]) for one in drawn]))

    return Simulation(
        block, len(members), draw, f"new {unit}s are like the loaded ones{size_of_one}, and the {other} stay the same"
    )


def members_of(selection: Selection, kept: npt.ArrayLike, unit: Unit) -> list[Ints]:
    """The kept segments of each unit (document or segment).

    Raises QuestionError: see `units_of`.
    """
    places = np.flatnonzero(np.asarray(kept))
    documents = units_of(selection, kept, unit).documents if unit == "document" else None
    if documents is None:
        return list(places[:, np.newaxis])
    return [places[documents == number] for number in range(int(documents.max()) + 1)]


def unit_of(selection: Selection, kept: npt.ArrayLike, asked: Unit | None) -> Unit:
    """The unit of a plan: the named one, else documents if there are at least 10, else segments."""
    return asked or ("document" if units_of(selection, kept).unit == "document" else "segment")


def drawn_block(block: Block, unit: Unit, picks: Ints, of_draw: Ints) -> Block:
    """The block restricted to some of its segments or systems, with repetitions.

    of_draw: the number of the draw to which each belongs; a document drawn twice counts as two documents.
    """
    if unit == "system":
        return block.take(systems=picks)
    drawn = block.take(segments=picks)
    if unit != "document":
        return drawn
    names = tuple(f"{n} {name}" for n, name in zip(of_draw, drawn.selection.documents, strict=True))
    return replace(drawn, selection=replace(drawn.selection, documents=names))


def simulation_of_judgements(warehouse: Warehouse, block: Block) -> Simulation:
    """Simulated data sets of single judgements, drawn with replacement; the human score is the mean of those drawn.

    Outputs without a drawn judgement have no human score. The loaded data have all judgements.
    Raises QuestionError: see `single_judgements`; none is of the block's systems and segments.
    """
    frame = single_judgements(warehouse, block)
    places = places_of(block, frame["system"], frame["segment"])
    kept = places >= 0
    if not kept.any():
        raise QuestionError(f"no single judgement is of the selected systems and segments of {where(block.selection)}")
    outputs = places[kept]
    values = frame["value"].to_numpy().astype(np.float64)[kept]
    whole = judged_block(block, outputs, values)
    n = len(outputs)

    def draw(size: int, rng: np.random.Generator) -> Block:
        picks = rng.choice(n, size)
        return judged_block(block, outputs[picks], values[picks])

    assumes = "new judgements are like the loaded ones, of the same outputs; systems and segments stay the same"
    return Simulation(whole, n, draw, assumes)


def judged_block(block: Block, outputs: Ints, values: Floats) -> Block:
    """The block with means of judgements as its human score. outputs: row · S + column of each judgement."""
    n_systems, n_segments = block.human.shape
    n = np.bincount(outputs, minlength=block.human.size)
    total = np.bincount(outputs, weights=values, minlength=block.human.size)
    human = ratio(total, n)
    return replace(block, human=human.reshape(n_systems, n_segments), human_submitted=np.full(n_systems, np.nan))


def single_judgements(warehouse: Warehouse, block: Block) -> pl.DataFrame:
    """Single judgements of the block's human score, or of another score of its protocol.

    Raises QuestionError: none are loaded.
    """
    asked, official = block.selection.slice, str(block.selection.human)
    name = judged_by(human_levels(warehouse, asked.testset, asked.lp), official)
    if name is None:
        raise QuestionError(
            f"no single judgements of {official} are loaded for {where(block.selection)}; "
            f"take {option('unit', 'segment')}"
        )
    return judgements(warehouse, block.selection.evalset_id, name)


MOST = 64  # times the units that there are
CHANCE = 1.96  # standard errors; a smaller difference may well be chance
FEWEST: Mapping[Unit, int] = {"document": LEAST_DOCUMENTS, "segment": 10, "system": 5, "judgement": 10}
_COLUMNS = (
    *("unit", "first", "second", "needed", "low", "high", "data_low", "data_high", "pessimistic"),
    *("n_loaded", "power_loaded", "difference", "effect", "power", "alpha", "test", "measure", "reason", "signature"),
)


@dataclass(frozen=True)
class SampleSizeProblem:
    """A simulated comparison: a trial, the better of the two first, and its description; n_loaded: units."""

    unit: Unit
    names: tuple[str, str]
    difference: float
    n_loaded: int
    trial: Trial
    test: str
    measure: str
    parts: Parts
    assumes: tuple[str, ...]
    notes: tuple[str, ...] = ()


def two_needed(
    what: str, names: tuple[str, str], choices: Sequence[MetricChoice] | Sequence[SystemChoice]
) -> QuestionError:
    """The error if two names are not two included metrics, or systems, with the reasons."""
    excluded = [
        f"{one.name} is excluded: {one.reason.sentence}"
        for one in choices
        if one.reason is not None and one.reason.reason is not Reason.NOT_SELECTED
    ]
    there = ", ".join(one.name for one in choices if one.reason is None)
    why = "; ".join(excluded) or f"{' and '.join(names)} are: {there or 'none'}"
    return QuestionError(f"two {what} are needed, {why}")


def planned(problem: SampleSizeProblem, what: PlanSettings, progress: Progress | None) -> Result:
    """Number of units needed, from simulated data sets: one row (`_COLUMNS`).

    Facts: curve (units, power, n_simulations: the simulated sizes) and fit (units, power: the fitted curve).

    Raises QuestionError: too few units for a plan.
    """
    fewest, most, units = FEWEST[problem.unit], MOST * problem.n_loaded, f"{problem.unit}s"
    if problem.n_loaded < fewest:
        raise QuestionError(f"a plan needs at least {fewest} {units} to start from, not {problem.n_loaded}")
    advance: Advance | None = None
    if progress is not None:
        shown = progress

        def tell(size: int, n: int) -> None:
            shown(f"simulated data sets of {size} {units}", n, 0)

        advance = tell
    found = required_size(
        problem.trial,
        problem.difference,
        there=problem.n_loaded,
        least=fewest,
        most=most,
        power=what.power,
        alpha=what.alpha,
        n_simulations=what.simulations,
        seed=what.seed,
        progress=advance,
    )
    parts = _parts(problem, what)
    row = _row(problem, what, found, most) | {"signature": line(parts)}
    schema: dict[str, Any] = dict.fromkeys(_COLUMNS, pl.Float64)
    schema |= dict.fromkeys(("unit", "first", "second", "test", "measure", "reason", "signature"), pl.String)
    whole = ("needed", "low", "high", "data_low", "data_high", "pessimistic", "n_loaded")
    schema |= dict.fromkeys(whole, pl.Int64)
    frame = pl.DataFrame([row], schema=schema, orient="row")
    curve = pl.DataFrame(
        {
            "units": found.sizes.astype(np.int64),
            "power": found.found / found.simulations,
            "n_simulations": found.simulations,
        }
    )
    grid = np.geomspace(found.sizes.min(), found.sizes.max(), 60).tolist() if np.isfinite(found.low) else []
    fit = pl.DataFrame({"units": grid, "power": [found.power(size) for size in grid]})
    return Result(frame, parts, _notes(problem, what, found), {"curve": curve, "fit": fit})


def _row(problem: SampleSizeProblem, what: PlanSettings, found: RequiredSize, most: int) -> dict[str, Any]:
    share = dict(zip(found.sizes.tolist(), (found.found / found.simulations).tolist(), strict=True))

    def whole(value: float) -> int | None:
        return int(np.ceil(value)) if np.isfinite(value) else None

    reason = None
    if np.isnan(found.size):
        reason = f"power is only {share[float(most)]:.2f} with {most} {problem.unit}s, {MOST} times the loaded ones"
    elif np.isnan(found.high):
        reason = "the fewest that were tried reach it"
    return {
        "unit": problem.unit,
        "first": problem.names[0],
        "second": problem.names[1],
        "needed": whole(found.size),
        "low": whole(found.low),
        "high": whole(found.high),
        "data_low": whole(found.data_low),
        "data_high": whole(found.data_high),
        "pessimistic": whole(found.pessimistic),
        "n_loaded": problem.n_loaded,
        "power_loaded": share[float(problem.n_loaded)],
        "difference": problem.difference,
        "effect": found.effect,
        "power": what.power,
        "alpha": what.alpha,
        "test": problem.test,
        "measure": problem.measure,
        "reason": reason,
    }


def _parts(problem: SampleSizeProblem, what: PlanSettings) -> Parts:
    return stamped(
        ("plan", problem.unit),
        ("first", problem.names[0]),
        ("second", problem.names[1]),
        ("measure", problem.measure),
        *problem.parts,
        ("test", problem.test),
        ("p_value", "saddlepoint" if problem.test == "permutation" else None),
        ("alternative", "two-sided"),
        ("alpha", what.alpha),
        ("power", what.power),
        ("simulations", what.simulations),
        ("test_resamples", what.resamples if problem.test in (*PERMUTATIONS, "bootstrap-normal") else None),
        ("fit", "logistic,log_n"),
        ("seed", what.seed),
    )


def _notes(problem: SampleSizeProblem, what: PlanSettings, found: RequiredSize) -> tuple[str, ...]:
    notes = [
        f"assumes that {'; '.join(problem.assumes)}",
        f"n_loaded, power_loaded: loaded {problem.unit}s, and the estimated power with them; needed: the fewest that "
        "reach the target power",
        *problem.notes,
        "data_low, data_high: 95% interval of needed, with the uncertainty of the observed difference (no value: "
        "unbounded)",
        "pessimistic: the number needed if the true difference is the lower end of its 80% interval (no value: no "
        "number is enough)",
    ]
    if not np.isnan(found.size) and found.size > problem.n_loaded:
        notes.append(
            f"more {problem.unit}s than are loaded ({problem.n_loaded}), resampled with replacement: an extrapolation"
        )
    if found.effect < CHANCE:
        notes.append(f"the observed difference is {found.effect:.2f} standard errors: it may well be chance")
    return tuple(notes)
