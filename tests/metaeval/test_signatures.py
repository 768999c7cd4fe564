"""A signature states everything that numbers depend on: where an option changes a table, it changes the signature."""

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import metaeval
from metaeval import Table
from tests.helpers import sampled
from warehouse import QuestionError, Warehouse

Given = Mapping[str, Any]
SIM = {"testset": "sim24", "lp": "cs-uk"}
YEARS = {"testset": "sim23,sim24", "lp": "cs-uk"}
QUICK = {**SIM, "draws": 20}
PUBLISHED = {"simBLEU": 2002, "simTER": 2006, "simchrF": 2015, "Dice": 2018, "Oriole": 2019, "Steady": 2021}

ASKED: dict[str, tuple[str, Given]] = {
    "rank": ("rank", {**SIM, "measures": ["pa", "acc_eq(by=item)"]}),
    "rank, spa": ("rank", {**SIM, "measures": "spa(n=50)"}),
    "rank, tested": ("rank", {**QUICK, "measures": "pa", "significance": True}),
    "rank, with intervals": ("rank", {**QUICK, "measures": ["pa", "pearson"], "intervals": True}),
    "rank, by domain": ("rank", {**SIM, "measures": "pa", "by": "domain"}),
    "rank, by domain, tested": ("rank", {**QUICK, "measures": "pa", "by": "domain", "significance": True}),
    "rank by Williams' test": ("rank", {**SIM, "measures": "pearson", "significance": True, "test": "williams"}),
    "rank, with people": ("rank", {**SIM, "measures": "pearson", "ceiling": True}),
    "rank, pooled": ("rank", {**YEARS, "measures": "pa", "pool": "mean"}),
    "rank, pooled spa": ("rank", {**YEARS, "measures": "spa(n=50)", "pool": "mean"}),
    "compare": ("compare", {**QUICK, "measure": "pa"}),
    "compare, exact": ("compare", {**QUICK, "measure": "pearson", "population": "systems"}),
    "compare, two": ("compare", {**QUICK, "measure": "pearson", "metrics": ["simBLEU", "simchrF"]}),
    "protocol": ("protocol", {"testset": "sim24", "lp": "cs-uk", "rules": "wmt23"}),
    "protocol, tested": ("protocol", {**QUICK, "rules": "wmt23", "significance": True}),
    "protocol, beside": ("protocol", {**QUICK, "rules": "wmt23", "significance": True, "population": "segments"}),
    "protocol by Williams' test": ("protocol", {**SIM, "rules": "wmt14", "significance": True}),
    "systems": ("systems", QUICK),
    "systems by a metric": ("systems", {**QUICK, "scorer": "simBLEU"}),
    "counts": ("counts", SIM),
    "means": ("means", SIM),
    "scatter": ("scatter", {**SIM, "metric": "simBLEU"}),
    "segments": ("segments", {**SIM, "metric": "simBLEU"}),
    "segments, groups": ("segments", {**SIM, "metric": "simBLEU", "by": "document"}),
    "ties": ("ties", SIM),
    "thresholds": ("thresholds", {**SIM, "measure": "acc_eq(by=item)"}),
    "thresholds, curve": ("thresholds", {**SIM, "measure": "acc_eq(by=item)", "curve": True, "points": 20}),
    "correlations": ("correlations", SIM),
    "correlations of segments": ("correlations", {**SIM, "measure": "pearson(by=item)"}),
    "trend": ("trend", {**YEARS, "draws": 20, "anchor": "simBLEU"}),
    "trend, within": ("trend", {**YEARS, "draws": 20, "anchor": "simBLEU", "view": "within", "published": PUBLISHED}),
    "trend over years": (
        "trend",
        {"testset": "all", "lp": "cs-uk", "draws": 20, "anchor": "simBLEU", "view": "over-years"},
    ),
    "trend, bridges": ("trend", {**YEARS, "draws": 20, "anchor": "simBLEU", "view": "bridges"}),
    "deltas": ("deltas", {**QUICK, "metric": "simBLEU"}),
    "hard_pairs": ("hard_pairs", {**SIM, "at_most": 60}),
    "noise": ("noise", {**SIM, "measures": "pearson(by=none)", "draws": 2, "strengths": (1.0,), "shares": (0.1,)}),
    "oracles": ("oracles", {**SIM, "measures": "pearson(by=none)"}),
    "paper": ("paper", {"name": "thompson-2024", "item": "table-1", **QUICK}),
    "plan": (
        "plan",
        {**SIM, "first": "simBLEU", "second": "Marlin-24", "measure": "pearson", "simulations": 20, "draws": 20},
    ),
    "annotators": ("annotators", QUICK),
    "audit": ("audit", SIM),
}

VALUES: dict[str, tuple[Any, ...]] = {
    "human": ("da", "mqm", "esa"),
    "reference": ("refB",),
    "domain": ("news",),
    "document": ("*1",),
    "segments": ((1, 30),),
    "systems": ("[!A]*",),
    "metrics": ("[K-O]*", "sim*"),
    "only": ("reference-based", "reference-free"),
    "primary": (True,),
    "human_references": (True, False),
    "outliers": ("none", "mad"),
    "own": (True,),
    "all_metrics": (True,),
    "intersection": (True,),
    "system_score": ("judged-mean", "mean"),
    "seed": (1,),
    "raw_ties": (True,),
    "round_human": (0,),
    "draws": (25,),
    "alpha": (0.3,),
    "alternative": ("greater",),
    "population": ("systems", "both"),
    "correction": ("holm",),
    "test": ("perm-systems", "wilcoxon"),
    "plus_one": (True,),
    "mid_p": (True, False),
    "early_stop": (True,),
    "unit": ("document", "judgements", "systems"),
    "legacy_df": (True,),
    "absolute": (True,),
    "resample": ("systems",),
    "interval": ("normal",),
    "pool": ("mean", "hunter-schmidt"),
    "significance": (True,),
    "ceiling": (True,),
    "rules": ("wmt24",),
    "scorer": ("simchrF",),
    "by": ("none", "length", "best", "domain"),
    "intervals": (True,),
    "epsilon": (0.5,),
    "scale": ("ranks",),
    "measure": ("kendall", "pearson(by=item)"),
    "measures": ("kendall", "pearson(by=item)"),
    "metric": ("simchrF",),
    "view": ("sets", "pairs", "over-years"),
    "anchor": ("simchrF",),
    "published": ({"simBLEU": 2020},),
    "without_contaminated": (True,),
    "agreement": ((0.7,),),
    "human_alpha": (0.05,),
    "percent": (True,),
    "at_most": (1,),
    "least_metrics": (2,),
    "significant": (True,),
    "kinds": ("outliers",),
    "strengths": ((0.5,),),
    "shares": ((0.2,),),
    "power": (0.9,),
    "simulations": (25,),
    "halves": ("judgements",),
    "points": (30,),
    "check": ("coverage",),
    "severity": ("error", "warning"),
    "deep": (True,),
}
"""By option: values to try; one that a question does not take is passed over."""

SHOWS = {"warehouse", "testset", "lp", "verbose", "strict", "curve", "tell", "n", "name", "item", "first", "second"}
"""What names the question, or how much of the answer is shown."""
COMPUTES = {"engine", "session", "n_threads", "fresh"}
"""Who computes, and whether again: numbers do not depend on it."""
OF_ITSELF = {("scatter", "view")}
"""Views of one answer."""
IN_COLUMNS = {("trend", "by"), ("rank, with people", "ceiling")}
"""What other columns of a row say; the signature of the whole says it, too."""
UNTOLD = ("signature", "kind")


def options_of(function: str) -> list[str]:
    parameters = inspect.signature(getattr(metaeval, function)).parameters
    return [name for name in parameters if name not in SHOWS | COMPUTES and (function, name) not in OF_ITSELF]


CASES = [
    (question, option, value)
    for question, (function, _) in ASKED.items()
    for option in options_of(function)
    for value in VALUES[option]
]


@pytest.fixture(scope="module")
def plain(simulated_warehouse: Warehouse) -> Callable[[str], Table]:
    """A question's answer with nothing changed."""
    return cache(lambda question: asked(simulated_warehouse, question))


def asked(warehouse: Warehouse, question: str, **changed: Any) -> Table:
    function, given = ASKED[question]
    found = getattr(metaeval, function)(warehouse, **{**given, **changed})
    assert isinstance(found, Table)
    return found


@pytest.mark.parametrize("case", sampled(23, "every option of every question: two minutes", CASES))
def test_an_option_that_changes_a_table_changes_its_signature(
    case: tuple[str, str, Any], plain: Callable[[str], Table], simulated_warehouse: Warehouse
) -> None:
    question, option, value = case
    before = plain(question)
    try:
        after = asked(simulated_warehouse, question, **{option: value})
    except QuestionError:
        return  # the question does not take it
    if is_alike(before.frame, after.frame):
        return
    assert before.signature != after.signature
    if "signature" in before.frame.columns and "signature" in after.frame.columns and case[:2] not in IN_COLUMNS:
        assert set(before.frame["signature"]) != set(after.frame["signature"])


NO_COLUMNS = {"n_cells", "draws", "why"}
"""What the field calls n_scores, resamples and reason."""


@pytest.mark.parametrize("question", ASKED)
def test_a_table_has_a_signature_with_its_place_and_version_and_columns_in_the_field_s_words(
    question: str, plain: Callable[[str], Table]
) -> None:
    table = plain(question)
    for described in table.signature.splitlines():
        keys = [part.partition(":")[0] for part in described.split("|")]
        assert {"testset", "lp", "scorehouse"} <= {*keys}, described
    assert not NO_COLUMNS & {*table.frame.columns}
    counts = {name: kind for name, kind in table.frame.schema.items() if name.startswith("n_")}
    assert not {name: kind for name, kind in counts.items() if not kind.is_integer() and kind != pl.Null}


def is_alike(one: pl.DataFrame, other: pl.DataFrame) -> bool:
    """Whether two frames say the same, whatever their signatures and last digits."""
    try:
        assert_frame_equal(one.drop(UNTOLD, strict=False), other.drop(UNTOLD, strict=False))
    except AssertionError:
        return False
    return True


def test_every_option_of_a_question_is_tried() -> None:
    functions = {function for function, _ in ASKED.values()}
    assert functions == {name for name in dir(metaeval) if name.islower()} - {"kernels", "diff", "parse_measure"}
    assert {name for function in functions for name in options_of(function)} == set(VALUES)
