"""`diff`: what differs between two warehouses."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
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

    from metaeval.answer import Answer, Result
    from warehouse import Warehouse


@dataclass(frozen=True, kw_only=True)
class Diff(Question["Result"], name="diff"):
    """Show what differs between two warehouses.

    Compares sources, scores, systems, metrics, stored results, and rankings.

    File paths and load times are ignored. The exit code is 0 if nothing differs, else 1.

    Example: scorehouse diff before.duckdb after.duckdb
    """

    important = ("what", "added", "gone", "changed")

    before: Annotated[Path, Argument("A warehouse file.")]
    after: Annotated[Path | None, Argument("The warehouse to compare it with.", default="the warehouse in use")] = None
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

    def answer(self, run: Run) -> "Answer[Result]":
        from contextlib import ExitStack

        from metaeval.answer import answer_of
        from metaeval.differences import warehouse_differences
        from metaeval.measures import parse_measure
        from warehouse import Warehouse

        measures = [] if self.no_rankings else [parse_measure(text) for text in self.measures]
        with ExitStack() as stack:
            old = stack.enter_context(Warehouse.open(self.before))
            new = stack.enter_context(run.opened() if self.after is None else Warehouse.open(self.after))
            of = {"testset": self.testset, "lp": self.lp}
            found = warehouse_differences(old, new, measures, **of, each=self.verbose, progress=run.progress)
            paths = {"before": str(old.path), "after": str(new.path)}
        frame, facts = found.frame, found.facts
        notes = found.notes
        nested = {name: facts[name].rows(named=True) for name in ("named", "counted", "rankings")}
        reading, n_more = (frame, 0) if self.verbose else _first_metrics(frame)
        more = f"{counted(n_more, 'more metric')} whose value or rank differs; {option('verbose')} shows all"
        return answer_of(
            self,
            replace(found, notes=notes),
            shape={**paths, "is_equal": facts["is_equal"], **nested, "signature": found.signature},
            reading=reading,
            reading_notes=(*notes, more) if n_more else notes,
            is_no=not facts["is_equal"] and not self.exit_zero,
        )

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.sentences import named, opening

        if answer.facts["is_equal"]:
            return "Nothing differs."
        totals = answer.frame.group_by("what", maintain_order=True).len().rows()
        data = [f"{what} ({n})" for what, n in totals if what != "results" and not what.startswith("ranking by ")]
        rankings = [what for what, _ in totals if what.startswith("ranking by ")]
        if not data and not rankings:
            return "The data are the same; only stored results differ."
        parts = [f"The data differ in {named(data, 5)}" if data else "The data are the same"]
        if rankings:
            parts.append(f"{named(rankings)} {'differ' if len(rankings) > 1 else 'differs'}")
        return opening(f"{'; '.join(parts)}.")


def _first_metrics(frame: "pl.DataFrame") -> "tuple[pl.DataFrame, int]":
    """The frame with the first metrics of each ranking, and how many more there are."""
    import polars as pl

    place = pl.int_range(pl.len()).over("testset", "lp", "what")
    kept = frame.filter(~pl.col("what").str.starts_with("ranking by ") | (place < _SHOWN))
    return kept, frame.height - kept.height
