"""A user's own metric in the organisers' form: `SYSTEM, SCORE` lines separated by tabs, one block of lines per system.

Error spans are `SYSTEM, JSON` lines in `.seg.rating`, with exclusive ends and `None` for no prediction.

The file is named like theirs, with `LEVEL.score` at the end and optional parts before: `en-de.MyMetric.seg.score`,
or the language pair as the folder's name. Segments are numbered within a system's block, so each block must have
all of them.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from warehouse.errors import Fault
from warehouse.names import REFERENCE_FREE
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.error_spans import errors_frame, records_of
from warehouse.readers.judgements import Error
from warehouse.readers.long_table import with_place
from warehouse.readers.mtme.ratings import parse_rating
from warehouse.readers.records import Records, TextReader
from warehouse.readers.text.tables import cells_that_are, constants, first_faults, numbers, repeated_faults, table_of
from warehouse.readers.tool_outputs import form_of
from warehouse.wording import option

_BLANKS = re.compile(r"^(?P<system>[^\t\n]*[^\s])[^\S\t\n]+(?P<value>[^\s]+)[^\S\t\n]*$", re.MULTILINE)  # no tab
_FILE = re.compile(r"(?:.*\.)?(?:(?P<level>seg|sys)\.score|seg\.rating)(?:\.gz)?")


class OwnScoreReader(TextReader):
    """Reader of a user's own `.seg.score` and `.sys.score` files."""

    name = "own-scores/2"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        named = _FILE.fullmatch(path.name)
        if not given.is_own or named is None or form_of(path, head, given.metric) == "triples":
            return None
        level = named["level"] or "rating"
        lp = with_place(given, path).lp
        if given.testset is None or lp is None:
            missing = option("testset" if given.testset is None else "lp")
            return f"scores of your own metric: add {missing} to say what they belong to"
        return Claim(
            path,
            self.name,
            f"own/{given.metric}-{given.reference or REFERENCE_FREE}/{given.testset}/{lp}/{level}",
            ((given.testset, lp),),
            level=level,
            status="no entry",
            is_own=True,
            is_negated=given.is_error_measure,
            is_positional=level != "sys",
        )

    def read(self, text: str, faults: list[Fault], claim: Claim, given: LoadHints) -> Records:
        if claim.level == "rating":
            return _predictions(text, claim, given, faults)
        text = _BLANKS.sub(r"\g<system>\t\g<value>", text)
        table = table_of(text, ("system", "value"), "\t", claim.path, faults)
        is_there = pl.col("value") != ""
        table = cells_that_are(table, "value", is_there, "a finite number, or None if missing", claim.path, faults)
        table = numbers(table, "value", claim.path, faults)
        ((testset, lp),) = claim.evalsets
        scores = table.with_columns(
            *constants(testset=testset, lp=lp, level=claim.level, kind="metric"),
            *constants(scorer=given.metric, reference=given.reference),
        )
        if claim.level == "seg":
            scores = scores.with_columns(segment=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("system"))
            faults += _torn_blocks(table, claim.path)
        return Records(scores=scores, faults=faults)


def _predictions(text: str, claim: Claim, given: LoadHints, faults: list[Fault]) -> Records:
    """Predicted errors of a `.seg.rating` file."""
    rows: list[tuple[int, str, int | None]] = []
    found: list[tuple[int, Error]] = []
    wrong: list[Fault] = []
    for line, cells in enumerate(text.removesuffix("\n").split("\n"), start=1):
        try:
            system, errors, _ = parse_rating(cells, is_of_people=False)
        except ValueError as error:
            expected = "SYSTEM, JSON or None, separated by tabs"
            wrong.append(Fault(str(claim.path), line, str(error), expected, kind=expected))
            continue
        rows.append((line, system, None if errors is None else line))
        names = ("category", "severity", "span_start", "span_end", "is_source_error")
        found += [(line, tuple(error[name] for name in names)) for error in errors or ()]
    ((testset, lp),) = claim.evalsets
    schema = {"line": pl.Int64, "system": pl.String, "judgement": pl.Int64}
    table = pl.DataFrame(rows, schema=schema, orient="row").with_columns(
        *constants(testset=testset, lp=lp), segment=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("system")
    )
    faults += [*first_faults(wrong), *_torn_blocks(table, claim.path)]
    return records_of(table, errors_frame(found), given, claim, faults)


def _torn_blocks(table: pl.DataFrame, path: Path) -> list[Fault]:
    """The first lines of further blocks of a system."""
    starts = table.filter(pl.col("system").ne_missing(pl.col("system").shift(1)))
    again = starts.filter(~pl.col("system").is_first_distinct())
    return repeated_faults(again, "system", "a second block of system {!r}", "one block of lines per system", path)
