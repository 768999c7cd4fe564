"""Metrics of a slice compared as the program does it, recomputed."""

from dataclasses import replace
from typing import Any

from metaeval.measures.measure import Measure
from metaeval.measures.options import Options, TestOptions
from metaeval.measures.registry import parse_measure
from metaeval.results.inputs import Inputs
from metaeval.studies.significance.cached import prepare_comparison, run_or_load
from metaeval.studies.significance.comparison import Comparison
from queries.slices import Slice
from warehouse import Warehouse
from warehouse.progress import Progress

PLAIN, USUAL = Options(), TestOptions()


def compare(
    warehouse: Warehouse,
    asked: Slice,
    measure: Measure | str,
    options: Options = PLAIN,
    testing: TestOptions = USUAL,
    progress: Progress | None = None,
    **tested: Any,
) -> Comparison:
    """Every pair of metrics by one measure, also where there are only two; tested: fields of `testing`."""
    measure = parse_measure(measure) if isinstance(measure, str) else measure
    testing = replace(testing, **tested)
    block = Inputs(warehouse, asked, options.round_human).block(measure)
    in_depth = len(block.metrics) != 2  # in depth, two are another question
    waiting = prepare_comparison(warehouse, block, measure, options, testing, fresh=True, in_depth=in_depth)
    found, _ = run_or_load(waiting, None, progress)
    assert isinstance(found, Comparison)
    return found
