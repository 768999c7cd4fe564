"""How many documents, segments, systems or judgements show a difference between two metrics or systems."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from metaeval.kernels.arrays.checks import Bools, Floats
from metaeval.kernels.resampling.draws import BLOCK
from metaeval.kernels.resampling.required_size import Trial
from metaeval.kernels.resampling.saddlepoint import gap_p_values
from metaeval.measures.applicable import PERMUTATIONS
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options, Population, TestOptions
from metaeval.results.answer import Result
from metaeval.results.evaluation import evaluate, without_variation
from metaeval.results.inputs import Inputs, check_judged, where
from metaeval.results.signature import option_parts, slice_parts
from metaeval.studies.planning.plans import (
    FEWEST,
    SampleSizeProblem,
    members_of,
    planned,
    simulation_of_judgements,
    simulation_of_units,
    single_judgements,
    two_needed,
    unit_of,
)
from metaeval.studies.planning.settings import PlanSettings, Unit
from metaeval.studies.significance.metric_tests import chosen, fitted_options, run_test
from metaeval.studies.significance.runner import EARLY_STOP
from queries.blocks import Block
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.progress import Progress
from warehouse.wording import counted, option


def plan_metrics(
    warehouse: Warehouse,
    asked: Slice,
    metrics: tuple[str, str],
    measure: Measure,
    options: Options,
    what: PlanSettings,
    progress: Progress | None = None,
) -> Result:
    """How many documents, segments, systems or judgements show a difference between two metrics by a measure.

    Each simulated data set draws this number of documents (segments, systems) with replacement, or of single judgements
    of the existing outputs, whose means are the human score. It then runs the test that holds its level for that
    population, by that unit (judgements: for new segments, by document if that is the default). The difference is
    detected if p <= alpha, two-sided, in the observed direction. Data sets are made with `Measure.in_simulations`;
    permutation tests stop early if the result is clear after 100 resamples.
    Raises QuestionError: see `select`, `units_of`; no single judgements; metrics without scores; no difference; too few
        systems or segments for a test.
    """
    asked_measure, measure = measure, measure.in_simulations
    block = Inputs(warehouse, replace(asked, metrics=metrics), options.round_human).block(measure)
    if len(block.metrics) != 2:
        raise two_needed("metrics", metrics, block.selection.metrics)
    if what.unit != "system" or measure.definition.needs_segments:
        check_judged(block)
    if np.isnan(evaluate(measure, block, options).value).any():
        why = without_variation(measure, block, options)
        reason = f"{asked_measure} of {' and '.join(metrics)} is not defined in {where(block.selection)}"
        raise QuestionError(reason if why is None else f"{reason}: {why}")
    unit = unit_of(block.selection, block.judged.any(axis=0), what.unit)
    drawn = simulation_of_judgements(warehouse, block) if unit == "judgement" else simulation_of_units(block, unit)
    block = drawn.block
    population: Population = "systems" if unit == "system" else "segments"
    by = unit if unit in ("document", "segment") else None
    wanted = TestOptions(resamples=what.resamples, alpha=what.alpha, population=population, unit=by, threads=1)
    testing = chosen(measure, block, options, wanted)
    test = testing.test
    assert test is not None
    # A plan runs thousands of tests, and most are clear after the first hundred resamples.
    if test in PERMUTATIONS and EARLY_STOP[0] < what.alpha < EARLY_STOP[1]:
        testing = replace(testing, early_stop=True)
    options = fitted_options(measure, test, options, asked)
    tested = run_test(block, measure, options, replace(testing, resamples=BLOCK))
    if tested.why is not None:
        raise QuestionError(f"{where(block.selection)}: {tested.why}")
    values = tested.evaluation.value
    if len(values) != 2 or np.isnan(values).any() or values[0] == values[1]:
        raise QuestionError(f"{measure} shows no difference of {' and '.join(metrics)} in {where(block.selection)}")
    first = int(values[1] > values[0])
    names = (block.metrics[first].name, block.metrics[1 - first].name)

    def trial(size: int, rng: np.random.Generator) -> tuple[bool, float]:
        simulated = drawn.draw(size, rng)
        seed = int(rng.integers(2**31))
        try:
            tested = run_test(simulated, measure, replace(options, seed=seed), testing)
        except QuestionError:  # a data set in which the measure is not defined
            return False, 0.0
        found = tested.evaluation.value
        if len(found) != 2 or np.isnan(found).any():
            return False, 0.0
        difference = float(found[first] - found[1 - first])
        p = float(tested.p[first, 1 - first])
        return bool(difference > 0 and p <= what.alpha), difference

    limit = f"simulated data sets take {measure}, the limit of {asked_measure.definition.name} for many resamples"
    problem = SampleSizeProblem(
        unit=unit,
        names=names,
        difference=float(abs(values[0] - values[1])),
        n_loaded=drawn.n_loaded,
        trial=trial,
        test=test,
        measure=str(asked_measure),
        parts=[
            *(part for part in slice_parts(block.selection) if part[0] != "metrics"),
            ("system_score", options.system_score),
            *option_parts(options),
        ],
        assumes=(drawn.assumes,),
        notes=() if measure == asked_measure else (limit,),
    )
    return planned(problem, what, progress)


def plan_systems(
    warehouse: Warehouse,
    asked: Slice,
    systems: tuple[str, str],
    options: Options,
    what: PlanSettings,
    progress: Progress | None = None,
) -> Result:
    """How many documents, segments, or judgements per system show a difference between two systems by the human score.

    Segments: differences over the segments annotated for both, drawn with replacement; documents: their sums of these
    differences. Both take the test of `systems`, permutation, with the p-value that it has in the limit of many
    resamples. Judgements: single judgements of each system, drawn with replacement regardless of segment, tested by
    Welch's t-test. All tests are of the means and two-sided; the difference is detected if p <= alpha in the observed
    direction.
    Raises QuestionError: see `select`, `units_of`; systems as unit; nothing annotated for both; no difference.
    """
    if what.unit == "system":
        raise QuestionError(
            "two systems need documents, segments or judgements; only a comparison of metrics can use more systems"
        )
    block = Inputs(warehouse, replace(asked, systems=systems), options.round_human).of_level("seg")
    check_judged(block)
    if len(block.systems) != 2:
        raise two_needed("systems", systems, block.selection.systems)
    both = np.asarray(block.judged.all(axis=0))
    unit = unit_of(block.selection, both, what.unit)
    sides = _of_judgements(warehouse, block) if unit == "judgement" else _of_segments(block, both)
    difference = float(sides[0].mean() - sides[1].mean())
    if difference == 0:
        raise QuestionError(f"{' and '.join(block.systems)} have the same mean: no number of {unit}s is enough")
    first, second = (0, 1) if difference > 0 else (1, 0)
    better, worse = sides[first], sides[second]
    if unit == "judgement":
        there, trial = min(len(better), len(worse)), _welch(better, worse, what.alpha)
    else:
        members = members_of(block.selection, both, unit)
        gaps = block.human[first] - block.human[second]
        there, trial = len(members), _permuted([gaps[one] for one in members], what.alpha)
    assumes: dict[Unit, str] = {
        "document": f"new documents are like those annotated for both systems (of {both.sum() / there:.1f} segments on "
        "average), and independent of each other",
        "segment": "new segments are like those annotated for both systems, and independent of each other",
        "judgement": "new judgements are like the loaded ones, each of another segment by another annotator",
    }
    problem = SampleSizeProblem(
        unit=unit,
        names=(block.systems[first], block.systems[second]),
        difference=abs(difference),
        n_loaded=there,
        trial=trial,
        test="welch" if unit == "judgement" else "permutation",
        measure=str(block.selection.human),
        parts=[*(part for part in slice_parts(block.selection) if part[0] != "systems"), *option_parts(options)],
        assumes=(assumes[unit],),
    )
    return planned(problem, what, progress)


def _of_segments(block: Block, both: Bools) -> tuple[Floats, Floats]:
    if both.sum() < FEWEST["segment"]:
        raise QuestionError(
            f"both systems are annotated on {counted(int(both.sum()), 'segment')} of {where(block.selection)}; "
            f"take {option('unit', 'judgement')}"
        )
    return block.human[0, both], block.human[1, both]


def _of_judgements(warehouse: Warehouse, block: Block) -> tuple[Floats, Floats]:
    """Single judgements of the two systems, from the block's human score or another score of its protocol."""
    frame = single_judgements(warehouse, block)
    sides = tuple(
        frame["value"].filter(frame["system"] == name).to_numpy().astype(np.float64) for name in block.systems
    )
    if min(len(side) for side in sides) < FEWEST["judgement"]:
        raise QuestionError(f"fewer than {FEWEST['judgement']} single judgements of a system")
    return sides[0], sides[1]


def _permuted(gaps: Sequence[Floats], alpha: float) -> Trial:
    """The permutation test of drawn units. gaps: for each unit, the differences on its segments."""
    sums, sizes = np.array([one.sum() for one in gaps]), np.array([one.size for one in gaps])

    def trial(size: int, rng: np.random.Generator) -> tuple[bool, float]:
        picks = rng.choice(len(sums), size)
        drawn = sums[picks]
        difference = float(drawn.sum() / sizes[picks].sum())
        if difference <= 0:
            return False, difference
        return bool(2 * gap_p_values(drawn[np.newaxis])[0][0] <= alpha), difference

    return trial


def _welch(better: Floats, worse: Floats, alpha: float) -> Trial:
    from scipy.special import stdtr

    def trial(size: int, rng: np.random.Generator) -> tuple[bool, float]:
        one, other = rng.choice(better, size), rng.choice(worse, size)
        difference = float(one.mean() - other.mean())
        squares = np.array([one.var(ddof=1), other.var(ddof=1)]) / size  # of the standard errors
        if difference <= 0 or not squares.any():
            return difference > 0, difference
        freedom = (size - 1) * squares.sum() ** 2 / (squares**2).sum()
        return bool(2 * stdtr(freedom, -difference / np.sqrt(squares.sum())) <= alpha), difference

    return trial
