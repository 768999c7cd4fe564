"""Segments in the warehouse: replaced, numbered anew with what is of them, and removed with the last of it."""

import pytest

from tests.warehouse.memory import File, Memory, Row, scores

DECLARES = {"declares": "segments"}


def _at(document: str, index: int, value: float, **columns: object) -> Row:
    (row,) = scores([("A", None, value)])
    return {**row, "document": document, "index": index, **columns}


@pytest.mark.slow
def test_scores_and_judgements_get_the_numbers_of_a_map_that_comes_later() -> None:
    memory = Memory()
    judged = {"judgement": 1, "scorer": "esa", "system": "A", "n": 1, "document": "d", "index": 2, "value": 70.0}
    memory.write(
        File("a", [_at("d", 1, 0.5), _at("d", 2, 0.25)]),
        File("b", judgements=[{**judged, "status": "valid"}], from_judgements=True),
    )
    assert memory.rows("SELECT segment FROM judgement") == [(2,)]
    lines = [{"segment": n, "document": document, "index": 1 + (n == 7)} for n, document in enumerate("abcdefd", 1)]
    _, faults = memory.write(File("map", segments=lines, claim=DECLARES))
    assert faults == []
    assert memory.rows("SELECT segment, value FROM scores ORDER BY 1") == [(4, 0.5), (7, 0.25)]
    assert memory.rows("SELECT segment, value FROM judgement") == [(7, 70.0)]
    assert memory.rows("SELECT segment FROM human_scores WHERE value IS NOT NULL") == [(7,)]
    assert memory.rows("SELECT n_segments FROM evalset") == [(7,)]


def test_a_declared_segment_stays_though_nobody_scores_it() -> None:
    memory = Memory()
    lines = [{"segment": n, "document": "d", "index": n} for n in (1, 2)]
    memory.write(File("map", segments=lines, claim=DECLARES), File("a", scores([("A", 1, 0.5)])))
    assert memory.rows("SELECT segment, position FROM segment ORDER BY 1") == [(1, 1), (2, 2)]


@pytest.mark.slow
def test_segments_that_nothing_declares_go_with_the_last_score_of_them() -> None:
    memory = Memory()
    memory.write(File("a", scores([("A", 1, 0.5), ("A", 2, 0.5)])))
    memory.write(File("a", scores([("A", 1, 0.5)])))
    assert memory.rows("SELECT segment FROM segment") == [(1,)]
    assert memory.rows("SELECT n_segments FROM evalset") == [(1,)]


def test_a_second_map_of_the_same_segments_replaces_the_first() -> None:
    memory = Memory()
    for domain in ("news", "talks"):
        lines = [{"segment": 1, "document": "d", "index": 1, "domain": domain}]
        memory.write(File("map", segments=lines, claim=DECLARES))
    assert memory.rows("SELECT segment, domain FROM segment") == [(1, "talks")]
