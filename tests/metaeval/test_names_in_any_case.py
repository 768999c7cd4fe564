"""Every name may be typed in any case: those that the warehouse has, and those of closed sets."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import metaeval
from metaeval.python_api import function
from metaeval.questions import QUESTIONS, question_named
from metaeval.results.notes import unanswered
from queries.audit import audit
from queries.cookbook import recipe, recipes
from queries.evalsets import stored_score
from tests.helpers import LP, tiny_layout, tiny_warehouse
from tests.metaeval.every_question import ASKED
from warehouse import QuestionError, Warehouse
from warehouse.fields import Field, fields_of

EN_DE = ("sim24", "en-de")


def test_systems_and_human_scores_are_found_in_another_case(simulated_warehouse: Warehouse) -> None:
    typed = metaeval.systems(simulated_warehouse, *EN_DE, human="MQM", systems=("birch_nmt", "W*"), test="wilcoxon")
    exact = metaeval.systems(simulated_warehouse, *EN_DE, human="mqm", systems=("Birch_NMT", "W*"), test="wilcoxon")
    assert typed.frame.equals(exact.frame)
    assert typed.signature == exact.signature
    two = metaeval.systems(simulated_warehouse, *EN_DE, "web-l", ["BIRCH_nmt"], test="wilcoxon")
    assert {"WEB-L", "Birch_NMT"} <= set(two.frame.columns) | set(two.summary.split())


def test_an_exact_name_wins_and_one_of_several_in_another_case_is_none() -> None:
    assert stored_score("Online", {"Online", "ONLINE"}) == "Online"
    assert stored_score("online", {"Online", "ONLINE"}) == "online"


def test_a_test_set_whose_name_has_capitals_is_found_in_another_case(tmp_path: Path) -> None:
    layout = tiny_layout(tmp_path / "in", testset="Own.SET")
    with tiny_warehouse(tmp_path, layout) as opened:
        exact, *typed = (metaeval.rank(opened, name, LP, measures=["pa"]) for name in ("Own.SET", "own.set", "OWN.set"))
        assert metaeval.rank(opened, "own.set,Own.SET", LP, measures=["pa"]).frame.height
    assert all(one.frame.equals(exact.frame) for one in typed)


NAMES = {
    "testset": "sim24",
    "lp": "en-de",
    "metric": "simBLEU",
    "scorer": "simBLEU",
    "system": "Birch_NMT",
    "human": "mqm",
    "domain": "news",
    "document": "news_1",
    "phenomenon": "addition",
    "reference": "refA",
    "protocol": "wmt24",
}
"""A name of each kind in the simulated task."""
SMALL = {"resamples": 5, "simulations": 2}


def _typed(question: str, field: Field) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The arguments of a question with one more name as it is stored, and in other cases."""
    args, more = next((args, more) for name, args, more in ASKED if name == question)
    known = fields_of(question_named(question))
    given = dict(zip(known, args, strict=False)) | {name: SMALL[name] for name in known if name in SMALL} | more
    stored = NAMES[str(field.option.names)]
    both = []
    for one in (stored.upper(), stored.lower()):
        several = [(stored,), (one,)] if field.is_list else [stored, one]
        both += [({**given, field.name: several[0]}, {**given, field.name: several[1]})] if one != stored else []
    return both


def _answer(warehouse: Warehouse, question: str, given: dict[str, Any]) -> tuple[pl.DataFrame | None, str]:
    try:
        found = function(question)(warehouse, **given)
    except QuestionError as error:
        return None, str(error).casefold()
    return found.frame, found.summary


CASES = [
    (question, field)
    for question in QUESTIONS
    if question != "diff"
    for field in fields_of(question_named(question)).values()
    if field.option.names in NAMES
]


@pytest.mark.slow
@pytest.mark.parametrize(("question", "field"), [pytest.param(*one, id=f"{one[0]}-{one[1].name}") for one in CASES])
def test_every_option_of_every_question_that_takes_a_name_takes_it_in_any_case(
    question: str, field: Field, simulated_warehouse: Warehouse
) -> None:
    for exact, typed in _typed(question, field):
        frame, said = _answer(simulated_warehouse, question, exact)
        found, as_typed = _answer(simulated_warehouse, question, typed)
        assert as_typed.casefold() == said.casefold()
        assert (found is None) == (frame is None)
        if frame is not None and found is not None:
            assert found.drop("signature", strict=False).equals(frame.drop("signature", strict=False))


def test_every_kind_of_name_is_one_of_those_tried() -> None:
    kinds = {field.option.names for name in QUESTIONS for field in fields_of(question_named(name)).values()}
    assert kinds - {None, "measure"} == {*NAMES}


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_value_of_a_closed_set_is_taken_in_any_case(question: str) -> None:
    for field in fields_of(question_named(question)).values():
        for choice in field.choices:
            expected = (choice,) if field.is_list else choice
            assert field.read(choice.upper()) == field.read(choice.title()) == expected


def test_names_that_are_no_options_of_questions_are_taken_in_any_case(simulated_warehouse: Warehouse) -> None:
    name = next(iter(recipes()))
    assert recipe(name.upper()) == recipe(name)
    findings = audit(simulated_warehouse, "sim24", "en-de", ["Noise"])
    assert findings == audit(simulated_warehouse, "sim24", "en-de", ["noise"])
    paper = metaeval.paper(simulated_warehouse, "Thompson-2024")
    assert paper.frame.equals(metaeval.paper(simulated_warehouse, "thompson-2024").frame)
    rules = metaeval.protocol(simulated_warehouse, "WMT24", on="sim24", lp=["en-de"])
    assert rules.frame.equals(metaeval.protocol(simulated_warehouse, "wmt24", on="sim24", lp=["en-de"]).frame)


def test_a_system_is_found_in_the_spelling_of_its_own_set(simulated_warehouse: Warehouse) -> None:
    two = metaeval.systems(simulated_warehouse, *EN_DE, "BIRCH_NMT", ["web-L"], test="wilcoxon")
    assert two.facts["systems"] == ("Birch_NMT", "WEB-L")
    planned = metaeval.plan(
        simulated_warehouse, *EN_DE, "BIRCH_NMT", "Web-l", compare="systems", simulations=20, unit="judgement"
    )
    assert {*planned.frame.select("first", "second").row(0)} == {"Birch_NMT", "WEB-L"}


def test_an_unknown_name_is_quoted_as_it_was_typed_and_longer_ones_are_near(simulated_warehouse: Warehouse) -> None:
    with pytest.raises(QuestionError, match=r"unknown metric 'SIMBL' for sim24 en-de; did you mean 'simBLEU"):
        metaeval.segments(simulated_warehouse, *EN_DE, "SIMBL")


def test_an_error_of_several_evaluation_sets_is_said_once_and_where_there_is_a_way_out(
    simulated_warehouse: Warehouse,
) -> None:
    with pytest.raises(QuestionError) as caught:
        metaeval.rank(simulated_warehouse, "all", "all", domain="New", measures="pa")
    text = str(caught.value)
    assert "unknown domain 'New', did you mean 'news'?" in text
    assert text.count("unknown domain") == 1
    assert len(text) <= 200


def test_causes_are_told_apart_but_for_the_evaluation_set() -> None:
    texts = {
        ("a", "b"): "unknown domain 'News' for a b; none are available",
        ("c", "d"): "nothing is loaded",
        ("e", "f"): "unknown domain 'News' for e f; did you mean 'news'?",
    }
    said = unanswered({place: QuestionError(text, where=" ".join(place)) for place, text in texts.items()})
    assert str(said) == (
        "none of 3 evaluation sets has an answer: unknown domain 'News', did you mean 'news'? (e f and 1 more); "
        "nothing is loaded (c d)"
    )


NAMED: dict[str, Any] = {
    "reference": "refA",
    "human": "mqm.merged",
    "systems": ("Alder-Base", "Cedar-1.3B", "Dogwood", "Elm-Big", "Hazel_MBR", "Juniper", "Larch-MT"),
    "metrics": ("simBLEU-refA", "Oriole", "simchrF"),
    "domain": ("news",),
    "document": ("news-en.001", "news-en.002", "news-en.003"),
}
"""Options that name something of an evaluation set, with names that en-de of the simulated task has."""


def _other_case(names: Any) -> Any:
    return names.swapcase() if isinstance(names, str) else tuple(map(_other_case, names))


def _said(warehouse: Warehouse, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    try:
        found = function(name)(warehouse, *args, **options)
    except QuestionError as error:
        return (str(error),)
    return found.summary, found.notes, found.signature, found.frame.rows()


CASES = [
    pytest.param(place, one, id=f"{place}-{name}-{one}")
    for place, (name, args, _) in enumerate(ASKED)
    for one in NAMED
    if args[:1] == ("sim24",) and one in fields_of(question_named(name))
]


@pytest.mark.slow
@pytest.mark.every(7)
@pytest.mark.parametrize(("place", "named"), CASES)
def test_a_name_in_another_case_changes_no_word_of_an_answer(
    place: int, named: str, simulated_warehouse: Warehouse
) -> None:
    name, args, options = ASKED[place]
    args = tuple("en-de" if one == "cs-uk" else one for one in args)
    plain, other = (
        _said(simulated_warehouse, name, args, {**options, named: names})
        for names in (NAMED[named], _other_case(NAMED[named]))
    )
    assert other == plain
