"""Checks over a whole evaluation set: what no single file can show."""

from pathlib import Path

import duckdb
import numpy as np
import polars as pl

from tests.helpers import DOCUMENTS, together
from tests.warehouse.building import ask, empty_warehouse, loaded, statuses
from warehouse import load
from warehouse.database.stage import Batch, Evalset
from warehouse.export.mtme import RatingTable, ScoreTable, write_evalset
from warehouse.readers.claims import Claim
from warehouse.readers.contents import inspect
from warehouse.staging.checks import check_batch

LONG, SHORT = "ces_Latn---deu_Latn", "ces_Latn-deu_Latn"  # two spellings of one language pair


def _spelled_twice(root: Path, first: float, second: float) -> Path:
    """Two files, one for each spelling, with the system scores of one metric."""
    for lp, value in ((LONG, first), (SHORT, second)):
        file = root / "metric-scores" / lp / "A-src.sys.score"
        file.parent.mkdir(parents=True)
        file.write_text(f"Ash\t{value}\nBeech\t2\n")
    return root


def test_scores_that_two_files_agree_on_are_taken_once_with_a_note(tmp_path: Path) -> None:
    root = _spelled_twice(tmp_path / "t24", 1.0, 1.0)
    report = load([root], empty_warehouse(tmp_path / "a.duckdb"))
    assert (statuses(report), report.faults) == (["loaded"], [])
    assert len(report.notes) == 2
    assert "metric 'A-src', system 'Ash', level sys has the same scores in" in "".join(report.notes)
    assert ask(tmp_path / "a.duckdb", "SELECT system, value FROM aggregate_scores ORDER BY 1") == [
        *(("Ash", 1.0), ("Beech", 2.0))
    ]


def test_scores_that_two_files_differ_on_are_faults_of_both(tmp_path: Path) -> None:
    root = _spelled_twice(tmp_path / "t24", 1.0, 1.5)
    report = load([root], tmp_path / "a.duckdb")
    assert statuses(report) == ["refused"]
    assert {Path(fault.path).parent.name for fault in report.faults} == {LONG, SHORT}
    for fault in report.faults:
        assert fault.found.startswith("metric 'A-src', system 'Ash', level sys has different scores from ")
        assert (fault.expected, fault.way_out) == ("one content", "load one or the other")


def test_scores_that_the_warehouse_has_from_another_file_are_refused(tmp_path: Path) -> None:
    root = _spelled_twice(tmp_path / "t24", 1.0, 1.5)
    database = loaded(root / "metric-scores" / LONG, tmp_path / "a.duckdb")
    before = database.read_bytes()
    report = load([root / "metric-scores" / SHORT], database)
    (fault,) = report.faults
    assert fault.path == str(root / "metric-scores" / SHORT / "A-src.sys.score")
    first = root / "metric-scores" / LONG / "A-src.sys.score"
    assert fault.found == f"metric 'A-src' at level sys is in the warehouse already, from {first}"
    assert fault.way_out == f"`remove {first}` takes that one out"
    assert statuses(report) == ["refused"]
    assert ask(database, "SELECT min(value) FROM aggregate_scores") == [(1.0,)]
    assert database.read_bytes() == before or len(ask(database, "FROM sources")) == 1


def test_annotations_that_the_warehouse_has_from_another_file_are_refused_even_with_equal_scores(
    tmp_path: Path,
) -> None:
    marked = RatingTable({"Ash": [[{"score": 1.0}]] * 5})
    write_evalset(tmp_path / "t24", LONG, documents=DOCUMENTS, ratings={"mqm": marked})
    write_evalset(tmp_path / "t24", SHORT, documents=DOCUMENTS, ratings={"mqm": marked})
    (tmp_path / "t24" / "documents" / f"{SHORT}.docs").unlink()
    long, short = (tmp_path / "t24" / "human-scores" / f"{lp}.mqm.seg.rating" for lp in (LONG, SHORT))
    report = load([long], empty_warehouse(tmp_path / "a.duckdb"))
    assert (statuses(report), report.faults) == (["loaded"], [])
    report = load([short], tmp_path / "a.duckdb")
    (fault,) = report.faults
    assert fault.found == f"human 'mqm' at level seg is in the warehouse already, from {long}"
    assert ask(tmp_path / "a.duckdb", "SELECT count(*) FROM span") == [(5,)]


def test_annotations_that_two_files_agree_on_are_taken_once(tmp_path: Path) -> None:
    marked = RatingTable({"Ash": [[{"score": 1.0}]] * 5})
    for lp in (LONG, SHORT):
        write_evalset(tmp_path / "t24", lp, documents=DOCUMENTS, ratings={"mqm": marked})
    (tmp_path / "t24" / "documents" / f"{SHORT}.docs").unlink()
    report = load([tmp_path / "t24"], empty_warehouse(tmp_path / "a.duckdb"))
    assert (statuses(report), report.faults, len(report.notes)) == (["loaded"], [], 1)
    assert ask(tmp_path / "a.duckdb", "SELECT count(*) FROM span") == [(5,)]
    assert ask(tmp_path / "a.duckdb", "SELECT count(*) FROM spans") == [(5,)]


def test_one_language_pair_has_one_documents_file(tmp_path: Path) -> None:
    for lp in (LONG, SHORT):
        write_evalset(
            tmp_path / "t24", lp, documents=DOCUMENTS, metrics={"M-src": ScoreTable(["A"], seg=np.ones((1, 5)))}
        )
    report = load([tmp_path / "t24"], tmp_path / "a.duckdb")
    assert statuses(report) == ["refused"]
    assert any(fault.found.startswith("documents beside ") for fault in report.faults)


@together("value", [float("inf"), float("-inf"), float("nan"), -2e100])
@together("table", ["score", "aggregate"])
def test_numbers_that_are_none_are_found_whatever_a_reader_let_pass(value: float, table: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x\n")
    content = inspect(Claim(tmp_path / "f", "r/1", "t24/f", (("t24", "en-de"),), tmp_path), 0)
    vector = {
        "vector_no": 0,
        "file_no": 0,
        "kind": "metric",
        "scorer": "A-src",
        "base_name": "A",
        "system": "Ash",
        "is_reference_free": True,
        "level": "seg",
        "is_negated": False,
        "n_values": 2,
        "n_missing": 0,
    }
    with duckdb.connect() as connection:
        stage = Batch(connection).stage(Evalset("t24", "en-de"), [0])
        stage.add("vector", pl.DataFrame([vector]))
        place = {"segment": [1, 2, 3]} if table == "score" else {"unit": ["a", "b", "c"]}
        stage.add(table, pl.DataFrame({"vector_no": [0, 0, 0], **place, "value": [1.0, value, None]}))
        check_batch([content], stage.batch)
    (fault,) = stage.faults[0]
    assert (fault.path, fault.line) == (str(tmp_path / "f"), 0)
    assert fault.found == "1 score that is no finite number of at most 1e+100 in size, the first of system 'Ash'"
