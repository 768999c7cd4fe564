"""WMT's direct assessments: averages of segments, documents and systems."""

from pathlib import Path

import pytest

from tests.helpers import real_data, together
from tests.warehouse.readers.reading import claimed, content, read, rows, told
from warehouse.readers.claims import LoadHints
from warehouse.readers.direct_assessment import DirectAssessmentReader
from warehouse.wording import option

READER = DirectAssessmentReader()
FOLDER = Path("wmt20-metrics/manual-evaluation/DA")
HEADER = "SYS SID RAW.SCR Z.SCR N \n"


def test_segments_into_english_are_lines_and_others_have_document_and_index_from_0() -> None:
    path, columns = (
        FOLDER / "ad-seg-scores-de-en.csv",
        ("scorer", "line", "system", "segment", "document", "index", "value"),
    )
    lines = read(READER, path, HEADER + "Online-A.1 17 80.5 0.25 2 \n")
    documents = read(READER, path, HEADER + "HUMAN.0 bbc.co.uk_5_0 70 -0.5 1 \nyolo.1 bbc_12 NaN None 1 \n")
    assert not [*lines.faults, *documents.faults]
    assert [*rows(lines, *columns), *rows(documents, *columns)] == [
        ("wmt-raw", 2, "Online-A.1", 17, None, None, 80.5),
        ("wmt-z", 2, "Online-A.1", 17, None, None, 0.25),
        ("wmt-raw", 2, "HUMAN.0", None, "bbc.co.uk_5", 1, 70.0),
        ("wmt-raw", 3, "yolo.1", None, "bbc", 13, None),
        ("wmt-z", 2, "HUMAN.0", None, "bbc.co.uk_5", 1, -0.5),
        ("wmt-z", 3, "yolo.1", None, "bbc", 13, None),
    ]
    for records, names in ((lines, [("Online-A.1", 2)]), (documents, [("HUMAN.0", 1), ("yolo.1", 1)])):
        found = set(rows(records, "testset", "lp", "level", "kind", "reference"))
        assert found == {("wmt20", "de-en", "seg", "human", None)}
        judged = records.judgements.select("scorer", "system", "n", "status").rows()
        assert judged == [("wmt-raw", name, n, "valid") for name, n in names]


def test_lines_and_documents_are_not_mixed_in_one_file() -> None:
    text = HEADER + "A 1 80 0.5 1 \nA 2 70 0.4 1 \nA 1_0 60 0.3 1 \n"
    assert told(read(READER, FOLDER / "ad-seg-scores-de-en.csv", text)) == [(4, "SID '1_0'")]


@together("trail", ["", " "])
def test_system_scores_have_their_columns_first_and_a_blank_at_the_end_or_not(trail: str) -> None:
    text = f"RAW.SCR Z.SCR N SYS N.ALL{trail}\n85.5 0.5 1163 HUMAN 2622{trail}\n"
    records = read(READER, FOLDER / "ad-sys-scores-en-cs.csv", text)
    assert rows(records, "level", "scorer", "system", "value") == [
        ("sys", "wmt-raw", "HUMAN", 85.5),
        ("sys", "wmt-z", "HUMAN", 0.5),
    ]
    assert records.judgements.is_empty()


def test_the_forms_for_the_metrics_task_have_the_index_behind_two_colons_from_1() -> None:
    text = "SYS SEGID RAW.SCR Z.SCR N SID\nOnline-A.1 bbc.1::12 80 0.5 1 bbc.1_11\n"
    records = read(READER, FOLDER / "metrics-ad-seg-scores-en-de.csv", text)
    assert rows(records, "scorer", "document", "index", "segment", "value") == [
        ("wmt-raw", "bbc.1", 12, None, 80.0),
        ("wmt-z", "bbc.1", 12, None, 0.5),
    ]
    text = "SYS SEGID RAW.SCR Z.SCR N\nOnline-A.1 bbc.1 80 0.5 1\n"
    records = read(READER, FOLDER / "metrics-ad-doc-scores-en-de.csv", text)
    assert rows(records, "level", "document", "value") == [("doc", "bbc.1", 80.0), ("doc", "bbc.1", 0.5)]
    text = "SYS RAW.SCR Z.SCR N\nOnline-A.1 80 0.5 1\n"
    for name in ("metrics-ad-sys-scores-en-de.csv", "metrics-ad-sys-en-de.csv"):
        records = read(READER, FOLDER / name, text)
        assert rows(records, "level", "system", "value") == [("sys", "Online-A.1", 80.0), ("sys", "Online-A.1", 0.5)]


def test_a_place_without_an_index_is_reported() -> None:
    text = "SYS SEGID RAW.SCR Z.SCR N SID\nA bbc.1 80 0.5 1 x\n"
    records = read(READER, FOLDER / "metrics-ad-seg-scores-en-de.csv", text)
    assert (2, "no segment") in told(records)


def test_claims_go_by_name_and_test_set() -> None:
    name = "ad-seg-scores-de-en.csv"
    claim = claimed(READER, FOLDER / name, HEADER)
    assert (claim.origin, claim.evalsets) == (f"wmt20/de-en/{name}", (("wmt20", "de-en"),))
    assert claimed(READER, Path(name), HEADER, LoadHints(testset="mine")).evalsets == (("mine", "de-en"),)
    lines = (HEADER.strip(),)
    assert READER.claim(Path(name), lines, LoadHints()) == (
        f"direct assessments of an unknown test set; name it with {option('testset')}"
    )
    assert READER.claim(FOLDER / "ad-seg-scores.csv", lines, LoadHints()) is None
    assert READER.claim(FOLDER / "ad-good-stnd-redup.csv", lines, LoadHints()) == (
        "single standardised judgements; only the files of averages are read"
    )


@together(
    ("text", "line", "found"),
    [
        ("SYS SID RAW.SCR N\n", 1, "the header 'SYS SID RAW.SCR N'"),
        ("SYS SID RAW.SCR Z.SCR N N\n", 1, "the header 'SYS SID RAW.SCR Z.SCR N N'"),
        ("SYS RAW.SCR Z.SCR N\n", 1, "the header 'SYS RAW.SCR Z.SCR N'"),
        (HEADER + "A 1 80 0.5\n", 2, "4 columns"),
        (HEADER + "A 1 eighty 0.5 1 \n", 2, "RAW.SCR 'eighty'"),
        (HEADER + "A 1 80 0.5 many \n", 2, "N 'many'"),
        (HEADER + "A 1 80 -inf 1 \n", 2, "Z.SCR '-inf'"),
    ],
)
def test_what_does_not_fit_is_reported(text: str, line: int, found: str) -> None:
    assert told(read(READER, FOLDER / "ad-seg-scores-de-en.csv", text)) == [(line, found)]


@pytest.mark.slow
@pytest.mark.parametrize("year", [20, 21, 22])
def test_the_real_assessments_come_through(year: int) -> None:
    folders = {20: ("wmt20-metrics",), 21: ("wmt21-news-systems", "humaneval"), 22: ("wmt22-news-systems",)}
    paths = sorted(real_data(*folders[year]).rglob("ad-*-scores-*.csv"))
    assert len(paths) >= 10
    for path in paths:
        data = content(path)
        lines = [line.split() for line in data.decode().splitlines()]
        at = lines[0].index("Z.SCR")
        records = read(READER, path, data)
        assert not records.faults, path.name
        frame = records.scores
        assert frame.height == 2 * (len(lines) - 1), path.name
        z = frame.filter(frame["scorer"] == "wmt-z")["value"]
        assert z.sum() == pytest.approx(sum(float(line[at]) for line in lines[1:] if line[at] not in ("NA", "NaN")))


def test_the_real_cells_of_wmt20_are_those_of_systems_and_of_humans() -> None:
    for lp, n_systems, n_humans in (("en-de", 9730, 1630), ("en-cs", 14577, 1163)):
        path = real_data("wmt20-metrics", "manual-evaluation", "DA", f"ad-seg-scores-{lp}.csv")
        raw = read(READER, path, content(path)).scores.filter(scorer="wmt-raw")
        n_human_cells = raw["system"].str.to_lowercase().str.starts_with("human").sum()
        assert (raw.height - n_human_cells, n_human_cells) == (n_systems, n_humans)
