"""Scores that the translation tasks computed themselves."""

from collections import Counter
from pathlib import Path

import pytest

from tests.helpers import real_data, together
from tests.warehouse.readers.reading import claimed, content, head, read, rows, told
from warehouse.readers.automatic_scores import UNSUBMITTED, AutomaticScoreReader, SystemScoreListReader
from warehouse.readers.claims import LoadHints
from warehouse.wording import option

READER = AutomaticScoreReader()
PATH = Path("wmt22-news-systems/scores/automatic-scores.tsv")
HEADER = "pair\tsystem\tid\tis_constrained\tmetric\tscore\n"
LIST = Path("wmt21-news-systems/scores/en-de/COMET_newstest2021_ref-B.tsv")


def test_the_end_of_a_metrics_name_is_its_reference() -> None:
    names = ("bleu-all", "bleu-A", "chrf-refA", "COMET-B", "COMET-stud", "chrf")
    lines = "".join(f"de-en\tAMU\t{n}\tTRUE\t{name}\t{n}.5\n" for n, name in enumerate(names))
    records = read(READER, PATH, HEADER + lines)
    assert rows(records, "line", "scorer", "reference", "value") == [
        (2, "bleu", "all", 0.5),
        (3, "bleu", "refA", 1.5),
        (4, "chrf", "refA", 2.5),
        (5, "COMET", "refB", 3.5),
        (6, "COMET", "stud", 4.5),
        (7, "chrf", "ref", 5.5),
    ]
    assert set(rows(records, "testset", "lp", "level", "kind", "system")) == {
        ("wmt22", "de-en", "sys", "metric", "AMU")
    }


def test_they_took_no_part_in_the_metrics_task() -> None:
    claim = claimed(READER, PATH, HEADER)
    assert (claim.status, claim.origin, claim.evalsets) == ("no entry", "wmt22/automatic-scores.tsv", ())
    assert claim.reader.partition("/")[0] in UNSUBMITTED


def test_the_test_set_comes_from_the_folders_or_from_the_user() -> None:
    assert READER.claim(Path("automatic-scores.tsv"), head(HEADER.encode()), LoadHints()) == (
        f"automatic scores of an unknown test set; name it with {option('testset')}"
    )
    assert claimed(READER, Path("x.tsv"), HEADER, LoadHints(testset="wmt23")).origin == "wmt23/automatic-scores.tsv"
    assert claimed(READER, Path("wmt21-news-systems/x.tsv"), HEADER).origin == "wmt21.news/automatic-scores.tsv"
    assert READER.claim(Path("wmt22/other.tsv"), ("a\tb",), LoadHints()) is None


@together(
    ("text", "line", "found"),
    [
        ("system\tpair\n", 1, "the header 'system\\tpair'"),
        (HEADER + "de-en\tAMU\t1\tTRUE\tbleu-A\n", 2, "5 columns"),
        (HEADER + "de-en\tAMU\t1\tTRUE\tbleu-A\tgood\n", 2, "score 'good'"),
        (HEADER + "\tAMU\t1\tTRUE\tbleu-A\t1\n", 2, "language pair ''"),
    ],
)
def test_what_does_not_fit_is_reported(text: str, line: int, found: str) -> None:
    assert (line, found) in told(read(READER, PATH, text))


@pytest.mark.parametrize(("year", "n_rows", "n_pairs"), [(21, 1270, 20), (22, 1174, 21), (23, 744, 14)])
def test_the_real_tables_come_through(year: int, n_rows: int, n_pairs: int) -> None:
    path = real_data(f"wmt{year}-news-systems", "scores", "automatic-scores.tsv")
    lines = [line.split("\t") for line in content(path).decode().splitlines()[1:]]
    records = read(READER, path, content(path))
    assert not records.faults
    frame = records.scores
    assert (frame.height, len(lines)) == (n_rows, n_rows)
    assert frame["lp"].n_unique() == n_pairs
    assert Counter(frame.select("lp", "system", "value").rows()) == Counter((r[0], r[1], float(r[5])) for r in lines)
    assert not frame.select("lp", "system", "scorer", "reference").is_duplicated().any()
    references = {"all", "refA", "refB", "refC", "refD", "stud"}
    assert set(frame["reference"]) <= references


def test_a_list_of_one_metric_is_told_by_its_name_and_folder() -> None:
    reader = SystemScoreListReader()
    for header in ("", "sys\tscore\n"):
        records = read(reader, LIST, header + "Facebook-AI\t0.5\nref-A\tNone\n")
        assert rows(records, "testset", "lp", "scorer", "reference", "system", "value") == [
            ("wmt21.news", "en-de", "COMET", "refB", "Facebook-AI", 0.5),
            ("wmt21.news", "en-de", "COMET", "refB", "ref-A", None),
        ]
    assert claimed(reader, LIST, "A\t1\n").status == "no entry"
    assert reader.name.partition("/")[0] in UNSUBMITTED
    answer = reader.claim(Path(LIST.name), ("A\t1",), LoadHints())
    assert answer == f"system scores of an unknown language pair; name it with {option('lp')}"
    assert read(reader, LIST.name, "A\t1\n", LoadHints(lp="de-en")).evalsets == (("wmt21.news", "de-en"),)
    assert reader.claim(Path("en-de/scores.tsv"), ("A\t1",), LoadHints()) is None
