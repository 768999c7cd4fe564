"""Files called as copies: beside their originals and alone."""

from pathlib import Path

import pytest

from tests.helpers import together
from tests.warehouse.small_files import SMALL, outcomes, unchanged

NAMED = ("list of systems", "MQM averages", "challenge table", "WMT25 automatic", "submission of 2025, by document")
MARKS = ("{} (1){}", "Copy of {}{}", "{} copy{}", "{} - Copy{}", "{}{}.bak", "{}{}~", "{}{}.orig")


def copied(path: str, mark: str) -> str:
    folder, _, name = path.rpartition("/")
    stem, dot, ending = name.partition(".")
    return f"{folder}/{mark.format(stem, dot + ending)}".removeprefix("/")


@pytest.mark.slow
@together("mark", MARKS)
def test_a_copy_without_its_original_names_nothing_after_itself(mark: str, tmp_path: Path) -> None:
    files = {
        name: {copied(SMALL[name].path, mark): SMALL[name].text.encode()}
        | {path: text.encode() for path, text in SMALL[name].beside.items()}
        for name in NAMED
    }
    for name, found in outcomes(tmp_path, files).items():
        own = unchanged()[name].rows if SMALL[name].beside else frozenset()  # of the files beside it
        assert found.rows <= own, name
        assert found.faults or found.notes, name
