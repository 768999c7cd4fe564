"""Downloading: resumed, checked, unpacked safely or not at all; against a server on the loopback address."""

import gzip
import hashlib
import io
import random
import socket
import tarfile
from pathlib import Path

import pytest

from tests.archive_server import serving
from tests.helpers import tiny_layout
from warehouse import QuestionError, SourceError, Warehouse
from warehouse.download.fetching import fetch
from warehouse.download.release import ADDRESSES, download, download_folder, extract

CONTENT = random.Random(0).randbytes(3_000_000)


def _fetch(url: str | list[str], target: Path, **more: object):  # type: ignore[no-untyped-def]
    urls = [url] if isinstance(url, str) else url
    return fetch(urls, target, **{"pause": 0.0, "patience": 5.0, **more})  # type: ignore[arg-type]


def _left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "downloads" / "a.tgz"


def test_a_file_is_fetched_whole(target: Path) -> None:
    seen: list[tuple[int, int]] = []
    with serving(CONTENT) as served:
        fetched = _fetch(served.url, target, progress=lambda what, done, total: seen.append((done, total)))
    assert target.read_bytes() == CONTENT
    assert (fetched.n_bytes, fetched.n_resumed, fetched.is_fresh) == (len(CONTENT), 0, True)
    assert fetched.sha256 == hashlib.sha256(CONTENT).hexdigest()
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert _left(target.parent) == {"a.tgz"}


def test_cut_connections_are_resumed_where_they_ended(target: Path) -> None:
    with serving(CONTENT, cuts=[1_000_000, 500_000]) as served:
        _fetch(served.url, target)
    assert target.read_bytes() == CONTENT
    assert served.ranges == [None, "bytes=1000000-", "bytes=1500000-"]
    assert [request.get("if-range") for request in served.asked] == [None, '"one"', '"one"']


def test_a_later_run_resumes_what_an_earlier_one_left(target: Path) -> None:
    with serving(CONTENT, cuts=[700_000, 0, 0, 0, 0]) as served:
        with pytest.raises(
            SourceError,
            match=r"closed after 700000 of 3000000 bytes; 700000 bytes were kept; run the same command to resume",
        ):
            _fetch(served.url, target)
        assert _left(target.parent) == {"a.tgz.part", "a.tgz.part.json"}
        fetched = _fetch(served.url, target)
    assert target.read_bytes() == CONTENT
    assert fetched.n_resumed == 700_000
    assert served.ranges[-1] == "bytes=700000-"


def test_an_interrupted_download_leaves_a_part_that_can_be_resumed(target: Path) -> None:
    def interrupt(what: str, done: int, total: int) -> None:
        if done > 1_000_000:
            raise KeyboardInterrupt

    with serving(CONTENT) as served:
        with pytest.raises(KeyboardInterrupt):
            _fetch(served.url, target, progress=interrupt)
        part = target.with_name("a.tgz.part").read_bytes()
        assert 1_000_000 < len(part) < len(CONTENT)
        assert part == CONTENT[: len(part)]
        fetched = _fetch(served.url, target)
    assert target.read_bytes() == CONTENT
    assert fetched.n_resumed == len(part)


def test_a_server_that_cannot_resume_is_asked_for_everything_again(target: Path) -> None:
    with serving(CONTENT, cuts=[1_000_000], resumes=False) as served:
        _fetch(served.url, target)
    assert target.read_bytes() == CONTENT
    assert len(served.asked) == 2


def test_a_server_without_etag_is_asked_to_resume_by_date(target: Path) -> None:
    date = "Mon, 02 Jan 2023 03:04:05 GMT"
    with serving(CONTENT, etag=None, modified=date, cuts=[1_000_000]) as served:
        _fetch(served.url, target)
    assert target.read_bytes() == CONTENT
    assert served.asked[1]["if-range"] == date


def test_a_server_with_neither_etag_nor_date_is_resumed_where_the_size_is_the_same(target: Path) -> None:
    with serving(CONTENT, etag=None, cuts=[1_000_000]) as served:
        _fetch(served.url, target)
    assert target.read_bytes() == CONTENT
    assert served.ranges == [None, "bytes=1000000-"]


def test_a_part_of_another_version_is_thrown_away(target: Path) -> None:
    newer = bytes(reversed(CONTENT))
    with serving(CONTENT, cuts=[1_000_000, 0, 0, 0, 0]) as served:
        with pytest.raises(SourceError):
            _fetch(served.url, target)
        served.content, served.etag = newer, '"two"'
        _fetch(served.url, target)
    assert target.read_bytes() == newer


def test_a_part_of_another_size_is_thrown_away_where_only_the_size_tells(target: Path) -> None:
    newer = CONTENT + b"more"
    with serving(CONTENT, etag=None, cuts=[1_000_000, 0, 0, 0, 0]) as served:
        with pytest.raises(SourceError):
            _fetch(served.url, target)
        served.content = newer
        _fetch(served.url, target)
    assert target.read_bytes() == newer


def test_a_length_that_is_never_reached_ends_with_an_error(target: Path) -> None:
    with serving(CONTENT, announced=len(CONTENT) + 10) as served:
        with pytest.raises(SourceError, match="closed after 3000000 of 3000010 bytes"):
            _fetch(served.url, target)
        assert len(served.asked) < 15
    assert not target.exists()


def test_a_complete_file_is_not_fetched_again(target: Path) -> None:
    with serving(CONTENT) as served:
        _fetch(served.url, target)
    assert not _fetch(served.url, target).is_fresh


def test_the_mirror_is_asked_where_the_first_address_fails(target: Path) -> None:
    with serving(b"", status=404) as gone, serving(CONTENT) as mirror:
        fetched = _fetch([gone.url, mirror.url], target)
    assert fetched.url == mirror.url
    assert target.read_bytes() == CONTENT


def test_a_part_from_the_first_address_is_not_continued_from_another_version_at_the_mirror(target: Path) -> None:
    other = bytes(reversed(CONTENT))
    with serving(CONTENT, cuts=[1_000_000, 0, 0, 0, 0]) as first, serving(other, etag='"mirror"') as mirror:
        _fetch([first.url, mirror.url], target)
    assert target.read_bytes() == other


@pytest.mark.parametrize("status", [403, 404])
def test_a_refusal_is_reported_at_once(status: int, target: Path) -> None:
    with serving(b"", status=status) as served:
        with pytest.raises(SourceError, match=str(status)):
            _fetch(served.url, target)
        assert len(served.asked) == 1


def test_a_server_in_trouble_is_asked_again_a_few_times(target: Path) -> None:
    with serving(b"", status=503) as served:
        with pytest.raises(SourceError, match="503"):
            _fetch(served.url, target)
        assert len(served.asked) == 5


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/a", "a.tgz"])
def test_only_web_addresses_are_fetched(url: str, target: Path) -> None:
    with pytest.raises(SourceError, match="https://"):
        _fetch(url, target)
    assert not target.exists()


def test_no_server_at_all_is_one_line(target: Path) -> None:
    with pytest.raises(SourceError, match="no connection") as caught:
        _fetch("http://127.0.0.1:9/a.tgz", target)
    assert "\n" not in str(caught.value)


def _member(
    name: str, content: bytes = b"x", kind: bytes = tarfile.REGTYPE, link: str = ""
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    info.size = len(content) if kind == tarfile.REGTYPE else 0
    return info, content


def _archive(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return path


SOUND = _member("mt/wmt23/documents/en-de.docs", b"news\td1\n")


def test_a_sound_archive_is_unpacked_by_test_set(tmp_path: Path) -> None:
    path = _archive(
        tmp_path / "a.tgz", SOUND, _member("mt/wmt24/sources/en-de.txt", b"hello\n"), _member("mt/README", b"read me")
    )
    extracted = extract(path, tmp_path / "files")
    assert [folder.name for folder in extracted.folders] == ["wmt23", "wmt24"]
    assert (extracted.n_files, extracted.n_bytes) == (2, 14)
    assert (tmp_path / "files/wmt24/sources/en-de.txt").read_bytes() == b"hello\n"
    assert _left(tmp_path / "files") == {"wmt23", "wmt24"}


def test_chosen_test_sets_alone_are_unpacked_and_replace_older_files(tmp_path: Path) -> None:
    old = tmp_path / "files" / "wmt23" / "old"
    old.parent.mkdir(parents=True)
    old.write_text("old")
    path = _archive(tmp_path / "a.tgz", SOUND, _member("mt/wmt24/sources/en-de.txt"))
    extracted = extract(path, tmp_path / "files", ["wmt23"])
    assert [folder.name for folder in extracted.folders] == ["wmt23"]
    assert _left(tmp_path / "files") == {"wmt23"}
    assert not old.exists()


def test_a_test_set_that_is_not_in_the_archive_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match="did you mean 'wmt23'"):
        extract(_archive(tmp_path / "a.tgz", SOUND), tmp_path / "files", ["wmt32"])
    assert _left(tmp_path / "files") == set()


HOSTILE = {
    "a path that leads outside": _member("mt/wmt23/../../../evil"),
    "a path that begins outside": _member("../evil"),
    "a symbolic link": _member("mt/wmt23/link", kind=tarfile.SYMTYPE, link="/etc"),
    "a symbolic link inside": _member("mt/wmt23/link", kind=tarfile.SYMTYPE, link="documents"),
    "a hard link": _member("mt/wmt23/link", kind=tarfile.LNKTYPE, link="mt/wmt23/documents/en-de.docs"),
    "a device": _member("mt/wmt23/dev", kind=tarfile.CHRTYPE),
    "a pipe": _member("mt/wmt23/pipe", kind=tarfile.FIFOTYPE),
    "a file where a folder is": _member("mt/wmt23/documents"),
    "a file below a file": _member("mt/wmt23/documents/en-de.docs/more"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_an_archive_that_could_harm_is_refused_and_leaves_nothing(what: str, tmp_path: Path) -> None:
    path = _archive(tmp_path / "in" / "a.tgz", SOUND, HOSTILE[what], _member("mt/wmt24/sources/en-de.txt"))
    with pytest.raises(SourceError, match="refused, nothing was unpacked"):
        extract(path, tmp_path / "out" / "files")
    assert _left(tmp_path / "out" / "files") == set()
    assert _left(tmp_path) == {"in", "out"}


def test_absolute_paths_are_unpacked_inside(tmp_path: Path) -> None:
    outside = tmp_path / "evil"
    path = _archive(tmp_path / "a.tgz", SOUND, _member(str(outside)), _member("C:/evil"), _member("mt\\..\\..\\evil"))
    extract(path, tmp_path / "files")
    assert not outside.exists()
    assert _left(tmp_path) == {"a.tgz", "files"}


@pytest.mark.parametrize("chosen", [None, ["wmt23"]])
def test_a_small_archive_that_unpacks_to_much_is_refused(chosen: list[str] | None, tmp_path: Path) -> None:
    path = _archive(tmp_path / "a.tgz", SOUND, _member("mt/wmt24/zeros", bytes(5_000_000)), SOUND)
    with pytest.raises(SourceError, match="more than 1000000 bytes unpacked"):
        extract(path, tmp_path / "files", chosen, most_bytes=1_000_000)
    assert _left(tmp_path / "files") == set()


def _flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]


def test_a_damaged_archive_is_refused_wherever_the_damage_lies(tmp_path: Path) -> None:
    path = _archive(tmp_path / "a.tgz", SOUND, _member("mt/wmt24/noise", CONTENT[:50_000]))
    sound = path.read_bytes()
    faulty = [sound[:-1], sound[: len(sound) // 2], sound[:5], b"", b"<html>not found</html>"]
    faulty += [_flipped(sound, place) for place in (0, len(sound) // 3, len(sound) - 6)]
    for content in faulty:
        path.write_bytes(content)
        with pytest.raises(SourceError):
            extract(path, tmp_path / "files")
        assert _left(tmp_path / "files") == set()


def test_a_header_that_cannot_be_read_does_not_end_the_archive_silently(tmp_path: Path) -> None:
    path = _archive(tmp_path / "a.tgz", SOUND, _member("mt/wmt24/sources/en-de.txt"))
    plain = bytearray(gzip.decompress(path.read_bytes()))
    plain[1024 + 148] ^= 0xFF  # the second header's checksum
    path.write_bytes(gzip.compress(bytes(plain)))
    with pytest.raises(SourceError, match="an unreadable header"):
        extract(path, tmp_path / "files")


def test_an_archive_without_test_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no test set folders"):
        extract(_archive(tmp_path / "a.tgz", _member("README")), tmp_path / "files")


ODD = {  # what the extended header of a member may say -> whether the archive is sound
    **{("mtime", value): True for value in ("1e300", "-1e300", "nan", "inf", "-1", "b0gus")},
    **{("uid", value): True for value in ("1e300", "-5", "b0gus")},
    **{("size", value): False for value in ("1e300", "-5", "99999999999999999999")},
    ("path", "mt/wmt24/" + "n" * 300): False,
    ("path", "mt/wmt24/a\0b"): False,
}


@pytest.mark.parametrize("said", ODD, ids=str)
def test_odd_values_of_a_header_are_passed_over_or_refused(said: tuple[str, str], tmp_path: Path) -> None:
    info, content = _member("mt/wmt24/sources/en-de.txt")
    path = tmp_path / "a.tgz"
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as tar:
        info.pax_headers = dict([said])
        tar.addfile(info, io.BytesIO(content))
    if ODD[said]:
        assert extract(path, tmp_path / "files").n_files == 1
        return
    with pytest.raises(SourceError):
        extract(path, tmp_path / "files")
    assert _left(tmp_path / "files") == set()


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK])
def test_a_header_that_fills_the_memory_is_refused(kind: bytes, tmp_path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = kind, 1 << 30
    with gzip.open(tmp_path / "a.tgz", "wb", compresslevel=1) as file:
        file.write(info.tobuf() + bytes(1 << 22))
    with pytest.raises(SourceError, match="a header of more than 1048576 bytes"):
        extract(tmp_path / "a.tgz", tmp_path / "files")


def test_an_archive_of_many_times_its_size_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warehouse.download.release._UNSUSPICIOUS", 100_000)
    path = _archive(tmp_path / "a.tgz", SOUND, _member("mt/wmt24/zeros", bytes(100_001)))
    with pytest.raises(SourceError, match="more than 100000 bytes unpacked"):
        extract(path, tmp_path / "files")


def _task(tmp_path: Path) -> bytes:
    """An archive as the organisers', with two test sets."""
    for testset in ("wmt23", "wmt24"):
        tiny_layout(tmp_path / "root" / "mt-metrics-eval-v2", testset=testset, facts=False)
    with tarfile.open(tmp_path / "task.tgz", "w:gz") as tar:
        tar.add(tmp_path / "root" / "mt-metrics-eval-v2", "mt-metrics-eval-v2")
    return (tmp_path / "task.tgz").read_bytes()


def _testsets(database: Path) -> list[str]:
    with Warehouse.open(database) as warehouse:
        return [name for (name,) in warehouse.rows("SELECT testset FROM testsets ORDER BY testset")]


@pytest.mark.slow
def test_a_download_ends_in_the_warehouse_and_leaves_no_files(tmp_path: Path) -> None:
    database = tmp_path / "data" / "w.duckdb"
    with serving(_task(tmp_path), cuts=[2_000]) as served:
        report = download(database, urls=[served.url], pause=0.0)
    assert report.load.is_clean
    assert report.kept == ()
    assert _testsets(database) == ["wmt23", "wmt24"]
    assert _left(tmp_path / "data") == {"w.duckdb"}


@pytest.mark.slow
def test_a_folder_of_the_users_stays_and_one_that_was_made_goes(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    with serving(_task(tmp_path)) as served:
        for number, folder in enumerate((theirs, ours)):
            download(tmp_path / f"{number}.duckdb", urls=[served.url], folder=folder, pause=0.0)
    assert list(theirs.iterdir()) == []
    assert not ours.exists()


@pytest.mark.slow
def test_chosen_test_sets_alone_are_loaded(tmp_path: Path) -> None:
    database = tmp_path / "w.duckdb"
    with serving(_task(tmp_path)) as served:
        download(database, ["wmt24"], urls=[served.url])
        assert _testsets(database) == ["wmt24"]
        with pytest.raises(QuestionError, match="wmt99"):
            download(database, ["wmt99"], urls=[served.url])


@pytest.mark.slow
def test_kept_files_are_used_by_the_next_download(tmp_path: Path) -> None:
    database, folder = tmp_path / "w.duckdb", tmp_path / "files"
    with serving(_task(tmp_path)) as served:
        report = download(database, ["wmt23"], urls=[served.url], folder=folder, keep=True)
        assert [path.name for path in report.kept] == ["mt-metrics-eval-v2.tgz", "wmt23"]
        again = download(database, ["wmt23", "wmt24"], urls=[served.url], folder=folder, keep=True)
    assert not again.fetched.is_fresh
    assert _testsets(database) == ["wmt23", "wmt24"]
    statuses = {evalset.testset: evalset.status for evalset in again.load.evalsets}
    assert statuses == {"wmt23": "unchanged", "wmt24": "loaded"}


@pytest.mark.slow
def test_a_damaged_archive_is_thrown_away_so_that_the_next_try_fetches_it_anew(tmp_path: Path) -> None:
    database, good = tmp_path / "data" / "w.duckdb", _task(tmp_path)
    with serving(_flipped(good, len(good) - 6)) as served:
        with pytest.raises(SourceError, match=r"not a complete \.tgz archive"):
            download(database, urls=[served.url])
        served.content = good
        assert download(database, urls=[served.url]).load.is_clean


@pytest.mark.slow
def test_test_sets_with_faults_stay_on_the_disk_to_be_looked_at(tmp_path: Path) -> None:
    database = tmp_path / "data" / "w.duckdb"
    _task(tmp_path)
    faulty = next((tmp_path / "root").rglob("wmt24/metric-scores/*/Flat-src.seg.score"))
    faulty.write_text(faulty.read_text() + "Ash\t1\n")
    with tarfile.open(tmp_path / "task.tgz", "w:gz") as tar:
        tar.add(tmp_path / "root" / "mt-metrics-eval-v2", "mt-metrics-eval-v2")
    with serving((tmp_path / "task.tgz").read_bytes()) as served:
        report = download(database, urls=[served.url])
    assert not report.load.is_clean
    assert [path.name for path in report.kept] == ["wmt24"]
    assert _testsets(database) == ["wmt23"]
    assert not (download_folder(database) / "mt-metrics-eval-v2.tgz").exists()


def test_the_organisers_addresses_are_web_addresses_of_one_archive() -> None:
    assert all(url.startswith("https://") and url.endswith("/mt-metrics-eval-v2.tgz") for url in ADDRESSES)


def test_a_server_that_says_nothing_is_given_up_with_a_word(target: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        pytest.raises(SourceError, match="the server is too slow"),
    ):
        _fetch(f"http://127.0.0.1:{listening.getsockname()[1]}/x.tgz", target, patience=0.2)
    assert _left(target.parent) == set()


@pytest.mark.parametrize("url", ["http://[::bad", "http://[", "https://exa mple:x/", "http://127.0.0.1:99999/x"])
def test_addresses_that_are_none_are_one_line(url: str, target: Path) -> None:
    with pytest.raises(SourceError) as caught:
        _fetch(url, target)
    assert "\n" not in str(caught.value)


def test_an_archive_may_end_in_many_zeros(tmp_path: Path) -> None:
    path, info = tmp_path / "scores.tgz", tarfile.TarInfo("root/tiny24/documents/en-de.docs")
    path.write_bytes(gzip.compress(info.tobuf() + bytes(300_000)))
    assert extract(path, tmp_path / "out").n_files == 1
