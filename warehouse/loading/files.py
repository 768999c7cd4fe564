"""Files of a load: found below the user's paths, and claimed by readers."""

import functools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from warehouse.errors import Fault, SourceError
from warehouse.facts.testsets import FACTS_FILE
from warehouse.names import EXPORT_MANIFEST, EXPORTED_SYSTEMS, UNFINISHED_EXPORT
from warehouse.readers.claims import NOTHING_GIVEN, Claim, LoadHints
from warehouse.readers.mtme.place import SCORE_FOLDERS, locate
from warehouse.readers.recognition import UNKNOWN_FORMAT, claim, contradiction
from warehouse.readers.text.bytes import damage_of, head_of

_AFTER = {  # shared tasks' own names; the end of a path
    r"details/[a-z]{2,3}-[a-z]{2,3}\.txt": "tab-separated segments: line, test set, language pair, document, number",
    r"[^/]+\.(sys|domain|doc|seg)\.(score|tsv)(\.gz)?": "scores of a metric",
    r"mqm[_-][^/]*\.tsv": "MQM annotations or their averages",
    r"automatic_scores/[^/]+\.jsonl": "automatic scores, one document per line",
    r"[^/]*humeval[^/]*\.jsonl": "human evaluation, one segment per line",
    r"(esa_[^/]*|[^/]*appraise[^/]*)\.csv": "judgements exported from Appraise",
    r"mt-systems-scored-by-(humans|metrics)": "METRIC LP TESTSET SYSTEM SCORE, separated by tabs",
}
_OF_LAYOUT = re.compile(r".+\.(sys|domain|doc|seg)\.score", re.IGNORECASE)
_EXPECTED = tuple((re.compile(f"(?:.*/)?{end}", re.IGNORECASE), what) for end, what in _AFTER.items())


def expected_of(path: Path) -> str | None:
    """The expected content of a file, by its name and location; None if neither suggests any.

    >>> expected_of(Path("input/details/de-en.txt"))
    'tab-separated segments: line, test set, language pair, document, number'
    >>> expected_of(Path("details/README.txt")) is None
    True
    """
    text = path.as_posix()
    return next((what for pattern, what in _EXPECTED if pattern.fullmatch(text)), None)


def is_out_of_place(path: Path) -> bool:
    """Whether a file is named like the organisers' score files but is outside their folders, which tell the test set
    and usually the language pair.

    >>> [is_out_of_place(Path(folder, "BLEU-refA.seg.score")) for folder in ("mine", "metric-scores/en-de")]
    [True, False]
    """
    is_of_layout = not set(SCORE_FOLDERS).isdisjoint(path.parts[:-1])
    return _OF_LAYOUT.fullmatch(path.name) is not None and not is_of_layout


def is_packed_score_file(path: Path) -> bool:
    """Whether a file that no reader claims is packed and, by its name or folder, contains scores.

    Tables and submissions may be packed by gzip, files of the organisers' layout may not.

    >>> [is_packed_score_file(Path(name)) for name in ("wmt23/documents/en-de.docs.gz", "mine.csv.xz", "paper.pdf.xz")]
    [True, True, False]
    """
    inside = path.with_suffix("")
    if path.suffix == ".gz":
        return locate(inside) is not None
    is_named_so = inside.suffix in (".tsv", ".csv", ".score", ".rating", ".jsonl")
    return path.suffix in (".bz2", ".xz", ".zst", ".zip", ".7z") and (
        is_named_so or locate(inside) is not None or expected_of(inside) is not None
    )


_AGAIN = "export it again"
_ONE_OF_THEM = "load only one of them"
_BACKUP = re.compile(r"(~|\.(bak|orig|old))$", re.IGNORECASE)
_COPY = re.compile(r"( \(\d+\)|( -)?[ _]copy( \(?\d+\)?)?)(?P<ending>(\.[A-Za-z]+){0,2})$", re.IGNORECASE)
_MARKED = re.compile(r" (\(\d+\)|(- )?copy( \(?\d+\)?)?)(\.[A-Za-z]+){0,3}$", re.IGNORECASE)  # not as names are
_VERSION = re.compile(r"[ _-]v\d+(?P<ending>(\.[A-Za-z]+){0,2})$", re.IGNORECASE)
DISAGREES = "load it without the options that it contradicts"


@dataclass
class FoundFiles:
    """Contents of some paths: claimed files, skipped files with the reason, notes and faults.

    exports: folders of exported Parquet, whose files are not claimed one by one.
    """

    claims: list[Claim] = field(default_factory=list)
    exports: list[Path] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def n_unread(self, roots: Iterable[Path]) -> int:
        """Number of files and folders below some folders that were skipped because of a fault, with unknown content."""
        folders = set(roots)
        return sum(not folders.isdisjoint(Path(fault.path).parents) for fault in self.faults)


def find(paths: Iterable[Path], given: LoadHints = NOTHING_GIVEN) -> FoundFiles:
    """Claim the files at or below some paths, and files next to them that they need.

    Raises SourceError: a path does not exist, or there is no file below it.
    """
    found = FoundFiles()
    claims: dict[Path, Claim] = {}
    files = _without_csv(_without_unfinished(find_files(paths, found.faults), found.faults), found.faults)
    there = set(files)
    found.exports = [path.parent for path in files if path.name == EXPORT_MANIFEST]
    for path in files:
        if any(folder in path.parents for folder in found.exports):
            if path.name != EXPORT_MANIFEST and not _is_partition(path):
                found.skipped.append((str(path), "next to exported Parquet"))
            continue
        if _is_partition(path):
            whole = Fault(str(path), 0, f"exported Parquet without {EXPORT_MANIFEST}", "a complete export", _AGAIN)
            found.faults.append(whole)
            continue
        if not _is_utf8(path):
            named = os.fsencode(path).decode("utf-8", "backslashreplace")
            found.faults.append(Fault(named, 0, "a name that is not UTF-8", "a name in UTF-8", "rename the file"))
            continue
        if path.exists() and not path.is_file():
            found.skipped.append((str(path), "not a regular file"))
            continue
        answer = claim(path, given)
        original = original_of(path, answer) if isinstance(answer, Claim) else None
        if isinstance(answer, Claim) and original is not None and (original in there or is_copy_alone(path, answer)):
            _report_copy(path, original, original in there, found)
        elif not isinstance(answer, Claim):
            _report(path, answer, found)
        elif (opposed := contradiction(answer, given)) is not None:
            stated, said = opposed
            found.faults.append(Fault(str(path), 0, f"a file of {stated}", f"one of {said}, as specified", DISAGREES))
        else:
            claims[path] = answer
    for item in list(claims.values()):
        for needed in item.needs:
            answer = claim(needed, given)
            if needed not in claims and isinstance(answer, Claim):
                claims[needed] = answer
                found.notes.append(f"{needed} is also loaded, because {item.path.name} needs it")
    found.claims = sorted(claims.values(), key=lambda item: (item.origin, str(item.path)))
    return found


def _report(path: Path, answer: str, found: FoundFiles) -> None:
    """Report a file that no reader claims: as a fault if its name or folder suggests scores, else as skipped."""
    is_unknown = answer.startswith(UNKNOWN_FORMAT)
    if is_packed_score_file(path):
        found.faults.append(Fault(str(path), 0, f"a packed file ({path.suffix})", "the file itself", "unpack it"))
    elif is_unknown and (damage := damage_of(path)) is not None:
        found.faults.append(damage)
    elif is_unknown and is_out_of_place(path):
        remedy = "move it there, or use `scorehouse add` for a metric of your own"
        where = "a file in TESTSET/metric-scores/LP/ or TESTSET/human-scores/, or columns that name the test set"
        found.faults.append(Fault(str(path), 0, "a score file of an unknown test set", where, remedy))
    elif is_unknown and (expected := expected_of(path)) is not None:
        way_out = "rename it if it is a different file"
        found.faults.append(Fault(str(path), 1, "content that does not match its name and folder", expected, way_out))
    elif path.name != FACTS_FILE:
        found.skipped.append((str(path), answer))


def original_of(path: Path, claimed: Claim) -> Path | None:
    """The original of a file whose name marks it as a copy; None for other names.

    `_v2` marks a copy only for judgements, because elsewhere it may be part of a metric's or system's name.

    >>> claimed = Claim(Path("x"), "r", "o", (), Path())
    >>> [str(original_of(Path(name), claimed)) for name in ("a.csv~", "Copy of a.csv", "a (1).csv", "a - Copy.csv")]
    ['a.csv', 'a.csv', 'a.csv', 'a.csv']
    >>> original_of(Path("a_v2.csv"), claimed) is None
    True
    """
    name = _BACKUP.sub("", _COPY.sub(r"\g<ending>", path.name.removeprefix("Copy of ")))
    name = _VERSION.sub(r"\g<ending>", name) if claimed.group is not None else name
    return None if name == path.name else path.with_name(name)


def is_copy_alone(path: Path, claimed: Claim) -> bool:
    """Whether a copy without its original is skipped: backups, and copies whose file name would name the scorer.

    Tables name scorers in their rows, and `_copy` may be part of a name.

    >>> claimed = Claim(Path("x"), "r", "o", (), Path())
    >>> [is_copy_alone(Path(name), claimed) for name in ("a.tsv.bak", "BLEU-refA (1).seg.score", "source_copy.txt")]
    [True, True, False]
    """
    if _BACKUP.search(path.name) is not None:
        return True
    return not claimed.is_table and (path.name.startswith("Copy of ") or _MARKED.search(path.name) is not None)


def _report_copy(path: Path, original: Path, is_there: bool, found: FoundFiles) -> None:
    """A copy next to its original, of which only the original counts if they are equal; or without it."""
    if _BACKUP.search(path.name) is not None:
        what = "which is loaded" if is_there else "which is missing; rename this file to load it"
        found.skipped.append((str(path), f"a backup copy of {original.name}, {what}"))
    elif not is_there:
        what = "a file named as a copy, without its original"
        found.faults.append(
            Fault(str(path), 0, what, original.name, f"rename it to {original.name} if it is the right version")
        )
    elif path.read_bytes() == original.read_bytes():
        found.skipped.append((str(path), f"the same as {original.name}, which is loaded once"))
    else:
        fault = Fault(str(path), 0, f"a copy of {original.name} with different content", "one of the two", _ONE_OF_THEM)
        found.faults.append(fault)


def _without_unfinished(files: Iterable[Path], faults: list[Fault]) -> list[Path]:
    """The files outside unfinished exports; each unfinished export is a fault."""

    @functools.cache
    def is_unfinished(folder: Path) -> bool:
        is_begun = (folder / UNFINISHED_EXPORT).is_file()
        if is_begun:
            faults.append(Fault(str(folder), 0, "an unfinished export", "a complete export", _AGAIN))
        return (folder != folder.parent and is_unfinished(folder.parent)) or is_begun

    return [path for path in files if not is_unfinished(path.parent)]


def _without_csv(files: Sequence[Path], faults: list[Fault]) -> list[Path]:
    """The files outside CSV exports, which do not contain all that a load needs; each CSV export is a fault."""
    tables = [path for path in files if path.name == "systems.csv"]
    folders = {path.parent for path in tables if head_of(path)[:1] == (EXPORTED_SYSTEMS,)}
    expected = "a parquet or mtme export, which can be loaded again"
    faults += [Fault(str(folder), 0, "a csv export", expected, _AGAIN) for folder in sorted(folders)]
    return [path for path in files if path.parent not in folders or path.suffix != ".csv"]


def _is_partition(path: Path) -> bool:
    """Whether a file is in a folder of exported Parquet."""
    parts = path.parts[-3:-1]
    return path.suffix == ".parquet" and [part.partition("=")[0] for part in parts] == ["testset", "lp"]


def _is_utf8(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def find_files(paths: Iterable[Path], faults: list[Fault]) -> list[Path]:
    """All files at or below some paths, absolute, sorted, each once; hidden files below them are skipped.

    Links to files keep their own names; links to folders are followed if they lead to a new folder.
    faults: folders that cannot be read are added.
    Raises SourceError: a path does not exist, or there is no file below it.
    """
    found: dict[Path, Path] = {}  # where a file really is -> by which path
    for path in paths:
        if not path.exists():
            raise SourceError(f"{path}: no such file or folder")
        if not path.is_file() and not path.is_dir():
            raise SourceError(f"{path}: neither a file nor a folder")
        below = [path] if path.is_file() else list(_walk(path, faults))
        if not below and not faults:
            raise SourceError(f"{path}: an empty folder, expected score files in it")
        for item in below:
            absolute = Path(os.path.abspath(item))  # noqa: PTH100 (resolve() would take the name of a link away)
            found.setdefault(absolute.parent.resolve() / absolute.name, absolute)
    return sorted(found.values())


def _walk(top: Path, faults: list[Fault]) -> Iterator[Path]:
    """Files below a folder, including linked folders, which come after real ones; each folder once."""

    def unreadable(error: OSError) -> None:
        folder = os.path.abspath(error.filename)  # noqa: PTH100 (as in find_files)
        faults.append(Fault(folder, 0, f"cannot be read: {error.strerror}", "a readable folder"))

    visited = set()
    for folder, folders, files in os.walk(top, onerror=unreadable, followlinks=True):
        here = Path(folder)
        if here.resolve() in visited:
            folders.clear()
            continue
        visited.add(here.resolve())
        folders[:] = sorted((name for name in folders if name[0] != "."), key=lambda name: (here / name).is_symlink())
        yield from (here / name for name in files if not name.startswith("."))


def size(claim: Claim) -> int:
    """Size of the file in bytes; 0 if it cannot be read."""
    try:
        return claim.path.stat().st_size
    except OSError:
        return 0
