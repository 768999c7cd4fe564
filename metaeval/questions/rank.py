"""`rank`: metrics ranked by agreement with human scores."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from metaeval.measures.options import HOW_TESTED, Options, TestOptions
from metaeval.questions.fields import DEFAULT_MEASURES, Measures, requires
from metaeval.questions.question import Question
from metaeval.results.run import Run
from queries.slices import ALL, Slice
from warehouse.errors import QuestionError, SourceError
from warehouse.fields import Option
from warehouse.wording import option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.measures.measure import Measure
    from metaeval.results.answer import Answer, Result
    from metaeval.studies.ranking.rankings import RankingInputs
    from warehouse import Warehouse

_OTHER_DATA = "human rows use different data in each column"


@dataclass(frozen=True, kw_only=True)
class Rank(Slice, Options, TestOptions, Question["Result"], name="rank"):
    """Rank metrics by how well they agree with human scores.

    TESTSET and LP take several names joined by commas, or all. Each evaluation set is ranked separately unless
    pooled. With `--human all` each human score is a column. The chart shows 95% intervals for one evaluation set, and a
    heat map for several sets or for domains.

    Example: scorehouse rank sim24 en-de -m spa -m "acc_eq(by=item)"
    """

    by_evalset = True
    as_a_whole = ("explain",)
    needs = requires(
        HOW_TESTED,
        "significance",
        **dict.fromkeys(("resamples", "unit"), ("significance", "intervals", "ranges", "charted")),
    )

    hidden = ("plus_one", "mid_p", "early_stop", "legacy_df", "absolute", "threads")

    measures: Measures = DEFAULT_MEASURES
    level: Annotated[
        Literal["seg", "doc"],
        Option(
            "Score level: segments, or documents treated as segments.",
            excludes={"ceiling": "judgements belong to segments"},
        ),
    ] = "seg"
    without_optimised: Annotated[
        bool,
        Option(
            "Exclude systems optimised for a metric (MBR, reranking, training), which that metric tends to overrate."
        ),
    ] = False
    by: Annotated[
        Literal["domain", "phenomenon"] | None,
        Option("Rank separately by domain, or by phenomenon of a challenge set."),
    ] = None
    wide: Annotated[
        bool,
        Option(
            "One row per metric, one column per language pair; best values in bold.",
            excludes={"pool": "a pooled ranking has one column"},
        ),
    ] = False
    intervals: Annotated[
        bool,
        Option(
            "Add the 95% interval of each value.",
            excludes={
                "pool": "pooled values have no interval yet",
                "wide": "columns are values",
                "by": "columns are values",
            },
        ),
    ] = False
    ranges: Annotated[
        bool,
        Option(
            "Add the range of each rank over resamples.",
            excludes=dict.fromkeys(("pool", "wide", "by"), "ranges belong to a single ranking"),
        ),
    ] = False
    pool: Annotated[
        Literal["mean", "pairs", "hunter-schmidt"] | None, Option("Pool values over test sets or language pairs.")
    ] = None
    significance: Annotated[
        bool,
        Option(
            "Add significance clusters; compare has more options for tests.",
            excludes={"pool": "`scorehouse protocol` tests pooled scores"},
        ),
    ] = False
    ceiling: Annotated[
        bool,
        Option(
            "Add unranked rows for human agreement: other human scores, split-half agreement, and one annotator "
            "against the others.",
            excludes=dict.fromkeys(("pool", "wide"), _OTHER_DATA),
        ),
    ] = False
    explain: Annotated[
        bool,
        Option(
            "List every system and metric, and why it is included or excluded.",
            excludes=(
                *("pool", "by", "wide", "intervals", "ranges", "significance", "ceiling", "charted", "raw_ties"),
                "strict",
            ),
        ),
    ] = False
    verbose: Annotated[bool, Option("List excluded systems and metrics.", is_computing=True)] = False
    strict: Annotated[
        bool, Option("With several test sets: fail if one cannot be ranked, instead of skipping it.", is_computing=True)
    ] = False
    with_file: Annotated[
        Path | None,
        Option(
            "Also rank a metric from a file (.seg.score, or a table), without storing it.",
            ("with",),
            metavar="FILE",
        ),
    ] = None
    first_segment: Annotated[
        int,
        Option("Number of the first segment in the file of that metric.", least=0, most=1, needs=("with_file",)),
    ] = 1

    def check_fields(self) -> None:
        from metaeval.measures.registry import parse_measure

        draws = self.significance or self.intervals or self.ranges or self.ceiling or self.explain or self.charted
        if (
            self.differs_from_default("seed")
            and not draws
            and all(parse_measure(one).n_draws is None for one in self.measures)
        ):
            names = ("significance", "intervals", "ranges", "ceiling")
            drawn = f"{', '.join(option(name, True) for name in names)} or spa"
            raise QuestionError(f"{option('seed')} has an effect only with {drawn}")

    def answer(self, run: Run) -> "Answer[Result]":
        from queries.listing import own_metrics

        if self.with_file is None:
            return self._answer(run)
        with self._trial(run) as (within, question, notes):
            found = question._answer(within)
            with within.opened() as warehouse:
                own = own_metrics(warehouse)
        return replace(found, question=self, notes=(*notes, *found.notes), own=own)

    def _answer(self, run: Run) -> "Answer[Result]":
        if self.human == ALL:
            return self._by_each_human(run)
        return self._by_one_human(run)

    def _by_each_human(self, run: Run) -> "Answer[Result]":
        """One ranking per human score, concatenated.

        Raises QuestionError: no human score has a ranking.
        """
        from metaeval.results.answer import answer_of, together
        from metaeval.studies.ranking.rankings import facts_together
        from queries.evalsets import all_humans

        if self.pool is not None or self.explain or self.ceiling:
            raise QuestionError(f"{option('human', ALL)} goes with none of pool, explain and ceiling")
        with run.opened() as warehouse:
            humans = all_humans(warehouse, self.testset, self.lp)
        found, faults = {}, {}
        for human in humans:
            try:
                found[human] = replace(self, human=human)._by_one_human(run).result
            except QuestionError as error:
                faults[human] = error.text
        if not found:
            raise QuestionError("; ".join(dict.fromkeys(faults.values())))
        result = together(found, [f"{human} is skipped: {text}" for human, text in faults.items()])
        return answer_of(self, replace(result, facts=facts_together(found)))

    def _by_one_human(self, run: Run) -> "Answer[Result]":
        from metaeval.measures.registry import parse_measure
        from metaeval.results.answer import answer_of
        from metaeval.studies.ranking.rankings import explanation
        from queries.evalsets import expand

        measures = list(dict.fromkeys(parse_measure(text) for text in self.measures))
        asked, options = self.part(Slice), self.part(Options)
        with run.opened() as warehouse:
            chosen = expand(warehouse, asked.testset, asked.lp, asked.human).chosen
            if self.explain:
                if len(chosen) > 1:
                    raise QuestionError(f"{option('explain')} takes one test set and one language pair")
                (testset, lp), *_ = chosen
                return answer_of(
                    self, explanation(warehouse, replace(asked, testset=testset, lp=lp), measures, options)
                )
            if self.pool is not None:
                self._check_pooled(warehouse)
            if not self.significance:  # nothing is stored, for which the file would have to be closed
                return self._ranked(replace(run, opened=lambda: nullcontext(warehouse)), measures, len(chosen))
        return self._ranked(run, measures, len(chosen))

    def _ranked(self, run: Run, measures: "list[Measure]", n_sets: int) -> "Answer[Result]":
        from metaeval.studies.ranking.rankings import load_ranking_inputs, ranked

        load = partial(
            load_ranking_inputs,
            run,
            measures=measures,
            options=self.part(Options),
            testing=self.part(TestOptions) if self.significance else None,
            strict=self.strict,
            fresh=self.recompute,
            ceiling=self.ceiling,
            by=self.by,
        )
        found = load(self.part(Slice), also=self._also(n_sets))
        if len(found.studies) == 1 < n_sets and len(self._also(1)) > len(self._also(n_sets)):
            (alone,) = found.studies  # a chart of one evaluation set shows intervals
            found = replace(load(alone, also=self._also(1)), skipped=found.skipped)
        return self._with_intervals(ranked(found, self.pool, verbose=self.verbose), found)

    def _also(self, n_sets: int) -> "list[partial[Any]]":
        """What is computed besides the values of so many evaluation sets."""
        is_drawn = self.charted and n_sets == 1 and not self.wide and self.by is None
        has_intervals = self.pool is None and (self.intervals or is_drawn)
        if not has_intervals and not self.ranges:
            return []
        from metaeval.studies.ranking.intervals import intervals, metric_ranges

        also: list[Callable[..., Any]] = [intervals] if has_intervals else []
        also += [metric_ranges] if self.ranges else []
        return [partial(one, options=self.part(Options), n_draws=self.resamples, unit=self.unit) for one in also]

    def _check_pooled(self, warehouse: "Warehouse") -> None:
        """Raises QuestionError: challenge sets among other test sets."""
        from queries.evalsets import challenge_sets

        found = challenge_sets(warehouse, self.testset) if self.testset != "all" else []
        if found and set(self.testset.split(",")) != set(found):
            raise QuestionError(f"challenge sets are not pooled with other test sets: {', '.join(found)}")

    def _with_intervals(self, table: "Result", inputs: "RankingInputs") -> "Answer[Result]":
        import polars as pl

        from metaeval.measures.registry import parse_measure
        from metaeval.results.answer import answer_of
        from metaeval.studies.ranking.wide import by_metric

        is_one = not self.wide and self.by is None and (self.pool is not None or len(inputs.studies) == 1)
        computed = list(zip(*(one.also for one in inputs.evalsets.values()), strict=True))
        if self.ranges:
            from metaeval.studies.ranking.intervals import with_ranges

            table, of_ranks = with_ranges(table, inputs, computed.pop(), self.part(Options), self.resamples)
            table = replace(table, notes=(*table.notes, *of_ranks))
        drawn = table
        lines: list[str] = []
        if computed:
            from metaeval.studies.ranking.intervals import with_intervals

            drawn, lines = with_intervals(table, inputs, computed.pop())
            if self.intervals:
                table = replace(drawn, notes=(*table.notes, *lines))
        drawn = replace(drawn, notes=tuple(lines)) if is_one else table
        table = replace(table, facts={**table.facts, "drawn": drawn, "is_one": is_one})
        valued = table.frame.filter(pl.col("value").is_not_null().any().over("metric"))
        is_shorter = self.pool is not None and valued.height  # notes name metrics without a pooled value
        measures = [parse_measure(text) for text in dict.fromkeys(self.measures)]
        return answer_of(self, table, reading=by_metric(valued if is_shorter else table.frame, measures))

    @contextmanager
    def _trial(self, run: Run) -> "Iterator[tuple[Run, Rank, tuple[str, ...]]]":
        """A copy of the warehouse that includes the scores of the file, the question that ranks them, and notes.

        If there are several evaluation sets, the file's rows name theirs; a note lists sets that the file does not
        cover. Stored metrics of your own are included if fields select them, as without the file.
        Raises QuestionError: no such file. SourceError: faults in the file.
        """
        from queries.evalsets import expand
        from warehouse import Warehouse
        from warehouse.own.scores import add, references_in, trial, variant_called

        path = self.with_file
        assert path is not None
        if not path.is_file():
            raise QuestionError(f"{option('with_file')} {path}: no such file")
        with run.opened() as warehouse:
            database = warehouse.path
            chosen = expand(warehouse, self.testset, self.lp, self.human).chosen
            references, standard = references_in(warehouse, *chosen[0])
        testsets, lps = ({names[at] for names in chosen} for at in (0, 1))
        wanted = self.reference if self.reference in references else standard
        variant = variant_called(path, lps, references, wanted)
        is_named = f"-{variant.reference}" in path.name or variant.reference is None
        said = () if is_named else (f"{path.name} names no reference; assuming {variant.reference}",)
        (testset, lp) = (names.copy().pop() if len(names) == 1 else None for names in (testsets, lps))
        with trial(database, kept=None if self.user_metrics else self.metrics) as copy:
            report = add(
                [path],
                copy,
                variant.base_name,
                reference=variant.reference,
                testset=testset,
                lp=lp,
                first_segment=self.first_segment,
            )
            if not report.is_clean:
                raise SourceError(faults=report.faults)
            covered = {(one.testset, one.lp) for one in report.evalsets}
            missing = ", ".join(" ".join(one) for one in chosen if one not in covered)
            notes = (*said, *report.notes, *([f"{path}: no scores for {missing}"] if missing else []))
            metrics = (*self.metrics, str(variant)) if self.metrics else ()
            within = replace(run, opened=lambda: Warehouse.open(copy), database=copy)
            yield within, replace(self, user_metrics=True, metrics=metrics, with_file=None, first_segment=1), notes

    def headline(self, answer: "Answer[Result]") -> str:
        import polars as pl

        from metaeval.measures.registry import parse_measure
        from metaeval.results.evaluation import without_value
        from metaeval.results.sentences import named, opening
        from metaeval.studies.ranking.headlines import of_one, of_several

        if self.explain:
            counts = (
                answer.frame.group_by("kind", "included", maintain_order=True).len().rows_by_key("kind", unique=False)
            )
            parts = [
                f"{sum(n for said, n in rows if said == 'yes')} of {sum(n for _, n in rows)} {kind}s"
                for kind, rows in counts.items()
            ]
            return opening(f"{named(parts)} are included in the ranking of {self.testset} {self.lp}.")
        frame = answer.frame
        frame = frame.filter(kind="metric") if "kind" in frame.columns else frame
        measure = frame["measure"][0]
        rows = frame.filter(measure=measure).drop_nulls("rank")
        if rows.is_empty():
            places = [" ".join(place) for place in frame.select("testset", "lp").unique().rows()]
            said = without_value(measure, answer.notes, places)
            is_of_one = frame["n_systems"].max() == 1
            if not is_of_one or parse_measure(measure).groups == "none":
                return said
            return opening(said, "pearson(by=none) ranks metrics on the outputs of a single system.")
        places = ["testset", "lp", *([self.by] if self.by else []), *(["human"] if self.human == ALL else [])]
        each = rows.partition_by(places, maintain_order=True, as_dict=True)
        idle = [answer.facts["idle"][place] for place in each]
        words = {of[measure] for place in each if (of := answer.facts["by"].get(place))}
        by = words.pop() if len(words) == 1 and not self.pool else measure
        if len(each) == 1:
            tested = [one for _, one in answer.facts["comparisons"] if one.measure == measure]
            if tested:  # of other domains or human scores, none has a value
                found = max(tested, key=lambda one: int(one.ranks.astype(bool).sum()))
                return str(found.in_a_sentence(rows.select("metric", "value").rows(), idle[0]))
            second = () if self.pool else frame["measure"].unique(maintain_order=True)[1:2]
            others = frame.drop_nulls("rank").filter(pl.col("measure").is_in(second))
            return of_one(rows, others, idle[0], self.pool, answer.facts["by"].get(next(iter(each)), {}))
        nouns = {"domain": ("domain", "domains"), "phenomenon": ("phenomenon", "phenomena")}
        what = nouns.get(self.by or "", ("evaluation set", "evaluation sets"))
        if self.human == ALL and rows["human"].n_unique() > 1:
            what = ("ranking by human scores", "rankings by human scores")
        # each evaluation set may have another reference
        name = "metric" if rows.select("testset", "lp").n_unique() == 1 else "base_metric"
        return of_several(list(each.values()), idle, what, name, self.pool, by)

    def chart(self, answer: "Answer[Result]") -> "alt.VConcatChart":
        from metaeval.charts.ranking import ranking_dots, ranking_heat_map
        from metaeval.studies.ranking.wide import wide

        frame, facts = answer.frame, answer.result.facts
        if "is_one" not in facts:
            raise QuestionError(f"this answer of {self.name} has no chart")
        if facts["is_one"]:
            return ranking_dots(facts["drawn"].frame, facts["drawn"].signature, list(facts["drawn"].notes))
        people = frame.filter(kind="metric").drop("kind") if "kind" in frame.columns else frame
        return ranking_heat_map(wide(people), list(self.measures), answer.signature)
