"""`advise`: which metric to use."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from metaeval.measures.options import Alpha, Population, Recompute, TestOptions
from metaeval.questions.question import Question
from metaeval.results.run import Run
from queries.slices import Evalset, Slice
from warehouse.fields import Argument, Option
from warehouse.wording import are, every

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
        from metaeval.results.sentences import highest, new_units
        from metaeval.studies.advice import among_best

        frame, counts = answer.frame, among_best(answer.frame)
        newest, n_sets = frame.row(0, named=True), frame.select("testset", "lp").n_unique()
        is_one_lp = frame["lp"].n_unique() == 1
        only = ", ".join([*self.domain, *(["without a reference"] if self.reference_free else [])])
        what = f"for {newest['lp']}" if is_one_lp else f"in the newest of {n_sets} sets"
        what += f" ({only})" if only else ""
        tested = dict.fromkeys(map(new_units, answer.facts["generalises_to"].values()))
        new = f"new {' or '.join(one.removeprefix('new ') for one in tested)}"
        top = counts.row(0, named=True)
        firsts = highest(frame.filter(testset=newest["testset"], lp=newest["lp"]), "value")["metric"]
        if (top["n_sets"] > 1 or top["metric"] not in firsts) and top["n_best"] > top["n_worse"]:
            place = what if is_one_lp else f"for {only}".replace("for without", "without") if only else ""
            return _supported(counts, place, self.measure, new, is_one_lp=is_one_lp)
        n_idle = len(answer.facts["idle"][newest["testset"], newest["lp"]])
        return _newest(frame, counts, what, self.measure, new, n_idle, is_one_lp=is_one_lp)


def _supported(counts: "pl.DataFrame", place: str, measure: str, new: str, *, is_one_lp: bool) -> str:
    """The metric with most support from several sets, those with as much from the same sets, and the next one.

    counts: as of `among_best`.
    """
    from metaeval.results.sentences import either, named
    from warehouse.wording import counted

    top, *others = counts.to_dicts()
    support = ("is_newest", "n_best", "n_worse", "n_sets", "testsets", "lps")
    alike = [top, *(one for one in others if all(one[name] == top[name] for name in support))]
    names = [one["metric"] for one in alike]
    each = "" if len(names) == 1 else "each "
    after = [one for one in others if one not in alike and one["n_sets"] > 1][:1]
    following = "".join(f" Next: {one['metric']} ({one['n_best']} of {one['n_sets']})." for one in after)
    sizes = [one for one in top["sizes"] if one]  # none of system scores
    size = f"{'' if len({*sizes}) == 1 else f'{min(sizes)} to '}{counted(max(sizes), 'segment')}; " if sizes else ""
    whys = [
        f"{each}among the best by {measure} {_of_sets(top)} ({evidence}{large}{new})"
        for large in dict.fromkeys((size, ""))
        for evidence in ([_years(top)] if is_one_lp else _sets(top))
    ]
    lead = f"{place}, " if place else ""
    leads = [f"{lead}take {named(names, n, 'or')}: {why}." for why in whys for n in (3, 2, 1)]
    leads = [f"{one[0].upper()}{one[1:]}" for one in leads]
    return either(*(f"{one}{following}" for one in leads), *leads)


def _years(row: Mapping[str, Any]) -> str:
    first, *_, last = [*row["years"], *row["years"]] or [None, None]
    return "" if first is None else f"{first}, " if first == last else f"{first} to {last}, "


def _sets(row: Mapping[str, Any]) -> list[str]:
    """The evaluation sets of a metric, first by name, then in ever fewer words."""
    from metaeval.studies.ranking.rankings import named
    from warehouse.wording import counted

    testsets, n_lps = list(dict.fromkeys(row["testsets"])), len(set(row["lps"]))
    pairs = f"{counted(n_lps, 'language pair')} of "
    places = named(list(zip(row["testsets"], row["lps"], strict=True)))
    return [f"{one}; " for one in (places, pairs + ", ".join(testsets), pairs + counted(len(testsets), "test set"))]


def _of_sets(row: Mapping[str, Any]) -> str:
    """In how many of its sets a metric is among the best.

    >>> _of_sets({"n_best": 2, "n_sets": 2}), _of_sets({"n_best": 1, "n_sets": 1}), _of_sets({"n_best": 2, "n_sets": 3})
    ('in both of its sets', 'in its only set', 'in 2 of its 3 sets')
    """
    n, of = row["n_best"], row["n_sets"]
    if n < of:
        return f"in {n} of its {of} sets"
    return "in its only set" if n == 1 else "in both of its sets" if n == 2 else f"in all {n} of its sets"


def _newest(
    frame: "pl.DataFrame", counts: "pl.DataFrame", what: str, measure: str, new: str, n_idle: int, *, is_one_lp: bool
) -> str:
    """The best metric of the newest set, and whether others differ.

    frame: as of `advice`; n_idle: metrics of that set that are not counted.
    """
    from metaeval.results.sentences import either, first_of, named, number
    from warehouse.wording import counted

    best = frame.row(0, named=True)
    newest = frame.filter(testset=best["testset"], lp=best["lp"])
    firsts, behind, _ = first_of(newest["metric"].to_list(), newest["value"].to_list())
    rest = newest.filter(newest["metric"].is_in(behind))
    others = rest.filter(is_among_best=True)["metric"].to_list()
    year = "" if best["year"] is None or not is_one_lp else f" in {best['year']}"
    value = f"{measure} {number(best['value'])}"
    place = best["testset"] if is_one_lp else f"{best['testset']} {best['lp']}"
    size = "" if not best["n_segments"] else f"{counted(best['n_segments'], 'segment')}, "
    of = f"{place} {best['human']}, {size}{value}"
    verb = "ranks first" if len(firsts) == 1 else "share first place"
    leads = [f"{named(firsts, most)} {verb} {what}{year} ({of})" for most in (3, 2, 1)]
    n, n_worse = rest.height, rest.filter(is_among_best=False).height
    idle = f" ({n_idle} not counted)" if n_idle else ""
    worse = f"{every(n, 'other') if n_worse == n else f'{n_worse} of {n} others'}{idle} {are(n_worse)}"
    if not n:
        end = ""
    elif not n_worse:
        end = f", but no other is significantly worse ({new})"
    elif others:
        verb = "does" if len(others) == 1 else "do"
        who = named(others, 1) if len(others) < 3 else f"{len(others)} of {n} others{idle}"
        end = f"; {who} {verb} not differ significantly ({new})"
    else:
        end = f"; {worse} significantly worse ({new})"
    several = counts.filter(counts["n_sets"] > 1)
    none = "No metric of several sets is more often among the best than worse." if several.height else ""
    none = none if several.filter(several["n_best"] > several["n_worse"]).is_empty() else ""
    said = [f"{lead}{end}." for lead in leads]
    return either(*(f"{one} {none}".rstrip() for one in said), *said)
