"""`deltas`: how large a difference must be, and pairs that no metric orders correctly."""

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from metaeval.measures.options import Options
from metaeval.questions.fields import requires
from metaeval.questions.question import Question
from metaeval.results.run import Run
from metaeval.studies.pairs.settings import DeltaSettings, HardPairSettings
from queries.slices import METRIC_FIELDS, Slice
from warehouse.errors import QuestionError
from warehouse.fields import Argument, Option
from warehouse.wording import counted, option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.results.answer import Answer, Result
    from warehouse import Warehouse


@dataclass(frozen=True, kw_only=True)
class Deltas(Slice, Options, DeltaSettings, HardPairSettings, Question["Result"], name="deltas"):
    """Show what a difference in a metric's scores means.

    How large must a difference between two systems be for human scores to agree with it?

    Uses all pairs of systems with human scores, by human protocol and direction. Agreement is fitted by isotonic
    regression; intervals come from resampled evaluation sets and systems. `--hard` lists the pairs of systems that no
    metric, or only one, orders as human scores do.

    Example: scorehouse deltas sim24 simBLEU --human mqm --resamples 200
    """

    by_evalset = True
    needs = requires((*METRIC_FIELDS, "alpha", "max_correct", "min_metrics", "significant"), "hard")

    testset: Annotated[str, Argument("Test set; several by commas, or all.", names="testset")] = "all"
    metric: Annotated[str | None, Argument("Metric, such as BLEU or BLEU-refA.", ("metric",), names="metric")] = None
    hard: Annotated[bool, Option("List the pairs of systems that almost no metric orders correctly.")] = False

    def check_fields(self) -> None:
        if self.metric is not None and _NUMBER.fullmatch(self.metric):
            raise QuestionError(f"{self.metric} is no metric; {option('difference', self.metric)} is a difference")
        if self.hard:
            for name in ("metric", "resamples", "seed"):
                if self.differs_from_default(name):
                    raise QuestionError(f"{option(name)} and {option('hard')} cannot be combined")
        elif self.difference is not None and self.differs_from_default("agreement"):
            raise QuestionError(f"{option('difference')} and {option('agreement')} cannot be combined")
        elif self.metric is None and self.testset == "all":
            raise self._without_metric()

    def _without_metric(self) -> QuestionError:
        line = " ".join(one for one in ("deltas", self.testset, self.lp, "BLEU") if one != "all")
        return QuestionError(f"deltas needs a metric, such as `scorehouse {line}`; {option('hard', True)} needs none")

    def _slice_and_metric(self, warehouse: "Warehouse") -> tuple[Slice, str]:
        """The slice and the metric; a single name that is no test set is the metric's.

        Raises QuestionError: no metric is named.
        """
        from queries.evalsets import stored_name, stored_names, stored_places

        asked = self.part(Slice)
        if self.metric is not None:
            return asked, self.metric
        loaded = stored_places(warehouse)["testset"]
        if all(one in loaded for one in stored_name(self.testset, loaded).split(",")):
            raise self._without_metric()
        return replace(asked, testset="all"), stored_name(self.testset, stored_names(warehouse)["metric"])

    def answer(self, run: Run) -> "Answer[Result]":
        from metaeval.results.answer import answer_of

        asked, options = self.part(Slice), self.part(Options)
        if self.hard:
            from metaeval.studies.pairs.hard_pairs import hard_pairs

            found = hard_pairs(run, asked, options, self.part(HardPairSettings))
            reading = found.frame.drop("human", "human_difference", "significant", "signature")
            return answer_of(self, found, reading=reading)
        from metaeval.studies.pairs.deltas import deltas

        with run.opened() as warehouse:
            asked, metric = self._slice_and_metric(warehouse)
        found = deltas(run, asked, metric, options, self.part(DeltaSettings))
        reasons = [] if found.frame["reason"].null_count() == found.frame.height else ["reason"]
        return answer_of(
            self,
            found,
            reading=found.frame.select(*(_FOR_READING if self.difference is None else _AT_A_DIFFERENCE), *reasons),
        )

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.results.sentences import either, opening

        if not self.hard:
            from metaeval.studies.pairs.deltas import at_in_a_sentence, in_a_sentence

            if self.difference is None:
                lead, *rest = in_a_sentence(answer.frame)
            else:
                lead, *rest = at_in_a_sentence(answer.frame, answer.facts["curves"])
            long, *shorter = [*(f"{one}." for one in answer.facts["converted"]), "Scores × 100."]
            last = [long, *shorter] if shorter else [""]
            return either(*(" ".join(filter(None, (lead, *some, end))) for some in (rest, ()) for end in last))
        n, most = answer.frame.height, counted(self.max_correct, "metric")
        few = "no metric" if self.max_correct == 0 else f"at most {most}"
        every = answer.facts["every"].height
        order = "orders" if self.max_correct <= 1 else "order"
        if not n:
            return opening(
                f"Not one of the {every} pairs of systems is that hard: more metrics order each of them as "
                "human scores do."
            )
        row = answer.frame.row(0, named=True)
        pair = f"{row['better']} and {row['worse']} ({row['testset']} {row['lp']})"
        return opening(
            f"{few[0].upper()}{few[1:]} {order} {n} of {every} pairs of systems as human scores do.",
            f"The hardest is {pair}.",
        )

    def chart(self, answer: "Answer[Result]") -> "alt.VConcatChart":
        from metaeval.charts.deltas import deltas_chart
        from metaeval.charts.hard_pairs import hard_pairs_chart

        return hard_pairs_chart(answer, self.max_correct) if self.hard else deltas_chart(answer)


_NUMBER = re.compile(r"[+-]?\d*\.?\d+")
_AT_A_DIFFERENCE = ["protocol", "direction", "years", "n_sets", "n_pairs", "difference", "agreement", "low", "high"]
_FOR_READING = ["protocol", "direction", "years", "n_sets", "n_pairs", "overall", "agreement", "delta", "low", "safe"]
