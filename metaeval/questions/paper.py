"""`paper`: published tables and figures, recomputed."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

from metaeval.measures.options import MOST_DRAWS, Recompute, Seed
from metaeval.questions.question import Question
from metaeval.results.run import Run
from warehouse.errors import QuestionError
from warehouse.fields import Argument, Option
from warehouse.wording import are, counted, every, option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.results.answer import Answer
    from metaeval.studies.papers.running import Outcome


def _share(n: int, of: int) -> str:
    """How many of the tables and figures.

    >>> _share(2, 7), _share(7, 7)
    ('2 of the 7 tables and figures', 'All 7 tables and figures')
    """
    whole = every(of, "table or figure", "tables and figures")
    return f"{whole[0].upper()}{whole[1:]}" if n == of else f"{n} of the {of} tables and figures"


@dataclass(frozen=True, kw_only=True)
class Paper(Question["list[Outcome]"], name="paper"):
    """Recompute the tables and figures of a paper.

    Each value is compared with the printed one.

    Without NAME, lists the papers. With NAME alone, lists the tables and figures of that paper and whether the loaded
    data suffice to compute them. Every item can also be computed on other test sets, language pairs and human scores.

    Example: scorehouse paper deutsch-2023 figure-2 --check
    """

    paper: Annotated[str | None, Argument("Paper, or all.", metavar="NAME", default="the list of papers")] = None
    item: Annotated[str | None, Argument("A table or figure, such as table-1.", default="the list of its items")] = None
    testset: Annotated[
        str | None, Option("Test sets, joined by commas.", names="testset", default="the paper's", needs=("item",))
    ] = None
    lp: Annotated[
        str | None, Option("Language pairs, joined by commas.", names="lp", default="the paper's", needs=("item",))
    ] = None
    human: Annotated[str | None, Option("Human score.", names="human", default="the paper's", needs=("item",))] = None
    metrics: Annotated[
        tuple[str, ...],
        Option(
            "Metrics to show in a figure of one or two metrics (repeatable).",
            names="metric",
            default="the paper's",
            needs=("item",),
        ),
    ] = ()
    resamples: Annotated[
        int | None,
        Option("Number of resamples.", least=1, most=MOST_DRAWS, default="the paper's", formerly="draws"),
    ] = None
    check: Annotated[
        bool,
        Option(
            "Exit with code 1 if a value that can be computed here differs from the printed one without explanation.",
            needs=("paper",),
            is_computing=True,
        ),
    ] = False
    recompute: Recompute = field(default=False, compare=False)
    seed: Seed = 0

    @property
    def is_list(self) -> bool:
        """Whether papers, or the items of one paper, are only listed."""
        return self.paper is None or (self.paper != "all" and self.item is None and not self.check)

    def check_fields(self) -> None:
        for name in ("resamples", "seed", "recompute"):
            if self.is_list and self.differs_from_default(name):
                raise QuestionError(f"{option(name)} needs a paper, or all, to recompute")
        if self.item is not None and self.paper == "all":
            raise QuestionError("an item belongs to one paper; name the paper instead of all")
        if self.charted and self.item is None:
            raise QuestionError("only an item of a paper has a chart")

    def answer(self, run: Run) -> "Answer[list[Outcome]]":
        from metaeval.results.answer import answer_of
        from metaeval.studies.papers import PAPERS, item_named, paper_named
        from metaeval.studies.papers.items import Request
        from metaeval.studies.papers.running import loaded
        from metaeval.studies.papers.running import run as run_item
        from metaeval.studies.papers.tables import items_table, papers_table, results_table

        if self.paper is None:
            return answer_of(self, papers_table(run.opened), [])
        if self.is_list:
            return answer_of(self, items_table(run.opened, paper_named(self.paper)), [])
        papers = list(PAPERS.values()) if self.paper == "all" else [paper_named(self.paper)]
        if self.item is None:
            wanted = [(one, part) for one in papers for part in one.items]
        else:
            wanted = [(papers[0], item_named(papers[0], self.item))]
            if self.charted and wanted[0][1].chart is None:
                raise QuestionError(f"{self.item} is a table and has no chart; its values are in csv")
        settings = (self.seed, self.resamples, self.metrics)
        request = Request(run.opened, *settings, run.progress, run.database, self.recompute)
        states = loaded(request) if len(wanted) > 1 else None
        outcomes = []
        for place, (one, part) in enumerate(wanted):
            if run.progress is not None:
                run.progress(f"{one.name} {part.name}", place, len(wanted))
            outcomes.append(run_item(request, one, part, self.testset, self.lp, self.human, states=states))
        places = _places_that_differ(outcomes) if self.check else []
        table = results_table(outcomes)
        reading = results_table(outcomes, summary=len(wanted) > 1, for_reading=True)
        notes: tuple[str, ...] = ()
        if places:
            more = f" and {len(places) - 3} more" if len(places) > 3 else ""
            notes = (f"neither reproduced nor explained: {'; '.join(places[:3])}{more}",)
        return answer_of(
            self,
            replace(table, notes=(*table.notes, *notes)),
            outcomes,
            reading=reading.frame,
            reading_notes=(*reading.notes, *notes),
            is_no=bool(places),
        )

    def headline(self, answer: "Answer[list[Outcome]]") -> str:
        from metaeval.results.sentences import opening
        from metaeval.studies.papers.items import VERDICTS

        frame = answer.frame
        if self.paper is None:
            n, of = (int(frame[name].sum()) for name in ("n_computable", "n_items"))
            return f"{_share(n, of)} of {frame.height} papers can be computed on the loaded data."
        if self.is_list:
            n = frame["computable_on"].count()
            return opening(f"{_share(n, frame.height)} of {self.paper} can be computed on the loaded data.")
        totals = {name: sum(one.count(name) for one in answer.results[0]) for name in VERDICTS}
        n_printed = sum(row.printed is not None for one in answer.results[0] for row in one.rows)
        if not n_printed:
            n = sum(len(one.rows) for one in answer.results[0])
            return opening(f"{counted(n, 'value')} computed; the paper prints none of them.")
        if totals["not_loaded"] == n_printed:
            return f"None of {counted(n_printed, 'printed value')} can be compared: the data are not loaded."
        compared = n_printed - totals.get("not_loaded", 0)
        n_met, n_off = totals["met"], totals["differs"]
        if n_met == compared:
            values = every(compared, "printed value")
            return opening(f"{values[0].upper()}{values[1:]} {are(compared)} reproduced.")
        differing = f"{n_off} {'differs' if n_off == 1 else 'differ'}"
        others = differing if n_off else "the others differ by chance or as explained"
        return opening(f"{n_met} of {counted(compared, 'printed value')} {are(n_met)} reproduced; {others}.")

    def chart(self, answer: "Answer[list[Outcome]]") -> "alt.VConcatChart":
        from metaeval.charts.papers import item_chart

        return item_chart(answer.result[0])


def _places_that_differ(outcomes: "list[Outcome]") -> list[str]:
    return [
        f"{one.paper.name} {one.item.name} ({row.cell.row}, {row.cell.column})"
        for one in outcomes
        for row in one.rows
        if row.verdict == "differs"
    ]
