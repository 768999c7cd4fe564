"""Where scores came from: files are recorded, and a file replaces what one of the same origin brought before."""

import pytest

from tests.warehouse.memory import File, Memory, scores
from warehouse.errors import Fault
from warehouse.writing.transaction import write_batch

JUDGED = {"scorer": "esa", "rater": "r", "n": 1, "status": "valid"}


def _annotated(origin: str, system: str, value: float) -> File:
    return File(
        origin,
        judgements=[{**JUDGED, "judgement": 1, "system": system, "segment": 1, "value": value}],
        ratings=[{"judgement": 1, "category": "style", "severity": "minor", "weight": -value}],
        from_judgements=True,
    )


@pytest.mark.slow
def test_a_file_replaces_all_that_its_origin_brought_and_nothing_else() -> None:
    memory = Memory()
    memory.write(_annotated("one", "A", -1.0), File("two", scores([("B", 1, 0.5)])))
    memory.write(_annotated("one", "C", -2.0))
    assert memory.rows("SELECT system, value FROM judgements") == [("C", -2.0)]
    assert memory.rows("SELECT weight FROM span") == [(2.0,)]
    assert memory.rows("SELECT value FROM score ORDER BY 1") == [(-2.0,), (0.5,)]
    assert memory.rows("SELECT origin FROM source ORDER BY 1") == [("one",), ("two",)]
    assert memory.rows("SELECT name FROM system ORDER BY 1") == [("B",), ("C",)]


def test_what_is_recorded_of_a_file() -> None:
    memory = Memory()
    memory.write(File("one", scores([("A", 1, 0.5), ("A", 2, None)])))
    assert memory.rows("SELECT origin, path, sha256, reader, n_rows, n_missing, status, fault FROM source") == [
        ("one", "one", "0", "wmt-da/1", 2, 1, "loaded", None)
    ]


def test_a_file_with_faults_is_recorded_as_refused_and_brings_nothing() -> None:
    memory = Memory()
    stage, contents = memory.staged(File("good", scores([("A", 1, 0.5)])), File("bad", scores([("B", 1, 0.5)], "N")))
    stage.fault(1, Fault("bad", 3, "this", "that"))
    stage.batch.drop_files([1])
    assert write_batch(stage.batch, {0: None}, contents) == {}
    assert memory.rows("SELECT origin, status, n_rows, fault FROM source ORDER BY 1 DESC") == [
        ("good", "loaded", 1, None),
        ("bad", "refused", 0, "bad:3: this, expected that"),
    ]
    assert memory.rows("SELECT DISTINCT metric FROM scores") == [("M-src",)]
