"""A file of each table format: whose it is, what it must be told, and what damages do to it."""

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import together
from tests.warehouse.readers.reading import answer, claimed, read, reads_or_refuses
from tests.warehouse.readers.samples import MQM_HEADER, RANKING_HEADER, esa, mqm_row, workbook
from warehouse.readers.appraise import AppraiseReader
from warehouse.readers.automatic_scores import AutomaticScoreReader, SystemScoreListReader
from warehouse.readers.campaign_workbooks import CampaignWorkbookReader
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.direct_assessment import DirectAssessmentReader
from warehouse.readers.error_spans import ErrorSpanReader
from warehouse.readers.five_columns import FiveColumnReader
from warehouse.readers.item_scores import ItemScoreReader
from warehouse.readers.long_table import LongTableReader
from warehouse.readers.mqm import MqmAnnotationsReader, MqmAverageReader
from warehouse.readers.own_scores import OwnScoreReader
from warehouse.readers.pearmut import PearmutReader
from warehouse.readers.preference_table import PreferenceTableReader
from warehouse.readers.rankings import RankingReader
from warehouse.readers.recognition import OWN_READERS, RECORD_READERS, RecordReader
from warehouse.readers.segment_details import SegmentDetailsReader
from warehouse.readers.submissions import SubmissionReader
from warehouse.readers.system_tables import SystemTableReader
from warehouse.readers.tool_outputs import ToolOutputReader
from warehouse.readers.wide_table import WideTableReader
from warehouse.readers.wmt25_automatic import Wmt25AutomaticReader
from warehouse.readers.wmt25_human import Wmt25HumanReader
from warehouse.wording import option

LINES = range(1, 41)
AT = (25, 33)  # lines behind those that tell the format
OWN = LoadHints(testset="lab", lp="en-de", metric="M", is_own=True)
Sample = tuple[RecordReader, str, str, Callable[[int], str]]
TASKS_FILES: dict[str, Sample] = {
    "submission": (
        SubmissionReader(),
        "wmt20-metrics/M.seg.score",
        "",
        lambda n: f"M\ten-de\tnewstest2020\tnewstest2020\tA.1\td\t{n}\t0.{n}\n",
    ),
    "direct assessment": (
        DirectAssessmentReader(),
        "wmt20-metrics/manual-evaluation/DA/ad-seg-scores-en-de.csv",
        "SYS SID RAW.SCR Z.SCR N \n",
        lambda n: f"A.1 {n} 80 0.{n} 2 \n",
    ),
    "five columns": (
        FiveColumnReader(),
        "scores",
        "METRIC\tLP\tTESTSET\tSYSTEM\tSCORE\n",
        lambda n: f"M\tes-en\tnewstest2012\tS{n}\t0.{n}\n",
    ),
    "automatic": (
        AutomaticScoreReader(),
        "wmt22-news-systems/scores/automatic-scores.tsv",
        "pair\tsystem\tid\tis_constrained\tmetric\tscore\n",
        lambda n: f"en-de\tS{n}\t{n}\tTRUE\tbleu-A\t0.{n}\n",
    ),
    "averages": (
        MqmAverageReader(),
        "newstest2020/ende/mqm_newstest2020_ende.avg_seg_scores.tsv",
        "system mqm_avg_score seg_id\n",
        lambda n: f"A -0.{n} {n}\n",
    ),
    "annotations": (
        MqmAnnotationsReader(),
        "newstest2020/ende/mqm_newstest2020_ende.tsv",
        MQM_HEADER,
        lambda n: mqm_row(segment=str(n)),
    ),
    "ESA": (AppraiseReader(), "wmt24/humeval/esa_wave2.csv", "", lambda n: esa(item=n)),
    "rankings": (
        RankingReader(),
        "wmt12/rankings.csv",
        RANKING_HEADER,
        lambda n: f"Czech,English,{n},judge1,A,1,B,{n}\n",
    ),
    "preferences": (
        PreferenceTableReader(),
        "preferences.csv",
        "testset,lp,human,segment,system_a,system_b,score\n",
        lambda n: f"lab,en-de,arena,{n},A,B,0.{n}\n",
    ),
    "long table": (
        LongTableReader(),
        "long.csv",
        "testset,lp,metric,system,seg,score\n",
        lambda n: f'lab,en-de,M,"A",{n},0.{n}\n',
    ),
    "wide table": (
        WideTableReader(),
        "wide.tsv",
        "testset\tlp\tsystem\tseg\tM\n",
        lambda n: f"lab\ten-de\tA\t{n}\t0.{n}\n",
    ),
    "system table": (
        SystemTableReader(),
        "wmt19-sys-scores/DA-newstest2019-ende-sys-nohy-scores.csv",
        "LP SYSTEM HUMAN BLEU YiSi-2\n",
        lambda n: f"en-de S{n} 0.{n} 0.{n} 0.{n}\n",
    ),
    "system scores": (
        SystemScoreListReader(),
        "scores/en-de/COMET_newstest2021_ref-A.tsv",
        "sys\tscore\n",
        lambda n: f"S{n}\t0.{n}\n",
    ),
    "segment details": (
        SegmentDetailsReader(),
        "wmt20-metrics/input/details/de-en.txt",
        "",
        lambda n: f"{n}\tnewstest2020\tde-en\td{n // 5}\t{n % 5 + (n > 4)}\n",
    ),
    "WMT25 automatic": (
        Wmt25AutomaticReader(),
        "wmt25-general-mt/data/automatic_scores/GPT-4.1.jsonl",
        "",
        lambda n: (
            f'{{"language_pair": "en-de", "domain": "news", "document_id": "d{n}", '
            f'"metric_scores": {{"M": [0.{n}, null]}}}}\n'
        ),
    ),
    "WMT25 human": (
        Wmt25HumanReader(),
        "wmt25-general-mt/data/wmt25-genmt-humeval.jsonl",
        "",
        lambda n: f'{{"doc_id": "cs-de_DE_#_news_#_d_#_{n}", "scores": {{"A": {{"human1": {n}}}}}}}\n',
    ),
}
OWN_FILES: dict[str, Sample] = {
    "own scores": (OwnScoreReader(), "M.seg.score", "", lambda n: f"A\t0.{n}\n"),
    "tool output": (ToolOutputReader(), "M.txt", "", lambda n: f"A.txt\tSegment {n - 1}\tscore: 0.{n}\n"),
    "error spans": (
        ErrorSpanReader(),
        "M.csv",
        "system,segment,start,end,severity\n",
        lambda n: f"A,{n},{n},{n + 1},minor\n",
    ),
}
FILES = {
    **{name: (*sample, LoadHints()) for name, sample in TASKS_FILES.items()},
    **{name: (*sample, OWN) for name, sample in OWN_FILES.items()},
}
DAMAGES: dict[str, Callable[[str], str]] = {
    "no number": lambda line: re.sub(r"\d+(\.\d+)?(?=\D*\n)", "b0gus", line, count=1),
    "a cell more": lambda line: line.replace("\n", "\tmore,cells and more\n"),
    "fewer cells": lambda line: re.split(r"[\t, ]", line)[0] + "\n",
    "blank": lambda line: "\n",
    "another name": lambda line: re.sub(r"[A-Za-z]", "\u00df", line, count=1),
    "not UTF-8": lambda line: line[:2] + "\udcff" + line[2:],
    "NUL": lambda line: line[:2] + "\0" + line[2:],
    "a carriage return": lambda line: line[:2] + "\r" + line[2:],
}
ANY_NAME = ("another name",)  # no fault in itself in most formats


def test_every_reader_of_records_is_here() -> None:
    there = {type(reader) for reader, *_ in FILES.values()} | {CampaignWorkbookReader, ItemScoreReader, PearmutReader}
    assert there == {type(reader) for reader in (*RECORD_READERS, *OWN_READERS)}


def _sample(name: str) -> str:
    _, _, header, row, _ = FILES[name]
    return header + "".join(map(row, LINES))


@together("name", FILES)
def test_a_file_is_left_to_the_reader_of_its_format(name: str) -> None:
    """Tables of one's own come last: they may have columns that other formats have, too."""
    reader, path, *_, given = FILES[name]
    readers = OWN_READERS if given.is_own else RECORD_READERS
    found = [one for one in readers if isinstance(answer(one, Path(path), _sample(name).encode(), given), Claim)]
    assert isinstance(found[0], type(reader))
    assert {type(one) for one in found[1:]} <= {LongTableReader, WideTableReader}


NO_SCORES = (
    *("", "{}\n", "[1]\n", "{broken\n", '{"text": "x"}\n', '{"metric_scores": {}}\n', '{"annotation": 1}\n'),
    *('{"scores": {}, "doc_id": "a_#_b"}\n', "a,b\n1,2\n", "system\nA\n", "system,lp\nA,1\n", "1,2,3,4,5,6,7,8,9\n"),
    *("a\tb\tc\td\te\tf\n", "system\tcategory\tseverity\n"),
)


@together("name", ["x.csv", "x.jsonl", "x.json"])
def test_a_file_without_scores_is_left_by_every_reader(name: str) -> None:
    for reader, text in itertools.product(RECORD_READERS, NO_SCORES):
        assert answer(reader, Path(name), text.encode(), LoadHints()) is None, (reader, text)


TABLES = (
    "preferences",
    "long table",
    "wide table",
    "system scores",
)  # the rows of three name it, and the last has it in its name


@together("name", [name for name in TASKS_FILES if name not in TABLES])
def test_a_test_set_that_neither_rows_nor_place_tell_is_asked_for(name: str) -> None:
    reader, path, *_ = FILES[name]
    place, text = (re.sub(r"newstest20\d\d|wmt\d\d", "other", one) for one in (path, _sample(name)))
    asked = answer(reader, Path(place), text.encode(), LoadHints())
    assert option("testset") in str(asked) or name == "system scores"  # the name of such a list has it in its middle
    assert {testset for testset, _ in read(reader, place, text, LoadHints(testset="mine")).evalsets} == {"mine"}


@pytest.mark.every(2)
@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_read_or_refused(name: str, in_full: bool) -> None:
    reader, path, *_, given = FILES[name]
    sound, seed = _sample(name), list(FILES).index(name)
    assert reads_or_refuses(reader, Path(path), sound.encode(), seed, given, n=160 if in_full else 8) > 0


@pytest.mark.slow
@together("name", FILES)
def test_line_ends_of_windows_and_a_byte_order_mark_change_nothing(name: str) -> None:
    reader, path, *_, given = FILES[name]
    sound = read(reader, path, _sample(name), given)
    found = read(reader, path, "\ufeff" + _sample(name).replace("\n", "\r\n"), given)
    assert found.faults == []
    for frame in ("scores", "judgements", "ratings", "segments", "preferences"):
        assert getattr(found, frame).equals(getattr(sound, frame)), frame


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize("name", FILES)
def test_of_two_damages_in_one_file_both_are_reported(name: str) -> None:
    """Eight pairs of damages, with each once at both places; other pairs in the next formats."""
    reader, path, header, row, given = FILES[name]
    sound = [*([header] if header else []), *map(row, LINES)]
    claim = claimed(reader, Path(path), "".join(sound), given)

    def found(damages: dict[int, str]) -> set[int]:
        lines = [DAMAGES[damages[at]](line) if at in damages else line for at, line in enumerate(sound, start=1)]
        data = "".join(lines).encode("utf-8", "surrogateescape")
        faults = reader.parse(data, claim, given).normal(claim.path).faults
        if any("and in 1 more line" in fault.found for fault in faults):  # one name on both lines
            return set(AT)
        return {fault.line for fault in faults} & set(AT)

    single = {(at, damage): found({at: damage}) for at in AT for damage in DAMAGES}
    shift = list(FILES).index(name)
    for at, damage in enumerate(DAMAGES):
        pair = (damage, list(DAMAGES)[(at + shift) % len(DAMAGES)])
        alone = [single[place] for place in zip(AT, pair, strict=True)]
        assert found(dict(zip(AT, pair, strict=True))) >= alone[0] | alone[1], pair
        told = [bool(lines) or damage in ANY_NAME for lines, damage in zip(alone, pair, strict=True)]
        assert all(told) or name == "annotations", pair  # their rows end in an optional comment


WRONG_CELLS: dict[str, object] = {
    "Source": "XX",
    "SegmentID": None,
    "Score": "b0gus",
    "valid_line": "maybe",
    "M_src": "b0gus",
}


def test_of_several_damages_in_one_workbook_all_are_reported(tmp_path: Path) -> None:
    header = ("Source", "Target", "User", "SegmentID", "Segment", "Score", "valid_line", "M_src")
    rows: list[list[object]] = [["ENU", "CHS", "u1", n, f"h{n}", 80, "True", 0.5 + n] for n in LINES]
    for line, (column, cell) in enumerate(WRONG_CELLS.items(), start=25):
        rows[line - 2][header.index(column)] = cell
    faults = read(CampaignWorkbookReader(), workbook(tmp_path, header, rows)).faults
    assert {fault.line for fault in faults} == set(range(25, 30))
