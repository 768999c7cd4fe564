"""`means`: system scores of every scorer."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from metaeval.fields import EngineFields, SliceFields
from metaeval.options import Run

if TYPE_CHECKING:
    from metaeval.answer import Answer


@dataclass(frozen=True, kw_only=True)
class Means(SliceFields, EngineFields, name="means"):
    """Show system scores of every scorer.

    Submitted, mean over all segments, mean over annotated segments, and coverage.

    Example: scorehouse means sim24 en-de --metrics "Kestrel*"
    """

    without = ("intersection", "mad_outliers")  # they need arrays of scores

    def answer(self, run: Run) -> "Answer":
        return self._one(run) if self.folder is not None else super().answer(run)

    def _one(self, run: Run) -> "Answer":
        from metaeval.answer import answer_of
        from metaeval.tables.means import system_means

        with self.data(run) as data:
            return answer_of(self, system_means(data, self.slice(), self.engine or "polars", progress=run.progress))
