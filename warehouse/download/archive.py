"""Unpacking a .tgz from elsewhere: plain files and folders below one folder, within limits, or nothing at all."""

import gzip
import os
import re
import shutil
import tarfile
import zlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from warehouse.errors import SourceError, unknown
from warehouse.progress import Progress
from warehouse.temporary import temporary_folder

_HEADER_BYTES = 1 << 13  # tarfile reads and parses header extensions whole, which a hostile size would make endless
_CHAINED_BYTES = 1 << 15  # of all headers that lead to one member
_CONTENT_BYTES = 1 << 20  # read at once
_LONGEST = 300  # characters of a message
_MOST_FOLDERS = 64  # of a path
_LONGEST_NAME = 255  # bytes of a file's name
_MOST_RATIO = 200  # unpacked to packed; the organisers' has about 6
_UNSUSPICIOUS = 50_000_000  # bytes up to which the ratio does not matter


@dataclass(frozen=True)
class Limits:
    """What is the most that an archive may hold: members, bytes of one file, bytes altogether."""

    n_members: int = 2_000_000
    file_bytes: int = 8 << 30
    total_bytes: int = 128 << 30


@dataclass(frozen=True)
class Extracted:
    """What was unpacked: the test sets' folders, in the order of their names, and how much."""

    folders: tuple[Path, ...]
    n_files: int
    n_bytes: int


class _Bounded:
    """A decompressed stream that refuses to give more than a limit, altogether or at once."""

    def __init__(self, stream: BinaryIO, limit: int) -> None:
        self._stream = stream
        self._limit = limit
        self.last = b""
        self.at_once = _HEADER_BYTES
        self.of_headers = 0

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > self.at_once:
            raise SourceError(f"a header of {size} bytes")
        if self.at_once == _HEADER_BYTES:
            self.of_headers += size
            if self.of_headers > _CHAINED_BYTES:
                raise SourceError(f"more than {_CHAINED_BYTES} bytes of headers before one member")
        return self._next(size)

    def _next(self, size: int) -> bytes:
        data = self._stream.read(size)
        self.last = data
        if self._stream.tell() > self._limit:
            raise SourceError(f"more than {self._limit} bytes unpacked")
        return data

    def seek(self, position: int, whence: int = 0) -> int:
        """Forwards by reading, so that the limits hold for what is passed over, too."""
        while whence == 0 and (left := position - self._stream.tell()) > 0:
            if not self._next(min(left, _CONTENT_BYTES)):
                break
        return self._stream.seek(position, whence)

    def tell(self) -> int:
        return self._stream.tell()


def extract(
    archive: Path,
    folder: Path,
    testsets: Collection[str] | None = None,
    *,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Extracted:
    """Unpack ROOT/TESTSET/... of an archive to folder/TESTSET/..., for some test sets or all; all of it or nothing.

    Every member is looked at, also those that are not unpacked. The whole archive is read to its end, so that its
    checksum is checked. Folders of the same test sets that are there already are replaced once all is well.
    Raises SourceError: damaged, no .tgz, over the limits, or it holds what could harm: an absolute path, one that
        leads outside, a link, a device, a name twice. QuestionError: a test set that it does not hold.
    """
    limits = limits or Limits()
    folder.mkdir(parents=True, exist_ok=True)
    size = archive.stat().st_size
    with temporary_folder(".unpacking", folder) as fresh:
        try:
            most = min(limits.total_bytes, max(_UNSUSPICIOUS, _MOST_RATIO * size))
            with archive.open("rb") as raw, gzip.open(raw) as unzipped:
                stream = _Bounded(unzipped, most)  # type: ignore[arg-type]
                seen, n_files, n_bytes = _unpack(
                    stream, fresh, testsets, limits, lambda what: _tell(progress, what, raw.tell(), size)
                )
                _check_end(stream)
        except SourceError as error:
            raise SourceError(f"{archive}: refused, nothing was unpacked: {_short(error)}") from None
        except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise SourceError(f"{archive}: no sound .tgz archive ({_short(error)}); fetch it again") from error
        except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError, RecursionError) as error:
            what = f"a header that can't be read ({type(error).__name__}: {_short(error)})"
            raise SourceError(f"{archive}: refused, nothing was unpacked: {what}") from error
        if testsets is not None:
            for name in testsets:
                if name not in seen:
                    raise unknown("test set", name, seen, where=f"the archive {archive.name}")
        if not seen:
            raise SourceError(f"{archive}: holds no folders of test sets")
        chosen = sorted(seen if testsets is None else testsets)
        folders = []
        for name in chosen:
            target = folder / name
            if target.exists():
                shutil.rmtree(target)
            (fresh / name).rename(target)
            folders.append(target)
    return Extracted(tuple(folders), n_files, n_bytes)


def _short(error: Exception) -> str:
    text = str(error)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _check_end(stream: _Bounded) -> None:
    """Read on to the end, where the checksum is; only zeros may follow the last member.

    Raises SourceError: something else follows: a header that can't be read ends the list of members, too.
    """
    rest, stream.at_once = stream.last, _CONTENT_BYTES
    while rest:
        if any(rest):
            raise SourceError("a header that can't be read")
        rest = stream.read(_CONTENT_BYTES)


def _tell(progress: Progress | None, what: str, done: int, total: int) -> None:
    if progress is not None:
        progress(what, done, total)


def _unpack(
    stream: _Bounded, fresh: Path, testsets: Collection[str] | None, limits: Limits, tell: Callable[[str], None]
) -> tuple[set[str], int, int]:
    """Names of the test sets seen, files and bytes unpacked.

    Raises SourceError: what is wrong with a member.
    """
    seen: set[str] = set()
    n_files = n_bytes = 0
    with tarfile.open(fileobj=stream, mode="r:") as tar:  # type: ignore[call-overload]
        for number, member in enumerate(tar, start=1):
            if number > limits.n_members:
                raise SourceError(f"more than {limits.n_members} members")
            path = _safe_path(member)
            tar.members = []  # else it keeps every header in memory
            stream.of_headers = 0
            if member.isdir() or len(path.parts) < 3:
                continue
            if member.size > limits.file_bytes:
                raise SourceError(f"{member.name!r} has {member.size} bytes, more than {limits.file_bytes}")
            testset = path.parts[1]
            seen.add(testset)
            tell(f"unpacking {testset}")
            if testsets is not None and testset not in testsets:
                continue
            n_files += 1
            n_bytes += member.size
            stream.at_once = _CONTENT_BYTES
            _write(tar, member, fresh.joinpath(*path.parts[1:]))
            stream.at_once = _HEADER_BYTES
    return seen, n_files, n_bytes


def _safe_path(member: tarfile.TarInfo) -> PurePosixPath:
    """The member's path, where it is one that stays inside.

    Raises SourceError: it does not, or is no plain file or folder.
    """
    name = member.name
    if name.startswith("/") or "\\" in name or "\0" in name or re.match(r"[A-Za-z]:", name):
        raise SourceError(f"{name!r} is no relative path")
    if len(name.split("/")) > _MOST_FOLDERS or any(len(os.fsencode(part)) > _LONGEST_NAME for part in name.split("/")):
        raise SourceError(f"{name[:60]!r}… is longer than paths are")
    if member.size < 0:
        raise SourceError(f"{name!r} has {member.size} bytes")
    if ".." in name.split("/"):
        raise SourceError(f"{name!r} leads outside")
    if not (member.isreg() or member.isdir()) or member.issparse():
        kind = "a link" if member.issym() or member.islnk() else "no plain file"
        raise SourceError(f"{name!r} is {kind}")
    return PurePosixPath(name)


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    content = tar.extractfile(member)
    if content is None:
        raise SourceError(f"{member.name!r} has no content")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        left = member.size
        with target.open("xb") as file:
            while left and (chunk := content.read(min(left, 1 << 20))):
                file.write(chunk)
                left -= len(chunk)
    except (FileExistsError, NotADirectoryError) as error:
        raise SourceError(f"{member.name!r} is there twice, or is a file and a folder") from error
    if left:
        raise SourceError(f"{member.name!r} ends early")
