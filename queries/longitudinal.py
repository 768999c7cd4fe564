"""Evaluation sets over the years: their contents, and whether they have changed."""

from dataclasses import dataclass

import polars as pl

from queries.catalog import ask, questions
from queries.evalsets import named_evalsets
from warehouse import Warehouse


@dataclass(frozen=True)
class EvalsetState:
    """One evaluation set. fingerprint: checksum of all its loaded data; n_humans, n_metrics: numbers of scorers."""

    testset: str
    lp: str
    year: int | None
    n_humans: int
    n_metrics: int
    fingerprint: str


def evalset_states(warehouse: Warehouse, testsets: str, lps: str) -> list[EvalsetState]:
    """The evaluation sets of test sets and language pairs, each "all" or names joined by commas, by year and name.

    Also those without any human score.
    Raises QuestionError: an unknown test set, or a language pair that none of the test sets has.
    """
    rows = warehouse.once(evalset_states, lambda: warehouse.rows(questions()["evalset_states"].text))
    found = {(testset, lp): EvalsetState(testset, lp, *more) for testset, lp, *more in rows}
    asked = {*named_evalsets(found, testsets, lps)}
    return [state for evalset, state in found.items() if evalset in asked]


def human_levels(warehouse: Warehouse, testset: str, lp: str) -> dict[str, tuple[bool, bool, int]]:
    """Human score -> has segment scores, has submitted system scores, number of single judgements."""
    return warehouse.once(human_levels, lambda: _human_levels(warehouse)).get((testset, lp), {})


def _human_levels(warehouse: Warehouse) -> dict[tuple[str, str], dict[str, tuple[bool, bool, int]]]:
    """Those of every evaluation set, because the view `humans` takes as long for one as for all."""
    found: dict[tuple[str, str], dict[str, tuple[bool, bool, int]]] = {}
    rows = warehouse.rows("SELECT testset, lp, human, levels, n_judgements FROM humans ORDER BY human")
    for testset, lp, human, levels, n in rows:
        levels = levels.split(",")
        found.setdefault((testset, lp), {})[human] = ("seg" in levels, "sys" in levels, n or 0)
    return found


def metric_names(warehouse: Warehouse, testset: str, lp: str) -> list[tuple[str, str]]:
    """Metric variants of an evaluation set with their base names, by name."""
    return warehouse.once(metric_names, lambda: _metric_names(warehouse)).get((testset, lp), [])


def _metric_names(warehouse: Warehouse) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Metric variants of every evaluation set, because the view `metrics` takes as long for one as for all."""
    rows = warehouse.rows(
        """
        SELECT t.name, e.lp, sc.name, sc.base_name
        FROM (SELECT DISTINCT evalset_id, scorer_id FROM vector) AS v
        JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'metric'
        JOIN evalset AS e ON e.evalset_id = v.evalset_id
        JOIN testset AS t ON t.testset_id = e.testset_id
        ORDER BY sc.name
        """
    )
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for testset, lp, metric, base_metric in rows:
        found.setdefault((testset, lp), []).append((metric, base_metric))
    return found


def judgements(warehouse: Warehouse, evalset: int, human: str) -> pl.DataFrame:
    """Columns system, segment, rater, value: single valid judgements behind a human score, in a fixed order."""
    return ask(warehouse, "human_judgements", evalset=evalset, human=human)
