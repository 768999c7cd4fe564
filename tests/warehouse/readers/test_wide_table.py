from pathlib import Path

import polars as pl
import pytest

from tests.helpers import together
from tests.warehouse.readers.reading import answer, assert_no_row_fits, claimed, read, rows
from warehouse.readers.claims import LoadHints
from warehouse.readers.wide_table import WideTableReader
from warehouse.wording import option

READER = WideTableReader()
MINE = Path("scores/mine.csv")
PLACE = LoadHints(testset="wmt23", lp="en-de")


def test_each_column_of_numbers_is_a_metric_or_a_human_score() -> None:
    text = "system,BLEU,Mine-src,mqm,remark\nA,30.5,0.5,-1,good\nB,,0.25,-2,\n"
    records = read(READER, MINE, text, PLACE)
    assert rows(records, "line", "level", "kind", "scorer", "reference", "system", "value") == [
        (2, "sys", "metric", "BLEU", "refA", "A", 30.5),
        (3, "sys", "metric", "BLEU", "refA", "B", None),
        (2, "sys", "metric", "Mine", None, "A", 0.5),
        (3, "sys", "metric", "Mine", None, "B", 0.25),
        (2, "sys", "human", "mqm", None, "A", -1.0),
        (3, "sys", "human", "mqm", None, "B", -2.0),
    ]
    assert records.notes == ["columns not read: remark (no numbers)"]


def test_test_set_pair_and_segment_may_be_columns() -> None:
    text = "Language Pair\tTestset\tSegment\tSystem\tMine\nen-cs\twmt24\t5\tA\t1\nen-uk\twmt24\t6\tA\t2\n"
    records = read(READER, MINE, text)
    assert rows(records, "testset", "lp", "level", "segment", "value") == [
        ("wmt24", "en-cs", "seg", 5, 1.0),
        ("wmt24", "en-uk", "seg", 6, 2.0),
    ]


@together(("human", "expected"), [(None, "HUMAN"), ("esa", "esa")])
def test_a_column_called_human_has_the_name_that_the_user_gives(human: str | None, expected: str) -> None:
    records = read(READER, MINE, "system,HUMAN,Mine\nA,1,2\n", LoadHints(testset="t", lp="en-de", human=human))
    assert rows(records, "kind", "scorer") == [("human", expected), ("metric", "Mine")]


def test_the_column_of_the_named_human_score_is_human() -> None:
    records = read(READER, MINE, "system,ours,Mine\nA,1,2\n", LoadHints(testset="t", lp="en-de", human="ours"))
    assert rows(records, "kind", "scorer") == [("human", "ours"), ("metric", "Mine")]


def test_one_metric_gets_the_name_that_the_user_gives() -> None:
    given = LoadHints(testset="wmt23", lp="en-de", metric="Mine", reference="refB", is_own=True)
    text = "system,v2,mqm\nA,1,2\n"
    records = read(READER, MINE, text, given)
    assert rows(records, "scorer", "reference") == [("Mine", "refB")]
    assert records.notes == ["columns not read: mqm"]
    claim = claimed(READER, MINE, text.encode(), given)
    assert claim.is_own
    records = read(READER, MINE, "system,v2,v3\nA,1,2\n", given)
    assert [fault.found for fault in records.faults] == ["metrics v2, v3"]


def test_of_own_metrics_the_column_of_that_name_is_taken() -> None:
    given = LoadHints(testset="wmt23", lp="en-de", metric="Mine", is_own=True)
    records = read(READER, MINE, "system,BLEU,Mine,mqm\nA,1,2,3\n", given)
    assert rows(records, "scorer", "reference", "value") == [("Mine", None, 2.0)]
    assert records.notes == ["columns not read: BLEU, mqm"]


def test_a_column_of_references_counts_for_all_metrics() -> None:
    records = read(READER, MINE, "system,ref,M,mqm\nA,refB,1,2\n", PLACE)
    assert rows(records, "scorer", "reference") == [("M", "refB"), ("mqm", None)]


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    path = tmp_path / "wide.parquet"
    pl.DataFrame({"system": ["A", "B"], "Mine": [0.1, float("nan")]}).write_parquet(path)
    assert rows(read(READER, path, given=PLACE), "system", "scorer", "value") == [
        ("A", "Mine", 0.1),
        ("B", "Mine", None),
    ]


@together(("given", "lacking"), [(LoadHints(lp="en-de"), "testset"), (LoadHints(testset="wmt23"), "lp")])
def test_what_is_lacking_is_asked_for(given: LoadHints, lacking: str) -> None:
    reason = answer(READER, MINE, b"system,BLEU\nA,1\n", given)
    assert isinstance(reason, str)
    assert option(lacking) in reason


def test_a_row_that_does_not_fit_is_a_fault_with_its_line() -> None:
    rows = [("B,x", "BLEU 'x'"), ("B,inf", "BLEU 'inf'"), (",1", "no system"), ("B", "1 column"), ("", "a blank line")]
    assert_no_row_fits(READER, MINE, "system,BLEU\nA,1\n", [(f"{row}\n", found) for row, found in rows], PLACE)


def test_a_column_without_a_name_is_named_by_its_place() -> None:
    records = read(READER, MINE, "system,,BLEU\nA,7,30\n", PLACE)
    assert records.notes == ["columns not read: column 2, which has no name"]


@together("column", ["Unnamed: 0", "id", "rank", "date", "src_len", "__index_level_0__"])
def test_a_column_that_is_no_metric_is_left_out_by_name_unless_the_user_names_it(column: str) -> None:
    text = f"system,{column},BLEU\nA,7,30\nB,9,31\nC,8,32.5\n"
    records = read(READER, MINE, text, PLACE)
    assert {name for (name,) in rows(records, "scorer")} == {"BLEU"}
    assert records.notes == [f"columns not read: {column} (not the name of a metric)"]
    named = read(READER, MINE, text.replace(",BLEU", ",remark"), LoadHints(testset="wmt23", lp="en-de", metric=column))
    assert len(rows(named, "value")) == 3


def test_a_metric_that_was_not_run_on_a_pair_is_absent_there_and_the_rest_loads() -> None:
    table = "lp,system,segment,mqm,A-src,B-src\nen-de,x,1,-1,0.8,0.5\nen-es,x,1,-2,0.3,\nen-es,y,1,0,0.1,\n"
    records = read(READER, MINE, table, LoadHints(testset="mine"))
    assert records.of(("mine", "en-es")).scores["scorer"].to_list() == ["mqm", "mqm", "A", "A"]
    assert records.notes == ["B has no scores on mine en-es"]


@together(("column", "is_metric"), [("Ours-src", True), ("Ours-refA", True), ("BLEU", True), ("n_tokens", False)])
def test_a_constant_column_is_a_metric_if_it_is_named_as_one(column: str, is_metric: bool) -> None:
    records = read(READER, MINE, f"system,{column},M\nA,7,1\nB,7,2.5\nC,7,2\n", PLACE)
    assert (records.scores.height == 6) == is_metric
    assert records.notes == [] if is_metric else [f"columns not read: {column} (the same number in all rows)"]


@together("cell", [True, [1, 2], [{"start": 0}], {"a": {"b": 1}}])
@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_a_further_column_with_parts_or_truth_values_does_not_stop_a_load(
    form: str, cell: object, tmp_path: Path
) -> None:
    path = tmp_path / f"mine.{form}"
    table = pl.DataFrame({"system": ["A", "B"], "esa": [65, 70], "more": [cell, cell]})
    getattr(table, "write_parquet" if form == "parquet" else "write_ndjson")(path)
    records = read(READER, path, given=PLACE)
    assert rows(records, "system", "scorer", "value") == [("A", "esa", 65.0), ("B", "esa", 70.0)]
    assert records.notes == ["columns not read: more (no numbers)"]
    read_column = table.rename({"more": "document"})
    getattr(read_column, "write_parquet" if form == "parquet" else "write_ndjson")(path)
    assert "a value with parts, or true or false, in" in read(READER, path, given=PLACE).faults[0].found


def test_a_column_of_annotators_is_for_human_scores_alone() -> None:
    records = read(READER, MINE, "system,annotator,BLEU\nA,x,30\nB,y,31\n", PLACE)
    assert rows(records, "system", "scorer") == [("A", "BLEU"), ("B", "BLEU")]
    assert records.notes == ["columns not read: annotator (no human scores)"]


@together("values", [(1, 2, 3), (0, 1, 2), (2024, 2024, 2024)])
def test_numbers_that_count_up_or_are_all_the_same_are_no_metric(values: tuple[int, ...]) -> None:
    lines = [f"{system},{value},{value * 0.3 + (system == 'C')}" for system, value in zip("ABC", values, strict=True)]
    records = read(READER, MINE, "\n".join(["system,n,Mine", *lines, ""]), PLACE)
    assert {name for (name,) in rows(records, "scorer")} == {"Mine"}


@together("name", ["MQM-GEMBA", "wmt-xcomet", "DA_COMET"])
def test_a_metric_called_after_a_human_score_is_a_metric(name: str) -> None:
    records = read(READER, MINE, f"system,{name}\nA,1.5\nB,2.5\n", PLACE)
    assert {kind for (kind,) in rows(records, "kind")} == {"metric"}
