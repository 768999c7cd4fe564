"""Names that join the systems of several years."""

from tests.warehouse.memory import File, Memory, scores

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
