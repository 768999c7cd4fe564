"""Claimed files as they were read once: checksum, size, and what a look at their bytes tells."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from warehouse.errors import Fault
from warehouse.readers.claims import Claim
from warehouse.readers.records import Records
from warehouse.readers.text.cells import more_lines
from warehouse.readers.text.ending import unterminated
from warehouse.readers.text.tables import NUL, damaged_lines

UTF8_MARK = b"\xef\xbb\xbf"
_MOST_FAULTS = 20
_BYTE_ORDER_MARKS = (UTF8_MARK, b"\xff\xfe", b"\xfe\xff")


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
    opened: RowSource | None = None
    records: Records | None = None
    n_evalsets: int = 1
    n_tabs: int = 0

    @property
    def identity(self) -> tuple[str, str]:
        """What must be the same for a file to be no news: checksum, and reader with its version."""
        return self.sha256, self.claim.reader


def inspect(claim: Claim, file_no: int) -> Content:
    """Read a file once: checksum, number of lines, and faults that any line-based text format excludes.

    Those are: not UTF-8, a byte order mark, control characters, carriage returns, a last line without its end (see
    `unterminated`), an unreadable file.
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

    if not data:
        return [Fault(path, 0, "the file is empty", "scores or texts, one per line")]
    if data.startswith(_BYTE_ORDER_MARKS) and not (claim.is_text and data.startswith(UTF8_MARK)):
        what = "the file begins with a byte order mark"
        return [Fault(path, 1, what, "plain UTF-8", "save it as UTF-8 without BOM")]
    if damages := damaged_lines(data, _unwanted(claim)):
        return _damages_in_words(damages, path)
    is_score_file = claim.path.suffix == ".score"
    cut = None if claim.may_lack_end else unterminated(data, claim.path, is_counted=is_score_file)
    return [] if cut is None else [cut]


def _unwanted(claim: Claim) -> list[tuple[bytes, str, str]]:
    """What a layout's file may not hold: the bytes, what they are, what was expected."""
    ends = "lines that end in a line feed"
    controls = [] if claim.is_text else [(sign, f"a control character, {sign!r}", ends) for sign in (b"\v", b"\f")]
    return [NUL, *controls, (b"\r\n" if claim.is_text else b"\r", "a carriage return", f"{ends} alone")]


def _damages_in_words(damages: Sequence[tuple[int, str, str]], path: str) -> list[Fault]:
    """A fault for each damaged line; where many have the same damage, one for the first of them."""
    lines: dict[tuple[str, str], list[int]] = {}
    for line, found, expected in damages:
        lines.setdefault((found, expected), []).append(line)
    faults = []
    for (found, expected), at in lines.items():
        if len(at) > _MOST_FAULTS:
            faults.append(Fault(path, at[0], found + more_lines(len(at) - 1), expected))
        else:
            faults += [Fault(path, line, found, expected) for line in at]
    return sorted(faults)
