import math
from pathlib import Path

import polars as pl
import pytest
import xlsxwriter

from tests.helpers import together
from tests.warehouse.readers.reading import Whole, answer, claimed, read
from tests.warehouse.readers.samples import FACTS, HEADER, ROWS, SYSTEM, workbook
from warehouse.facts.languages import language
from warehouse.names import LanguagePair
from warehouse.readers import campaign_workbooks
from warehouse.readers.campaign_workbooks import CampaignWorkbookReader
from warehouse.readers.claims import LoadHints
from warehouse.wording import option

READER = CampaignWorkbookReader()


def scores(records: Whole, level: str) -> pl.DataFrame:
    return records.scores.filter(pl.col("level") == level)


def test_each_row_is_a_judgement(tmp_path: Path) -> None:
    records = read(READER, workbook(tmp_path))
    assert records.faults == []
    assert records.scores_from_judgements
    columns = ["line", "testset", "lp", "scorer", "system", "domain", "document", "index", "rater", "value", "status"]
    place = ("toship.01234567", "en-zh", "da", "MSFT-fedcba98", "news")
    assert records.judgements.select(columns).rows() == [
        (2, *place, "0", 1, "u1", 80.0, "valid"),
        (3, *place, "0", 1, "u2", 90.5, "valid"),
        (4, *place, "12", 1, "u1", 70.0, "not in all systems"),
    ]
    assert records.notes == ["2 judgements count, 1 on segments missing from other systems"]


def test_scores_of_segments_are_taken_once_and_exactly(tmp_path: Path) -> None:
    found = scores(read(READER, workbook(tmp_path)), "seg").select("scorer", "reference", "document", "index", "value")
    assert found.rows() == [
        ("BLEURT_default", "ref", "0", 1, 0.123456789012345),
        ("BLEURT_default", "ref", "12", 1, 0.5),
        ("Prism_src", None, "0", 1, -1.5),
        ("Prism_src", None, "12", 1, None),
    ]


def test_scores_of_the_system_are_all_facts_that_are_numbers(tmp_path: Path) -> None:
    facts = {**FACTS, "SacreBLEU_chrf": 0.123456789012345, "TER_neg": -40}
    found = scores(read(READER, workbook(tmp_path, facts=facts)), "sys")
    assert found.select("kind", "scorer", "reference", "system", "value").rows() == [
        ("metric", "COMET_src", None, "MSFT-fedcba98", 0.75),
        ("metric", "SacreBLEU_chrf", "ref", "MSFT-fedcba98", 0.123456789012345),
        ("metric", "TER_neg", "ref", "MSFT-fedcba98", -40.0),
    ]


@together(
    ("said", "file_name", "expected"),
    [
        ("PUBL", SYSTEM, "PUBL-fedcba98"),
        ("123", SYSTEM, "123-fedcba98"),
        (None, SYSTEM, "fedcba98"),
        ("ours", "ours", "ours"),
        ("ours", "run 1", "ours-run-1"),
    ],
)
def test_systems_of_one_name_stay_apart(tmp_path: Path, said: str | None, file_name: str, expected: str) -> None:
    facts = {"domain": "news", "BLEU": 1.0} if said is None else {"System": said, "BLEU": 1.0}
    records = read(READER, workbook(tmp_path, facts=facts, name=file_name))
    assert scores(records, "sys")["system"].to_list() == [expected]


def test_prefixes_of_metric_columns_are_taken_off(tmp_path: Path) -> None:
    header = (*HEADER[:7], "metric_BLEURT_default", "metric_COMET_src")
    records = read(READER, workbook(tmp_path, header))
    assert set(scores(records, "seg")["scorer"].to_list()) == {"BLEURT_default", "COMET_src"}


def test_what_is_not_read_is_named(tmp_path: Path) -> None:
    sheets, rows = ["hum_only_automatic_metrics", "full_testset"], [(*row, "fine") for row in ROWS]
    path = workbook(tmp_path, (*HEADER, "Comment"), rows, {**FACTS, "Engine": "fast"}, sheets=sheets)
    records = read(READER, path)
    assert records.faults == []
    (note,) = records.notes
    for said in (
        "sheets not read: hum_only_automatic_metrics, full_testset",
        "columns not read: Comment",
        "texts of automatic_metrics not read: Engine",
    ):
        assert f"; {said}" in note


def test_options_name_test_set_pair_and_human_score(tmp_path: Path) -> None:
    given = LoadHints(testset="mine", lp="en-zh_CN", human="ours")
    records = read(READER, workbook(tmp_path), given=given)
    assert records.judgements.select("testset", "lp", "scorer").unique().rows() == [("mine", "en-zh_CN", "ours")]


def test_unknown_languages_are_asked_for_once(tmp_path: Path) -> None:
    rows = [("ENU", "QQQ", *row[2:]) for row in ROWS]
    (fault,) = read(READER, workbook(tmp_path, rows=rows)).faults
    assert (fault.line, fault.found) == (2, "Target 'QQQ'")
    assert option("lp") in fault.expected


@together(
    ("at", "cell", "found"),
    [(5, "good", "Score 'good'"), (6, "perhaps", "valid_line 'perhaps'"), (3, None, "SegmentID None")],
)
def test_a_row_that_does_not_fit_is_a_fault_with_its_row(tmp_path: Path, at: int, cell: object, found: str) -> None:
    rows = [list(row) for row in ROWS]
    rows[2][at] = cell
    (fault,) = read(READER, workbook(tmp_path, rows=rows)).faults
    assert (fault.line, fault.found) == (4, found)


def test_lacking_columns_are_named(tmp_path: Path) -> None:
    rows = [row[:5] for row in ROWS]
    (fault,) = read(READER, workbook(tmp_path, HEADER[:5], rows)).faults
    assert "has no Score, valid_line" in fault.found


def test_a_sheet_without_rows_brings_nothing(tmp_path: Path) -> None:
    records = read(READER, workbook(tmp_path, rows=[]))
    assert records.faults == []
    assert records.judgements.is_empty()


@pytest.mark.slow
def test_damaged_workbooks_are_faults_or_left_alone_or_read_as_they_were(tmp_path: Path) -> None:
    path = workbook(tmp_path)
    sound = path.read_bytes()
    claim, whole = claimed(READER, path, sound), read(READER, path)
    for share in (0.2, 0.5, 0.9):
        cut = sound[: math.floor(len(sound) * share)]
        records = READER.parse(cut, claim, LoadHints()).normal(path)
        assert [fault.path for fault in records.faults] == [str(path)]
        path.write_bytes(cut)
        assert answer(READER, path, cut, LoadHints()) is None
    for at in range(0, len(sound), 233):
        changed = sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1 :]
        records = READER.parse(changed, claim, LoadHints()).normal(path)
        assert records.faults or scores(records, "seg").equals(scores(whole, "seg"))


def test_other_workbooks_are_left_to_others(tmp_path: Path) -> None:
    path = tmp_path / "other.xlsx"
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("scores")
    assert answer(READER, path, path.read_bytes(), LoadHints()) is None
    assert answer(READER, tmp_path / "missing.xlsx", b"", LoadHints()) is None


def test_without_the_library_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook(tmp_path)
    monkeypatch.setattr(campaign_workbooks, "find_spec", lambda name: None)
    reason = answer(READER, path, path.read_bytes(), LoadHints())
    assert isinstance(reason, str)
    assert "scorehouse[excel]" in reason


def test_every_code_is_one_of_a_language_pair() -> None:
    codes = campaign_workbooks._codes()
    assert all(len(code) == 3 and code.isupper() for code in codes)
    for pair in sorted({f"en-{code}" for code in codes.values()}):
        assert str(LanguagePair.parse(pair)) == pair
    listed = {code for code in codes.values() if language(code) is not None}
    assert {"en", "zh", "de", "fr", "ja", "cs", "ru", "is"} <= listed


def test_texts_among_the_scores_of_a_metric_are_faults_however_many_they_are(tmp_path: Path) -> None:
    column = HEADER.index("BLEURT_default")
    rows = [[*ROWS[number % len(ROWS)][:-1], "0,5"] for number in range(9)]
    rows[4][column] = "x"
    records = read(READER, workbook(tmp_path, rows=rows))
    assert sorted((fault.line, fault.found) for fault in records.faults) == sorted(
        [(6, "BLEURT_default 'x'"), *((n, "Prism_src '0,5' with a decimal comma") for n in range(2, 11))]
    )


@together("value", ["n/a", "0,5", "0.7x", "inf"])
def test_a_text_where_a_score_of_the_system_should_be_is_a_fault(value: str, tmp_path: Path) -> None:
    (fault,) = read(READER, workbook(tmp_path, facts={**FACTS, "SacreBLEU_chrf": value})).faults
    assert fault.found in (
        f"sheet automatic_metrics: SacreBLEU_chrf {value!r}",
        "sheet automatic_metrics: SacreBLEU_chrf inf",
    )
