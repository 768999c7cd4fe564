"""`list`: what is in the warehouse, and what there is to ask with."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.options import Run
from metaeval.question import Question
from warehouse.errors import QuestionError
from warehouse.fields import Argument

if TYPE_CHECKING:
    from metaeval.answer import Answer


@dataclass(frozen=True, kw_only=True)
class List(Question[None], name="list"):
    """List what is in the warehouse, or the available measures.

    Example: scorehouse list metrics sim24 en-de
    """

    what: Annotated[
        Literal[
            "testsets", "lps", "metrics", "humans", "systems", "sources", "results", "issues", "measures", "protocols"
        ],
        Argument("What to list."),
    ] = "testsets"
    testset: Annotated[str | None, Argument("Only this test set.", names="testset", default="all")] = None
    lp: Annotated[str | None, Argument("Only this language pair.", names="lp", default="all")] = None

    def check_fields(self) -> None:
        if self.what in ("measures", "protocols") and self.testset is not None:
            raise QuestionError(f"{self.what} are the same for all test sets: `scorehouse list {self.what}`")
        if self.what == "testsets" and self.lp is not None:
            raise QuestionError("testsets are listed without a language pair; `scorehouse list lps TESTSET` has those")

    def answer(self, run: Run) -> "Answer[None]":
        from metaeval.answer import Answer
        from queries.listing import listing

        if self.what in ("measures", "protocols"):
            from metaeval.catalogue import measures, protocol_table  # all that computes

            return Answer(
                measures() if self.what == "measures" else protocol_table(), "", question=self, results=(None,)
            )
        with run.opened() as warehouse:
            return Answer(listing(warehouse, self.what, self.testset, self.lp), "", question=self, results=(None,))
