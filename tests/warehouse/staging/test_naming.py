"""Names of systems on the stage: which spellings are one system, and which a file may not use."""

import pytest

from tests.warehouse.memory import File, Memory, found, scores


def test_spellings_of_two_files_are_one_system_under_the_better_name() -> None:
    stage, _ = Memory().staged(
        File("a", scores([("Online-A.5", 1, 0.5)])), File("b", scores([("Online-A", 1, 0.25)], "N"))
    )
    assert stage.systems == {"Online-A"}
    assert stage.batch.rows("SELECT spelling, system FROM temp.staged_spelling") == [("Online-A.5", "Online-A")]


def test_two_names_in_one_file_are_two_systems() -> None:
    stage, _ = Memory().staged(File("a", scores([("Online-A.5", 1, 0.5), ("Online-A", 1, 0.25)])))
    assert stage.systems == {"Online-A.5", "Online-A"}


def test_a_declared_spelling_is_joined_to_its_system() -> None:
    stage, _ = Memory().staged(
        File("a", scores([("HUMAN", 1, 0.5)])), File("b", scores([("refA", 1, 1.0)], "N")), aliases={"HUMAN": "refA"}
    )
    assert stage.batch.rows("SELECT * EXCLUDE (evalset_no) FROM temp.staged_spelling") == [
        ("HUMAN", "refA", "declared alias")
    ]
    assert stage.batch.rows("SELECT DISTINCT name, kind FROM temp.staged_system") == [("refA", "human")]


@pytest.mark.slow
def test_a_better_name_renames_a_system_of_the_warehouse() -> None:
    memory = Memory()
    memory.write(File("a", scores([("Online-A.5", 1, 0.5)])))
    stage, faults = memory.write(File("b", scores([("Online-A", 1, 0.25)], "N")))
    assert (faults, stage.renamed) == ([], {"Online-A.5": "Online-A"})
    assert memory.rows("SELECT name FROM system") == [("Online-A",)]
    assert memory.rows("SELECT spelling FROM system_spelling") == [("Online-A.5",)]
    assert "t24 en-de: system Online-A.5 is now Online-A" in stage.notes


def test_a_new_name_is_not_told_where_nothing_was_written() -> None:
    memory = Memory()
    memory.write(File("a", scores([("Online-A.5", 1, 0.5)])))
    stage, faults = memory.write(File("b", scores([("Online-A", 1, 0.25)])))
    assert (len(faults), stage.notes) == (1, [])


@pytest.mark.slow
def test_names_that_tell_apart_what_the_warehouse_joined_are_a_fault() -> None:
    """Both names, or one with another number."""
    memory = Memory()
    memory.write(File("a", scores([("Online-A.5", 1, 0.5)])), File("b", scores([("Online-A", 1, 0.5)], "N")))
    for names, told in ((("Online-A", "Online-A.7"), "Online-A, Online-A.7"), (("Online-A.7",), "Online-A.7")):
        stage, _ = memory.staged(File("c", scores([(name, 1, 0.5) for name in names], "O")))
        what = f"{told} beside the spellings of 'Online-A', which is one system in the warehouse"
        assert found(stage) == [("c", 0, what)]


def test_a_strict_file_names_the_systems_that_there_are() -> None:
    memory = Memory()
    memory.write(File("a", scores([("Ash-MT", 1, 0.5), ("Beech", 1, 0.5)])))
    own = scores([("Ash-MT", 1, 0.5), ("Ash-NT", 1, 0.5), ("Ash-NT", 1, 0.5)], "Mine")
    stage, _ = memory.staged(File("own", own, claim={"is_own": True}))
    assert found(stage) == [("own", 2, "unknown system 'Ash-NT' in 2 lines")]
    ((fault,),) = stage.faults.values()
    assert fault.expected == "a system of t24 en-de, such as Ash-MT"


def test_what_has_judgements_of_tutorials_alone_is_no_system_of_the_task() -> None:
    judged = {"scorer": "esa", "rater": "r", "n": 1, "segment": 1, "value": 1.0}
    stage, _ = Memory().staged(
        File(
            "a",
            judgements=[
                {**judged, "judgement": 1, "system": "lesson", "segment": 1000, "status": "tutorial"},
                {**judged, "judgement": 2, "system": "A", "status": "valid"},
            ],
            from_judgements=True,
        )
    )
    assert stage.batch.rows("SELECT name, kind FROM temp.staged_system ORDER BY ALL") == [("A", "mt"), ("lesson", "qc")]
