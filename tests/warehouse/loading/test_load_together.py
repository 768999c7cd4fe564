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


_DOCUMENTS, _METRIC = "mt-metrics-eval-v2/wmt20/documents/en-de.docs", "metric-scores/en-de/Fathom-refA.seg.score"


@pytest.mark.parametrize("details", ["wmt20-metrics/input/details/en-de.txt", "a/details/en-de.txt"])
def test_a_segment_that_two_files_declare_is_one_and_has_what_either_tells(tmp_path: Path, details: str) -> None:
    """Documents with domains, and details without, whichever is read first."""
    files = {
        _DOCUMENTS: "news\tone\nnews\tone\nnews\ttwo\n",
        f"mt-metrics-eval-v2/wmt20/{_METRIC}": "Ash\t1\nAsh\t2\nAsh\t3\n",
        details: "".join(f"{n}\tnewstest2020\ten-de\t{d}\n" for n, d in ((1, "one\t1"), (2, "one\t2"), (3, "two\t1"))),
    }
    for name, text in files.items():
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text(text)
    report = load([tmp_path / "in"], tmp_path / "w.duckdb")
    assert report.is_clean, report.faults
    assert [item.n_missing for item in report.evalsets] == [0]
    query = "SELECT segment, domain, document, index_in_document FROM segments ORDER BY ALL"
    expected = [(1, "news", "one", 1), (2, "news", "one", 2), (3, "news", "two", 1)]
    assert ask(tmp_path / "w.duckdb", query) == expected
    assert ask(tmp_path / "w.duckdb", "SELECT segment, value FROM scores ORDER BY ALL") == [
        (1, 1.0),
        (2, 2.0),
        (3, 3.0),
    ]
    again = load([tmp_path / "in"], tmp_path / "w.duckdb")
    assert [item.status for item in again.evalsets] == ["unchanged"]
