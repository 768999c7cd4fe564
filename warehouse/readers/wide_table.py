"""A user's wide table: one row per system, or segment of a system; one column per metric or human score."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from warehouse.errors import Fault
from warehouse.facts.metrics import describe
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.long_table import (
    claim_of,
    is_human_score,
    missing_place,
    opened,
    records_of,
    variant,
    with_evalset,
    with_place,
    with_references,
)
from warehouse.readers.records import Records
from warehouse.readers.text.json_lines import first_object
from warehouse.readers.text.named_columns import ERRORS, NEGATED, NO_SCORES, Header, header_of, placed, unread
from warehouse.readers.text.quoted import quoted_cells
from warehouse.readers.text.tables import finite, numbers
from warehouse.wording import option

_PLACES = (
    *("testset", "lp", "source", "target", "level", "system"),
    *("domain", "document", "segment", "index", "reference", "item", "run", "version"),
)
_RUN = re.compile(r"(?P<judge>.+?)[-_. ]run[-_ ]?(?P<run>\d+)", re.IGNORECASE)  # of a judge with several
_RATER = re.compile(
    r"(?:(?P<human>.+?)[-_. ])?(?P<rater>(?:annotator|annot|ann|rater|assessor)[-_ ]?(?:\d+|[a-z]))", re.IGNORECASE
)
VERDICTS = {
    **dict.fromkeys(("yes", "true", "pass", "good", "correct"), "1"),
    **dict.fromkeys(("no", "false", "fail", "bad", "incorrect"), "0"),
}
_GENERIC = {"human", "humans", "score", "scores", "avg", "average", "mean", "seg", "segment", "sys", "system", "raw"}
_ADD = f"`scorehouse add FILE {option('metric', 'NAME')}` stores them negated"
_FEWEST_COUNTED = 3  # rows in which numbers that count up, or are all the same, are seen to be no scores


class WideTableReader:
    """Reader of tables with a column of systems and columns of numbers, each named after its scorer."""

    name = "wide-table/3"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        header = header_of(path, head, given.system)
        if header is None or "value" in header.known or {"metric", "scorer"} & header.known.keys():
            return None
        if header.form == "text" and not numeric(header, head):
            return None
        if not _columns(header):
            return None
        if ERRORS in header.columns and not given.is_own:
            return f"errors of an unknown metric in {ERRORS!r}; {_ADD}"
        given = with_place(given, path)
        return missing_place(header, given) or claim_of(path, self.name, header, given)

    def parse(self, data: bytes, claim: Claim, given: LoadHints) -> Records:
        header, table, faults = opened(data, claim)
        if header is None or table.is_empty():
            return Records(faults=faults)
        given = with_place(given, claim.path)
        table, more = placed(table, claim.path, given.first_segment)
        faults += more
        columns = dict(zip(header.columns, header.names, strict=True))
        of_words = {columns[column]: _as_numbers(table[columns[column]]) for column in _columns(header)}
        if any(
            name in of_words and of_words[name] is not None
            for name in map(columns.get, filter(_RATER.fullmatch, columns))
        ):
            table = table.with_columns(cells for cells in of_words.values() if cells is not None)
        reasons = {column: _no_scores(column, table[columns[column]], given) for column in _columns(header)}
        scored = [column for column, reason in reasons.items() if not reason]
        if not scored:
            expected = "numbers in columns named after metrics"
            return Records(faults=[*faults, Fault(str(claim.path), 1, "no column of scores", expected)])
        names, more = _names(scored, columns, given, claim.path)
        faults += more
        raters = {} if given.is_own else {column: rater for column in names if (rater := _rater(column, given))}
        if "reference" not in table.columns:
            table = table.with_columns(reference=pl.lit(None, pl.String))
        places = [name for name in ("line", *_PLACES, "rater") if name in table.columns]
        parts = []
        for column, (kind, name) in names.items():
            part = table.select(*places, pl.col(columns[column]).fill_null("").alias(column))
            part = numbers(part, column, claim.path, faults)
            if column in raters:
                part = part.filter(pl.col(column).is_not_null()).with_columns(rater=pl.lit(raters[column]))
            if kind == "metric" and (of_run := _RUN.fullmatch(name)) is not None:
                name, part = of_run["judge"], part.with_columns(run=pl.lit(of_run["run"]))
            parts.append(part.rename({column: "value"}).with_columns(kind=pl.lit(kind), named=pl.lit(name)))
        left = [column for column in _columns(header) if column not in names]
        notes = unread([*(name for name in header.columns if not name), *left], header.columns, reasons)
        notes += [NEGATED] if claim.is_own and ERRORS in names else []
        if not parts:
            return Records(faults=faults, notes=notes)
        scores = with_evalset(with_references(pl.concat(parts, how="diagonal"), given), given, claim.root)
        return records_of(scores, header, claim.path, faults, notes)


def _names(
    scored: Sequence[str], columns: Mapping[str, str], given: LoadHints, path: Path
) -> tuple[dict[str, tuple[str, str]], list[Fault]]:
    """Kind and name of the scores in each column; for a user metric, the column with its name or the only one.

    columns: name in the file -> in the opened table. The user's name goes to the column `human`, or to the only human
    column unless that is named after another human score, and to columns of annotators' judgements.
    """
    judged = {column: _human_of(column, given) for column in scored if _rater(column, given) and not given.is_own}
    if None in judged.values():
        first = next(column for column, human in judged.items() if human is None)
        way_out = f"name it with {option('human')}"
        return {}, [Fault(str(path), 1, f"judgements in {first!r} of an unknown human score", "its name", way_out)]
    scored = [column for column in scored if column not in judged]
    humans = [column for column in scored if columns[column] == "human" or is_human_score(column, given)]
    names = {column: ("human" if column in humans else "metric", column) for column in scored}
    nameless = [column for column in humans if columns[column] == "human"] or humans
    if given.human and given.human not in humans and len(nameless) == 1 and _may_be_called(nameless[0], given.human):
        names[nameless[0]] = ("human", given.human)
    names |= {column: ("human", human or "") for column, human in judged.items()}
    if given.is_own:
        names = {column: called for column, called in names.items() if called[0] == "metric"}
    metrics = [column for column, (kind, _) in names.items() if kind == "metric"]
    if given.metric is not None and metrics:
        chosen = next((name for name in (given.metric, ERRORS) if name in metrics), metrics[0])
        if chosen not in (given.metric, ERRORS) and len(metrics) > 1:
            found = f"metrics {', '.join(metrics[:5])}"
            return {}, [Fault(str(path), 1, found, f"one metric, or {given.metric} among them")]
        names = {column: called for column, called in names.items() if column == chosen or called[0] == "human"}
        names[chosen] = ("metric", given.metric)
    return names, []


def _rater(column: str, given: LoadHints) -> str | None:
    """The annotator of a column of judgements: `ann1`, or `esa_rater2` of a human score; None for other columns."""
    found = _RATER.fullmatch(column)
    is_of_human = found is not None and (found["human"] is None or is_human_score(found["human"], given))
    return found["rater"] if found is not None and is_of_human else None


def _human_of(column: str, given: LoadHints) -> str | None:
    """The human score of a column's judgements: named by the column, or else by the user."""
    found = _RATER.fullmatch(column)
    return found["human"] if found is not None and found["human"] else given.human


def _may_be_called(column: str, human: str) -> bool:
    """Whether a column of human scores may take the user's name, because it has no other.

    >>> [_may_be_called(column, "mqm") for column in ("mqm_avg_score", "Human_scores", "human_mqm_score", "esa")]
    [True, True, True, False]
    """
    words, said = (set(re.findall(r"[a-z]+", name.lower())) for name in (column, human))
    return words - said <= _GENERIC


def _columns(header: Header) -> list[str]:
    """Columns that may hold scores: all that do not describe the place of a score."""
    places = {column for name, column in header.known.items() if name in (*_PLACES, "rater")}
    return [column for column in header.columns if column not in places and column]


def numeric(header: Header, head: Sequence[str]) -> list[str]:
    """The columns that may hold scores and have a number in the first rows."""
    if header.form == "json":
        first = first_object(head) or {}
        return [column for column in _columns(header) if type(first.get(column)) in (int, float)]
    rows = [quoted_cells(line, header.separator) for line in head[1:] if line]
    numbers_at = {
        at
        for row in rows
        if len(row) == len(header.columns)
        for at, cell in enumerate(row)
        if finite(cell.strip()) is not None
        or (cell.strip().lower() in VERDICTS and _RATER.fullmatch(header.columns[at]) is not None)
    }
    return [column for column in _columns(header) if header.columns.index(column) in numbers_at]


def _as_numbers(cells: pl.Series) -> pl.Series | None:
    """Verdicts such as yes and no as 1 and 0; None for other cells."""
    words = cells.drop_nulls().str.to_lowercase().unique()
    if words.is_empty() or not set(words) <= VERDICTS.keys():
        return None
    return cells.str.to_lowercase().replace(VERDICTS)


def _no_scores(column: str, cells: pl.Series, given: LoadHints) -> str:
    """Why a column holds no scores; empty if it does.

    A column named after a metric or human score holds scores; others must hold numbers that are neither row numbers
    nor all equal.
    """
    values = cells.cast(pl.Float64, strict=False).drop_nulls()
    if cells.null_count() == len(cells):
        return "empty"
    if len(values) == 0 or len(values) < len(cells) - cells.null_count() - len(values):
        return "no numbers"
    base, _, is_variant = variant(column)
    if (
        column == given.metric
        or _rater(column, given)
        or is_human_score(column, given)
        or is_variant
        or describe(base).is_known
    ):
        return ""
    if NO_SCORES.fullmatch(column):
        return "not the name of a metric"
    if len(values) < _FEWEST_COUNTED:
        return ""
    counts_up = cells.str.contains(r"^\d+$").all() and values[0] in (0, 1) and (values.diff().drop_nulls() == 1).all()
    return "a row number" if counts_up else "the same number in all rows" if values.n_unique() == 1 else ""
