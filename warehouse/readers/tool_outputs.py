"""Output of metrics' own programs, and lists of a user metric's scores in the order of the segments.

- COMET `--to_json`: an object with a list of `src`, `mt`, `ref` and the score `COMET` for each file of translations;
  XCOMET adds `errors` or `error_spans`, with exclusive ends.
- COMET's printed lines, with tabs: `FILE, Segment N, score: X`, N from 0, and `FILE, score: X` for the system.
- JSON lines and tables without a column for the segment; MetricX writes `source`, `hypothesis`, `reference` and
  `prediction`, an error: lower is better.
- A list: one number per line, or a JSON array, or an object with `scores` and `system_score` or `mean_score`.
- Lines without a header: system, segment and score.
- A table with one column per system.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from warehouse.errors import Fault
from warehouse.names import REFERENCE_FREE
from warehouse.readers.claims import Claim, KnownTexts, LoadHints
from warehouse.readers.error_spans import errors_frame, has_texts_of_spans, put_at_texts, records_of
from warehouse.readers.judgements import Error, WrongJudgementError, number_of, span_of
from warehouse.readers.long_table import with_place
from warehouse.readers.placing_by_text import placed
from warehouse.readers.records import Records
from warehouse.readers.text.json_lines import first_object, json_document, json_objects, objects_in
from warehouse.readers.text.named_columns import ERRORS, NEGATED, NO_SCORES, Header, columns_of, table_under, unread
from warehouse.readers.text.named_columns import placed as with_segments
from warehouse.readers.text.quoted import quoted_cells
from warehouse.readers.text.tables import constants, finite, first_faults, is_number, numbers, text_of
from warehouse.readers.wide_table import numeric
from warehouse.wording import option

NO_SYSTEM = f"no system column; if all rows belong to one system, use `scorehouse add FILE {option('system', 'NAME')}`"
_DOCUMENT = re.compile(r'\s*(\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[|\[)')
_WHOLE = re.compile(r'\s*\{\s*(?:"(?:mean_score|system_score)"\s*:\s*[^\s,\[{]+\s*,\s*)?"scores"\s*:\s*\[\s*[^\s{]')
_SEGMENT_LINE = re.compile(r"(?P<file>.+)\tSegment (?P<at>\d+)\tscore: (?P<score>\S+)(\tvariance: \S+)?")
_SYSTEM_LINE = re.compile(r"(?P<file>.+)\tscore: (?P<score>\S+)")
_SAVED = "Predictions saved in: "
_SOURCES = ("src", "source", "source_text", "src_text", "source_segment")
_TRANSLATIONS = ("mt", "hypothesis", "hyp", "translation", "output", "target", "tgt", "target_text", "target_segment")
_SPANS = ("errors", "error_spans")
_SCORES = ("COMET", "prediction", "score", "value", "overall")
_PLACES = {"level", "segment", "index", "document", "domain"}
_ROW = re.compile(r"|unnamed: ?\d+|__index_level_\d+__|(row_|line_)?id|idx|row|nr|no|number|item", re.IGNORECASE)
_TEXTS = dict.fromkeys(("level", "system", "source", "translation"), pl.String)
_SCHEMA = {"line": pl.Int64, **_TEXTS, "value": pl.Float64, "judgement": pl.Int64, "row": pl.Float64}

Row = tuple[int | None, str, str, str | None, str | None, float | None, int | None, float | None]


class ToolOutputReader:
    """Reader of the output of metrics' own programs."""

    name = "tool-output/4"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        form = form_of(path, head, given.metric)
        if form is None or not given.is_own or (form == "systems" and given.system is not None):
            return None
        given = with_place(given, path)
        if given.testset is None or given.lp is None:
            missing = option("testset" if given.testset is None else "lp")
            return f"scores of your own metric: add {missing} to say what they belong to"
        if given.system is None and not _names_systems(form, path, head):
            return NO_SYSTEM
        header = columns_of(path, head)
        known = given.texts.get((given.testset, given.lp))
        if form == "systems" and header is not None and known and known.systems.keys().isdisjoint(header.columns):
            return None
        is_of_errors = header is not None and _score_column(header.columns, given.metric) == ERRORS
        variant = f"{given.metric}-{given.reference or REFERENCE_FREE}"
        return Claim(
            path,
            self.name,
            f"own/{variant}/{given.testset}/{given.lp}/{given.system or ''}/{path.name}",
            ((given.testset, given.lp),),
            system=given.system,
            status="no entry",
            is_own=True,
            is_negated=given.is_error_measure or is_of_errors,
            may_lack_end=form == "document",
        )

    def parse(self, data: bytes, claim: Claim, given: LoadHints) -> Records:
        text, faults = text_of(data, claim.path)
        if not text:
            return Records(faults=faults)
        reading = _Reading(claim, given, given.texts.get(claim.evalsets[0]))
        table = reading.table(data, text, text.split("\n", 20)[:20])
        ((testset, lp),) = claim.evalsets
        of_segments = table.filter(level="seg")
        more: list[Fault] = []
        notes: list[str] = []
        if "segment" not in table.columns:
            of_segments, more, notes = placed(of_segments, (testset, lp), reading.known, claim.path)
        notes += [*reading.notes, *reading.settle_spans(of_segments)]
        of_systems = table.filter(level="sys").with_columns(segment=pl.lit(None, pl.Int64))
        notes += unread(reading.unread, [*reading.columns, *reading.unread])
        if reading.is_of_errors:
            notes.append(NEGATED)
        scores = pl.concat([of_segments, of_systems], how="diagonal").with_columns(
            constants(testset=testset, lp=lp, kind="metric", scorer=given.metric, reference=given.reference)
        )
        faults += [*first_faults(reading.faults), *more]
        if reading.n_predicted:
            return records_of(scores, errors_frame(reading.spans), given, claim, faults, notes)
        return Records(scores=scores, faults=faults, notes=notes)


def form_of(path: Path, head: Sequence[str], metric: str | None = None) -> str | None:
    """Format of a metric's scores: document, printed, triples, objects, table, systems or list; else None.

    A table or objects without places hold segment scores if a metric has several scores for a system.
    """
    lines = [line for line in head[:-1] or head if line.strip()]
    if not lines:
        return None
    if any(map(_SEGMENT_LINE.fullmatch, lines)) or all(
        _SYSTEM_LINE.fullmatch(line) or line.startswith(_SAVED) for line in lines
    ):
        return "printed"
    if all(_triple(line) for line in lines):
        return "triples"
    first = first_object(head)
    if _WHOLE.match("\n".join(head)):
        return "document"
    if _DOCUMENT.match("\n".join(head)) and all(isinstance(items, list) for items in (first or {}).values()):
        return "document"
    header = columns_of(path, head)
    if header is None:
        return "list" if all(map(is_number, lines[1:] or lines)) and len(lines[0].split()) == 1 else None
    if metric and "system" not in header.known and _score_column(header.columns, metric) is None:
        names = [name for name in numeric(header, head) if not NO_SCORES.fullmatch(name) and not is_number(name)]
        if len(names) > 1:
            return "systems"
    has_spans = header.form == "json" and not set(_SPANS).isdisjoint(header.columns)
    if header.known.keys() & _PLACES or (_column_of_scores(header, head, metric) is None and not has_spans):
        return None
    has_texts = _texts_in(header.columns) != (None, None)
    if "system" in header.known and not (header.form == "json" and has_texts):
        said = {column for name, column in header.known.items() if name != "reference" or not has_texts}
        said -= {_column_of_scores(header, head, metric)}
        if header.form == "json":
            rows = list(objects_in(head))
        else:
            rows = [dict(zip(header.columns, quoted_cells(line, header.separator), strict=False)) for line in lines[1:]]
        of_one = [tuple(str(row.get(name)) for name in sorted(said)) for row in rows]
        if len(of_one) == len(set(of_one)):
            return None
    return "objects" if header.form == "json" else "table"


def _triple(line: str) -> list[str] | None:
    """System, segment and score of a line without a header; None for any other line.

    >>> _triple("A\\t1\\t0.5"), _triple("GPT 5 1 0.5"), _triple("A,1,None"), _triple("A 0.5"), _triple("system,1,score")
    (['A', '1', '0.5'], ['GPT 5', '1', '0.5'], ['A', '1', 'None'], None, None)
    """
    separator = next((sign for sign in "\t," if sign in line), None)
    cells = [cell.strip() for cell in (line.rsplit(None, 2) if separator is None else line.split(separator))]
    is_one = len(cells) == 3 and cells[1].isascii() and cells[1].isdecimal() and is_number(cells[2])
    return cells if is_one and cells[0] and not is_number(cells[0]) else None


def is_with_texts(path: Path, head: Sequence[str]) -> bool:
    """Whether the file includes the scored texts, or the texts of spans."""
    if has_texts_of_spans(path, head):
        return True
    if form_of(path, head) == "document":
        return any(f'"{name}"' in line for line in head for name in (*_SOURCES, *_TRANSLATIONS))
    header = columns_of(path, head)
    return header is not None and _texts_in(header.columns) != (None, None)


def _names_systems(form: str, path: Path, head: Sequence[str]) -> bool:
    if form in ("objects", "table"):
        header = columns_of(path, head)
        return header is not None and "system" in header.known
    text = "\n".join(head)
    is_by_file = form == "document" and text.lstrip().startswith("{") and not _WHOLE.match(text)
    return form in ("printed", "triples", "systems") or is_by_file


def _score_column(columns: Sequence[str], metric: str | None = None) -> str | None:
    """The column of scores: named after the metric, or with a name that programs use."""
    return next((name for name in (metric, *_SCORES) if name in columns), None)


def _column_of_scores(header: Header, head: Sequence[str], metric: str | None) -> str | None:
    """The column of scores by its name, or else the only other column of numbers."""
    named = _score_column(header.columns, metric)
    others = [] if named else [name for name in numeric(header, head) if not NO_SCORES.fullmatch(name)]
    return named or (others[0] if len(others) == 1 and not is_number(others[0]) else None)


def _texts_in(columns: Sequence[str]) -> tuple[str | None, str | None]:
    """The columns of sources and translations."""
    source, translation = (
        next((column for column in columns if column.lower() in names), None) for names in (_SOURCES, _TRANSLATIONS)
    )
    return source, translation


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


class _Reading:
    """The rows of one file, with faults and notes. known: data from the warehouse; None if it has none."""

    def __init__(self, claim: Claim, given: LoadHints, known: KnownTexts | None) -> None:
        self._claim = claim
        self._given = replace(given, system=claim.system)
        self.known = known
        self.faults: list[Fault] = []
        self.notes: list[str] = []
        self.n_predicted = 0
        self.spans: list[tuple[int, Error]] = []
        self._quoted: dict[int, str] = {}  # the text of each span that has one
        self.is_of_errors = False
        self.unread: dict[str, None] = {}
        self.columns: Sequence[str] = ()
        self._column: str | None = None

    def table(self, data: bytes, text: str, head: Sequence[str]) -> pl.DataFrame:
        """line, level, system, source, translation, value; with named columns also row …, the row indices."""
        form = form_of(self._claim.path, head, self._given.metric)
        header = columns_of(self._claim.path, head)
        if header is not None:
            self.columns = header.columns
            self._column = _column_of_scores(header, head, self._given.metric)
        if form == "table" and header is not None:
            return self._of_columns(header, data)
        if form == "systems" and header is not None:
            return self._of_systems(header, data)
        rows: list[Row] = []
        if form == "document":
            rows = list(self._of_document(text))
        elif form == "printed":
            rows = list(self._of_printed(text))
        elif form == "objects":
            rows = list(self._of_objects(text))
        elif form == "list":
            rows = list(self._of_list(text))
        elif form == "triples":
            return self._of_triples(text)
        else:
            self._fault(1, "not a score in the format of the first lines", "one score per segment")
        table = pl.DataFrame(rows, schema=_SCHEMA, orient="row")
        return table if form == "objects" else table.drop("row")

    def _fault(self, line: int | None, found: str, expected: str) -> None:
        self.faults.append(Fault(str(self._claim.path), line or 0, found, expected, kind=expected))

    def _of_document(self, text: str) -> Iterator[Row]:
        if (content := json_document(text, self._claim.path, self.faults)) is None:
            return
        files: Mapping[str, Any] = content if isinstance(content, dict) else {"": content}
        whole = None
        if _WHOLE.match(text):
            whole = next((number_of(files[name]) for name in ("system_score", "mean_score") if name in files), None)
            self._compare_mean(files)
            files = {"": files["scores"]}
        systems = self._systems(list(files))
        if whole is not None:
            yield None, "sys", systems[""], None, None, whole, None, None
        for name, items in files.items():
            if not isinstance(items, list):
                self._fault(None, f"{name!r} without a list", "a list of scores for each file of translations")
                continue
            for item in items:
                yield from self._of_object(None, item if isinstance(item, dict) else {"score": item}, systems[name])

    def _compare_mean(self, content: Mapping[str, Any]) -> None:
        """Add a note if the file's stated mean differs from the mean of its scores, at the stated precision."""
        stated, scores = number_of(content.get("mean_score")), content["scores"]
        there = [one for one in map(number_of, scores if isinstance(scores, list) else ()) if one is not None]
        if stated is None or not there:
            return
        mean, digits = math.fsum(there) / len(there), len(str(stated).partition(".")[2])
        if abs(mean - stated) > 10.0**-digits + 1e-6 * abs(mean):
            self.notes.append(f"mean_score is {stated:g}, but the mean of its scores is {mean:g}; both are kept")

    def _of_objects(self, text: str) -> Iterator[Row]:
        for line, item in json_objects(text, self._claim.path, self.faults):
            column = Header("json", tuple(item)).known.get("system")
            system = self._given.system if column is None else item[column]
            if not isinstance(system, str) or self._given.system not in (None, system):
                self._fault(line, f"system {system!r}", self._given.system or "its name")
                continue
            yield from self._of_object(line, item, system)

    def _of_object(self, line: int | None, item: Mapping[str, Any], system: str) -> Iterator[Row]:
        column = _score_column(tuple(item), self._given.metric) or (self._column if self._column in item else None)
        listed = next((item[name] for name in _SPANS if isinstance(item.get(name), list)), None)
        if column is None and not any(name in item for name in _SPANS):
            self._fault(line, f"a row with the keys {', '.join(item)}", f"its score, as {' or '.join(_SCORES)}")
            return
        self.is_of_errors |= column == ERRORS
        value = None if column is None else item[column]
        number = None if isinstance(value, str) else number_of(value)
        if value is not None and number is None:
            self._fault(line, f"{column} {value!r}", "a finite number, or null if missing")
            return
        judgement = None
        if listed is not None:
            self.n_predicted += 1
            judgement = self.n_predicted
            try:
                found = [(judgement, span_of(span, "severity")) for span in listed]
                quoted = [_text(span.get("text")) for span in listed]
                self._quoted |= {len(self.spans) + at: text for at, text in enumerate(quoted) if text}
                self.spans += found
            except WrongJudgementError as error:
                self._fault(line, error.found, error.expected)
                return
        source, translation = (_text(item.get(name or "")) for name in _texts_in(tuple(item)))
        unread = [name for name in self._further(Header("json", tuple(item)), column) if name not in _SPANS]
        self.unread |= dict.fromkeys(unread)
        row = next((number_of(item[name]) for name in unread if _ROW.fullmatch(name)), None)
        yield line, "seg", system, source, translation, number, judgement, row

    def settle_spans(self, rows: pl.DataFrame) -> list[str]:
        """Move spans with their text to its position in the translation, from the file or the warehouse.

        rows: placed. Returns notes on how many were elsewhere.
        """
        if not self._quoted:
            return []
        outputs, systems = (self.known.outputs, self.known.systems) if self.known else ({}, {})
        texts = {}
        for judgement, line, system, segment, text in rows.select(
            "judgement", "line", "system", "segment", "translation"
        ).iter_rows():
            stored = outputs.get(systems.get(system, system), {}).get(segment)
            texts[judgement] = (line, f"{system}, segment {segment}", stored if text is None else text)
        self.spans, faults, notes = put_at_texts(self.spans, self._quoted, texts, self._claim.path)
        self.faults += faults
        return notes

    def _of_printed(self, text: str) -> Iterator[Row]:
        found = []
        for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
            row = _SEGMENT_LINE.fullmatch(line) or _SYSTEM_LINE.fullmatch(line)
            if row is not None and is_number(row["score"]):
                found.append((number, row.groupdict()))
            elif not line.startswith(_SAVED):
                self._fault(
                    number,
                    repr(line) if line.strip() else "a blank line",
                    "FILE, Segment N and score: X, or FILE and score: X, separated by tabs",
                )
        systems = self._systems(list(dict.fromkeys(cells["file"] for _, cells in found)))
        met: dict[str, int] = dict.fromkeys(systems, 0)
        for number, cells in found:
            file, at = cells["file"], cells.get("at")
            value = finite(cells["score"])
            if at is not None and int(at) != met[file]:
                self._fault(number, f"Segment {at} of {file}", f"Segment {met[file]}, the next")
            met[file] = met[file] if at is None else int(at) + 1
            yield number, "sys" if at is None else "seg", systems[file], None, None, value, None, None

    def _of_list(self, text: str) -> Iterator[Row]:
        system = self._given.system
        assert system is not None
        for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
            cell = line.strip()
            if cell and is_number(cell):
                yield number, "seg", system, None, None, finite(cell), None, None
            elif number > 1 or not cell:
                self._fault(number, repr(line) if cell else "a blank line", "a finite number, or None if missing")

    def _of_triples(self, text: str) -> pl.DataFrame:
        """Rows of system, segment number and score."""
        rows = []
        first = self._given.first_segment
        for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
            cells = _triple(line)
            if cells is None or self._given.system not in (None, cells[0]):
                found = repr(line) if line.strip() else "a blank line"
                self._fault(number, found, "system, segment and score, as in the first lines")
                continue
            rows.append((number, "seg", cells[0], finite(cells[2]), int(cells[1]) + 1 - first))
        names = {"level": pl.String, "system": pl.String, "value": pl.Float64, "segment": pl.Int64}
        return pl.DataFrame(rows, schema={"line": pl.Int64, **names}, orient="row")

    def _of_systems(self, header: Header, data: bytes) -> pl.DataFrame:
        """Rows of a table with one column per system; segments are numbered or in order."""
        path = self._claim.path
        header, table, faults = table_under(header, data, path)
        if table.is_empty():
            self.faults += faults
            return pl.DataFrame(schema=_SCHEMA)
        table, more = with_segments(table, path, self._given.first_segment)
        self.faults += [*faults, *more]
        called = dict(zip(header.columns, header.names, strict=True))
        known = self.known.systems if self.known else {}
        places = set(header.known.values())
        systems = [name for name in header.columns if name not in places and name in (known or header.columns)]
        self.unread |= dict.fromkeys(name for name in header.columns if name not in (*places, *systems))
        parts = []
        for name in systems:
            rows = table.select(
                *("line", "segment"),
                *constants(level="seg", system=name, source=None, translation=None),
                value=pl.col(called[name]).fill_null(""),
            )
            parts.append(numbers(rows, "value", path, self.faults))
        rows = pl.concat(parts)
        return rows.drop("segment") if rows["segment"].null_count() else rows

    def _of_columns(self, header: Header, data: bytes) -> pl.DataFrame:
        path = self._claim.path
        column = self._column
        header, table, faults = table_under(header, data, path)
        self.faults += faults
        called = dict(zip(header.columns, header.names, strict=True))
        if column is None or table.is_empty():
            return pl.DataFrame(schema=_SCHEMA)
        self.is_of_errors = column == ERRORS
        source, translation = (None if name is None else called[name] for name in _texts_in(header.columns))
        said = pl.lit(self._given.system, pl.String)
        unread = self._further(header, column)
        self.unread |= dict.fromkeys(unread)
        numbering = [pl.lit(None), *(pl.col(called[name]) for name in unread if _ROW.fullmatch(name))]
        table = table.select(
            "line",
            level=pl.lit("seg"),
            system=pl.col("system") if "system" in table.columns else said,
            source=pl.lit(None, pl.String) if source is None else pl.col(source),
            translation=pl.lit(None, pl.String) if translation is None else pl.col(translation),
            value=pl.col(called[column]).fill_null(""),
            **{f"row{at or ''}": row.cast(pl.Int64, strict=False) for at, row in enumerate(numbering)},
        )
        table = numbers(table, "value", path, self.faults)
        if self._given.system is not None:
            for line, system in table.filter(pl.col("system") != self._given.system).select("line", "system").rows():
                self._fault(line, f"system {system!r}", f"{self._given.system}, as specified")
        return table

    @staticmethod
    def _further(header: Header, column: str | None) -> list[str]:
        """The columns other than those of system, texts and score. column: the score's."""
        texts = [*_texts_in(header.columns), header.known.get("reference")]
        read = {column, header.known.get("system"), *(texts if any(texts[:2]) else ())}
        return [name for name in header.columns if name not in read]

    def _systems(self, files: Sequence[str]) -> dict[str, str]:
        """The system of each file of translations: named by the user, or else by the file's name."""
        if self._given.system is None:
            return {file: self._system(file) for file in files}
        if len(files) > 1:
            self._fault(None, f"translations of {', '.join(files[:5])}", f"one file, that of {self._given.system}")
        return dict.fromkeys(files, self._given.system)

    def _system(self, file: str) -> str:
        """The warehouse's system that a file is named after; else the file's name without its ending."""
        name = Path(file).name
        lp = self._claim.evalsets[0][1]
        without = name.removeprefix(f"{lp}.")
        endings = [text.rpartition(".")[0] for text in (name, without) if "." in text]
        names = [*endings, *(text.removesuffix(f".{lp}") for text in endings), name, without]
        known = self.known.systems if self.known else {}
        return next((text for text in names if text in known), endings[-1] if endings else name)
