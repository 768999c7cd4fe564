"""The rows of score files as they stand there, in a temporary table, and the blocks of lines that systems have."""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import duckdb

from warehouse.database.stage import Stage
from warehouse.database.statements import statement
from warehouse.readers.contents import Content
from warehouse.readers.mtme.lines import Wrong, each_line, report
from warehouse.wording import counted

_EMPTY = """
CREATE OR REPLACE TEMP TABLE raw_score (
  file_no INTEGER, unit VARCHAR, system VARCHAR, value DOUBLE, is_wrong BOOLEAN
)
"""
_LONGEST = 1_000_000  # bytes of a line; DuckDB reads up to twice that


@dataclass(frozen=True)
class Block:
    """The lines of one system in one file; rows are numbered over all files. is_wrong: whether some score is none."""

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
    are reported with their lines; rows of theirs may be in the table all the same.
    """
    n_columns = 3 if has_domains else 2
    good = [content for content in contents if not report(stage, content, _unreadable_path(content))]
    try:
        _fill(good, has_domains, stage)
    except duckdb.Error:  # some line has too few or too many columns, or DuckDB does not take some path
        good = [content for content in good if not report(stage, content, _wrong_lines(content, n_columns))]
        try:
            _fill(good, has_domains, stage)
        except duckdb.Error:
            good = [content for content in good if _can_be_filled(content, has_domains, stage)]
            _fill(good, has_domains, stage)
    return _without_wrong_lines(good, n_columns, stage)


def _fill(contents: Sequence[Content], has_domains: bool, stage: Stage) -> None:
    if not contents:
        stage.batch.connection.execute(_EMPTY)
        return
    filled = statement(__package__, "raw_domain_scores" if has_domains else "raw_scores")
    parameters = {
        "patterns": [_pattern(content) for content in contents],
        "paths": [str(content.claim.path) for content in contents],
        "numbers": [content.file_no for content in contents],
    }
    stage.batch.connection.execute(filled, parameters)


def _can_be_filled(content: Content, has_domains: bool, stage: Stage) -> bool:
    """Whether DuckDB reads a file by itself; it is reported where it doesn't."""
    try:
        _fill([content], has_domains, stage)
    except duckdb.Error as error:
        first = str(error).splitlines()[0]
        return not report(stage, content, [(0, f"DuckDB cannot read it: {first}", "a plain name; rename it")])
    return True


def _pattern(content: Content) -> str:
    """The pattern that DuckDB takes for exactly this path.

    Signs of patterns are put in brackets: `a*[1]` becomes `a[*][[]1]`.
    """
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in str(content.claim.path))


def _unreadable_path(content: Content) -> Iterator[Wrong]:
    path = str(content.claim.path)
    if os.sep != "\\" and "\\" in path and _pattern(content) != path:
        yield 0, "a path with a backslash and with *, ? or [ in it", "one without the backslash"


def _without_wrong_lines(contents: Sequence[Content], n_columns: int, stage: Stage) -> dict[int, list[Block]]:
    """Leave out files in which DuckDB passed over blank lines or tabs at line ends, or found a score that is none."""
    blocks = _blocks(stage)
    good = {}
    for content in contents:
        found = blocks.get(content.file_no, [])
        n = sum(block.n for block in found)
        is_wrong = any(block.is_wrong for block in found)
        if n == content.n_lines and content.n_tabs == n * (n_columns - 1) and not is_wrong:
            good[content.file_no] = found
        elif not report(stage, content, _wrong_lines(content, n_columns)):
            report(stage, content, [(0, f"{counted(n, 'row')} that can be read", f"{content.n_lines}, one per line")])
    return good


def _wrong_lines(content: Content, n_columns: int) -> Iterator[Wrong]:
    expected = (
        "DOMAIN, SYSTEM and SCORE, separated by tabs" if n_columns == 3 else "SYSTEM and SCORE, separated by a tab"
    )
    for number, line in enumerate(each_line(content), start=1):
        cells = line.split("\t")
        if not line:
            yield number, "a blank line", expected
        elif len(line) > _LONGEST:
            yield number, f"a line of {len(line)} characters", expected
        elif len(cells) != n_columns:
            yield number, counted(len(cells), "column"), expected
        elif not is_score(cells[-1]):
            yield number, f"score {cells[-1]!r}", "a finite number, or None where missing"


def is_score(text: str) -> bool:
    """Whether a score can be taken: a finite decimal number, or None.

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
