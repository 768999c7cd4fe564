"""Files of one evaluation set that come one after the other, in whatever order, make what they make together."""

import itertools

import pytest

from tests.warehouse.memory import File, Memory, Row

_HELD = {
    "scores": "SELECT metric, system, segment, domain, document, value FROM scores",
    "human scores": "SELECT human, system, segment, domain, document, value FROM human_scores",
    "segments": "SELECT segment, position, domain, document, index_in_document FROM segments",
    "systems": "SELECT system, canonical_name, kind FROM systems",
    "spellings": "SELECT system, spelling, rule FROM spellings",
    "judgements": "SELECT human, system, segment, rater, value, status FROM judgements",
}


def _held(memory: Memory) -> dict[str, list[tuple[object, ...]]]:
    """All that the warehouse holds, in names."""
    return {name: sorted(memory.rows(query), key=repr) for name, query in _HELD.items()}


def _in_any_order(in_full: bool, *files: File) -> dict[str, list[tuple[object, ...]]]:
    """What the files make together; asserts that they make it one after the other, too.

    in_full: in every order, else in two of them, in which each file comes before and behind each other one.
    """
    together = Memory()
    _, faults = together.write(*files)
    assert faults == []
    expected = _held(together)
    for order in itertools.permutations(files) if in_full else (files, files[::-1]):
        memory = Memory()
        for file in order:
            _, faults = memory.write(file)
            assert faults == [], ([one.origin for one in order], faults)
        for name, rows in _held(memory).items():
            assert rows == expected[name], ([one.origin for one in order], name)
    return expected


def _at(metric: str, *places: tuple[int | None, str | None, int | None, float], system: str = "A") -> list[Row]:
    """Scores at line, document and index."""
    return [
        {
            "kind": "metric",
            "scorer": metric,
            "level": "seg",
            "system": system,
            "segment": segment,
            "document": document,
            "index": index,
            "value": value,
        }
        for segment, document, index, value in places
    ]


@pytest.mark.long("all orders: 1 second")
def test_lines_places_and_both(in_full: bool) -> None:
    found = _in_any_order(
        in_full,
        File("lines", _at("L", (1, None, None, 1.0), (2, None, None, 2.0), system="A.7")),
        File("places", _at("P", (None, "d", 2, 3.0), (None, "d", 1, 4.0), (None, "e", 1, 5.0))),
        File("both", _at("B", (7, "d", 1, 6.0), (2, "d", 2, 7.0))),
    )
    assert sorted((value, document, segment) for *_, segment, _, document, value in found["scores"]) == [  # type: ignore[type-var]
        (1.0, None, 1),
        (2.0, "d", 2),
        (3.0, "d", 2),
        (4.0, "d", 7),
        (5.0, "e", 8),
        (6.0, "d", 7),
        (7.0, "d", 2),
    ]
    assert [row[:2] for row in found["segments"]] == [(1, 1), (2, 2), (7, 7), (8, None)]
    assert found["spellings"] == [("A", "A.7", "number at the end dropped")]


@pytest.mark.long("all orders: 1 second")
def test_lines_never_meet_the_provisional_numbers_of_others(in_full: bool) -> None:
    """A document's only segment was numbered 1 before; line 1 is another segment."""
    found = _in_any_order(
        in_full, File("places", _at("P", (None, "d", 1, 4.0))), File("lines", _at("L", (1, None, None, 1.0)))
    )
    assert [(metric, segment) for metric, _, segment, *_ in found["scores"]] == [("L-src", 1), ("P-src", 2)]


@pytest.mark.slow
def test_judgements_scores_and_the_map_of_segments(in_full: bool) -> None:
    judged = {"scorer": "wmt-raw", "rater": "r", "n": 1, "status": "valid", "system": "A.1"}
    found = _in_any_order(
        in_full,
        File("metric", _at("M", (None, "n2", 1, 0.5), (None, "n1", 2, 0.25))),
        File(
            "judgements",
            judgements=[
                {**judged, "judgement": number, "document": document, "index": 1, "value": 10.0 * number}
                for number, document in enumerate(("n2", "n1"), start=1)
            ],
            from_judgements=True,
        ),
        File(
            "map",
            segments=[
                {"segment": segment, "document": document, "index": index}
                for segment, document, index in ((1, "n1", 1), (2, "n1", 2), (3, "n2", 1))
            ],
            claim={"declares": "segments"},
        ),
    )
    assert [(human, segment, value) for human, _, segment, *_, value in found["human scores"] if value] == [
        ("wmt-raw", 1, 20.0),
        ("wmt-raw", 3, 10.0),
    ]
    assert [row[2] for row in found["judgements"]] == [1, 3]
    assert [(metric, segment) for metric, _, segment, *_, value in found["scores"] if value is not None] == [
        *(("M-src", 2), ("M-src", 3))
    ]


def test_a_segment_that_files_place_differently_has_the_first_name_in_alphabetical_order(in_full: bool) -> None:
    places = [("e", "talk"), ("d", "web"), ("d", "news")]
    files = [
        File(name, [{**row, "domain": domain} for row in _at(name.upper(), (1, document, 2, 0.5))])
        for name, (document, domain) in zip("abc", places, strict=True)
    ]
    found = _in_any_order(in_full, *files)
    assert found["segments"] == [(1, 1, "news", "d", 2)]
