"""Judgements, annotations, campaigns and tables of one's own, from files to the warehouse."""

import json
from pathlib import Path

import pytest

from tests.warehouse.readers.samples import FACTS, MQM_HEADER, ROWS, esa, mqm_row, workbook
from warehouse import Warehouse, load
from warehouse.readers.claims import Given


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "judged.duckdb"


def loaded(root: Path, database: Path, given: Given | None = None) -> Warehouse:
    report = load([root], database, given=given or Given())
    assert report.faults == []
    return Warehouse.open(database)


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_esa_meets_the_organisers_segments_behind_the_canary(tmp_path: Path, database: Path) -> None:
    root = tmp_path / "data"
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
    with loaded(root, database) as warehouse:
        found = warehouse.rows(
            "SELECT system, segment, document, value FROM human_scores WHERE value IS NOT NULL ORDER BY ALL"
        )
        assert found == [("GPT-4", 2, "doc-a", 80.0), ("GPT-4", 4, "doc-b", 60.0)]
        assert warehouse.rows("SELECT count(*) FROM segment") == [(4,)]
        statuses = warehouse.rows("SELECT status, count(*) FROM judgement GROUP BY ALL ORDER BY ALL")
        assert statuses == [("tutorial", 1), ("valid", 3)]


def test_annotations_are_means_over_annotators(tmp_path: Path, database: Path) -> None:
    text = (
        MQM_HEADER + mqm_row("Other", "Major") + mqm_row("No-error", "No-error", rater="rater2") + mqm_row(segment="8")
    )
    with loaded(written(tmp_path / "ted" / "mqm_ted_ende.tsv", text).parent, database) as warehouse:
        found = warehouse.rows("SELECT testset, lp, human, segment, value FROM human_scores ORDER BY ALL")
        assert found == [("wmt21.tedtalks", "en-de", "mqm", 7, -2.5), ("wmt21.tedtalks", "en-de", "mqm", 8, -1.0)]
        assert warehouse.rows("SELECT severity, weight FROM span ORDER BY ALL") == [("Major", 5.0), ("Minor", 1.0)]


def test_a_campaign_is_a_test_set_with_its_systems(tmp_path: Path, database: Path) -> None:
    for name, system, score in (("a" * 32, "MSFT", 0.5), ("b" * 32, "PUBL", 0.25)):
        workbook(tmp_path, facts={**FACTS, "System": system, "COMET_src": score}, name=name)
    with loaded(tmp_path, database) as warehouse:
        found = warehouse.rows(
            "SELECT testset, lp, system, human, segment, document, domain, value FROM human_scores ORDER BY ALL"
        )
        place = ("toship.01234567", "en-zh")
        assert [line for line in found if line[-1] is not None] == [
            (*place, "MSFT-aaaaaaaa", "da", 1, "0", "news", 85.25),
            (*place, "PUBL-bbbbbbbb", "da", 1, "0", "news", 85.25),
        ]
        submitted = warehouse.rows(
            "SELECT system, submitted FROM system_scores WHERE scorer = 'COMET_src-src' ORDER BY ALL"
        )
        assert submitted == [("MSFT-aaaaaaaa", 0.5), ("PUBL-bbbbbbbb", 0.25)]
        assert warehouse.rows("SELECT count(*) FROM judgement") == [(2 * len(ROWS),)]


def test_long_and_wide_tables_meet(tmp_path: Path, database: Path) -> None:
    root = tmp_path / "mine"
    written(root / "en-de" / "long.csv", "system,metric,score\nA,Mine,1\nB,Mine,2\n")
    written(root / "en-de" / "wide.tsv", "system\tBLEU\tHUMAN\nA\t30\t0.5\nB\t31\t0.75\n")
    with loaded(root, database, Given(testset="mine", human="ours")) as warehouse:
        found = warehouse.rows("SELECT testset, lp, scorer, system, submitted FROM system_scores ORDER BY ALL")
        assert found == [
            ("mine", "en-de", scorer, system, value)
            for scorer, system, value in (
                ("BLEU-ref", "A", 30.0),
                ("BLEU-ref", "B", 31.0),
                ("Mine-ref", "A", 1.0),
                ("Mine-ref", "B", 2.0),
                ("ours", "A", 0.5),
                ("ours", "B", 0.75),
            )
        ]
    again = load([root], database, given=Given(testset="mine", human="ours"))
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
    assert (fault.expected, fault.way_out) == ("each once", "load one or the other")
