"""Of two damages in one file both are told, in every table format: mending one shows no other."""

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.warehouse.readers.reading import read
from tests.warehouse.readers.samples import MQM_HEADER, esa, mqm_row
from warehouse.readers.appraise import AppraiseReader
from warehouse.readers.automatic_scores import AutomaticScoreReader
from warehouse.readers.claims import Given
from warehouse.readers.direct_assessment import DirectAssessmentReader
from warehouse.readers.five_columns import FiveColumnReader
from warehouse.readers.formats import RecordReader
from warehouse.readers.long_table import LongTableReader
from warehouse.readers.mqm_annotations import MqmAnnotationsReader
from warehouse.readers.mqm_averages import MqmAverageReader
from warehouse.readers.own_scores import OwnScoreReader
from warehouse.readers.submissions import SubmissionReader
from warehouse.readers.wide_table import WideTableReader

LINES = range(1, 41)
AT = (25, 33)  # lines behind those that tell the format
OWN = Given(testset="lab", lp="en-de", metric="M", is_own=True)
FILES: dict[str, tuple[RecordReader, str, str, Callable[[int], str], Given]] = {
    "submission": (
        SubmissionReader(),
        "wmt20-metrics/M.seg.score",
        "",
        lambda n: f"M\ten-de\tnewstest2020\tnewstest2020\tA.1\td\t{n}\t0.{n}\n",
        Given(),
    ),
    "direct assessment": (
        DirectAssessmentReader(),
        "wmt20-metrics/manual-evaluation/DA/ad-seg-scores-en-de.csv",
        "SYS SID RAW.SCR Z.SCR N \n",
        lambda n: f"A.1 {n} 80 0.{n} 2 \n",
        Given(),
    ),
    "five columns": (
        FiveColumnReader(),
        "scores",
        "METRIC\tLP\tTESTSET\tSYSTEM\tSCORE\n",
        lambda n: f"M\tes-en\tnewstest2012\tS{n}\t0.{n}\n",
        Given(),
    ),
    "automatic": (
        AutomaticScoreReader(),
        "wmt22-news-systems/scores/automatic-scores.tsv",
        "pair\tsystem\tid\tis_constrained\tmetric\tscore\n",
        lambda n: f"en-de\tS{n}\t{n}\tTRUE\tbleu-A\t0.{n}\n",
        Given(),
    ),
    "averages": (
        MqmAverageReader(),
        "newstest2020/ende/mqm_newstest2020_ende.avg_seg_scores.tsv",
        "system mqm_avg_score seg_id\n",
        lambda n: f"A -0.{n} {n}\n",
        Given(),
    ),
    "annotations": (
        MqmAnnotationsReader(),
        "newstest2020/ende/mqm_newstest2020_ende.tsv",
        MQM_HEADER,
        lambda n: mqm_row(segment=str(n)),
        Given(),
    ),
    "ESA": (AppraiseReader(), "wmt24/humeval/esa_wave2.csv", "", lambda n: esa(item=n), Given()),
    "long table": (
        LongTableReader(),
        "long.csv",
        "testset,lp,metric,system,seg,score\n",
        lambda n: f'lab,en-de,M,"A",{n},0.{n}\n',
        Given(),
    ),
    "wide table": (
        WideTableReader(),
        "wide.tsv",
        "testset\tlp\tsystem\tseg\tM\n",
        lambda n: f"lab\ten-de\tA\t{n}\t0.{n}\n",
        Given(),
    ),
    "own scores": (OwnScoreReader(), "M.seg.score", "", lambda n: f"A\t0.{n}\n", OWN),
}
DAMAGES: dict[str, Callable[[str], str]] = {
    "no number": lambda line: re.sub(r"\d+(\.\d+)?(?=\D*\n)", "b0gus", line, count=1),
    "a cell more": lambda line: line.replace("\n", "\tmore,cells and more\n"),
    "fewer cells": lambda line: re.split(r"[\t, ]", line)[0] + "\n",
    "blank": lambda line: "\n",
}


@pytest.mark.parametrize("name", FILES)
def test_of_two_damages_in_one_file_both_are_told(name: str) -> None:
    reader, path, header, row, given = FILES[name]
    sound = [*([header] if header else []), *map(row, LINES)]
    assert not read(reader, Path(path), "".join(sound), given).faults

    def found(damages: dict[int, str]) -> set[int]:
        lines = [DAMAGES[damages[at]](line) if at in damages else line for at, line in enumerate(sound, start=1)]
        return {fault.line for fault in read(reader, Path(path), "".join(lines), given).faults} & set(AT)

    for pair in itertools.product(DAMAGES, repeat=2):
        alone = [found({at: damage}) for at, damage in zip(AT, pair, strict=True)]
        assert found(dict(zip(AT, pair, strict=True))) >= alone[0] | alone[1], pair
        assert (alone[0] and alone[1]) or name == "annotations", pair  # their rows end in an optional comment
