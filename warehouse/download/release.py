"""The organisers' archive: fetched, checked, unpacked and loaded."""

import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from warehouse.download.archive import extract
from warehouse.download.fetching import Fetched, fetch
from warehouse.errors import SourceError
from warehouse.loading.entry import load
from warehouse.loading.report import LoadReport
from warehouse.progress import Progress

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
