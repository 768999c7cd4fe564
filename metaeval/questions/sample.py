"""`sample`: segments to annotate."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.measures.options import Seed, Unit
from metaeval.questions.question import Question
from metaeval.results.run import Run
from queries.slices import Slice
from warehouse.fields import Option
from warehouse.wording import counted, option

if TYPE_CHECKING:
    from metaeval.results.answer import Answer, Result
    from metaeval.studies.choosing.choice import ChoiceSettings

_MOST_BUDGET = 10_000_000
_EVALUATE = {"evaluate": "the parts of past campaigns are drawn from what is annotated"}


@dataclass(frozen=True, kw_only=True)
class Sample(Slice, Question["Result"], name="sample"):
    """Select segments to annotate within a budget.

    Segments are selected by metric scores or by how much outputs differ.

    Methods: metric_var prefers segments on which metric scores vary most between systems, metric_avg those with the
    lowest scores, metric_cons those that agree best with the full ranking, and diversity those with the least similar
    outputs. Gains over random segments are small; `--evaluate` measures them.

    Example: scorehouse sample sim24 en-de --method metric_var --size 20
    """

    by_evalset = True
    important = ("n", "spa gain")

    method: Annotated[
        Literal["metric_var", "metric_avg", "metric_cons", "diversity", "random"] | None,
        Option("Selection method.", default="metric_var; with evaluate: all"),
    ] = None
    metric: Annotated[
        str | None, Option("Metric, or human score, to select by.", names="metric", default="the mean over all")
    ] = None
    similarity: Annotated[Literal["unigram", "chrf"], Option("Similarity of outputs, for diversity.")] = "unigram"
    size: Annotated[
        int | None,
        Option(
            "Budget in segments.",
            ("size", "n"),
            least=1,
            most=_MOST_BUDGET,
            default="all",
            excludes=("words", "minutes"),
        ),
    ] = None
    words: Annotated[
        int | None, Option("Budget in words of the source.", least=1, most=_MOST_BUDGET, excludes=("minutes",))
    ] = None
    minutes: Annotated[
        int | None, Option("Budget in minutes for the outputs of all systems.", least=1, most=_MOST_BUDGET)
    ] = None
    words_per_minute: Annotated[float | None, Option("Source words that an annotator judges per minute.")] = None
    unit: Annotated[Unit, Option("Sample segments, or whole documents.")] = "segment"
    balance: Annotated[bool, Option("Give each domain its share of the budget.")] = False
    candidates: Annotated[
        Literal["annotated", "all"] | None,
        Option(
            "Select among segments annotated for all systems, or among all segments.",
            default="annotated if there are any",
            excludes=_EVALUATE,
            formerly="among",
        ),
    ] = None
    texts: Annotated[
        Path | None,
        Option(
            "Also write the source and outputs of the selected segments to this file.",
            excludes=_EVALUATE,
            is_computing=True,
        ),
    ] = None
    evaluate: Annotated[bool, Option("Replay past campaigns, and compare selected with random segments.")] = False
    each_set: Annotated[
        bool, Option("Show each evaluation set instead of the mean over all.", ("each",), needs=("evaluate",))
    ] = False
    clip: Annotated[
        float | None,
        Option("Clip human scores below this value, then rescale to 0-100 (MQM: -25).", needs=("evaluate",)),
    ] = None
    selections: Annotated[
        int,
        Option(
            "Number of random selections to compare with.",
            least=2,
            most=10_000,
            needs=("evaluate",),
            formerly="draws",
        ),
    ] = 100
    seed: Seed = 0

    def answer(self, run: Run) -> "Answer[Result]":
        from metaeval.results.answer import answer_of
        from metaeval.studies.choosing.choice import choose
        from metaeval.studies.choosing.replay import as_json, reading, replay

        asked, settings = self.part(Slice), self._settings()
        if not self.evaluate:
            return answer_of(self, choose(run, asked, settings, with_texts=self.texts is not None))
        methods = None if self.method is None else (self.method,)
        found = replay(run, asked, settings, methods, clip=self.clip, draws=self.selections, each_set=self.each_set)
        return answer_of(self, found, reading=reading(found.frame), shape=as_json(found))

    def _settings(self) -> "ChoiceSettings":
        from metaeval.studies.choosing.choice import ChoiceSettings

        settings = ChoiceSettings(
            method=self.method or "metric_var",
            metric=self.metric,
            unit=self.unit,
            balanced=self.balance,
            similarity=self.similarity,
            candidates=self.candidates,
            words_per_minute=self.words_per_minute,
            seed=self.seed,
        )
        if self.words is not None:
            return replace(settings, budget="words", size=self.words)
        if self.minutes is not None:
            return replace(settings, budget="minutes", size=self.minutes)
        return replace(settings, size=self.size)

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.results.sentences import named, opening

        if not self.evaluate:
            frame = answer.frame
            n_documents = frame["document"].n_unique() if frame["document"].null_count() < frame.height else 0
            of = f" from {counted(n_documents, 'document')}" if n_documents else ""
            method = self.method or "metric_var"
            return opening(
                f"{counted(frame.height, 'segment')}{of} selected by {method}.",
                f"Gains over random segments are small ({option('evaluate', True)} measures them)."
                if method != "random"
                else "",
            )
        from metaeval.studies.choosing.replay import BETTER, verdicts

        campaigns = answer.facts["campaigns"]
        found = verdicts(campaigns)
        better = [method for method, verdict in found.items() if verdict.startswith(BETTER)]
        n, sets = len(found), counted(len({(one.testset, one.lp) for one in campaigns}), "campaign")
        if not better:
            none = "the method does not select" if n == 1 else f"none of {n} methods selects"
            return opening(f"No: {none} significantly better than random (SPA, {sets}).")
        return opening(
            f"{named(better)} {'select' if len(better) > 1 else 'selects'} significantly better than random (SPA, "
            f"{sets})."
        )
