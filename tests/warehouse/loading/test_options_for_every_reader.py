"""What the user says of a file is obeyed or refused, whichever reader takes it; it is never passed over."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.warehouse.building import ask
from tests.warehouse.readers.samples import MQM_HEADER, RANKING_HEADER, mqm_row, workbook
from warehouse import SourceError, load
from warehouse.loading.files import find
from warehouse.loading.record_files import OpenFile, human_scores
from warehouse.readers.claims import LoadHints
from warehouse.readers.recognition import READERS, RECORD_READERS, is_record_reader
from warehouse.wording import NO_LP

ESA = "ann,A,1,TGT,eng,deu,80,doc,False,[],0.0,1.0\n"
ACES = "source\tgood-translation\tincorrect-translation\treference\tphenomena\tlangpair\n"
OWN_ITEMS = "item,phenomenon,hypothesis,grade,lp\n1,tense,a,1,en-de\n1,tense,b,0,en-de\n"
DEMETR = dict.fromkeys(("src_sent", "eng_sent", "mt_sent", "pert_sent"), "x") | {"lang_tag": "german"}
PEARMUT = {
    "item_i": "a",
    "user_id": "u",
    "item": [{"item_id": "news_###_d_###_0"}],
    "annotation": [{"A": {"score": 5}}],
}
SUBMITTED = {"src": "a\n", "ref": "b\n", "hyp-1": "c\n", "meta": "domain-category\tdoc_id\nnews\td\n"}


@dataclass(frozen=True)
class Form:
    """A file of one format. said: what a load needs beside it. brings: test set, pair and human score."""

    name: str
    text: str
    said: LoadHints
    brings: tuple[str, str, str | None]


NOTHING = LoadHints()
FORMS = {
    "mtme/1": Form("wmt20/human-scores/en-de.mqm.seg.score", "A\t1\n", NOTHING, ("wmt20", "en-de", "mqm")),
    "challenge-set/1 demetr": Form(
        "minor_id1_x.json", json.dumps([DEMETR | {"pert_name": "x"}]), NOTHING, ("demetr", "de-en", "grade")
    ),
    "challenge-set/1 aces": Form(
        "challenge.tsv", ACES + "s\tg\tb\tr\tx\ten-de\n", LoadHints(testset="other"), ("other", "en-de", "grade")
    ),
    "challenge-set/1 own": Form("items.csv", OWN_ITEMS, NOTHING, ("items", "en-de", "grade")),
    "challenge-set/1 submitted": Form("S/S.en-de.meta.txt", "", NOTHING, ("challengeset2025.S", "en-de", "grade")),
    "wmt-da": Form(
        "ad-seg-scores-en-de.csv",
        "SYS SID RAW.SCR Z.SCR N\nA 1 50 0.5 1\n",
        LoadHints("mine"),
        ("mine", "en-de", "wmt-z"),
    ),
    "error-spans": Form(
        "s.csv",
        "system,segment,start,end,severity\nA,1,0,3,minor\n",
        LoadHints("m", "en-de", "esa"),
        ("m", "en-de", "esa"),
    ),
    "item-scores": Form(
        "talk.json",
        '[{"source": "x", "system_id": "A", "scores": {"fluency": 1}, "predict_scores": {}}]',
        NOTHING,
        ("talk", NO_LP, "fluency"),
    ),
    "wmt-metrics-task": Form(
        "M.seg.score", "N\ten-de\tnewstest2020\tnewstest2020\tA\tdoc\t1\t0.5\n", NOTHING, ("wmt20", "en-de", None)
    ),
    "wmt-details": Form("details/en-de.txt", "1\tnewstest2020\ten-de\td\t1\n", NOTHING, ("wmt20", "en-de", None)),
    "wmt-system-table": Form(
        "DA-newstest2019-ende-sys-nohy-scores.csv",
        "LP SYSTEM HUMAN M\nen-de A 0.5 1\n",
        NOTHING,
        ("wmt19", "en-de", "wmt-z"),
    ),
    "five-columns": Form(
        "mine.tsv",
        "METRIC\tLP\tTESTSET\tSYSTEM\tSCORE\nHUMAN\ten-de\tnewstest2012\tA\t1\n",
        NOTHING,
        ("wmt12", "en-de", "HUMAN"),
    ),
    "wmt-automatic/": Form(
        "automatic-scores.tsv",
        "pair\tsystem\tid\tis_constrained\tmetric\tscore\nen-de\tA\t1\tTrue\tM-refA\t1\n",
        LoadHints("mine"),
        ("mine", "en-de", None),
    ),
    "wmt-automatic-list": Form(
        "COMET_newstest2021_ref-A.tsv", "A\t1\n", LoadHints(lp="en-de"), ("wmt21.news", "en-de", None)
    ),
    "mqm-averages": Form(
        "mqm_newstest2020_ende.avg_seg_scores.tsv",
        "system mqm_avg_score seg_id\nA -1 1\n",
        NOTHING,
        ("wmt20", "en-de", "mqm"),
    ),
    "mqm-annotations": Form("mqm_newstest2020_ende.tsv", MQM_HEADER + mqm_row(), NOTHING, ("wmt20", "en-de", "mqm")),
    "appraise": Form("esa.csv", ESA, LoadHints("mine"), ("mine", "en-de", "esa")),
    "wmt25-automatic": Form(
        "A.jsonl",
        '{"metric_scores": {"M": [1]}, "language_pair": "en-de", "domain": "news", "document_id": "d"}\n',
        LoadHints("mine"),
        ("mine", "en-de", None),
    ),
    "wmt25-human": Form(
        "h.jsonl",
        '{"doc_id": "en-de_#_a_#_b_#_0", "scores": {"A": {"human1": 5}}}\n',
        LoadHints("mine"),
        ("mine", "en-de", "esa-human1"),
    ),
    "pearmut": Form("a.json", json.dumps({"en-de v1": [PEARMUT]}), LoadHints("mine"), ("mine", "en-de", "esa")),
    "campaign-workbook": Form("workbook", "", LoadHints("mine"), ("mine", "en-zh", "da")),
    "wmt-rankings": Form(
        "r.csv", RANKING_HEADER + "Czech,English,1,judge,A,1,B,2\n", LoadHints("mine"), ("mine", "cs-en", "rr")
    ),
    "preferences": Form(
        "mine.csv",
        "testset,lp,human,segment,system_a,system_b,answer\nmine,en-de,arena,1,A,B,tie\n",
        NOTHING,
        ("mine", "en-de", "arena"),
    ),
    "preferences nameless": Form(
        "mine.csv",
        "segment,system_a,system_b,answer\n1,A,B,tie\n",
        LoadHints("mine", "en-de", "arena"),
        ("mine", "en-de", "arena"),
    ),
    "long-table": Form(
        "mine.csv", "testset,lp,human,system,segment,score\nmine,en-de,mqm,A,1,-1\n", NOTHING, ("mine", "en-de", "mqm")
    ),
    "long-table nameless": Form(
        "mine.csv", "system,segment,score\nA,1,-1\n", LoadHints("mine", "en-de", "mqm"), ("mine", "en-de", "mqm")
    ),
    "wide-table": Form(
        "w.csv", "testset,lp,system,esa\nmine,en-de,A,1\nmine,en-de,B,2\n", NOTHING, ("mine", "en-de", "esa")
    ),
    "wide-table nameless": Form(
        "w.csv", "system,human_avg\nA,1\nB,2\n", LoadHints("mine", "en-de", "mqm"), ("mine", "en-de", "mqm")
    ),
}


def written(form: Form, folder: Path) -> Path:
    if form.name == "workbook":
        return workbook(folder)
    path = folder / form.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(form.text)
    for part, text in SUBMITTED.items() if form.name.startswith("S/") else ():
        path.with_name(f"S.en-de.{part}.txt").write_text(text)
    return path


def brought(path: Path, given: LoadHints) -> tuple[set[str], set[str], set[str], str]:
    """Test sets, language pairs and human scores that a load would bring, and why nothing comes."""
    found = find([path], given)
    faults = [*map(str, found.faults), *(reason for _, reason in found.skipped)]
    evalsets, humans = set(), set[str]()
    for claim in found.claims:
        if is_record_reader(claim.reader):
            opened = OpenFile.open(claim, given, path.parent)
            evalsets |= {*opened.records.evalsets}
            humans |= human_scores(opened.records)
            faults += map(str, opened.faults)
        else:
            evalsets |= {*claim.evalsets}
            humans |= {claim.human} if claim.human else set()
    return {name for name, _ in evalsets}, {lp for _, lp in evalsets}, humans, "; ".join(faults)


def test_every_reader_is_among_the_forms() -> None:
    names = [reader.name for reader in (*READERS, *RECORD_READERS)]
    assert [name for name in names if not any(name.startswith(form.split()[0]) for form in FORMS)] == []


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_what_the_user_says_is_obeyed_or_refused_and_what_agrees_changes_nothing(form: Form, tmp_path: Path) -> None:
    path = written(form, tmp_path)
    testset, lp, human = form.brings
    told = brought(path, form.said)
    assert (told[0], told[1], told[3]) == ({testset}, {lp}, "")
    assert human is None or human in told[2]
    agreed = replace(form.said, testset=testset, lp=lp, human=human)
    assert brought(path, agreed)[0:2] == ({testset}, {lp})
    assert brought(path, agreed)[3] == ""
    if path.name not in ("s.csv", "mine.csv", "w.csv"):  # tables, whose segments users number
        assert "segments from 0" in brought(path, replace(agreed, first_segment=0))[3]
    for at, (option, other) in enumerate((("testset", "elsewhere"), ("lp", "fi-sv"), ("human", "odd"))):
        if option == "human" and human is None:
            continue  # a load in which nothing has human scores is refused as a whole
        came = brought(path, replace(agreed, **{option: other}))
        is_obeyed = not came[3] and came[at] and all(name == other or name.startswith(f"{other}-") for name in came[at])
        assert is_obeyed or other in came[3], (option, came)


@pytest.mark.parametrize("form", [form for form in FORMS.values() if form.said != NOTHING], ids=lambda form: form.name)
def test_what_a_file_does_not_say_is_asked_for_or_has_a_name_of_its_format(form: Form, tmp_path: Path) -> None:
    path = written(form, tmp_path)
    for option in ("testset", "lp", "human"):
        if getattr(form.said, option) is not None:
            came = brought(path, replace(form.said, **{option: None}))
            assert option in came[3] or not came[3], (option, came)


def test_a_human_score_that_no_file_has_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("system,M-src,N-src\nA,1,2\nB,2,1\n")
    with pytest.raises(SourceError, match="no human scores to name 'mqm'"):
        load([tmp_path / "w.csv"], tmp_path / "w.duckdb", given=LoadHints("mine", "en-de", "mqm"))


@pytest.mark.slow
def test_other_texts_of_the_same_segments_are_refused_and_what_was_there_stays(tmp_path: Path) -> None:
    database = tmp_path / "w.duckdb"
    first, second = tmp_path / "aces.tsv", tmp_path / "other-aces.tsv"
    first.write_text(ACES + "s\tg\tb\tr\tx\ten-de\n")
    second.write_text(ACES + "another\tg\tb\tr\ty\ten-de\n")
    assert load([first], database).is_clean
    report = load([second], database)
    assert [fault.found for fault in report.faults] == [f"another source of segment 1 than {first} has"]
    assert "load it under another name with testset" in str(report.faults[0])
    assert ask(database, "SELECT DISTINCT phenomenon FROM phenomena") == [("x",)]
    assert load([second], database, given=LoadHints(testset="other")).is_clean
    assert ask(database, "SELECT testset, phenomenon FROM phenomena ORDER BY ALL") == [("aces", "x"), ("other", "y")]
