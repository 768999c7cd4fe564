"""`advise`: which metric to use."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from metaeval.measures.options import Alpha, Population, Recompute, TestOptions
from metaeval.questions.question import Question
from metaeval.results.run import Run
from queries.slices import Evalset, Slice
from warehouse.fields import Argument, Option

if TYPE_CHECKING:
    import polars as pl

    from metaeval.results.answer import Answer, Result


@dataclass(frozen=True, kw_only=True)
class Advise(Evalset, Question["Result"], name="advise"):
    """Recommend a metric, with the evidence of every year.

    Ranks metrics in each test set of the language pair that has human scores, the newest first, and marks those that do
    not differ significantly from the best. Also shows whether each metric needs a reference, and its kind, as a hint at
    its cost.

    Values of different test sets are not comparable. Look for metrics that are among the best in several.

    Example: scorehouse advise all en-de --reference-free -m pa
    """

    by_evalset = True
    important = ("metric", "ref", "best")

    testset: Annotated[str, Argument("Test set; several by commas, or all.", names="testset")] = "all"
    lp: Annotated[str, Argument("Language pair, such as en-de; several by commas, or all.", names="lp")] = "all"
    domain: Annotated[tuple[str, ...], Option("Only these domains (shell patterns).", names="domain")] = ()
    reference_free: Annotated[bool, Option("Only metrics that need no reference.")] = False
    human: Annotated[str | None, Option("Human score.", names="human", default="the official one")] = None
    measure: Annotated[
        str,
        Option(
            "Measure: spa to compare systems, acc_eq(by=item) to compare outputs.", ("measure", "m"), names="measure"
        ),
    ] = "spa"
    population: Annotated[
        Population | None,
        Option("What the tests generalise to: new segments, new systems, or both.", default="segments"),
    ] = None
    alpha: Alpha = 0.05
    recompute: Recompute = field(default=False, compare=False)

    def answer(self, run: Run) -> "Answer[Result]":
        from metaeval.measures.registry import parse_measure
        from metaeval.results.answer import answer_of
        from metaeval.studies.advice import advice, by_metric

        asked = Slice(
            testset=self.testset,
            lp=self.lp,
            human=self.human,
            domain=self.domain,
            kind="reference-free" if self.reference_free else None,
        )
        testing = TestOptions(alpha=self.alpha, population=self.population)
        found = advice(run, asked, parse_measure(self.measure), testing, fresh=self.recompute)
        return answer_of(self, found, reading=by_metric(found.frame))

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.results.sentences import named, new_units, number, opening
        from metaeval.studies.advice import among_best

        frame = answer.frame
        best = frame.row(0, named=True)
        newest = frame.filter(testset=best["testset"], lp=best["lp"])
        others = newest.filter(is_among_best=True)["metric"].to_list()[1:]
        need = " without a reference" if self.reference_free else ""
        where = f"{best['lp']}{', ' + ', '.join(self.domain) if self.domain else ''}"
        value = f"{self.measure} {number(best['value'])}"
        new = new_units(answer.facts["generalises_to"][best["testset"], best["lp"]])
        year = "" if best["year"] is None else f" {best['year']}"
        lead = f"{best['metric']} ranks first for {where}{need} in{year} ({best['testset']} {best['human']}, {value})"
        n = newest.height - 1
        n_worse = newest.filter(is_among_best=False).height
        if not n_worse:
            first = f"{lead}, but no other is significantly worse ({new})"
        elif others:
            verb = "does" if len(others) == 1 else "do"
            who = named(others, 1) if len(others) < 3 else f"{len(others)} of {n} others"
            first = f"{lead}; {who} {verb} not differ significantly ({new})"
        else:
            first = (
                f"{lead}; {f'all {n}' if n_worse == n else f'{n_worse} of {n}'} others are significantly worse ({new})"
            )
        said = _most_often(among_best(frame))
        n_lps = frame["lp"].n_unique()
        return opening(*([said, f"{first}."] if n_lps > 1 and said else [f"{first}.", said]))


def _most_often(counts: "pl.DataFrame") -> str:
    """Which metric of several evaluation sets is most often among the best, or that none is in most of them.

    counts: as of `among_best`.
    """
    several = counts.filter(counts["n_sets"] > 1).sort(
        "n_best", "n_sets", descending=[True, False], maintain_order=True
    )
    if several.is_empty():
        return ""
    metric, n_best, n_sets = several.select("metric", "n_best", "n_sets").row(0)
    if n_best == n_sets:
        return f"{metric} is among the best in {'both' if n_sets == 2 else f'all {n_sets}'} of its sets."
    if 2 * n_best > n_sets:
        return f"{metric} is among the best in {n_best} of its {n_sets} sets."
    most = f"; {metric} is in {n_best} of {n_sets}" if n_best else ""
    return f"No metric is among the best in most of its sets{most}."
