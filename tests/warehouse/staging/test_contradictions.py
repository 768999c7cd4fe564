"""What the stage and the warehouse may not both hold, told by what is found where."""

import pytest

from tests.warehouse.memory import File, Memory, scores
from warehouse.errors import Fault


def _told(faults: list[Fault]) -> list[tuple[str, str]]:
    return [(fault.path, fault.found) for fault in faults]


@pytest.mark.slow
def test_the_same_scores_from_another_file_are_taken_once_with_a_note() -> None:
    memory = Memory()
    both = [*scores([("A", 1, 0.5), ("A", 2, None)]), *scores([("A", None, 0.75)], level="sys")]
    memory.write(File("a", both))
    stage, faults = memory.write(File("b", [*both, *scores([("C", 1, 1.0)])]))
    assert faults == []
    assert stage.notes == [
        f"b: metric 'M-src' at level {level} has the same scores in the warehouse, from a, loaded once"
        for level in ("seg", "sys")
    ]
    assert memory.rows("SELECT system, segment, value FROM scores ORDER BY ALL") == [
        *(("A", 1, 0.5), ("A", 2, None), ("C", 1, 1.0))
    ]
    assert memory.rows("SELECT value FROM aggregate_scores") == [(0.75,)]


def test_a_missing_score_is_another_than_any_number() -> None:
    memory = Memory()
    memory.write(File("a", scores([("A", 1, None), ("A", 2, 0.5)])))
    _, faults = memory.write(File("b", scores([("A", 1, 0.0)])))
    assert len(faults) == 1


def test_scores_without_the_annotations_that_the_warehouse_has_behind_them_are_refused() -> None:
    memory = Memory()
    judged = {"scorer": "mqm", "system": "A", "segment": 1, "value": -1.0, "n": 1, "status": "valid"}
    memory.write(
        File(
            "annotations", judgements=[{**judged, "judgement": 1}], from_judgements=True, claim={"is_annotation": True}
        )
    )
    averages = File("averages", scores([("A", 2, -1.0)], "N"), claim={"companion": "annotations"})
    _, faults = memory.write(averages)
    assert _told(faults) == [("averages", "comes without its annotations, annotations")]


@pytest.mark.slow
def test_a_map_of_other_segments_than_scores_or_judgements_are_of_is_refused() -> None:
    judged = {"judgement": 1, "scorer": "esa", "system": "A", "segment": 3, "value": 1.0, "n": 1, "status": "bad"}
    for brought in (
        {"scores": scores([("A", 1, 0.5), ("A", 3, 0.5)])},
        {"judgements": [judged], "from_judgements": True},
    ):
        memory = Memory()
        memory.write(File("a", **brought))
        before = memory.rows("FROM segment ORDER BY ALL")
        short = [{"segment": n, "document": "d", "index": n} for n in (1, 2)]
        _, faults = memory.write(File("map", segments=short, claim={"declares": "segments"}))
        assert _told(faults) == [("map", "segments that differ from those of a")]
        assert memory.rows("FROM segment ORDER BY ALL") == before != []


def test_a_map_that_makes_two_segments_of_one_file_one_is_refused() -> None:
    memory = Memory()
    rows = [*scores([("A", 1, 0.5)]), {**scores([("A", None, 0.25)])[0], "document": "d", "index": 1}]
    memory.write(File("a", rows))
    one = [{"segment": 1, "document": "d", "index": 1}]
    _, faults = memory.write(File("map", segments=one, claim={"declares": "segments"}))
    assert _told(faults) == [("map", "segments that differ from those of a")]


def test_a_map_that_lacks_what_another_map_declares_is_refused() -> None:
    first = [{"segment": n, "document": "d", "index": n} for n in (1, 2)]
    declares = {"declares": "segments"}
    for other in (first[:1], [{"segment": 3, "document": "e", "index": 1}], [{"segment": 1}, {"segment": 2}]):
        memory = Memory()
        memory.write(File("map", segments=first, claim=declares))
        before = memory.rows("FROM segment ORDER BY ALL")
        _, faults = memory.write(File("other", segments=other, claim=declares))
        assert _told(faults) == [("other", "segments that differ from those of map")]
        assert memory.rows("FROM segment ORDER BY ALL") == before
