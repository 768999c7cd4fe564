"""What a reader is: it claims files, and lays their content out in the staging tables."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from warehouse.errors import Fault
from warehouse.stage import Stage

if TYPE_CHECKING:
    from warehouse.readers.records import Records

Declares = Literal["segments", "systems"]


@dataclass(frozen=True)
class Claim:
    """A file that a reader takes.

    origin: what the file is, wherever it lies (test set and place in the format's layout): a later file of
        the same origin replaces what this one brought.
    evalsets: (test set, language pair) of each evaluation set that the file brings something to.
    root: the folder of the test set; facts of the test set may lie in it.
    needs: files that must be read along with this one (they define its segments, or belong to it).
    is_text: sentences, not scores: a stray carriage return inside a line is kept, and a byte order mark before
        the first (real files have one) is no fault.
    declares: what other files are checked against; when such a file changes, all files of its evaluation sets
        are read again. An evaluation set is never loaded without a faulty file that declares its segments.
    companion: origin of the score file that annotations stand behind, or of the annotations behind a score
        file: the two are read together. is_annotation: which of the two this one is.
    group: files of one group bring scores of the same vectors together (judgements in several files), and are
        read together.
    status: what metrics of the file are where that does not follow from the organisers' lists: `no entry` for
        scores that took no part in the metrics task. is_own: scores of the user's own metric.
    is_strict: systems that the evaluation set does not have are faults.
    is_negated: scores count errors and are negated when they are stored.
    is_positional: segments are counted by lines, so that a system with fewer of them than there are is a fault.
    """

    path: Path
    reader: str
    origin: str
    evalsets: tuple[tuple[str, str], ...]
    root: Path
    needs: tuple[Path, ...] = ()
    is_text: bool = False
    declares: Declares | None = None
    companion: str | None = None
    is_annotation: bool = False
    group: str | None = None
    status: str | None = None
    is_own: bool = False
    is_strict: bool = False
    is_positional: bool = False
    is_negated: bool = False


class RowSource(Protocol):
    """A file whose rows say what they are of."""

    def read(self, content: "Content") -> "Content":
        """The content with the rows of its evaluation set, and with the faults of the whole file."""
        ...


@dataclass(frozen=True)
class Content:
    """A claimed file as it was read once: checksum, size, and what a look at its bytes tells.

    n_lines counts the last line also where its line end is missing; n_tabs counts tabs. modified: when the file
    last changed, in nanoseconds; 0 where it cannot be read. opened: the file whose rows say what they are of;
    records: those of one evaluation set, once they were read. n_evalsets: to how many evaluation sets the file
    brings something.
    """

    claim: Claim
    file_no: int
    sha256: str
    n_bytes: int
    n_lines: int
    modified: int = 0
    faults: tuple[Fault, ...] = ()
    opened: "RowSource | None" = None
    records: "Records | None" = None
    n_evalsets: int = 1
    n_tabs: int = 0

    @property
    def identity(self) -> tuple[str, str]:
        """What must be the same for a file to be no news: checksum, and reader with its version."""
        return self.sha256, self.claim.reader


class Reader(Protocol):
    """One file format.

    name: also kept as provenance; it changes when the reader begins to read the same bytes differently.
    """

    name: str

    def claim(self, path: Path) -> Claim | str | None:
        """The claim; or why this reader knows the file but takes nothing from it; or None where it is not its own."""
        ...

    def read(self, contents: Sequence[Content], stage: Stage) -> None:
        """Lay what the files bring to `stage.evalset` out in the stage.

        contents: all files of this reader that are to be read, those with faults in their bytes included.
        Faults go to `stage.fault`; nothing is raised for them.
        """
        ...


UTF8_MARK = b"\xef\xbb\xbf"
_BYTE_ORDER_MARKS = (UTF8_MARK, b"\xff\xfe", b"\xfe\xff")


def inspect(claim: Claim, file_no: int) -> Content:
    """Read a file once: checksum, number of lines, and faults that any line-based text format excludes.

    Those are: not UTF-8, a byte order mark, control characters, carriage returns, an unreadable file.
    """
    path = str(claim.path)
    try:
        modified = claim.path.stat().st_mtime_ns
        data = claim.path.read_bytes()
    except OSError as error:
        unreadable = Fault(path, 0, f"cannot be read: {error.strerror}", "a readable file")
        return Content(claim, file_no, "", 0, 0, faults=(unreadable,))
    n_lines = data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
    sha256 = hashlib.sha256(data).hexdigest()
    return Content(
        claim, file_no, sha256, len(data), n_lines, modified, tuple(_byte_faults(claim, data)), n_tabs=data.count(b"\t")
    )


def change_since(content: Content) -> Fault | None:
    """The fault of a file that is no longer as it was when it was inspected."""
    try:
        status = content.claim.path.stat()
        if (status.st_mtime_ns, status.st_size) == (content.modified, content.n_bytes):
            return None
    except OSError:
        pass
    return Fault(str(content.claim.path), 0, "the file changed while it was read", "one content", "load it again")


def _byte_faults(claim: Claim, data: bytes) -> list[Fault]:
    path = str(claim.path)

    def line(position: int) -> int:
        return data.count(b"\n", 0, position) + 1

    if not data:
        return [Fault(path, 0, "the file is empty", "scores or texts, one a line")]
    if data.startswith(_BYTE_ORDER_MARKS) and not (claim.is_text and data.startswith(UTF8_MARK)):
        what = "the file begins with a byte order mark"
        return [Fault(path, 1, what, "plain UTF-8", "save it as UTF-8 without BOM")]
    if (position := data.find(b"\0")) >= 0:
        return [Fault(path, line(position), "a NUL byte", "text in UTF-8")]
    for sign in () if claim.is_text else (b"\v", b"\f"):
        if (position := data.find(sign)) >= 0:
            return [Fault(path, line(position), f"a control character, {sign!r}", "lines that end in a line feed")]
    if (position := data.find(b"\r\n" if claim.is_text else b"\r")) >= 0:
        return [Fault(path, line(position), "a carriage return", "lines that end in a line feed alone")]
    if not data.isascii():
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            return [Fault(path, line(error.start), f"bytes that are no UTF-8 ({error.reason})", "text in UTF-8")]
    return []
