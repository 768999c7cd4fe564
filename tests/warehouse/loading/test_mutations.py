"""What people and tools do to files, done to a small file of each format: nothing that changes scores is silent.

A changed file is loaded as if it were unchanged, or refused in lines that name it, or what is other is noted.
"""

from pathlib import Path

import pytest

from tests.warehouse.loading.mutating import MUTATIONS, cases
from tests.warehouse.small_files import SMALL, outcomes, unchanged

CASES = {name: list(cases(small)) for name, small in SMALL.items()}
OF_ORDER = ("layout's documents", "layout's metric", "layout's human score")  # lines count segments
ANOTHER_NAME = {  # a system's own file, the only rows or columns of a name, annotators, an order: nothing tells
    ("WMT25 automatic", "copy _v2, another score"),
    *(("challenge table", f"{how}") for how in ("only the copy _v2", "copy _v2, the same", "copy _v2, another score")),
    *((name, "rows turned round") for name in (*OF_ORDER, "challenge table", "ACES")),
    *((name, "columns 1 and 2 swapped") for name in ("ESA", "DA+SQM", "DA+SQM of segments")),  # see test_slips
    *(
        (name, f"rater with {how}")
        for name in ("Pearmut", "Pearmut's log")
        for how in ("a letter less", "a letter more", "another letter")
    ),
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
    *((name, "header in small letters") for name in ("challenge table", "ACES")),
}


def test_there_are_many_changes_and_every_format() -> None:
    assert len(MUTATIONS) > 60
    assert all(CASES.values())


@pytest.mark.slow
@pytest.mark.every(40)
@pytest.mark.parametrize("number", range(max(map(len, CASES.values()))))
def test_no_change_of_a_file_changes_scores_in_silence(number: int, tmp_path: Path) -> None:
    """One change of each format, another for each."""
    changes = {name: of[(number + 7 * at) % len(of)] for at, (name, of) in enumerate(CASES.items())}
    for name, found in outcomes(tmp_path, {name: files for name, (_, files) in changes.items()}).items():
        (change, files), whole = changes[name], unchanged()[name]
        if found.faults:
            assert all("\n" not in fault for fault in found.faults), (name, change)
            assert not {row for row in found.rows if len(row) > 3} - whole.rows, (name, change)  # of other files alone
        elif found.rows != whole.rows:
            new = {*found.notes} - {*whole.notes}
            is_noted = any(
                path.split("/")[-1] in note for note in new for path in files.keys() - SMALL[name].beside.keys()
            )
            assert is_noted or (name, change) in ANOTHER_NAME, (name, change, new)


def test_what_is_taken_for_another_name_is_no_longer_than_needed() -> None:
    assert {(name, change) for name, of in CASES.items() for change, _ in of} >= ANOTHER_NAME
