"""Fetching one large file over HTTP: resumable, checked for size and content, by the standard library alone."""

import hashlib
import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from warehouse.errors import SourceError
from warehouse.progress import Progress

_CHUNK = 1 << 18
_SILENCE_TIMEOUT = 30.0  # seconds without a byte
_ATTEMPTS = 5  # in a row that come no further than any before


@dataclass(frozen=True)
class FetchedFile:
    """A file that is complete.

    n_resumed: bytes from earlier attempts. is_fresh: False if the complete file already existed.
    """

    path: Path
    url: str
    n_bytes: int
    sha256: str
    n_resumed: int
    is_fresh: bool


@dataclass(frozen=True)
class _Version:
    """What a server reported about the file to which a part belongs; size -1 if it reported none."""

    url: str
    size: int = -1
    etag: str = ""
    modified: str = ""

    @property
    def validator(self) -> str:
        """For If-Range: a strong ETag, else the date."""
        return self.etag if self.etag and not self.etag.startswith("W/") else self.modified

    def is_same(self, other: "_Version") -> bool:
        if self.size != other.size:
            return False
        if self.etag and other.etag:
            return self.etag == other.etag
        return self.url == other.url and self.modified == other.modified


class _CutError(Exception):
    """The connection ended early; the received part is kept."""


def fetch(
    urls: Sequence[str],
    target: Path,
    *,
    progress: Progress | None = None,
    patience: float = _SILENCE_TIMEOUT,
    pause: float = 1.0,
) -> FetchedFile:
    """Fetch a file from the first address that has it, into `target`; an earlier part is resumed.

    Received data are stored next to the target as NAME.part until complete, even if the function is interrupted.
    A part is resumed only where the server vouches that the file is still the same (ETag, date or size).
    urls: http or https. patience: seconds without data after which an attempt fails. pause: seconds before the second
    attempt, doubled with each further one.
    Raises SourceError: no address answers, the connection repeatedly ends early, or the content differs from the
    announced one. OSError: the disk.
    """
    problems = []
    for url in urls:
        if not url.startswith(("http://", "https://")):
            raise SourceError(f"{url}: expected an address that begins with https:// or http://")
        try:
            return _fetch_one(url, target, progress, patience, pause)
        except SourceError as error:
            problems.append(str(error))
    raise SourceError("; ".join(problems) or "no URL to download from")


def _fetch_one(url: str, target: Path, progress: Progress | None, patience: float, pause: float) -> FetchedFile:
    if target.is_file():
        return _fetched(target, url, 0, is_fresh=False)
    target.parent.mkdir(parents=True, exist_ok=True)
    part, note = target.with_name(target.name + ".part"), target.with_name(target.name + ".part.json")
    failures = 0
    resumed = furthest = _size(part) if _read_note(note) is not None else 0
    while True:
        try:
            version = _transfer(url, part, note, progress, patience)
            break
        except _CutError as error:
            failures = 1 if _size(part) > furthest else failures + 1
            furthest = max(furthest, _size(part))
            if failures >= _ATTEMPTS:
                raise SourceError(
                    f"{url}: {error}; {_size(part)} bytes were kept; run the same command to resume"
                ) from error
            if progress is not None:
                progress(f"{error}; attempt {failures + 1} of {_ATTEMPTS}", _size(part), 0)
            time.sleep(pause * 2 ** (failures - 1))
    n_bytes = _size(part)
    if n_bytes != version.size >= 0:
        _remove(part, note)
        raise SourceError(f"{url}: {n_bytes} bytes received, expected {version.size}; download it again")
    part.replace(target)
    _remove(note)
    return _fetched(target, url, min(resumed, n_bytes), is_fresh=True)


def _fetched(path: Path, url: str, n_resumed: int, *, is_fresh: bool) -> FetchedFile:
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return FetchedFile(path, url, path.stat().st_size, sha256, n_resumed, is_fresh)


def _remove(*paths: Path) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _read_note(path: Path) -> _Version | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return _Version(**data)
    except (OSError, ValueError, TypeError):
        return None


def _open(url: str, headers: Mapping[str, str], patience: float) -> http.client.HTTPResponse:
    """Raises SourceError: refused for good. _CutError: worth another attempt. urllib.error.HTTPError: 416."""
    headers = {"User-Agent": "scorehouse", "Accept-Encoding": "identity", **headers}
    try:
        request = urllib.request.Request(url, headers=headers)
        response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=patience)
    except urllib.error.HTTPError as error:
        if error.code == 416:
            raise
        error.close()
        if error.code in (408, 429) or error.code >= 500:
            raise _CutError(f"the server answered {error.code} {error.reason}") from error
        raise SourceError(f"{url}: the server answered {error.code} {error.reason}") from error
    except TimeoutError as error:
        raise SourceError(f"{url}: the server is too slow: {error}") from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        if isinstance(reason, TimeoutError):
            raise SourceError(f"{url}: the server is too slow: {reason}") from error
        raise _CutError(f"no connection ({reason})") from error
    return response


def _transfer(url: str, part: Path, note: Path, progress: Progress | None, patience: float) -> _Version:
    """One connection: append to the part, or begin again; the version that the part now is, complete.

    Raises _CutError: the connection ended before the end. SourceError: see `_open`.
    """
    held, start = _read_note(note), _size(part)
    headers = {}
    if start and held is not None and (held.validator or held.size >= 0):
        headers["Range"] = f"bytes={start}-"
        if held.validator:
            headers["If-Range"] = held.validator
    try:
        response = _open(url, headers, patience)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416 and held is not None and held.size == start:
            return held  # nothing is left to fetch
        _remove(part, note)
        raise _CutError("the server cannot resume downloads") from error
    with response:
        first, size = (
            _content_range(response)
            if response.status == 206
            else (0, -1 if response.length is None else response.length)
        )
        etag, modified = response.headers.get("ETag", ""), response.headers.get("Last-Modified", "")
        version = _Version(url, size, etag, modified)
        if response.status == 206 and (first != start or held is None or not held.is_same(version)):
            _remove(part, note)
            raise _CutError("the file on the server has changed")
        note.write_text(json.dumps(asdict(version)), encoding="utf-8")
        _receive(response, part, first, size, progress)
    return version


def _content_range(response: http.client.HTTPResponse) -> tuple[int, int]:
    """First byte and size of the whole, from `bytes FIRST-LAST/SIZE`; -1 for what can't be read."""
    unit, _, rest = response.headers.get("Content-Range", "").partition(" ")
    span, _, size = rest.partition("/")
    first = span.partition("-")[0]
    if unit != "bytes" or not all(text.isdecimal() for text in (first, size)):
        return -1, -1
    return int(first), int(size)


def _receive(response: http.client.HTTPResponse, part: Path, first: int, size: int, progress: Progress | None) -> None:
    done = first
    with part.open("ab" if first else "wb") as file:
        while chunk := _next_chunk(response, done):
            file.write(chunk)
            done += len(chunk)
            if progress is not None:
                progress("downloading", done, max(size, 0))
    if size >= 0 and done < size:
        raise _CutError(f"the connection closed after {done} of {size} bytes")


def _next_chunk(response: http.client.HTTPResponse, done: int) -> bytes:
    try:
        return response.read1(_CHUNK)
    except (OSError, http.client.HTTPException) as error:
        raise _CutError(f"the connection closed after {done} bytes ({error})") from error
