"""Records on the stage: what several rows, and several files, make together."""

import pytest

from tests.warehouse.memory import File, Memory, found, scores
from warehouse.database.stage import Stage
from warehouse.wording import option

JUDGED = {"scorer": "esa", "rater": "r", "n": 1, "status": "valid"}


def _scores(stage: Stage) -> list[tuple[object, ...]]:
    return stage.batch.rows(
        """
        SELECT v.scorer, v.system, s.segment, s.value
        FROM temp.staged_score AS s
        JOIN temp.staged_vector AS v ON v.vector_no = s.vector_no
        ORDER BY ALL
        """
    )


def test_rows_that_stand_twice_are_taken_once_with_a_note() -> None:
    stage, _ = Memory().staged(File("a", scores([("A", 1, 0.5), ("A", 2, 0.25), ("A", 1, 0.5)])))
    assert found(stage) == []
    assert _scores(stage) == [("M-src", "A", 1, 0.5), ("M-src", "A", 2, 0.25)]
    assert stage.notes == ["a: 1 repeated row, loaded once"]


def test_two_scores_of_one_segment_are_a_fault_of_the_later_line() -> None:
    stage, _ = Memory().staged(File("a", scores([("A", 1, 0.5), ("A", 1, 0.75)])))
    assert found(stage) == [("a", 2, "another score of M-src, system 'A', segment 1")]


def test_a_table_of_segment_scores_without_a_column_of_segments_is_told_what_it_lacks() -> None:
    stage, _ = Memory().staged(File("a", scores([("A", None, 0.5), ("A", None, 0.75)], level="sys")))
    (fault,) = [fault for faults in stage.faults.values() for fault in faults]
    assert (fault.line, fault.found) == (2, "another score of M-src, system 'A'")
    assert fault.expected.endswith("scores of segments need a column that names them, such as 'segment'")


def test_one_score_in_two_files_is_left_to_the_checks() -> None:
    stage, _ = Memory().staged(File("a", scores([("A", 1, 0.5)])), File("b", scores([("A", 1, 0.75)])))
    assert found(stage) == []
    assert [value for *_, value in _scores(stage)] == [0.5, 0.75]


def test_scores_that_count_errors_are_negated_and_marked_so() -> None:
    stage, _ = Memory().staged(
        File("a", scores([("A", 1, 2.0), ("A", 2, 0.0), ("A", 3, None)]), claim={"is_negated": True})
    )
    assert _scores(stage) == [("M-src", "A", 1, -2.0), ("M-src", "A", 2, 0.0), ("M-src", "A", 3, None)]
    assert stage.batch.rows("SELECT is_negated, n_values, n_missing FROM temp.staged_vector") == [(True, 2, 1)]


def test_marked_errors_stand_behind_the_judgements_of_their_own_file() -> None:
    files = [
        File(
            origin,
            judgements=[{**JUDGED, "judgement": 1, "system": system, "segment": 1, "value": -1.0}],
            ratings=[{"judgement": 1, "category": category, "severity": "minor", "weight": 1.0}],
            from_judgements=True,
        )
        for origin, system, category in (("one", "A", "style"), ("two", "B", "fluency"))
    ]
    stage, _ = Memory().staged(*files)
    assert stage.batch.rows(
        """
        SELECT v.system, r.category
        FROM temp.staged_span AS r
        JOIN temp.staged_judgement AS j ON j.judgement_no = r.judgement_no
        JOIN temp.staged_vector AS v ON v.vector_no = j.vector_no
        ORDER BY ALL
        """
    ) == [("A", "style"), ("B", "fluency")]


def test_a_metric_of_ones_own_lacks_no_scores_of_its_reference() -> None:
    memory = Memory()
    memory.write(File("task", scores([(system, n, 0.5) for system in ("A", "B", "refA") for n in (1, 2)])))
    for scored, notes in (("AB", []), ("A", ["Mine-refA: scores of 1 of 2 systems"])):
        own = scores([(system, n, float(n)) for system in scored for n in (1, 2)], "Mine", reference="refA")
        stage, _ = memory.staged(File("own", own, claim={"is_own": True}))
        assert stage.notes == notes


@pytest.mark.slow
def test_scores_of_a_metric_of_ones_own_count_together_whatever_files_they_are_in() -> None:
    memory = Memory()
    memory.write(File("task", scores([(system, n, 0.5) for system in "ABC" for n in (1, 2)])))
    parts = {"a": [("A", 1), ("A", 2)], "b": [("B", 1)], "c": [("B", 2)], "d": [("C", 1)]}
    files = [
        File(name, scores([(*place, 0.5) for place in places], "Mine"), claim={"is_own": True})
        for name, places in parts.items()
    ]
    for n, said in (
        (1, "scores of 1 of 3 systems"),
        (3, "scores of 2 of 3 systems"),
        (4, "1 of 6 segment scores"),
    ):
        stage, _ = memory.staged(*files[:n])
        (note,) = stage.notes
        assert note.startswith(f"Mine-src: {said}")


def test_errors_of_ones_own_that_are_stored_as_they_are_are_noted() -> None:
    memory = Memory()
    memory.write(File("task", scores([("A", 1, 0.5)])))
    files = [
        File(metric, scores([("A", 1, 2.0)], metric), claim={"is_own": True, "is_negated": is_negated})
        for metric, is_negated in (("TER-mine", False), ("TER-ours", True), ("MetricX-24-mine", False))
    ]
    note = "error counts, none below 0: `scorehouse {}` stores them negated"
    note = note.format(option("add.is_error_measure", True))
    assert memory.staged(*files)[0].notes == [f"{metric}: {note}" for metric in ("TER-mine", "MetricX-24-mine")]
