"""The organisers' archive: fetched, checked, unpacked and loaded."""

import gzip
import os
import shutil
import tarfile
import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from warehouse.download.fetching import Fetched, fetch
from warehouse.errors import SourceError, unknown
from warehouse.loading.entry import load
from warehouse.loading.report import LoadReport
from warehouse.progress import Progress
from warehouse.temporary import temporary_folder

MOST_BYTES = 128 << 30  # unpacked
_MOST_AT_ONCE = 1 << 20  # bytes; tarfile reads extensions of headers whole
_MOST_RATIO = 200  # unpacked to packed; the organisers' has about 6
_UNSUSPICIOUS = 50_000_000  # bytes up to which the ratio does not matter
_LONGEST = 300  # characters of a message


@dataclass(frozen=True)
class Extracted:
    """What was unpacked: the test sets' folders, in the order of their names, and how much."""

    folders: tuple[Path, ...]
    n_files: int
    n_bytes: int


class _Bounded(gzip.GzipFile):
    """A packed file that refuses to give more than a limit, altogether or at once."""

    limit = MOST_BYTES
    last = b""  # what was read last

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= _MOST_AT_ONCE:
            raise SourceError(f"a header of {size} bytes")
        data = super().read(size)
        if self.tell() > self.limit:
            raise SourceError(f"more than {self.limit} bytes unpacked")
        self.last = data
        return data


def extract(
    archive: Path,
    folder: Path,
    testsets: Collection[str] | None = None,
    *,
    most_bytes: int = MOST_BYTES,
    progress: Progress | None = None,
) -> Extracted:
    """Unpack ROOT/TESTSET/... of an archive to folder/TESTSET/..., for some test sets or all; all of it or nothing.

    Every member is looked at, also those that are not unpacked. The whole archive is read to its end, so that its
    checksum is checked. Folders of the same test sets that are there already are replaced once all is well.
    most_bytes: unpacked, of all members together.
    Raises SourceError: damaged, no .tgz, over the limit, or it holds a path that leads outside, a link or a device.
        QuestionError: a test set that it does not hold.
    """
    folder.mkdir(parents=True, exist_ok=True)
    size = archive.stat().st_size
    with temporary_folder(".unpacking", folder) as fresh:
        try:
            with archive.open("rb") as raw, _Bounded(fileobj=raw) as unpacked:
                unpacked.limit = min(most_bytes, max(_UNSUSPICIOUS, _MOST_RATIO * size))
                seen, n_files, n_bytes = _unpack(
                    unpacked, fresh, testsets, lambda what: _report(progress, what, raw.tell(), size)
                )
        except (SourceError, tarfile.FilterError, FileExistsError, NotADirectoryError, IsADirectoryError) as error:
            raise SourceError(f"{archive}: refused, nothing was unpacked: {_short(error)}") from None
        except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise SourceError(f"{archive}: no sound .tgz archive ({_short(error)}); fetch it again") from error
        except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError, RecursionError) as error:
            what = f"a header that can't be read ({type(error).__name__}: {_short(error)})"
            raise SourceError(f"{archive}: refused, nothing was unpacked: {what}") from error
        for name in testsets or ():
            if name not in seen:
                raise unknown("test set", name, seen, where=f"the archive {archive.name}")
        if not seen:
            raise SourceError(f"{archive}: holds no folders of test sets")
        folders = [folder / name for name in sorted(seen if testsets is None else testsets)]
        for target in folders:
            if target.exists():
                shutil.rmtree(target)
            (fresh / target.name).rename(target)
    return Extracted(tuple(folders), n_files, n_bytes)


def _short(error: Exception) -> str:
    text = str(error)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _report(progress: Progress | None, what: str, done: int, total: int) -> None:
    if progress is not None:
        progress(what, done, total)


def _unpack(
    unpacked: _Bounded, fresh: Path, testsets: Collection[str] | None, report: Callable[[str], None]
) -> tuple[set[str], int, int]:
    """Names of the test sets seen, files and bytes unpacked.

    Raises SourceError, FilterError: what is wrong with a member.
    """
    seen: set[str] = set()
    n_files = n_bytes = n_claimed = 0
    with tarfile.open(fileobj=unpacked, mode="r:") as tar:
        for member in tar:
            tar.members = []  # type: ignore[attr-defined]  # else it keeps every header in memory
            n_claimed += member.size
            if n_claimed > unpacked.limit:  # before it is passed over
                raise SourceError(f"more than {unpacked.limit} bytes unpacked")
            member = tarfile.data_filter(member, str(fresh))
            if not (member.isreg() or member.isdir()) or member.issparse():
                raise SourceError(f"{member.name!r} is a link, or no plain file")
            parts = PurePosixPath(member.name).parts
            if member.isdir() or len(parts) < 3:
                continue
            testset = parts[1]
            seen.add(testset)
            report(f"unpacking {testset}")
            if testsets is None or testset in testsets:
                n_files += 1
                n_bytes += member.size
                member.name = os.path.join(*parts[1:])  # noqa: PTH118 (tarfile takes no path)
                tar.extract(member, fresh, filter="data")
        rest = unpacked.last
        while rest:  # to the end, where the checksum is; only zeros may follow the last member
            if any(rest):
                raise SourceError("a header that can't be read")
            rest = unpacked.read(_MOST_AT_ONCE)
    return seen, n_files, n_bytes


ADDRESSES = (
    "https://data.statmt.org/wmt26/mt-metrics-eval-v2.tgz",
    "https://storage.googleapis.com/mt-metrics-eval/mt-metrics-eval-v2.tgz",
)
"""Where the archive is, the first preferred."""
ARCHIVE = "mt-metrics-eval-v2.tgz"


@dataclass(frozen=True)
class DownloadReport:
    """What a download did: what was fetched, where it was unpacked, what was loaded, what is left on the disk."""

    fetched: Fetched
    n_files: int
    load: LoadReport
    kept: tuple[Path, ...]


def download_folder(database: Path) -> Path:
    """Where archives lie while they are fetched: beside the warehouse.

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
    sha256: str | None = None,
    skip_broken: bool = False,
    progress: Progress | None = None,
    pause: float = 1.0,
) -> DownloadReport:
    """Fetch the archive, unpack some test sets or all, and load them.

    folder: for archive and files; by default `download_folder`. keep: leave both there; else they are removed once
    everything is loaded (what was refused stays, to be looked at), a folder of the user's that was there before never.
    An interrupted download is resumed by the next.
    Raises SourceError: see `fetch` and `extract`. QuestionError: a test set that the archive does not hold.
    SchemaError: the database can't be written.
    """
    is_theirs = folder is not None and folder.exists()
    folder = download_folder(database) if folder is None else folder
    archive = folder / ARCHIVE
    fetched = fetch(urls, archive, sha256=sha256, progress=progress, pause=pause)
    files = folder / ARCHIVE.removesuffix(".tgz")
    try:
        extracted = extract(archive, files, testsets, progress=progress)
    except SourceError:
        _forget(archive)
        raise
    report = load(extracted.folders, database, skip_broken=skip_broken, progress=progress)
    if keep:
        return DownloadReport(fetched, extracted.n_files, report, (archive, *extracted.folders))
    _forget(archive)
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


def _forget(archive: Path) -> None:
    """Remove an archive and what is noted of it."""
    archive.unlink(missing_ok=True)
    archive.with_name(archive.name + ".json").unlink(missing_ok=True)
