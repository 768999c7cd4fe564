"""DuckDB for the browser, installed from npm by a pinned version, or taken from a path; each file is checked."""

import base64
import hashlib
import shutil
import subprocess
import tarfile
from contextlib import suppress
from pathlib import Path

from cli.charts.program import cache_folder
from cli.exit_codes import UsageError
from warehouse.temporary import temporary_folder

PACKAGE, VERSION = "@duckdb/duckdb-wasm", "1.32.0"
_ARCHIVE = f"duckdb-duckdb-wasm-{VERSION}.tgz"
_INTEGRITY = "IewXTNYEjsZCPE9weUWgtjGxUlMRo7qhX0GF6tq/KjK8bnY+RAl4cyUdYUfcdzbyb4b9ZxPC+FOsCcxgaKFWMg=="
"""SHA-512 of the package, as npm's own lock files have it."""
FILES = {
    "dist/duckdb-eh.wasm": "4c221bfa59c11f24dbd750e70c90b9252eca6eec5633936e6a2ec766e55fd879",
    "dist/duckdb-browser-eh.worker.js": "f8ab72b6b90b3ad83077d47426d4a99d5d9a4c7e07cba1a2be37d655adc7c1ab",
}
"""What a site needs, with its SHA-256, by which an unpacked folder is checked."""
LICENSE = """\
Copyright 2021 DuckDB WASM Contributors
Copyright 2018-2025 Stichting DuckDB Foundation

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""
_PATIENCE = 300  # seconds for npm


def copy_engine(target: Path, given: Path | None) -> str:
    """Copy the engine's files into a new folder; returns why there are none, else "".

    given: the package as npm packs it (.tgz), or its unpacked folder; None: npm installs it into the user's cache.
    Raises UsageError: the path holds something else.
    """
    if given is None:
        archive, why = _packed()
        if archive is None:
            return why
        _unpack(archive, target)
    elif given.is_dir():
        _take(given, target)
    elif given.is_file():
        if not _is_whole(given):
            raise UsageError(f"--engine {given}: expected {PACKAGE} {VERSION} as npm packs it; this is another file")
        _unpack(given, target)
    else:
        raise UsageError(f"--engine {given}: there is no such file or folder")
    (target / "LICENSE").write_text(LICENSE, encoding="utf-8")
    return ""


def _take(folder: Path, target: Path) -> None:
    """Raises UsageError: a file is missing, or is of another version."""
    for name, checksum in FILES.items():
        found = next((one for one in (folder / name, folder / "package" / name) if one.is_file()), None)
        if found is None:
            raise UsageError(f"--engine {folder}: {name} is missing; expected {PACKAGE} {VERSION}, unpacked")
        if _sha256(found) != checksum:
            raise UsageError(f"--engine {folder}: {name} is not that of {PACKAGE} {VERSION}")
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found, target / found.name)


def _unpack(archive: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as packed:
        for name in FILES:
            member = packed.extractfile(f"package/{name}")
            assert member is not None  # its checksum is that of the package that has it
            with member, (target / name.rpartition("/")[2]).open("wb") as file:
                shutil.copyfileobj(member, file)


def _packed() -> tuple[Path | None, str]:
    """The package in the user's cache, installed there by npm if needed; else None, and why."""
    kept = cache_folder() / _ARCHIVE
    if kept.is_file() and _is_whole(kept):
        return kept, ""
    npm = shutil.which("npm")
    if npm is None:
        return None, "npm is not installed"
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder() as folder:
        words = [npm, "pack", "--silent", "--ignore-scripts", f"{PACKAGE}@{VERSION}"]
        try:
            done = subprocess.run(words, cwd=folder, capture_output=True, timeout=_PATIENCE, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return None, f"npm could not get it ({type(error).__name__})"
        fresh = folder / _ARCHIVE
        if done.returncode or not fresh.is_file():
            return None, f"npm could not get it (exit code {done.returncode})"
        if not _is_whole(fresh):
            return None, "npm got another file than the one that is known"
        beside = kept.with_name(f".{kept.name}.tmp")
        try:
            shutil.copyfile(fresh, beside)
            beside.replace(kept)
        except OSError as error:
            return None, f"{kept.parent} cannot be written ({error.strerror})"
    return kept, ""


def _is_whole(archive: Path) -> bool:
    digest = hashlib.sha512()
    with archive.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return base64.b64encode(digest.digest()).decode() == _INTEGRITY


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
