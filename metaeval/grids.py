"""From a slice to the grid that a counting engine works on: the same rules as for arrays, without arrays of metrics."""

from dataclasses import dataclass

from metaeval.inputs import check_judged, no_metric, rounded
from queries.blocks import Block
from queries.counting import grid_of, human_block
from queries.engines import Counter, Engine, Grid
from queries.evalsets import HumanUse
from queries.reasons import Exclusion, some_missing
from queries.selection import MetricChoice, Selection, select
from queries.slices import Slice
from warehouse.export.reimport import Source


@dataclass(frozen=True)
class GriddedSlice:
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
) -> GriddedSlice:
    """Resolve a slice at segment level, as `Inputs` does; its systems and segments depend on no metric scores.

    Raises QuestionError: see `select`; an unknown engine or one that cannot read the source.
    """
    # Both need arrays of scores, which engines do not read: questions refuse them with an engine.
    assert not asked.intersection
    assert asked.outliers != "mad"
    counter = Counter(source, engine)
    block = human_block(source.catalogue, select(source.catalogue, asked, "seg", human=human))
    block = rounded(block, round_human)
    return GriddedSlice(block, grid_of(block), counter)
