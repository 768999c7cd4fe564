"""`diff`: what differs between two warehouses."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from metaeval.fields import DEFAULT_MEASURES
from metaeval.options import Run
from metaeval.question import Question
from warehouse.fields import Argument, Option
from warehouse.wording import counted, option

_SHOWN = 10  # metrics of one ranking in a table

if TYPE_CHECKING:
    import polars as pl

    from metaeval.answer import Answer
    from metaeval.differences import WarehouseDifferences
    from warehouse import Warehouse


@dataclass(frozen=True, kw_only=True)
class Diff(Question["WarehouseDifferences"], name="diff"):
    """Show what differs between two warehouses.

    Sources, scores, systems, metrics, stored results, and rankings.

    Names and content are compared, not where files lie or when they were loaded. Exit code 0: nothing differs; 1:
    something does.

    Example: scorehouse diff before.duckdb after.duckdb
    """

    before: Annotated[Path, Argument("A warehouse file.")]
    after: Annotated[Path | None, Argument("The warehouse to compare it with.", default="the one that is asked")] = None
    testset: Annotated[str | None, Option("Only this test set.", names="testset")] = None
    lp: Annotated[str | None, Option("Only this language pair.", names="lp")] = None
    measures: Annotated[
        tuple[str, ...],
        Option("Measure of the rankings; repeatable.", ("measure", "m"), names="measure", excludes=("no_rankings",)),
    ] = DEFAULT_MEASURES
    no_rankings: Annotated[bool, Option("Compare what is stored; compute no rankings.")] = False
    exit_zero: Annotated[bool, Option("Exit with code 0 even if something differs.", is_computing=True)] = False
    verbose: Annotated[
        bool, Option("One row per source, system, scorer and result, and every metric.", is_computing=True)
    ] = False

    def names_in(self, run: Run) -> "AbstractContextManager[Warehouse]":
        from warehouse import Warehouse

        return Warehouse.open(self.before)

    def answer(self, run: Run) -> "Answer[WarehouseDifferences]":
        from contextlib import ExitStack

        from metaeval.answer import Answer
        from metaeval.differences import warehouse_differences
        from metaeval.measures import parse_measure
        from warehouse import Warehouse

        measures = [] if self.no_rankings else [parse_measure(text) for text in self.measures]
        with ExitStack() as stack:
            old = stack.enter_context(Warehouse.open(self.before))
            new = stack.enter_context(run.opened() if self.after is None else Warehouse.open(self.after))
            found = warehouse_differences(old, new, measures, testset=self.testset, lp=self.lp, progress=run.progress)
            paths = {"before": str(old.path), "after": str(new.path)}
        frame, notes = found.frame(each=self.verbose), found.notes
        if found.is_equal:
            notes = (*notes, "nothing differs")
        reading, n_more = (frame, 0) if self.verbose else _first_metrics(frame)
        more = f"{counted(n_more, 'more metric')} whose value or rank differs; {option('verbose')} shows all"
        return Answer(
            frame,
            found.signature,
            notes,
            question=self,
            results=(found,),
            shape={**paths, **found.as_json()},
            reading=reading,
            reading_notes=(*notes, more) if n_more else notes,
            is_no=not found.is_equal and not self.exit_zero,
        )


def _first_metrics(frame: "pl.DataFrame") -> "tuple[pl.DataFrame, int]":
    """The frame with the first metrics of each ranking, and how many more there are."""
    import polars as pl

    place = pl.int_range(pl.len()).over("testset", "lp", "what")
    kept = frame.filter(~pl.col("what").str.starts_with("ranking by ") | (place < _SHOWN))
    return kept, frame.height - kept.height
