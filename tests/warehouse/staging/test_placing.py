"""Segments on the stage: the number of each that rows name, by line, by document and place, or by both."""

import pytest

from tests.warehouse.memory import File, Memory, Row, found, scores
from warehouse.wording import option

MAP = File(
    "map",
    segments=[
        {"segment": 1, "document": "n1", "index": 1},
        {"segment": 2, "document": "n1", "index": 2},
        {"segment": 3, "document": "n2", "index": 1},
    ],
    claim={"declares": "segments"},
)


def _placed(*places: tuple[str, int], metric: str = "M") -> list[Row]:
    """One score for each document and index: its place in the list."""
    return [
        {
            "kind": "metric",
            "scorer": metric,
            "level": "seg",
            "system": "A",
            "document": document,
            "index": index,
            "value": float(value),
        }
        for value, (document, index) in enumerate(places, start=1)
    ]


def _numbers(memory: Memory, metric: str = "M-src") -> dict[float, int]:
    """Value -> segment."""
    query = "SELECT value, segment FROM scores WHERE metric = $metric ORDER BY ALL"
    return dict(memory.rows(query, {"metric": metric}))


def test_document_and_place_are_the_line_that_the_map_gives_them() -> None:
    memory = Memory()
    memory.write(MAP, File("a", _placed(("n2", 1), ("n1", 2), ("n1", 1))))
    assert _numbers(memory) == {1.0: 3, 2.0: 2, 3.0: 1}


def test_a_segment_that_the_map_does_not_have_is_a_fault() -> None:
    stage, _ = Memory().staged(MAP, File("a", [*_placed(("n2", 1), ("n2", 8), ("n9", 1)), *scores([("B", 4, 1.0)])]))
    assert found(stage) == [
        ("a", 2, "segment 8 of document 'n2'"),
        ("a", 3, "segment 1 of document 'n9'"),
        ("a", 4, "segment 4"),
    ]
    assert {fault.expected for faults in stage.faults.values() for fault in faults} == {
        "one of the segments of t24 en-de"
    }


def test_without_a_map_places_are_numbered_by_document_and_have_no_line() -> None:
    memory = Memory()
    memory.write(File("a", _placed(("n2", 1), ("n1", 2), ("n1", 1))))
    assert _numbers(memory) == {1.0: 3, 2.0: 2, 3.0: 1}
    assert memory.rows("SELECT segment, position, document FROM segment ORDER BY 1") == [
        (1, None, "n1"),
        (2, None, "n1"),
        (3, None, "n2"),
    ]


def test_places_without_a_line_are_numbered_above_all_lines() -> None:
    memory = Memory()
    memory.write(File("a", [*scores([("A", 7, 0.5)]), *_placed(("d", 1), ("d", 2))]))
    assert _numbers(memory) == {0.5: 7, 1.0: 8, 2.0: 9}


@pytest.mark.slow
def test_a_file_that_names_line_and_place_tells_the_others_where_their_places_are() -> None:
    memory = Memory()
    both = [{**row, "segment": 6 + int(row["value"])} for row in _placed(("d", 1), ("d", 2))]
    memory.write(File("both", both), File("place", _placed(("d", 2), ("d", 1), metric="N")))
    assert _numbers(memory) == {1.0: 7, 2.0: 8}
    assert _numbers(memory, "N-src") == {1.0: 8, 2.0: 7}


@pytest.mark.slow
def test_lines_that_are_told_to_be_of_two_documents_are_noted_and_the_line_decides() -> None:
    files = [
        File(origin, [{**row, "segment": 1, "document": document, "index": 1} for row in scores([("A", 1, 0.5)], name)])
        for origin, document, name in (("a", "d", "M"), ("b", "e", "N"))
    ]
    place = File("c", _placed(("e", 1), metric="P"))
    for earlier, later in (([], [*files, place]), (files[:1], [place, files[1]])):
        memory = Memory()
        if earlier:
            memory.write(*earlier)
        stage, _ = memory.write(*later)
        assert stage.notes == ["t24 en-de: 1 segment is assigned to several documents, such as segment 1 of d and e"]
        assert memory.rows("SELECT DISTINCT segment FROM score") == [(1,)]


def test_texts_of_tutorials_are_no_segments() -> None:
    judged = {"judgement": 1, "scorer": "esa", "system": "lesson", "value": 1.0, "n": 1}
    lesson = File("a", judgements=[{**judged, "segment": 1000, "status": "tutorial"}], from_judgements=True)
    stage, _ = Memory().staged(MAP, lesson)
    assert found(stage) == []
    assert stage.batch.rows("SELECT segment FROM temp.staged_judgement") == [(1000,)]


def _lines(*documents: str) -> list[Row]:
    """Scores whose lines count from 1, in these documents."""
    rows = scores([("A", line, 0.5) for line in range(1, len(documents) + 1)])
    return [{**row, "document": document, "index": None} for row, document in zip(rows, documents, strict=True)]


LONG = File(
    "map",
    segments=[
        {"segment": line, "document": f"d{1 + (line > 4)}", "index": line - 4 * (line > 4)} for line in range(1, 7)
    ],
    claim={"declares": "segments"},
)


def test_lines_that_count_within_a_file_contradict_its_documents() -> None:
    stage, _ = Memory().staged(LONG, File("part", _lines("d1", "d1", "d2", "d2", "d2")))
    (fault,) = [fault for faults in stage.faults.values() for fault in faults]
    assert fault.found == "segment 3 in document 'd2', which is in 'd1' in the warehouse"
    assert option("numbering", "document") in fault.text


@pytest.mark.parametrize(
    "documents",
    [
        ("d1", "d1", "d1", "d1", "d2", "d2"),  # as they are
        ("x", "x", "x", "x", "y", "y"),  # called otherwise
        ("p1", "p1", "p2", "p3", "p4", "p4"),  # parts of the documents
        ("all", "all", "all", "all", "all", "all"),  # several documents in one
    ],
)
def test_documents_that_are_called_or_cut_otherwise_contradict_no_line(documents: tuple[str, ...]) -> None:
    stage, _ = Memory().staged(LONG, File("whole", _lines(*documents)))
    assert found(stage) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["d2", "d2:en-de", "news_d2:en-de", "news_d2"])
def test_a_document_is_found_with_its_domain_and_language_pair_in_its_name(name: str) -> None:
    memory = Memory()
    memory.write(LONG, File("a", _placed((name, 2))))
    assert _numbers(memory) == {1.0: 6}
