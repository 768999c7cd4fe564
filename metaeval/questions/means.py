"""`means`: system scores of every scorer."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from metaeval.fields import EngineFields
from metaeval.options import Run
from metaeval.question import EvalsetQuestion
from queries.slices import Slice

if TYPE_CHECKING:
    from metaeval.answer import Answer, Result


@dataclass(frozen=True, kw_only=True)
class Means(Slice, EngineFields, EvalsetQuestion["Result"], name="means"):
    """Show system scores of every scorer.

    Submitted, mean over all segments, mean over annotated segments, and coverage.

    Example: scorehouse means sim24 en-de --metrics "Kestrel*"
    """

    without = ("intersection", "mad_outliers")  # they need arrays of scores

    def answer(self, run: Run) -> "Answer[Result]":
        return self.answer_one_evalset(run) if self.folder is not None else super().answer(run)

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.answer import answer_of
        from metaeval.tables.means import system_means

        with self.data(run) as data:
            found = system_means(data, self.part(Slice), self.engine or "polars", progress=run.progress)
        return answer_of(self, found)
