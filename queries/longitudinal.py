"""Evaluation sets over the years: which there are, what they have, and whether anything about them has changed."""

from dataclasses import dataclass

import polars as pl

from queries.catalog import ask, questions
from queries.evalsets import unknown_lp, unknown_testset
from warehouse import QuestionError, Warehouse
from warehouse.facts.languages import pairs_called


@dataclass(frozen=True)
class EvalsetState:
    """One evaluation set. fingerprint: checksum of all that was loaded for it; n_humans, n_metrics: scorers."""

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
    found = [EvalsetState(*row) for row in rows]
    names = _names(testsets)
    wanted = _names(pairs_called(lps))
    loaded = {one.testset for one in found}
    for name in names:
        if name not in loaded:
            raise unknown_testset(name, loaded)
    found = [one for one in found if not names or one.testset in names]
    known = {one.lp for one in found}
    for lp in wanted:
        if lp not in known:
            if len(names) == 1:
                raise unknown_lp(lp, known, names[0])
            raise QuestionError(f"language pair {lp!r} is in none of {testsets}; loaded: {', '.join(sorted(known))}")
    return [one for one in found if not wanted or one.lp in wanted]


def _names(text: str) -> list[str]:
    return [] if text == "all" else list(dict.fromkeys(text.split(",")))


def human_levels(warehouse: Warehouse, testset: str, lp: str) -> dict[str, tuple[bool, bool, int]]:
    """Human score -> has scores of segments, has submitted system scores, number of single judgements."""
    rows = warehouse.rows(
        "SELECT human, levels, n_judgements FROM humans WHERE testset = $testset AND lp = $lp ORDER BY human",
        {"testset": testset, "lp": lp},
    )
    return {human: ("seg" in levels.split(","), "sys" in levels.split(","), n or 0) for human, levels, n in rows}


def metric_names(warehouse: Warehouse, testset: str, lp: str) -> list[tuple[str, str]]:
    """Metric variants of an evaluation set with their base names, by name."""
    return warehouse.once(metric_names, lambda: _metric_names(warehouse)).get((testset, lp), [])


def _metric_names(warehouse: Warehouse) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Those of every evaluation set: to ask for one of them takes the view `metrics` as long as for all."""
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
