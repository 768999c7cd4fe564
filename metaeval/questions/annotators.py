"""`annotators`: how people judged, and how well they agree."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.options import Draws, Run, Seed
from metaeval.question import EvalsetQuestion
from warehouse.fields import Argument, Option

if TYPE_CHECKING:
    from metaeval.answer import Answer, Result


@dataclass(frozen=True, kw_only=True)
class Annotators(EvalsetQuestion["Result"], name="annotators"):
    """Show how much annotators judged and how well they agree.

    Also their pace, whether they drift, and how reliable scores are.

    Agreement is Krippendorff's alpha of these annotators; reliability is split-half, as it is and corrected by
    Spearman-Brown. Judgements that count are valid ones of systems, human translations included.

    Example: scorehouse annotators sim24 en-de
    """

    needs = dict.fromkeys(("draws", "seed"), ("view=sets", "view=annotators", "view="))

    testset: Annotated[str, Argument("Test set; several by commas, or all.", names="testset")] = "all"
    human: Annotated[str | None, Option("Human score.", names="human", default="all with judgements on file")] = None
    view: Annotated[
        Literal["sets", "annotators", "pairs", "pace", "agreement", "judges"] | None,
        Option(
            "One row per human score, annotator, or pair of annotators with outputs in common; how fast each judged; "
            "kappa of preferences between and within annotators; or judges that answer with preferences: ties, "
            "position bias, and agreement with people.",
            default="annotators where one human score has judgements, else sets",
        ),
    ] = None
    seed: Seed = 0
    draws: Draws = 1000

    def answer(self, run: Run) -> "Answer[Result]":
        if self.view == "pace":
            return super().answer(run)
        from metaeval.answer import answer_of

        if self.view == "agreement":
            from metaeval.people.preference_agreement import agreement

            with run.opened() as warehouse:
                return answer_of(self, agreement(warehouse, self.testset, self.lp, self.human), digits=3)
        if self.view == "judges":
            from metaeval.people.preference_agreement import judges

            with run.opened() as warehouse:
                return answer_of(self, judges(warehouse, self.testset, self.lp, self.human), digits=3)
        from metaeval.people.annotator_tables import reading
        from metaeval.people.annotators import annotators

        with run.opened() as warehouse:
            found = annotators(warehouse, self.testset, self.lp, self.human, self.view, self.draws, self.seed)
        digits = dict.fromkeys(found.frame.columns, 3) | {"n_systems": 1, "n_halved": 1}
        return answer_of(self, found, reading=reading(found.frame), digits=digits)

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.answer import answer_of
        from metaeval.people.annotators import pace

        with run.opened() as warehouse:
            found = pace(warehouse, self.testset, self.lp, self.human)
        return answer_of(self, found, digits={"seconds": 1, "change": 2})
