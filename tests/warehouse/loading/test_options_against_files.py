"""What the user says of a file and what the file says must agree."""

from pathlib import Path

import pytest

from tests.warehouse.readers.samples import MQM_HEADER, mqm_row
from warehouse import load
from warehouse.readers.claims import LoadHints

# each says its language pair (en-de) in its name or rows; some say the test set (wmt20), too
FILES = {
    "ad-seg-scores-en-de.csv": "SYS SID RAW.SCR Z.SCR N\nA 1 50 0.5 1\nA 2 60 0.6 1\n",
    "mqm_newstest2020_ende.tsv": MQM_HEADER + mqm_row(),
    "esa.csv": "u,A,1,TGT,eng,deu,80,doc,False,[],0.0,1.0\n",
    "M.seg.score": "N\ten-de\tnewstest2020\tnewstest2020\tA\tdoc\t1\t0.5\n",
    "mine.csv": "testset,lp,metric,system,segment,score\nwmt20,en-de,M,A,1,0.5\n",
    "wide.csv": "testset,lp,system,segment,W\nwmt20,en-de,A,1,0.5\nwmt20,en-de,A,2,0.75\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    for name, text in FILES.items():
        (tmp_path / "in" / name).write_text(text)
    return tmp_path / "in"


@pytest.mark.parametrize(
    ("given", "both"),
    [(LoadHints("wmt20", "cs-en"), ("en-de", "cs-en")), (LoadHints("other", "en-de"), ("wmt20", "other"))],
)
def test_a_file_that_says_otherwise_is_refused_with_both_named(
    given: LoadHints, both: tuple[str, str], folder: Path, tmp_path: Path
) -> None:
    report = load([folder], tmp_path / "w.duckdb", given=given)
    names = [name for name in FILES if both[0] == "en-de" or name not in ("ad-seg-scores-en-de.csv", "esa.csv")]
    told = {Path(fault.path).name: f"{fault.found} {fault.expected}" for fault in reversed(report.faults)}
    assert sorted(told) == sorted(names)
    assert all(word in words for words in told.values() for word in both), told


@pytest.mark.slow
def test_files_that_say_the_same_are_loaded(folder: Path, tmp_path: Path) -> None:
    report = load([folder], tmp_path / "w.duckdb", given=LoadHints("wmt20", "en-de"))
    assert not report.faults, report.faults
    assert report.evalsets[0].n_files == len(FILES)
