"""What the user says of a file and what the file says must agree."""

from pathlib import Path

import pytest

from tests.warehouse.readers.samples import MQM_HEADER, mqm_row
from warehouse import load
from warehouse.readers.claims import Given

# each says its language pair (en-de) in its name or rows; some say the test set (wmt20), too
FILES = {
    "ad-seg-scores-en-de.csv": "SYS SID RAW.SCR Z.SCR N\nA 1 50 0.5 1\nA 2 60 0.6 1\n",
    "mqm_newstest2020_ende.tsv": MQM_HEADER + mqm_row(),
    "esa.csv": "u,A,1,TGT,eng,deu,80,doc,False,[],0.0,1.0\n",
    "M.seg.score": "M\ten-de\tnewstest2020\tnewstest2020\tA\tdoc\t1\t0.5\n",
    "mine.csv": "testset,lp,metric,system,segment,score\nwmt20,en-de,M,A,1,0.5\n",
    "wide.csv": "testset,lp,system,segment,M\nwmt20,en-de,A,1,0.5\nwmt20,en-de,A,2,0.75\n",
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("given", "both"), [(Given("wmt20", "cs-en"), ("en-de", "cs-en")), (Given("other", "en-de"), ("wmt20", "other"))]
)
def test_a_file_that_says_otherwise_is_refused_with_both_named(
    name: str, given: Given, both: tuple[str, str], tmp_path: Path
) -> None:
    if both[0] == "wmt20" and name in ("ad-seg-scores-en-de.csv", "esa.csv"):
        pytest.skip("the file does not name its test set")
    (tmp_path / name).write_text(FILES[name])
    report = load([tmp_path / name], tmp_path / "w.duckdb", given=given)
    assert report.faults, report
    assert all(word in f"{report.faults[0].found} {report.faults[0].expected}" for word in both), report.faults[0]


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_says_the_same_is_loaded(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name])
    report = load([tmp_path / name], tmp_path / "w.duckdb", given=Given("wmt20", "en-de"))
    assert not report.faults, report.faults
