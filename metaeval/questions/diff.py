"""`diff`: what differs between two warehouses."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from metaeval.questions.fields import DEFAULT_MEASURES
from metaeval.questions.question import Question
from metaeval.results.run import Run
from warehouse.fields import Argument, Option
from warehouse.wording import counted, option

_SHOWN = 10  # metrics of one ranking in a table
_RANKING = "ranking by "

if TYPE_CHECKING:
    import polars as pl

    from metaeval.results.answer import Answer, Result
    from warehouse import Warehouse


@dataclass(frozen=True, kw_only=True)
class Diff(Question["Result"], name="diff"):
    """Show what differs between two warehouses.

    Compares sources, scores, systems, metrics, stored results, and rankings.

    File paths and load times are ignored. The exit code is 0 if nothing differs, else 1.

    Example: scorehouse diff before.duckdb after.duckdb
    """

    important = ("what", "added", "gone", "changed")

    before: Annotated[Path, Argument("A warehouse file, or a folder of exported Parquet.")]
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

    @contextmanager
    def names_in(self, run: Run) -> "Iterator[Warehouse]":
        from queries.opening import opening

        with opening(self.before) as opened, opened() as warehouse:
            yield warehouse

    def answer(self, run: Run) -> "Answer[Result]":
        from contextlib import ExitStack

        from metaeval.measures.registry import parse_measure
        from metaeval.results.answer import answer_of
        from metaeval.studies.ranking.differences import warehouse_differences
        from queries.opening import opening

        measures = [] if self.no_rankings else [parse_measure(text) for text in self.measures]
        with ExitStack() as stack:
            opened = [stack.enter_context(opening(path)) for path in (self.before, self.after) if path is not None]
            old, new = (stack.enter_context(one()) for one in (*opened, run.opened)[:2])
            of = {"testset": self.testset, "lp": self.lp}
            found = warehouse_differences(old, new, measures, **of, each=self.verbose, progress=run.progress)
            paths = {"before": str(old.path), "after": str(new.path)}
        frame, facts = found.frame, found.facts
        notes = found.notes
        nested = {name: facts[name].rows(named=True) for name in ("named", "counted", "rankings")}
        reading, n_more = (frame, 0) if self.verbose else _first_metrics(frame)
        results = reading.filter(what="results")
        more = []
        if n_more:
            more.append(f"{counted(n_more, 'more metric')} whose value or rank differs; {option('verbose')} shows all")
        if results.height and not self.verbose:
            reading = reading.filter(reading["what"] != "results")
            more.append(_on_results(results))
        return answer_of(
            self,
            replace(found, notes=notes),
            shape={**paths, "is_equal": facts["is_equal"], **nested, "signature": found.signature},
            reading=reading,
            reading_notes=(*notes, *more),
            is_no=not facts["is_equal"] and not self.exit_zero,
        )

    def headline(self, answer: "Answer[Result]") -> str:
        import polars as pl

        from metaeval.results.sentences import named, opening

        if answer.facts["is_equal"]:
            return "Nothing differs."
        counts = answer.frame.group_by("what", maintain_order=True).agg(
            pl.sum_horizontal(pl.col("added", "gone", "changed").sum()).alias("n"),
            pl.struct("testset", "lp").n_unique(),
        )
        data = [
            counted(n, what.removesuffix("s"))
            for what, n, _ in counts.rows()
            if what != "results" and not what.startswith(_RANKING)
        ]
        rankings = [(what.removeprefix(_RANKING), n) for what, _, n in counts.rows() if what.startswith(_RANKING)]
        if not data and not rankings:
            return "The data are the same; only stored results differ."
        parts = [f"The data differ in {named(data, 5)}" if data else "The data are the same"]
        if rankings:
            by, n = named([by for by, _ in rankings]), max(n for _, n in rankings)
            parts.append(f"rankings by {by} differ in {counted(n, 'evaluation set')}")
        return opening(f"{'; '.join(parts)}.", "Stored results differ, too." if "results" in counts["what"] else "")


def _on_results(frame: "pl.DataFrame") -> str:
    """Note on stored results that differ; they do not count as data."""
    said = [f"{n} {name}" for name in ("added", "gone", "changed") if (n := int(frame[name].sum()))]
    return f"stored results, which are recomputed where needed: {', '.join(said)}; {option('verbose')} lists them"


def _first_metrics(frame: "pl.DataFrame") -> "tuple[pl.DataFrame, int]":
    """The frame with the first metrics of each ranking, and how many more there are."""
    import polars as pl

    place = pl.int_range(pl.len()).over("testset", "lp", "what")
    kept = frame.filter(~pl.col("what").str.starts_with(_RANKING) | (place < _SHOWN))
    return kept, frame.height - kept.height
