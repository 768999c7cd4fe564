"""`protocol`: metrics scored by a shared task's own rules."""

from dataclasses import dataclass, replace
from functools import partial
from math import fsum
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.measures.options import HOW_TESTED, Options, TestOptions
from metaeval.questions.fields import requires
from metaeval.questions.question import Question
from metaeval.results.run import Run
from queries.slices import Slice
from warehouse.errors import QuestionError
from warehouse.fields import Argument, Option
from warehouse.wording import counted, option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.results.answer import Answer
    from metaeval.studies.protocols import Protocol as Rules
    from metaeval.studies.protocols.scoring import ProtocolScore

_OF_ONE = ("on", "level", "lp", "human", "reference", "all_metrics", "significance")

_OF_COMPOSED = ("rules", "on", "lp", "significance", "alternative", "resamples", "seed", "alpha", "recompute")


@dataclass(frozen=True, kw_only=True)
class Protocol(Options, TestOptions, Question["ProtocolScore | None"], name="protocol"):
    """Score metrics by a shared task's own rules.

    Shows every task, the overall score, ranks and clusters.

    With `--matrix`, `--agreement` or `--thresholds`, NAME is a test set, several joined by commas, or all. `--matrix`
    applies every protocol to each test set that has its inputs, `--agreement` correlates the resulting rankings, and
    `--thresholds` compares tie thresholds over the years.

    Your own rules are a TOML file: overall = "values" or "ranks", tasks = [{ measure = "spa", weight = 2 }, ...];
    lps, test, outliers, domains and human_references are optional.

    Example: scorehouse protocol wmt24 --on sim24 --lp en-de
    """

    by_evalset = True
    as_a_whole = ("thresholds",)
    important = ("metric", "overall", "carried", "loss")

    needs = requires((*HOW_TESTED, "resamples"), "significance", recompute=())
    without = ("test", "correction", "early_stop")

    rules: Annotated[
        str,
        Argument(
            "Rules to apply: wmt23, wmt24, wmt25, an earlier year such as wmt14, or your own TOML file.",
            metavar="NAME",
            names="protocol",
        ),
    ] = "all"
    on: Annotated[str | None, Option("Test set to score.", names="testset", default="the protocol's own")] = None
    level: Annotated[Literal["sys", "seg"] | None, Option("Only tasks of this level.", default="both")] = None
    lp: Annotated[
        tuple[str, ...], Option("Only this language pair; repeatable.", names="lp", default="official ones")
    ] = ()
    human: Annotated[str | None, Option("Human score.", names="human", default="the official one")] = None
    reference: Annotated[
        str | None,
        Option(
            "Reference for reference-based metrics.",
            ("ref", "reference"),
            names="reference",
            default="the official one",
        ),
    ] = None
    all_metrics: Annotated[bool, Option("Include contrastive metrics.")] = False
    significance: Annotated[
        bool, Option("Add p-values and significance clusters for every task and the overall score.")
    ] = False
    matrix: Annotated[
        bool,
        Option(
            "Rank metrics by the rules of every year.",
            excludes=("agreement", "thresholds", "charted", *_OF_ONE),
        ),
    ] = False
    agreement: Annotated[
        bool,
        Option("Correlate the rankings of every two protocols.", excludes=("thresholds", "charted", *_OF_ONE)),
    ] = False
    thresholds: Annotated[
        bool,
        Option(
            "Compare tie thresholds over the years, and the loss from using an older one.",
            excludes=("charted", "recompute", "seed", *_OF_ONE),
        ),
    ] = False
    measure: Annotated[
        str,
        Option("Measure whose tie threshold is calibrated.", ("measure", "m"), names="measure", needs=("thresholds",)),
    ] = "acc_eq(by=item)"
    verbose: Annotated[bool, Option("List excluded metrics, and missing ones with their tasks.", is_computing=True)] = (
        False
    )

    def check_fields(self) -> None:
        if self.rules != (lower := self.rules.lower()):
            from metaeval.studies.protocols import is_protocol
            from metaeval.studies.protocols.composed import weights

            if lower == "all" or lower in weights() or is_protocol(lower):
                object.__setattr__(self, "rules", lower)
        if self.rules == "all" and not (self.matrix or self.agreement or self.thresholds):
            ways = f"{option('matrix')}, {option('agreement')} and {option('thresholds')}"
            raise QuestionError(f"name a protocol, or one of {ways}; `scorehouse list protocols` lists them")

    def answer(self, run: Run) -> "Answer[ProtocolScore | None]":
        if self.thresholds:
            return self._thresholds(run)
        if self.matrix or self.agreement:
            return self._matrix(run)
        from metaeval.results.answer import Answer
        from metaeval.studies.protocols.composed import weights
        from metaeval.studies.protocols.tables import as_json, lines_on, score_frame

        is_composed = self.rules in weights()
        score = self._composed if is_composed else partial(self._scored, protocol=self._protocol())
        (computed,) = run.each(score, [(self._testset(), "all")], is_storing=True)
        if isinstance(computed, QuestionError):
            raise computed
        found, notes = computed
        return Answer(
            score_frame(found),
            found.signature,
            (*found.notes, *lines_on(found, self.verbose), *notes),
            question=self,
            results=(found,),
            shape=as_json(found),
        )

    def _composed(self, run: Run, testset: str, _: str) -> "tuple[ProtocolScore, list[str]]":
        from metaeval.studies.protocols.composed import composed_score

        if unused := [name for name in self.given() if name not in _OF_COMPOSED]:
            raise QuestionError(f"{self.rules} counts pairs of grades; {option(unused[0])} does nothing there")
        lps = [one for part in self.lp for one in part.split(",")]
        testing = self.part(TestOptions) if self.significance else None
        with run.opened() as warehouse:
            return composed_score(warehouse, self.rules, testset, lps, testing, self.seed), []

    def _scored(self, run: Run, testset: str, _: str, protocol: "Rules") -> "tuple[ProtocolScore, list[str]]":
        from metaeval.studies.protocols.scoring import scored

        lps = [one for part in self.lp for one in part.split(",")] or None
        return scored(
            run,
            protocol,
            Slice(testset, "", human=self.human, reference=self.reference),
            lps,
            self.part(Options),
            self.part(TestOptions),
            all_metrics=self.all_metrics,
            significance=self.significance,
            fresh=self.recompute,
        )

    def _protocol(self) -> "Rules":
        """Raises QuestionError: unknown protocol, a file without rules, or no task of the level."""
        from pathlib import Path

        from metaeval.studies.protocols import OWN, own_protocol, protocol_named
        from metaeval.studies.protocols.composed import weights

        rules = self.rules
        found = own_protocol(Path(rules)) if rules.endswith(OWN) else protocol_named(rules, weights())
        return found if self.level is None else found.of_level(self.level)

    def _testset(self) -> str:
        """Raises QuestionError: user rules need a test set."""
        if self.on is None and self.rules.endswith(".toml"):
            raise QuestionError(f"your own rules name no test set; name one with {option('on', 'wmt23')}")
        return self.on or self.rules

    def _thresholds(self, run: Run) -> "Answer[ProtocolScore | None]":
        from metaeval.measures.registry import parse_measure
        from metaeval.results.answer import answer_of
        from metaeval.studies.tables.carried import carried_thresholds

        measure = parse_measure(self.measure)
        return answer_of(self, carried_thresholds(run.opened, self.rules, measure, self.part(Options)), None)

    def _matrix(self, run: Run) -> "Answer[ProtocolScore | None]":
        from metaeval.results.answer import answer_of
        from metaeval.studies.protocols import matrix

        options = self.part(Options)
        cells, unsaved = matrix.matrix(run, self.rules, options, fresh=self.recompute)
        frame = matrix.agreement_frame(cells) if self.agreement else matrix.winners_frame(cells)
        found = matrix.matrix_result(cells, frame, "agreement" if self.agreement else "matrix", options)
        table = replace(found, notes=(*found.notes, *unsaved))
        if frame.is_empty() or not any(cell.score for cell in cells):
            raise QuestionError("no protocol has its inputs: " + "; ".join(table.notes))
        if self.agreement:
            return answer_of(self, table, None)
        meaning = (
            "entries: the winner, the number of metrics with every task, and Kendall's tau with the ranking by the "
            "rules of the test set's own year"
        )
        if len(answered := list(dict.fromkeys(cell.testset for cell in cells if cell.score is not None))) == 1:
            ranks, title = matrix.wide_ranks(cells, answered[0]), "the metric's rank by the rules of each year"
            return answer_of(
                self, table, None, reading=ranks, reading_notes=table.notes, title=f"{answered[0]}: {title}"
            )
        return answer_of(self, table, None, reading=matrix.wide_winners(cells), reading_notes=(*table.notes, meaning))

    def headline(self, answer: "Answer[ProtocolScore | None]") -> str:
        from metaeval.results.sentences import UNTESTED, named, number, opening

        found = answer.result
        if found is not None:
            if not found.winners:
                return f"No metric has scores for every task of {found.protocol} on {found.testset}."
            verb = "rank" if len(found.winners) > 1 else "ranks"
            rules = "" if found.protocol == found.testset else f" on {found.testset}"
            first = f"{named(found.winners)} {verb} first by the rules of {found.protocol}{rules}"
            cluster = int(found.clusters[0])
            same = [name for name, one in zip(found.metrics, found.clusters, strict=True) if cluster and one == cluster]
            others = [name for name in same if name not in found.winners]
            tied = f"; {named(others, 2)} {'is' if len(others) == 1 else 'are'} in the same cluster" if others else ""
            tied = tied or ("; no other metric is in its cluster" if cluster else f"; {UNTESTED}")
            overall = "mean rank" if found.by_ranks else "overall"
            return opening(f"{first} ({overall} {number(float(found.overall[0]))}){tied}.")
        if self.thresholds:
            rows = answer.frame.filter(same_protocol=True) if answer.frame["same_protocol"].any() else answer.frame
            loss, worst = fsum(rows["loss"]) / rows.height, rows.sort("loss", descending=True).row(0, named=True)
            return opening(
                f"A tie threshold from an earlier year loses {number(loss)} {self.measure} on average.",
                f"The loss is largest for {worst['metric']} in {worst['lp']} ({number(worst['loss'])}, "
                f"{worst['year_from']} to {worst['year']}).",
            )
        if self.agreement:
            rows = answer.frame.drop_nulls("kendall").sort("kendall")
            if rows.is_empty():
                return "No two protocols rank the same metrics."
            low, high = rows.row(0, named=True), rows.row(-1, named=True)
            return opening(
                f"The protocols' rankings agree with Kendall's tau from {number(low['kendall'])} ({low['protocol']} "
                f"and {low['versus']} on {low['testset']}) to {number(high['kendall'])}."
            )
        rows = answer.frame.drop_nulls("winner")
        winners = rows["winner"].value_counts(sort=True, name="n").sort("n", "winner", descending=[True, False])
        n = int(winners["n"][0])
        most = winners.filter(n=n)["winner"].to_list()
        on = f"protocols on {rows['testset'][0]}" if rows["testset"].n_unique() == 1 else "protocols and test sets"
        each = "ranks" if len(most) == 1 else "each rank"
        whole = f"{named(most)} {each} first by the rules of {n} of {rows.height} {on}"
        n_others = winners.height - len(most)
        different = f", {counted(n_others, 'other metric')} by the rest" if n_others else ""
        n_missing = answer.frame.height - rows.height
        missing = f" {n_missing} could not be applied." if n_missing else ""
        return opening(f"{whole}{different}; {UNTESTED}.{missing}")

    def chart(self, answer: "Answer[ProtocolScore | None]") -> "alt.VConcatChart":
        from metaeval.charts.small_multiples import task_panels
        from metaeval.results.answer import drawable

        return task_panels(drawable(answer))
