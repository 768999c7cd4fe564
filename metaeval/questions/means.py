"""`means`: system scores of every scorer."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from metaeval.fields import EngineFields, requires
from metaeval.options import Run, Seed
from metaeval.question import EvalsetQuestion
from queries.slices import Slice
from warehouse.fields import Option

if TYPE_CHECKING:
    from metaeval.answer import Answer, Result


@dataclass(frozen=True, kw_only=True)
class Means(Slice, EngineFields, EvalsetQuestion["Result"], name="means"):
    """Show system scores of every scorer.

    Submitted, mean over all segments, mean over annotated segments, and coverage.

    Example: scorehouse means sim24 en-de --metrics "Kestrel*"
    """

    needs = requires(("seed",), "assisted_by")

    assisted_by: Annotated[
        tuple[str, ...],
        Option(
            "Estimate each system's mean human score over all segments with the help of this metric, from those that "
            "people judged; repeatable.",
            names="metric",
            excludes=("folder", "engine"),
        ),
    ] = ()
    seed: Seed = 0

    without = ("intersection", "mad_outliers")  # they need arrays of scores

    def answer(self, run: Run) -> "Answer[Result]":
        return self.answer_one_evalset(run) if self.folder is not None else super().answer(run)

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.answer import answer_of

        if self.assisted_by:
            from metaeval.people.assisted import assisted_means

            with run.opened() as warehouse:
                found = assisted_means(warehouse, self.part(Slice), self.assisted_by, self.seed)
            return answer_of(self, found, digits=3)
        from metaeval.tables.means import system_means

        with self.data(run) as data:
            found = system_means(data, self.part(Slice), self.engine or "polars", progress=run.progress)
        return answer_of(self, found)
