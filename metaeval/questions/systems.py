"""`systems`: significance tests of systems against each other."""

from dataclasses import dataclass, replace
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.measures.options import (
    Alpha,
    Alternative,
    Correction,
    HowTested,
    Options,
    Resamples,
    RoundHuman,
    SampledBy,
    Seed,
    UnitOption,
)
from metaeval.questions.fields import requires
from metaeval.questions.question import EvalsetQuestion
from metaeval.results.run import Run
from queries.slices import METRIC_FIELDS, Slice
from warehouse import QuestionError
from warehouse.fields import Argument, Option
from warehouse.wording import counted, option

if TYPE_CHECKING:
    import altair as alt

    from metaeval.results.answer import Answer, Result
    from warehouse import Warehouse


_DRAWS = 1000  # unless others are requested; sacreBLEU's own number where it differs
_NEEDS = {
    **requires(("resamples",), "test=permutation", "test=bootstrap"),
    **requires(("seed",), "test=permutation", "test=bootstrap", "assisted_by"),
    **requires(("sampled_by",), "assisted_by"),
    **requires(("unit", "alternative", "correction", "ranges", "charted", "gate"), "view=pairs"),
    **requires(("alpha",), "view=pairs", "view=rounds"),
    **requires(("test",), "view=pairs", "view=corpus"),
}


@dataclass(frozen=True, kw_only=True)
class Systems(Slice, EvalsetQuestion["Result"], name="systems"):
    """Test whether systems differ, by human scores or a metric.

    Views: pairs tests every pair of systems. domains shows each system's mean human score by domain. corpus runs
    sacreBLEU's paired test of corpus BLEU, chrF or TER on loaded texts (permutation is its approximate randomisation,
    with 10,000 trials by default). rounds shows whether a ranking by one rater would hold with another. ranges ranks
    systems by preferences (rr:trueskill, rr:ew), with rank ranges and clusters.

    If you name two systems, compares them by every scorer, by domain, on the segments that differ most, and by marked
    errors; with assisted_by, only by the human score.

    `--gate` compares two versions of a system by the human score, or by the metrics named before them. The exit code is
    1 if the new version is significantly worse by all of these scorers, or by one named with `--trust`.

    Example: scorehouse systems sim24 en-de --test wilcoxon
    """

    needs = requires(METRIC_FIELDS, "intersection", **_NEEDS)

    scorer: Annotated[
        str | None, Argument("Metric to score systems with.", ("scorer",), names="scorer", default="the human score")
    ] = None
    versions: Annotated[
        tuple[str, ...],
        Argument(
            "Two systems to compare. With gate: further metrics, then the old and the new system.",
            metavar="A B",
            names="system",
        ),
    ] = ()
    gate: Annotated[
        bool,
        Option(
            "Compare only OLD and NEW; exit with code 1 if NEW is significantly worse.",
            excludes=("ranges", "charted"),
        ),
    ] = False
    trusted: Annotated[
        tuple[str, ...],
        Option(
            "With gate: fail NEW if this metric alone finds it significantly worse; repeatable.",
            ("trust",),
            names="metric",
            needs=("gate",),
        ),
    ] = ()
    view: Annotated[
        Literal["pairs", "domains", "corpus", "rounds", "ranges"],
        Option(
            "Pairs of systems; domain means; pairs by corpus score (SCORER is bleu, chrf or ter); rounds of ratings "
            "(the human score is a pattern for two or more, or one with several judgements); or rank ranges from "
            "preferences (the human score is rr:trueskill, rr:ew, rr:bto, rr:boe or rr:bt)."
        ),
    ] = "pairs"
    test: Annotated[Literal["permutation", "bootstrap", "wilcoxon", "paired-t"], Option("Significance test.")] = (
        "permutation"
    )
    alternative: Annotated[Alternative, HowTested("Alternative hypothesis.")] = "two-sided"
    correction: Annotated[Correction, HowTested("Correction for multiple comparisons.")] = "none"
    system_score: Annotated[
        Literal["mean", "judged-mean"] | None,
        Option(
            "A metric's system score: its mean over all segments that it scored, or over annotated segments.",
            default="mean",
            needs=("scorer",),
        ),
    ] = None
    ranges: Annotated[
        bool,
        Option("Add rank ranges: over resamples, or the ranks that the test does not reject (wilcoxon, paired-t)."),
    ] = False
    assisted_by: Annotated[
        tuple[str, ...],
        Option(
            "Estimate differences of human scores over all segments from annotated ones and this metric; repeatable.",
            names="metric",
            excludes=("gate", "ranges", "charted"),
        ),
    ] = ()
    sampled_by: SampledBy = None
    round_human: RoundHuman = None
    seed: Seed = 0
    alpha: Alpha = 0.05
    resamples: Resamples = 1000
    unit: UnitOption = None

    def check_fields(self) -> None:
        if self.is_head_to_head:
            self._check_head_to_head()
        if self.assisted_by:
            self._check_assisted()
        if self.view == "corpus" and self.test in ("wilcoxon", "paired-t"):
            raise QuestionError(f"corpus scores have no {self.test} test; choose permutation or bootstrap")
        if self.view == "corpus" and self.scorer is None:
            raise QuestionError("name a scorer whose corpus scores are compared: bleu, chrf or ter")
        if self.view == "rounds" and self.human is None:
            raise QuestionError(
                f"name the ratings to compare, which must be rounds of one design, with {option('human', 'rater*')}"
            )
        if self.view in ("domains", "rounds", "ranges") and self.scorer is not None:
            raise QuestionError(f"view {self.view} uses human scores and takes no scorer")

    @property
    def is_head_to_head(self) -> bool:
        """Whether two systems are compared by every scorer."""
        return bool(self.versions) and not self.gate and not self.assisted_by

    def _check_head_to_head(self) -> None:
        """Raises QuestionError: not exactly two systems are named, or an option needs all systems or one scorer."""
        if self.scorer is None or len(self.versions) != 1 or self.scorer == self.versions[0]:
            raise QuestionError(
                f"name exactly two systems to compare them head to head; {option('gate', True)} compares them by one "
                "scorer"
            )
        for name in ("view", "correction", "alternative", "ranges", "system_score", "charted"):
            if getattr(self, name) != getattr(type(self), name):
                raise QuestionError(f"{option(name)} does nothing with two systems head to head")

    def _check_assisted(self) -> None:
        """Raises QuestionError: the number of named systems is neither zero nor two, or an option belongs to tests."""
        if len(self.versions) != (self.scorer is not None) or self.scorer in self.versions:
            raise QuestionError(f"with {option('assisted_by')}, name two systems, or none for every pair")
        for name in ("view", "test", "correction", "alternative", "system_score", "round_human", "alpha", "unit"):
            if getattr(self, name) != getattr(type(self), name):
                raise QuestionError(f"{option(name)} does nothing with {option('assisted_by')}")

    def _head_to_head(self, run: Run) -> "Answer[Result]":
        """Two systems by every scorer, with domains, segments and errors."""
        from metaeval.results.answer import answer_of
        from metaeval.studies.significance.head_to_head import head_to_head

        with run.opened() as warehouse:
            found = head_to_head(
                warehouse,
                self.part(Slice),
                (str(self.scorer), self.versions[0]),
                self.test,
                self.part(Options),
                draws=self.resamples,
                alpha=self.alpha,
                unit=self.unit,
            )
        shape = {
            "systems": list(found.facts["systems"]),
            "scorers": found.frame.to_dicts(),
            **{name: found.facts[name].to_dicts() for name in ("domains", "segments", "errors")},
            "signature": found.signature,
        }
        least = {"p": [found.facts["least"]] * found.frame.height}
        return answer_of(self, found, shape=shape, digits=3, least=least)

    def _table(self, run: Run) -> "Result":
        """The view requested instead of pairs."""
        asked = self.part(Slice)
        with run.opened() as warehouse:
            if self.view == "domains":
                from metaeval.studies.tables.means import domain_means

                return domain_means(warehouse, asked, self.round_human)
            if self.view == "rounds":
                from metaeval.studies.people.stable_rankings import stable_rankings

                humans = str(self.human).split(",")
                asked = replace(asked, human=None)
                return stable_rankings(warehouse, asked, humans, alpha=self.alpha, draws=self.resamples, seed=self.seed)
            if self.view == "ranges":
                from metaeval.studies.people.ranked_systems import ranked_systems

                return ranked_systems(warehouse, asked, draws=self.resamples, seed=self.seed)
            from metaeval.studies.significance.systems import corpus_tests
            from queries.selection import select

            ranked = select(warehouse, asked, human="none").systems
            return corpus_tests(
                warehouse,
                self.testset,
                self.lp,
                str(self.scorer).lower(),
                "bs" if self.test == "bootstrap" else "ar",
                systems=tuple(one.name for one in ranked if one.reason is None),
                samples=None if self.resamples == _DRAWS else self.resamples,
                references=() if self.reference is None else (self.reference,),
                progress=run.progress,
            )

    def _compared(self, warehouse: "Warehouse", scorer: str | None, systems: tuple[str, ...] = ()) -> "Result":
        """Every pair of systems. systems: only these, as patterns."""
        from metaeval.studies.significance.systems import compare_systems

        asked = self.part(Slice)
        return compare_systems(
            warehouse,
            replace(asked, systems=systems) if systems else asked,
            scorer,
            self.test,
            self.part(Options),
            draws=self.resamples,
            alpha=self.alpha,
            alternative=self.alternative,
            correction=self.correction,
            unit=self.unit,
            ranges=self.ranges,
        )

    def _gate(self, run: Run) -> "Answer[Result]":
        """Compare the new version of a system with the old one; the answer is no if it is significantly worse.

        Raises QuestionError: not exactly two systems are named, or one of them has no scores here.
        """
        from metaeval.results.answer import answer_of
        from metaeval.studies.significance.gate import gate

        names = [one for one in (self.scorer, *self.versions) if one is not None]
        if len(names) < 2 or names[-2] == names[-1]:
            raise QuestionError(f"{option('gate')} needs two systems, the old one and the new one")
        scorers: list[str | None] = [*names[:-2]]
        if not scorers and not self.trusted:
            scorers = [None]
        with run.opened() as warehouse:
            self._check_order(warehouse, names)
            compare = partial(self._compared, warehouse)
            found = gate(compare, scorers, self.trusted, names[-2], names[-1], self.alpha, self.correction)
        is_no, least = bool(found.facts["deciding"]), {"p": found.facts["least"]}
        return answer_of(self, found, digits=3, is_no=is_no, least=least)

    def _check_order(self, warehouse: "Warehouse", names: list[str]) -> None:
        """Raises QuestionError: the two systems are not the last ones of the names."""
        from queries.selection import select

        known = {one.name for one in select(warehouse, self.part(Slice), human="optional").systems}
        systems = [one for one in names if one in known]
        if len(systems) == 2 and names[-2:] != systems:
            words = " ".join(quote(one) for one in (*(one for one in names if one not in known), *systems))
            raise QuestionError(f"the metrics come first, then the old and the new system: `{words}`")

    def _assisted(self, run: Run) -> "Answer[Result]":
        """Differences of two systems, or of every pair, estimated from human scores and a metric's scores."""
        from metaeval.results.answer import answer_of
        from metaeval.studies.people.assisted import assisted_differences
        from queries.sampling import probabilities_of

        two = None if self.scorer is None else (self.scorer, self.versions[0])
        chances = probabilities_of(self.sampled_by, self.testset, self.lp)
        with run.opened() as warehouse:
            found = assisted_differences(warehouse, self.part(Slice), two, self.assisted_by, self.seed, chances)
        return answer_of(self, found, digits=3)

    @property
    def needs_human(self) -> bool:
        return self.scorer is None

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.results.answer import answer_of

        if self.gate:
            return self._gate(run)
        if self.assisted_by:
            return self._assisted(run)
        if self.is_head_to_head:
            return self._head_to_head(run)
        if self.view != "pairs":
            return answer_of(self, self._table(run), digits=4)
        with run.opened() as warehouse:
            found = self._compared(warehouse, self.scorer)
        standings, facts = found.facts["standings"], found.facts
        shape = {
            "systems": list(standings.names),
            "values": standings.values,
            "submitted": facts["submitted"],
            "p": standings.corrected,
            "clusters": standings.clusters,
            "ranks": found.frame["rank"].to_list(),
            **({"rank_ranges": [list(ends) if ends[0] else None for ends in facts["ranges"]]} if self.ranges else {}),
            "scorer": facts["scorer"],
            "test": self.test,
            "n_significant": standings.n_significant,
            "signature": found.signature,
        }
        return answer_of(self, found, shape=shape, digits=3, least=standings.least_by_name)

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.results.sentences import UNTESTED, highest, most_often, named, number, opening

        frame = answer.frame
        if self.is_head_to_head:
            from metaeval.studies.significance.head_to_head import in_a_sentence

            return opening(*in_a_sentence(answer))
        if self.gate:
            from metaeval.studies.significance.gate import verdict

            return verdict(answer)
        if self.assisted_by:
            from metaeval.studies.people.headlines import of_differences

            return of_differences(frame)
        if self.view == "pairs":
            found = answer.facts["standings"]
            population = f"new {answer.facts['unit']}s"
            return str(found.in_words(answer.facts["scorer"], "system", population, self.alternative))
        if self.view == "domains":
            each = frame.drop_nulls("mean").partition_by("domain", maintain_order=True)
            if frame["domain"].null_count() == frame.height:
                return "No segment has a known domain, so the table has one mean per system."
            if frame["system"].n_unique() == 1:
                there = frame.drop_nulls("mean").sort("mean", descending=True)
                places = [
                    f"{one['domain'] or 'no domain'} ({number(one['mean'], 2)})" for one in there.iter_rows(named=True)
                ]
                which = "its highest mean" if len(places) > 1 else "its only mean"
                lowest = f", its lowest in {places[-1]}" if len(places) > 1 else ""
                return opening(f"{there['system'][0]} has {which} in {places[0]}{lowest}; {UNTESTED}.")
            firsts = [highest(one, "mean")["system"].to_list() for one in each]
            return opening(f"{most_often(firsts, 'domains', 'mean human score')}; {UNTESTED}.")
        if self.view == "rounds":
            share = float(frame.filter(first="mixed")["stable"][0])
            return opening(
                f"A second round of ratings keeps every significant difference of the first in {share:.0%} of pairs of "
                f"rounds ({counted(frame['n_systems'][0], 'system')}, {counted(frame['n_segments'][0], 'segment')})."
            )
        if self.view == "ranges":
            first = frame.filter(cluster=frame["cluster"].min())["system"].to_list()
            n = counted(frame["cluster"].n_unique(), "cluster")
            lead = f"{named(first)} {'share' if len(first) > 1 else 'is alone in'} the first of {n}"
            return opening(f"{lead} of {counted(frame.height, 'system')} by preferences (95% rank ranges).")
        best = frame.row(0, named=True)
        rows = frame.filter(better=best["better"])
        n_open = rows.filter(rows["p"] > self.alpha).height
        return opening(
            f"{best['better']} has the best {str(self.scorer).lower()} ({number(best['value'], 2)}); {n_open} of "
            f"{rows.height} other systems do not differ significantly from it (p > {self.alpha:g})."
        )

    def chart(self, answer: "Answer[Result]") -> "alt.VConcatChart":
        from metaeval.charts.significance import systems_matrix

        found = answer.result
        if "standings" not in found.facts:
            raise QuestionError(f"this answer of {self.name} has no chart")
        return systems_matrix(found, self.test, self.alternative)
