"""Answers in Python: asked by several threads, pickled, and drawn whatever was asked."""

import pickle
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import scorehouse
from metaeval.questions import QUESTIONS, question_named
from metaeval.results.answer import Answer
from metaeval.results.notes import Decisive, ExclusionNote, NoteWithHint
from tests.helpers import tiny_layout
from tests.warehouse.building import loaded
from warehouse import QuestionError, WarehouseError
from warehouse.fields import Field, fields_of

PLACE = {"testset": "tiny24", "lp": "en-de"}
_NEEDED: dict[str, dict[str, Any]] = {
    "compare": {"metrics": ["Fine-src", "Rough-refA"]},
    "deltas": {"metric": "Fine-src"},
    "cutoff": {"metric": "Fine-src"},
    "list": {"what": "metrics"},
    "plan": {"first": "Fine-src", "second": "Rough-refA", "simulations": 20},
    "protocol": {"rules": "wmt24", "on": "tiny24"},
    "scatter": {"metric": "Fine-src"},
    "show": {"segment": 1},
}
"""What questions need beside a test set and a language pair."""
_NOT_ASKED = ("annotators", "diff", "plan", "spans")
"""Questions that need more than a tiny warehouse: another one, judgements, error spans, more segments."""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("answers")
    return loaded(tiny_layout(folder), folder / "a.duckdb")


@pytest.fixture(scope="module")
def opened(database: Path) -> Iterator[scorehouse.Warehouse]:
    with scorehouse.open(database) as warehouse:
        yield warehouse


def _asked(opened: scorehouse.Warehouse, name: str, **more: Any) -> Answer:
    known = fields_of(question_named(name))
    given = {one: value for one, value in PLACE.items() if one in known and known[one].is_argument}
    given |= {"resamples": 20} if "resamples" in known else {}
    given |= {**_NEEDED.get(name, {}), **more}
    function = getattr(opened, name)
    try:
        answer: Answer = function(**given)
    except QuestionError as error:
        if "resamples" not in str(error):
            raise
        answer = function(**{one: value for one, value in given.items() if one != "resamples"})
    return answer


@pytest.mark.slow
def test_eight_threads_get_of_one_warehouse_what_each_would_get_alone(
    opened: scorehouse.Warehouse, database: Path
) -> None:
    names = ["rank", "counts", "means", "list", "correlations", "scatter", "systems", "segments"]

    alone = {name: _asked(opened, name) for name in names}
    queries = [f"SELECT {n} AS n, count(*) AS scores FROM scores" for n in range(8)]
    rows = [opened.sql(query) for query in queries]
    with scorehouse.open(database) as fresh, ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda name: _asked(fresh, name), names))
        frames = list(pool.map(fresh.sql, queries))
    for name, found in zip(names, together, strict=True):
        assert found.frame.equals(alone[name].frame), name
        assert (found.notes, found.signature) == (alone[name].notes, alone[name].signature), name
    assert all(one.equals(two) for one, two in zip(frames, rows, strict=True))


def test_an_answer_and_its_notes_are_pickled(opened: scorehouse.Warehouse) -> None:
    answer = _asked(opened, "rank")
    copy = pickle.loads(pickle.dumps(answer))
    assert copy.frame.equals(answer.frame)
    assert (copy.notes, copy.signature, copy.question) == (answer.notes, answer.signature, answer.question)
    notes = [
        NoteWithHint("a", "b"),
        Decisive("a", "kind", "case", 2.0),
        ExclusionNote("a", "", "metric", 2, ["x", "y"]),
    ]
    for note, same in zip(notes, pickle.loads(pickle.dumps(notes)), strict=True):
        assert (type(same), same) == (type(note), note)
        slots = [name for kind in type(note).__mro__ for name in getattr(kind, "__slots__", ())]
        assert [getattr(same, name) for name in slots] == [getattr(note, name) for name in slots]


@pytest.mark.slow
def test_an_answer_is_unpickled_in_another_process(opened: scorehouse.Warehouse, tmp_path: Path) -> None:
    (tmp_path / "answer").write_bytes(pickle.dumps(_asked(opened, "rank")))
    program = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).frame.height)"
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "answer"], capture_output=True, text=True)
    assert done.stdout.strip() == str(_asked(opened, "rank").frame.height), done.stderr


@pytest.mark.parametrize("limits", [False, True])
def test_a_parameter_that_contains_itself_is_refused_in_one_line(opened: scorehouse.Warehouse, limits: bool) -> None:
    knot: list[Any] = [1]
    knot.append({"more": (knot,)})
    with pytest.raises(QuestionError, match=r"^parameter 'x' contains itself, or more than 50 lists within lists$"):
        opened.sql("SELECT $x", {"x": knot}, limits=limits)
    assert opened.sql("SELECT $x AS x", {"x": [[1], [2]]}).to_dicts() == [{"x": [[1], [2]]}]


def _shapes(field: Field) -> list[Any]:
    """Values of an option that may change what an answer is."""
    if field.option.panel != "Options" or field.option.is_computing:
        return []
    if field.element is bool:
        return [not field.default]
    return [(one,) if field.is_list else one for one in field.choices or ()]


@pytest.mark.slow
@pytest.mark.every(6)
@pytest.mark.parametrize("name", [name for name in QUESTIONS if name not in _NOT_ASKED])
def test_an_answer_is_drawn_or_says_that_it_has_no_chart(name: str, opened: scorehouse.Warehouse) -> None:
    pytest.importorskip("altair", reason="the report extra is not installed")
    known = fields_of(question_named(name))
    given: list[dict[str, Any]] = [{}, *({one: value} for one in known for value in _shapes(known[one]))]
    given += [{"lp": "all"}, {"paper": "kocmi-2021"}]
    n_answers = 0
    for more in given:
        for charted in ({}, {"charted": True}) if question_named(name).has_chart() else ({},):
            if not {*more} <= {*known}:
                continue
            try:
                answer = _asked(opened, name, **more, **charted)
            except WarehouseError:
                continue
            n_answers += 1
            pickle.loads(pickle.dumps(answer))
            try:
                answer.chart().to_dict()
            except QuestionError:
                continue
            except Exception as error:
                raise AssertionError(f"{name} {more} {charted}") from error
    assert n_answers


def test_a_chart_is_of_one_evaluation_set_where_it_shows_no_more(opened: scorehouse.Warehouse) -> None:
    pytest.importorskip("altair", reason="the report extra is not installed")
    one = _asked(opened, "scatter")
    several = replace(one, results=one.results * 2)
    with pytest.raises(
        QuestionError,
        match="name one test set and one language pair: scatter shows one at a time, and this answer has 2",
    ):
        several.chart()
    with pytest.raises(QuestionError, match="explain and a chart cannot be combined"):
        _asked(opened, "rank", explain=True).chart()
    with pytest.raises(QuestionError, match="ask with charted=True"):
        _asked(opened, "thresholds").chart()
