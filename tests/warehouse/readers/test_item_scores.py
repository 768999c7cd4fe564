"""Items with scores by dimension: which systems, items, human scores and metrics they are, and what is wrong."""

import json
from pathlib import Path
from typing import Any

from tests.helpers import together
from tests.warehouse.readers.reading import answer, read
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.item_scores import ItemScoreReader
from warehouse.wording import NO_LP

READER = ItemScoreReader()
PATH = Path("tasks/talk_result.json")


def item(source: str, system: str | None, fluency: Any, predicted: float | None = None, **more: Any) -> dict[str, Any]:
    named = {} if system is None else {"system_id": system}
    guess = {} if predicted is None else {"predict_scores": {"fluency": predicted}}
    return {"source": source, "system_output": "x", **named, "scores": {"fluency": fluency}, **guess, **more}


def found(*items: dict[str, Any], path: Path = PATH, given: LoadHints | None = None) -> list[tuple[Any, ...]]:
    columns = ("testset", "lp", "kind", "scorer", "system", "segment", "document", "value")
    return read(READER, path, json.dumps(items), given).scores.select(columns).rows()


def test_dimensions_are_human_scores_and_metrics_of_a_set_without_a_language_pair() -> None:
    of_set = ("talk", NO_LP)
    assert found(item("a", "A", 3, 0.5), item("a", "B", 2.5), item("b", "A", 1)) == [
        (*of_set, "human", "fluency", "A", 1, None, 3.0),
        (*of_set, "metric", "fluency", "A", 1, None, 0.5),
        (*of_set, "human", "fluency", "B", 1, None, 2.5),
        (*of_set, "human", "fluency", "A", 2, None, 1.0),
    ]


def test_without_systems_each_object_is_an_item_and_those_of_one_source_a_document() -> None:
    rows = found(item("a", None, 1), item("b", None, 2), item("a", None, 3))
    assert [row[4:] for row in rows] == [
        ("output", 1, "source-1", 1.0),
        ("output", 2, None, 2.0),
        ("output", 3, "source-1", 3.0),
    ]


def test_a_number_names_the_item_where_there_is_one() -> None:
    rows = found(item("a", "0", 1, doc_id=7), item("a", "0", 2, doc_id=8))
    assert [row[5] for row in rows] == [1, 2]


def test_lines_are_read_as_a_list_is(tmp_path: Path) -> None:
    text = "".join(f"{json.dumps(item('a', system, 1))}\n" for system in "AB")
    assert [
        row[4]
        for row in read(READER, Path("talk.jsonl"), text).scores.select("line", "kind", "scorer", "lp", "system").rows()
    ] == ["A", "B"]


def test_a_first_object_longer_than_a_head_is_found(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([item("a", "A", 1, notes=["x"] * 40)], indent=1))
    assert isinstance(answer(READER, path, path.read_bytes(), LoadHints()), Claim)


@together(
    ("items", "fault"),
    [
        ([item("a", "A", 1), item("a", "A", 2)], "object 2 scores the same output as object 1"),
        ([item("a", "A", 1), item("a", "B", "high")], "fluency 'high', expected a number"),
        ([item("a", "A", 1), {"system_id": "A", "scores": {"fluency": 1}}], "an object without its item"),
        ([item("a", "A", 1), {"source": "b", "scores": {"fluency": 1}}], "no system, expected a system"),
    ],
)
def test_wrong_objects_are_faults(items: list[dict[str, Any]], fault: str) -> None:
    assert fault in "\n".join(str(one) for one in read(READER, PATH, json.dumps(items)).faults)


@together(
    "text", ['[{"scores": {"A": {"human1": 1}}}]', '[{"doc_id": "x", "scores": {"A": 1}}]', '[{"a": 1}]', "scores"]
)
def test_other_json_is_left_to_others(text: str) -> None:
    assert answer(READER, PATH, text.encode(), LoadHints()) is None


def test_a_set_of_the_shared_tasks_needs_its_language_pair() -> None:
    text = json.dumps([item("a", "A", 1)]).encode()
    assert "unknown language pair" in str(answer(READER, PATH, text, LoadHints(testset="wmt23")))
