"""Single judgements of people: which human scores have them, and what they are."""

from dataclasses import dataclass

import polars as pl

from queries.catalog import ask
from queries.evalsets import unknown_lp, unknown_testset
from warehouse import QuestionError, Warehouse
from warehouse.errors import unknown
from warehouse.facts.languages import pairs_called


@dataclass(frozen=True)
class JudgedScore:
    """A human score of an evaluation set with judgements on file."""

    testset: str
    lp: str
    evalset: int
    human: str


def judged_scores(
    warehouse: Warehouse, testsets: str = "all", lps: str = "all", human: str | None = None
) -> list[JudgedScore]:
    """The human scores that have judgements on file. testsets, lps: names joined by commas, or "all".

    Raises QuestionError: an unknown test set, language pair or human score, or no judgements.
    """
    loaded: dict[str, set[str]] = {}
    for testset, lp in warehouse.rows("SELECT testset, lp FROM evalsets ORDER BY ALL"):
        loaded.setdefault(testset, set()).add(lp)
    names = None if testsets == "all" else list(dict.fromkeys(testsets.split(",")))
    wanted = None if lps == "all" else list(dict.fromkeys(pairs_called(lps).split(",")))
    for name in names or ():
        if name not in loaded:
            raise unknown_testset(name, loaded)
    there = {lp for testset in names or loaded for lp in loaded[testset]}
    for lp in wanted or ():
        if lp not in there:
            raise unknown_lp(lp, there, testsets)
    rows = ask(warehouse, "judged_scores", testsets=names, lps=wanted)
    found = [JudgedScore(*row) for row in rows.iter_rows()]
    where = " ".join(one for one in (testsets, lps) if one != "all") or "the warehouse"
    if not found:
        raise QuestionError(f"no single judgements of {where} are on file, only their scores")
    humans = {one.human for one in found}
    if human is not None and human not in humans:
        raise unknown("human score with judgements", human, humans, where=where)
    return [one for one in found if human in (None, one.human)]


def annotations(warehouse: Warehouse, score: JudgedScore) -> pl.DataFrame:
    """Columns system, segment, document, rater, value, n, time, counts: all judgements, in the order of files."""
    return ask(warehouse, "annotations", evalset=score.evalset, human=score.human)


def span_agreement(warehouse: Warehouse, score: JudgedScore) -> dict[tuple[str, str], float]:
    """F of the error spans of two annotators, by their names in order: a span is found where it overlaps one of theirs.

    Precision and recall are those of all outputs together, 1 without spans; pairs that marked none are left out.
    """
    rows = ask(warehouse, "span_agreement", testset=score.testset, lp=score.lp, human=score.human).iter_rows()
    found = {}
    for a, b, n_a, n_b, found_a, found_b in rows:
        if n_a or n_b:
            recall, precision = found_a / n_a if n_a else 1.0, found_b / n_b if n_b else 1.0
            found[a, b] = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return found
