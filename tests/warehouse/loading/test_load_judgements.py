"""Judgements, annotations, campaigns and tables of one's own, from files to the warehouse."""

import json
from pathlib import Path

import pytest

from tests.warehouse.building import ask
from tests.warehouse.readers.samples import FACTS, MQM_HEADER, ROWS, esa, mqm_row, workbook
from warehouse import load
from warehouse.readers.claims import LoadHints


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with an ESA campaign, MQM annotations and workbooks of a campaign; read it only."""
    folder = tmp_path_factory.mktemp("judgements")
    root = folder / "in"
    written(root / "wmt24" / "documents" / "en-ja.docs", "canary\tcanary\nnews\tdoc-a\nnews\tdoc-a\nnews\tdoc-b\n")
    scores = "".join(f"{system}\t{line}\n" for system in ("GPT-4", "IOL") for line in range(4))
    written(root / "wmt24" / "metric-scores" / "en-ja" / "BLEU-refA.seg.score", scores)
    rows = [
        esa(item=1, score="70"),
        esa(item=1, score="90", user="engjpn2"),
        esa(item=3, score="60", document="doc-b"),
        esa(system="ende-tutorial1", item=1000001, document="ende-tutorial1"),
    ]
    written(root / "wmt24-news-systems" / "esa_wave2.csv", "".join(rows))
    rows = [mqm_row("Other", "Major"), mqm_row("No-error", "No-error", rater="rater2"), mqm_row(segment="8")]
    written(root / "ted" / "mqm_ted_ende.tsv", MQM_HEADER + "".join(rows))
    for name, system, score in (("a" * 32, "MSFT", 0.5), ("b" * 32, "PUBL", 0.25)):
        workbook(root, facts={**FACTS, "System": system, "COMET_src": score}, name=name)
    report = load([root], folder / "w.duckdb")
    assert report.faults == []
    return folder / "w.duckdb"


@pytest.mark.slow
def test_esa_meets_the_organisers_segments_behind_the_canary(database: Path) -> None:
    query = "SELECT system, segment, document, value FROM human_scores WHERE testset = 'wmt24' AND value IS NOT NULL"
    assert sorted(ask(database, query)) == [("GPT-4", 2, "doc-a", 80.0), ("GPT-4", 4, "doc-b", 60.0)]
    assert ask(database, "SELECT count(*) FROM segments WHERE testset = 'wmt24'") == [(4,)]
    query = "SELECT status, count(*) FROM judgements WHERE testset = 'wmt24' GROUP BY ALL ORDER BY ALL"
    assert ask(database, query) == [("tutorial", 1), ("valid", 3)]


@pytest.mark.slow
def test_annotations_are_means_over_annotators(database: Path) -> None:
    query = "SELECT testset, lp, segment, value FROM human_scores WHERE human = 'mqm' ORDER BY ALL"
    assert ask(database, query) == [("wmt21.tedtalks", "en-de", 7, -2.5), ("wmt21.tedtalks", "en-de", 8, -1.0)]
    query = "SELECT severity, weight FROM spans WHERE scorer = 'mqm' ORDER BY ALL"
    assert ask(database, query) == [("Major", 5.0), ("Minor", 1.0)]


def test_a_campaign_is_a_test_set_with_its_systems(database: Path) -> None:
    query = """
        SELECT lp, system, human, segment, document, domain, value FROM human_scores
        WHERE testset = 'toship.01234567' AND value IS NOT NULL
        ORDER BY ALL
    """
    assert ask(database, query) == [
        ("en-zh", "MSFT-aaaaaaaa", "da", 1, "0", "news", 85.25),
        ("en-zh", "PUBL-bbbbbbbb", "da", 1, "0", "news", 85.25),
    ]
    query = "SELECT system, submitted FROM system_scores WHERE scorer = 'COMET_src-src' ORDER BY ALL"
    assert ask(database, query) == [("MSFT-aaaaaaaa", 0.5), ("PUBL-bbbbbbbb", 0.25)]
    assert ask(database, "SELECT count(*) FROM judgements WHERE human = 'da'") == [(2 * len(ROWS),)]


@pytest.mark.slow
def test_long_and_wide_tables_meet(tmp_path: Path) -> None:
    root, database = tmp_path / "mine", tmp_path / "w.duckdb"
    written(root / "en-de" / "long.csv", "system,metric,score\nA,Mine,1\nB,Mine,2\n")
    written(root / "en-de" / "wide.tsv", "system\tBLEU\tHUMAN\nA\t30\t0.5\nB\t31\t0.75\n")
    assert load([root], database, given=LoadHints(testset="mine", human="ours")).faults == []
    found = ask(database, "SELECT testset, lp, scorer, system, submitted FROM system_scores ORDER BY ALL")
    assert found == [
        ("mine", "en-de", scorer, system, value)
        for scorer, system, value in (
            *(("BLEU-ref", "A", 30.0), ("BLEU-ref", "B", 31.0)),
            *(("Mine-ref", "A", 1.0), ("Mine-ref", "B", 2.0)),
            *(("ours", "A", 0.5), ("ours", "B", 0.75)),
        )
    ]
    again = load([root], database, given=LoadHints(testset="mine", human="ours"))
    assert {evalset.status for evalset in again.evalsets} == {"unchanged"}


def test_judgements_that_two_files_have_are_refused(tmp_path: Path) -> None:
    """WMT24's are published as Appraise's table and as JSON lines."""
    folder = tmp_path / "wmt24"
    folder.mkdir()
    row = "engspa1,A,5,TGT,eng,spa,90,test-en-news_abc.1,False,[],1724876000.5,1724876010.25"
    (folder / "esa_generalMT2024_wave2.csv").write_text(row + "\n")
    one = {"langs": "en-es", "line_id": 5, "doc_id": "test-en-news_abc.1", "domain": "news", "esa_spans": []}
    one |= {"esa_score": 90, "times": [1724876000.5, 1724876010.25], "system": "A", "annotator": "engspa1"}
    (folder / "wmt24_esa.jsonl").write_text(json.dumps(one) + "\n")
    (fault,) = load([folder], tmp_path / "w.duckdb").faults
    assert fault.found.startswith("1 judgement that ")
    assert (fault.expected, fault.way_out) == ("each once", "load only one of them")


@pytest.mark.slow
def test_sums_of_marked_errors_are_no_direct_assessments(tmp_path: Path) -> None:
    spans = "testset,lp,system,segment,start,end,severity\nlab,en-de,A,1,0,3,major\nlab,en-de,B,1,0,3,minor\n"
    report = load([written(tmp_path / "spans.csv", spans)], tmp_path / "w.duckdb", given=LoadHints(human="esa"))
    assert report.faults == []
    root = tmp_path / "mine25"
    written(root / "documents" / "en-de.docs", "news\td\n")
    rating = '{"errors": [{"start": 0, "end": 3, "severity": "major", "score": 5}]}'
    path = written(root / "human-scores" / "en-de.esa.seg.rating", f"A\t{rating}\tr\n")
    assert load([root], tmp_path / "w.duckdb").faults == []
    path.with_suffix(".score").write_text("A\t-5\n", "utf-8")
    notes = load([root], tmp_path / "w.duckdb").notes
    assert any(note.endswith("1 score of esa outside 0 to 100, the first -5 of system 'A'") for note in notes)


LONG = "system,segment,annotator,human\n" + "".join(
    f"{system},{segment},ann{rater},{60 + 10 * rater + segment}\n"
    for system in "AB"
    for segment in (1, 2, 3)
    for rater in (1, 2)
)
BY_COLUMN = "system,segment,ann1,ann2,M-src\n" + "".join(
    f"{system},{n},{70 + n},{80 + n},{n / 9}\n" for system in "AB" for n in (1, 2, 3)
)
JUDGED = {
    "long.csv": (LONG, "da"),
    "scores.csv": (LONG.replace("human", "score"), "da"),
    "columns.csv": (BY_COLUMN, "da"),
    "named.csv": (BY_COLUMN.replace("ann", "da_rater"), None),
    "protocol.csv": (LONG.replace("human", "da"), None),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", JUDGED)
def test_a_table_of_one_s_own_brings_judgements_with_their_annotators(name: str, tmp_path: Path) -> None:
    text, human = JUDGED[name]
    (tmp_path / name).write_text(text)
    report = load([tmp_path / name], tmp_path / "w.duckdb", given=LoadHints("mine", "en-de", human))
    assert report.is_clean, report.faults
    assert any("12 judgements by 2 annotators" in note for note in report.notes)
    query = "SELECT system, segment, rater, value FROM judgements WHERE human = 'da' ORDER BY ALL LIMIT 2"
    rater = "rater" if name == "named.csv" else "ann"
    assert ask(tmp_path / "w.duckdb", query) == [("A", 1, f"{rater}1", 71.0), ("A", 1, f"{rater}2", 81.0)]
    assert ask(tmp_path / "w.duckdb", "SELECT segment, value FROM human_scores WHERE system = 'B' ORDER BY ALL") == [
        (1, 76.0),
        (2, 77.0),
        (3, 78.0),
    ]


def test_judgements_by_column_ask_for_the_name_of_their_score_and_each_row_for_an_annotator(tmp_path: Path) -> None:
    for name, text, human, found in (
        ("columns.csv", BY_COLUMN, None, "judgements in 'ann1' of an unknown human score"),
        ("long.csv", LONG.replace("A,1,ann1", "A,1,"), "da", "rater None"),
    ):
        (tmp_path / name).write_text(text)
        report = load([tmp_path / name], tmp_path / "w.duckdb", given=LoadHints("mine", "en-de", human))
        assert [fault.found for fault in report.faults] == [found]
