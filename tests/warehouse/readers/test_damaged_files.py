"""Real files of every table format with damages of many kinds: a clean refusal or whole records, never an exception."""

import itertools
from pathlib import Path

import pytest

from tests.helpers import real_data
from tests.warehouse.readers.reading import content, reads_or_refuses
from tests.warehouse.readers.samples import NAMED, PACKED, SPOILED
from warehouse import load
from warehouse.loading.files import find
from warehouse.readers.appraise import AppraiseReader
from warehouse.readers.automatic_scores import AutomaticScoreReader
from warehouse.readers.direct_assessment import DirectAssessmentReader
from warehouse.readers.five_columns import FiveColumnReader
from warehouse.readers.mqm import MqmAnnotationsReader, MqmAverageReader
from warehouse.readers.recognition import RecordReader
from warehouse.readers.submissions import SubmissionReader
from warehouse.readers.system_tables import SystemTableReader
from warehouse.readers.wmt25_automatic import Wmt25AutomaticReader


@pytest.mark.slow
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
def test_damaged_real_files_are_read_or_refused(reader: RecordReader, pattern: str, in_full: bool) -> None:
    (path,) = real_data().glob(pattern)
    lines = content(path).split(b"\n")[:60]
    seeds = (2, 1, 3, 4) if in_full else (2,)
    n_refused = sum(reads_or_refuses(reader, path, b"\n".join(lines), seed=seed) for seed in seeds)
    assert n_refused > 7 * len(seeds)


def test_a_file_whose_name_or_place_says_what_it_is_is_never_passed_over(tmp_path: Path) -> None:
    folders: dict[Path, Path] = {}
    for (what, spoil), (name, data) in itertools.product((SPOILED | PACKED).items(), NAMED.items()):
        if what in PACKED and not name.endswith(".gz"):
            continue
        if name == "mine.csv" and what == "its first byte":
            continue  # a table of one's own may have any first line
        folder = tmp_path / str(len(folders))
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_bytes(spoil(data))
        found = find([folder])
        assert found.skipped == [], (what, name)
        assert len(found.faults) + len(found.claims) == 1, (what, name)
        folders[path] = folder
    report = load(list(folders.values()), tmp_path / "w.duckdb")
    assert {fault.path for fault in report.faults} == {str(path) for path in folders}


def test_what_says_nothing_of_scores_is_passed_over_with_its_name(tmp_path: Path) -> None:
    for name in ("README.md", "notes.txt", "details/README.txt", "paper.pdf"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"Nothing.\n")
    found = find([tmp_path])
    assert (len(found.skipped), found.faults, found.claims) == (4, [], [])
