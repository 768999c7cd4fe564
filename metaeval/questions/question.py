"""Questions: frozen dataclasses whose fields are their options, from which every interface is made.

Light: this module and the questions' own are read to print a help, so arrays, frames and DuckDB are imported by what
answers.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import MISSING, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from queries.slices import Evalset
from warehouse.errors import QuestionError, unknown
from warehouse.fields import Fields, fields_of
from warehouse.wording import option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.results.answer import Answer
    from metaeval.results.run import Place, Run
    from warehouse import Warehouse

R = TypeVar("R")
"""What was computed for a question, which charts and pages are made of."""


@dataclass(frozen=True, kw_only=True)
class Question(Fields, Generic[R]):
    """A question; subclasses add fields, with an `Option` each, and say how they are answered.

    charted: whether to compute the data for a chart, too.
    """

    name: ClassVar[str]
    important: ClassVar[tuple[str, ...]] = ()  # columns that are the answer whatever the fields: `answer_columns`
    by_evalset: ClassVar[bool] = False  # whether it computes by evaluation set (`Run.each`), and so can on workers
    as_a_whole: ClassVar[tuple[str, ...]] = ()  # fields with which it does not
    charted: bool = False

    def __init_subclass__(cls, name: str = "") -> None:
        if name:
            cls.name = name

    def answer(self, run: "Run") -> "Answer[R]":
        """Raises QuestionError: unknown names, nothing that can be computed."""
        raise NotImplementedError

    def chart(self, answer: "Answer[R]") -> "alt.VConcatChart":
        """The answer's chart; the answer must be computed with `charted` if the chart shows more than the rows.

        Raises QuestionError: there is no chart of it.
        """
        raise QuestionError(f"{self.name} draws no chart")

    def drawn(self, answer: "Answer[R]") -> "alt.VConcatChart":
        """Raises QuestionError: options that no chart goes with; see `chart`."""
        return replace(self, charted=True).chart(answer)

    @property
    def answer_columns(self) -> tuple[str, ...]:
        """Columns that are the answer, the last ones that a narrow terminal drops."""
        return self.important

    @classmethod
    def has_chart(cls) -> bool:
        """Whether answers can be drawn."""
        return cls.chart is not Question.chart

    @property
    def reads_others(self) -> bool:
        """Whether it also reads evaluation sets that it does not name: a measure may take its threshold from these."""
        texts = (*getattr(self, "measures", ()), getattr(self, "measure", ""))
        if not any("(" in text for text in texts):
            return False
        from metaeval.measures.registry import parse_measure

        return any(text and parse_measure(text).calibrated_on is not None for text in texts)

    def names_in(self, run: "Run") -> "AbstractContextManager[Warehouse]":
        """The warehouse whose names the question's are."""
        return run.opened()

    def headline(self, answer: "Answer[R]") -> str:
        """The answer in one or two sentences of at most 200 characters: of whom, without which data, and also where it
        is no.
        """
        raise NotImplementedError

    def headline_of_several(self, answers: "Sequence[Answer[R]]") -> str:
        """The answers for several evaluation sets in one sentence; "" if the first one's stands for all."""
        return ""

    def in_few_words(self) -> str:
        """The question in few words: the arguments, and the options that are not at their defaults."""
        known, given = fields_of(type(self)), self.given()
        places = [name for name, one in known.items() if one.is_argument and not one.is_list]
        said = [
            name if value is True else f"{name}={_short(value)}" for name, value in given.items() if name not in places
        ]
        named = [str(value) for name in places if (value := getattr(self, name)) is not None]
        return ", ".join([" ".join([self.name, *named]), *said])


@dataclass(frozen=True, kw_only=True)
class EvalsetQuestion(Evalset, Question[R]):
    """A question that is answered for each evaluation set by itself."""

    by_evalset = True

    @property
    def needs_human(self) -> bool:
        """Whether evaluation sets without human scores have no answer."""
        return True

    def answer(self, run: "Run") -> "Answer[R]":
        """The answers for all evaluation sets that are named, stacked.

        Those without an answer are left out, with a note.
        Raises QuestionError: unknown names; no evaluation set has an answer.
        """
        from metaeval.results.answer import stacked
        from metaeval.results.notes import unanswered
        from queries.evalsets import expand

        is_one = not any("," in one or one == "all" for one in (self.testset, self.lp))
        if is_one and run.workers is None:
            return self.answer_one_evalset(run)
        human = getattr(self, "human", None)
        with run.opened() as warehouse:
            named = human if isinstance(human, str) else None
            chosen = expand(warehouse, self.testset, self.lp, named, needs_human=self.needs_human).chosen
        answers, faults = {}, {}
        for place, found in zip(chosen, self.each(run, chosen), strict=True):
            if not isinstance(found, QuestionError):
                answers[place] = found
            elif len(chosen) == 1:
                raise found
            else:
                faults[place] = found
        if not answers:
            raise unanswered(faults)
        if len(chosen) == 1:
            return replace(*answers.values(), question=self)
        said = {place: replace(one, summary=one.question.headline(one)) for place, one in answers.items()}
        return stacked(self, said, [f"{' '.join(place)} is skipped: {error.text}" for place, error in faults.items()])

    def each(self, run: "Run", places: "Sequence[Place]") -> "Iterator[Answer[R] | QuestionError]":
        """The answer for each evaluation set, in their order, or why there is none."""
        return run.each(self._answer_at, places, self.name, is_storing=hasattr(self, "recompute"))

    def _answer_at(self, run: "Run", testset: str, lp: str) -> "Answer[R]":
        from metaeval.results.spelling import with_stored_names

        there = replace(self, testset=testset, lp=lp)
        return with_stored_names(there, run.opened, stored=("testset", "lp")).answer_one_evalset(run)

    def answer_one_evalset(self, run: "Run") -> "Answer[R]":
        """Raises QuestionError: as `answer`."""
        raise NotImplementedError


def evalsets_named(
    question: type[Question[R]], given: Mapping[str, Any], there: Collection[tuple[str, str]]
) -> Collection[tuple[str, str]] | None:
    """The existing evaluation sets that a question names exactly; None if it may ask for any."""
    if question_with(question, given).reads_others:
        return None
    testsets, lps = (str(given.get(name) or "all").split(",") for name in ("testset", "lp"))
    named = [(testset, lp) for testset, lp in there if testset in testsets and (lps == ["all"] or lp in lps)]
    is_exact = {testset for testset, _ in named} == {*testsets} and lps in (["all"], [*dict.fromkeys(lps)])
    is_exact = is_exact and (lps == ["all"] or {lp for _, lp in named} == {*lps})
    return named if is_exact and issubclass(question, Evalset) else None


def _short(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)


def question_with(question: type[Question[R]], given: Mapping[str, Any]) -> Question[R]:
    """The question with these values.

    Raises QuestionError: an option that it does not have, with near names; see `Question`.
    """
    known = fields_of(question)
    for name in given:
        if name not in known and name != "charted":
            raise unknown("option", name, known, where=question.name)
    for name, field in known.items():
        if field.default is MISSING and given.get(name) is None:
            raise QuestionError(f"no {option(name)}: {question.name} needs one")
    return question(**given)
