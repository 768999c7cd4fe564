"""A signature states everything that numbers depend on: where an option changes a table, it changes the signature."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, get_args

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import metaeval
from metaeval import Result
from metaeval.kernels.resampling.bootstrap import Resample
from metaeval.questions import QUESTIONS, question_named
from tests.helpers import sampled
from tests.metaeval.varied_task import write_varied_task
from tests.sharing import made_once
from warehouse import QuestionError, Warehouse
from warehouse.fields import fields_of

LoadHints = Mapping[str, Any]
SIM = {"testset": "sim24", "lp": "en-de"}
OF_SIM = {"on": "sim24", "lp": "en-de"}
YEARS = {"testset": "all", "lp": "en-de"}
QUICK = {**SIM, "resamples": 20}
ON_COMMON = {**SIM, "intersection": True}
WILLIAMS = {**SIM, "systems": "[A-H]*"}
PLAN = {"first": "simBLEU", "simulations": 20, "resamples": 20}
PUBLISHED = (
    *("simBLEU=2002", "simTER=2006", "simchrF=2015", "Embermatch=2019", "MetricX-24-Hybrid=2024", "Kestrel-*=2021"),
    "Marlin-2?=2022",
)

ASKED: dict[str, tuple[str, LoadHints]] = {
    "rank": ("rank", {**SIM, "measures": ["pa", "acc_eq(by=item)"]}),
    "rank, spa": ("rank", {**SIM, "measures": "spa(n=50)"}),
    "rank, tested": ("rank", {**QUICK, "measures": "pa", "significance": True}),
    "rank, stopping early": (
        "rank",
        {**SIM, "resamples": 200, "measures": "pearson(by=item)", "significance": True, "alpha": 0.01},
    ),
    "rank, with intervals": ("rank", {**QUICK, "measures": ["pa", "pearson"], "intervals": True}),
    "rank, by domain": ("rank", {**SIM, "measures": "pa", "by": "domain"}),
    "rank, by domain, tested": ("rank", {**QUICK, "measures": "pa", "by": "domain", "significance": True}),
    "rank by Williams' test": ("rank", {**WILLIAMS, "measures": "pearson", "significance": True, "test": "williams"}),
    "rank by Williams' test, strictly": (
        "rank",
        {**WILLIAMS, "measures": "pearson", "significance": True, "test": "williams", "alpha": 0.01},
    ),
    "rank, with people": ("rank", {**SIM, "measures": "pearson", "ceiling": True}),
    "rank, pooled": ("rank", {**YEARS, "measures": "pa", "pool": "mean"}),
    "rank, pooled spa": ("rank", {**YEARS, "measures": "spa(n=50)", "pool": "mean"}),
    "compare": ("compare", {**QUICK, "measure": "pa"}),
    "compare, exact": ("compare", {**QUICK, "measure": "pearson", "population": "systems"}),
    "compare, stopping early": ("compare", {**SIM, "resamples": 200, "measure": "pa"}),
    "compare by Williams' test": ("compare", {**WILLIAMS, "measure": "pearson", "test": "williams"}),
    "compare, two": ("compare", {**QUICK, "measure": "pearson", "metrics": ["simBLEU", "simchrF"]}),
    "compare, two by all tests": (
        "compare",
        {**QUICK, "measure": "pearson", "metrics": ["simBLEU", "simchrF"], "all_tests": True},
    ),
    "compare, two the wrong way": ("compare", {**QUICK, "measure": "pearson", "metrics": ["simBLEU", "Onlooker"]}),
    "protocol": ("protocol", {**OF_SIM, "rules": "wmt23"}),
    "protocol, tested": ("protocol", {**OF_SIM, "resamples": 20, "rules": "wmt23", "significance": True}),
    "protocol, beside": (
        "protocol",
        {**OF_SIM, "rules": "wmt23", "resamples": 50, "significance": True, "population": "segments", "alpha": 0.01},
    ),
    "protocol by Williams' test": (
        "protocol",
        {**OF_SIM, "resamples": 20, "rules": "wmt16", "human": "esa", "significance": True, "alpha": 0.055},
    ),
    "systems": ("systems", QUICK),
    "systems, as asked": ("systems", SIM),
    "systems by a metric": ("systems", {**QUICK, "scorer": "simBLEU"}),
    "systems, on common segments": ("systems", {**QUICK, **ON_COMMON, "scorer": "simBLEU"}),
    "systems, means by domain": ("systems", {**SIM, "view": "domains"}),
    "systems by corpus scores": (
        "systems",
        {**QUICK, "scorer": "bleu", "view": "corpus", "test": "bootstrap", "systems": "[A-D]*"},
    ),
    "autorank": ("autorank", SIM),
    "advise": ("advise", {**SIM, "measure": "pearson"}),
    "counts": ("counts", SIM),
    "means": ("means", SIM),
    "means, with a metric's help": ("means", {**SIM, "assisted_by": "simBLEU"}),
    "scatter": ("scatter", {**SIM, "metric": "simBLEU"}),
    "scatter, pairs of means": ("scatter", {**SIM, "metric": "simBLEU", "view": "pairs", "system_score": "mean"}),
    "scatter, on common segments": ("scatter", {**ON_COMMON, "metric": "simBLEU", "view": "segments"}),
    "segments": ("segments", {**SIM, "metric": "simBLEU"}),
    "segments, mean of all": ("segments", SIM),
    "segments, groups": ("segments", {**SIM, "metric": "simBLEU", "by": "document"}),
    "spans": ("spans", SIM),
    "spans, severities": ("spans", {**SIM, "view": "severities"}),
    "spans, outputs": ("spans", {**SIM, "view": "outputs"}),
    "ties": ("thresholds", {**SIM, "ties": True}),
    "thresholds": ("thresholds", {**SIM, "measure": "acc_eq(by=item)"}),
    "thresholds, curve": ("thresholds", {**SIM, "measure": "acc_eq(by=item)", "curve": True, "points": 20}),
    "correlations": ("correlations", SIM),
    "correlations of systems": ("correlations", {**SIM, "measure": "pearson"}),
    "correlations of segments": ("correlations", {**SIM, "measure": "pearson(by=item)"}),
    "trend": ("trend", {**YEARS, "resamples": 20, "anchor": "simBLEU"}),
    "trend, within": ("trend", {**YEARS, "resamples": 20, "within": True, "published": PUBLISHED}),
    "trend over years": ("trend", {**YEARS, "resamples": 20, "anchor": "simBLEU", "over_years": True}),
    "trend, bridges": ("trend", {**YEARS, "resamples": 20, "anchor": "simBLEU", "bridges": True}),
    "deltas": ("deltas", {**QUICK, "metric": "simBLEU"}),
    "deltas over years": ("deltas", {**YEARS, "resamples": 20, "metric": "simchrF"}),
    "deltas, some scores missing": ("deltas", {**QUICK, "metric": "Marlin-XL-24", "system_score": "mean"}),
    "deltas of pairs that people tell apart": ("deltas", {**QUICK, "metric": "simchrF", "human_alpha": 0.1}),
    "hard_pairs": ("deltas", {**YEARS, "hard": True, "max_correct": 60}),
    "noise": (
        "noise",
        {**SIM, "measures": "pearson(by=none)", "simulations": 2, "strengths": (1.0,), "shares": (0.1,)},
    ),
    "noise, on common segments": (
        "noise",
        {**ON_COMMON, "metric": "simBLEU", "measures": "pearson(by=none)", "simulations": 2},
    ),
    "oracles": ("noise", {"oracles": True, **SIM, "measures": "pearson(by=none)"}),
    "oracles, spa": ("noise", {"oracles": True, **SIM, "measures": "spa(n=50)"}),
    "oracles, with people's translations": (
        "noise",
        {**SIM, "oracles": True, "measures": "pearson(by=none)", "human_references": True},
    ),
    "oracles, on common segments": ("noise", {"oracles": True, **ON_COMMON, "measures": "pearson(by=none)"}),
    **{
        f"paper, {name} {item}": ("paper", {"paper": name, "item": item, **QUICK})
        for name, items in {
            "deutsch-2023": ("table-3", "section-6.1", "table-12"),
            "diianni-2025": ("rankings", "oracles"),
            "graham-2014": ("figure-2",),
            "kocmi-2021": ("table-2", "table-4", "table-6", "table-7", "table-8"),
            "thompson-2024": ("table-1", "figure-1", "figure-2", "figure-3", "section-3.2"),
        }.items()
        for item in items
    },
    "paper, deutsch-2023 thresholds": ("paper", {"paper": "deutsch-2023", "item": "thresholds", **YEARS}),
    "plan": ("plan", {**SIM, **PLAN, "second": "Kestrel-24", "measure": "pearson"}),
    "plan, segments": ("plan", {**SIM, **PLAN, "second": "Kestrel-24"}),
    "plan, systems": ("plan", {**SIM, **PLAN, "second": "Kestrel-24", "measure": "pearson", "unit": "system"}),
    "plan, some scores missing": (
        "plan",
        {**SIM, **PLAN, "second": "Marlin-XL-24", "measure": "pearson", "unit": "system"},
    ),
    "annotators": ("annotators", QUICK),
    "annotators, as asked": ("annotators", SIM),
    "annotators, sets": ("annotators", {**QUICK, "view": "sets"}),
    "judges": ("judges", SIM),
    "audit": ("audit", SIM),
    "sample": ("sample", {**SIM, "size": 40}),
    "sample, words": ("sample", {**SIM, "words": 200}),
    "sample, minutes": ("sample", {**SIM, "minutes": 30, "words_per_minute": 5.0}),
    "sample by diversity": ("sample", {**SIM, "size": 40, "method": "diversity"}),
    "sample at random": ("sample", {**SIM, "size": 40, "method": "random"}),
    "sample, evaluate": ("sample", {**SIM, "evaluate": True, "size": 40, "method": "metric_var", "selections": 5}),
    **{
        f"cutoff, {view}": ("cutoff", {**SIM, "metric": "simBLEU", "good": "-1", "view": view, **more})
        for view, more in {
            "threshold": {"precision": 0.8},
            "cost": {"resamples": 20},
            "reliability": {},
            "transfer": {"resamples": 20},
        }.items()
    },
    "cutoff, curve": ("cutoff", {**SIM, "metric": "simBLEU", "good": "-1", "curve": True}),
    "cutoff, on common segments": ("cutoff", {**ON_COMMON, "metric": "simBLEU", "good": "-1", "view": "cost"}),
}

VALUES: dict[str, tuple[Any, ...]] = {
    "human": ("esa", "mqm.merged", "esa:z"),
    "reference": ("refB",),
    "domain": ("[ns]*",),
    "document": ("*[!1]",),
    "phenomenon": ("idiom",),
    "segments": ("1-80",),
    "systems": ("[!C]*",),
    "metrics": ("[K-O]*", "sim*", "simchrF"),
    "kind": ("reference-based", "reference-free"),
    "status": ("primary", "all"),
    "human_references": (True, False),
    "with_outliers": (True,),
    "without_optimised": (True,),
    "mad_outliers": (True,),
    "user_metrics": (True,),
    "all_metrics": (True,),
    "intersection": (True,),
    "system_score": ("judged-mean", "mean"),
    "seed": (1,),
    "raw_ties": (True,),
    "round_human": (0,),
    "resamples": (25,),
    "alpha": (0.3,),
    "alternative": ("greater", "two-sided"),
    "population": ("systems", "both"),
    "correction": ("holm",),
    "test": ("perm-systems", "wilcoxon"),
    "scale": ("scores",),
    "plus_one": (True,),
    "mid_p": (True, False),
    "early_stop": (True,),
    "unit": ("document", "judgement", "system"),
    "legacy_df": (True,),
    "absolute": (True,),
    "interval_over": ("systems",),
    "interval": ("percentile", "centred"),
    "pool": ("mean", "hunter-schmidt", True),
    "margin": (0.01,),
    "length": ("simchrF",),
    "significance": (True,),
    "ceiling": (True,),
    "rules": ("wmt24",),
    "scorer": ("simchrF",),
    "by": ("none", "length", "best", "domain"),
    "intervals": (True,),
    "epsilon": (0.5,),
    "low": (10.0,),
    "high": (90.0,),
    "measure": ("kendall", "pearson(by=item)", "tau_eq(by=item)"),
    "measures": ("kendall", "pearson(by=item)"),
    "metric": ("simchrF",),
    "view": ("sets", "pairs", "cost"),
    "anchor": ("simchrF",),
    "published": ((*PUBLISHED[1:], "simBLEU=2020"),),
    "without_contaminated": (True,),
    "generalise_to": ("these-metrics",),
    "agreement": ((0.7,),),
    "human_alpha": (0.05,),
    "max_correct": (1,),
    "min_metrics": (12,),
    "significant": (True,),
    "kinds": ("system",),
    "strengths": ((0.5,),),
    "shares": ((0.2,),),
    "power": (0.9,),
    "simulations": (25,),
    "selections": (6,),
    "points": (30,),
    "check": ("coverage",),
    "severity": ("error", "warning"),
    "ranges": (True,),
    "method": ("metric_avg", "metric_cons", "diversity"),
    "similarity": ("chrf",),
    "size": (50,),
    "words": (300,),
    "minutes": (60,),
    "words_per_minute": (50.0,),
    "balance": (True,),
    "candidates": ("all",),
    "clip": (-1.0,),
    "good": ("-5",),
    "precision": (0.9,),
    "reference_free": (True,),
    "error_cost": (3.0,),
    "review_cost": (2.0,),
    "level": ("seg",),
    "assisted_by": ("simBLEU",),
    "by_document": (True,),
    "rule": ("clustered",),
    "items": ("scores",),
    "sampled_by": ("drawn.csv",),
    "annotators": (2,),
}
"""By option: values to try; one that a question does not take is passed over."""

SHOWS = {
    *("testset", "lp", "on", "curve", "compare", "n", "paper", "item", "first", "second", "wide", "explain"),
    *("with_file", "first_segment"),
}
SHOWS |= {
    *("hard", "oracles", "ties", "within", "over_years", "bridges", "matrix", "thresholds", "folder"),
    *("evaluate", "each_set", "all_tests", "difference", "versions", "gate", "trusted", "sequential", "languages"),
}
"""What names the question, or how much of the answer is shown."""
OF_ITSELF = {
    ("judges", "view"),
    ("spans", "pool"),
    ("scatter", "view"),
    ("protocol", "agreement"),
    ("protocol", "measure"),
}
"""Views of one answer."""
IN_COLUMNS = {("trend", "by"), ("rank, with people", "ceiling")}
"""What other columns of a row say; the signature of the whole says it, too."""
IN_NOTES = {("compare", "interval_over"), ("compare", "interval"), ("trend", "alpha")}
"""What notes alone say: the interval of two metrics' difference, and the level of the stars in a table for reading."""
UNTOLD = ("signature", "kind")


def options_of(function: str) -> list[str]:
    """The options that may change a number; who computes, and whether again, changes none."""
    fields = fields_of(question_named(function))
    able = [name for name, one in fields.items() if not one.option.is_computing and name not in SHOWS]
    return [name for name in able if (function, name) not in OF_ITSELF]


ELSEWHERE = {
    *(("rank", "level"), ("rank", "without_optimised"), ("trend", "without_contaminated")),
    *(("annotators", "metric"), ("annotators", "epsilon"), ("annotators", "by_document")),
    *(("judges", name) for name in ("margin", "measure", "good", "length")),
    *(("annotators", "rule"), ("annotators", "items"), ("means", "sampled_by"), ("systems", "sampled_by")),
    *(("plan", "annotators"), ("plan", "assisted_by")),
}
"""Options whose data the varied task has not.

`test_document_scores`, `test_remarks`, `trends/test_within`, `people/test_several_annotators`,
`people/test_assisted`, `planning/test_designs` and, of judges, `test_judges` hold their signatures.
"""
OPTIONS = [
    (function, option)
    for function in dict.fromkeys(f for f, _ in ASKED.values())
    for option in options_of(function)
    if (function, option) not in ELSEWHERE
]


@pytest.fixture(scope="module")
def varied_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    folder = made_once(tmp_path_factory, "varied_task", lambda folder: write_varied_task(folder / "varied.duckdb"))
    with Warehouse.open(folder / "varied.duckdb") as warehouse:
        yield warehouse


@pytest.fixture(scope="module")
def plain(varied_warehouse: Warehouse) -> Callable[[str], Result]:
    """A question's answer with nothing changed."""
    return cache(lambda question: asked(varied_warehouse, question))


def asked(warehouse: Warehouse, question: str, **changed: Any) -> Result:
    function, given = ASKED[question]
    found = getattr(metaeval, function)(warehouse, **{**given, **changed})
    assert isinstance(found, Result)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("case", sampled(29, "every option of every question: four minutes", OPTIONS))
def test_an_option_changes_a_table_and_wherever_it_does_the_signature(
    case: tuple[str, str], plain: Callable[[str], Result], varied_warehouse: Warehouse
) -> None:
    function, option = case
    n_changed = 0
    for question in [name for name, (of, _) in ASKED.items() if of == function]:
        for value in VALUES[option]:
            before = plain(question)
            try:
                after = asked(varied_warehouse, question, **{option: value})
            except QuestionError:
                continue  # the question does not take it
            if is_alike(before, after, in_notes=case in IN_NOTES):
                continue
            n_changed += 1
            where = f"{question}: {option}={value}"
            assert before.signature != after.signature, where
            is_signed = "signature" in before.frame.columns and "signature" in after.frame.columns
            if is_signed and not {case, (question, option)} & IN_COLUMNS:
                assert set(before.frame["signature"]) != set(after.frame["signature"]), where
    assert n_changed, "nothing changes, so nothing was tested"


NO_COLUMNS = {"n_cells", "draws", "why"}
"""What the field calls n_scores, resamples and reason."""


OF_THE_SAME_FORM = {
    *(f"plan, {how}" for how in ("segments", "some scores missing", "systems")),
    *(f"deltas{how}" for how in (" of pairs that people tell apart", ", some scores missing")),
    *(f"oracles, {how}" for how in ("spa", "on common segments", "with people's translations")),
    *("annotators, as asked", "sample by diversity", "paper, kocmi-2021 table-4"),
    *("paper, deutsch-2023 section-6.1", "paper, deutsch-2023 table-3", "paper, diianni-2025 oracles"),
}
"""What takes long and is made by the same functions as quicker questions."""
FORMS = [pytest.param(one, marks=pytest.mark.slow if one in OF_THE_SAME_FORM else ()) for one in ASKED]


@pytest.mark.parametrize("question", FORMS)
def test_a_table_has_a_signature_with_its_place_and_version_and_columns_in_the_field_s_words(
    question: str, plain: Callable[[str], Result]
) -> None:
    table = plain(question)
    for described in table.signature.splitlines():
        keys = [part.partition(":")[0] for part in described.split("|")]
        assert {"testset", "lp", "scorehouse"} <= {*keys}, described
        assert set(re.findall(r"[,|(;]resample[=:]([^,|;)]*)", described)) <= set(get_args(Resample)), described
    assert not NO_COLUMNS & {*table.frame.columns}
    counts = {name: kind for name, kind in table.frame.schema.items() if name.startswith("n_")}
    assert not {name: kind for name, kind in counts.items() if not kind.is_integer() and kind != pl.Null}


def is_alike(one: Result, other: Result, *, in_notes: bool) -> bool:
    """Whether two tables say the same, whatever their signatures and last digits. in_notes: in their notes, too."""
    try:
        assert_frame_equal(one.frame.drop(UNTOLD, strict=False), other.frame.drop(UNTOLD, strict=False))
    except AssertionError:
        return False
    return not in_notes or one.notes == other.notes


def test_every_option_of_a_question_is_tried() -> None:
    functions = {function for function, _ in ASKED.values()}
    assert functions == {*QUESTIONS} - {"diff", "list", "show"}
    assert {name for function in functions for name in options_of(function)} == set(VALUES)
