"""Campaigns of human evaluation as workbooks: one folder per campaign, one .xlsx per system.

The sheet `hum_annotations` has one judgement per row, with the scores of metrics for its segment beside it;
`automatic_metrics` has the system's scores and facts, a name and one value per row. Each campaign is one test set.
"""

import logging
import math
import re
import tomllib
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from warehouse.errors import Fault
from warehouse.facts.metrics import describe
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.records import Records
from warehouse.readers.text.tables import cells_that_are, constants
from warehouse.wording import counted, option

MOST_UNPACKED = 1_000_000_000  # bytes of all parts together


def check_workbook(data: bytes) -> None:
    """Raises ValueError: the archive is damaged or too large."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            n_bytes = sum(part.file_size for part in archive.infolist())
            if n_bytes > MOST_UNPACKED:
                raise ValueError(f"it unpacks to {n_bytes:,} bytes, more than {MOST_UNPACKED:,}")
            if (damaged := archive.testzip()) is not None:
                raise ValueError(f"its part {damaged!r} does not match its checksum")
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise ValueError(f"not a complete archive: {error}") from error


_JUDGEMENTS = "hum_annotations"
_SYSTEM = "automatic_metrics"
_CODES = "microsoft_codes.toml"
_HUMAN = "da"
_COLLECTION = "toship"
_REQUIRED = ("Source", "Target", "User", "SegmentID", "Score", "valid_line")
_TEXTS = ("Segment", "Reference", "Translation")
_OURS = {*_REQUIRED, *_TEXTS, "line", "testset", "lp", "system", "domain", "document", "index"}
_TEXT_FACTS = ("System", "SystemID", "domain")
_N_SEGMENTS = "number_of_sentences"
_HASH = re.compile(r"[0-9a-f]{32}")
_SHEET_NAME = re.compile(rb'<sheet [^>]*?name="([^"]+)"')
_MOST_SHEETS = 1 << 20  # bytes of the list of sheets that are looked at
_NO_LIBRARY = "a campaign's workbook; reading it needs fastexcel: python3 -m pip install 'scorehouse[excel]'"


class CampaignWorkbookReader:
    """Reader of the workbooks of one system in one campaign."""

    name = "campaign-workbook/1"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        if path.suffix.lower() != ".xlsx" or _JUDGEMENTS not in sheet_names(path):
            return None
        if find_spec("fastexcel") is None:
            return _NO_LIBRARY
        testset = given.testset or f"{_COLLECTION}.{_short(path.parent.name)}"
        return Claim(path, self.name, f"{testset}/{path.name}", testset=testset)

    def parse(self, data: bytes, claim: Claim, given: LoadHints) -> Records:
        path = claim.path
        try:
            check_workbook(data)
            rows, facts, unread = _sheets(data)
            faults = _wrong_facts(facts, path)
        except Exception as error:  # a damaged workbook can make the library raise anything
            return Records(
                faults=[Fault(str(path), 0, f"not a readable workbook ({_first_line(error)})", "an .xlsx file")]
            )
        missing = [column for column in _REQUIRED if column not in rows.columns]
        if missing:
            found = f"sheet {_JUDGEMENTS} has no {', '.join(missing)}"
            return Records(faults=[Fault(str(path), 1, found, ", ".join(_REQUIRED))])
        rows, more = _checked(rows, path)
        faults += more
        rows, more = _with_pair(rows, given, path)
        faults += more
        domain = facts.get("domain")
        rows = rows.with_columns(
            *constants(testset=claim.testset, system=_system(path, facts)),
            *constants(domain=domain if isinstance(domain, str) else None),
            document=pl.col("SegmentID").cast(pl.String),
            index=pl.lit(1),
        )
        judgements = rows.with_columns(
            judgement="line",
            scorer=pl.lit(given.human or _HUMAN),
            rater="User",
            item="SegmentID",
            value="Score",
            n=pl.lit(1),
            status=pl.when("valid_line").then(pl.lit("valid")).otherwise(pl.lit("not in all systems")),
        )
        of_segments, more = _of_segments(rows, path)
        of_system = _of_system(rows, facts)
        n_left = judgements.filter(pl.col("status") != "valid").height
        note = counted(rows.height - n_left, "judgement counts", "judgements count")
        note += f", {n_left} on segments missing from other systems"
        if further := [column for column in rows.columns if _is_further(rows, column)]:
            note += f"; columns not read: {', '.join(further)}"
        if texts := [name for name, value in facts.items() if isinstance(value, str) and name not in _TEXT_FACTS]:
            note += f"; texts of {_SYSTEM} not read: {', '.join(texts)}"
        if unread:
            note += f"; sheets not read: {', '.join(unread)}"
        return Records(
            scores=pl.concat([of_segments, of_system], how="diagonal"),
            judgements=judgements,
            scores_from_judgements=True,
            faults=faults + more,
            notes=[note],
        )


def sheet_names(path: Path) -> list[str]:
    """Names of a workbook's sheets; empty if the file is not a workbook."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open("xl/workbook.xml") as file:
            return [name.decode("utf-8", "replace") for name in _SHEET_NAME.findall(file.read(_MOST_SHEETS))]
    except (OSError, KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError):
        return []


@cache
def _codes() -> Mapping[str, str]:
    """Language codes by a campaign's three-letter codes.

    >>> [_codes().get(letters) for letters in ("ENU", "CHS", "XYZ")]
    ['en', 'zh', None]
    """
    text = files("warehouse.readers").joinpath(_CODES).read_text(encoding="utf-8")
    return {code: str(language) for code, language in tomllib.loads(text).items()}


def _short(name: str) -> str:
    """The first eight characters of a hash; other names without characters that are invalid in a test set's name."""
    return name[:8] if _HASH.fullmatch(name) else re.sub(r"[^A-Za-z0-9._-]+", "-", name) or "campaign"


def _system(path: Path, facts: Mapping[str, object]) -> str:
    """The system's name and its file name, because systems of one campaign may share a name."""
    name, file_name = facts.get("System"), _short(path.stem)
    return f"{name}-{file_name}" if isinstance(name, str) and name.strip() and name != path.stem else file_name


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or ["damaged"])[0]


def _sheets(data: bytes) -> tuple[pl.DataFrame, dict[str, object], list[str]]:
    """The judgements, with the sheet's row as `line`; the facts by name; names of further sheets.

    Numeric cells are read as numbers, because reading them as text rounds them.
    """
    import fastexcel

    logging.getLogger("fastexcel").setLevel(logging.CRITICAL)  # what it says of cells is reported as faults and notes
    workbook = fastexcel.read_excel(data)
    rows = workbook.load_sheet(_JUDGEMENTS, schema_sample_rows=None).to_polars()
    rows = rows.with_row_index("line", 2).cast({"line": pl.Int64})
    facts: dict[str, object] = {}
    if _SYSTEM in workbook.sheet_names:
        kinds: list[dict[str | int, Any]] = [{0: "string", 1: "float"}, {0: "string", 1: "string"}]
        numbers, texts = (workbook.load_sheet(_SYSTEM, header_row=None, dtypes=kind).to_polars() for kind in kinds)
        if numbers.width > 1 and texts.width > 1:
            for (name, number, *_), (_, text, *_) in zip(numbers.iter_rows(), texts.iter_rows(), strict=True):
                value = text if number is None or name in _TEXT_FACTS else number
                if name and not name.startswith("Unnamed") and value is not None:
                    facts[name] = value
    return rows, facts, [name for name in workbook.sheet_names if name not in (_JUDGEMENTS, _SYSTEM)]


def _wrong_facts(facts: Mapping[str, object], path: Path) -> list[Fault]:
    """Faults of system scores that are texts or not finite."""
    return [
        Fault(str(path), 0, f"sheet {_SYSTEM}: {name} {value!r}", "a finite number, or none if missing")
        for name, value in facts.items()
        if _is_metric(name) and (isinstance(value, str) or (isinstance(value, float) and not math.isfinite(value)))
    ]


def _checked(rows: pl.DataFrame, path: Path) -> tuple[pl.DataFrame, list[Fault]]:
    """The rows with numbers, ids and marks parsed; invalid cells are faults."""
    faults: list[Fault] = []
    as_text = pl.col("valid_line").cast(pl.String).str.to_lowercase()
    is_mark = as_text.is_in(["true", "false", "1", "0", "1.0", "0.0"])
    rows = cells_that_are(rows, "valid_line", is_mark, "true or false", path, faults)
    rows = rows.with_columns(valid_line=as_text.is_in(["true", "1", "1.0"]))
    rows, more = _number(rows, "Score", path)
    faults += more
    ids = pl.col("SegmentID").cast(pl.String).str.strip_suffix(".0")
    rows = cells_that_are(
        rows.with_columns(SegmentID=ids), "SegmentID", ids.str.len_chars() > 0, "a name", path, faults
    )
    return rows.with_columns(pl.col("User").cast(pl.String)), faults


def _number(rows: pl.DataFrame, column: str, path: Path) -> tuple[pl.DataFrame, list[Fault]]:
    """A column of numbers, some of which may be missing."""
    value = pl.col(column).cast(pl.Float64, strict=False)
    faults: list[Fault] = []
    is_right = pl.col(column).is_null() | value.is_finite()
    rows = cells_that_are(rows, column, is_right, "a finite number, or none if missing", path, faults)
    return rows.with_columns(value.alias(column)), faults


def _with_pair(rows: pl.DataFrame, given: LoadHints, path: Path) -> tuple[pl.DataFrame, list[Fault]]:
    if given.lp is not None:
        return rows.with_columns(lp=pl.lit(given.lp)), []
    faults: list[Fault] = []
    for column in ("Source", "Target"):
        rows = rows.with_columns(pl.col(column).cast(pl.String))
        expected = f"a code of three letters such as ENU; name the language pair with {option('lp')}"
        more: list[Fault] = []
        rows = cells_that_are(rows, column, pl.col(column).is_in(list(_codes())), expected, path, more)
        faults += more if rows.height else more[:1]  # the same in every row
        rows = rows.with_columns(pl.col(column).replace_strict(_codes(), default=None, return_dtype=pl.String))
    return rows.with_columns(lp=pl.concat_str("Source", pl.lit("-"), "Target")), faults


def _of_segments(rows: pl.DataFrame, path: Path) -> tuple[pl.DataFrame, list[Fault]]:
    """Metric scores of segments; a segment with several annotators repeats them."""
    places = ["line", "testset", "lp", "system", "domain", "document", "index"]
    parts = [pl.DataFrame(schema={"line": pl.Int64})]
    faults: list[Fault] = []
    for column in rows.columns:
        if column in _OURS or _is_further(rows, column):
            continue
        scores, more = _number(rows.select(*places, column), column, path)
        faults += more
        name, reference = _metric(column)
        parts.append(
            scores.unique(["document", column], keep="first", maintain_order=True).select(
                *places,
                *constants(level="seg", kind="metric", scorer=name, reference=reference),
                value=column,
            )
        )
    return pl.concat(parts, how="diagonal"), faults


def _is_further(rows: pl.DataFrame, column: str) -> bool:
    """Whether a column holds neither scores nor known content.

    A column of numbers with a few texts holds scores, and so does one with a metric's name: the texts are faults.
    """
    if column in _OURS or rows[column].dtype.is_numeric() or _is_metric(column):
        return False
    if rows[column].dtype != pl.String:
        return True
    texts = rows[column].drop_nulls()
    return 2 * texts.cast(pl.Float64, strict=False).count() <= texts.len()


def _is_metric(name: str) -> bool:
    """Whether the name alone says that a column or row is a metric's.

    >>> _is_metric("metric_mine"), _is_metric("COMET_src"), _is_metric("Comment")
    (True, True, False)
    """
    return name.startswith("metric_") or any(describe(base).is_known for base in (name, name.removesuffix("_src")))


def _of_system(rows: pl.DataFrame, facts: Mapping[str, object]) -> pl.DataFrame:
    if rows.is_empty():
        return pl.DataFrame(schema={"line": pl.Int64})
    place = rows.row(0, named=True)
    scores = [
        (*_metric(name), value) for name, value in facts.items() if isinstance(value, float) and name != _N_SEGMENTS
    ]
    schema = {"scorer": pl.String, "reference": pl.String, "value": pl.Float64}
    return pl.DataFrame(scores, schema=schema, orient="row").with_columns(
        *constants(**{name: place[name] for name in ("testset", "lp", "system")}, level="sys", kind="metric"),
        line=pl.lit(0, pl.Int64),
    )


def _metric(name: str) -> tuple[str, str | None]:
    """A metric's name and its reference; the names of reference-free metrics end in `_src`.

    >>> _metric("metric_COMET_src"), _metric("SacreBLEU_chrf")
    (('COMET_src', None), ('SacreBLEU_chrf', 'ref'))
    """
    name = name.removeprefix("metric_")
    return name, None if name.endswith("_src") else "ref"
