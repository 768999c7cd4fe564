import io
import json
from pathlib import Path

import polars as pl
import pytest

from tests.helpers import together
from tests.warehouse.readers.reading import answer, assert_no_row_fits, claimed, read, rows
from warehouse.readers.claims import LoadHints
from warehouse.readers.long_table import LongTableReader
from warehouse.wording import option

READER = LongTableReader()
MINE = Path("scores/mine.csv")
FULL = "testset,lp,level,scorer,ref,system,doc,seg,score\n"
PLACE = LoadHints(testset="wmt23", lp="en-de")


def test_every_column_of_a_row_arrives() -> None:
    records = read(READER, MINE, FULL + "wmt23,en-de,seg,Mine,refA,AIRC,doc-1,7,0.25\n")
    assert records.faults == []
    assert records.notes == []
    assert records.scores.to_dicts() == [
        {
            "line": 2,
            "testset": "wmt23",
            "lp": "en-de",
            "system": "AIRC",
            "domain": None,
            "document": "doc-1",
            "index": None,
            "segment": 7,
            "level": "seg",
            "kind": "metric",
            "scorer": "Mine",
            "reference": "refA",
            "value": 0.25,
            "is_negated": False,
            "is_derived": False,
        }
    ]


@together("separator", [",", "\t", ";"])
def test_any_order_and_the_names_that_people_use(separator: str) -> None:
    header = ["Score", "System ID", "Source-Lang", "target_lang", "Segment_ID", "Metric Name", "Dataset"]
    cells = ["1.5", "A", "eng", "jpn", "3", "Mine", "wmt24"]
    records = read(
        READER, MINE, separator.join(header) + "\n" + separator.join(cells) + "\n", LoadHints(reference="refB")
    )
    columns = ("testset", "lp", "level", "scorer", "reference", "system", "segment", "value")
    assert rows(records, *columns) == [("wmt24", "en-ja", "seg", "Mine", "refB", "A", 3, 1.5)]


def test_quoted_cells_hold_separators_and_line_ends() -> None:
    text = 'system,score,metric,comment\n"A, the first",1,Mine,"two ""quoted""\nlines"\nB,2,Mine,\n'
    records = read(READER, MINE, text, PLACE)
    assert rows(records, "line", "system", "value") == [(2, "A, the first", 1.0), (4, "B", 2.0)]
    assert records.notes == ["columns not read: comment"]


def test_a_column_without_a_name_is_named_by_its_place() -> None:
    records = read(READER, MINE, ",system,segment,score,metric,x\n0,A,1,0.5,Mine,y\n", PLACE)
    assert records.notes == ["columns not read: x and the first, which has no name"]


def test_the_level_follows_from_the_place() -> None:
    text = (
        "system,metric,score,domain,doc,index,seg\n"
        "A,M,1,,,,4\nA,M,2,,d,3,\nA,M,3,news,d,,\nA,M,4,news,,,\nA,M,5,all,,,\nA,M,6,,,,\n"
    )
    found = rows(read(READER, MINE, text, PLACE), "level", "domain", "document", "index", "segment")
    assert found == [
        ("seg", None, None, None, 4),
        ("seg", None, "d", 3, None),
        ("doc", "news", "d", None, None),
        ("domain", "news", None, None, None),
        ("sys", "all", None, None, None),
        ("sys", None, None, None, None),
    ]


def test_a_level_in_words_counts_more_than_the_place() -> None:
    text = "system,metric,score,level,doc\nA,M,1,System,all\nA,M,2,document,d\n"
    assert rows(read(READER, MINE, text, PLACE), "level") == [("sys",), ("doc",)]


def test_human_scores_are_told_by_column_kind_or_name() -> None:
    assert rows(read(READER, MINE, "system,human,score\nA,ours,1\n", PLACE), "kind", "scorer") == [("human", "ours")]
    text = "system,scorer,kind,score\nA,ours,human,1\nA,mqm,,1\nA,mqm-like,metric,1\nA,esa-human1,,2\nA,Mine,,3\n"
    assert rows(read(READER, MINE, text, PLACE), "kind", "scorer") == [
        ("human", "ours"),
        ("human", "mqm"),
        ("metric", "mqm-like"),
        ("human", "esa-human1"),
        ("metric", "Mine"),
    ]


def test_names_that_the_file_lacks_come_from_the_user() -> None:
    text = "system,score\nA,1\n"
    metric = LoadHints(testset="wmt23", lp="en-de", metric="Mine", reference="src", is_own=True)
    assert rows(read(READER, MINE, text, metric), "kind", "scorer", "reference") == [("metric", "Mine", None)]
    human = LoadHints(testset="wmt23", lp="en-de", human="ours")
    assert rows(read(READER, MINE, text, human), "kind", "scorer", "reference") == [("human", "ours", None)]


def test_one_metric_gets_the_name_that_the_user_gives() -> None:
    given = LoadHints(testset="wmt23", lp="en-de", metric="Mine")
    assert rows(read(READER, MINE, "system,metric,score\nA,v2,1\n", given), "scorer") == [("Mine",)]
    records = read(READER, MINE, "system,metric,score\nA,v2,1\nA,v3,1\n", given)
    assert [fault.found for fault in records.faults] == ["metrics v2, v3"]


@pytest.mark.slow
@together(
    ("header", "cells", "given", "expected"),
    [
        ("metric", "Mine", None, ("Mine", "refA")),  # the standard reference of wmt23 en-de
        ("metric", "Mine-src", None, ("Mine", None)),
        ("metric", "Mine-refB", None, ("Mine", "refB")),
        ("metric", "COMET-22", None, ("COMET-22", "refA")),
        ("metric", "CometKiwi", None, ("CometKiwi", None)),
        ("metric", "Mine", "refB", ("Mine", "refB")),
        ("metric,ref", "Mine,src", "refB", ("Mine", None)),
        ("metric,ref", "Mine,B", None, ("Mine", "refB")),
        ("metric,ref", "Mine,", None, ("Mine", "refA")),
        ("human,ref", "mqm,refA", None, ("mqm", None)),
    ],
)
def test_the_reference_is_told_by_row_name_user_or_test_set(
    header: str, cells: str, given: str | None, expected: tuple[str, str | None]
) -> None:
    said = LoadHints(testset="wmt23", lp="en-de", reference=given)
    records = read(READER, MINE, f"system,score,{header}\nA,1,{cells}\n", said)
    assert rows(records, "scorer", "reference") == [expected]


def test_json_lines_hold_the_same() -> None:
    lines = [
        {"system": "A", "metric": "Mine", "score": 1, "seg": 3, "line": "kept out"},
        {"system": "A", "metric": "Mine", "score": None, "seg": 4},
        {"system": "B", "metric": "Mine", "score": 1e-7, "seg": 3},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    records = read(READER, MINE.with_suffix(".jsonl"), text, PLACE)
    assert rows(records, "line", "system", "segment", "value") == [
        (1, "A", 3, 1.0),
        (2, "A", 4, None),
        (3, "B", 3, 1e-7),
    ]


def test_keys_of_json_lines_may_be_left_out() -> None:
    lines = [
        {"system": "A", "metric": "M", "score": 1},
        {"score": 2, "system": "B", "metric": "M", "ref": "refB", "x": 1},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    records = read(READER, MINE.with_suffix(".jsonl"), text, PLACE)
    assert rows(records, "system", "reference", "value") == [("A", "refA", 1.0), ("B", "refB", 2.0)]
    assert records.notes == ["columns not read: x"]


@together("cell", [[1], {"a": 1}, True])
def test_values_with_parts_are_faults(cell: object) -> None:
    sound = json.dumps({"system": "A", "metric": "M", "score": 1}) + "\n"
    text = sound + json.dumps({"system": "A", "metric": "M", "score": cell}) + "\n"
    records = read(READER, MINE.with_suffix(".jsonl"), text, PLACE)
    assert [(fault.line, fault.found) for fault in records.faults] == [
        (2, "a value with parts, or true or false, in 'score'")
    ]


def parquet(frame: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    path = tmp_path / "testset=mine24" / "lp=en-uk" / "scores.any"
    path.parent.mkdir(parents=True)
    frame = pl.DataFrame(
        {"system": ["A", "B"], "metric": ["M", "M"], "ref": ["refA", None], "seg": [1.0, 2.0], "score": [0.1, None]}
    )
    path.write_bytes(parquet(frame))
    records = read(READER, path)
    assert rows(records, "testset", "lp", "system", "reference", "segment", "value") == [
        ("mine24", "en-uk", "A", "refA", 1, 0.1),
        ("mine24", "en-uk", "B", "ref", 2, None),
    ]


def test_damaged_parquet_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    sound = parquet(pl.DataFrame({"system": ["A"] * 50, "metric": ["M"] * 50, "score": [1.0] * 50}))
    for data in (sound[:-5], sound[:60], sound[:20] + b"\xff" * 20 + sound[40:]):
        path.write_bytes(data)
        records = read(READER, path, data, LoadHints(testset="t", lp="en-de", metric="M"))
        assert [fault.path for fault in records.faults] == [str(path)]
        assert records.scores.is_empty()


def test_parquet_of_something_else_is_left_to_others(tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    path.write_bytes(parquet(pl.DataFrame({"a": [1]})))
    assert answer(READER, path, path.read_bytes(), PLACE) is None


@together(
    ("header", "given", "option"),
    [
        ("system,metric,score", LoadHints(lp="en-de"), option("testset")),
        ("system,metric,score", LoadHints(testset="wmt23"), option("lp")),
        ("system,score", PLACE, "add a column 'metric'"),
    ],
)
def test_what_is_lacking_is_asked_for_in_one_line(header: str, given: LoadHints, option: str) -> None:
    reason = answer(READER, MINE, f"{header}\n1,2,3\n".encode(), given)
    assert isinstance(reason, str)
    assert option in reason
    assert "\n" not in reason


@together("path", ["wmt23/en-de/mine.csv", "wmt23/en-de.Mine.csv", "testset=wmt23/lp=en-de/mine.csv"])
def test_test_set_and_language_pair_may_be_told_by_the_path(path: str) -> None:
    records = read(READER, Path(path), "system,metric,score\nA,M,1\n")
    assert rows(records, "testset", "lp") == [("wmt23", "en-de")]


def test_names_that_are_no_languages_tell_no_pair() -> None:
    reason = answer(READER, Path("wmt23/my-own/the-new.csv"), b"system,metric,score\nA,M,1\n", LoadHints())
    assert isinstance(reason, str)
    assert option("lp") in reason


def test_of_own_metrics_the_rows_of_that_name_are_taken() -> None:
    given = LoadHints(testset="wmt23", lp="en-de", metric="Mine", is_own=True)
    text = "system,scorer,score\nA,Mine,1\nA,Other,2\nA,mqm,3\n"
    records = read(READER, MINE, text, given)
    assert rows(records, "scorer", "reference", "value") == [("Mine", None, 1.0)]
    assert records.notes == ["2 rows of other metrics and human scores not read"]


def test_own_metrics_of_several_pairs_have_files_of_their_own() -> None:
    given = LoadHints(testset="wmt23", metric="Mine", is_own=True)
    paths = [Path(f"mine/{lp}/scores.csv") for lp in ("en-de", "he-en")]
    origins = [claimed(READER, path, b"system,score\nA,1\n", given).origin for path in paths]
    assert origins == ["own/Mine-src/wmt23/en-de/scores.csv", "own/Mine-src/wmt23/he-en/scores.csv"]


def test_a_header_alone_has_no_scores() -> None:
    assert answer(READER, MINE, FULL.encode(), PLACE) == "column names but no scores"


def test_a_row_that_does_not_fit_is_a_fault_with_its_line() -> None:
    rows = [
        ("wmt23,en-de,seg,M,refA,A,d,7,x", "value 'x'"),
        ("wmt23,en-de,seg,M,refA,A,d,7,inf", "value 'inf'"),
        ("wmt23,en-de,seg,M,refA,A,d,7,1" + "0" * 400, "value '1000"),
        ("wmt23,en-de,seg,M,refA,A,d,x,1", "segment 'x'"),
        ("wmt23,en-de,seg,M,refA,A,d,0,1", "segment numbers that begin at 0"),
        ("wmt23,en-de,word,M,refA,A,d,7,1", "level 'word'"),
        ("wmt23,en-de,seg,M,refA,,d,7,1", "no system"),
        ("wmt23,en-de,seg,,refA,A,d,7,1", "no scorer"),
        ("wmt23,en-de,seg,0.5,refA,A,d,7,1", "named '0.5'"),
        (",en-de,seg,M,refA,A,d,7,1", "no testset"),
        ("wmt23,German,seg,M,refA,A,d,7,1", "language pair 'German'"),
        ("wmt23,en-de,seg,M,refA,A,,,1", "no segment"),
        ("wmt23,en-de,seg,M,refA,A,d,7", "8 columns"),
        ('wmt23,en-de,seg,M,refA,"A', "broken quoting"),
    ]
    sound = FULL + "wmt23,en-de,seg,M,refA,A,d,6,1\n"
    assert_no_row_fits(READER, MINE, sound, [(f"{row}\n", found) for row, found in rows])


def test_a_name_of_a_metric_and_one_of_a_human_score_in_one_row_is_a_fault() -> None:
    records = read(READER, MINE, "system,metric,human,score\nA,M,mqm,1\nA,M,,1\nA,,mqm,2\n", PLACE)
    assert [(fault.line, fault.found) for fault in records.faults] == [(2, "named 'M and mqm'")]


def test_columns_that_stand_there_twice_are_a_fault() -> None:
    records = read(READER, MINE, "system,metric,score,x,x\nA,M,1,,\n", PLACE)
    assert [fault.found for fault in records.faults] == ["columns that appear twice: x"]


@together("separator", ["\t", ","])
def test_a_column_of_reference_texts_names_no_references(separator: str) -> None:
    rows_of = [
        ("metric", "system", "segment", "reference", "score"),
        *(("M", "A", str(n), f"Text {n}.", "0.5") for n in (1, 2)),
    ]
    text = "".join(separator.join(row) + "\n" for row in rows_of)
    records = read(LongTableReader(), "mine.csv", text, LoadHints(testset="lab", lp="de-en"))
    assert rows(records, "scorer", "reference", "segment") == [("M", "ref", 1), ("M", "ref", 2)]


def test_translations_with_quotes_join_no_lines_of_a_table_with_tabs() -> None:
    lines = ['"He came.', "She went.", 'He said "no"', '"quoted"', 'They left."']
    text = "metric\tsystem\tsegment\ttarget\tscore\n" + "".join(
        f"M\tA\t{n}\t{line}\t0.{n}\n" for n, line in enumerate(lines, start=1)
    )
    records = read(LongTableReader(), "mine.tsv", text, LoadHints(testset="lab", lp="de-en"))
    assert rows(records, "segment", "value") == [(n, n / 10) for n in range(1, 6)]
