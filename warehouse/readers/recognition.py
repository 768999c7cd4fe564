"""Find the first reader that claims a file, or explain which known format an unread file comes closest to."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from warehouse.database.stage import Stage
from warehouse.readers import mtme
from warehouse.readers.appraise import AppraiseReader
from warehouse.readers.automatic_scores import AutomaticScoreReader, SystemScoreListReader
from warehouse.readers.campaign_workbooks import CampaignWorkbookReader
from warehouse.readers.challenge import ChallengeSetReader
from warehouse.readers.claims import NOTHING_GIVEN, Claim, LoadHints
from warehouse.readers.contents import Content
from warehouse.readers.direct_assessment import DirectAssessmentReader
from warehouse.readers.error_spans import ErrorSpanReader
from warehouse.readers.five_columns import FiveColumnReader
from warehouse.readers.item_scores import ItemScoreReader
from warehouse.readers.long_table import LongTableReader, with_place
from warehouse.readers.mqm import MqmAnnotationsReader, MqmAverageReader
from warehouse.readers.own_scores import OwnScoreReader
from warehouse.readers.pearmut import PearmutReader
from warehouse.readers.preference_table import PreferenceTableReader
from warehouse.readers.rankings import RankingReader
from warehouse.readers.records import Records
from warehouse.readers.segment_details import SegmentDetailsReader
from warehouse.readers.submissions import SubmissionReader
from warehouse.readers.system_tables import SystemTableReader
from warehouse.readers.text.bytes import head_of
from warehouse.readers.text.named_columns import ERRORS, columns_of, header_of
from warehouse.readers.text.quoted import quoted_cells
from warehouse.readers.text.tables import is_number
from warehouse.readers.tool_outputs import NO_SYSTEM, ToolOutputReader, form_of, is_with_texts
from warehouse.readers.wide_table import WideTableReader
from warehouse.readers.wmt25_automatic import Wmt25AutomaticReader
from warehouse.readers.wmt25_human import Wmt25HumanReader
from warehouse.wording import option


class RecordReader(Protocol):
    """One file format whose rows state what they belong to.

    name: also kept as provenance; it changes when the reader begins to read the same bytes differently.
    """

    name: str

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        """The claim; or why this reader knows the file but takes nothing from it; or None where it is not its own.

        head: the first lines, unpacked and decoded (no line ends); empty where the file is no text.
        """
        ...

    def parse(self, data: bytes, claim: Claim, given: LoadHints) -> Records:
        """The rows of the whole file. data: its bytes, unpacked. Faults are returned, never raised."""
        ...


class Reader(Protocol):
    """A layout whose files form a whole; the reader stages them itself.

    name: also kept as provenance; it changes when the reader begins to read the same bytes differently.
    """

    name: str

    def claim(self, path: Path, given: LoadHints) -> Claim | str | None:
        """The claim; or why this reader knows the file but takes nothing from it; or None where it is not its own."""
        ...

    def read(self, contents: Sequence[Content], stage: Stage) -> None:
        """Stage the content of the files for `stage.evalset`.

        contents: all files of this reader that are to be read, those with faults in their bytes included.
        Faults go to `stage.fault`; nothing is raised for them.
        """
        ...


READERS: tuple[Reader, ...] = (mtme.MtmeReader(), ChallengeSetReader())
RECORD_READERS: tuple[RecordReader, ...] = (
    DirectAssessmentReader(),
    RankingReader(),
    ErrorSpanReader(),
    SubmissionReader(),
    SegmentDetailsReader(),
    SystemTableReader(),
    FiveColumnReader(),
    AutomaticScoreReader(),
    SystemScoreListReader(),
    MqmAverageReader(),
    MqmAnnotationsReader(),
    AppraiseReader(),
    Wmt25AutomaticReader(),
    Wmt25HumanReader(),
    PearmutReader(),
    CampaignWorkbookReader(),
    ItemScoreReader(),
    PreferenceTableReader(),
    LongTableReader(),
    WideTableReader(),
)

OWN_READERS: tuple[RecordReader, ...] = (
    OwnScoreReader(),
    PreferenceTableReader(),
    ErrorSpanReader(),
    ToolOutputReader(),
    LongTableReader(),
    WideTableReader(),
)
_RECORD_READERS = {reader.name: reader for reader in (*RECORD_READERS, *OWN_READERS)}


def claim(path: Path, given: LoadHints = NOTHING_GIVEN) -> Claim | str:
    """The reader and claim of a file, or a text with the reason why no reader claims it."""
    reasons = []
    for reader in () if given.is_own else READERS:
        answer = reader.claim(path, given)
        if isinstance(answer, Claim):
            return replace(answer, may_lack_end=answer.may_lack_end or given.may_lack_end)
        if answer is not None:
            return answer
    head = head_of(path)
    if given.is_own and given.system is None and (system := _called_as_system(path, given)) is not None:
        of_file = claim(path, replace(given, system=system)) if _lacks_system(path, head, given) else None
        if isinstance(of_file, Claim):
            return of_file
    for record_reader in OWN_READERS if given.is_own else RECORD_READERS:
        answer = record_reader.claim(path, head, given)
        if isinstance(answer, Claim):
            return answer
        if answer is not None:
            reasons.append(answer)
    return reasons[0] if reasons else lack_of(path, head, given)


def _called_as_system(path: Path, given: LoadHints) -> str | None:
    """The system that a user's file is named after; None if there is none."""
    given = with_place(given, path)
    known = given.texts.get((given.testset or "", given.lp or ""))
    names = (path.name, path.stem, path.name.removeprefix(f"{given.lp}.").partition(".")[0], path.name.split(".")[0])
    return next((name for name in names if known and name in known.systems), None)


def _lacks_system(path: Path, head: Sequence[str], given: LoadHints) -> bool:
    """Whether all scores of a file belong to one system that it does not name."""
    answers = [reader.claim(path, head, given) for reader in OWN_READERS]
    return not any(isinstance(answer, Claim) for answer in answers)


def contradiction(claimed: Claim, given: LoadHints) -> tuple[str, str] | None:
    """A contradiction between the file's name or first lines and the user's hints, as both values.

    The rows of record files are checked in `OpenFile`.
    """
    if given.first_segment != 1 and not claimed.reader.startswith(_NUMBERED):
        return "segments that its format numbers", f"segments from {given.first_segment}"
    if given.is_own:
        return None
    if not is_record_reader(claimed.reader):
        for at, said in enumerate((given.testset, given.lp)):
            if said is not None and (others := {evalset[at] for evalset in claimed.evalsets} - {said}):
                return ", ".join(sorted(others)), said
        return other_human([claimed.human] if claimed.human else [], given)
    reader, path = record_reader_named(claimed.reader), Path(claimed.path.name)
    for said, alone in ((given.testset, replace(given, testset=None)), (given.lp, replace(given, lp=None))):
        answer = reader.claim(path, head_of(claimed.path), alone)
        if said is None or not isinstance(answer, Claim):
            continue
        if alone.testset is None:
            stated = {answer.testset} - {None} or {testset for testset, _ in answer.evalsets}
        else:
            stated = {lp for _, lp in answer.evalsets}
        if stated and said not in stated:
            return ", ".join(sorted(name for name in stated if name)), said
    return None


def other_human(stated: Collection[str], given: LoadHints) -> tuple[str, str] | None:
    """The file's human scores and the user's name for them, if none of them has that name.

    >>> other_human(["esa-human1", "esa-human2"], LoadHints(human="esa")), other_human([], LoadHints(human="esa"))
    (None, None)
    >>> other_human(["mqm"], LoadHints(human="esa"))
    ('mqm', 'esa')
    """
    said = given.human
    if said is None or not stated or any(name.startswith(f"{one}-") for one in said.split(",") for name in stated):
        return None
    if {*stated}.intersection(said.split(",")):
        return None
    return ", ".join(sorted(stated)[:5]), said


def is_record_reader(name: str) -> bool:
    """Whether the rows of a reader's files state what they belong to."""
    return name in _RECORD_READERS


def record_reader_named(name: str) -> RecordReader:
    """The reader of that name.

    Raises KeyError: there is none.
    """
    return _RECORD_READERS[name]


def reader_named(name: str) -> Reader:
    """The reader of that name.

    Raises KeyError: there is none.
    """
    return {reader.name: reader for reader in READERS}[name]


_NUMBERED = tuple(
    reader.name.partition("/")[0]
    for reader in (LongTableReader, WideTableReader, PreferenceTableReader, ErrorSpanReader, ToolOutputReader)
)
"""Readers of tables whose segments users number, from 0 or 1."""
UNKNOWN_FORMAT = "not a known score format"
_ADD = f"`scorehouse add FILE {option('metric', 'NAME')}` adds it as a metric of your own"
NO_NAMES = "systems and scores without column names; name the file METRIC.seg.score or METRIC.sys.score"


def lack_of(path: Path, head: Sequence[str], given: LoadHints) -> str:
    """Why no reader claims a file."""
    lack = _lack(path, head, given)
    return NO_SYSTEM if lack == NO_SYSTEM else f"{UNKNOWN_FORMAT}: {lack}"


def _lack(path: Path, head: Sequence[str], given: LoadHints) -> str:
    if not head:
        parquet = header_of(path, head, system="")
        return "no text" if parquet is None else NO_SYSTEM if given.is_own else "Parquet without a system column"
    form = form_of(path, head, given.metric)
    if not given.is_own and (form == "printed" or (form == "document" and is_with_texts(path, head))):
        return f"output of a metric program; {_ADD}"
    if not given.is_own and form == "list":
        return f"numbers only; {_ADD}"
    header = columns_of(path, head)
    if header is None:
        is_json = head[0].lstrip()[:1] in ("{", "[")
        return "JSON that is not one object per line" if is_json else "text without columns"
    if header.form == "json":
        what = "JSON lines without a key"
    else:
        rows = [quoted_cells(line, header.separator) for line in head[:-1] or head if line.strip()]
        if {len(row) for row in rows} != {len(header.columns)}:
            return "text without columns"
        if len(header.columns) == 2 and all(is_number(row[1]) and not is_number(row[0]) for row in rows):
            return NO_NAMES
        if len(rows) == 1:
            return "text without columns"
        what = "a table without a column"
    if "system" in header.known:
        return f"{what} of scores"
    if given.is_own or ERRORS in header.columns:
        return NO_SYSTEM if given.is_own else f"{what} system; {_ADD}"
    return f"{what} system"
