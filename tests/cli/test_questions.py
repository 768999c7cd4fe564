"""Questions: what fits their fields is taken, all else is refused in one line, by every door alike."""

import inspect
import re
from dataclasses import MISSING
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import metaeval
from cli.main import COMMANDS
from metaeval.questions import QUESTIONS, question_named
from metaeval.questions.question import Question, question_with
from tests.cli.running import Scorehouse, refused
from tests.helpers import together
from warehouse import QuestionError, Warehouse
from warehouse.fields import Field, fields_of

SIM = ("sim24", "cs-uk")
NEEDED: dict[str, Any] = {
    "testset": "sim24",
    "lp": "cs-uk",
    "metric": "simBLEU",
    "first": "simBLEU",
    "second": "simCOMET",
    "segment": 1,
    "before": "other.duckdb",
    "rules": "wmt24",
}
FITTING: dict[type, Any] = {str: "a", int: 3, float: 0.7, bool: True, Path: Path("a")}
WRONG: dict[type, tuple[Any, ...]] = {
    str: (1, b"a", object(), {1: "x"}),
    int: ("nonsense", 1.5, True, b"a", object(), float("nan"), "1"),
    float: ("nonsense", True, b"a", object(), float("nan"), float("inf"), -float("inf"), np.float64("nan")),
    bool: ("no", 1, 0.0, b"a", object()),
    Path: (1, b"a", object()),
}


UNBOUNDED = ("seed", "n", "max_correct", "min_metrics", "segment", "details")
"""Whole numbers that choose, and size nothing."""


def _fields(kind: type | None = None) -> list[tuple[type[Question], Field]]:
    """Every field of every question; kind: those of one type alone."""
    return [
        (question_named(name), field)
        for name in QUESTIONS
        for field in fields_of(question_named(name)).values()
        if kind is None or field.element is kind
    ]


def _needed(question: type[Question], field: str = "") -> dict[str, Any]:
    """What a question needs. field: one that is given beside it."""
    needed = {name: NEEDED[name] for name, one in fields_of(question).items() if one.default is MISSING}
    if question.name == "protocol":
        needed["rules"] = NEEDED["rules"]
    if question.name == "plan":
        needed |= {"first": NEEDED["first"], "second": NEEDED["second"]}
    if question.name == "deltas":
        needed |= {"hard": True} if field == "hard" else {"metric": NEEDED["metric"]}
    return needed


def _other(field: Field) -> Any:
    """A value that fits a field and is not its default."""
    if field.choices:
        one = next(value for value in field.choices if field.is_list or value != field.default)
    elif field.element is bool:
        return not field.default
    elif field.element in (int, float):
        one = next(
            value
            for value in (30, 0.7, 3, 12, 0)
            if isinstance(value, field.element) and value != field.default and value <= (field.option.most or value)
        )
    elif field.name in ("measure", "measures"):
        one = "pa" if field.default != "pa" else "pearson"
    else:
        one = "1-10" if field.name == "segments" else field.element("other")
    return (one,) if field.is_list else one


@together(("question", "field"), _fields())
def test_a_value_of_another_type_is_refused_in_one_line(question: type[Question], field: Field) -> None:
    wrong = (1, "nonsense", b"a") if field.choices else WRONG[field.element]
    if field.option.may_be_number:
        assert field.read(-1) == "-1"
        wrong = (True, *(one for one in wrong if not isinstance(one, int)))
    if field.is_list:
        wrong = tuple([one] for one in wrong)
    for value in wrong:
        with pytest.raises(QuestionError) as told:
            question_with(question, _needed(question) | {field.name: value})
        line = str(told.value)
        assert line.startswith(f"{field.name} ")
        assert ": expected " in line
        assert len(line.splitlines()) == 1


@together(("question", "field"), [*_fields(int), *_fields(float)])
def test_a_number_has_its_limits(question: type[Question], field: Field) -> None:
    for limit, beyond in ((field.option.least, -1), (field.option.most, 1)):
        if limit is None:
            continue
        number = field.element(limit + beyond)
        with pytest.raises(QuestionError, match="^" + field.name) as told:
            question_with(question, _needed(question) | {field.name: [number] if field.is_list else number})
        assert field.limits in str(told.value).partition(";")[0]


@together(("question", "field"), [*_fields(int), *_fields(float)])
def test_words_of_the_command_line_are_numbers_alike(question: type[Question], field: Field) -> None:
    for text in ("nan", "inf", "-inf", "many", "1,5", "1e", ""):
        with pytest.raises(QuestionError, match=f"^{field.name} .*: expected a (whole|finite) number"):
            field.parsed(text)
    assert field.element is float or field.option.most is not None or field.name in UNBOUNDED


def test_lists_of_measures_take_commas() -> None:
    lists = [one for _, one in _fields() if one.is_list and one.option.names == "measure"]
    assert lists
    for field in lists:
        assert field.read(["spa, acc_eq(by=item,variant=23)", "pa"]) == ("spa", "acc_eq(by=item,variant=23)", "pa")


@together(("question", "field"), _fields())
def test_none_stands_for_the_default(question: type[Question], field: Field) -> None:
    given = _needed(question) | {field.name: None}
    if field.default is MISSING:
        with pytest.raises(QuestionError, match=f"^no {field.name}: {question.name} needs one$"):
            question_with(question, given)
    else:
        assert getattr(_or_refused(question, given), field.name, field.default) == field.default


@together(("question", "field"), _fields())
def test_a_list_of_nothing_is_refused_where_the_default_is_something(question: type[Question], field: Field) -> None:
    if not field.is_list:
        return
    empties: tuple[Any, ...] = ((), [], iter(()), np.array([]))
    for empty in empties:
        given = _needed(question) | {field.name: empty}
        if field.default:
            with pytest.raises(QuestionError, match=f"^no {field.name}: at least one is needed$"):
                question_with(question, given)
        else:
            assert getattr(_or_refused(question, given), field.name, ()) == ()


def _or_refused(question: type[Question], given: dict[str, Any]) -> Question | None:
    """The question, or None where its own `check_fields` refuses what the test does not give."""
    try:
        return question_with(question, given)
    except QuestionError as error:
        if any(words in str(error) for words in ("name a protocol", "needs a metric", "name two metrics")):
            return None
        raise


@together(("question", "field"), _fields())
def test_a_field_that_needs_another_is_refused_without_it(question: type[Question], field: Field) -> None:
    said = field.option.needs
    if not said or any(question_with(question, _needed(question)).meets(one) for one in said):
        return
    with pytest.raises(QuestionError, match=f"^{field.name} needs ") as told:
        question_with(question, _needed(question) | {field.name: _other(field)})
    named = re.findall(r"(\w+)=", str(told.value))
    assert set(named) <= fields_of(question).keys(), told.value
    for one in said:
        assert one == "charted" or one.endswith("=") or one.partition("=")[0] in str(told.value)


def test_an_option_that_a_view_leaves_without_use_is_told_with_the_switch_of_that_view() -> None:
    for given, words in (
        ({"within": True, "by": ("kind",)}, "by and within=True cannot be combined"),
        ({"over_years": True, "alpha": 0.1}, "alpha and over_years=True cannot be combined"),
    ):
        with pytest.raises(QuestionError) as told:
            question_with(question_named("trend"), given)
        assert str(told.value) == words


@together(
    ("words", "said"),
    [
        (("rank", "en-de", "sim24"), "'en-de' is a language pair; the test set comes before it, such as sim24 en-de"),
        (("systems", "en-de", "sim24"), "'en-de' is a language pair; the test set comes before it"),
        (("compare", "en-de", "sim24", "A", "B"), "'en-de' is a language pair; the test set comes before it"),
        (("protocol", "en-de", "sim24"), "'en-de' is a language pair; write `scorehouse protocol sim24 --lp en-de`"),
        (("protocol", "sim24", "en-de"), "'en-de' is a language pair; write `scorehouse protocol sim24 --lp en-de`"),
        (("deltas", "sim24", "en-de"), "deltas needs a metric, such as `scorehouse deltas sim24 en-de BLEU`"),
        (("compare", "sim24", "en-de", "simBLEU"), "compare needs two metrics; you named one: simBLEU"),
    ],
)
def test_words_that_are_swapped_or_missing_are_told_by_what_to_type(
    scorehouse: Scorehouse, words: tuple[str, ...], said: str
) -> None:
    refused(scorehouse(*words), 2, said)


_OF_TEST_SETS = [
    name
    for name in QUESTIONS
    if [one.name for one in fields_of(question_named(name)).values() if one.is_argument][:1] == ["testset"]
]


def test_a_default_is_as_it_would_be_read() -> None:
    for name in QUESTIONS:
        for field in fields_of(question_named(name)).values():
            if field.default is not MISSING:  # which an object takes unread
                read = field.read(field.default)
                assert (read, type(read)) == (field.default, type(field.default)), (name, field.name)


@pytest.mark.slow
@together("name", _OF_TEST_SETS)
def test_a_language_pair_before_its_test_set_is_told_whatever_follows(scorehouse: Scorehouse, name: str) -> None:
    said = "error: 'en-de' is a language pair; the test set comes before it, such as {} en-de"
    n_arguments = sum(one.is_argument for one in fields_of(question_named(name)).values())
    for testset, more in (("sim24", ()), ("wmt23", ()), ("SIM24", ["simBLEU"] * (n_arguments - 2))):
        assert refused(scorehouse(name, "en-de", testset, *more), 2) == said.format(testset.lower())


@together(("question", "field"), _fields())
def test_fields_that_exclude_each_other_are_refused_together(question: type[Question], field: Field) -> None:
    for other in field.option.excludes:
        if other != "charted" and other not in fields_of(question):
            continue
        more = True if other == "charted" else _other(fields_of(question)[other])
        with pytest.raises(QuestionError) as told:
            question_with(question, _needed(question) | {field.name: _other(field), other: more})
        assert len(str(told.value).splitlines()) == 1


@together("name", QUESTIONS)
def test_needs_and_excludes_name_fields(name: str) -> None:
    known = fields_of(question_named(name))
    for field in known.values():
        for other in (*field.option.needs, *field.option.excludes):
            assert other.partition("=")[0] in {*known, "charted"} or hasattr(
                question_named(name), other.partition("=")[0]
            )


@together("name", QUESTIONS)
def test_an_unknown_option_is_refused_with_a_near_one(name: str, simulated_warehouse: Warehouse) -> None:
    function = getattr(metaeval, name)
    for known in inspect.signature(function).parameters:
        with pytest.raises(QuestionError, match=f"^unknown option '{known}_x' for metaeval.{name}; did you mean"):
            function(simulated_warehouse, **{f"{known}_x": 1})


@together("name", QUESTIONS)
def test_a_closed_warehouse_is_told_as_such(name: str, simulated_warehouse: Warehouse) -> None:
    with Warehouse.open(simulated_warehouse.path) as closed:
        pass
    with pytest.raises(QuestionError, match=r"^the warehouse is closed$"):
        getattr(metaeval, name)(closed, **_needed(question_named(name)))


def test_numbers_of_numpy_and_measures_are_as_good(simulated_warehouse: Warehouse) -> None:
    one = metaeval.rank(simulated_warehouse, *SIM, measures="spa", seed=3)
    measures = iter([metaeval.parse_measure("spa"), "spa"])
    other = metaeval.rank(simulated_warehouse, *SIM, measures=measures, seed=np.int64(3))
    assert other.frame.equals(one.frame)
    assert other.signature == one.signature


@pytest.mark.slow
def test_names_are_found_in_any_case(simulated_warehouse: Warehouse) -> None:
    one = metaeval.rank(simulated_warehouse, *SIM, measures="pa", metrics="simBLEU").frame
    assert one.equals(metaeval.rank(simulated_warehouse, "SIM24", "CS-UK", measures="pa", metrics=["simBLEU"]).frame)
    several = metaeval.rank(simulated_warehouse, "sim23,sim24", measures="pa").frame
    assert several["testset"].unique().sort().to_list() == ["sim23", "sim24"]


QUICK: dict[str, dict[str, Any]] = {
    "advise": {"measure": "pearson"},
    "annotators": {"resamples": 10},
    "compare": {"measure": "pa", "resamples": 20},
    "cutoff": {"metric": "simBLEU", "good": "-1"},
    "deltas": {"metric": "simBLEU", "resamples": 5},
    "noise": {"measures": "pearson", "simulations": 2},
    "plan": {"first": "simBLEU", "second": "simchrF", "simulations": 20, "resamples": 20},
    "rank": {"measures": "pa"},
    "scatter": {"metric": "simBLEU"},
    "show": {"segment": 3},
    "systems": {"resamples": 20},
    "thresholds": {"segments": "1-30"},
    "trend": {"resamples": 20, "measure": "pa"},
}
OF_AN_EVALSET = [name for name in QUESTIONS if {"testset", "lp"} <= {*fields_of(question_named(name))}]


@pytest.mark.slow
@together("name", [name for name in OF_AN_EVALSET if name not in ("diff", "paper", "list", "plan")])
def test_an_answer_has_rows_a_signature_and_shows_itself(name: str, simulated_warehouse: Warehouse) -> None:
    found = getattr(metaeval, name)(simulated_warehouse, *SIM, **QUICK.get(name, {}))
    assert found.frame.height > 0
    assert found.signature or name == "show"
    assert "<table" in found._repr_html_()
    short = found.short_signature()
    assert len(short) <= 100
    assert short.startswith(f"{name} sim24 cs-uk") or not found.signature


@together("name", QUESTIONS)
def test_the_command_has_every_field(name: str) -> None:
    parameters = inspect.signature(COMMANDS[name]).parameters
    assert {*fields_of(question_named(name))} <= {*parameters}


@pytest.mark.slow
@together(
    ("words", "keywords"),
    [
        (
            ("compare", *SIM, "-m", "pa", "--resamples", "20", "--plus-one", "--test", "perm-inputs"),
            {"test": "perm-inputs"},
        ),
        (("rank", *SIM, "-m", "pearson", "--intervals", "--resamples", "20"), {"intervals": True}),
        (("rank", *SIM, "-m", "pearson", "--kind", "reference-free", "--significance", "--resamples", "20"), {}),
    ],
)
def test_the_command_and_the_function_answer_alike(
    words: tuple[str, ...], keywords: dict[str, Any], scorehouse: Scorehouse, simulated_warehouse: Warehouse
) -> None:
    from cli.render.json import plain

    given: dict[str, Any] = {"resamples": 20, **keywords}
    given |= {"measure": "pa", "plus_one": True} if words[0] == "compare" else {"measures": "pearson"}
    given |= {"kind": "reference-free", "significance": True} if "--kind" in words else {}
    found = getattr(metaeval, words[0])(simulated_warehouse, *SIM, **given)
    ran = scorehouse(*words, "--format", "json")
    shown = found.frame if found.shape is None else {**found.shape, "summary": found.summary}
    assert plain(shown) == ran.json
    assert {*found.signature.splitlines()} <= {*ran.notes}


def test_a_question_about_one_evaluation_set_is_answered_for_several(
    simulated_warehouse: Warehouse, scorehouse: Scorehouse
) -> None:
    every = metaeval.counts(simulated_warehouse, "sim24", by="none", metrics="simBLEU").frame
    lps = every["lp"].unique().to_list()
    assert len(lps) > 1
    for lp in lps:
        one = metaeval.counts(simulated_warehouse, "sim24", lp, by="none", metrics="simBLEU").frame
        assert every.filter(lp=lp).drop("testset", "lp").equals(one)
    ran = scorehouse("counts", "sim24", "--by", "none", "--metrics", "simBLEU", "--format", "json")
    assert [row["lp"] for row in ran.json] == every["lp"].to_list()


def test_pairs_of_several_evaluation_sets_are_those_of_each_however_many_a_query_counts(
    simulated_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All sets by one query, or each by its own."""
    asked: dict[str, Any] = {"testset": "all", "metrics": "simBLEU"}
    whole = metaeval.counts(simulated_warehouse, **asked)
    assert whole.frame.select("testset", "lp").n_unique() > 2
    monkeypatch.setattr("metaeval.questions.counts._MOST_TOGETHER", 0)
    again = metaeval.counts(simulated_warehouse, **asked)
    assert again.frame.equals(whole.frame)
    assert again.notes == whole.notes
    assert again.signature == whole.signature
    for (testset, lp), rows in whole.frame.group_by("testset", "lp", maintain_order=True):
        one = metaeval.counts(simulated_warehouse, str(testset), str(lp), metrics="simBLEU")
        assert rows.drop("testset", "lp").equals(one.frame)


@together(
    ("words", "line"),
    [
        (("rank", *SIM, "--primary"), "use --status primary"),
        (("rank", *SIM, "--all-metrics"), "use --status all"),
        (("rank", *SIM, "--reference-free"), "use --kind reference-free"),
        (("ties", *SIM), "use thresholds --ties"),
        (("hard-pairs",), "use deltas --hard"),
        (("protocols",), "use protocol --matrix"),
        (("unload", "sim24"), "use remove"),
        (("rank", *SIM, "-m", "pa", "--resamples", "5"), "--resamples needs --significance or --intervals"),
        (("rank", *SIM, "--intervals", "--pool", "mean"), "--intervals and --pool cannot be combined"),
        (
            ("systems", *SIM, "--test", "wilcoxon", "--resamples", "5"),
            "--resamples needs --test permutation or --test bootstrap",
        ),
        (("rank", *SIM, "-m", "pa", "--with-outliers", "--mad-outliers"), "--with-outliers and --mad-outliers"),
        (("scatter", *SIM), "METRIC"),
    ],
)
def test_the_command_line_says_it_in_its_own_words(words: tuple[str, ...], line: str, scorehouse: Scorehouse) -> None:
    refused(scorehouse(*words), 2, line)
