"""Files that belong together, in one load or in several; and a log that belongs to a file."""

from pathlib import Path

import numpy as np
import pytest

from tests.helpers import TESTSET, tiny_facts
from tests.warehouse.building import ask, small
from warehouse import SchemaError, load
from warehouse.errors import Fault
from warehouse.export.mtme import ScoreTable, write_facts


def test_facts_are_found_in_whichever_folder_of_the_test_set_has_them(tmp_path: Path) -> None:
    scores = ScoreTable(["Ash"], seg=np.ones((1, 5)))
    first = small(tmp_path / "a", metrics={"M-src": scores})
    (first / "testset.toml").unlink()
    report = load([first, small(tmp_path / "b", humans={"mqm": scores})], tmp_path / "w.duckdb")
    assert report.is_clean, report.faults
    assert ask(tmp_path / "w.duckdb", "SELECT year, standard_human_seg, n_humans FROM evalsets") == [(2024, "mqm", 1)]


def test_folders_of_a_test_set_that_declare_different_facts_are_refused(tmp_path: Path) -> None:
    first, second = small(tmp_path / "a"), small(tmp_path / "b")
    write_facts(second, tiny_facts(lp="he-en"))
    report = load([first, second], tmp_path / "w.duckdb")
    what = f"describes {TESTSET} differently from {first / 'testset.toml'}"
    assert report.faults == [Fault(str(second / "testset.toml"), 0, what, "one content", "load only one of them")]


def test_a_path_that_duckdb_takes_for_another_is_no_place_for_a_warehouse(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="duckdb: cannot be opened"):
        load([small(tmp_path / "in")], tmp_path / "what?" / "w.duckdb")
