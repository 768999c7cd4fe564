"""Everything beside the main data loads in one go, and its scores are those that stand in the files."""

import csv
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.helpers import beside_data
from tests.warehouse.building import ask
from warehouse import LoadReport


def test_nothing_is_refused_but_rankings_that_are_there_in_two_forms(further_load: tuple[Path, LoadReport]) -> None:
    """WMT15's of Finnish to English are there by system and, once more, by distinct output."""
    _, report = further_load
    assert [fault for fault in report.faults if "/collapsed.fin-eng.csv.gz" not in f"{fault.path} {fault.found}"] == []
    refused = [(evalset.testset, evalset.lp) for evalset in report.evalsets if evalset.status != "loaded"]
    assert refused == ([("wmt15", "fi-en")] if report.faults else [])


def rows_of(place: str, separator: str) -> Iterator[list[str]]:
    path = beside_data("more", place)
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(newline="") as file:
        yield from csv.reader(file, delimiter=separator, quoting=csv.QUOTE_NONE)


def of_layout(place: str, system: str, segment: int) -> str:
    """The score of a system's n-th line in a file of the organisers' layout."""
    return [row[-1] for row in rows_of(place, "\t") if row[-2] == system][segment - 1]


def of_table(place: str, separator: str, column: int, *cells: str) -> str:
    """A cell of the one row that has these cells, in this order, though not side by side."""
    ((found),) = [row[column] for row in rows_of(place, separator) if is_within(cells, row)]
    return found


def is_within(cells: tuple[str, ...], row: list[str]) -> bool:
    left = iter(row)
    return all(cell in left for cell in cells)


GOOGLE = "google-mqm/mqm_newstest2020_zhen.avg_seg_scores.tsv"
TED = "google-mqm/mqm_ted_zhen.avg_seg_scores.tsv"
PARITY = "human-parity/wmt20/human-scores/zh-en.mqm-col2.seg.score"
BLEURT = "human-parity/wmt20/metric-scores/zh-en/BLEURT-20-ref.seg.score"
NEW_ESA = "esa-wmt23-en-de/wmt23/human-scores/en-de.esa-2.seg.score"
NEW_MQM = "esa-wmt23-en-de/wmt23/human-scores/en-de.mqm-1.seg.score"
COLUMN = "wmt22/mt-metrics-eval-v2/wmt22/human-scores/en-zh.mqm-col3.seg.score"
WEAK = "mslc/2023/data/metric-scores/he-en/Calibri-COMET22-refB.seg.score"
WEAKER = "mslc/2024/data/MSLC-A/metric-scores/en-de/BLEU-refA.seg.score"
LATEST = "mslc/2025/data/MSLC-A/metric-scores/ja-zh"
QE = "wmt22-qe/wmt22.qe.scores.tsv"
EN_DE, JA_ZH = "mslc/wide/wmt24.news.en-de.tsv", "mslc/wide/wmt24.news.ja-zh.tsv"
MEE = "wmt20-doc/final-metric-scores/submissions/MEE.doc.score.gz"
DA = "wmt20-doc/manual-evaluation/DA/metrics-ad-doc-scores-zh-en.csv"

SEGMENT_SCORES: list[tuple[Callable[[], str], str]] = [
    (lambda: of_table(GOOGLE, " ", 1, "DeepMind.381", "2"), "wmt20 zh-en mqm DeepMind.381 2"),
    (lambda: of_table(GOOGLE, " ", 1, "Human-A.0", "2000"), "wmt20 zh-en mqm Human-A.0 2000"),
    (lambda: of_table(GOOGLE, " ", 1, "Online-B.1605", "777"), "wmt20 zh-en mqm Online-B.1605 777"),
    (lambda: of_layout(PARITY, "DeepMind.381", 1001), "wmt20 zh-en mqm-col2 DeepMind.381 1001"),
    (lambda: of_layout(PARITY, "Online-B.1605", 1890), "wmt20 zh-en mqm-col2 Online-B.1605 1890"),
    (lambda: of_layout(BLEURT, "DeepMind.381", 1), "wmt20 zh-en BLEURT-20-ref DeepMind.381 1"),
    (lambda: of_layout(BLEURT, "DeepMind.381", 2000), "wmt20 zh-en BLEURT-20-ref DeepMind.381 2000"),
    (lambda: of_layout(BLEURT, "Online-B.1605", 1003), "wmt20 zh-en BLEURT-20-ref Online-B.1605 1003"),
    (lambda: of_layout(NEW_ESA, "GPT4-5shot", 5), "wmt23 en-de esa-2 GPT4-5shot 5"),
    (lambda: of_layout(NEW_ESA, "refA", 557), "wmt23 en-de esa-2 refA 557"),
    (lambda: of_layout(NEW_MQM, "ONLINE-B", 400), "wmt23 en-de mqm-1 ONLINE-B 400"),
    (lambda: of_layout(COLUMN, "Online-A", 1000), "wmt22 en-zh mqm-col3 Online-A 1000"),
    (lambda: of_layout(COLUMN, "Online-W", 2037), "wmt22 en-zh mqm-col3 Online-W 2037"),
    (lambda: of_layout(WEAK, "00058", 3), "mslc-2023 he-en Calibri-COMET22-refB 00058 3"),
    (lambda: of_layout(WEAK, "00219", 1558), "mslc-2023 he-en Calibri-COMET22-refB 00219 1558"),
    (lambda: of_layout(WEAKER, "2", 2), "MSLC-A-2024 en-de BLEU-refA 2 2"),
    (lambda: of_layout(WEAKER, "9", 149), "MSLC-A-2024 en-de BLEU-refA 9 149"),
    (lambda: of_table(QE, "\t", 8, "en-cs", "da-z", "1"), "wmt22.qe-da en-cs da-z mt 1"),
    (lambda: of_table(QE, "\t", 8, "en-mr", "da-z", "1000"), "wmt22.qe-da en-mr da-z mt 1000"),
    (lambda: of_table(QE, "\t", 8, "zh-en", "mqm-z", "505"), "wmt22.qe-mqm zh-en mqm-z mt 505"),
    (lambda: of_table(EN_DE, "\t", 4, "en-de", "7", "A"), "wmt24.news en-de BERTScore-refA A 7"),
    (lambda: of_table(EN_DE, "\t", 12, "en-de", "90", "B (50k)"), "wmt24.news en-de MetricX-24-Hybrid-refA B (50k) 90"),
    (lambda: of_table(JA_ZH, "\t", 9, "ja-zh", "255", "GPT-4"), "wmt24.news ja-zh GEMBA-ESA-src GPT-4 255"),
    (lambda: of_table(JA_ZH, "\t", 11, "ja-zh", "100", "GPT-4"), "wmt24.news ja-zh mqm GPT-4 100"),
]


@pytest.mark.parametrize(("written", "place"), SEGMENT_SCORES, ids=[place for _, place in SEGMENT_SCORES])
def test_scores_of_segments(written: Callable[[], str], place: str, further_load: tuple[Path, LoadReport]) -> None:
    testset, lp, scorer, *system, segment = place.split(" ")
    found = ask(
        further_load[0],
        "SELECT value FROM scores "
        "WHERE (testset, lp, metric, system, segment) = ($testset, $lp, $scorer, $system, $at) "
        "UNION ALL SELECT value FROM human_scores "
        "WHERE (testset, lp, human, system, segment) = ($testset, $lp, $scorer, $system, $at)",
        testset=testset,
        lp=lp,
        scorer=scorer,
        system=" ".join(system),
        at=int(segment),
    )
    assert found == [as_stored(written())]


def as_stored(text: str) -> tuple[object]:
    return (None if text in ("None", "") else pytest.approx(float(text), rel=1e-9),)


DOCUMENT_SCORES: list[tuple[Callable[[], str], str]] = [
    (
        lambda: of_table(MEE, "\t", 6, "zh-en", *["newstest2020"] * 2, "DeepMind.381", "xinhua-zh-01.6565"),
        "MEE-ref xinhua-zh-01.6565",
    ),
    (
        lambda: of_table(MEE, "\t", 6, "zh-en", *["newstest2020"] * 2, "DeepMind.381", "australian-zh.107"),
        "MEE-ref australian-zh.107",
    ),
    (lambda: of_table(DA, " ", 2, "DeepMind.381", "australian-zh.104"), "wmt-raw australian-zh.104"),
    (lambda: of_table(DA, " ", 2, "DeepMind.381", "xinhua-zh-01.6565"), "wmt-raw xinhua-zh-01.6565"),
    (lambda: of_table(DA, " ", 3, "DeepMind.381", "xinhua-zh-01.6565"), "wmt-z xinhua-zh-01.6565"),
]


@pytest.mark.parametrize(("written", "place"), DOCUMENT_SCORES, ids=[place for _, place in DOCUMENT_SCORES])
def test_scores_of_documents(written: Callable[[], str], place: str, further_load: tuple[Path, LoadReport]) -> None:
    scorer, document = place.split(" ")
    found = ask(
        further_load[0],
        "SELECT value FROM aggregate_scores WHERE (testset, lp, scorer, system, level, unit) "
        "= ('wmt20', 'zh-en', $scorer, 'DeepMind.381', 'doc', $document)",
        scorer=scorer,
        document=document,
    )
    assert found == [as_stored(written())]


@pytest.mark.parametrize(
    ("testset", "lp", "human", "n"),
    [
        ("wmt20", "en-de", "mqm-col1", 681 * 10),
        ("wmt20", "zh-en", "psqm-col3", 895 * 10),
        ("wmt20", "zh-en", "mqm", 20_000),
        ("wmt22", "en-zh", "mqm-col2", 1814 * 14),
        ("wmt23", "en-de", "mqm-col1", 145 * 13),
        ("wmt23", "en-de", "mqm-col1_more_data", 376 * 13),
        ("wmt23", "en-de", "esaai-1", 207 * 13),
        ("wmt24.news", "en-de", "mqm", 90 * 18),
        ("wmt24.news", "ja-zh", "mqm", 255 * 14),
    ],
)
def test_as_many_human_scores_as_were_released(
    testset: str, lp: str, human: str, n: int, further_load: tuple[Path, LoadReport]
) -> None:
    query = "SELECT count(value) FROM human_scores WHERE (testset, lp, human) = ($testset, $lp, $human)"
    assert ask(further_load[0], query, testset=testset, lp=lp, human=human) == [(n,)]
