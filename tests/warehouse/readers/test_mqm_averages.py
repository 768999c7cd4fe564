"""MQM averages as published."""

from pathlib import Path

import pytest

from tests.helpers import real_data, together
from tests.warehouse.readers.reading import claimed, content, head, read, rows, told
from warehouse.readers.claims import LoadHints
from warehouse.readers.mqm import MqmAverageReader
from warehouse.wording import option

READER = MqmAverageReader()
PATH = Path("newstest2021/zhen/mqm_newstest2021_zhen.avg_seg_scores.tsv")
HEADER = "system mqm_avg_score seg_id\n"


@together("between", [" ", "\t"])
def test_blank_or_tab_a_line_is_system_score_and_segment(between: str) -> None:
    records = read(READER, PATH, HEADER + f"ref-A{between}-0.000000 1\nBorderline{between}None 2\n")
    assert rows(records, "testset", "lp", "level", "kind", "scorer", "system", "segment", "value", "line") == [
        ("wmt21.news", "zh-en", "seg", "human", "mqm", "ref-A", 1, 0.0, 2),
        ("wmt21.news", "zh-en", "seg", "human", "mqm", "Borderline", 2, None, 3),
    ]


@together(
    ("name", "evalset"),
    [
        ("mqm_newstest2020_ende.avg_seg_scores.tsv", ("wmt20", "en-de")),
        ("mqm_newstest2021_zhen.avg_seg_scores.tsv", ("wmt21.news", "zh-en")),
        ("mqm_ted_ende.avg_seg_scores.tsv", ("wmt21.tedtalks", "en-de")),
        ("mqm_generalMT2022_en-ru.avg_seg_scores.tsv", ("wmt22", "en-ru")),
    ],
)
def test_the_name_tells_test_set_and_language_pair_and_the_annotations_are_named(
    name: str, evalset: tuple[str, str]
) -> None:
    claim = claimed(READER, Path(name), HEADER)
    place = "/".join(evalset)
    assert claim.evalsets == (evalset,)
    assert claim.origin == f"{place}/mqm.avg_seg_scores"
    assert (claim.companion, claim.is_annotation) == (f"{place}/mqm.annotations", False)


def test_without_such_a_name_folders_or_the_user_tell() -> None:
    assert claimed(READER, Path("newstest2020/ende/averages.tsv"), HEADER).evalsets == (("wmt20", "en-de"),)
    given = LoadHints(testset="mine", lp="en-de", human="mqm-2")
    assert rows(read(READER, "a.tsv", HEADER + "A -1 1\n", given), "testset", "scorer") == [("mine", "mqm-2")]
    lines = head(HEADER.encode())
    assert READER.claim(Path("a.tsv"), lines, LoadHints(lp="en-de")) == (
        f"MQM averages of an unknown test set; name it with {option('testset')}"
    )
    assert READER.claim(Path("a.tsv"), lines, LoadHints(testset="mine")) == (
        f"MQM averages of an unknown language pair; name it with {option('lp')}"
    )
    assert READER.claim(Path("mqm_ted_ende.tsv"), ("system\tdoc\tdoc_id\tseg_id",), LoadHints()) is None


@together(
    ("text", "line", "found"),
    [
        ("seg_id system mqm_avg_score\nA -1 1\n", 1, "the header 'seg_id system mqm_avg_score'"),
        (HEADER + "A -1\n", 2, "2 columns"),
        (HEADER + "A -1 1\nA -x 2\n", 3, "mqm_avg_score '-x'"),
        (HEADER + "A -1 one\n", 2, "seg_id 'one'"),
        (HEADER + "A -1 0\n", 2, "segment numbers that begin at 0"),
    ],
)
def test_what_does_not_fit_is_reported(text: str, line: int, found: str) -> None:
    assert told(read(READER, PATH, text)) == [(line, found)]


@pytest.mark.parametrize(
    ("parts", "n_rows", "n_missing", "n_segments"),
    [
        (("newstest2020", "ende", "mqm_newstest2020_ende.avg_seg_scores.tsv"), 14180, 0, 1418),
        (("newstest2021", "ende", "mqm_newstest2021_ende.avg_seg_scores.tsv"), 17034, 8075, 1002),
        (("newstest2021", "zhen", "mqm_newstest2021_zhen.avg_seg_scores.tsv"), 29220, 19470, 1948),
        (("ted", "ende", "mqm_ted_ende.avg_seg_scores.tsv"), 8484, 1078, 606),
    ],
)
def test_the_real_averages_come_through(parts: tuple[str, ...], n_rows: int, n_missing: int, n_segments: int) -> None:
    path = real_data("wmt-mqm-human-evaluation", *parts)
    data = content(path)
    records = read(READER, path, data)
    assert not records.faults
    frame = records.scores
    assert (frame.height, data.count(b"\n") - 1) == (n_rows, n_rows)
    assert (frame["value"].null_count(), data.count(b"None")) == (n_missing, n_missing)
    lines = [line.replace("\t", " ").split(" ") for line in data.decode().splitlines()[1:]]
    assert frame["value"].sum() == pytest.approx(sum(float(line[1]) for line in lines if line[1] != "None"))
    assert frame["segment"].to_list() == [int(line[2]) for line in lines]
    assert frame["segment"].n_unique() == frame["segment"].max() == n_segments
    assert not frame.select("system", "segment").is_duplicated().any()
