"""How many segments, systems or judgements tell two metrics or two systems apart."""

from dataclasses import replace

import numpy as np

from metaeval.evaluation import evaluate, without_variation
from metaeval.inputs import Inputs, check_judged, where
from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.resampling.draws import BLOCK
from metaeval.kernels.resampling.required_size import Trial
from metaeval.kernels.resampling.system_tests import signed_rank_p_values
from metaeval.measures import Measure
from metaeval.measures.applicable import PERMUTATIONS
from metaeval.options import Options, Population
from metaeval.planning.plans import (
    FEWEST,
    Asked,
    Plan,
    Question,
    planned,
    simulation_of_judgements,
    simulation_of_units,
    single_judgements,
    two_needed,
)
from metaeval.signature import option_parts, slice_parts
from metaeval.significance.metric_tests import chosen, fitted_options, run_test
from metaeval.significance.options import TestOptions
from metaeval.significance.runner import EARLY_STOP
from queries.blocks import Block
from queries.selection import Slice
from warehouse import QuestionError, Warehouse
from warehouse.progress import Progress
from warehouse.wording import counted


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

    Each simulated data set draws so many segments (or systems) with replacement, or so many single judgements of the
    outputs that there are, whose means are the human score, and runs the test that holds its level for that population
    (judgements: for new segments); the difference is found where p <= alpha, two-sided, in the direction observed. Data
    sets are made with `Measure.in_simulations`; permutation tests stop early in those that are clear after 100
    resamples.
    Raises QuestionError: see `select`; no single judgements; metrics without scores; no difference.
    """
    what.check()
    asked_measure, measure = measure, measure.in_simulations
    block = Inputs(warehouse, replace(asked, metrics=metrics), options.round_human).block(measure)
    if len(block.metrics) != 2:
        raise two_needed("metrics", metrics, block.selection.metrics)
    if what.unit != "systems" or measure.definition.needs_segments:
        check_judged(block)
    if np.isnan(evaluate(measure, block, options).value).any():
        why = without_variation(measure, block, options)
        reason = f"{asked_measure} of {' and '.join(metrics)} is not defined in {where(block.selection)}"
        raise QuestionError(reason if why is None else f"{reason}: {why}")
    drawn = (
        simulation_of_judgements(warehouse, block)
        if what.unit == "judgements"
        else simulation_of_units(block, what.unit)
    )
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
    question = Question(
        names=names,
        difference=float(abs(values[0] - values[1])),
        there=drawn.there,
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
    return planned(question, what, progress)


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
        raise two_needed("systems", systems, block.selection.systems)
    sides = _of_judgements(warehouse, block) if what.unit == "judgements" else _of_segments(block)
    difference = float(sides[0].mean() - sides[1].mean())
    if difference == 0:
        raise QuestionError(f"{' and '.join(block.systems)} have the same mean: no number of {what.unit} is enough")
    first, second = (0, 1) if difference > 0 else (1, 0)
    better, worse = sides[first], sides[second]
    trial = _rank_sum(better, worse, what.alpha) if what.unit == "judgements" else _signed(better - worse, what.alpha)
    assumes = {
        "segments": "new segments are like those annotated for both systems, and independent of each other",
        "judgements": "new judgements are like the loaded ones, each of another segment by another annotator",
    }
    question = Question(
        names=(block.systems[first], block.systems[second]),
        difference=abs(difference),
        there=min(len(better), len(worse)),
        trial=trial,
        test="rank-sum" if what.unit == "judgements" else "wilcoxon",
        measure=str(block.selection.human),
        parts=[*(part for part in slice_parts(block.selection) if part[0] != "systems"), *option_parts(options)],
        assumes=(assumes[what.unit],),
    )
    return planned(question, what, progress)


def _of_segments(block: Block) -> tuple[Floats, Floats]:
    both = block.judged.all(axis=0)
    if both.sum() < FEWEST["segments"]:
        raise QuestionError(
            f"both systems are annotated on {counted(int(both.sum()), 'segment')} of {where(block.selection)}; "
            "take judgements"
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
    def trial(size: int, rng: np.random.Generator) -> tuple[bool, float]:
        drawn = rng.choice(gaps, size)
        difference = float(drawn.mean())
        there = drawn[drawn != 0]
        is_found = there.size > 0 and difference > 0 and signed_rank_p_values(there, "two-sided")[0] <= alpha
        return bool(is_found), difference

    return trial


def _rank_sum(better: Floats, worse: Floats, alpha: float) -> Trial:
    from scipy.stats import mannwhitneyu

    def trial(size: int, rng: np.random.Generator) -> tuple[bool, float]:
        one, other = rng.choice(better, size), rng.choice(worse, size)
        difference = float(one.mean() - other.mean())
        return bool(difference > 0 and float(mannwhitneyu(one, other).pvalue) <= alpha), difference

    return trial
