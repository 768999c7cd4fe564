"""Files that belong together, in one load or in several; and a log that belongs to a file."""

import shutil
from pathlib import Path

import pytest

from tests.helpers import TESTSET, tiny_facts, tiny_layout
from warehouse import SchemaError, Warehouse, load
from warehouse.errors import Fault
from warehouse.export.mtme import write_facts


def test_facts_are_found_in_whichever_folder_of_the_test_set_has_them(tmp_path: Path) -> None:
    first, second = tiny_layout(tmp_path / "a", facts=False), tiny_layout(tmp_path / "b")
    shutil.rmtree(first / "human-scores")
    shutil.rmtree(second / "metric-scores")
    report = load([first, second], tmp_path / "w.duckdb")
    assert report.is_clean, report.faults
    with Warehouse.open(tmp_path / "w.duckdb") as warehouse:
        assert warehouse.rows("SELECT year, standard_human_seg, n_humans FROM evalsets") == [(2024, "mqm", 1)]


def test_folders_of_a_test_set_that_declare_different_facts_are_refused(tmp_path: Path) -> None:
    first, second = tiny_layout(tmp_path / "a"), tiny_layout(tmp_path / "b")
    write_facts(second, tiny_facts(lp="he-en"))
    report = load([first, second], tmp_path / "w.duckdb")
    what = f"declares other facts of {TESTSET} than {first / 'testset.toml'}"
    assert report.faults == [Fault(str(second / "testset.toml"), 0, what, "one content", "load one or the other")]


def test_a_path_that_duckdb_takes_for_another_is_no_place_for_a_warehouse(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="duckdb: cannot be opened"):
        load([tiny_layout(tmp_path / "in")], tmp_path / "what?" / "w.duckdb")


def test_the_largest_evaluation_set_comes_first_and_the_report_is_in_order(tmp_path: Path) -> None:
    tiny_layout(tmp_path / "in", testset="a24", texts=False)
    tiny_layout(tmp_path / "in", testset="b24")
    told: list[str] = []
    report = load([tmp_path / "in"], tmp_path / "w.duckdb", progress=lambda what, done, total: told.append(what[:3]))
    assert list(dict.fromkeys(told)) == ["b24", "a24"]
    assert [evalset.testset for evalset in report.evalsets] == ["a24", "b24"]
