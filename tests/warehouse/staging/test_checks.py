"""Checks over a whole evaluation set: what no single file can show."""

from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

from tests.helpers import DOCUMENTS, together
from tests.warehouse.building import ask, empty_warehouse, statuses
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


def _marked_twice(root: Path) -> list[Path]:
    """Two files, one for each spelling, with the same annotations."""
    for lp in (LONG, SHORT):
        write_evalset(root, lp, documents=DOCUMENTS, ratings={"mqm": RatingTable({"Ash": [[{"score": 1.0}]] * 5})})
    (root / "documents" / f"{SHORT}.docs").unlink()
    return [root / "human-scores" / f"{lp}.mqm.seg.rating" for lp in (LONG, SHORT)]


@pytest.mark.slow
def test_what_two_files_agree_on_is_taken_once_and_what_they_differ_on_is_a_fault_of_both(tmp_path: Path) -> None:
    """So are two documents files of one language pair."""
    _spelled_twice(tmp_path / "in" / "same24", 1.0, 1.0)
    _spelled_twice(tmp_path / "in" / "differ24", 1.0, 1.5)
    _marked_twice(tmp_path / "in" / "marked24")
    for lp in (LONG, SHORT):
        scores = {"M-src": ScoreTable(["A"], seg=np.ones((1, 5)))}
        write_evalset(tmp_path / "in" / "documents24", lp, documents=DOCUMENTS, metrics=scores)
    database = empty_warehouse(tmp_path / "a.duckdb")
    report = load([tmp_path / "in"], database)
    status = {evalset.testset: evalset.status for evalset in report.evalsets}
    assert status == {"differ24": "refused", "documents24": "refused", "marked24": "loaded", "same24": "loaded"}
    notes = {name: [note for note in report.notes if f"/{name}/" in note] for name in status}
    assert [len(notes[name]) for name in ("marked24", "same24")] == [1, 1]
    assert "metric 'A-src', level sys: 2 systems, such as 'Ash', have the same scores in" in "".join(notes["same24"])
    assert ask(database, "SELECT testset, system, value FROM aggregate_scores ORDER BY ALL") == [
        *(("same24", "Ash", 1.0), ("same24", "Beech", 2.0))
    ]
    assert ask(database, "SELECT testset, count(*) FROM spans GROUP BY ALL") == [("marked24", 5)]
    assert ask(database, "SELECT count(*) FROM span") == [(5,)]
    faults = {name: [fault for fault in report.faults if f"/{name}/" in fault.path] for name in status}
    assert {Path(fault.path).parent.name for fault in faults["differ24"]} == {LONG, SHORT}
    for fault in faults["differ24"]:
        assert fault.found.startswith("metric 'A-src', level sys: system 'Ash' has different scores in ")
        assert (fault.expected, fault.way_out) == ("one content", "load only one of them")
    assert any(fault.found.startswith("documents beside ") for fault in faults["documents24"])
    assert len(report.faults) == len(faults["differ24"]) + len(faults["documents24"])


@pytest.mark.slow
def test_what_the_warehouse_has_from_another_file_is_refused(tmp_path: Path) -> None:
    """Annotations even where they are the same."""
    root, database = _spelled_twice(tmp_path / "t24", 1.0, 1.5) / "metric-scores", tmp_path / "a.duckdb"
    long, short = _marked_twice(tmp_path / "t25")
    assert load([root / LONG, long], empty_warehouse(database)).is_clean
    before = database.read_bytes()
    report = load([root / SHORT, short], database)
    first = root / LONG / "A-src.sys.score"
    assert {(fault.path, fault.found) for fault in report.faults} == {
        (str(root / SHORT / first.name), f"metric 'A-src' at level sys is already in the warehouse, from {first}"),
        (str(short), f"human 'mqm' at level seg is already in the warehouse, from {long}"),
    }
    assert {fault.way_out for fault in report.faults} == {
        f"`remove {path}` removes the other" for path in (first, long)
    }
    assert statuses(report) == ["refused", "refused"]
    assert ask(database, "SELECT min(value) FROM aggregate_scores") == [(1.0,)]
    assert ask(database, "SELECT count(*) FROM span") == [(5,)]
    assert database.read_bytes() == before or len(ask(database, "FROM sources WHERE testset = 't24'")) == 1


@pytest.mark.slow
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
    assert fault.found == "1 score that is infinite or beyond 1e+100, first for system 'Ash'"
