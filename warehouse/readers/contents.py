"""Claimed files after one reading: checksum, size, and what their bytes show."""

import hashlib
from dataclasses import dataclass
from typing import Protocol

from warehouse.errors import Fault, in_order
from warehouse.readers.claims import Claim
from warehouse.readers.records import Records
from warehouse.readers.text.bytes import pieces_of, unterminated
from warehouse.readers.text.tables import NUL, damaged_lines, of_each_kind

UTF8_MARK = b"\xef\xbb\xbf"
_RETURN = b"\r\n"  # line ends of Windows
_ENDS = "lines that end in a line feed"
_BYTE_ORDER_MARKS = (UTF8_MARK, b"\xff\xfe", b"\xfe\xff")


class RowSource(Protocol):
    """A file whose rows state what they belong to."""

    def read(self, content: "Content") -> "Content":
        """The content with the rows of its evaluation set, and with the faults of the whole file."""
        ...


@dataclass(frozen=True)
class Content:
    """A claimed file after one reading: checksum, size, and what its bytes show.

    n_lines counts the last line even without a line end; n_tabs counts tabs. opened: the file, if its
    rows state what they belong to; records: those of one evaluation set, once read. n_evalsets: to how many
    evaluation sets the file contributes.
    """

    claim: Claim
    file_no: int
    sha256: str
    n_bytes: int
    n_lines: int
    faults: tuple[Fault, ...] = ()
    opened: RowSource | None = None
    records: Records | None = None
    n_evalsets: int = 1
    n_tabs: int = 0

    @property
    def identity(self) -> tuple[str, str]:
        """Checksum, and reader with its version; a file is unchanged if both are equal."""
        return self.sha256, self.claim.reader


def inspect(claim: Claim, file_no: int) -> Content:
    """Read a file once: checksum, number of lines, and faults that any line-based text format excludes.

    Those are: not UTF-8, a byte order mark, control characters, carriage returns inside lines, a last line without its
    end (see `unterminated`), an unreadable file.
    """
    path = str(claim.path)
    look = _Look(claim)
    try:
        for piece in pieces_of(claim.path):
            look.at(piece)
        faults = tuple(look.faults())
    except OSError as error:
        unreadable = Fault(path, 0, f"cannot be read: {error.strerror}", "a readable file")
        return Content(claim, file_no, "", 0, 0, faults=(unreadable,))
    n_lines = look.n_ends + look.is_cut
    sha256 = look.digest.hexdigest()
    n_evalsets = max(1, len(claim.evalsets))
    return Content(claim, file_no, sha256, look.n_bytes, n_lines, faults, n_evalsets=n_evalsets, n_tabs=look.n_tabs)


class _Look:
    """Checksum, counts and damage of a file, read piece by piece."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._unwanted = _unwanted(claim)
        self._head = b""
        self._damages: list[Fault] = []
        self.digest = hashlib.sha256()
        self.n_bytes = self.n_ends = self.n_tabs = 0
        self.is_cut = False

    def at(self, piece: bytes) -> None:
        """Read the next piece; all pieces but the last end with a line end."""
        self._head = self._head or piece[: len(UTF8_MARK)]
        is_text = self._claim.path.suffix != ".parquet"
        damages = damaged_lines(piece.replace(_RETURN, b"\n"), self._unwanted) if is_text else []
        path = str(self._claim.path)
        more = (Fault(path, self.n_ends + line, found, expected) for line, found, expected in damages)
        self._damages = of_each_kind([*self._damages, *more])
        self.digest.update(piece)
        self.n_bytes += len(piece)
        self.n_ends += piece.count(b"\n")
        self.n_tabs += piece.count(b"\t")
        self.is_cut = not piece.endswith(b"\n")

    def faults(self) -> list[Fault]:
        """The faults, once the whole file has been read."""
        claim, path = self._claim, str(self._claim.path)
        if not self.n_bytes:
            return [Fault(path, 0, "the file is empty", "scores or texts, one per line")]
        if self._head.startswith(_BYTE_ORDER_MARKS) and not (claim.is_text and self._head == UTF8_MARK):
            what = "the file begins with a byte order mark"
            return [Fault(path, 1, what, "plain UTF-8", "save it as UTF-8 without BOM")]
        if self._damages:
            return in_order(self._damages)
        if claim.may_lack_end or not self.is_cut:
            return []
        cut = unterminated(pieces_of(claim.path), claim.path)
        return [] if cut is None else [cut]


def _unwanted(claim: Claim) -> list[tuple[bytes, str, str]]:
    """Bytes that are not allowed in a layout's file, with their description and what was expected."""
    if claim.is_text:
        return [NUL]
    controls = [(sign, f"a control character, {sign!r}", _ENDS) for sign in (b"\v", b"\f")]
    return [NUL, *controls, (b"\r", "a carriage return", _ENDS)]
