"""`report`: a page with the answers to many questions."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from cli.report.sections import SECTIONS
from metaeval.measures.options import Recompute, Resamples, Seed
from metaeval.questions.question import Question
from metaeval.results.run import Run
from queries.slices import Slice, WhichMetrics
from warehouse.fields import Argument, Option
from warehouse.wording import counted

if TYPE_CHECKING:
    from cli.report.making import ReportSection
    from metaeval.results.answer import Answer

    SectionName = str
else:
    SectionName = Literal[tuple(SECTIONS)]


@dataclass(frozen=True, kw_only=True)
class Report(Question["list[ReportSection]"], name="report"):
    """Write everything about test sets on one page.

    The page has rankings, significance matrices, charts and audit findings. It can be read offline.

    Results are stored, which makes the next report fast.

    Example: scorehouse report sim24 ja-en --section rankings --section audit -o report.html --resamples 20
    """

    by_evalset = True
    testset: Annotated[str, Argument("Test set, such as wmt23; several by commas, or all.", names="testset")] = "all"
    lp: Annotated[str, Argument("Language pair; several by commas, or all.", ("lp",), names="lp")] = "all"
    section: Annotated[tuple[SectionName, ...], Option("Only this section; repeatable.", default="all")] = ()
    measures: Annotated[
        tuple[str, ...],
        Option(
            "Measure, such as spa or acc_eq(by=item); repeatable.",
            ("measure", "m"),
            names="measure",
            default="those of rank; pa where these have no value, as with human scores of systems only",
        ),
    ] = ()
    human: Annotated[str | None, Option("Human score.", names="human", default="the official one")] = None
    status: Annotated[
        Literal["primary", "official", "all"],
        WhichMetrics("Metrics to include: primary and baseline ones, all that were submitted, or all that are loaded."),
    ] = "official"
    user_metrics: Annotated[
        bool, WhichMetrics("Include metrics added with `scorehouse add` or `compute`.", formerly="own")
    ] = False
    details: Annotated[int, Option("Number of evaluation sets with charts; the others have only tables.", least=0)] = 6
    static: Annotated[
        bool, Option("Write a page without JavaScript: charts as images, plain tables.", is_computing=True)
    ] = False
    recompute: Recompute = field(default=False, compare=False)
    seed: Seed = 0
    resamples: Resamples = 1000

    def slice_of(self, testset: str, lp: str) -> Slice:
        """What the report takes of an evaluation set."""
        return Slice(testset=testset, lp=lp, human=self.human, status=self.status, user_metrics=self.user_metrics)

    def answer(self, run: Run) -> "Answer[list[ReportSection]]":
        """A row for each part of the page, whose sections are the result."""
        import polars as pl

        from cli.report.making import report_sections
        from metaeval.results.answer import Answer

        sections, notes = report_sections(self, run)
        rows = [
            (one.section.name, part.heading, len(part.figures), len(part.grids))
            for one in sections
            for part in one.parts
        ]
        columns = {"section": pl.String, "part": pl.String, "charts": pl.Int64, "tables": pl.Int64}
        return Answer(pl.DataFrame(rows, columns, orient="row"), "", tuple(notes), question=self, results=(sections,))

    def headline(self, answer: "Answer[list[ReportSection]]") -> str:
        n = sum(not one.missing for one in answer.result)
        where = "all test sets" if self.testset == "all" else self.testset
        return f"The report on {where[:100]} has {counted(n, 'section')} and {counted(answer.frame.height, 'part')}."
