"""Scores of one scorer as an array, for your own analyses."""

import numpy as np
from numpy.typing import NDArray

from queries import catalog
from queries.evalsets import evalset_id, stored_name, stored_places, stored_testset
from warehouse import QuestionError, Warehouse
from warehouse.errors import unknown
from warehouse.facts.languages import pairs_called


def segment_scores(warehouse: Warehouse, testset: str, lp: str, scorer: str) -> tuple[list[str], NDArray[np.float64]]:
    """System names (N,) and their segment scores (N, S), segments in the test set's order.

    Higher is better. NaN: no score. scorer: a metric, with or without its reference (the standard one, if there are
    several), or a human score; test set, language pair and scorer in any case.
    Raises QuestionError: unknown names, or a metric with several references, none of them the standard one.
    """
    stored = stored_places(warehouse)
    testset, lp = stored_testset(testset, stored["testset"]), stored_name(pairs_called(lp), stored["lp"])
    evalset = evalset_id(warehouse, testset, lp)
    scorers = catalog.ask(warehouse, "scorers_of_evalsets", evalsets=[evalset]).filter(level="seg")
    names = dict(scorers.select("name", "scorer_id").iter_rows())
    scorer = stored_name(scorer, {*names, *scorers["base_name"].drop_nulls()})
    variants = [scorer] if scorer in names else scorers.filter(base_name=scorer)["name"].unique().sort().to_list()
    if not variants:
        raise unknown("scorer", scorer, names, where=f"{testset} {lp}")
    if len(variants) > 1:
        ((reference,),) = warehouse.rows(
            "SELECT standard_reference FROM evalset WHERE evalset_id = $number", {"number": evalset}
        )
        variants = [one for one in variants if one == f"{scorer}-{reference}"] or variants
    if len(variants) > 1:
        raise QuestionError(f"{scorer} has scores with several references; name one: {', '.join(variants)}")
    frame = catalog.ask(warehouse, "scores_of_scorer", evalset=evalset, scorer=names[variants[0]])
    systems = frame["system"].unique(maintain_order=True).to_list()
    return systems, frame["value"].cast(float).to_numpy().reshape(len(systems), -1)
