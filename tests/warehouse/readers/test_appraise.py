import csv
import json
from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest

from tests.helpers import beside_data, real_data, together
from tests.warehouse.readers.reading import Whole, assert_no_row_fits, read, told
from tests.warehouse.readers.reading import answer as asked
from tests.warehouse.readers.samples import esa
from warehouse import Warehouse, load
from warehouse.readers.appraise import AppraiseReader
from warehouse.readers.claims import Claim, LoadHints

ESA = Path("wmt24-news-systems/humeval/esa_generalMT2024_wave2.csv")
LIV = Path("wmt22-news-systems/scores/WMT22.Appraise.SegLvlLivRef.20221031.filtered.csv")
READER = AppraiseReader()


def statuses(records: Whole) -> list[str]:
    return records.judgements["status"].to_list()


def test_every_column_of_an_esa_row_arrives() -> None:
    spans = [
        {"start_i": 3, "end_i": 7, "severity": "major", "error_type": None},
        {"start_i": 4, "end_i": 4, "severity": "minor", "error_type": ""},
        {"start_i": "missing", "end_i": "missing", "severity": "minor"},
    ]
    records = read(READER, ESA, esa(spans=json.dumps(spans)))
    assert records.faults == []
    assert records.scores_from_judgements
    assert records.judgements.to_dicts() == [
        {
            "line": 1,
            "testset": "wmt24",
            "lp": "en-ja",
            "system": "GPT-4",
            "domain": None,
            "document": "doc-a",
            "index": None,
            "segment": 6,  # line 1 of the test set is the canary
            "judgement": 1,
            "kind": "human",
            "scorer": "esa",
            "reference": None,
            "rater": "engjpn1",
            "item": "doc-a",
            "value": 80.0,
            "n": 1,
            "time": datetime(2024, 8, 28, 20, 26, 42, 500000),
            "status": "valid",
        }
    ]
    found = records.ratings.select("judgement", "category", "severity", "span_start", "span_end").rows()
    assert found == [(1, None, "major", 3, 8), (1, "", "minor", 4, 5), (1, "missing", "minor", None, None)]


def test_segments_of_other_campaigns_keep_their_numbers() -> None:
    records = read(READER, Path("mine/scores.csv"), esa(), LoadHints(testset="mine"))
    assert records.judgements["segment"].to_list() == [5]


def test_quality_control_tutorials_and_canaries_are_kept_with_their_status() -> None:
    rows = [
        esa(),
        esa(kind="BAD", document="doc-b#bad"),
        esa(kind="BAD", document="doc-b#incomplete#bad"),
        esa(system="ende-tutorial1", item=1000001, document="ende-tutorial1"),
        esa(document="canary", item=0, score="100.0"),
    ]
    records = read(READER, ESA, "".join(rows))
    assert statuses(records) == ["valid", "bad", "bad", "tutorial", "canary"]
    assert records.judgements["document"].to_list() == ["doc-a", "doc-b", "doc-b", "ende-tutorial1", "canary"]
    assert records.notes == [
        "1 judgement counts, 2 of quality control (bad), 1 of tutorials, 1 of the canary, 1 marked #incomplete#bad"
    ]


def test_references_and_repeats_put_in_to_check_annotators_do_not_count() -> None:
    assert statuses(read(READER, ESA, esa(kind="REF") + esa(kind="CHK", item=6))) == ["check", "check"]


@together(
    ("written", "system"),
    [
        ("generaltest2022.en-liv.hyp.TAL-SJTU.liv.txt", "TAL-SJTU"),
        ("generaltest2023.en-de.hyp.GPT4-5shot.de", "GPT4-5shot"),
        ("newstest2022.sr_Cyrl-en.ref.B.en.txt", "refB"),
        ("M2M100_1.2B-B4", "M2M100_1.2B-B4"),
    ],
)
def test_systems_are_found_in_names_of_files(written: str, system: str) -> None:
    records = read(READER, ESA, esa(system=written))
    assert records.judgements["system"].to_list() == [system]


def test_marks_are_taken_off_the_document_and_say_why_a_row_does_not_count() -> None:
    marks = ["", "#dup", "#incomplete", "#dup#dup", "#duplicate2"]
    records = read(READER, ESA, "".join(esa(document="doc#3" + mark) for mark in marks))
    assert statuses(records) == ["valid", "repeat", "filler", "repeat", "repeat"]
    assert set(records.judgements["document"].to_list()) == {"doc#3"}
    assert records.judgements["item"].to_list() == ["doc#3" + mark for mark in marks]


def test_of_repeats_by_one_user_the_latest_counts() -> None:
    rows = [
        esa(score="1", end="30"),
        esa(score="2", end="50"),
        esa(score="3", end="40"),
        esa(score="4", end="60", user="engjpn2"),
        esa(score="5", end="60", document="doc-a#dup"),
        esa(score="6", end="60", item=6),
    ]
    records = read(READER, ESA, "".join(rows))
    assert statuses(records) == ["superseded", "valid", "superseded", "valid", "repeat", "valid"]


def test_of_repeats_at_one_time_the_last_row_counts() -> None:
    assert statuses(read(READER, ESA, esa() + esa())) == ["superseded", "valid"]


def test_repeated_quality_control_stays_quality_control() -> None:
    assert statuses(read(READER, ESA, esa(kind="BAD") * 2)) == ["bad", "bad"]


def test_scores_of_whole_documents_are_a_human_score_of_their_own() -> None:
    rows = [esa(), esa(score="60", is_document="True"), esa(score="70", is_document="True", user="engjpn2")]
    records = read(READER, ESA, "".join(rows))
    assert statuses(records) == ["valid"]
    columns = ["level", "kind", "scorer", "system", "document", "value"]
    assert records.scores.select(columns).rows() == [("doc", "human", "esa-document", "GPT-4", "doc-a", 65.0)]
    assert records.notes == ["1 judgement counts, 2 of whole documents"]


def test_livonian_campaigns_name_reference_and_source_apart() -> None:
    system = "generaltest2022.en-liv.hyp.NiuTrans.liv.txt"
    row = f"engliv0d03,{system},239,TGT,eng,liv,0,1665744151.351,1665744158.765\n"
    reference = row.replace("hyp.NiuTrans", "ref.A")
    records = read(READER, LIV, row + reference)
    columns = ["testset", "lp", "scorer", "system", "segment", "document", "value"]
    assert records.judgements.select(columns).rows() == [
        ("wmt22", "en-liv", "da-sqm-ref", "NiuTrans", 239, None, 0.0),
        ("wmt22", "en-liv", "da-sqm-ref", "refA", 239, None, 0.0),
    ]
    other = read(READER, LIV.with_name(LIV.name.replace("LivRef", "LivSrc")), row)
    assert other.judgements["scorer"].to_list() == ["da-sqm-src"]


def test_document_campaigns_are_da_sqm() -> None:
    row = "u1,AIRC,7,TGT,eng,deu,91,doc-1,False,1.5,2.5\n"
    records = read(READER, Path("wmt23-news-systems/humaneval/scores.csv"), row)
    columns = ["testset", "lp", "scorer", "index", "document", "value", "time"]
    expected = ("wmt23", "en-de", "da-sqm", 7, "doc-1", 91.0, datetime(1970, 1, 1, 0, 0, 2, 500000))
    assert records.judgements.select(columns).rows() == [expected]


def test_parts_of_documents_are_counted_from_where_they_begin_and_calibration_is_a_score_of_its_own() -> None:
    """`NAME#A-B` are the segments A to B, and the campaign numbers them from 0."""
    path = Path("wmt22-news-systems/calibration-HITs/WMT22.Appraise.calibrationHITs.20221103.csv")
    rows = [("Online-W", 0, "shop_29#3-13"), ("Online-W", 10, "shop_29#3-13"), ("Online-G", 0, "t3_q#1-10")]
    text = "".join(
        f"engces161d,{system},{item},TGT,eng,ces,97,{document},False,1666385145.257,1666385152.061\n"
        for system, item, document in rows
    )
    records = read(READER, path, text)
    assert records.faults == []
    found = records.judgements.select("scorer", "system", "document", "index", "item").rows()
    assert found == [
        ("da-sqm-calibration", "Online-W", "shop_29", 3, "shop_29#3-13"),
        ("da-sqm-calibration", "Online-W", "shop_29", 13, "shop_29#3-13"),
        ("da-sqm-calibration", "Online-G", "t3_q", 1, "t3_q#1-10"),
    ]


def test_names_of_columns_are_passed_over_and_alone_are_no_data() -> None:
    header = "username,system,itemId,itemType,srcLang,trgLang,score,docId,isDocScore,timeStart,timeEnd\n"
    row = "u1,AIRC,7,TGT,eng,deu,91,doc-1,False,1.5,2.5\n"
    path = Path("wmt22-news-systems/header.DocLvl.csv")
    reason = asked(READER, path, header.encode(), LoadHints())
    assert isinstance(reason, str)
    assert "column names" in reason
    records = read(READER, path, header + row)
    assert records.judgements["line"].to_list() == [2]


def test_files_of_one_human_score_form_a_group() -> None:
    waves = [asked(READER, ESA.with_name(name), esa().encode(), LoadHints()) for name in ("wave2.csv", "wave3.csv")]
    assert all(isinstance(wave, Claim) and wave.group == "wmt24/esa" for wave in waves)


@pytest.mark.slow
def test_a_row_that_does_not_fit_is_a_fault_with_its_line() -> None:
    rows = [
        (esa(score="x"), "score 'x'"),
        (esa(score="inf"), "score 'inf'"),
        (esa(kind="???"), "type '???'"),
        (esa(is_document="maybe"), "is_document 'maybe'"),
        (esa(spans='[{"start_i":1}]'), "error spans"),
        (esa(spans="[1"), "error spans"),
        (esa(spans='[{"start_i":-1,"end_i":2,"severity":"minor"}]'), "error spans"),
        (esa(end="9e30"), "end 9e+30"),
        (esa().replace("5,TGT", "5.5,TGT"), "item '5.5'"),
        (esa().replace("eng,jpn", "English,jpn"), "source 'English'"),
        ("a,b\n", "2 columns"),
        ("\n", "a blank line"),
        ('a,"b\n', "broken quoting"),
    ]
    assert_no_row_fits(READER, ESA, esa(), rows)


def independent_rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wave", "n_rows", "n_bad", "n_tutorial", "n_repeated"),
    [("wave2", 20434, 2448, 1228, 98), ("wave3", 11299, 1365, 673, 76)],
)
def test_real_waves_hold_what_an_independent_count_says(
    wave: str, n_rows: int, n_bad: int, n_tutorial: int, n_repeated: int
) -> None:
    path = real_data("wmt24-news-systems", "humeval", f"esa_generalMT2024_{wave}.csv")
    records = read(READER, path)
    assert records.faults == []
    assert records.judgements.height == n_rows
    counts = dict(records.judgements.group_by("status").len().iter_rows())
    assert (counts["bad"], counts["tutorial"]) == (n_bad, n_tutorial)
    latest: dict[tuple[str, ...], tuple[float, float]] = {}
    keys = []
    for row in independent_rows(path):
        if row[3] == "TGT" and "tutorial" not in row[1]:
            key = (row[0], row[1], row[2], row[7])
            keys.append(key)
            if key not in latest or float(row[11]) >= latest[key][0]:
                latest[key] = (float(row[11]), float(row[6]))
    n_superseded = Counter(key for key in keys if "#" not in key[3])
    assert n_superseded.total() - len(n_superseded) == counts["superseded"]
    assert sum(n > 1 for n in Counter(keys).values()) == n_repeated
    in_score = {key: of for key, of in latest.items() if "#" not in key[3]}
    assert counts["repeat"] + counts["filler"] >= len(latest) - len(in_score)
    valid = records.judgements.filter(records.judgements["status"] == "valid")
    latest = in_score
    assert valid.height == len(latest)
    assert valid["value"].sum() == sum(score for _, score in latest.values())


def test_real_livonian_campaigns_are_read_whole() -> None:
    folder = real_data("wmt22-news-systems", "humaneval", "DA+SQM", "scores")
    for path in sorted(folder.glob("WMT22*.csv")):
        rows = independent_rows(path)
        records = read(READER, path)
        assert records.faults == []
        assert records.judgements.height == len(rows)
        assert statuses(records).count("bad") == sum(row[3] == "BAD" for row in rows)
        assert set(records.judgements["system"].to_list()) <= {
            "HuaweiTSC",
            "Liv4ever",
            "NiuTrans",
            "TAL-SJTU",
            "TartuNLP",
            "refA",
        }


@pytest.mark.slow
def test_real_means_of_systems_are_the_organisers(tmp_path: Path) -> None:
    files = sorted(real_data("wmt24-news-systems", "humeval").glob("esa_*.csv"))
    expected = beside_data("expected", "wmt24", "esa_system_means.csv")
    load(files, tmp_path / "w.duckdb")
    with Warehouse.open(tmp_path / "w.duckdb") as warehouse:
        found = warehouse.rows("SELECT lp, system, avg(value) FROM human_scores WHERE human = 'esa' GROUP BY ALL")
    means = {(lp, system): mean for lp, system, mean in found}
    rows = [line.split(",") for line in expected.read_text().splitlines()[1:]]
    assert len(rows) == 29
    for lp, system, mean in rows:
        assert means[lp, system] == pytest.approx(float(mean), abs=1e-9)


@together("score", ["-1", "101", "80.5", "0.8"])
def test_a_score_that_the_tool_cannot_give_is_a_fault(score: str) -> None:
    assert told(read(READER, "esa_wave1.csv", esa() + esa(item=6, score=score), LoadHints(testset="wmt24"))) == [
        (2, f"score {float(score)!r}")
    ]


FURTHER = ("", ",3,1017", ",3,1017,0")  # what the export adds with --batch-info, and of systems side by side
KINDS = {
    "u1,A,7,TGT,eng,deu,91,1.5,2.5": "da-sqm",
    "u1,A,7,TGT,eng,deu,91,doc-1,False,1.5,2.5": "da-sqm",
    "u1,A,7,TGT,eng,deu,91,doc-1,False,[],1.5,2.5": "esa",
    "u1,A,7,TGT,eng,deu,91,omission,,1.5,2.5": "da-pairwise",
}


@pytest.mark.slow
@together("row", KINDS)
def test_batch_numbers_behind_the_times_change_nothing_but_are_counted(row: str) -> None:
    plain, *others = [read(READER, Path("mine.csv"), row + more + "\n", LoadHints(testset="mine")) for more in FURTHER]
    compared = ["testset", "lp", "system", "segment", "index", "document", "value", "time", "status"]
    assert plain.judgements.select("scorer", "value").rows() == [(KINDS[row], 91.0)]
    for records, further in zip(others, ("batch, item", "batch, item, place among"), strict=True):
        assert records.faults == []
        assert records.judgements.select(compared).equals(plain.judgements.select(compared)), further
        is_of_pairs = "place" in further and KINDS[row] == "da-sqm"
        assert set(records.judgements["scorer"]) == {"da-pairwise" if is_of_pairs else KINDS[row]}
        assert any(f"columns not read: {further}" in note for note in records.notes)
    assert not any("columns not read" in note for note in plain.notes)


def side_by_side(first: str, second: str, start: str, *, scores: str = "80 60", segment: int = 7) -> str:
    """Two systems judged at once, as the export with batch numbers writes them."""
    rows = zip((first, second), scores.split(), strict=True)
    return "".join(
        f"u1,{system},{segment},TGT,eng,deu,{score},doc-1,False,{start}.5,{start}.9,3,1017,{place}\n"
        for place, (system, score) in enumerate(rows)
    )


def test_systems_side_by_side_are_judged_once_for_each_pair() -> None:
    """A system's judgement beside another one is no repeat; the same pair again is."""
    text = side_by_side("A", "B", "1") + side_by_side("A", "C", "2") + side_by_side("B", "A", "3", scores="50 70")
    records = read(READER, Path("mine.csv"), text, LoadHints(testset="mine"))
    found = records.judgements.select("system", "value", "status").rows()
    assert found == [
        ("A", 80.0, "superseded"),
        ("B", 60.0, "superseded"),
        ("A", 80.0, "valid"),
        ("C", 60.0, "valid"),
        ("B", 50.0, "valid"),
        ("A", 70.0, "valid"),
    ]
    assert "systems were judged side by side; each score counts as a separate judgement" in records.notes


@pytest.mark.slow
def test_systems_side_by_side_load_with_the_mean_of_their_judgements(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(side_by_side("A", "B", "1") + side_by_side("A", "C", "2", scores="70 10"))
    assert not load([path], tmp_path / "w.duckdb", given=LoadHints(testset="mine")).faults
    with Warehouse.open(tmp_path / "w.duckdb") as warehouse:
        means = warehouse.rows("SELECT system, value FROM human_scores WHERE human = 'da-pairwise'")
    assert sorted(means) == [("A", 75.0), ("B", 60.0), ("C", 10.0)]


def test_remarks_on_errors_of_pairs_are_counted() -> None:
    rows = ("A,7,TGT,eng,deu,91,omission,None,1.5,2.5", "B,7,TGT,eng,deu,80,,None,1.5,2.5")
    records = read(READER, Path("mine.csv"), "".join(f"u1,{row}\n" for row in rows), LoadHints(testset="mine"))
    assert "1 row with comments on errors, which are not read" in records.notes
    assert records.judgements.select("system", "segment", "status").rows() == [("A", 7, "valid"), ("B", 7, "valid")]


def test_systems_called_as_annotators_are_refused_as_swapped() -> None:
    text = "".join(esa("engjpn1a0f", item, user="GPT-4") for item in (1, 2, 3))
    (fault,) = read(AppraiseReader(), "wmt24/esa_wave1.csv", text).faults
    assert (fault.line, fault.way_out) == (1, "swap the first two columns")
