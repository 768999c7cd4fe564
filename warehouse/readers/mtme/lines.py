"""Files with one line per segment: documents files (order, document, domain), and texts, plain or JSON."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import polars as pl

from warehouse.database.stage import Documents, Stage
from warehouse.errors import Fault, in_order
from warehouse.names import system_kind, visible_name
from warehouse.readers.contents import UTF8_MARK, Content
from warehouse.readers.mtme.place import Place
from warehouse.readers.text.bytes import pieces_of
from warehouse.readers.text.json_lines import has_whole_characters
from warehouse.readers.text.tables import of_each_kind
from warehouse.wording import counted

Wrong = tuple[int, str, str]  # line from 1 (0: the whole file), what was found, what was expected


def lines_of(content: Content) -> list[str]:
    """The lines of a valid file, without line ends and byte order mark."""
    lines = content.claim.path.read_bytes().removeprefix(UTF8_MARK).decode().split("\n")
    return [line.removesuffix("\r") for line in lines[: content.n_lines]]


def each_line(content: Content) -> Iterator[str]:
    """As `lines_of`, one at a time."""
    before = UTF8_MARK
    for piece in pieces_of(content.claim.path):
        yield from piece.replace(b"\r\n", b"\n").removeprefix(before).removesuffix(b"\n").decode().split("\n")
        before = b""


def report(stage: Stage, content: Content, found: Iterable[Wrong]) -> bool:
    """Report faults of one file in line order, the first of each kind in full. True if there were any."""
    path = str(content.claim.path)
    faults = of_each_kind(Fault(path, line, what, expected, kind=expected) for line, what, expected in found)
    for fault in in_order(faults):
        stage.fault(content.file_no, fault)
    return bool(faults)


def describe_n_segments(documents: Documents, stage: Stage) -> str:
    """The expected number of lines, for a message."""
    testset, lp = stage.evalset.testset, stage.evalset.lp
    if documents:
        return f"{len(documents)} (segments of {testset} {lp})"
    return f"documents/{lp}.docs, which says how many segments there are"


def cells_of(line: str, n: int = 2) -> list[str]:
    """The columns of a line: split at tabs, or without tabs at white space; the last of n may hold blanks.

    >>> cells_of("GPT 5\\t0.5"), cells_of("A   0.5 "), cells_of("news d 1"), cells_of("A")
    (['GPT 5', '0.5'], ['A', '0.5'], ['news', 'd 1'], ['A'])
    """
    cells = line.split("\t") if "\t" in line else [cell.strip() for cell in line.split(None, n - 1)]
    return cells or [line]


def read_documents(contents: Sequence[Content], stage: Stage) -> Documents | None:
    """Stage the segments that a documents file declares, if one is read.

    Returns (domain, document) of each segment, from the file or else from what the warehouse holds (none where
    neither has them); None if the file is faulty, so that their number is unknown.
    """
    if not contents:
        return stage.evalset.documents
    content, *others = contents
    for other in others:
        stage.fault(
            other.file_no, Fault(str(other.claim.path), 0, f"documents beside {content.claim.path}", "one of them")
        )
    if others or any(content.faults for content in contents):
        return None
    cells = [[visible_name(cell) for cell in cells_of(line)] for line in lines_of(content)]
    if report(stage, content, _wrong_columns(cells)) or report(stage, content, _split_documents(cells)):
        return None
    documents = tuple((domain, document) for domain, document in cells)
    _stage_segments(content, documents, stage)
    return documents


def lines_alone(contents: Iterable[Content], stage: Stage) -> Documents:
    """Stage as many nameless segments as most of these files have lines for, with a note.

    contents: texts, and scores of segments, which have them for each system.
    """
    counts: Counter[int] = Counter()
    for content in contents:
        firsts = (cells_of(line)[0] for line in each_line(content))
        first_block = next((rows for _, rows in groupby(firsts)), ())
        counts[content.n_lines if content.claim.is_text else sum(1 for _ in first_block)] += 1
    if not counts:
        return ()
    ((n, _),) = counts.most_common(1)
    stage.n_lines = n
    where = f"{stage.evalset.testset} {stage.evalset.lp}"
    stage.notes.append(f"{where}: no documents/{stage.evalset.lp}.docs; {counted(n, 'segment')} without documents")
    return ((None, None),) * n


def _wrong_columns(cells: Sequence[Sequence[str]]) -> list[Wrong]:
    return [
        (
            number,
            counted(len(row), "column") if len(row) != 2 else "an empty column",
            "DOMAIN and DOCUMENT, separated by a tab",
        )
        for number, row in enumerate(cells, start=1)
        if len(row) != 2 or not all(row)
    ]


def _split_documents(cells: Sequence[Sequence[str]]) -> list[Wrong]:
    """Faults of documents that begin a second time, or change their domain."""
    wrong: list[Wrong] = []
    domains: dict[str, str] = {}
    before = None
    for number, (domain, document) in enumerate(cells, start=1):
        if document not in domains:
            domains[document] = domain
        elif document != before:
            what = f"document {document!r} begins a second time"
            wrong.append((number, what, "each document in one block of lines"))
        elif domain != domains[document]:
            what = f"document {document!r} in domain {domain!r}"
            wrong.append((number, what, f"{domains[document]!r}, as on its first line"))
        before = document
    return wrong


def _stage_segments(content: Content, documents: Documents, stage: Stage) -> None:
    index: list[int] = []
    before: object = None
    for _, document in documents:
        index.append(index[-1] + 1 if document == before else 1)
        before = document
    frame = pl.DataFrame(
        {
            "segment": range(1, len(documents) + 1),
            "position": range(1, len(documents) + 1),
            "domain": [domain for domain, _ in documents],
            "document": [document for _, document in documents],
            "index_in_document": index,
        }
    )
    stage.add("segment", frame.with_columns(file_no=pl.lit(content.file_no)))
    stage.n_rows[content.file_no] = len(documents)


_KINDS = {"sources": "source", "references": "reference", "system-outputs": "output"}
_KEYS = {
    "source": ("source", "src", "text"),
    "reference": ("target", "reference", "ref", "text"),
    "output": ("hypothesis", "target", "output", "text"),
}


def note_system(content: Content, place: Place, stage: Stage) -> None:
    """Stage the system of a reference or an output."""
    kind = "human" if place.folder == "references" else system_kind(place.name)
    stage.add_systems(content.file_no, {place.name: kind})


def read_texts(content: Content, place: Place, documents: Documents | None, stage: Stage) -> None:
    """Stage one text file; documents: None if their file is faulty, so that lines cannot be counted."""
    kind = _KINDS[place.folder]
    lines = lines_of(content)
    if documents is None:
        return
    if len(lines) != len(documents):
        report(stage, content, [(len(lines), counted(len(lines), "line"), describe_n_segments(documents, stage))])
        return
    if place.extension == "jsonl":
        texts = list(_json_texts(lines, _KEYS[kind]))
        expected = f"a JSON object with one of {', '.join(_KEYS[kind])}"
        if report(stage, content, [(n, "no text", expected) for n, text in enumerate(texts, start=1) if text is None]):
            return
        lines = [text for text in texts if text is not None]
    frame = pl.DataFrame({"segment": range(1, len(lines) + 1), "text": pl.Series(lines, dtype=pl.String)})
    name = pl.lit(place.name or None, dtype=pl.String)
    stage.add("text", frame.with_columns(file_no=pl.lit(content.file_no), kind=pl.lit(kind), name=name))
    stage.n_rows[content.file_no] = len(lines)


def _json_texts(lines: Iterable[str], keys: Sequence[str]) -> Iterator[str | None]:
    """The text of each JSON line; None if it has none, or one that is not valid Unicode."""
    for line in lines:
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            data = None
        found = [data[key] for key in keys if isinstance(data, dict) and isinstance(data.get(key), str)]
        yield found[0] if found and has_whole_characters(line, found[0]) else None
