"""Lines of a file, and faults in them."""

import heapq
import itertools
from collections.abc import Iterable, Iterator

from warehouse.database.stage import Documents, Stage
from warehouse.errors import Fault
from warehouse.readers.contents import UTF8_MARK, Content
from warehouse.readers.text.pieces import pieces_of
from warehouse.wording import counted

Wrong = tuple[int, str, str]  # line from 1 (0: the whole file), what was found, what was expected

_SHOWN = 5  # faults of one kind in one file; the rest is counted


def lines_of(content: Content) -> list[str]:
    """The lines of a sound file, without their line ends and without a byte order mark before the first."""
    lines = content.claim.path.read_bytes().removeprefix(UTF8_MARK).decode().split("\n")
    return [line.removesuffix("\r") for line in lines[: content.n_lines]]


def each_line(content: Content) -> Iterator[str]:
    """As `lines_of`, one after the other."""
    before = UTF8_MARK
    for piece in pieces_of(content.claim.path):
        yield from piece.replace(b"\r\n", b"\n").removeprefix(before).removesuffix(b"\n").decode().split("\n")
        before = b""


def report(stage: Stage, content: Content, found: Iterable[Wrong]) -> bool:
    """Note faults of one file in the order of its lines, the first few in full; whether there were any."""
    numbers = itertools.count()
    faults = heapq.nsmallest(_SHOWN + 1, (fault for fault, _ in zip(found, numbers, strict=False)))
    path = str(content.claim.path)
    for line, what, expected in faults[:_SHOWN]:
        stage.fault(content.file_no, Fault(path, line, what, expected))
    if len(faults) > _SHOWN:
        line, what, _ = faults[_SHOWN]
        n_more = next(numbers) - _SHOWN
        more = counted(n_more, "more fault: ", "more faults, the first of them: ")
        stage.fault(content.file_no, Fault(path, line, more + what))
    return bool(faults)


def n_segments_in_words(documents: Documents, stage: Stage) -> str:
    """How many lines are expected, for a message."""
    testset, lp = stage.evalset.testset, stage.evalset.lp
    if documents:
        return f"{len(documents)} (segments of {testset} {lp})"
    return f"documents/{lp}.docs, which says how many segments there are"
