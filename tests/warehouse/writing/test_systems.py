"""Names that join the systems of several years."""

from dataclasses import replace

import pytest

from tests.warehouse.memory import File, Memory, Row, scores

CANONICAL = {
    "online-B.0": "online-b",
    "LIUM-NMT.4733": "lium-nmt",
    "UU-t2.1604": "uu-t2",
    "GPT-4.1": "gpt-4.1",
    "Claude-3.5": "claude-3.5",
    "Tower-v2.5": "tower-v2.5",  # versions
    "NMT.12": "nmt.12",
    "NMT.1234": "nmt.1234",
    "Nmt": "nmt",
    "A.2B": "a.2b",
    ".5": ".5",
    "Human-A.0": "human-a.0",
}


def test_a_name_that_joins_years_lacks_the_number_of_a_submission_and_keeps_that_of_a_version() -> None:
    memory = Memory()
    memory.write(File("a", scores([(name, 1, float(n)) for n, name in enumerate(CANONICAL)])))
    assert dict(memory.rows("SELECT name, canonical_name FROM system")) == CANONICAL


def _judged(system: str, status: str = "tutorial") -> Row:
    of_esa = {"judgement": 1, "scorer": "esa", "system": system, "segment": 1, "value": 70.0, "n": 1}
    return {**of_esa, "status": status}


TAUGHT = File("lessons", judgements=[_judged("refA")], from_judgements=True)
SCORED = File("scores", scores=scores([("refA", 1, 0.5), ("B.10", 1, 0.5)]))
CHANGES = {
    "another submission of a system in its place": [SCORED, replace(SCORED, scores=scores([("B.11", 1, 0.5)]))],
    "tutorials, then scores": [TAUGHT, SCORED],
    "scores, then tutorials": [SCORED, TAUGHT],
    "scores and tutorials, then no scores": [SCORED, TAUGHT, replace(SCORED, scores=scores([("B.10", 1, 0.5)]))],
    "tutorials, then judgements": [TAUGHT, replace(TAUGHT, judgements=[_judged("refA", "valid")])],
    "judgements, then tutorials": [replace(TAUGHT, judgements=[_judged("refA", "valid")]), TAUGHT],
}


@pytest.mark.parametrize("change", CHANGES)
def test_systems_are_what_the_files_that_are_left_make_of_them_in_one_load(change: str) -> None:
    loads = CHANGES[change]
    memory, together = Memory(), Memory()
    for file in loads:
        memory.write(file)
    together.write(*{file.origin: file for file in loads}.values())
    systems = "SELECT name, canonical_name, kind FROM system ORDER BY ALL"
    assert memory.rows(systems) == together.rows(systems)
