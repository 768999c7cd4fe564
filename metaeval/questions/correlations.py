"""`correlations`: correlations between metrics."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Annotated

from metaeval.measures.options import Options, SystemScoreOption
from metaeval.questions.question import EvalsetQuestion
from metaeval.results.run import Run
from queries.slices import ALL, Slice
from warehouse.errors import QuestionError
from warehouse.fields import Argument, Option
from warehouse.wording import are, counted, every, option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.results.answer import Answer, Result


@dataclass(frozen=True, kw_only=True)
class Correlations(Slice, EvalsetQuestion["Result"], name="correlations"):
    """Correlate every pair of metrics.

    If you name a metric, lists its correlations with all others, the most similar first.

    Uses annotated segments, or all segments if there are no human scores. `--human all` correlates human scores with
    each other instead.

    Example: scorehouse correlations sim24 en-de -m pearson --status primary
    """

    metric: Annotated[str | None, Argument("Metric to correlate with all others.", ("metric",), names="metric")] = None
    measure: Annotated[
        str, Option("pearson, spearman or kendall; with by=... on segments.", ("measure", "m"), names="measure")
    ] = "pearson(by=none)"
    system_score: SystemScoreOption = None

    def check_fields(self) -> None:
        if self.metric is not None and self.human == ALL:
            raise QuestionError(f"{option('metric')} and {option('human', ALL)} cannot be combined")
        from metaeval.measures.registry import parse_measure

        if self.system_score is not None and (parsed := parse_measure(self.measure)).level != "sys":
            raise QuestionError(
                f"{option('system_score')} applies to measures of systems, such as pearson, not to {parsed}"
            )

    @property
    def needs_human(self) -> bool:
        return self.human is not None

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.measures.registry import parse_measure
        from metaeval.results.answer import answer_of
        from metaeval.studies.tables.agreement import agreement, human_agreement

        measure, asked, options = parse_measure(self.measure), self.part(Slice), self.part(Options)
        with run.opened() as warehouse:
            if self.human == ALL:
                found = human_agreement(warehouse, asked, measure, options)
            else:
                found = agreement(warehouse, asked, measure, options, self.metric)
        return answer_of(self, found, digits=2)

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.kernels.arrays.checks import EQUAL
        from metaeval.results.sentences import named, number, opening
        from warehouse.facts.human_protocols import share_ratings

        not_people = "These are correlations between metrics, not with human scores."
        names = answer.frame[:, 0].to_list()
        if self.metric is not None:
            one, known = answer.facts["metric"], answer.frame.drop_nulls("correlation")
            if known.is_empty():
                return f"{one} has no correlation by {self.measure} with another metric."
            idle = [name for name in known["metric"] if name in answer.facts["idle"]]
            idle = idle if len(idle) < known.height else []
            said = [f"{name} ({number(value)})" for name, value in known.rows() if name not in idle]
            return opening(
                f"{one} is most like {named(said[:3], last='and')} by {self.measure}"
                f"{f', least like {said[-1]}' if len(said) > 3 else ''}.",
                _not_counted(idle),
                not_people,
            )
        if len(names) == 1:
            return f"Only {names[0]} is selected; {option('metric', names[0])} correlates it with all others."
        pairs = [
            (value, a, b)
            for row, a in enumerate(names)
            for b in names[row + 1 :]
            if (value := answer.frame[b][row]) is not None
            and value == value
            and not (self.human == ALL and share_ratings(a, b))
        ]
        idle = [name for name in names if name in answer.facts.get("idle", ())]
        judging = [pair for pair in pairs if not {*pair[1:]} & {*idle}]
        pairs, idle = (judging, idle) if judging else (pairs, [])
        what = "human scores" if self.human == ALL else "metrics"
        if not pairs:
            return f"No two {what} have a correlation by {self.measure}."
        (high, *_), (low, *_) = max(pairs), min(pairs)
        most = [f"{a} and {b}" for value, a, b in pairs if high - value <= EQUAL]
        least = [f"{a} and {b}" for value, a, b in pairs if value - low <= EQUAL]
        if len(pairs) == 1:
            sentence = f"{most[0]} correlate by {self.measure} with {number(high)}."
        elif high - low <= EQUAL:
            whole = every(len(pairs), "pair")
            sentence = f"{whole[0].upper()}{whole[1:]} of {what} correlate alike ({self.measure} {number(high)})."
        else:
            of = f"{len(names) - len(idle)} {what}"
            sentence = f"{_several(most)} correlate most of {of} ({self.measure} {number(high)})"
            ends = (f", {_several(least)} least ({number(low)}).", ".")
            sentence = next(one for end in ends if _fits(one := f"{sentence}{end}", _not_counted(idle)) or end == ".")
        n_shared = sum(share_ratings(a, b) for a, b in combinations(names, 2)) if self.human == ALL else 0
        shared = f"{counted(n_shared, 'pair')} of the same ratings {are(n_shared)} not compared." if n_shared else ""
        return opening(sentence, _not_counted(idle), shared if self.human == ALL else not_people)

    def chart(self, answer: "Answer[Result]") -> "alt.VConcatChart":
        from metaeval.charts.correlations import correlation_matrix
        from metaeval.studies.tables.agreement import clustered

        found = answer.result
        if self.metric is not None:
            raise QuestionError(f"no chart goes with {option('metric')}")
        return correlation_matrix(found.frame, clustered(found.frame), self.measure, found.signature)


def _several(pairs: Sequence[str]) -> str:
    """Pairs of scorers that are equal: how many, and the first.

    >>> _several(["A and B", "A and C", "B and C"]), _several(["A and B"])
    ('3 pairs, such as A and B,', 'A and B')
    """
    return f"{counted(len(pairs), 'pair')}, such as {pairs[0]}," if len(pairs) > 1 else pairs[0]


def _fits(*sentences: str) -> bool:
    from metaeval.results.sentences import opening

    return opening(*sentences) == " ".join(filter(None, sentences))


def _not_counted(idle: list[str]) -> str:
    judge = "judges" if len(idle) == 1 else "judge"
    what = f"{len(idle)} that {judge} no translation {are(len(idle))} not counted."
    return what if idle else ""
