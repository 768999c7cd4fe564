"""The data of a site's pages: each question is asked once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from cli.report.content import message
from cli.report.measuring import first_ranking, why_unranked
from metaeval.python_api import answered
from metaeval.questions import question_named
from metaeval.results.answer import Answer
from metaeval.results.run import Run
from metaeval.studies.significance.comparison import Comparison
from queries.catalog import ask
from queries.evalsets import expand
from queries.listing import listing
from queries.longitudinal import evalset_states
from warehouse import QuestionError, Warehouse

Key = tuple[str, str]  # a test set and a language pair


@dataclass(frozen=True)
class Ranking:
    """The ranking of an evaluation set. measures: as asked; comparisons: by measure, every pair of metrics."""

    answer: Answer[Any]
    measures: tuple[str, ...]
    comparisons: dict[str, Comparison] = field(default_factory=dict)

    @property
    def idle(self) -> frozenset[str]:
        """Metrics that judge no translation and cannot lead."""
        (names,) = self.answer.facts["idle"].values()
        return frozenset(names)


@dataclass(frozen=True)
class SiteData:
    """rankings: by evaluation set; unranked: why there is none. rules: by test set, who wins by the rules of each year.

    evalsets, metrics, systems, sources, human_scores: as listed, of the chosen test sets alone.
    """

    testsets: tuple[str, ...]
    evalsets: pl.DataFrame
    metrics: pl.DataFrame
    systems: pl.DataFrame
    sources: pl.DataFrame
    human_scores: pl.DataFrame
    rankings: dict[Key, Ranking]
    unranked: dict[Key, str]
    rules: dict[str, Answer[Any]]
    audit: Answer[Any] | None
    trend: Answer[Any] | None
    measures: pl.DataFrame

    @cached_property
    def ranked(self) -> pl.DataFrame:
        """The rows of all rankings, with their years."""
        if not self.rankings:
            return pl.DataFrame()
        rows = pl.concat([one.answer.frame for one in self.rankings.values()], how="diagonal")
        counts = rows.group_by("testset", "lp", "measure").agg(n_metrics=pl.col("value").drop_nans().count())
        years = self.evalsets.select("testset", "lp", "year")
        keys = ["testset", "lp"]
        return rows.join(counts, on=[*keys, "measure"], maintain_order="left").join(
            years, on=keys, how="left", maintain_order="left"
        )


def gather(run: Run, only: Sequence[str] = ()) -> SiteData:
    """Ask all questions. only: these test sets; none: all.

    Raises QuestionError: an unknown test set.
    """
    with run.opened() as warehouse:
        if only:
            for one in only:
                listing(warehouse, "testsets", one)  # refuses unknown names
        names = ("lps", "metrics", "systems", "sources")
        frames = {name: listing(warehouse, name) for name in names}
        frames["human_scores"] = ask(warehouse, "human_system_scores")
        states = {(one.testset, one.lp): one for one in evalset_states(warehouse, "all", "all")}
        chosen = {key for testset in {name for name, _ in states} for key in _with_human(warehouse, testset)}
    if only:
        frames = {name: frame.filter(pl.col("testset").is_in(list(only))) for name, frame in frames.items()}
    place = pl.struct("origin", "path").map_elements(without_folder, pl.String)
    frames["sources"] = frames["sources"].with_columns(origin=place).drop("path", "fault")
    evalsets = frames.pop("lps")
    testsets = tuple(dict.fromkeys(evalsets["testset"].to_list()))
    keys = evalsets.select("testset", "lp").rows()
    total = len(keys) + len(testsets) + 2
    n_done = 0

    def advance(what: str) -> None:
        nonlocal n_done
        if run.progress is not None:
            run.progress(what, n_done, total)
        n_done += 1

    rankings: dict[Key, Ranking] = {}
    unranked: dict[Key, str] = {}
    for testset, lp in keys:
        advance(f"{testset} {lp}: ranking")
        try:
            rankings[testset, lp] = _ranking(run, testset, lp)
        except QuestionError as error:
            unranked[testset, lp] = message(error) if (testset, lp) in chosen else why_unranked(states[testset, lp])
    rules: dict[str, Answer[Any]] = {}
    for testset in testsets:
        advance(f"{testset}: rules of each year")
        if any(key[0] == testset for key in rankings) and (
            found := _answer_or_none(run, "protocol", rules=testset, matrix=True)
        ):
            rules[testset] = found
    advance("audit")
    named = ",".join(testsets) if only else "all"
    audit = _answer_or_none(run, "audit", testset=named)
    advance("over the years")
    trend = _answer_or_none(
        Run(run.opened, run.database, None, for_reading=True), "trend", testset=named, lp="all", measure="pa"
    )
    return SiteData(
        testsets, evalsets, **frames, rankings=rankings, unranked=unranked, rules=rules, audit=audit, trend=trend,
        measures=answered(question_named("list"), {"what": "measures"}, run).frame,
    )  # fmt: skip


def _with_human(warehouse: Warehouse, testset: str) -> tuple[Key, ...]:
    """The evaluation sets of a test set that have the official human score, or the only one."""
    try:
        return expand(warehouse, testset, "all").chosen
    except QuestionError:
        return ()


def without_folder(file: Mapping[str, str]) -> str:
    """The description of a file without its folder, which is private.

    >>> without_folder({"origin": "table/mine/scores.tsv", "path": "mine/scores.tsv"})
    'table/scores.tsv'
    """
    return file["origin"].replace(file["path"], Path(file["path"]).name)


def _answer_or_none(run: Run, question: str, **given: Any) -> Answer[Any] | None:
    """The answer; None if there is none."""
    try:
        return answered(question_named(question), given, Run(run.opened, run.database, None, run.for_reading))
    except QuestionError:
        return None


def _ranking(run: Run, testset: str, lp: str) -> Ranking:
    """See `first_ranking`. Raises QuestionError: no metric can be ranked."""
    quiet = Run(run.opened, run.database)

    def ask(names: Sequence[str], tested: bool) -> Answer[Any]:
        given = {"testset": testset, "lp": lp, "measures": tuple(names), "significance": tested}
        return answered(question_named("rank"), given, quiet)

    measures, tested, answer = first_ranking(ask)
    return Ranking(answer, measures, _compared(quiet, testset, lp, measures) if tested else {})


def _compared(run: Run, testset: str, lp: str, measures: Sequence[str]) -> dict[str, Comparison]:
    """The tests behind the ranking's clusters, which the ranking has stored."""
    found = {}
    for measure in measures:
        answer = _answer_or_none(run, "compare", testset=testset, lp=lp, measure=measure)
        if answer is not None and isinstance(answer.result, Comparison):
            found[measure] = answer.result
    return found
