"""Submissions to the metrics tasks, all generations."""

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from tests.helpers import real_data, together
from tests.warehouse.readers.reading import claimed, content, head, read, rows, told
from warehouse.readers.claims import LoadHints
from warehouse.readers.submissions import SubmissionReader

READER = SubmissionReader()
SEG20 = (
    "TER\ten-de\tnewstest2020\tnewstest2020\tOnline-A.1571\tbbc.1\t1\t-0.5\n"
    "TER\ten-de\tnewstest2020\tnewstestB2020\tOnline-A.1571\tbbc.1\t2\t-0.25\n"
)


def test_system_scores_of_2020_have_a_reference_set_and_a_test_set() -> None:
    text = (
        "BLEU\ten-in\tnewstest2020\tnewstest2020\tHuawei_TSC.7\t11.5\n"
        "BLEU\ten-de\tnewstest2020\tnewstestB2020\tHuman-A.0\t12\n"
        "BLEU\ten-de\tnewstest2020\tnewstestM2020\tHuman-A.0\t13\n"
        "BLEU\ten-de\tnewstest2020\tnewstestP2020\tHuman-A.0\t14\n"
        "YiSi-2\ten-de\tnewstest2020\tnewstest2020\tHuman-A.0\tNone\n"
        "BLEU\tde-en\ttestsuites2020\ttestsuites2020\tyolo.1\t-0.0\n"
    )
    records = read(READER, "submissions/other.sys.score.gz", text)
    assert rows(records, "testset", "lp", "level", "kind", "scorer", "reference", "system", "value", "line") == [
        ("wmt20", "en-in", "sys", "metric", "BLEU", "ref", "Huawei_TSC.7", 11.5, 1),
        ("wmt20", "en-de", "sys", "metric", "BLEU", "refB", "Human-A.0", 12.0, 2),
        ("wmt20", "en-de", "sys", "metric", "BLEU", "refM", "Human-A.0", 13.0, 3),
        ("wmt20", "en-de", "sys", "metric", "BLEU", "refP", "Human-A.0", 14.0, 4),
        ("wmt20", "en-de", "sys", "metric", "YiSi-2", None, "Human-A.0", None, 5),
        ("testsuites2020", "de-en", "sys", "metric", "BLEU", "ref", "yolo.1", 0.0, 6),
    ]
    assert str(records.scores["value"][5]) == "0.0"


def test_document_and_segment_scores_of_2020_have_their_place_within_the_document() -> None:
    records = read(READER, "a/TER.seg.score", SEG20)
    assert rows(records, "level", "document", "index", "segment", "reference", "value") == [
        ("seg", "bbc.1", 1, None, "ref", -0.5),
        ("seg", "bbc.1", 2, None, "refB", -0.25),
    ]
    text = "chrF\ten-de\tnewstest2020\tnewstest2020\tOnline-A.1571\tbbc.1\t0.5\n"
    records = read(READER, "a/chrF.doc.score", text)
    assert rows(records, "level", "document", "index", "system") == [("doc", "bbc.1", None, "Online-A.1571")]
    assert rows(read(READER, "a/renamed.txt", text), "level") == [("doc",)]


def test_until_2019_two_words_follow_the_score_and_segments_are_lines() -> None:
    text = "BEER\ten-de\tnewstest2019\tUCAM.6731\t0.66\tnon-ensemble\tyes\n"
    records = read(READER, "BEER.sys.score", text)
    columns = ("testset", "level", "scorer", "reference", "system", "segment", "value")
    assert rows(records, *columns) == [("wmt19", "sys", "BEER", "ref", "UCAM.6731", None, 0.66)]
    text = "UNI\ten-de\tnewstest2019\tUCAM.6731\t17\t0.66\tensemble\thttps://example.org\n"
    records = read(READER, "UNI.seg.score.gz", text)
    assert rows(records, *columns) == [("wmt19", "seg", "UNI", None, "UCAM.6731", 17, 0.66)]
    text = "AMBER\ten-de\tnewstest2014\tuedin.1\t17\t0.66\n"
    assert rows(read(READER, "AMBER.seg.score", text), *columns) == [
        ("wmt14", "seg", "AMBER", "ref", "uedin.1", 17, 0.66)
    ]


def test_since_2021_scores_have_a_domain_and_all_means_the_whole_test_set() -> None:
    text = (
        "COMET\ten-de\tgeneraltest2022\tall\trefA\tOnline-A\t0.5\n"
        "COMET\ten-de\tgeneraltest2022\tnews\tref-B\tOnline-A\t0.6\n"
        "UniTE\ten-de\tgeneraltest2023\tall\tsrc\tOnline-A\t0.7\n"
        "COMET\teng-deu\tnewstest2021\tall\trefA\tOnline-A\t0.8\n"
        "COMET\ten-ha\tflorestest2021\tall\trefA\tOnline-A\t0.9\n"
        "COMET\ten-de\ttedtalks\tall\trefA\tOnline-A\t1.0\n"
        "COMET\ten-de\tchallengeset\tall\trefA\tgood\t1.1\n"
    )
    records = read(READER, "wmt22-metrics/COMET.sys.score", text)
    assert rows(records, "testset", "lp", "level", "domain", "reference") == [
        ("wmt22", "en-de", "sys", None, "refA"),
        ("wmt22", "en-de", "domain", "news", "refB"),
        ("wmt23", "en-de", "sys", None, None),
        ("wmt21.news", "en-de", "sys", None, "refA"),
        ("wmt21.flores", "en-ha", "sys", None, "refA"),
        ("wmt21.tedtalks", "en-de", "sys", None, "refA"),
        ("challengeset2022", "en-de", "sys", None, "refA"),
    ]


def test_segments_since_2021_are_lines_unless_their_numbers_begin_anew_in_each_document() -> None:
    row = "COMET\t{}\tgeneraltest2022\tnews\t{}\trefA\tOnline-A\t{}\t0.5\n"
    lines = [("en-de", "a", 1), ("en-de", "a", 2), ("en-de", "b", 3), ("zh-en", "a", 1), ("zh-en", "b", 1)]
    records = read(READER, "COMET.seg.score", "".join(row.format(*line) for line in lines))
    assert rows(records, "lp", "document", "segment", "index", "domain") == [
        ("en-de", "a", 1, None, "news"),
        ("en-de", "a", 2, None, "news"),
        ("en-de", "b", 3, None, "news"),
        ("zh-en", "a", None, 1, "news"),
        ("zh-en", "b", None, 1, "news"),
    ]


def test_tables_of_2025_are_read_by_their_header() -> None:
    names = "source_lang\ttarget_lang\tdoc_id\tsegment_id\tset_id\tsystem_id\tdomain_name\tmethod\toverall\tline\n"
    text = names + (
        "en\tde_DE\td1\t1\tofficial\tGPT-4.1\tnews\tBLEU\t0.1\t\n"
        "en\tde_DE\td1\t2\tofficial\tGPT-4.1\tnews\tBLEU\tNaN\t\n"
        "en\tde_DE\td2\t3\tofficial\tGPT-4.1\tnews\tCOMETKiwi22\t0.3\t\n"
        "en\tde_DE\tall\tall\tofficial\tGPT-4.1\tnews\tBLEU\t0.4\t\n"
        "en\tde_DE\tall\tall\tofficial\tGPT-4.1\tall\tBLEU\t0.5\t\n"
        "en\tde_DE\tall\tall\tchallenge\tGPT-4.1\tall\tBLEU\t0.6\t\n"
    )
    records = read(READER, "wmt25/primary/team.seg.tsv", text)
    columns = ("testset", "lp", "level", "domain", "document", "index", "scorer", "reference", "value")
    assert rows(records, *columns) == [
        ("wmt25", "en-de_DE", "seg", "news", "d1", 1, "BLEU", "ref", 0.1),
        ("wmt25", "en-de_DE", "seg", "news", "d1", 2, "BLEU", "ref", None),
        ("wmt25", "en-de_DE", "seg", "news", "d2", 1, "COMETKiwi22", None, 0.3),
        ("wmt25", "en-de_DE", "domain", "news", None, None, "BLEU", "ref", 0.4),
        ("wmt25", "en-de_DE", "sys", None, None, None, "BLEU", "ref", 0.5),
        ("challengeset2025", "en-de_DE", "sys", None, None, None, "BLEU", "ref", 0.6),
    ]
    assert claimed(READER, Path("wmt25/primary/team.seg.tsv"), text).origin == "wmt25/primary/team.seg.tsv"
    assert claimed(READER, Path("x/team.seg.tsv"), text).origin == "wmt25/submissions/team.seg.tsv"


HEADER_25 = "doc_id\tsegment_id\tsource_lang\ttarget_lang\tset_id\tsystem_id\tdomain_name\tmethod\toverall\n"


def of_2025(*places: str, set_id: str = "official", method: str = "M") -> str:
    """A table of 2025 with a score for each `document segment`."""
    rows = (f"{place}\ten\tde\t{set_id}\tA\tnews\t{method}\t0.{n}\n" for n, place in enumerate(places, 1))
    return HEADER_25 + "".join(row.replace(" ", "\t", 1) for row in rows)


@pytest.mark.slow
@together("missing", range(5))
def test_segments_of_2025_are_known_by_their_numbers_whichever_is_missing(missing: int) -> None:
    within_documents = ["d 1", "d 2", "d 3", "e 1", "e 2"]
    assert not read(READER, "M.seg.tsv", of_2025(*within_documents)).faults
    del within_documents[missing]
    records = read(READER, "M.seg.tsv", of_2025(*within_documents))
    assert not records.faults
    assert [f"{row[0]} {row[1]}" for row in rows(records, "document", "index")] == within_documents
    within_testset = ["d 1", "d 2", "d 3", "e 4", "e 5"]
    whole = read(READER, "M.seg.tsv", of_2025(*within_testset))
    assert rows(whole, "document", "index", "segment")[2:4] == [("d", 3, 3), ("e", 1, 4)]
    del within_testset[missing]
    text = of_2025(*within_testset)
    faults = read(READER, "M.seg.tsv", text).faults
    assert [fault.found for fault in faults] == [f"wmt25 en-de without segment {missing + 1}"][: missing < 4]
    said = read(READER, "M.seg.tsv", text, LoadHints(numbering="testset"))
    assert [f"{row[0]} {row[1]}" for row in rows(said, "document", "segment")] == within_testset


def test_numbers_of_segments_of_2025_that_are_none_are_faults() -> None:
    assert told(read(READER, "M.seg.tsv", of_2025("d 1", "d x"))) == [(3, "segment_id 'x'")]


def test_a_blank_line_before_the_header_of_2025_is_a_fault() -> None:
    assert told(read(READER, "M.seg.tsv", "\n" + of_2025("d 1"))) == [(1, "a blank line")]


@together("target", ["zh", "cmn", "zho", "zho_Hans", "zh_Hans", "cmn_Hans"])
def test_spellings_of_a_language_are_of_one_pair(target: str) -> None:
    text = of_2025("d 1").replace("\tde\t", f"\t{target}\t")
    assert rows(read(READER, "M.seg.tsv", text), "lp") == [("en-zh",)]


def test_results_on_challenge_sets_are_of_the_metric_that_the_file_is_called_after() -> None:
    text = of_2025("d 1", "d 2", set_id="challenge_mslc-b", method="NaN")
    for folder, status in (("primary", "primary"), ("secondary", "contrastive"), ("baseline", "baseline")):
        path = Path(folder, "MetricX-25.tsv")
        claim = claimed(READER, path, text)
        assert (claim.origin, claim.status) == (f"challengeset2025.mslc-b/{folder}/MetricX-25.tsv", status)
        assert rows(read(READER, path, text), "testset", "scorer", "index") == [
            ("challengeset2025.mslc-b", "MetricX-25", n) for n in (1, 2)
        ]
    assert rows(read(READER, "polyic-3.seg.tsv.gz", text), "scorer") == [("polyic-3",)] * 2


def test_a_table_of_2025_without_places_has_scores_of_systems() -> None:
    text = "method\tset_id\tsource_lang\ttarget_lang\tsystem_id\toverall\nchrF\tofficial\ten\tcs_CZ\tGemTrans\t0.5\n"
    records = read(READER, "baseline/chrF.sys.tsv", text)
    assert rows(records, "testset", "lp", "level", "system", "reference") == [
        ("wmt25", "en-cs_CZ", "sys", "GemTrans", "refA")
    ]
    twice = text.replace("set_id", "method")
    assert READER.claim(Path("chrF.sys.tsv"), head(twice.encode()), LoadHints()) is None
    twice = text.replace("\toverall", "\toverall\toverall")
    assert told(read(READER, "chrF.sys.tsv", twice)) == [(1, "a column that appears twice")]


def test_a_claim_says_what_the_file_is_and_which_files_place_its_documents(tmp_path: Path) -> None:
    details = tmp_path / "input" / "details"
    details.mkdir(parents=True)
    (details / "en-de.txt").touch()
    scored = tmp_path / "final-metric-scores" / "submissions" / "TER.seg.score.gz"
    claim = claimed(READER, scored, SEG20)
    assert (claim.origin, claim.needs) == ("wmt20/submissions/TER.seg.score", (details / "en-de.txt",))
    assert (claim.evalsets, claim.status) == ((), None)
    assert claimed(READER, tmp_path / "baselines" / "TER.seg.score", SEG20).origin == "wmt20/baselines/TER.seg.score"
    system = "TER\ten-de\tnewstest2020\tnewstest2020\tOnline-A.1571\t-0.5\n"
    assert claimed(READER, scored.with_name("TER.sys.score"), system).needs == ()


def test_backups_are_passed_over_and_other_files_left_to_others() -> None:
    for name in ("TER.seg.score.bk", "TER.seg.bk.score.gz", "TER.seg.score.bk.gz"):
        assert READER.claim(Path(name), head(SEG20.encode()), LoadHints()) == (
            "a backup copy of scores; the file without .bk is read"
        )
    others = {
        "BLEU-refA.seg.score": "Online-A\t0.5\n",
        "scores": "AMBER\tes-en\tnewstest2012\tjhu\t0.2\n",
        "automatic-scores.tsv": "pair\tsystem\tid\tis_constrained\tmetric\tscore\nen-de\tA\t1\tTrue\tbleu-A\t1\n",
        "x.tsv": "a\tb\tc\td\te\tf\n",
        "long.seg.tsv": "testset\tlp\tlevel\tscorer\tref\tsystem\tdoc\tseg\tscore\n"
        + "mine\ten-de\tseg\tBLEU\trefA\tA\td\t1\t0.5\n" * 9,
        "empty.sys.score": "",
    }
    for name, text in others.items():
        assert READER.claim(Path(name), head(text.encode()), LoadHints()) is None, name


def test_a_line_of_an_unknown_test_set_is_reported() -> None:
    text = "COMET\ten-de\tchallengeset\tall\trefA\tgood\t1.1\n"
    records = read(READER, "COMET.sys.score", text.replace("challengeset", "newstest2021") * 2 + text)
    assert told(records) == [(3, "test set 'challengeset'")]
    assert records.scores.height == 2


@together(
    ("spoiled", "line", "found"),
    [
        (SEG20 + SEG20.split("\n")[0].rsplit("\t", 1)[0], 3, "7 columns"),
        (SEG20 + "\n", 3, "a blank line"),
        (SEG20.replace("-0.25", "-inf"), 2, "SCORE '-inf'"),
        (SEG20.replace("-0.25", "1e999"), 2, "SCORE '1e999'"),
        (SEG20.replace("-0.25", "good"), 2, "SCORE 'good'"),
        (SEG20.replace("\t2\t", "\t2.5\t"), 2, "SEGNO '2.5'"),
        (SEG20.replace("\t2\t", "\t0\t"), 2, "segment numbers that begin at 0"),
        (SEG20.replace("Online-A.1571\tbbc.1\t2", "\tbbc.1\t2"), 2, "no system"),
        (SEG20 + SEG20.split("\n")[1].replace("en-de", "German"), 3, "language pair 'German'"),
        (SEG20 + SEG20.split("\n")[1].replace("newstest2020", "some"), 3, "test set 'some'"),
    ],
)
def test_lines_that_do_not_fit_are_reported_with_their_number(spoiled: str, line: int, found: str) -> None:
    assert told(read(READER, "TER.seg.score", spoiled)) == [(line, found)]


def test_a_submission_with_shuffled_columns_is_refused() -> None:
    text = "\n".join("\t".join(reversed(line.split("\t"))) for line in SEG20.splitlines())
    assert told(read(READER, "wmt20/TER.seg.score", text)) == [(1, "unknown columns")]


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["baselines", "submissions"])
def test_every_row_of_the_real_submissions_comes_through(folder: str) -> None:
    for path in sorted(real_data("wmt20-metrics", "final-metric-scores", folder).glob("*.gz")):
        data = content(path)
        records = read(READER, path, data)
        assert not records.faults, path.name
        frame = records.scores
        assert frame.height == data.count(b"\n"), path.name
        assert frame["value"].null_count() == 0
        if ".sys." in path.name:
            lines = [line.split("\t") for line in data.decode().splitlines()]
            said = Counter((row[0], row[1], row[2][:4], row[4], float(row[5])) for row in lines)
            found = frame.with_columns(
                pl.when(pl.col("testset") == "wmt20").then(pl.lit("news")).otherwise(pl.lit("test"))
            )
            keys = found.select("scorer", "lp", "literal", "system", "value").rows()
            assert Counter(keys) == said, path.name


def test_metrics_without_reference_stand_under_one_reference_set_in_2020() -> None:
    """So their rows come once, whatever reference set the file names."""
    found = set()
    for path in sorted(real_data("wmt20-metrics", "final-metric-scores", "submissions").glob("*.sys.score.gz")):
        frame = read(READER, path, content(path)).scores
        free = frame.filter(pl.col("reference").is_null())
        assert free.select("testset", "lp", "scorer", "system").is_duplicated().sum() == 0, path.name
        found |= set(free["scorer"])
    assert found == {"COMET-QE", "OpenKiwi-Bert", "OpenKiwi-XLMR", "YiSi-2"}


def test_the_real_references_of_english_german_are_four() -> None:
    path = real_data("wmt20-metrics", "final-metric-scores", "submissions", "bleurt-combi.sys.score.gz")
    frame = read(READER, path, content(path)).scores
    assert sorted(frame.group_by("scorer", "reference").len().rows()) == [
        ("bleurt-Yisi-combi", "refP", 16),
        ("bleurt-combi", "ref", 16),
        ("bleurt-combi", "refB", 16),
        ("bleurt-combi", "refM", 17),
    ]


def test_english_inuktitut_of_another_domain_keeps_its_own_language_pair() -> None:
    path = real_data("wmt20-metrics", "final-metric-scores", "baselines", "BLEU.sys.score.gz")
    frame = read(READER, path, content(path)).scores
    systems = {lp: set(frame.filter(pl.col("lp") == lp)["system"]) for lp in ("en-in", "en-iu")}
    assert len(systems["en-in"]) == 11
    assert systems["en-in"] == systems["en-iu"]
