"""Names that join the systems of several years."""

import pytest

from tests.warehouse.memory import File, Memory, scores


@pytest.mark.parametrize(
    ("names", "canonical"),
    [
        (["online-B.0", "LIUM-NMT.4733", "UU-t2.1604"], ["online-b", "lium-nmt", "uu-t2"]),
        (["GPT-4.1", "Claude-3.5", "Tower-v2.5"], ["gpt-4.1", "claude-3.5", "tower-v2.5"]),  # versions
        (["NMT.12", "NMT.1234", "Nmt"], ["nmt.12", "nmt.1234", "nmt"]),
        (["A.2B", ".5", "Human-A.0"], ["a.2b", ".5", "human-a.0"]),
    ],
)
def test_a_name_that_joins_years_lacks_the_number_of_a_submission_and_keeps_that_of_a_version(
    names: list[str], canonical: list[str]
) -> None:
    memory = Memory()
    memory.write(File("a", scores([(name, 1, float(n)) for n, name in enumerate(names)])))
    found = dict(memory.rows("SELECT name, canonical_name FROM system"))
    assert [found[name] for name in names] == canonical
