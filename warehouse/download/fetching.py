"""Fetching one large file over HTTP: resumable, checked for size and content, by the standard library alone."""

import base64
import binascii
import hashlib
import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from email.message import Message
from pathlib import Path
from typing import IO

from warehouse.errors import SourceError
from warehouse.progress import Progress

_CHUNK = 1 << 18
_MOST_BYTES = 64 << 30  # where the server doesn't say how many there are; the organisers' archive has a few 10⁹
_MOST_DIGITS = 19  # of a number of bytes
_PATIENCE = 30.0  # seconds without a byte
_ATTEMPTS = 5  # in a row that come no further than any before


@dataclass(frozen=True)
class Fetched:
    """A file that is complete.

    n_resumed: bytes that were there from earlier attempts. is_fresh: False where the file was there already, whole,
    and the server says that it has not changed.
    """

    path: Path
    url: str
    n_bytes: int
    sha256: str
    n_resumed: int
    is_fresh: bool


@dataclass(frozen=True)
class _Version:
    """What a server said of the file that a part belongs to; size -1 where it said none."""

    url: str
    size: int = -1
    etag: str = ""
    modified: str = ""
    md5: str = ""

    @property
    def validator(self) -> str:
        """For If-Range: a strong ETag, else the date."""
        return self.etag if self.etag and not self.etag.startswith("W/") else self.modified

    def is_same(self, other: "_Version") -> bool:
        if self.size != other.size or (self.md5 and other.md5 and self.md5 != other.md5):
            return False
        if self.etag and other.etag:
            return self.etag == other.etag
        return self.url == other.url and self.modified == other.modified


class _CutError(Exception):
    """The connection ended early; what has come is kept."""


def fetch(
    urls: Sequence[str],
    target: Path,
    *,
    sha256: str | None = None,
    progress: Progress | None = None,
    patience: float = _PATIENCE,
    pause: float = 1.0,
) -> Fetched:
    """Fetch a file from the first address that has it, into `target`; an earlier part is resumed.

    What has come lies beside the target as NAME.part until it is complete, also when the function is interrupted.
    A part is resumed only where the server vouches that the file is still the same (ETag, date or size).
    urls: http or https. sha256: of the content, where known. patience: seconds that the server may say nothing.
    pause: seconds before the second attempt, doubled with each further one.
    Raises SourceError: no address answers, the connection ends early again and again, or the content is another than
    announced. OSError: the disk.
    """
    problems = []
    for url in urls:
        _check_address(url)
        try:
            return _fetch_one(url, target, sha256, progress, patience, pause)
        except SourceError as error:
            problems.append(str(error))
    raise SourceError("; ".join(problems) or "no URL to download from")


def _check_address(url: str) -> None:
    """Raises SourceError: no address of the web."""
    try:
        is_web = urllib.parse.urlsplit(url).scheme in ("http", "https")
    except ValueError as error:
        raise SourceError(f"{url}: no address ({error})") from error
    if not is_web:
        raise SourceError(f"{url}: expected an address that begins with https:// or http://")


def _fetch_one(
    url: str, target: Path, sha256: str | None, progress: Progress | None, patience: float, pause: float
) -> Fetched:
    target.parent.mkdir(parents=True, exist_ok=True)
    part, note = target.with_name(target.name + ".part"), target.with_name(target.name + ".part.json")
    done = target.with_name(target.name + ".json")
    held = _read_note(done) if target.is_file() else None
    if held is not None and held.size == target.stat().st_size and _is_unchanged(held, url, patience):
        with suppress(SourceError):  # damaged since: fetch it again
            return _checked(target, replace(held, url=url), sha256, 0, is_fresh=False)
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
                    f"{url}: {error}; {_size(part)} bytes are kept, the same command resumes there"
                ) from error
            if progress is not None:
                progress(f"{error}; attempt {failures + 1} of {_ATTEMPTS}", _size(part), 0)
            time.sleep(pause * 2 ** (failures - 1))
    try:
        fetched = _checked(part, version, sha256, min(resumed, _size(part)), is_fresh=True)
    except SourceError:
        _remove(part, note)
        raise
    part.replace(target)
    done.write_text(json.dumps(asdict(version)), encoding="utf-8")
    _remove(note)
    return replace(fetched, path=target)


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


class _WebOnly(urllib.request.HTTPRedirectHandler):
    """Follows redirects within the web: no server may send us to ftp:// or into another protocol."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> urllib.request.Request | None:
        _check_address(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]

    def http_error_302(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message
    ) -> http.client.HTTPResponse | None:
        try:
            return super().http_error_302(req, fp, code, msg, headers)  # type: ignore[arg-type]
        except (ValueError, SourceError) as error:
            fp.close()
            raise SourceError(f"{req.full_url}: the server redirects elsewhere: {error}") from error

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def _open(url: str, headers: Mapping[str, str], patience: float) -> http.client.HTTPResponse:
    """Raises SourceError: refused for good. _CutError: worth another attempt. urllib.error.HTTPError: 304 and 416."""
    request = urllib.request.Request(
        url, headers={"User-Agent": "scorehouse", "Accept-Encoding": "identity", **headers}
    )
    try:
        opener = urllib.request.build_opener(_WebOnly)
        response: http.client.HTTPResponse = opener.open(request, timeout=patience)
    except urllib.error.HTTPError as error:
        if error.code in (304, 416):
            raise
        error.close()
        if error.code in (408, 429) or error.code >= 500:
            raise _CutError(f"the server answers {error.code} {error.reason}") from error
        raise SourceError(f"{url}: the server answers {error.code} {error.reason}") from error
    except TimeoutError as error:
        raise SourceError(f"{url}: the server is too slow: {error}") from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        if isinstance(reason, TimeoutError):
            raise SourceError(f"{url}: the server is too slow: {reason}") from error
        raise _CutError(f"no connection ({reason})") from error
    return response


def _is_unchanged(held: _Version, url: str, patience: float) -> bool:
    """Whether the server still has what was fetched before; True, too, where it can't be asked."""
    headers = {"If-None-Match": held.etag} if held.etag else {"If-Modified-Since": held.modified}
    if not any(headers.values()):
        headers = {}
    try:
        with _open(url, headers, patience) as response:
            return held.is_same(_version(url, response.headers, _length(response.headers)))
    except urllib.error.HTTPError as error:
        error.close()
        return error.code == 304
    except _CutError:
        return True


def _length(headers: Message) -> int:
    text = headers.get("Content-Length", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < _MOST_DIGITS else -1


def _version(url: str, headers: Message, size: int) -> _Version:
    hashes = [part.strip() for line in headers.get_all("x-goog-hash", []) for part in line.split(",")]
    md5 = next((part.removeprefix("md5=") for part in hashes if part.startswith("md5=")), "")
    return _Version(
        url, size, headers.get("ETag", ""), headers.get("Last-Modified", ""), md5 or headers.get("Content-MD5", "")
    )


def _transfer(url: str, part: Path, note: Path, progress: Progress | None, patience: float) -> _Version:
    """One connection: append to the part, or begin anew; the version that the part now is, complete.

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
        raise _CutError("the server can't resume") from error
    with response:
        first, size = _content_range(response) if response.status == 206 else (0, _length(response.headers))
        version = _version(url, response.headers, size)
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
    if unit != "bytes" or not all(text.isdecimal() and len(text) < _MOST_DIGITS for text in (first, size)):
        return -1, -1
    return int(first), int(size)


def _receive(response: http.client.HTTPResponse, part: Path, first: int, size: int, progress: Progress | None) -> None:
    done = first
    with part.open("ab" if first else "wb") as file:
        while chunk := _next_chunk(response, done):
            file.write(chunk)
            done += len(chunk)
            if done > (size if size >= 0 else _MOST_BYTES):
                raise SourceError(f"{response.url}: more than {size if size >= 0 else _MOST_BYTES} bytes received")
            if progress is not None:
                progress("downloading", done, max(size, 0))
    if size >= 0 and done < size:
        raise _CutError(f"the connection ended after {done} of {size} bytes")


def _next_chunk(response: http.client.HTTPResponse, done: int) -> bytes:
    try:
        return response.read1(_CHUNK)
    except (OSError, http.client.HTTPException) as error:
        raise _CutError(f"the connection ended after {done} bytes ({error})") from error


def _checked(path: Path, version: _Version, sha256: str | None, n_resumed: int, *, is_fresh: bool) -> Fetched:
    """The file as fetched, once its size and checksums agree with what was announced.

    Raises SourceError: they do not.
    """
    n_bytes = path.stat().st_size
    if version.size >= 0 and n_bytes != version.size:
        raise SourceError(f"{version.url}: {n_bytes} bytes received, expected {version.size}; fetch it again")
    content, md5 = hashlib.sha256(), hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            content.update(chunk)
            md5.update(chunk)
    announced = b""
    with suppress(binascii.Error):
        announced = base64.b64decode(version.md5, validate=True)
    if announced and announced != md5.digest():
        raise SourceError(f"{version.url}: the content is damaged (its MD5 differs from the server's); fetch it again")
    if sha256 is not None and content.hexdigest() != sha256.lower():
        raise SourceError(f"{version.url}: SHA-256 is {content.hexdigest()}, expected {sha256.lower()}")
    return Fetched(path, version.url, n_bytes, content.hexdigest(), n_resumed, is_fresh)
