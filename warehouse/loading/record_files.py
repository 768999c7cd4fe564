"""Record files of a load: unpacked and parsed when their rows are first requested, for all their evaluation sets."""

import hashlib
import tempfile
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path

from warehouse.errors import WITHOUT_IT, Fault
from warehouse.facts.testsets import facts_file
from warehouse.loading.files import DISAGREES, size
from warehouse.readers.claims import Claim, EvalsetKey, LoadHints
from warehouse.readers.contents import Content
from warehouse.readers.long_table import LongTableReader
from warehouse.readers.pieces import gathered
from warehouse.readers.recognition import other_human, record_reader_named
from warehouse.readers.records import Records
from warehouse.readers.text.bytes import ExpansionError, is_packed, pieces_of, readable, unpacked, unterminated
from warehouse.readers.text.tables import UNREADABLE


@dataclass(eq=False)
class OpenFile:
    """One record file, whose rows are read when first needed.

    folder: for the rows of a large table. evalsets: the evaluation sets to which it contributes, or an earlier version
    did; None until known. n_evalsets: to how many it contributes; 0 until it is read.
    """

    claim: Claim
    given: LoadHints
    folder: Path
    sha256: str
    n_bytes: int
    faults: tuple[Fault, ...] = ()
    evalsets: tuple[EvalsetKey, ...] | None = None
    n_evalsets: int = 0
    _records: Records | None = field(default=None, repr=False)
    _asked: list[EvalsetKey] = field(default_factory=list, repr=False)
    _parts: dict[EvalsetKey, Records] = field(default_factory=dict, repr=False)

    @classmethod
    def open(cls, claim: Claim, given: LoadHints, folder: Path) -> "OpenFile":
        """Open a file and determine its checksum and size."""
        evalsets = claim.evalsets or None
        try:
            digest, n_bytes = _checksum(claim, given)
        except OSError as error:
            unreadable = Fault(str(claim.path), 0, f"cannot be read: {error.strerror}", "a readable file")
            return cls(claim, given, folder, "", 0, (unreadable,), evalsets)
        return cls(claim, given, folder, digest, n_bytes, (), evalsets)

    @property
    def is_read(self) -> bool:
        """Whether the rows have been read."""
        return self._records is not None

    @property
    def records(self) -> Records:
        """All rows; parsed once."""
        if self._records is None:
            self._records = self._parsed()
            self.faults += tuple(self._records.faults)
        return self._records

    @property
    def named(self) -> tuple[EvalsetKey, ...]:
        """The evaluation sets named in the rows; for a damaged file, in the readable rows."""
        records = self.records
        if records.evalsets or not records.faults or not self.sha256:
            return records.evalsets
        try:
            data = readable(self.claim.path.read_bytes())
        except OSError:
            return ()
        saved = (
            record_reader_named(self.claim.reader)
            .parse(data, self.claim, self.given)
            .normal(self.claim.path, self.given.numbering)
        )
        return tuple(key for key in saved.evalsets if not any(UNREADABLE in name for name in key))

    def of(self, evalset: EvalsetKey, file_no: int) -> Content:
        """The file's contribution to one evaluation set; `read` gets the rows of all that it was called for at once."""
        self._asked.append(evalset)
        return Content(
            claim=replace(self.claim, evalsets=(evalset,)),
            file_no=file_no,
            sha256=self.sha256,
            n_bytes=self.n_bytes,
            n_lines=0,
            faults=self.faults,
            opened=self,
            n_evalsets=self.n_evalsets or len(self.evalsets or (evalset,)),
        )

    def read(self, content: Content) -> Content:
        """The content with its rows, and with the faults of the whole file."""
        (evalset,) = content.claim.evalsets
        if evalset not in self._parts:
            self._parts = self.records.of_each(list(dict.fromkeys([*self._asked, evalset])))
            self._asked = []
        records = self._parts.pop(evalset)
        return replace(content, records=records, faults=tuple(dict.fromkeys((*content.faults, *self.faults))))

    def _parsed(self) -> Records:
        path = self.claim.path
        if not self.sha256:
            return Records().normal(path)
        reader = record_reader_named(self.claim.reader)
        try:
            is_whole = self.given.may_lack_end or self.claim.may_lack_end or is_packed(path)
            pieces = reader.pieces(self.claim, self.given) if isinstance(reader, LongTableReader) else None
            if pieces is not None:
                folder = Path(tempfile.mkdtemp(dir=self.folder))
                read = gathered(pieces, path, self.given.numbering, folder)
                return self._checked(read, None if is_whole else unterminated(pieces_of(path), path))
            data = unpacked(path.read_bytes())
        except ExpansionError as error:
            return _nothing(Fault(str(path), 0, f"unpacks to {error}", "scores", "unpack it yourself if you trust it"))
        except (OSError, EOFError, zlib.error) as error:
            return _nothing(Fault(str(path), 0, f"cannot be unpacked: {error}", "a complete gzip file", WITHOUT_IT))
        read = reader.parse(data, self.claim, self.given).normal(path, self.given.numbering)
        return self._checked(read, None if is_whole else unterminated([data], path))

    def _checked(self, read: Records, cut: Fault | None) -> Records:
        """The records with the faults of the whole file. cut: the fault of a text that is not whole."""
        further = []
        if not read.faults and not read.evalsets:
            further.append(Fault(str(self.claim.path), 0, "no scores", "at least one row with a score"))
        if cut is not None:
            further.append(cut)
        if not self.given.is_own:
            further += self._unsaid(read)
        return replace(read, faults=[*read.faults, *further])

    def _unsaid(self, read: Records) -> list[Fault]:
        """Rows of another test set, language pair or human score than the one that the user named for the file."""
        opposed = []
        for at, said in enumerate((self.given.testset, self.given.lp)):
            stated = sorted({key[at] for key in read.evalsets} - {said})
            if said is not None and stated:
                opposed.append((", ".join(stated[:5]), said))
        if human := other_human(human_scores(read), self.given):
            opposed.append(human)
        return [
            Fault(str(self.claim.path), 0, f"rows of {stated}", f"{said}, as specified", DISAGREES)
            for stated, said in opposed[:1]
        ]


def human_scores(read: Records) -> set[str]:
    """The human scores named in the rows of completed records."""
    frames = [frame for frame in (read.labels, read.judgements) if frame is not None]
    return {name for frame in frames for name in frame.filter(kind="human")["scorer"].unique().drop_nulls()}


def _nothing(fault: Fault) -> Records:
    """The records of an unreadable file."""
    return Records(faults=[fault]).normal(Path(fault.path))


def _checksum(claim: Claim, given: LoadHints) -> tuple[str, int]:
    """Checksum of the file's content, the user's hints and facts next to a table; and the file's bytes."""
    digest, n_bytes = hashlib.sha256(), 0
    for piece in pieces_of(claim.path):
        digest.update(piece)
        n_bytes += len(piece)
    said = given.of_content
    if said != LoadHints():
        digest.update(repr(said).encode())
    if said.first_segment != 1:
        digest.update(b"segments from 0")
    if claim.is_table and not claim.is_own and (beside := facts_file(claim.root)) is not None:
        digest.update(beside.read_bytes())
    return digest.hexdigest(), n_bytes


def share(file: Claim | OpenFile) -> float:
    """A file's bytes for each of its evaluation sets."""
    return size(file) if isinstance(file, Claim) else file.n_bytes / len(file.evalsets or (1,))
