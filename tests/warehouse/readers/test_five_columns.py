"""System scores in five columns, as WMT12's are kept."""

from collections import Counter
from pathlib import Path

import pytest

from tests.helpers import real_data, together
from tests.warehouse.readers.reading import claimed, content, head, read, rows, told
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.five_columns import FiveColumnReader
from warehouse.readers.recognition import claim

READER = FiveColumnReader()
ERRORS = ("TER", "BlockErrCats", "WordBlockErrCats", "XEnErrCats")
HEADER = "METRIC\tLP\tTESTSET\tSYSTEM\tSCORE\n"
BODY = (
    "AMBER\tes-en\tnewstest2012\tjhu-hiero\t0.21\n"
    "TER\tes-en\tnewstest2012\tjhu-hiero\t50.8 \n"
    "HUMAN\ten-fr\tnewstest2012\tjhu-hiero\tNone\n"
)


@together("header", [HEADER, ""])
def test_header_or_not_human_scores_and_metrics_are_told_apart(header: str) -> None:
    records = read(READER, "scores", header + BODY)
    assert rows(records, "testset", "lp", "level", "kind", "scorer", "reference", "system") == [
        ("wmt12", "es-en", "sys", "metric", "AMBER", "ref", "jhu-hiero"),
        ("wmt12", "es-en", "sys", "metric", "TER", "ref", "jhu-hiero"),
        ("wmt12", "en-fr", "sys", "human", "HUMAN", None, "jhu-hiero"),
    ]
    assert rows(records, "line")[0] == (2 if header else 1,)


def test_errors_are_negated_where_the_years_files_hold_them_as_they_are() -> None:
    names = (*ERRORS, "BLEU", "HUMAN")
    text = "".join(f"{name}\tes-en\tnewstest2012\tA\t50.5\n" for name in names)
    found = rows(read(READER, "scores", text), "scorer", "value", "is_negated")
    assert found == [*((name, -50.5, True) for name in ERRORS), ("BLEU", 50.5, False), ("HUMAN", 50.5, False)]
    later = rows(read(READER, "scores", text.replace("2012", "2014")), "scorer", "value", "is_negated")
    assert later == [(name, 50.5, False) for name in names]


def test_the_claim_keeps_the_files_name_for_its_origin() -> None:
    claim = claimed(READER, Path("a/mt-systems-scored-by-metrics"), HEADER + BODY)
    assert (claim.origin, claim.evalsets) == ("wmt12/mt-systems-scored-by-metrics", ())


def test_other_tables_and_headers_alone_are_not_taken() -> None:
    assert READER.claim(Path("x"), head(HEADER.encode()), LoadHints()) == "a header but no scores"
    long = "testset\tlp\tlevel\tsystem\tscore\n" + "mine\ten-de\tsys\tA\t0.5\n" * 9
    for text in (long, "a\tb\tc\td\te\n", "1\tnewstest2020\tde-en\tdoc\t1\n", "Online-A\t0.5\n", ""):
        assert READER.claim(Path("x"), head(text.encode()), LoadHints()) is None


@pytest.mark.every(2)
@pytest.mark.parametrize("cells", ['"{}"', "{}", " {} "])
@pytest.mark.parametrize("separator", ["\t", ",", ";"])
@pytest.mark.parametrize("header", [HEADER, HEADER.lower(), HEADER.title()])
def test_spreadsheets_change_nothing_of_published_scores(
    header: str, separator: str, cells: str, tmp_path: Path
) -> None:
    published = rows(read(READER, "scores", header + BODY), "testset", "lp", "kind", "scorer", "system", "value")
    path = tmp_path / "scores.csv"
    lines = [line.split("\t") for line in (header + BODY).splitlines()]
    path.write_text("".join(separator.join(cells.format(cell) for cell in line) + "\n" for line in lines))
    found = claim(path)
    assert isinstance(found, Claim)
    assert found.reader == READER.name
    kept = rows(read(READER, path), "testset", "lp", "kind", "scorer", "system", "value")
    assert kept == published
    assert kept[1] == ("wmt12", "es-en", "metric", "TER", "jhu-hiero", -50.8)


@together("testset", ["lab", "wmt23", "lab2012"])
def test_a_table_of_ones_own_with_these_columns_is_none_of_these(testset: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.tsv"
    path.write_text((HEADER.lower() + BODY).replace("newstest2012", testset))
    found = claim(path)
    assert isinstance(found, Claim)
    assert found.reader != READER.name


@together("text", ["SYSTEM\tSCORE\n" + BODY, "x" + HEADER + BODY, "?\n" * 25 + BODY])
def test_a_file_that_is_called_as_wmt12s_is_no_other_format_whatever_its_first_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "wmt12" / "mt-systems-scored-by-humans"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    found = claim(path)
    assert isinstance(found, Claim)
    assert READER.parse(text.encode(), found, LoadHints()).faults


def test_a_line_of_an_unknown_test_set_is_reported() -> None:
    assert told(read(READER, "x", HEADER + BODY + BODY.replace("newstest2012", "own"))) == [
        (5, "test set 'own', and in 2 more lines")
    ]


@together(
    ("spoiled", "line", "found"),
    [
        (HEADER + BODY.replace("0.21", "-inf"), 2, "SCORE '-inf'"),
        (HEADER + BODY.replace("\t0.21", ""), 2, "4 columns"),
        (BODY + BODY.replace("\tjhu-hiero\t0.21", "\t\t0.21").split("\n")[0], 4, "no system"),
    ],
)
def test_lines_that_do_not_fit_are_reported(spoiled: str, line: int, found: str) -> None:
    assert told(read(READER, "x", spoiled)) == [(line, found)]


@pytest.mark.parametrize("name", ["mt-systems-scored-by-humans", "mt-systems-scored-by-metrics"])
def test_the_real_wmt12_files_come_through(name: str) -> None:
    path = real_data("wmt12-es-en", name)
    lines = [line.split("\t") for line in content(path).decode().splitlines()[1:]]
    frame = read(READER, path, content(path)).scores
    found = Counter(frame.select("scorer", "lp", "system", "value").rows())
    sign = dict.fromkeys(ERRORS, -1.0)
    assert found == Counter((line[0], line[1], line[3], sign.get(line[0], 1.0) * float(line[4])) for line in lines)
    assert set(frame["kind"]) == {"human" if name.endswith("humans") else "metric"}
    assert dict(frame.group_by("lp").len().iter_rows())["en-fr"] == (15 if name.endswith("humans") else 30)
