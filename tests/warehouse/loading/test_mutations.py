"""What people and tools do to files, done to a small file of each format: nothing that changes scores is silent.

A changed file is loaded as if it were unchanged, or refused in lines that name it, or what is other is noted.
"""

from pathlib import Path

import pytest

from tests.warehouse.loading.mutating import MUTATIONS, cases
from tests.warehouse.small_files import SMALL, outcome, unchanged, written

FILES = {(name, change): files for name, small in SMALL.items() for change, files in cases(small)}
ANOTHER_NAME = {  # a system's own file, the only rows or columns of a name, annotators of the layout: nothing tells
    ("WMT25 automatic", "copy _v2, another score"),
    *(
        ("layout's ratings", f"rater with {how}")
        for how in ("another case", ".txt", "a letter less", "a letter more", "another letter")
    ),
    *((name, f"system with {how}") for name in ("list of systems", "table of systems") for how in ("another case",)),
    *(
        (name, f"system with a{how}")
        for name in ("list of systems", "table of systems")
        for how in (" letter less", " letter more", "nother letter")
    ),
    *(
        (name, f"header in {how}")
        for name in ("wide table", "table of systems")
        for how in ("capitals", "small letters")
    ),
}


def test_there_are_many_changes_and_every_format() -> None:
    assert len(MUTATIONS) > 60
    assert {name for name, _ in FILES} == set(SMALL)


@pytest.mark.every(83)
@pytest.mark.parametrize("case", FILES, ids=" - ".join)
def test_no_change_of_a_file_changes_scores_in_silence(case: tuple[str, str], tmp_path: Path) -> None:
    name, _ = case
    small, (whole, told) = SMALL[name], unchanged(name)
    written(tmp_path / "in", small, FILES[case])
    rows, faults, notes = outcome(tmp_path / "in", small.given)
    if faults:
        assert all("\n" not in fault for fault in faults)
        assert not {row for row in rows if len(row) > 3} - whole  # of other files alone
    elif rows != whole:
        new = {note.replace(str(tmp_path / "in"), "") for note in notes} - told
        assert any(path.split("/")[-1] in note for note in new for path in FILES[case]) or case in ANOTHER_NAME, new


def test_what_is_taken_for_another_name_is_no_longer_than_needed() -> None:
    assert set(FILES) >= ANOTHER_NAME
