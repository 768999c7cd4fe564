"""The questions as functions: a value that is none is refused in one clear line, and never by another exception."""

import inspect
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import polars as pl
import pytest

import metaeval
from metaeval.limits import MOST
from metaeval.questions.arguments import SliceOptions
from metaeval.questions.together import OF_TESTS
from tests.helpers import sampled
from warehouse import QuestionError, Warehouse

QUESTIONS = [
    name
    for name in metaeval.__all__
    if inspect.isfunction(value := getattr(metaeval, name)) and value.__module__.startswith("metaeval.questions.")
]
NEEDED: Mapping[str, Any] = {
    "testset": "sim24",
    "lp": "cs-uk",
    "metric": "simBLEU",
    "first": "simBLEU",
    "second": "simCOMET",
    "name": "thompson-2024",
    "item": "table-1",
}
WRONG: tuple[Any, ...] = (
    None,
    True,
    1,
    -1,
    1.5,
    float("nan"),
    "nonsense",
    b"a",
    (),
    [1],
    (1, 2, 3),
    ["a"],
    {},
    object(),
)
NEVER = (object(), {1: "x"}, b"a", [object()])
"""No parameter takes one of these."""


def _parameters() -> Iterator[tuple[str, str, Any]]:
    """Question, parameter and its annotation."""
    for name in QUESTIONS:
        function = getattr(metaeval, name)
        hints = get_type_hints(inspect.unwrap(function)) | get_type_hints(SliceOptions)
        for parameter in inspect.signature(function).parameters:
            if parameter != "session":  # Spark's
                yield name, parameter, hints[parameter]


def _kinds(hint: Any) -> set[Any]:
    """The plain types and the origins that an annotation is made of."""
    if "Union" in str(get_origin(hint)):
        return set().union(*(_kinds(one) for one in get_args(hint)))
    return {get_origin(hint) or hint}


def _is_wrong(value: Any, hint: Any) -> bool:
    """Whether no value of this kind is among those of the annotation; told apart more roughly than by the product."""
    kinds = _kinds(hint)
    if isinstance(value, bool):
        return bool not in kinds
    if isinstance(value, int | float):
        return not ({float} | ({int} if isinstance(value, int) else set())) & kinds
    if value is None:
        return type(None) not in kinds
    if isinstance(value, str):
        return not {str, Literal} & kinds or kinds == {Literal} or kinds == {Literal, type(None)}
    if isinstance(value, Mapping):
        return not any("Mapping" in str(kind) for kind in kinds)
    return not isinstance(value, Collection) or not any("Sequence" in str(kind) or kind is tuple for kind in kinds)


def _ask(name: str, warehouse: Warehouse, given: Mapping[str, Any]) -> Any:
    function = getattr(metaeval, name)
    known = inspect.signature(function).parameters
    words: dict[str, Any] = {
        one: NEEDED[one] for one, parameter in known.items() if parameter.default is parameter.empty and one in NEEDED
    }
    words |= {one: warehouse for one in ("warehouse", "before", "after") if one in known}
    return function(**words | given)


@pytest.mark.parametrize(("name", "parameter", "hint"), list(_parameters()))
def test_a_value_of_another_kind_is_refused(
    name: str, parameter: str, hint: Any, simulated_warehouse: Warehouse
) -> None:
    wrong = [value for value in (*WRONG, *NEVER) if value in NEVER or _is_wrong(value, hint)]
    assert len(wrong) > len(NEVER)
    for value in wrong:
        with pytest.raises(QuestionError) as refused:
            _ask(name, simulated_warehouse, {parameter: value})
        assert len(str(refused.value).splitlines()) == 1
        assert parameter in str(refused.value)


@pytest.mark.parametrize(
    ("name", "given", "line"),
    [
        ("rank", {"measures": []}, "no measures"),
        ("rank", {"measures": ()}, "no measures"),
        ("rank", {"measures": 1}, "measures 1: expected a text, a measure, a list of texts or measures or None"),
        ("rank", {"testset": None}, "testset None: expected a text"),
        ("rank", {"lp": None}, "lp None: expected a text"),
        ("rank", {"metrics": []}, "no metrics: at least one is needed; None stands for the default"),
        ("rank", {"metrics": [1]}, r"metrics \[1\]: expected a text, a list of texts or None"),
        ("rank", {"segments": "1-10"}, "segments '1-10': expected 2 whole numbers or None"),
        ("rank", {"segments": (1, 2, 3)}, r"segments \(1, 2, 3\): expected 2 whole numbers"),
        ("rank", {"segments": (0, 10)}, r"segments \(0, 10\): the first segment is 1"),
        ("rank", {"segments": (10, 1)}, r"segments \(10, 1\): the first is after the last"),
        ("rank", {"seed": -1}, "seed -1: expected a whole number of at least 0"),
        ("rank", {"seed": "a"}, "seed 'a': expected a whole number"),
        ("rank", {"seed": 1.5}, "seed 1.5: expected a whole number"),
        ("rank", {"round_human": -1}, "round_human -1: expected a whole number of at least 0"),
        ("rank", {"round_human": 400}, "round_human 400: expected a whole number of at most 15"),
        ("rank", {"significance": "no"}, "significance 'no': expected True or False"),
        ("rank", {"outliers": None}, "outliers None: expected one of organisers, mad, none"),
        ("rank", {"test": "perm-inputs"}, "test needs significance=True"),
        ("rank", {"draws": 5}, "draws needs significance=True or intervals=True"),
        ("rank", {"fresh": True}, "fresh needs significance=True"),
        ("rank", {"pool": "mean", "significance": True}, "pool does not go with significance=True; metaeval.protocol"),
        ("rank", {"by": "domain", "intervals": True}, "by does not go with intervals=True"),
        ("rank", {"plus_one_": True}, "unknown option 'plus_one_' for metaeval.rank; did you mean 'plus_one'"),
        ("rank", {"drawz": 3}, "unknown option 'drawz' for metaeval.rank; did you mean 'draws'"),
        ("rank", {"options": {}}, "unknown option 'options' for metaeval.rank"),
        ("audit", {"foo": 1}, "unknown option 'foo' for metaeval.audit; available: check, lp, "),
        (
            "protocol",
            {"testset": "wmt24", "test": "perm-both"},
            "a protocol brings its own tests: test, correction and",
        ),
        ("protocol", {"testset": "wmt24", "population": "systems"}, "population needs significance=True"),
        ("thresholds", {"points": 5}, "points needs curve=True"),
        ("compare", {"draws": "10"}, "draws '10': expected a whole number"),
        ("compare", {"measure": ["pa", "spa"]}, r"measure \['pa', 'spa'\]: expected a text or a measure"),
        ("deltas", {"agreement": 0.8}, "agreement 0.8: expected a list of numbers"),
        ("noise", {"strengths": 1.0}, "strengths 1.0: expected a list of numbers"),
        ("noise", {"measures": ()}, "no measures"),
        (
            "trend",
            {"published": {"BLEU": "x"}},
            "published {'BLEU': 'x'}: expected a mapping of texts to whole numbers",
        ),
        ("rank", {"warehouse": None}, r"warehouse None: expected an open warehouse, Warehouse.open\(path\)"),
        (
            "rank",
            {"warehouse": "a.duckdb"},
            r"warehouse 'a.duckdb': expected an open warehouse, Warehouse.open\(path\)",
        ),
    ],
)
def test_what_is_expected_is_said(name: str, given: dict[str, Any], line: str, simulated_warehouse: Warehouse) -> None:
    with pytest.raises(QuestionError, match=f"^{line}"):
        _ask(name, simulated_warehouse, given)


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_unknown_option_is_refused_with_near_ones_of_the_whole_signature(
    name: str, simulated_warehouse: Warehouse
) -> None:
    for known in inspect.signature(getattr(metaeval, name)).parameters:
        with pytest.raises(
            QuestionError, match=f"^unknown option '{known}_x' for metaeval.{name}; did you mean"
        ) as told:
            _ask(name, simulated_warehouse, {f"{known}_x": 1})
        assert repr(known) in str(told.value)
        assert len(str(told.value).splitlines()) == 1


OTHER_VALUES: Mapping[str, Any] = {
    "test": "williams",
    "population": "systems",
    "alternative": "greater",
    "alpha": 0.01,
    "correction": "holm",
    "plus_one": True,
    "mid_p": False,
    "early_stop": True,
    "unit": "document",
    "legacy_df": True,
    "absolute": True,
    "fresh": True,
}


@pytest.mark.parametrize("more", [{}, {"by": "domain"}, {"testset": "sim23,sim24"}])
@pytest.mark.parametrize(
    ("option", "line"),
    [
        ("absolute", "absolute goes with williams, not with perm-systems or jackknife-systems"),
        ("legacy_df", "legacy df goes with williams, not with perm-systems or jackknife-systems"),
    ],
)
def test_an_option_of_a_test_that_no_measure_has_is_refused(
    option: str, line: str, more: dict[str, Any], simulated_warehouse: Warehouse
) -> None:
    given = {
        "measures": ["pa", "pearson"],
        "significance": True,
        "population": "systems",
        "draws": 20,
        "lp": "cs-uk",
        **more,
    }
    with pytest.raises(QuestionError) as refused:
        _ask("rank", simulated_warehouse, {option: True, **given})
    assert str(refused.value) == line


def test_an_option_of_a_test_that_one_measure_has_goes_with_the_others(simulated_warehouse: Warehouse) -> None:
    given = {"lp": "cs-uk", "measures": ["pa", "pearson"], "significance": True, "population": "systems", "draws": 20}
    signed = _ask("rank", simulated_warehouse, {"plus_one": True, **given}).signature.splitlines()
    assert ["plus_one" in line for line in signed if "|test:" in line] == [True, False]


@pytest.mark.parametrize(("name", "more"), [("rank", {}), ("rank", {"intervals": True}), ("protocol", {})])
@pytest.mark.parametrize("option", OF_TESTS)
def test_options_of_tests_need_tests(
    name: str, more: dict[str, Any], option: str, simulated_warehouse: Warehouse
) -> None:
    if option in inspect.signature(getattr(metaeval, name)).parameters:
        with pytest.raises(QuestionError, match=f"^{option} needs significance=True$"):
            _ask(name, simulated_warehouse, {option: OTHER_VALUES[option], **more})


EVERY = "every number and list of every question: a minute"
NUMBERS = [(name, parameter) for name, parameter, hint in _parameters() if {int, float} & _kinds(hint)]
LISTS = [(name, parameter) for name, parameter, hint in _parameters() if any("Seq" in str(one) for one in _kinds(hint))]


@pytest.mark.parametrize(("of", "number"), sampled(9, EVERY, NUMBERS, (-1, 0)))
def test_a_number_out_of_range_has_an_answer_or_a_line(
    of: tuple[str, str], number: int, simulated_warehouse: Warehouse
) -> None:
    name, parameter = of
    _answer_or_line(name, {parameter: number}, simulated_warehouse)


@pytest.mark.parametrize(("name", "parameter"), [(name, one) for name, one in NUMBERS if one in MOST])
def test_a_number_that_sizes_the_work_has_a_limit(name: str, parameter: str, simulated_warehouse: Warehouse) -> None:
    for number in (MOST[parameter] + 1, 10**13, 10**30):
        line = f"^{parameter} {number}: expected a whole number of at most {MOST[parameter]:,}$"
        with pytest.raises(QuestionError, match=line):
            _ask(name, simulated_warehouse, {parameter: number})


FLOATS = [
    (name, parameter, float not in _kinds(hint))
    for name, parameter, hint in _parameters()
    if float in _kinds(hint) or any(float in get_args(one) for one in (hint, *get_args(hint)))
]


@pytest.mark.parametrize(("name", "parameter", "is_list"), FLOATS)
def test_a_number_that_is_not_finite_is_refused(
    name: str, parameter: str, is_list: bool, simulated_warehouse: Warehouse
) -> None:
    for number in (float("nan"), float("inf"), -float("inf"), np.float64("nan")):
        given = [0.9, number] if is_list else number
        with pytest.raises(QuestionError) as refused:
            _ask(name, simulated_warehouse, {parameter: given})
        assert str(refused.value).startswith(f"{parameter} ")
        assert str(refused.value).endswith(": expected finite numbers" if is_list else ": expected a finite number")


@pytest.mark.parametrize(("name", "parameter"), LISTS)
def test_an_empty_list_is_refused(name: str, parameter: str, simulated_warehouse: Warehouse) -> None:
    empty: tuple[Any, ...] = ((), [], iter(()), np.array([], dtype=str if parameter in ("by", "kinds") else float))
    for value in empty:
        if (name, parameter) == ("diff", "measures"):  # a comparison without rankings
            _answer_or_line(name, {parameter: value}, simulated_warehouse)
            continue
        with pytest.raises(QuestionError) as refused:
            _ask(name, simulated_warehouse, {parameter: value})
        assert str(refused.value) == f"no {parameter}: at least one is needed; None stands for the default"


@pytest.mark.slow
@pytest.mark.parametrize("of", sampled(9, EVERY, LISTS))
def test_none_stands_for_the_default_of_a_list(of: tuple[str, str], simulated_warehouse: Warehouse) -> None:
    name, parameter = of
    default = inspect.signature(getattr(metaeval, name)).parameters[parameter].default
    answers = [_answer_or_line(name, {parameter: value}, simulated_warehouse) for value in (None, default)]
    assert answers[0] == answers[1]


def _answer_or_line(name: str, given: dict[str, Any], warehouse: Warehouse) -> str:
    """The answer as text, or the line why there is none."""
    known = inspect.signature(getattr(metaeval, name)).parameters
    quick: dict[str, Any] = {"draws": 5, "simulations": 5, "testset": "sim24", "lp": "cs-uk", "measures": "pa"}
    quick |= {"measure": "acc_eq(by=item)" if name == "thresholds" else "pearson", "significance": True}
    quick |= {"rules": "wmt24", "segments": (1, 20), "least_metrics": 1}
    try:
        found = _ask(name, warehouse, {one: value for one, value in quick.items() if one in known} | given)
    except QuestionError as error:
        return str(error)
    return f"{found.frame.write_json()} {found.signature} {found.notes}"


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_closed_warehouse_is_told_as_such(name: str, simulated_warehouse: Warehouse) -> None:
    with Warehouse.open(simulated_warehouse.path) as closed:
        pass
    with pytest.raises(QuestionError, match=r"^the warehouse is closed$"):
        _ask(name, closed, {})


@pytest.mark.parametrize("kind", [np.array, pl.Series, iter, tuple])
def test_any_kind_of_list_of_numbers_is_taken(kind: Any, simulated_warehouse: Warehouse) -> None:
    quick: Any = {"testset": "sim24", "lp": "cs-uk", "draws": 2}
    assert metaeval.deltas(simulated_warehouse, "simBLEU", agreement=kind([0.6, 0.7]), **quick).frame.height == 2
    numbers = {"strengths": kind([0.5, 1.0]), "shares": kind([0.1, 0.2])}
    found = metaeval.noise(simulated_warehouse, metric="simBLEU", measures="pa", **numbers, **quick).frame
    assert {0.1, 0.2, 0.5, 1.0} <= set(found["strength"])


def test_numbers_of_numpy_and_lists_of_two_are_as_good(simulated_warehouse: Warehouse) -> None:
    one = metaeval.rank(simulated_warehouse, "sim24", "cs-uk", "spa", segments=(1, 10), seed=3, primary=True)
    more: Any = {"segments": [np.int64(1), np.int64(10)], "seed": np.int64(3), "primary": np.bool_(True)}
    other = metaeval.rank(simulated_warehouse, "sim24", "cs-uk", np.array(["spa"]), **more)  # type: ignore[arg-type]
    assert other.frame.equals(one.frame)
    assert other.signature == one.signature
