"""Error spans in tables and JSON lines: predictions of a user's own metric, or human annotations.

- WMT25's task 2: `start_indices`, `end_indices`, `error_types`, separated by blanks; `-1 -1 no-error` for none.
- WMT26: an object per line, `item_id` with `task1_pred`, `task2_pred` or `task3_pred` by system: lists are spans, in an
  object with `errors` beside severities of `omission` and `instruction_fault`; numbers and truth values are scores.
- A user's table with `start`, `end` and `severity`, one span per row; severity `no-error` for an output without errors.

The end of a span is the character after it, as the tasks score spans, unless the user says that it is the last one. A
missing output has no prediction, which differs from a prediction without errors. A span with its text is compared with
the translation.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from warehouse.errors import Fault
from warehouse.names import REFERENCE_FREE
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.judgements import (
    SPAN,
    Error,
    WrongJudgementError,
    place_of_text,
    score_of_errors,
    span_of,
    weight_of,
)
from warehouse.readers.long_table import missing_place, with_evalset, with_place
from warehouse.readers.pearmut import place_of
from warehouse.readers.records import Records, columns
from warehouse.readers.text.json_lines import first_object, json_objects, objects_in
from warehouse.readers.text.named_columns import Header, columns_of, placed, table_under
from warehouse.readers.text.quoted import quoted_cells
from warehouse.readers.text.tables import MISSING, cells_that_are, constants, first_faults, text_of
from warehouse.wording import counted, option

NO_ERROR = "no-error"
_OF_TASK = ("start_indices", "end_indices", "error_types")
_OF_ROWS = ("start", "end", "severity")
_PREDICTED = ("task1_pred", "task2_pred", "task3_pred")
_MORE = ("category", "side")
_TEXTS = ("text", "span_text")  # of a span
_CHALLENGE = "challenge_###_"  # begins an item that is no part of the test set
_ONE_PREDICTION = "one prediction per output"
_Span = tuple[Error, str | None]  # with its text
_Output = tuple[int, list[_Span] | None, float | None]  # line, predicted spans, predicted score
Output = tuple[int | None, str, str | None]  # line, system and place in words, text where it is known
_OF_PEOPLE = re.compile(r"human|annotator|expert|crowd", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,10}(\.0*)?", re.ASCII)


class ErrorSpanReader:
    """Reader of error spans in tables and JSON lines."""

    name = "error-spans/3"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        form = _form(path, head)
        if form is None:
            return None
        given = _by_method(form, path, head, given)
        if not given.is_own and given.human is None and given.metric is None:
            adding = f"`scorehouse add FILE {option('metric', 'NAME')}`"
            return f"error spans: {adding} reads predictions, and {option('human', 'NAME')} gold spans"
        given = with_place(given, path)
        header = columns_of(path, head)
        if form == "lines":
            names = [item.get("item_id") for item in objects_in(head)]
            has_pair = all(isinstance(name, str) and place_of(name)[0] for name in names)
            missing = "testset" if given.testset is None else None if given.lp or has_pair else "lp"
            if missing is not None:
                return f"error spans: say what they belong to with {option(missing)}"
        elif header is not None:
            if "system" not in header.known and given.system is None:
                return "error spans without a system column"
            if (reason := missing_place(header, given)) is not None:
                return reason
        variant = given.human or f"{given.metric}-{given.reference or REFERENCE_FREE}"
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

    def parse(self, data: bytes, claim: Claim, given: LoadHints) -> Records:
        text, faults = text_of(data, claim.path)
        if not text:
            return Records(faults=faults)
        given = with_place(given, claim.path)
        head = text.split("\n", 20)[:20]
        form = _form(claim.path, head)
        said, given = given, _by_method(form, claim.path, head, given)
        if form == "lines":
            rows, found, quoted, more, notes = _of_lines(text, claim, given)
        else:
            header = columns_of(claim.path, head)
            assert header is not None
            rows, found, quoted, more = _of_table(
                header, data, claim, given, is_task=form == "task", is_by_method=given != said
            )
            notes = []
        faults += more
        if rows.is_empty():
            return Records(faults=faults, notes=notes)
        if given.has_inclusive_ends:
            found = [(at, (*error[:3], None if error[3] is None else error[3] + 1, error[4])) for at, error in found]
        found, more, moved = put_at_texts(found, quoted, _outputs(rows, given), claim.path)
        return records_of(rows, errors_frame(found), given, claim, [*faults, *first_faults(more)], [*notes, *moved])


def _form(path: Path, head: Sequence[str]) -> str | None:
    """Format of the spans: task, table or lines; None for any other file."""
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


def _by_method(form: str | None, path: Path, head: Sequence[str], given: LoadHints) -> LoadHints:
    """What the user says; of files of the task whose scorer they do not name, with the method that the first row names:
    people's, such as human-1, is a human score."""
    header = columns_of(path, head)
    if form != "task" or given.is_own or given.human is not None or header is None or "metric" not in header.known:
        return given
    rows = [quoted_cells(line, header.separator) for line in head[1:] if line.strip()]
    at = header.columns.index(header.known["metric"])
    method = next((row[at] for row in rows if len(row) > at and row[at]), None)
    is_of_people = method is not None and _OF_PEOPLE.match(method) is not None
    return replace(given, human=method if is_of_people else None, metric=None if is_of_people else method)


def has_texts_of_spans(path: Path, head: Sequence[str]) -> bool:
    """Whether spans may come with their text: always possible in lines, in a table only with a column for it."""
    header = columns_of(path, head)
    form = _form(path, head)
    is_column = (
        form == "table" and header is not None and not {name.lower() for name in header.columns}.isdisjoint(_TEXTS)
    )
    return form == "lines" or is_column


def records_of(
    rows: pl.DataFrame,
    errors: pl.DataFrame,
    given: LoadHints,
    claim: Claim,
    faults: list[Fault],
    notes: Sequence[str] = (),
) -> Records:
    """Records of outputs and their errors: predictions of the user metric, or human judgements.

    rows: line, testset, lp, system, place, judgement (null: no prediction of spans), perhaps level and value. Where no
    row has a value, the scores are computed from the errors.
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
    if claim.human is not None:
        judgements = looked.with_columns(scorer=pl.lit(claim.human), value=pl.col("derived"), n=pl.lit(1))
        errors = errors.with_columns(weight=weights)
        return Records(
            judgements=judgements,
            ratings=errors,
            scores_from_judgements=True,
            faults=faults,
            notes=said[: len(notes) + 1],
        )
    rows, looked = (
        frame.with_columns(constants(kind="metric", scorer=given.metric, reference=given.reference))
        for frame in (rows, looked)
    )
    judgements = looked.with_columns(value=pl.lit(None, pl.Float64), n=pl.lit(None, pl.Int64))
    return Records(scores=rows, judgements=judgements, ratings=errors, faults=faults, notes=said)


def errors_frame(found: Sequence[tuple[int, Error]]) -> pl.DataFrame:
    """Errors by judgement, in the form of records."""
    rows = [(judgement, *error[:2], None, *error[2:]) for judgement, error in found]
    return pl.DataFrame(rows, schema=columns("ratings"), orient="row")


def put_at_texts(
    spans: Sequence[tuple[int, Error]], quoted: Mapping[int, str], outputs: Mapping[int, Output], path: Path
) -> tuple[list[tuple[int, Error]], list[Fault], list[str]]:
    """Move spans with their text to its position in the translation; also faults of unclear positions, and notes.

    quoted: the text of spans by their number in `spans`. A span whose text is not at its position, and not in the
    translation exactly once, is a fault. A text that is the whole translation does not tell a position.
    """
    moved = Counter[str]()
    faults: list[Fault] = []
    settled = list(spans)
    compared = {at: outputs[settled[at][0]] for at in quoted if settled[at][0] in outputs}
    texts = {at: text for at, (*_, text) in compared.items() if text is not None}
    if texts and all(text.strip() == quoted[at].strip() for at, text in texts.items()):
        return settled, [], []
    for at, text in texts.items():
        judgement, (category, severity, start, end, in_source) = settled[at]
        line, of, _ = compared[at]
        if start is None or end is None or in_source:
            continue
        place = place_of_text(quoted[at], text, start, end)
        if place is None:
            found = f"a span of {of} with the text {quoted[at]!r}, but {text[start:end]!r} is at its offsets"
            expected = "text found at its offsets, or exactly once in the translation"
            faults.append(Fault(str(path), line or 0, found, expected, kind=expected))
        elif place != (start, end):
            is_blank = text[start:end].strip() == quoted[at].strip()
            moved["spaces at their ends" if is_blank else "wrong offsets"] += 1
            settled[at] = (judgement, (category, severity, *place, in_source))
    notes = [f"{counted(n, 'error span')} with {what}, moved to where their text is" for what, n in moved.items()]
    if n_unknown := len(compared) - len(texts):
        notes.append(f"{counted(n_unknown, 'error span')} whose text was not checked: the translation is not loaded")
    return settled, faults, notes


def _outputs(rows: pl.DataFrame, given: LoadHints) -> dict[int, Output]:
    """The output of each judgement, with its text if the warehouse has it."""
    outputs: dict[int, Output] = {}
    said = [name if name in rows.columns else pl.lit(None).alias(name) for name in ("segment", "document", "index")]
    places = rows.filter(pl.col("judgement").is_not_null())
    for judgement, line, testset, lp, system, segment, document, index in places.select(
        "judgement", "line", "testset", "lp", "system", *said
    ).iter_rows():
        text = None
        if (known := given.texts.get((testset, lp))) is not None:
            at: int = known.places.get((document, index), 0) if segment is None else segment
            text = known.outputs.get(known.systems.get(system, system), {}).get(at)
        where = f"segment {index} of {document}" if segment is None else f"segment {segment}"
        outputs[judgement] = (line, f"{system}, {where}", text)
    return outputs


def _wrong(faults: list[Fault], path: Path, line: int | None, error: WrongJudgementError) -> None:
    faults.append(Fault(str(path), line or 0, error.found, error.expected, kind=error.expected))


def _of_table(
    header: Header, data: bytes, claim: Claim, given: LoadHints, *, is_task: bool, is_by_method: bool
) -> tuple[pl.DataFrame, list[tuple[int, Error]], dict[int, str], list[Fault]]:
    """Outputs and errors of a table with one output or one span per row, and the texts of spans by their number."""
    header, table, faults = table_under(header, data, claim.path)
    if table.is_empty():
        return table, [], {}, faults
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
    if is_by_method:
        name = given.metric or given.human
        table = cells_that_are(
            table, "metric", pl.col("metric") == name, f"{name}, as in the first row", claim.path, faults
        )
    table = _numbered(table, given).with_columns(pl.col("line").alias("judgement"))
    if given.metric is not None and "rater" in table.columns:
        table = table.drop("rater")
    if "value" in table.columns:
        table = table.with_columns(pl.col("value").cast(pl.Float64, strict=False))
    wrong: list[Fault] = []
    found: list[tuple[int, Error]] = []
    quoted: dict[int, str] = {}
    if not is_task:
        key = ["testset", "lp", "system", "document", "segment", "index", *({"rater"} & set(table.columns))]
        table = table.with_columns(judgement=pl.col("line").first().over(key))
        for judgement, error, text in _of_rows(table, called, claim.path, wrong):
            if text:
                quoted[len(found)] = text
            found.append((judgement, error))
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
    return table.select(name for name in kept if name in table.columns), found, quoted, faults


def _numbered(table: pl.DataFrame, given: LoadHints) -> pl.DataFrame:
    """The rows, with segment numbers moved to `index` if they count within documents."""
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
    """The number in a cell; any other content unchanged."""
    return int(float(cell)) if cell and _NUMBER.fullmatch(cell) else cell


def _of_rows(
    table: pl.DataFrame, called: Mapping[str, str], path: Path, wrong: list[Fault]
) -> Iterator[tuple[int, Error, str | None]]:
    """The spans of a table with one span per row, each with its text if the table has it."""
    columns = {name: called[name] for name in (*_OF_ROWS, *_MORE, *_TEXTS) if name in called}
    for line, judgement, *cells in table.select("line", "judgement", *columns.values()).iter_rows():
        span = dict(zip(columns, cells, strict=True))
        if str(span["severity"]).lower() == NO_ERROR or all(span[name] in (None, *MISSING) for name in _OF_ROWS):
            continue
        try:
            placed_at = {name: _at(span[name]) for name in ("start", "end")}
            yield judgement, span_of(span | placed_at, "severity"), _text_in(span)
        except WrongJudgementError as error:
            _wrong(wrong, path, line, error)


def _text_in(span: Mapping[str, object]) -> str | None:
    return next((text for name in reversed(_TEXTS) if isinstance(text := span.get(name), str)), None)


class _Lines:
    """WMT26's predictions for each output, collected from all lines of its item."""

    def __init__(self, given: LoadHints) -> None:
        self._given = given
        self.outputs: dict[tuple[object, ...], _Output] = {}
        self.n_again = 0
        self.n_beside = 0

    def add(self, line: int, name: object, item: Mapping[str, Any]) -> None:
        """The predictions of one line. Raises WrongJudgementError: what is wrong with them."""
        if not isinstance(name, str):
            raise WrongJudgementError(f"item_id {name!r}", SPAN)
        own_pair, *place = place_of(name)
        pair = own_pair or self._given.lp
        if pair is None or self._given.lp not in (None, pair):
            said = f"{self._given.lp}, as specified" if pair else f"one that names its language pair, or {option('lp')}"
            raise WrongJudgementError(f"an item of {pair}" if pair else f"item_id {name!r}", said)
        met: set[tuple[str, bool]] = set()
        for task in _PREDICTED:
            for system, predicted in (item.get(task) or {}).items():
                is_spans = isinstance(predicted, list | dict)
                if predicted is not None and (system, is_spans) in met:
                    self.n_beside += 1
                    continue
                if predicted is not None:
                    met.add((system, is_spans))
                spans = None
                if is_spans:
                    spans = [(span_of(span, "severity"), _text_in(span)) for span in _spans_in(predicted)]
                value = None if is_spans or predicted is None else _score(predicted)
                self._put((pair, *place, system), line, name, spans, value)

    def _put(
        self, key: tuple[object, ...], line: int, name: str, spans: list[_Span] | None, value: float | None
    ) -> None:
        """Add one prediction to those of other tasks and lines for the same output."""
        before = self.outputs.get(key)
        if before is None:
            self.outputs[key] = (line, spans, value)
            return
        first, known_spans, known_value = before
        both = [
            (old, new)
            for old, new in ((known_spans, spans), (known_value, value))
            if old is not None and new is not None
        ]
        if any(old != new for old, new in both):
            raise WrongJudgementError(f"another prediction of {key[-1]} for {name} than line {first}", _ONE_PREDICTION)
        self.n_again += bool(both)
        merged = known_spans if spans is None else spans, known_value if value is None else value
        self.outputs[key] = (first, *merged)


def _of_lines(
    text: str, claim: Claim, given: LoadHints
) -> tuple[pl.DataFrame, list[tuple[int, Error]], dict[int, str], list[Fault], list[str]]:
    """Outputs and errors of WMT26's lines: lists of spans, and scores; true and false are 1 and 0.

    Items of challenge sets belong to another test set: they are read only if the file has no other items.
    """
    faults: list[Fault] = []
    wrong: list[Fault] = []
    items = [(line, item.get("item_id"), item) for line, item in json_objects(text, claim.path, faults)]
    official = [(line, name, item) for line, name, item in items if not str(name).startswith(_CHALLENGE)]
    lines = _Lines(given)
    for line, name, item in official or items:
        try:
            lines.add(line, name, item)
        except WrongJudgementError as refused:
            _wrong(wrong, claim.path, line, refused)
    rows: list[tuple[Any, ...]] = []
    found: list[tuple[int, Error]] = []
    quoted: dict[int, str] = {}
    for number, ((pair, domain, document, index, system), (line, spans, value)) in enumerate(lines.outputs.items(), 1):
        for error, span_text in spans or ():
            if span_text:
                quoted[len(found)] = span_text
            found.append((number, error))
        rows.append((line, system, pair, domain, document, index, None if spans is None else number, value))
    faults += first_faults(wrong)
    notes = []
    if official and len(official) < len(items):
        n = len(items) - len(official)
        notes.append(
            f"{counted(n, 'challenge item')} not read: add them from a file of their own with {option('testset')}"
        )
    if lines.n_again:
        notes.append(f"{counted(lines.n_again, 'prediction')} repeated in another line, counted once")
    if lines.n_beside:
        notes.append(f"{counted(lines.n_beside, 'prediction')} of another task not read: one of the same kind was read")
    place = {**dict.fromkeys(("system", "lp", "domain", "document"), pl.String), "index": pl.Int64}
    schema = {"line": pl.Int64, **place, "judgement": pl.Int64, "value": pl.Float64}
    table = pl.DataFrame(rows, schema=schema, orient="row").with_columns(testset=pl.lit(given.testset, pl.String))
    return table, found, quoted, faults, notes


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
