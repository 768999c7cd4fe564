"""`list`: contents of the warehouse, and available measures."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.questions.question import Question
from metaeval.results.run import Run
from warehouse.errors import QuestionError
from warehouse.fields import Argument
from warehouse.wording import counted

if TYPE_CHECKING:
    from metaeval.results.answer import Answer


@dataclass(frozen=True, kw_only=True)
class List(Question[None], name="list"):
    """List what is in the warehouse, or the available measures.

    Example: scorehouse list metrics sim24 en-de
    """

    important = ("measure", "meaning", "n_metrics", "n_humans", "origin", "signature")

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
            raise QuestionError(
                "testsets are listed without a language pair; `scorehouse list lps TESTSET` lists language pairs"
            )

    def answer(self, run: Run) -> "Answer[None]":
        from metaeval.results.answer import Answer
        from queries.listing import listing

        if self.what in ("measures", "protocols"):
            from metaeval.studies.protocols.catalogue import measures, protocol_table  # all that computes

            return Answer(
                measures() if self.what == "measures" else protocol_table(), "", question=self, results=(None,)
            )
        with run.opened() as warehouse:
            return Answer(listing(warehouse, self.what, self.testset, self.lp), "", question=self, results=(None,))

    def headline(self, answer: "Answer[None]") -> str:
        from metaeval.results.sentences import opening

        frame = answer.frame
        where = " ".join(one for one in (self.testset, self.lp) if one)
        of = f" of {where}" if where else ""
        nouns = {"lps": "language pair", "humans": "human score", "issues": "known issue", "testsets": "test set"}
        noun = nouns.get(self.what, self.what.removesuffix("s"))
        if frame.is_empty():
            return opening(f"No {noun}{of} is loaded.")
        if self.what in ("measures", "protocols"):
            n = frame[frame.columns[0]].n_unique()
            return opening(f"{n} {self.what} are available.")
        if self.what in ("testsets", "lps"):
            n_both = frame.filter((frame["n_metrics"] > 0) & (frame["n_humans"] > 0)).height
            sets = f"{counted(frame.height, 'test set' if self.what == 'testsets' else 'evaluation set')}{of}"
            n_lps = 0 if self.testset or self.what == "testsets" else frame["lp"].n_unique()
            pairs = f" in {counted(n_lps, noun)}" if n_lps else ""
            verb = "is" if frame.height == 1 else "are"
            return opening(f"{sets}{pairs} {verb} loaded, {n_both} with both metric and human scores.")
        key = {"metrics": "metric", "systems": "system", "humans": "human"}.get(self.what)
        n = frame[key].n_unique() if key in frame.columns else frame.height
        sets_of = frame.select("testset", "lp").n_unique() if {"testset", "lp"} <= set(frame.columns) else 0
        inside = f" in {counted(sets_of, 'evaluation set')}" if sets_of > 1 else ""
        verb = "is" if n == 1 else "are"
        return opening(f"{counted(n, noun)}{of}{inside} {verb} loaded.")
