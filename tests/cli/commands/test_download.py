"""`scorehouse download` as a user runs it, from a server on the loopback address."""

import tarfile
from pathlib import Path

import pytest

from tests.archive_server import serving
from tests.cli.running import Scorehouse, refused
from tests.helpers import tiny_layout


@pytest.fixture
def archive(tmp_path: Path) -> bytes:
    for testset in ("wmt23", "wmt24"):
        tiny_layout(tmp_path / "mt-metrics-eval-v2", testset=testset, facts=False)
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as tar:
        tar.add(tmp_path / "mt-metrics-eval-v2", "mt-metrics-eval-v2")
    return (tmp_path / "a.tgz").read_bytes()


@pytest.mark.slow
def test_what_was_loaded_is_shown_and_what_was_fetched_is_reported(
    scorehouse: Scorehouse, archive: bytes, tmp_path: Path
) -> None:
    database = tmp_path / "w.duckdb"
    with serving(archive) as served:
        ran = scorehouse("download", "--url", served.url, "--only", "wmt23,wmt24", "--db", database, "--format", "json")
    assert [(row["testset"], row["lp"], row["status"]) for row in ran.json] == [
        ("wmt23", "en-de", "loaded"),
        ("wmt24", "en-de", "loaded"),
    ]
    assert f"{len(archive)} bytes" in ran.err
    assert "SHA-256" in ran.err
    assert scorehouse("list", "testsets", "--db", database, "--format", "json").json[0]["testset"] == "wmt23"


def test_a_test_set_that_there_is_not_is_a_wrong_question(
    scorehouse: Scorehouse, archive: bytes, tmp_path: Path
) -> None:
    with serving(archive) as served:
        ran = scorehouse("download", "wmt32", "--url", served.url, "--db", tmp_path / "w.duckdb")
    refused(ran, 2, "wmt32", "wmt23")


def test_a_server_that_has_nothing_is_a_matter_of_data(scorehouse: Scorehouse, tmp_path: Path) -> None:
    with serving(b"", status=404) as served:
        refused(scorehouse("download", "--url", served.url, "--db", tmp_path / "w.duckdb"), 3, "404")


def test_an_address_of_another_kind_is_a_wrong_word(scorehouse: Scorehouse) -> None:
    refused(scorehouse("download", "--url", "ftp://x"), 2, "ftp://x", "https://")


def test_a_dry_run_tells_addresses_and_place_and_asks_nobody(scorehouse: Scorehouse, tmp_path: Path) -> None:
    with serving(b"") as served:
        ran = scorehouse("download", "--url", served.url, "--dry-run", "--folder", tmp_path, "--format", "json")
        assert served.asked == []
    assert ran.json == [{"url": served.url, "archive": str(tmp_path / "mt-metrics-eval-v2.tgz"), "bytes_here": 0}]
