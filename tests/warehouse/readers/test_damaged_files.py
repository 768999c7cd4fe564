"""Real files of every table format with damages of many kinds: a clean refusal or whole records, never an exception."""

import pytest

from tests.helpers import real_data
from tests.warehouse.readers.reading import content, reads_or_refuses
from warehouse.readers.appraise import AppraiseReader
from warehouse.readers.automatic_scores import AutomaticScoreReader
from warehouse.readers.direct_assessment import DirectAssessmentReader
from warehouse.readers.five_columns import FiveColumnReader
from warehouse.readers.formats import RecordReader
from warehouse.readers.mqm_annotations import MqmAnnotationsReader
from warehouse.readers.mqm_averages import MqmAverageReader
from warehouse.readers.submissions import SubmissionReader
from warehouse.readers.system_tables import SystemTableReader
from warehouse.readers.wmt25_automatic import Wmt25AutomaticReader


@pytest.mark.parametrize(
    ("reader", "pattern"),
    [
        (SubmissionReader(), "wmt20-metrics/**/COMET.sys.score.gz"),
        (SubmissionReader(), "wmt20-metrics/**/bleurt-combi.seg.score.gz"),
        (DirectAssessmentReader(), "wmt20-metrics/**/ad-seg-scores-en-de.csv"),
        (DirectAssessmentReader(), "wmt22-news-systems/**/ad-sys-scores-cs-en.csv"),
        (SystemTableReader(), "wmt19-sys-scores/*-ende-*.csv"),
        (FiveColumnReader(), "wmt12-es-en/mt-systems-scored-by-metrics"),
        (AutomaticScoreReader(), "wmt21-news-systems/scores/automatic-scores.tsv"),
        (MqmAverageReader(), "wmt-mqm-human-evaluation/ted/ende/*.avg_seg_scores.tsv"),
        (MqmAnnotationsReader(), "wmt-mqm-human-evaluation/ted/ende/mqm_ted_ende.tsv"),
        (AppraiseReader(), "wmt24-news-systems/humeval/*wave2.csv"),
        (AppraiseReader(), "wmt22-news-systems/**/*SegLvlLivSrc*.csv"),
        (Wmt25AutomaticReader(), "wmt25-general-mt/**/NLLB.jsonl"),
    ],
    ids=lambda given: given.rsplit("/", 1)[-1] if isinstance(given, str) else given.name,
)
def test_damaged_real_files_are_read_or_refused(reader: RecordReader, pattern: str) -> None:
    (path,) = real_data().glob(pattern)
    lines = content(path).split(b"\n")[:60]
    n_refused = sum(reads_or_refuses(reader, path, b"\n".join(lines), seed=seed) for seed in (1, 2))
    assert n_refused > 15
