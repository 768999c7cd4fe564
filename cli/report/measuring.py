"""Which measures rank an evaluation set on a page: one rule for reports and sites."""

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from metaeval.questions.fields import DEFAULT_MEASURES
from metaeval.results.answer import Answer
from queries.evalsets import stored_human
from queries.longitudinal import EvalsetState
from warehouse import QuestionError

Ranked = tuple[tuple[str, ...], bool, Answer[Any]]


def first_ranking(ask: Callable[[Sequence[str], bool], Answer[Any]], measures: Sequence[str] = ()) -> Ranked:
    """The measures, whether they are tested, and the first ranking with values.

    By the usual measures, or by pa where these have no value, as with human scores of systems only; without clusters if
    a measure has no test. ask: the ranking by measures, with or without tests. measures: these alone.
    Raises QuestionError: no metric can be ranked.
    """
    refused: QuestionError | None = None
    for names in [tuple(measures)] if measures else [DEFAULT_MEASURES, ("pa",)]:
        for tested in (True, False):
            try:
                answer = ask(names, tested)
            except QuestionError as error:
                refused = refused or error
                continue
            if answer.frame["value"].drop_nans().count():
                return names, tested, answer
            refused = refused or QuestionError(answer.summary.removesuffix("."))
            break
    raise refused or QuestionError("no metric has a value")


def judged_segments(lps: pl.DataFrame, human: str | None = None) -> frozenset[tuple[str, str]]:
    """The evaluation sets whose segments have the human score: the official one, or any if none is declared.

    lps: as listed. human: another human score.
    """
    loaded = pl.col("loaded_humans_seg").str.split(",")
    has_any = pl.col("standard_human_seg").is_null() & loaded.is_not_null()
    judged = pl.col("is_standard_human_seg_loaded") | has_any
    if human is not None:
        judged = loaded.list.contains(stored_human(human))
    return frozenset(lps.filter(judged).select("testset", "lp").rows())


def why_unranked(one: EvalsetState, command: str = "rank") -> str:
    """Why an evaluation set has no ranking by the human score. command: what takes another one."""
    if not one.n_humans:
        return "no human score is loaded"
    if not one.n_metrics:
        return "no metric is loaded"
    return f"the official human score is not loaded; `scorehouse {command} --human NAME` ranks by another one"
