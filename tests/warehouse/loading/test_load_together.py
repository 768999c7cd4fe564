"""Files that belong together, in one load or in several; and a log that belongs to a file."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import LP, SYSTEMS, TESTSET, tiny_facts, tiny_layout
from warehouse import SchemaError, Warehouse, load
from warehouse.errors import Fault
from warehouse.export.mtme import RatingTable, write_facts

ERROR = {"score": 1, "category": "style", "severity": "minor", "start": 0, "end": 3}
RATINGS = {"mqm": RatingTable({system: [[ERROR], [], None, [ERROR, ERROR], []] for system in SYSTEMS})}


@pytest.mark.slow
def test_scores_without_the_annotations_that_stand_behind_them_are_refused(tmp_path: Path) -> None:
    whole, part, database = tiny_layout(tmp_path / "whole", ratings=RATINGS), tmp_path / "part", tmp_path / "w.duckdb"
    load([whole], database)
    shutil.copytree(whole, part / TESTSET)
    annotations = part / TESTSET / "human-scores" / f"{LP}.mqm.seg.rating"
    scores = part / TESTSET / "human-scores" / f"{LP}.mqm.seg.score"
    annotations.unlink()
    scores.write_text(scores.read_text().replace("-10.0", "-11.0"))
    report = load([part], database)
    assert report.faults == [
        Fault(
            str(scores),
            0,
            f"comes without the annotations behind it, {whole / 'human-scores' / annotations.name}",
            "both",
            "load the two together, or all into a new file",
        )
    ]
    assert [evalset.status for evalset in report.evalsets] == ["refused"]
    with Warehouse.open(database) as warehouse:
        assert warehouse.rows("SELECT count(*) FROM judgements") == [(16,)]
        assert warehouse.rows("SELECT min(value) FROM human_scores WHERE segment = 1") == [(-10.0,)]


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


_DIES = """
import os, sys
from pathlib import Path
import duckdb
from warehouse.database.updating import writing
connection = duckdb.connect()
with writing(Path(sys.argv[1]), connection):
    os._exit(9)
"""


@pytest.mark.long("processes: 1 second")
def test_a_process_that_died_after_its_migrations_leaves_a_file_that_opens(tmp_path: Path) -> None:
    database = tmp_path / "w.duckdb"
    ended = subprocess.run([sys.executable, "-c", _DIES, str(database)], check=False)
    assert ended.returncode == 9
    assert database.with_name("w.duckdb.wal").exists()
    with Warehouse.open(database) as warehouse:
        assert warehouse.rows("SELECT count(*) FROM evalsets") == [(0,)]
    assert not database.with_name("w.duckdb.wal").exists()
    assert load([tiny_layout(tmp_path / "in")], database).is_clean


def test_a_path_that_duckdb_takes_for_another_is_no_place_for_a_warehouse(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="choose another location"):
        load([tiny_layout(tmp_path / "in")], tmp_path / "what?" / "w.duckdb")
    assert not (tmp_path / "what?").exists()


def test_the_largest_evaluation_set_comes_first_and_the_report_is_in_order(tmp_path: Path) -> None:
    tiny_layout(tmp_path / "in", testset="a24", texts=False)
    tiny_layout(tmp_path / "in", testset="b24")
    told: list[str] = []
    report = load([tmp_path / "in"], tmp_path / "w.duckdb", progress=lambda what, done, total: told.append(what[:3]))
    assert list(dict.fromkeys(told)) == ["b24", "a24"]
    assert [evalset.testset for evalset in report.evalsets] == ["a24", "b24"]
