"""Score files: one block of lines for each system, in test-set order and without a segment number.

Position is the key, so a missing or blank line would shift all lines after it: such files are refused.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import duckdb
import polars as pl

from warehouse.database import statement
from warehouse.database.frames import insert, temporary
from warehouse.database.opening import pattern
from warehouse.database.stage import Documents, Stage
from warehouse.names import MetricVariant, system_kind, visible_name
from warehouse.readers.contents import Content
from warehouse.readers.mtme.lines import Wrong, describe_n_segments, each_line, report
from warehouse.readers.mtme.place import Place
from warehouse.readers.text.tables import NORMALISED
from warehouse.wording import counted, first_line

_EMPTY = """
CREATE OR REPLACE TEMP TABLE raw_score (
  file_no INTEGER, unit VARCHAR, system VARCHAR, value DOUBLE, is_wrong BOOLEAN
)
"""
_LONGEST = 1_000_000  # bytes of a line; DuckDB reads up to twice that


@dataclass(frozen=True)
class Block:
    """The lines of one system in one file; rows are numbered over all files. is_wrong: some score is invalid."""

    system: str
    first: int
    last: int
    n: int
    n_missing: int
    is_wrong: bool
    file_first: int

    @property
    def line(self) -> int:
        return self.first - self.file_first + 1

    @property
    def last_line(self) -> int:
        return self.last - self.file_first + 1

    @property
    def is_together(self) -> bool:
        return self.last - self.first + 1 == self.n


def read_raw(contents: Sequence[Content], has_domains: bool, stage: Stage) -> dict[int, list[Block]]:
    """Fill temp.raw_score (its rowid counts lines over all files) from the files that can be read.

    has_domains: a domain stands before each system.

    Returns the blocks of each of these files, by file_no, in the order of their first lines. The faults of the others
    are reported with their lines; their rows may still be in the table.
    """
    n_columns = 3 if has_domains else 2
    good = [content for content in contents if not report(stage, content, _unreadable_path(content))]
    by_blanks = [content for content in good if content.n_tabs < content.n_lines * (n_columns - 1)]
    if by_blanks:
        good = [content for content in good if content not in by_blanks]
        by_blanks = [content for content in by_blanks if not report(stage, content, _wrong_lines(content, n_columns))]
    try:
        _fill(good, has_domains, stage)
    except duckdb.Error:  # some line has too few or too many columns, or DuckDB does not take some path
        good = [content for content in good if not report(stage, content, _wrong_lines(content, n_columns))]
        try:
            _fill(good, has_domains, stage)
        except duckdb.Error:
            good = [content for content in good if _can_be_filled(content, has_domains, stage)]
            _fill(good, has_domains, stage)
    for content in by_blanks:
        _fill_by_blanks(content, n_columns, stage)
    return _without_wrong_lines([*good, *by_blanks], n_columns, stage)


def _fill(contents: Sequence[Content], has_domains: bool, stage: Stage) -> None:
    if not contents:
        stage.batch.connection.execute(_EMPTY)
        return
    filled = statement(__package__, "raw_domain_scores" if has_domains else "raw_scores")
    parameters = {
        "patterns": [pattern(str(content.claim.path)) for content in contents],
        "paths": [str(content.claim.path) for content in contents],
        "numbers": [content.file_no for content in contents],
    }
    stage.batch.connection.execute(filled, parameters)
    _normalise(contents, stage)


def _normalise(contents: Sequence[Content], stage: Stage) -> None:
    """Replace system names by visible names, with a note for each file that this changes."""
    names = [name for (name,) in stage.batch.rows("SELECT DISTINCT system FROM temp.raw_score")]
    changed = {name: visible for name in names if (visible := visible_name(name)) != name}
    if not changed:
        return
    paths = {content.file_no: content.claim.path for content in contents}
    for file_no, n in stage.batch.rows(statement(__package__, "names_among"), {"names": list(changed)}):
        stage.notes.append(f"{paths[file_no]}: {counted(n, 'name')} {NORMALISED}")
    for name, visible in changed.items():
        renamed = "UPDATE temp.raw_score SET system = $visible WHERE system = $name"
        stage.batch.connection.execute(renamed, {"visible": visible, "name": name})


def _fill_by_blanks(content: Content, n_columns: int, stage: Stage) -> None:
    """Add the rows of a valid file whose columns are separated by white space other than tabs."""
    rows = [_cells(line, n_columns) for line in each_line(content)]
    frame = pl.DataFrame(
        {
            "file_no": content.file_no,
            "unit": [cells[0] if n_columns == 3 else None for cells in rows],
            "system": [cells[-2] for cells in rows],
            "value": [None if cells[-1] == "None" else float(cells[-1]) + 0.0 for cells in rows],
            "is_wrong": False,
        },
        schema_overrides={"file_no": pl.Int32, "unit": pl.String, "value": pl.Float64},
    )
    insert(stage.batch.connection, "temp.raw_score", frame)


def _cells(line: str, n_columns: int) -> list[str]:
    """The columns of a line: split at tabs, or without tabs at white space; system names may have blanks.

    >>> _cells("GPT 5  0.5", 2), _cells("news GPT 5 0.5", 3), _cells("A 1\\t0.5", 2), _cells("0.5", 2)
    (['GPT 5', '0.5'], ['news', 'GPT 5', '0.5'], ['A 1', '0.5'], ['0.5'])
    """
    if "\t" in line:
        return line.split("\t")
    before, _, score = re.sub(r"\s+", " ", line.strip()).rpartition(" ")
    cells = [*before.split(" ", n_columns - 2), score]
    return [cell for cell in cells if cell]


def _can_be_filled(content: Content, has_domains: bool, stage: Stage) -> bool:
    """Whether DuckDB can read a file; it is reported if not."""
    try:
        _fill([content], has_domains, stage)
    except duckdb.Error as error:
        found = f"DuckDB cannot read it: {first_line(error)}"
        return not report(stage, content, [(0, found, "a plain name; rename it")])
    return True


def _unreadable_path(content: Content) -> Iterator[Wrong]:
    path = str(content.claim.path)
    if os.sep != "\\" and "\\" in path and pattern(path) != path:
        yield 0, "a path that contains a backslash and one of * ? [", "a path without the backslash"


def _without_wrong_lines(contents: Sequence[Content], n_columns: int, stage: Stage) -> dict[int, list[Block]]:
    """Exclude files with blank lines or tabs at line ends, which DuckDB skips, or with an invalid score."""
    blocks = _blocks(stage)
    good = {}
    for content in contents:
        found = blocks.get(content.file_no, [])
        n = sum(block.n for block in found)
        is_wrong = any(block.is_wrong for block in found)
        if n == content.n_lines and content.n_tabs <= n * (n_columns - 1) and not is_wrong:
            good[content.file_no] = found
        elif not report(stage, content, _wrong_lines(content, n_columns)):
            report(stage, content, [(0, f"{counted(n, 'row')} that can be read", f"{content.n_lines}, one per line")])
    return good


def _wrong_lines(content: Content, n_columns: int) -> Iterator[Wrong]:
    expected = (
        "DOMAIN, SYSTEM and SCORE, separated by tabs" if n_columns == 3 else "SYSTEM and SCORE, separated by a tab"
    )
    for number, line in enumerate(each_line(content), start=1):
        cells = _cells(line, n_columns)
        if not line.strip():
            yield number, "a blank line", expected
        elif len(line) > _LONGEST:
            yield number, f"a line of {counted(len(line), 'character')}", expected
        elif len(cells) != n_columns:
            yield number, counted(len(cells), "column"), expected
        elif not is_score(cells[-1]):
            yield number, f"score {cells[-1]!r}", "a finite number, or None if missing"


def is_score(text: str) -> bool:
    """Whether a score is valid: a finite decimal number, or None.

    >>> [is_score(text) for text in ("-1.5e-3", "None", "nan", "1_0", " 1", "0x1", "")]
    [True, True, False, False, False, False, False]
    """
    if text == "None":
        return True
    if not text.isascii() or "_" in text or text != text.strip():
        return False
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False


def _blocks(stage: Stage) -> dict[int, list[Block]]:
    """By file_no, the blocks of temp.raw_score in the order of their first lines."""
    blocks: dict[int, list[Block]] = defaultdict(list)
    for file_no, system, first, last, n, n_missing, is_wrong in stage.batch.rows(statement(__package__, "blocks")):
        found = blocks[file_no]
        found.append(Block(system, first, last, n, n_missing, is_wrong, found[0].first if found else first))
    return blocks


Placed = Sequence[tuple[Content, Place]]
Blocks = Mapping[int, Sequence[Block]]  # by file_no


def read_scores(placed: Placed, documents: Documents | None, stage: Stage) -> None:
    """Stage score files; documents: None if their file is faulty, so that lines cannot be counted."""
    for is_domain, has_domains in ((False, False), (False, True), (True, True)):
        chosen = [
            (content, place)
            for content, place in placed
            if (place.level == "domain") == is_domain
            and (is_domain or (place.level == "seg" and content.n_tabs == 2 * content.n_lines) == has_domains)
        ]
        if not chosen:
            continue
        blocks = read_raw([content for content, _ in chosen], has_domains, stage)
        chosen = [(content, place) for content, place in chosen if content.file_no in blocks]
        wrong: Mapping[int, Sequence[Wrong]] = {}
        if has_domains:
            find_wrong = _wrong_domains if is_domain else _other_domains
            wrong = find_wrong(chosen, blocks, documents, stage)
        good = []
        for content, place in chosen:
            found = [*_wrong_systems(blocks[content.file_no], stage), *wrong.get(content.file_no, ())]
            if not is_domain:
                found += _wrong_blocks(blocks[content.file_no], place.level, documents, stage)
            if not report(stage, content, found):
                good.append((content, place))
        _stage_blocks(good, blocks, documents or (), stage)
    stage.batch.connection.execute("DROP TABLE IF EXISTS temp.raw_score")


def unknown_system(system: str, stage: Stage) -> tuple[str, str] | None:
    """What was found and expected, for a system not in the evaluation set; None if it is, or none are known.

    The nearest name is offered.
    """
    known = stage.known_systems
    if not known or system in known:
        return None
    near = get_close_matches(system, known, n=1, cutoff=0.5)
    hint = f", such as {near[0]!r}" if near else ""
    expected = f"one of the {len(known)} systems of {stage.evalset.testset} {stage.evalset.lp}{hint}"
    return f"unknown system {system!r}", expected


def _wrong_systems(blocks: Sequence[Block], stage: Stage) -> Iterator[Wrong]:
    for block in blocks:
        if not block.system:
            yield block.line, "an empty system name", "SYSTEM before the score"
        elif unknown := unknown_system(block.system, stage):
            yield block.line, *unknown


def _wrong_blocks(blocks: Sequence[Block], level: str, documents: Documents | None, stage: Stage) -> Iterator[Wrong]:
    """Faults of systems without exactly one unbroken block of the right length."""
    n_documents = len({document for _, document in documents or ()} - {None})
    n_expected = {"seg": len(documents or ()), "doc": n_documents, "sys": 1}[level]
    words = str(n_expected)
    if level == "seg":
        words = describe_n_segments(documents or (), stage)
    elif level == "doc":
        words = f"{n_documents} (documents of {stage.evalset.testset} {stage.evalset.lp})"
        if documents and not n_documents:
            words = f"documents/{stage.evalset.lp}.docs, which says which documents there are"
    for block in blocks:
        if block.n != n_expected and not (documents is None and level != "sys"):
            yield block.last_line, f"system {block.system!r} has {counted(block.n, 'score')}", words
        elif not block.is_together:
            what = f"lines of system {block.system!r} are not consecutive"
            yield block.line, what, "one block of lines per system"


def _wrong_domains(placed: Placed, blocks: Blocks, documents: Documents | None, stage: Stage) -> dict[int, list[Wrong]]:
    """Faults of files with unknown domains, or without each combination of their domains and systems exactly once."""
    known = {domain for domain, _ in documents or () if domain}
    lines: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
    for file_no, row, unit, system in stage.batch.rows(
        "SELECT file_no, rowid, unit, system FROM temp.raw_score ORDER BY rowid"
    ):
        lines[file_no].append((row, unit, system))
    wrong: dict[int, list[Wrong]] = defaultdict(list)
    for content, _ in placed:
        first: dict[str, int] = {}
        cells: set[tuple[str, str]] = set()
        for number, (_, unit, system) in enumerate(lines[content.file_no], start=1):
            first.setdefault(unit, number)
            if (unit, system) in cells:
                what = f"domain {unit!r} and system {system!r} a second time"
                wrong[content.file_no].append((number, what, "each once"))
            cells.add((unit, system))
        expected = f"one of {', '.join(sorted(map(str, known)))}" if known else "DOMAIN before the system"
        unknown = [
            (number, f"unknown domain {unit!r}" if unit else "an empty domain", expected)
            for unit, number in first.items()
            if not unit or (known and unit not in known)
        ]
        wrong[content.file_no] += unknown or [
            (block.last_line, f"system {block.system!r} has no line for domain {unit!r}", "one for every domain")
            for block in blocks[content.file_no]
            for unit in first
            if (unit, block.system) not in cells
        ]
    return wrong


def _other_domains(placed: Placed, blocks: Blocks, documents: Documents | None, stage: Stage) -> dict[int, list[Wrong]]:
    """Faults of segment scores whose domain is not the segment's."""
    domains = [domain for domain, _ in documents or ()]
    if not domains:
        return {}
    units: dict[int, list[str]] = defaultdict(list)
    for file_no, unit in stage.batch.rows("SELECT file_no, unit FROM temp.raw_score ORDER BY rowid"):
        units[file_no].append(unit)
    return {
        content.file_no: [
            (block.line + at, f"domain {unit!r}", f"{domain!r}, as in the documents file")
            for block in blocks[content.file_no]
            for at, (unit, domain) in enumerate(
                zip(units[content.file_no][block.line - 1 : block.last_line], domains, strict=False)
            )
            if unit != domain
        ]
        for content, _ in placed
    }


def _stage_blocks(placed: Placed, blocks: Blocks, documents: Documents, stage: Stage) -> None:
    """Stage the blocks of valid files as vectors with their scores."""
    rows: list[dict[str, Any]] = []
    for content, place in placed:
        described = scorer_columns(place)
        rows += [
            {
                "file_no": content.file_no,
                **described,
                "system": block.system,
                "level": place.level,
                "is_negated": False,
                "n_values": block.n - block.n_missing,
                "n_missing": block.n_missing,
                "first_row": block.first,
            }
            for block in blocks[content.file_no]
        ]
        stage.n_rows[content.file_no] = sum(block.n for block in blocks[content.file_no])
        stage.n_missing[content.file_no] = sum(block.n_missing for block in blocks[content.file_no])
        systems = {block.system: system_kind(block.system) for block in blocks[content.file_no]}
        stage.add_systems(content.file_no, systems)
    if not rows:
        return
    numbers = pl.Series("vector_no", list(stage.batch.new_vectors(len(rows))), dtype=pl.Int32)
    frame = pl.DataFrame(rows, infer_schema_length=None).with_columns(numbers, pl.col("reference").cast(pl.String))
    stage.add("vector", frame.drop("first_row"))
    names = list(dict.fromkeys(document for _, document in documents))
    connection = stage.batch.connection
    temporary(
        connection,
        "raw_block",
        frame.select("vector_no", pl.col("file_no").cast(pl.Int32), "system", "level", "first_row"),
    )
    levels = {place.level for _, place in placed}
    if "seg" in levels:
        connection.execute(statement(__package__, "stage_scores"))
    if levels != {"seg"}:
        connection.execute(statement(__package__, "stage_aggregates"), {"documents": names})
    connection.execute("DROP TABLE temp.raw_block")


def scorer_columns(place: Place) -> dict[str, Any]:
    """Columns of staged_vector that describe the scorer of a file."""
    variant = MetricVariant.parse(place.name) if place.folder == "metric-scores" else None
    return {
        "kind": "metric" if variant else "human",
        "scorer": place.name,
        "base_name": variant.base_name if variant else place.name,
        "reference": variant.reference if variant else None,
        "is_reference_free": variant is not None and variant.reference is None,
    }
