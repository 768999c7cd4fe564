"""People's rankings of outputs, and preferences of one's own: rows of CSV, XML, and what becomes of them."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import beside_data, tiny_layout
from tests.warehouse.building import ask
from tests.warehouse.readers.reading import read
from warehouse import load
from warehouse.export import export, import_parquet
from warehouse.readers.claims import LoadHints
from warehouse.readers.preference_table import PreferenceTableReader
from warehouse.readers.rankings import RankingReader
from warehouse.readers.records import Records

FIVE = "srclang,trglang,srcIndex,documentId,segmentId,judgeId," + ",".join(
    f"system{n}Number,system{n}Id" for n in "12345"
)
FIVE += "," + ",".join(f"system{n}rank" for n in "12345") + "\n"
XML = """<?xml version="1.0" encoding="UTF-8"?>
<WMT15-results>
<HIT hit-id="1" source-language="deu" block-id="-1" target-language="eng">
<ranking-task id="7">
  <ranking-result duration="00:00:35.337000" user="judge1">
    <translation system="newstest2015.A.12.de-en.txt,newstest2015.B.0.de-en.txt" rank="2" />
    <translation system="newstest2015.C.de-en.txt" rank="1" />
    <translation system="newstest2015.D.4.de-en.txt" rank="-1" />
  </ranking-result>
  <ranking-result duration="00:00:01" user="judge2" skipped="true" />
</ranking-task>
</HIT>
</WMT15-results>
"""


def _five(names: str, ranks: str, segment: int = 3) -> str:
    return f"Czech,English,{segment},doc,{segment},judge1," + ",".join(f"1,{one}" for one in names) + f",{ranks}\n"


def _rankings(text: str, path: str = "wmt12/x.csv") -> Records:
    return read(RankingReader(), path, text, LoadHints())


def _answers(records: Records) -> list[tuple[str, str, str]]:
    assert records.preferences is not None
    return records.preferences.select("system_a", "system_b", "answer").rows()


def _shares(records: Records) -> dict[str, float]:
    assert records.scores is not None
    return dict(records.scores.select("system", "value").iter_rows())


def test_a_ranking_of_five_is_all_its_pairs_without_those_of_blanks() -> None:
    records = _rankings(FIVE + _five("ABCDE", "2,1,1,-1,4"))
    assert _answers(records) == [
        *(("A", "B", "b"), ("A", "C", "b"), ("A", "E", "a")),
        *(("B", "C", "tie"), ("B", "E", "a"), ("C", "E", "a")),
    ]
    assert records.notes == ["1 ranking by 1 annotator, 6 pairs; 1 blank rank not read"]
    assert records.evalsets == (("wmt12", "cs-en"),)


def test_an_output_has_the_share_of_its_comparisons_that_it_won_with_ties_as_half() -> None:
    assert _shares(_rankings(FIVE + _five("ABCDE", "2,1,1,-1,4"))) == {"A": 1 / 3, "B": 2.5 / 3, "C": 2.5 / 3, "E": 0.0}


def test_systems_of_one_output_tie_and_rank_alike_against_all_others() -> None:
    records = _rankings(XML, "any.xml")
    assert _answers(records) == [("A", "B", "tie"), ("A", "C", "b"), ("B", "C", "b")]
    assert records.preferences is not None
    assert records.preferences["is_same_output"].to_list() == [True, False, False]
    assert records.preferences.select("line", "lp", "segment", "rater").row(0) == (6, "de-en", 7, "judge1")
    assert records.evalsets == (("wmt15", "de-en"),)
    assert records.notes == [
        "1 ranking skipped by the annotator",
        "1 ranking by 1 annotator, 3 pairs; 1 pair of systems with the same output, which tie; 1 blank rank not read",
    ]


def test_a_pair_a_row_with_its_rankings_number_is_the_ranking() -> None:
    header = "srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID\r\r\n"
    names = [f"newstest2015.{name}.fi-en.txt" for name in ("A.1", "B.2", "C.3")]
    pairs = [(names[0], 1, f"{names[1]}+{names[2]}", 2)]
    rows = "".join(f"fin,eng,5,5,j,{a},{rank},{b},{other},331\r\r\n" for a, rank, b, other in pairs)
    records = _rankings(header + rows, "any.csv")
    assert records.faults == []
    assert _answers(records) == [("A", "B", "a"), ("A", "C", "a"), ("B", "C", "tie")]
    assert records.preferences is not None
    assert records.preferences["ranking"].n_unique() == 1


def test_systems_that_differ_by_their_number_alone_keep_it() -> None:
    records = _rankings(XML.replace("C.de-en", "A.13.de-en"), "any.xml")
    assert _answers(records)[1] == ("A.12", "A.13", "b")


def test_references_and_unknown_languages_are_told() -> None:
    text = (
        FIVE
        + _five(["A", "B", "_ref", "D", "E"], "1,2,3,4,5")
        + _five("ABCDE", "1,2,3,4,5").replace("Czech", "Klingon")
    )
    records = _rankings(text)
    assert [str(fault) for fault in records.faults] == [
        "wmt12/x.csv:3: language 'Klingon', expected a language such as Czech, ces or cs"
    ]
    assert records.notes == ["1 ranking by 1 annotator, 6 pairs; 1 rank of references not read"]


def test_xml_that_declares_entities_is_refused() -> None:
    text = XML.replace("<WMT15", '<!DOCTYPE x [<!ENTITY a "b">]>\n<WMT15', 1)
    assert "declares an entity" in str(_rankings(text, "any.xml").faults[0])


RANKS = st.lists(st.integers(-1, 5).filter(bool), min_size=5, max_size=5)


@pytest.mark.slow
@settings(max_examples=15)
@given(RANKS, st.permutations("ABCDE"))
def test_the_order_of_outputs_in_a_ranking_changes_no_share(ranks: list[int], order: list[str]) -> None:
    by_name = dict(zip("ABCDE", ranks, strict=True))
    plain, shuffled = (
        _shares(_rankings(FIVE + _five("".join(names), ",".join(str(by_name[name]) for name in names))))
        for names in ("ABCDE", order)
    )
    assert shuffled == pytest.approx(plain)


@pytest.mark.slow
@settings(max_examples=15)
@given(RANKS, st.integers(0, 4))
def test_a_blank_in_place_of_a_rank_takes_that_outputs_pairs_and_no_others(ranks: list[int], at: int) -> None:
    names, blank = "ABCDE", [*ranks]
    blank[at] = -1
    before, after = (_answers(_rankings(FIVE + _five(names, ",".join(map(str, one))))) for one in (ranks, blank))
    assert after == [pair for pair in before if names[at] not in pair[:2]]


OWN = "segment,System A,System B,annotator,{}\n1,X,Y,ann,{}\n2,Y,X,bob,{}\n3,X,Y,,{}\n"


@pytest.mark.parametrize(
    ("column", "cells"),
    [("answer", ("A", "tie", "B")), ("winner", ("X", "=", "Y")), ("score", ("0.5", "0", "-2"))],
)
def test_answers_are_letters_names_or_scores(column: str, cells: tuple[str, str, str]) -> None:
    said = LoadHints(testset="lab", lp="en-de", human="arena")
    records = read(PreferenceTableReader(), "mine.csv", OWN.format(column, *cells), said)
    assert (records.faults, records.notes) == ([], ["3 preferences, 1 tie, 2 annotators"])
    assert _answers(records) == [("X", "Y", "a"), ("Y", "X", "tie"), ("X", "Y", "b")]


def test_other_answers_and_a_system_beside_itself_are_faults() -> None:
    text = OWN.format("answer", "perhaps", "", "B").replace("3,X,Y", "3,X,X")
    records = read(PreferenceTableReader(), "mine.csv", text, LoadHints(testset="lab", lp="en-de", human="arena"))
    assert [str(fault) for fault in records.faults] == [
        "mine.csv:2: answer 'perhaps', expected A, B or tie, or the name of the better system",
        "mine.csv:3: answer '', expected A, B or tie, or the name of the better system",
        "mine.csv:4: system_b 'X', expected another system than system_a",
    ]


@pytest.mark.slow
def test_preferences_are_stored_exported_and_replaced_with_their_file(tmp_path: Path) -> None:
    path, database = tmp_path / "wmt12" / "x.csv", tmp_path / "w.duckdb"
    path.parent.mkdir()
    path.write_text(FIVE + _five("ABCDE", "2,1,1,-1,4"))
    load([path], database)
    stored = "SELECT system_a, system_b, answer, segment, rater, kind, scorer FROM preferences ORDER BY ALL"
    assert ask(database, stored)[0] == ("A", "B", "b", 3, "judge1", "human", "rr")
    assert len(ask(database, stored)) == 6
    export(database, tmp_path / "out")
    import_parquet(tmp_path / "out", tmp_path / "again.duckdb")
    assert ask(tmp_path / "again.duckdb", stored) == ask(database, stored)
    path.write_text(FIVE + _five("ABCDE", "1,-1,-1,-1,2", segment=9))
    load([path], database)
    assert ask(database, stored) == [("A", "E", "a", 9, "judge1", "human", "rr")]


@pytest.mark.slow
def test_csv_of_preferences_reads_back_and_the_organisers_layout_says_that_it_has_none(tmp_path: Path) -> None:
    arena, database = LoadHints(testset="tiny24", lp="en-de", human="arena"), tmp_path / "w.duckdb"
    (tmp_path / "arena.csv").write_text(OWN.format("answer", "A", "tie", "B").replace("X", "Ash").replace("Y", "Birch"))
    load([tiny_layout(tmp_path / "layout")], database)
    load([tmp_path / "arena.csv"], database, given=arena)
    export(database, tmp_path / "csv", "csv")
    path = tmp_path / "csv" / "tiny24" / "en-de" / "preferences.csv"
    back = read(PreferenceTableReader(), "back.csv", path.read_text(), arena)
    columns = ("system_a", "system_b", "answer", "segment", "rater")
    assert back.preferences is not None
    assert back.preferences.select(columns).rows() == [
        *(("Ash", "Birch", "a", 1, "ann"), ("Birch", "Ash", "tie", 2, "bob"), ("Ash", "Birch", "b", 3, None))
    ]
    (exported,) = export(database, tmp_path / "mtme", "mtme")
    assert "3 preferences are excluded: this layout has no file for them; use csv or parquet" in exported.notes


@pytest.mark.slow
def test_all_of_wmt15_is_read_with_the_counts_that_were_printed() -> None:
    path = beside_data("more", "rankings", "wmt15", "wmt15.xml.gz")
    records = read(RankingReader(), "wmt15.xml", gzip.decompress(path.read_bytes()).decode(), LoadHints())
    assert records.preferences is not None
    counts = dict(records.preferences.group_by("lp").len().iter_rows())
    assert {lp: counts[lp] for lp in ("en-cs", "en-fi", "de-en", "ru-en")} == {
        "en-cs": 136855,
        "en-fi": 32694,
        "de-en": 40535,
        "ru-en": 44539,
    }
