"""Licences of published files: each is a known identifier, and the first release that holds a file counts."""

import pytest

from warehouse.facts.licences import NOT_STATED, packaged_releases, release_of

KNOWN = {"Apache-2.0", "CC-BY-4.0", "CC-BY-NC-SA-4.0", "CC-BY-SA-4.0", "GPL-3.0-only", "MIT", NOT_STATED}


def test_every_release_has_a_name_a_known_licence_and_files() -> None:
    releases = packaged_releases()
    assert {one["licence"] for one in releases} == KNOWN
    assert len({one["name"] for one in releases}) == len(releases)
    assert all(one["holds"] for one in releases)


@pytest.mark.parametrize(
    ("testset", "origin", "release", "licence"),
    [
        ("wmt20", "wmt20/zh-en/mqm.avg_seg_scores", "google/wmt-mqm-human-evaluation", "Apache-2.0"),
        ("wmt23", "wmt23/human-scores/en-de.mqm-col2.seg.score", "SapienzaNLP/human-parity-mt-eval", "CC-BY-NC-SA-4.0"),
        ("wmt23", "wmt23/human-scores/en-de.mqm-1.seg.score", "wmt-conference/ErrorSpanAnnotation", "GPL-3.0-only"),
        ("wmt23", "wmt23/human-scores/en-de.mqm.seg.score", "google-research/mt-metrics-eval", NOT_STATED),
        ("wmt23", "wmt23/metric-scores/en-de/GEMBA-MQM-src.seg.score", "google-research/mt-metrics-eval", NOT_STATED),
        ("wmt22", "wmt22/metric-scores/en-de/GEMBA-GPT4-DA-src.seg.score", "MicrosoftTranslator/GEMBA", "CC-BY-SA-4.0"),
        ("wmt20", "testsuites2020/submissions/MEE.doc.score", "WMT-Metrics-task/wmt20-metrics", NOT_STATED),
        ("wmt24.news", "table/wmt24.news.en-de.tsv", "nrc-cnrc/MSLC", "CC-BY-4.0"),
        ("wmt15", "wmt15/rankings/wmt15.xml.gz", "WMT", NOT_STATED),
        ("mine", "own/Mine/mine/en-de/scores.tsv", None, NOT_STATED),
    ],
)
def test_a_file_has_the_licence_of_its_release(testset: str, origin: str, release: str | None, licence: str) -> None:
    assert release_of(testset, origin)[:2] == (release, licence)
