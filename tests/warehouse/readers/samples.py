"""Rows and workbooks of single formats, each cell at choice; files of every format, and ways to spoil them."""

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path

import xlsxwriter


def esa(
    system: str = "GPT-4",
    item: int = 5,
    kind: str = "TGT",
    score: str = "80",
    document: str = "doc-a",
    end: str = "1724876802.5",
    *,
    user: str = "engjpn1",
    spans: str = "[]",
    is_document: str = "False",
) -> str:
    spans = '"' + spans.replace('"', '""') + '"'
    return f"{user},{system},{item},{kind},eng,jpn,{score},{document},{is_document},{spans},1724876793.1,{end}\n"


CAMPAIGN = "0123456789abcdef0123456789abcdef"


SYSTEM = "fedcba9876543210fedcba9876543210"


FACTS = {"System": "MSFT", "SystemID": SYSTEM, "domain": "news", "number_of_sentences": 500, "COMET_src": 0.75}


HEADER = ("Source", "Target", "User", "SegmentID", "Segment", "Score", "valid_line", "BLEURT_default", "Prism_src")


ROWS = (
    ("ENU", "CHS", "u1", 0, "h1", 80, True, 0.123456789012345, -1.5),
    ("ENU", "CHS", "u2", 0, "h1", 90.5, True, 0.123456789012345, -1.5),
    ("ENU", "CHS", "u1", 12, "h2", 70, False, 0.5, None),
)


def workbook(
    folder: Path,
    header: Sequence[str] = HEADER,
    rows: Sequence[Sequence[object]] = ROWS,
    facts: Mapping[str, object] = FACTS,
    *,
    sheets: Sequence[str] = (),
    name: str = SYSTEM,
) -> Path:
    """A workbook of the campaigns' shape; facts stand below a first row without a name, as they were exported."""
    path = folder / CAMPAIGN / f"{name}.xlsx"
    path.parent.mkdir(exist_ok=True)
    with xlsxwriter.Workbook(path) as book:
        judged = book.add_worksheet("hum_annotations")
        for at, row in enumerate((header, *rows)):
            judged.write_row(at, 0, row)
        system = book.add_worksheet("automatic_metrics")
        system.write(0, 1, 0)
        for at, pair in enumerate(facts.items(), start=1):
            system.write_row(at, 0, pair)
        for sheet in sheets:
            book.add_worksheet(sheet)
    return path


RANKING_HEADER = "srclang,trglang,srcIndex,judgeId,system1Id,system1rank,system2Id,system2rank\n"
MQM_HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\tcomment\n"


def mqm_row(
    category: str = "Style/Awkward",
    severity: str = "Minor",
    *,
    system: str = "Nemo",
    segment: str = "7",
    rater: str = "rater1",
    source: str = "the source",
    target: str = "ein <v>Ziel</v> hier",
) -> str:
    return "\t".join([system, "talk.1", "3", segment, rater, source, target, category, severity, ""]) + "\n"


NAMED = {
    "wmt20-metrics/input/details/de-en.txt": b"1\tnewstest2020\tde-en\tdoc\t1\n",
    "elsewhere/details/de-en.txt": b"1\tnewstest2020\tde-en\tdoc\t1\n",
    "wmt20-metrics/M.seg.score.gz": b"M\tde-en\tnewstest2020\tref\tAsh\t1\t0.5\n",
    "wmt20-metrics/M.sys.score": b"M\tde-en\tnewstest2020\tref\tAsh\t0.5\n",
    "mqm_ted_ende.tsv": b"system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n",
    "humeval/esa_generalMT2024_wave1.csv": b"a,Ash,1,TGT,eng,deu,80,doc,False,[],0.0,1.0\n",
    "humeval/WMT22.Appraise.SegLvl.csv": b"a,Ash,1,TGT,eng,deu,80,0.0,1.0\n",
    "wmt25/automatic_scores/Ash.jsonl": b'{"metric_scores": {}, "language_pair": "en-de", "document_id": "d"}\n',
    "wmt25/wmt25-genmt-humeval.jsonl": b'{"doc_id": "en-de_#_a_#_b_#_1", "scores": {}}\n',
    "wmt12/mt-systems-scored-by-metrics": b"METRIC\tLP\tTESTSET\tSYSTEM\tSCORE\n",
    "mine.csv": b"testset,lp,metric,system,score\nlab,en-de,M-src,A,0.5\n",
    "mine.jsonl": b'{"testset": "lab", "lp": "en-de", "metric": "M-src", "system": "A", "score": 0.5}\n',
}
SPOILED = {
    "empty": lambda data: b"",
    "its first byte": lambda data: data[:1] if data[:1] == b"\x1f" else b"?",
    "blank lines": lambda data: b"\n" * 30,
    "NUL bytes": lambda data: bytes(500),
    "a web page": lambda data: b"<!DOCTYPE html>\n<html><title>404</title></html>\n",
    "a pointer": lambda data: b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
}
PACKED = {
    "cut at its start": lambda data: gzip.compress(data)[:12],
    "cut after its header": lambda data: gzip.compress(data)[:25],
    "another magic number": lambda data: b"\x1f\x8c" + gzip.compress(data)[2:],
    "of nothing": lambda data: gzip.compress(b""),
    "of blank lines": lambda data: gzip.compress(b"\n" * 30),
}
