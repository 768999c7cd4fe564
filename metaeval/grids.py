"""From a slice to the grid that a counting engine works on: the same rules as for arrays, without arrays of metrics."""

from dataclasses import dataclass, replace

import numpy as np

from metaeval.inputs import check_judged, no_metric, rounded, without_mad_outliers
from queries.blocks import Block, Bools, with_systems
from queries.counting import grid_of, human_block
from queries.engines import Counter, Engine, Grid
from queries.evalsets import HumanUse
from queries.reasons import Exclusion, Reason, some_missing
from queries.selection import MetricChoice, Selection, Slice, select
from warehouse import QuestionError
from warehouse.export.reimport import Source


@dataclass(frozen=True)
class Gridded:
    """A slice as an engine takes it.

    block: systems, segments and human scores; of metrics it has the choice, but no arrays. grid: all chosen metrics on
    the (system, segment) pairs that are included.
    """

    block: Block
    grid: Grid
    counter: Counter

    @property
    def selection(self) -> Selection:
        return self.block.selection

    def complete(self) -> tuple[tuple[MetricChoice, ...], dict[str, Exclusion]]:
        """Metrics with a score for all that is judged, and why the others of the slice are excluded.

        Raises QuestionError: no segment is judged, or no metric is left.
        """
        check_judged(self.block)
        n_judged = int(self.block.judged.sum())
        n_scored = self.counter.n_scored(self.grid)
        excluded = {}
        for choice in self.selection.chosen_metrics:
            if choice.segment_gap is not None:
                excluded[choice.name] = choice.segment_gap
            elif n := n_judged - n_scored[choice.scorer_id]:
                excluded[choice.name] = some_missing(n)
        kept = tuple(choice for choice in self.selection.chosen_metrics if choice.name not in excluded)
        if not kept:
            raise no_metric(self.selection, excluded)
        return kept, excluded


def gridded(
    source: Source,
    asked: Slice,
    engine: Engine = "polars",
    *,
    round_human: int | None = None,
    human: HumanUse = "required",
) -> Gridded:
    """Resolve a slice at segment level, as `Inputs` does.

    Raises QuestionError: see `select`; an unknown engine or one that cannot read the source; an empty intersection; the
    MAD rule without a human score.
    """
    counter = Counter(source, engine)
    block = human_block(source.catalogue, select(source.catalogue, asked, "seg", human=human))
    included: Bools = np.ones(block.human.shape, dtype=np.bool_)
    if asked.intersection:
        included, systems = _in_common(block, counter), block.systems
        block = _restricted(block, included)
        included = included[np.isin(systems, block.systems)]
    if asked.outliers == "mad":
        kept = {*without_mad_outliers(block).systems}
        rows = np.array([name in kept for name in block.systems])
        block, included = with_systems(block, rows, Exclusion(Reason.MAD_OUTLIER)), included[rows]
    block = rounded(block, round_human)
    return Gridded(block, grid_of(block, included), counter)


def _in_common(block: Block, counter: Counter) -> Bools:
    """(N, S): what is scored by every metric with segment scores.

    Raises QuestionError: nothing is.
    """
    selection = block.selection
    scorers = [choice.scorer_id for choice in selection.chosen_metrics if choice.has_segments]
    if not scorers:
        return np.ones(block.human.shape, dtype=np.bool_)
    row = {choice.system_id: choice.name for choice in selection.systems}
    systems = {name: place for place, name in enumerate(block.systems)}
    segments = {int(segment): place for place, segment in enumerate(block.segments)}
    common: Bools = np.zeros(block.human.shape, dtype=np.bool_)
    for system_id, segment in counter.shared(grid_of(block).of(scorers)):
        common[systems[row[system_id]], segments[segment]] = True
    if not (common & block.judged).any():
        raise QuestionError("the intersection is empty: no (system, segment) pair is judged and scored by every metric")
    return common


def _restricted(block: Block, included: Bools) -> Block:
    """The block with human scores where included alone, without systems that then have nothing."""
    counted = None if block.counted is None else block.counted & included
    restricted = replace(block, human=np.where(included, block.human, np.nan), counted=counted)
    return with_systems(restricted, np.asarray(restricted.judged.any(axis=1)), Exclusion(Reason.NOTHING_IN_COMMON))
