"""Error spans in tables and JSON lines: predictions of a user's own metric, or gold ones under a human score's name.

- WMT25's task 2: `start_indices`, `end_indices`, `error_types`, separated by blanks; `-1 -1 no-error` for none.
- WMT26: an object a line, `item_id` with `task1_pred`, `task2_pred` or `task3_pred` by system: lists are spans, in an
  object with `errors` beside severities of `omission` and `instruction_fault`; numbers and truth values are scores.
- A table of one's own with `start`, `end` and `severity`, a span a row; severity `no-error` for an output without any.

Ends are the characters behind the spans, as the tasks score them, unless the user says that they are the last ones; an
output that is not there has no prediction, which is not the same as one predicted error-free.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from warehouse.errors import Fault
from warehouse.names import REFERENCE_FREE
from warehouse.readers.claims import Claim, Given
from warehouse.readers.judgements import SPAN, Error, WrongJudgementError, score_of_errors, span_of, weight_of
from warehouse.readers.long_table import missing_place, with_evalset, with_place
from warehouse.readers.pearmut import place_of
from warehouse.readers.records import Records, columns
from warehouse.readers.text.json_lines import first_object, json_objects
from warehouse.readers.text.named_columns import Header, columns_of, placed, table_under
from warehouse.readers.text.tables import MISSING, constants, first_faults, text_of
from warehouse.wording import counted, option

NO_ERROR = "no-error"
_OF_TASK = ("start_indices", "end_indices", "error_types")
_OF_ROWS = ("start", "end", "severity")
_PREDICTED = ("task1_pred", "task2_pred", "task3_pred")
_MORE = ("category", "side")
_NUMBER = re.compile(r"\d{1,10}(\.0*)?", re.ASCII)


class ErrorSpanReader:
    """Reader of error spans in tables and JSON lines."""

    name = "error-spans/2"

    def claim(self, path: Path, head: Sequence[str], given: Given) -> Claim | str | None:
        form = _form(path, head)
        if form is None:
            return None
        if not given.is_own and given.human is None:
            adding = f"`scorehouse add FILE {option('metric', 'NAME')}`"
            return f"error spans: {adding} takes predictions, {option('human', 'NAME')} gold ones"
        given = with_place(given, path)
        header = columns_of(path, head)
        if form == "lines":
            if given.testset is None or given.lp is None:
                return (
                    f"error spans: say what they belong to with {option('testset' if given.testset is None else 'lp')}"
                )
        elif header is not None:
            if "system" not in header.known and given.system is None:
                return "error spans without a column system"
            if (reason := missing_place(header, given)) is not None:
                return reason
        variant = f"{given.metric}-{given.reference or REFERENCE_FREE}" if given.is_own else given.human
        return Claim(
            path=path,
            reader=self.name,
            origin=f"own/{variant}/{given.testset}/{given.lp}/{given.system or ''}/{path.name}",
            evalsets=(),
            system=given.system,
            human=None if given.is_own else given.human,
            status="no entry" if given.is_own else None,
            is_own=given.is_own,
        )

    def parse(self, data: bytes, claim: Claim, given: Given) -> Records:
        text, faults = text_of(data, claim.path)
        if not text:
            return Records(faults=faults)
        given = with_place(given, claim.path)
        head = text.split("\n", 20)[:20]
        form = _form(claim.path, head)
        if form == "lines":
            rows, errors, more = _of_lines(text, claim, given)
        else:
            header = columns_of(claim.path, head)
            assert header is not None
            rows, errors, more = _of_table(header, data, claim, given, is_task=form == "task")
        faults += more
        if rows.is_empty():
            return Records(faults=faults)
        if given.has_inclusive_ends:
            errors = errors.with_columns(pl.col("span_end") + 1)
        return records_of(rows, errors, given, claim, faults)


def _form(path: Path, head: Sequence[str]) -> str | None:
    """How spans are written: task, table or lines; None where it is none of these."""
    if not head:
        return None
    first = first_object(head[:1])
    if first is not None and "item_id" in first and any(name in first for name in _PREDICTED):
        return "lines"
    header = columns_of(path, head)
    if header is None or header.form != "text":
        return None
    columns = {column.lower() for column in header.columns}
    if columns.issuperset(_OF_TASK):
        return "task"
    is_placed = header.known.keys() & {"segment", "index"}
    return "table" if columns.issuperset(_OF_ROWS) and is_placed else None


def records_of(
    rows: pl.DataFrame, errors: pl.DataFrame, given: Given, claim: Claim, faults: list[Fault], notes: Sequence[str] = ()
) -> Records:
    """Records of outputs and the errors in them: predictions of one's own metric, or judgements with gold spans.

    rows: line, testset, lp, system, place, judgement (null: no prediction of spans), perhaps level and value. Where no
    row has a value the scores are those of the errors.
    """
    weights = errors["severity"].map_elements(weight_of, return_dtype=pl.Float64)
    of_errors = errors.with_columns(weight=weights).group_by("judgement").agg("weight")
    derived = of_errors.with_columns(pl.col("weight").map_elements(score_of_errors, return_dtype=pl.Float64))
    rows = rows.join(derived.rename({"weight": "derived"}), on="judgement", how="left", maintain_order="left")
    rows = rows.with_columns(
        derived=pl.when(pl.col("judgement").is_not_null()).then(pl.col("derived").fill_null(0.0)),
        status=pl.lit("valid"),
        level=pl.col("level") if "level" in rows.columns else pl.lit("seg"),
    )
    is_derived = "value" not in rows.columns or rows["value"].null_count() == rows.height
    if is_derived:
        rows = rows.with_columns(value=pl.col("derived"), is_derived=pl.lit(True))
    said = [*notes, f"{counted(errors.height, 'error span')} in {counted(rows['judgement'].count(), 'output')}"]
    if is_derived:
        said.append("scores are those of the spans: 5 for a major error, 1 for a minor one, negated")
    looked = rows.filter(pl.col("judgement").is_not_null())
    if not given.is_own:
        judgements = looked.with_columns(scorer=pl.lit(claim.human), value=pl.col("derived"), n=pl.lit(1))
        errors = errors.with_columns(weight=weights)
        return Records(
            judgements=judgements, ratings=errors, scores_from_judgements=True, faults=faults, notes=said[:1]
        )
    rows, looked = (
        frame.with_columns(constants(kind="metric", scorer=given.metric, reference=given.reference))
        for frame in (rows, looked)
    )
    judgements = looked.with_columns(value=pl.lit(None, pl.Float64), n=pl.lit(None, pl.Int64))
    return Records(scores=rows, judgements=judgements, ratings=errors, faults=faults, notes=said)


def errors_frame(found: Sequence[tuple[int, Error]]) -> pl.DataFrame:
    """Errors by judgement as records have them."""
    rows = [(judgement, *error[:2], None, *error[2:]) for judgement, error in found]
    return pl.DataFrame(rows, schema=columns("ratings"), orient="row")


def _wrong(faults: list[Fault], path: Path, line: int | None, error: WrongJudgementError) -> None:
    faults.append(Fault(str(path), line or 0, error.found, error.expected, kind=error.expected))


def _of_table(
    header: Header, data: bytes, claim: Claim, given: Given, *, is_task: bool
) -> tuple[pl.DataFrame, pl.DataFrame, list[Fault]]:
    """Outputs and errors of a table: an output a row, or a span a row."""
    header, table, faults = table_under(header, data, claim.path)
    if table.is_empty():
        return table, errors_frame(()), faults
    called = dict(zip((column.lower() for column in header.columns), header.names, strict=True))
    if "system" not in table.columns:
        table = table.with_columns(system=pl.lit(claim.system, pl.String))
    table, more = placed(table, claim.path, given.first_segment)
    faults += more
    table = with_evalset(
        table.with_columns(
            *constants(scorer=given.metric or given.human, kind="metric", reference=given.reference),
            is_reference_stated=pl.lit(True),
        ),
        given,
        claim.root,
    )
    table = _numbered(table, given).with_columns(pl.col("line").alias("judgement"))
    if given.is_own and "rater" in table.columns:
        table = table.drop("rater")
    if "value" in table.columns:
        table = table.with_columns(pl.col("value").cast(pl.Float64, strict=False))
    wrong: list[Fault] = []
    found: list[tuple[int, Error]] = []
    if not is_task:
        key = ["testset", "lp", "system", "document", "segment", "index", *({"rater"} & set(table.columns))]
        table = table.with_columns(judgement=pl.col("line").first().over(key))
        found = list(_of_rows(table, called, claim.path, wrong))
        table = table.unique(key, keep="first", maintain_order=True)
    else:
        columns = [called[name] for name in _OF_TASK]
        without = []
        for line, *cells in table.select("line", *columns).iter_rows():
            if all(cell is None for cell in cells):
                without.append(line)
                continue
            try:
                found += [(line, error) for error in _of_cells(*cells)]
            except WrongJudgementError as error:
                _wrong(wrong, claim.path, line, error)
        table = table.with_columns(judgement=pl.when(~pl.col("line").is_in(without)).then("judgement"))
    faults += first_faults(wrong)
    kept = ("line", "testset", "lp", "system", "domain", "document", "segment", "index", "judgement", "value", "rater")
    return table.select(name for name in kept if name in table.columns), errors_frame(found), faults


def _numbered(table: pl.DataFrame, given: Given) -> pl.DataFrame:
    """Rows whose segments are numbered within their documents with these numbers as such."""
    with_both = table.filter(pl.col("document").is_not_null() & pl.col("segment").is_not_null())
    places = with_both.select("testset", "lp", "document", "segment").unique()
    restarts = places.height > places.select("testset", "lp", "segment").unique().height
    if given.numbering == "document" or (given.numbering is None and restarts):
        return table.with_columns(index=pl.coalesce("index", "segment"), segment=pl.lit(None, pl.Int64))
    return table


def _of_cells(starts: str | None, ends: str | None, kinds: str | None) -> list[Error]:
    """The spans of one output of WMT25's task 2.

    >>> _of_cells("0 missing", "4 missing", "major minor"), _of_cells("-1", "-1", "no-error")
    ([(None, 'major', 0, 4, None), (None, 'minor', None, None, None)], [])

    Raises WrongJudgementError: what is wrong with them.
    """
    words = [(cell or "").split() for cell in (starts, ends, kinds)]
    if len({len(parts) for parts in words}) != 1:
        raise WrongJudgementError(f"{len(words[0])} starts, {len(words[1])} ends and {len(words[2])} error types", SPAN)
    found = []
    for start, end, severity in zip(*words, strict=True):
        if severity == NO_ERROR and start == end == "-1":
            continue
        error = {"start": _at(start), "end": _at(end), "severity": severity}
        found.append(span_of(error, "severity"))
    return found


def _at(cell: str | None) -> int | str | None:
    """The number that a cell holds; what is none as it stands."""
    return int(float(cell)) if cell and _NUMBER.fullmatch(cell) else cell


def _of_rows(
    table: pl.DataFrame, called: Mapping[str, str], path: Path, wrong: list[Fault]
) -> Iterator[tuple[int, Error]]:
    """The spans of a table with one a row."""
    columns = {name: called[name] for name in (*_OF_ROWS, *_MORE) if name in called}
    for line, judgement, *cells in table.select("line", "judgement", *columns.values()).iter_rows():
        span = dict(zip(columns, cells, strict=True))
        if str(span["severity"]).lower() == NO_ERROR or all(span[name] in (None, *MISSING) for name in _OF_ROWS):
            continue
        try:
            placed_at = {name: _at(span[name]) for name in ("start", "end")}
            yield judgement, span_of(span | placed_at, "severity")
        except WrongJudgementError as error:
            _wrong(wrong, path, line, error)


def _of_lines(text: str, claim: Claim, given: Given) -> tuple[pl.DataFrame, pl.DataFrame, list[Fault]]:
    """Outputs and errors of WMT26's lines: lists of spans, and scores, of which true and false are 1 and 0."""
    faults: list[Fault] = []
    wrong: list[Fault] = []
    rows: list[tuple[Any, ...]] = []
    found: list[tuple[int, Error]] = []
    for line, item in json_objects(text, claim.path, faults):
        name = item.get("item_id")
        by_system: dict[str, list[Any]] = {}
        for task in _PREDICTED:
            for system, predicted in (item.get(task) or {}).items():
                by_system.setdefault(system, []).append(predicted)
        for system, predictions in by_system.items():
            try:
                if not isinstance(name, str):
                    raise WrongJudgementError(f"item_id {name!r}", SPAN)
                own_pair, domain, document, index = place_of(name)
                number = len(rows) + 1
                looked = [_spans_in(one) for one in predictions if isinstance(one, list | dict)]
                errors = [(number, span_of(span, "severity")) for span in looked[0]] if looked else None
                scores = [_score(one) for one in predictions if not isinstance(one, list | dict | None)]
                value = scores[0] if scores else None
            except WrongJudgementError as error:
                _wrong(wrong, claim.path, line, error)
                continue
            found += errors or ()
            place_in_file = (own_pair or given.lp, domain, document, index)
            rows.append((line, system, *place_in_file, None if errors is None else number, value))
    faults += first_faults(wrong)
    place = {**dict.fromkeys(("system", "lp", "domain", "document"), pl.String), "index": pl.Int64}
    schema = {"line": pl.Int64, **place, "judgement": pl.Int64, "value": pl.Float64}
    table = pl.DataFrame(rows, schema=schema, orient="row").with_columns(testset=pl.lit(given.testset, pl.String))
    return table, errors_frame(found), faults


def _spans_in(predicted: Any) -> list[Any]:
    """Spans of an output as WMT26's lines list them.

    >>> _spans_in({"errors": [], "omission": "minor", "instruction_fault": None})
    [{'severity': 'minor', 'category': 'omission'}]
    """
    if isinstance(predicted, list):
        return predicted
    spans = predicted.get("errors")
    if not isinstance(spans, list):
        raise WrongJudgementError(f"error spans {str(predicted)!r}", SPAN)
    named = ("omission", "instruction_fault")
    return spans + [{"severity": predicted[name], "category": name} for name in named if predicted.get(name)]


def _score(score: object) -> float:
    if not isinstance(score, bool | int | float) or not math.isfinite(score):
        raise WrongJudgementError(f"prediction {str(score)!r}", SPAN)
    return float(score)
