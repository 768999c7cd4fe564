"""Record files of a load: unpacked and parsed when their rows are first asked for, for all their evaluation sets."""

import hashlib
import zlib
from dataclasses import dataclass, field, replace

from warehouse.errors import Fault
from warehouse.loading.files import size
from warehouse.readers.claims import Claim, EvalsetKey, Given
from warehouse.readers.contents import Content
from warehouse.readers.kept import Kept, kept
from warehouse.readers.recognition import record_reader_named
from warehouse.readers.records import Records
from warehouse.readers.text.ending import unterminated
from warehouse.readers.text.head import readable
from warehouse.readers.text.tables import UNREADABLE
from warehouse.readers.text.unpacking import ExpansionError, unpacked


@dataclass(eq=False)
class Opened:
    """One record file: what it is, and its rows once they are needed.

    evalsets: the evaluation sets that it brings something to; None until they are known.
    """

    claim: Claim
    given: Given
    sha256: str
    n_bytes: int
    modified: int
    faults: tuple[Fault, ...] = ()
    evalsets: tuple[EvalsetKey, ...] | None = None
    _records: Kept | None = field(default=None, repr=False)

    @classmethod
    def open(cls, claim: Claim, given: Given) -> "Opened":
        """Look at a file once: checksum and size."""
        evalsets = claim.evalsets or None
        try:
            modified = claim.path.stat().st_mtime_ns
            data = claim.path.read_bytes()
        except OSError as error:
            unreadable = Fault(str(claim.path), 0, f"cannot be read: {error.strerror}", "a readable file")
            return cls(claim, given, "", 0, 0, (unreadable,), evalsets)
        return cls(claim, given, _checksum(data, claim, given), len(data), modified, (), evalsets)

    @property
    def records(self) -> Kept:
        """All rows; parsed once."""
        if self._records is None:
            self._records = kept([self._parsed()])
            self.faults += self._records.faults
        return self._records

    @property
    def named(self) -> tuple[EvalsetKey, ...]:
        """The evaluation sets that the rows name; those of the rows that can be read, where the file is damaged."""
        records = self.records
        if records.evalsets or not records.faults or not self.sha256:
            return records.evalsets
        try:
            data = readable(self.claim.path.read_bytes())
        except OSError:
            return ()
        saved = record_reader_named(self.claim.reader).parse(data, self.claim, self.given).normal(self.claim.path)
        return tuple(key for key in saved.evalsets if not any(UNREADABLE in name for name in key))

    def of(self, evalset: EvalsetKey, file_no: int) -> Content:
        """What the file brings to one evaluation set."""
        return Content(
            claim=replace(self.claim, evalsets=(evalset,)),
            file_no=file_no,
            sha256=self.sha256,
            n_bytes=self.n_bytes,
            n_lines=0,
            modified=self.modified,
            faults=self.faults,
            opened=self,
            n_evalsets=len(self.evalsets or (evalset,)),
        )

    def read(self, content: Content) -> Content:
        """The content with its rows, and with the faults of the whole file."""
        (evalset,) = content.claim.evalsets
        records = self.records.of(evalset)
        return replace(content, records=records, faults=tuple(dict.fromkeys((*content.faults, *self.faults))))

    def _parsed(self) -> Records:
        path = self.claim.path
        if not self.sha256:
            return Records().normal(path)
        try:
            data = unpacked(path.read_bytes(), self.given.most_unpacked)
        except ExpansionError as error:
            way_out = "raise --max-unpacked if it is sound"
            return Records(faults=[Fault(str(path), 0, f"unpacks to {error}", "scores", way_out)]).normal(path)
        except (OSError, EOFError, zlib.error) as error:
            what = f"cannot be unpacked: {error}"
            return Records(faults=[Fault(str(path), 0, what, "a whole gzip file", "fetch it again")]).normal(path)
        records = record_reader_named(self.claim.reader).parse(data, self.claim, self.given).normal(path)
        if not records.faults and not records.evalsets:
            records.faults.append(Fault(str(path), 0, "no scores", "at least one row with a score"))
        if not self.given.may_lack_end and (cut := unterminated([data], path, is_counted=self.claim.is_positional)):
            records.faults.append(cut)
        return records


def _checksum(data: bytes, claim: Claim, given: Given) -> str:
    """Of the file's content, and of what the user said of it, where that was anything."""
    digest = hashlib.sha256(data)
    said = given.of_content
    if said != Given():
        digest.update(repr(said).encode())
    return digest.hexdigest()


def share(file: Claim | Opened) -> float:
    """A file's bytes for each of its evaluation sets."""
    return size(file) if isinstance(file, Claim) else file.n_bytes / len(file.evalsets or (1,))
