"""Documents files: which segments there are, in which order, document and domain."""

from collections.abc import Sequence

import polars as pl

from warehouse.database.stage import Documents, Stage
from warehouse.errors import Fault
from warehouse.names import visible_name
from warehouse.readers.contents import Content
from warehouse.readers.mtme.lines import Wrong, lines_of, report
from warehouse.wording import counted


def read_documents(contents: Sequence[Content], stage: Stage) -> Documents | None:
    """Stage the segments that a documents file declares, where one is read.

    Returns (domain, document) of each segment, from the file or else from what the warehouse holds (none where
    nothing tells); None where the file is faulty, so that nobody can say how many there are.
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
    cells = [[visible_name(cell) for cell in line.split("\t")] for line in lines_of(content)]
    if report(stage, content, _wrong_columns(cells)) or report(stage, content, _split_documents(cells)):
        return None
    documents = tuple((domain, document) for domain, document in cells)
    _stage_segments(content, documents, stage)
    return documents


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
    """Documents that begin a second time, or change their domain on the way."""
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
