"""The questions as functions: strings where strings are meant, tables out, and signatures that help shows."""

import inspect
from typing import get_type_hints

import pytest

import metaeval
from cli.main import COMMANDS
from cli.options import SliceFlags
from metaeval.questions.arguments import DataOptions, SliceOptions
from queries.selection import Slice
from warehouse import QuestionError, Warehouse

QUESTIONS = (
    "rank",
    "compare",
    "protocol",
    "systems",
    "counts",
    "ties",
    "thresholds",
    "correlations",
    "audit",
    "trend",
    "scatter",
    "segments",
)
OF_A_SLICE = ("rank", "compare", "systems", "counts", "ties", "thresholds", "correlations", "trend")
OF_A_SLICE += ("scatter", "segments")
SIM = ("sim24", "cs-uk")
QUICK = {"compare": {"measure": "pa", "draws": 20}, "systems": {"draws": 20}, "protocol": {"rules": "wmt23"}}
QUICK |= {"rank": {"measures": "pa"}, "thresholds": {"segments": (1, 30)}, "trend": {"draws": 20}}
QUICK |= {"scatter": {"metric": "simBLEU"}}


def test_each_question_of_the_command_line_is_a_function() -> None:
    assert set(QUESTIONS) <= set(dir(metaeval)) & set(COMMANDS)
    assert not [name for name in dir(metaeval) if name.startswith("_")]


@pytest.mark.slow
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_has_a_frame_a_signature_and_notes_and_shows_itself(
    simulated_warehouse: Warehouse, name: str
) -> None:
    found = getattr(metaeval, name)(simulated_warehouse, *SIM, **QUICK.get(name, {}))
    assert isinstance(found, metaeval.Table)
    assert found.frame.height > 0
    assert found.signature
    assert all(isinstance(note, str) for note in found.notes)
    html = found._repr_html_()
    assert "<table" in html
    assert found.signature.splitlines()[0].partition("|")[0] in html


@pytest.mark.parametrize("name", OF_A_SLICE)
def test_help_shows_every_option_of_a_slice(name: str) -> None:
    parameters = inspect.signature(getattr(metaeval, name)).parameters
    assert list(parameters)[:3] == ["warehouse", "testset", "lp"]
    asked = DataOptions if name in ("deltas", "noise", "oracles", "plan") else SliceOptions
    for option in get_type_hints(asked):
        assert parameters[option].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[option].annotation is not inspect.Parameter.empty
    assert (asked is SliceOptions) == ("metrics" in parameters)
    assert not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())


def test_the_options_of_a_slice_are_those_of_the_command_line() -> None:
    folded = {"reference_based", "reference_free", "with_outliers", "mad_outliers"}  # here: only, outliers
    assert set(get_type_hints(SliceOptions)) == set(SliceFlags.__dataclass_fields__) - folded | {"only", "outliers"}
    assert len(get_type_hints(SliceOptions)) == len(Slice.__dataclass_fields__) - 2  # test set and language pair


@pytest.mark.slow
def test_a_string_stands_for_one_and_names_are_read_as_on_the_command_line(
    simulated_warehouse: Warehouse,
) -> None:
    one = metaeval.rank(simulated_warehouse, *SIM, "pa", metrics="simBLEU")
    assert one.frame.equals(metaeval.rank(simulated_warehouse, *SIM, ["pa"], metrics=["simBLEU"]).frame)
    both = [metaeval.parse_measure("pa"), "pearson"]
    mixed = metaeval.rank(simulated_warehouse, *SIM, both).frame
    assert mixed.equals(metaeval.rank(simulated_warehouse, *SIM, (one for one in both)).frame)  # type: ignore[arg-type]
    assert mixed.equals(metaeval.rank(simulated_warehouse, *SIM, ["pa", "pearson"]).frame)
    several = metaeval.rank(simulated_warehouse, "sim23,sim24", "all", "pa").frame
    assert several["testset"].unique().sort().to_list() == ["sim23", "sim24"]
    assert several["lp"].n_unique() > 1
    everywhere = metaeval.rank(simulated_warehouse, "all", "en-de", "pa").frame
    assert everywhere["testset"].n_unique() > 2
    with pytest.raises(QuestionError, match=r"unknown option 'humna'.*did you mean 'human'"):
        metaeval.rank(simulated_warehouse, *SIM, "pa", humna="mqm")  # type: ignore[call-arg]


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("given", [{"testset": ["sim24"], "lp": "cs-uk"}, {"testset": "sim24", "lp": ("cs-uk",)}])
def test_a_list_where_a_text_is_meant_is_refused_with_what_is_meant(
    simulated_warehouse: Warehouse, name: str, given: dict[str, object]
) -> None:
    with pytest.raises(QuestionError, match="expected a name, or several joined by commas, as one text"):
        getattr(metaeval, name)(simulated_warehouse, **given, **QUICK.get(name, {}))


def test_a_test_set_without_rules_of_its_own_names_those_there_are(simulated_warehouse: Warehouse) -> None:
    with pytest.raises(QuestionError, match=r"sim24 has no rules of its own; `rules` names .*wmt24"):
        metaeval.protocol(simulated_warehouse, "sim24")
    with pytest.raises(QuestionError, match="unknown protocol 'wmt2x'"):
        metaeval.protocol(simulated_warehouse, "sim24", rules="wmt2x")


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("rank", {"system_score": "median"}, "unknown system_score 'median'; did you mean 'mean'"),
        ("rank", {"pool": "sum"}, "unknown pool 'sum'; available: hunter-schmidt, mean, pairs"),
        ("rank", {"outliers": "mda"}, "unknown outliers 'mda'; did you mean 'mad'"),
        ("rank", {"only": "reference"}, "unknown only 'reference'; did you mean 'reference-"),
        ("compare", {"test": "perm-input"}, "unknown test 'perm-input'; did you mean 'perm-inputs'"),
        ("compare", {"alternative": "less"}, "unknown alternative 'less'; available: greater, two-sided"),
        ("compare", {"correction": "bonferroni"}, "unknown correction 'bonferroni'; available: bh, holm, none"),
        ("systems", {"test": "wilcoxn"}, "unknown test 'wilcoxn'; did you mean 'wilcoxon'"),
        ("counts", {"by": "segment"}, "unknown by 'segment'"),
        ("protocol", {"alternative": "less"}, "unknown alternative 'less'"),
        ("audit", {"check": "tests"}, "unknown check 'tests'"),
    ],
)
def test_a_value_outside_a_closed_set_is_refused_with_those_that_are_in_it(
    name: str, given: dict[str, str], message: str, simulated_warehouse: Warehouse
) -> None:
    with pytest.raises(QuestionError, match=message):
        getattr(metaeval, name)(simulated_warehouse, "sim24", "en-de", **given)


def test_what_people_read_first_comes_first_and_the_signature_last(simulated_warehouse: Warehouse) -> None:
    frame = metaeval.rank(simulated_warehouse, *SIM, ["pa", "pearson"], significance=True, draws=20).frame
    assert frame.columns[:5] == ["metric", "measure", "value", "rank", "cluster"]
    assert frame.columns[-1] == "signature"
    assert frame["cluster"].null_count() < frame.height
