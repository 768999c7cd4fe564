"""The organisers' archive: fetched, checked, unpacked and loaded."""

import errno
import gzip
import io
import os
import shutil
import tarfile
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from warehouse.download.fetching import FetchedFile, fetch
from warehouse.errors import SourceError, unknown
from warehouse.loading.entry import load
from warehouse.loading.evalsets import LoadReport
from warehouse.progress import Progress
from warehouse.temporary import temporary_folder

MOST_BYTES = 128 << 30  # unpacked
_MOST_RATIO = 30  # unpacked to packed; the organisers' archive has less than 10
_UNSUSPICIOUS = 1 << 28  # bytes up to which the ratio does not matter
_CHUNK = 1 << 20
_OF_NAMES = (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL)


@dataclass(frozen=True)
class ExtractedFolders:
    """The unpacked folders of test sets, by name, and their size."""

    folders: tuple[Path, ...]
    n_files: int
    n_bytes: int


def extract(
    archive: Path,
    folder: Path,
    testsets: Collection[str] | None = None,
    *,
    most_bytes: int = MOST_BYTES,
    progress: Progress | None = None,
) -> ExtractedFolders:
    """Unpack ROOT/TESTSET/... of an archive to folder/TESTSET/..., for some test sets or all; all of it or nothing.

    Every member is checked, including those that are not unpacked. The archive is read to its end to verify its
    checksum. Existing folders of the same test sets are replaced only after everything succeeded.
    most_bytes: limit for the unpacked size of all members together.
    Raises SourceError: damaged, not a .tgz, over the limit, or it contains a path that leads outside, a link or a
    device. QuestionError: a test set that it does not hold.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with temporary_folder(".unpacking", folder) as fresh:
        try:
            seen, n_files, n_bytes = _unpack(archive, fresh, testsets, most_bytes, progress)
        except (SourceError, tarfile.FilterError, FileExistsError, NotADirectoryError, IsADirectoryError) as error:
            raise SourceError(f"{archive}: refused, nothing was unpacked: {error}") from None
        except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, ValueError, ArithmeticError) as error:
            raise SourceError(
                f"{archive}: not a complete .tgz archive ({error}); remove it and download again"
            ) from error
        except OSError as error:
            if error.errno not in _OF_NAMES:
                raise
            raise SourceError(f"{archive}: not a readable .tgz archive ({error.strerror}); download again") from error
        for name in testsets or ():
            if name not in seen:
                raise unknown("test set", name, seen, where=f"the archive {archive.name}")
        if not seen:
            raise SourceError(f"{archive}: contains no test set folders")
        folders = [folder / name for name in sorted(seen if testsets is None else testsets)]
        for target in folders:
            if target.exists():
                shutil.rmtree(target)
            (fresh / target.name).rename(target)
    return ExtractedFolders(tuple(folders), n_files, n_bytes)


class _BoundedReader(io.BufferedReader):
    """The unpacked archive, of which no header can be read that is larger than any of a sound archive."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Raises SourceError: more than a header or a piece of a file is read."""
        if size is None or not 0 <= size <= _CHUNK:
            raise SourceError(f"a header of more than {_CHUNK} bytes")
        return super().read(size)


def _unpack(
    archive: Path, fresh: Path, testsets: Collection[str] | None, most_bytes: int, progress: Progress | None
) -> tuple[set[str], int, int]:
    """Names of the test sets seen, files and bytes unpacked.

    Raises SourceError, FilterError: what is wrong with a member.
    """
    seen: set[str] = set()
    n_files = n_bytes = n_claimed = 0
    size = archive.stat().st_size
    most_bytes = min(most_bytes, max(_UNSUSPICIOUS, _MOST_RATIO * size))
    with (
        archive.open("rb") as raw,
        _BoundedReader(gzip.GzipFile(fileobj=raw)) as unpacked,
        tarfile.open(fileobj=unpacked, mode="r:") as tar,
    ):
        for member in tar:
            tar.members = []  # type: ignore[attr-defined]  # else it keeps every header in memory
            tar.pax_headers = {}
            n_claimed += member.size
            if max(n_claimed, unpacked.tell()) > most_bytes:  # before it is passed over
                raise SourceError(f"more than {most_bytes} bytes unpacked")
            member = tarfile.data_filter(member, str(fresh))
            if not (member.isreg() or member.isdir()) or member.issparse():
                raise SourceError(f"{member.name!r} is a link or special file")
            parts = PurePosixPath(member.name).parts
            if member.isdir() or len(parts) < 3:
                continue
            testset = parts[1]
            seen.add(testset)
            if progress is not None:
                progress(f"unpacking {testset}", raw.tell(), size)
            if testsets is None or testset in testsets:
                n_files += 1
                n_bytes += member.size
                member.name = os.path.join(*parts[1:])  # noqa: PTH118 (tarfile takes no path)
                tar.extract(member, fresh, set_attrs=False, filter="data")  # no times: they may be of any size
        unpacked.seek(tar.offset)  # where no header was
        while rest := unpacked.read(_CHUNK):  # to the end, where the checksum is; only zeros may follow the last member
            if any(rest):
                raise SourceError("an unreadable header")
    return seen, n_files, n_bytes


ADDRESSES = (
    "https://data.statmt.org/wmt26/mt-metrics-eval-v2.tgz",
    "https://storage.googleapis.com/mt-metrics-eval/mt-metrics-eval-v2.tgz",
)
"""Where the archive is, the first preferred."""
ARCHIVE = "mt-metrics-eval-v2.tgz"


@dataclass(frozen=True)
class DownloadReport:
    """Result of a download: fetched and unpacked files, loaded data, and files left on the disk."""

    fetched: FetchedFile
    n_files: int
    load: LoadReport
    kept: tuple[Path, ...]


def download_folder(database: Path) -> Path:
    """Folder for archives during a download, next to the warehouse.

    >>> download_folder(Path("data/scorehouse.duckdb")).as_posix()
    'data/downloads'
    """
    return database.parent / "downloads"


def download(
    database: Path,
    testsets: Collection[str] | None = None,
    *,
    urls: Sequence[str] = ADDRESSES,
    folder: Path | None = None,
    keep: bool = False,
    skip_broken: bool = False,
    progress: Progress | None = None,
    pause: float = 1.0,
) -> DownloadReport:
    """Fetch the archive, unpack some test sets or all, and load them.

    folder: for archive and files; by default `download_folder`. keep: keep both; otherwise they are removed once
    everything is loaded, except refused files, which stay for inspection, and a folder that existed before. An
    interrupted download is resumed by the next; an existing complete archive is not fetched again.
    Raises SourceError: see `fetch` and `extract`. QuestionError: a test set that the archive does not hold.
    SchemaError: the database can't be written.
    """
    is_theirs = folder is not None and folder.exists()
    folder = download_folder(database) if folder is None else folder
    archive = folder / ARCHIVE
    fetched = fetch(urls, archive, progress=progress, pause=pause)
    files = folder / ARCHIVE.removesuffix(".tgz")
    try:
        extracted = extract(archive, files, testsets, progress=progress)
    except SourceError:
        archive.unlink()
        raise
    report = load(extracted.folders, database, skip_broken=skip_broken, progress=progress)
    if keep:
        return DownloadReport(fetched, extracted.n_files, report, (archive, *extracted.folders))
    archive.unlink()
    refused = {evalset.testset for evalset in report.evalsets if evalset.status == "refused" or evalset.n_broken}
    kept = []
    for path in extracted.folders:
        if path.name in refused:
            kept.append(path)
        else:
            shutil.rmtree(path)
    for empty in (files,) if is_theirs else (files, folder):
        if empty.is_dir() and not any(empty.iterdir()):
            empty.rmdir()
    return DownloadReport(fetched, extracted.n_files, report, tuple(kept))
