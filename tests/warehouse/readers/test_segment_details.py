"""WMT20's files that tell which line of a test set is which segment of which document."""

from pathlib import Path

import polars as pl
import pytest

from tests.helpers import real_data, together
from tests.warehouse.readers.reading import claimed, content, head, read, told
from warehouse import Warehouse, load
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.segment_details import SegmentDetailsReader
from warehouse.readers.submissions import SubmissionReader

READER = SegmentDetailsReader()
PATH = Path("wmt20-metrics/input/details/de-en.txt")
TEXT = (
    "1\tnewstest2020\tde-en\tb.de.7\t1\n"
    "2\tnewstest2020\tde-en\tb.de.7\t2\n"
    "3\tnewstest2020\tde-en\ta.de.9\t1\n"
)  # fmt: skip


def test_each_line_declares_a_segment_by_its_number_and_its_place_in_a_document() -> None:
    records = read(READER, PATH, TEXT)
    assert not records.faults
    assert records.segments.select("testset", "lp", "segment", "document", "index", "domain").rows() == [
        ("wmt20", "de-en", 1, "b.de.7", 1, None),
        ("wmt20", "de-en", 2, "b.de.7", 2, None),
        ("wmt20", "de-en", 3, "a.de.9", 1, None),
    ]


def test_the_claim_declares_the_segments_of_its_evaluation_set() -> None:
    claim = claimed(READER, PATH, TEXT)
    assert (claim.declares, claim.evalsets) == ("segments", (("wmt20", "de-en"),))
    assert claim.origin == "wmt20/input/details/de-en.txt"


@together("text", ["", "\n\n", "A sentence.\n", TEXT[:10], "<html>\n", TEXT.replace("\t", " "), "\0" * 99])
def test_details_without_one_line_that_can_be_read_are_refused_by_their_place(text: str, tmp_path: Path) -> None:
    """Also where the test set is known by the files beside it alone."""
    for folder in ("wmt20-metrics/input/details", "elsewhere/details"):
        path = tmp_path / folder / "de-en.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "cs-en.txt").write_text(TEXT.replace("de-en", "cs-en"))
        claim = READER.claim(path, head(text.encode()), LoadHints())
        assert isinstance(claim, Claim)
        assert (claim.declares, claim.evalsets) == ("segments", (("wmt20", "de-en"),))
        assert READER.parse(text.encode(), claim, LoadHints()).faults


@pytest.mark.slow
def test_scores_are_not_loaded_while_the_details_of_their_segments_are_damaged(tmp_path: Path) -> None:
    """Loaded without their details they would have segments of their own, which later stand beside those declared."""
    details, scores = tmp_path / PATH, tmp_path / "wmt20-metrics" / "final-metric-scores" / "M.seg.score"
    for path in (details, scores):
        path.parent.mkdir(parents=True)
    details.write_text("")
    row = "M\tde-en\tnewstest2020\tnewstest2020\tAsh\t{}\t0.{}\n"
    scores.write_text("".join(row.format(n, n) for n in (1, 2, 3)))
    report = load([tmp_path], tmp_path / "w.duckdb")
    assert [evalset.status for evalset in report.evalsets] == ["refused"]
    assert [Path(fault.path).name for fault in report.faults] == ["de-en.txt"]
    details.write_text(TEXT)
    assert load([tmp_path], tmp_path / "w.duckdb").is_clean
    with Warehouse.open(tmp_path / "w.duckdb") as warehouse:
        assert warehouse.rows("SELECT count(*), count(DISTINCT segment) FROM segments") == [(3, 3)]


@together(
    ("spoiled", "line", "found"),
    [
        (TEXT.replace("3\t", "4\t"), 3, "segment 4, number 1 of document 'a.de.9'"),
        (TEXT.replace("7\t2", "7\t3"), 2, "segment 2, number 3 of document 'b.de.7'"),
        (TEXT.replace("7\t2", "7\tx"), 2, "SEGNO 'x'"),
        (TEXT + "4\tnewstest2020\tde-en\n", 4, "3 columns"),
        (TEXT + "4\tnewstest2020\tde-fr\tc\t1\n", 4, "a segment of newstest2020 de-fr"),
        (TEXT + TEXT, 4, "segment 1, number 1 of document 'b.de.7'"),
    ],
)
def test_a_line_out_of_order_is_reported(spoiled: str, line: int, found: str) -> None:
    assert told(read(READER, PATH, spoiled))[0] == (line, found)


def test_the_real_files_declare_all_their_lines() -> None:
    n_segments = {}
    for path in sorted(real_data("wmt20-metrics", "input", "details").glob("*.txt")):
        data = content(path)
        records = read(READER, path, data)
        assert not records.faults
        assert records.evalsets == (("wmt20", path.stem),)
        assert records.segments.height == data.count(b"\n")
        assert not records.segments.select("document", "index").is_duplicated().any()
        n_segments[path.stem] = records.segments.height
    assert len(n_segments) == 22
    assert (n_segments["en-de"], n_segments["cs-en"], sum(n_segments.values())) == (1418, 664, 35945)


def test_the_real_submissions_place_every_segment_in_a_declared_document() -> None:
    details = sorted(real_data("wmt20-metrics", "input", "details").glob("*.txt"))
    declared = pl.concat([read(READER, path, content(path)).segments for path in details])
    path = real_data("wmt20-metrics", "final-metric-scores", "submissions", "Yisi-combi.seg.score.gz")
    claim = claimed(SubmissionReader(), path, content(path))
    assert list(claim.needs) == details
    found = read(SubmissionReader(), path, content(path)).scores.join(
        declared, on=["testset", "lp", "document", "index"], how="left", maintain_order="left"
    )
    assert found["segment_right"].null_count() == 0
    assert found["segment_right"].n_unique() == 1418
