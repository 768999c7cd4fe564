"""How many segments, systems or judgements tell two metrics apart."""

from dataclasses import replace

import numpy as np

from metaeval.evaluation import evaluate, without_variation
from metaeval.inputs import Inputs, check_judged, where
from metaeval.kernels.resampling.draws import BLOCK
from metaeval.measures import Measure
from metaeval.measures.applicable import PERMUTATIONS
from metaeval.options import Options, Population
from metaeval.planning.plans import Asked, Plan, Question, planned, two_needed
from metaeval.planning.simulation import simulation_of_judgements, simulation_of_units
from metaeval.signature import option_parts, slice_parts
from metaeval.significance.metric_tests import chosen, fitted_options, run_test
from metaeval.significance.options import TestOptions
from metaeval.significance.runner import EARLY_STOP
from queries.selection import Slice
from warehouse import QuestionError, Warehouse
from warehouse.progress import Progress


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
