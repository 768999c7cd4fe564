"""Campaigns of the annotation tool Appraise, one judgement per row: WMT24's ESA, and WMT22's and WMT23's DA+SQM.

The files have no header. The columns between score and times tell the kind: document and error spans (the human
score `esa`), the document alone (DA+SQM of whole documents, whose segments are numbered within the document), nothing
(DA+SQM of single segments), or remarks on errors (single segments of two systems side by side). The export's batch
numbers may follow the times. `NAME#A-B` means that segments A to B of a document were shown, numbered from 0. In
calibration, all annotators judge the same few documents; it is a separate human score.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from warehouse.errors import Fault
from warehouse.facts.languages import two_letters
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.judgements import Error, span_of
from warehouse.readers.records import Records, TextReader, columns
from warehouse.readers.text.json_lines import has_whole_characters
from warehouse.readers.text.quoted import quoted_cells, quoted_table
from warehouse.readers.text.tables import cells_that_are, constants, numbers, whole_numbers
from warehouse.readers.vocabulary import testset_of
from warehouse.wording import counted, option

_SEGMENT = ("user", "system", "item", "type", "source", "target", "score")
_TIMES = ("start", "end")
_DOCUMENT = ("document", "is_document")
_REMARKS = ("errors", "source_errors")
_BEFORE_TIMES = ((), _DOCUMENT, (*_DOCUMENT, "spans"), _REMARKS)
_BATCH = ("batch", "number", "shown")  # task, item in the tool's database, and which of the systems side by side
_LAYOUTS = sorted(  # remarks may look like anything
    [(*_SEGMENT, *details, *_TIMES, *_BATCH[:n]) for n in (0, 2, 3) for details in _BEFORE_TIMES],
    key=lambda names: "errors" in names,
)
_FORMS = {  # how cells of a column look
    "is_document": re.compile("true|false|0|1", re.IGNORECASE),
    "spans": re.compile(r"\[.*", re.DOTALL),
    "start": re.compile(r"[\d.e+]+|None"),
    "end": re.compile(r"[\d.e+]+|None"),
    "batch": re.compile(r"\d+"),
    "number": re.compile(r"\d+"),
    "shown": re.compile(r"\d"),
}
_TYPES = ("TGT", "BAD", "REF", "CHK")
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_LANGUAGES = r"[A-Za-z_]+-[A-Za-z_]+"
_SYSTEM_FILE = (
    rf"^(?:newstest|generaltest)\d+\.{_LANGUAGES}\.(?:hyp\.(?<hyp>.+?)|ref\.(?<ref>[^.]+))\.[A-Za-z_]+(?:\.txt)?$"
)
_YEAR = re.compile(r"(?:generaltest|generalmt|wmt)(?:20)?(?P<year>2\d)(?!\d)", re.IGNORECASE)
_MARKS = r"^(?<document>.*?)(?:#(?<first>\d+)-\d+)?(?<marks>(?:#(?:duplicate|dup|incomplete|bad)[0-9]*)*)$"
_CANARY_TESTSET = "wmt24"  # line 1 of its test set is the canary, which the campaign does not number
_MOST_ANNOTATORS = 0.9  # share of rows
_LATEST_TIME = 4e9  # seconds: later than any campaign, and within what a time can hold


class AppraiseReader(TextReader):
    """Reader of Appraise's exports."""

    name = "appraise/5"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        layout = _layout(head)
        if layout is None:
            if head and _is_header(quoted_cells(head[0], ",")):
                return "column names only; the judgements are in other files"
            return None
        testset = given.testset or _testset_named(path, head) or testset_of(path)
        if testset is None:
            return f"judgements of an unknown test set; name it with {option('testset')}"
        return Claim.of_judgements(path, self.name, "appraise", testset, given.human or _human(path, layout))

    def read(self, text: str, faults: list[Fault], claim: Claim, given: LoadHints) -> Records:
        head = text.split("\n", 20)[:20]
        layout = _layout(head)
        if layout is None:
            return Records(
                faults=[
                    *faults,
                    Fault(
                        str(claim.path),
                        1,
                        "not judgements exported from Appraise",
                        "9 to 15 columns, as Appraise exports them",
                    ),
                ]
            )
        table = quoted_table(
            text, layout, ",", claim.path, faults, n_header=int(_is_header(quoted_cells(head[0], ",")))
        )
        table, more = _checked(table, claim.path)
        faults += [*more, *_swapped(table, claim.path)]
        has_canary = claim.testset == _CANARY_TESTSET and "spans" in layout
        table = _described(table, claim, shift=int(has_canary))
        ratings = None
        if "spans" in table.columns:
            ratings, more = _errors(table, claim.path)
            faults += more
        is_document = pl.col("is_document")
        return Records(
            scores=_document_scores(table.filter(is_document)),
            judgements=table.filter(~is_document),
            ratings=ratings,
            scores_from_judgements=True,
            faults=faults,
            notes=[_note(table), *_unread(table)],
        )


def _layout(head: Sequence[str]) -> tuple[str, ...] | None:
    """The columns, if one of the first lines is a judgement: those that its cells look like, else as many as there are.

    >>> row = "u,A,1,TGT,eng,deu,80,{}0.5,1.5{}"
    >>> [len(_layout([row.format(*more)])) for more in (("", ""), ("d,False,", ",3,17"), ("d,False,[],", ",3,17,0"))]
    [9, 13, 15]
    >>> [_layout([row.format(*more)])[7] for more in (("", ",3,17"), ("d,False,", ""), ("omission,,", ""))]
    ['start', 'document', 'errors']
    """
    judgements = []
    for line in head:
        cells = quoted_cells(line, ",")
        if len(cells) >= len(_LAYOUTS[0]) and cells[3] in _TYPES and all(map(_LANGUAGE.fullmatch, cells[4:6])):
            judgements.append(cells)
    for cells in judgements:
        for layout in _LAYOUTS:
            if len(layout) == len(cells) and all(
                _FORMS[name].fullmatch(cell) for name, cell in zip(layout, cells, strict=True) if name in _FORMS
            ):
                return layout
    n_columns = [len(cells) for cells in judgements]
    return next((layout for layout in _LAYOUTS if len(layout) in n_columns), None)


def _is_header(cells: Sequence[str]) -> bool:
    return len(cells) >= len(_LAYOUTS[0]) and [cell.lower() for cell in cells[1:4]] == ["system", "itemid", "itemtype"]


def _testset_named(path: Path, head: Sequence[str]) -> str | None:
    """The test set by the name of the file or of the systems' files in it."""
    found = _YEAR.search(path.name) or next((year for line in head if (year := _YEAR.search(line))), None)
    return f"wmt{found['year']}" if found else None


def _is_side_by_side(columns: Sequence[str]) -> bool:
    """Whether outputs of two systems were judged at once."""
    return "shown" in columns or "errors" in columns


def _human(path: Path, layout: Sequence[str]) -> str:
    if "spans" in layout:
        return "esa"
    if _is_side_by_side(layout):
        return "da-pairwise"
    if "calibration" in path.name.lower():
        return "da-sqm-calibration"
    if "SegLvlLivRef" in path.name:
        return "da-sqm-ref"
    return "da-sqm-src" if "SegLvlLivSrc" in path.name else "da-sqm"


def _checked(table: pl.DataFrame, path: Path) -> tuple[pl.DataFrame, list[Fault]]:
    """The rows with their numbers parsed; rows with anything else are faults."""
    faults: list[Fault] = []
    for column in ("score", *_TIMES):
        table = numbers(table, column, path, faults)
    table = whole_numbers(table, "item", path, faults)
    checks = [
        ("type", "one of " + ", ".join(_TYPES), pl.col("type").is_in(_TYPES)),
        ("source", "a language code such as eng", pl.col("source").str.contains(r"^[a-z]{2,3}$")),
        ("target", "a language code such as jpn", pl.col("target").str.contains(r"^[a-z]{2,3}$")),
        ("score", "a whole number from 0 to 100", (pl.col("score").is_between(0, 100) & (pl.col("score") % 1 == 0))),
        ("item", "the number of a segment", pl.col("item").is_between(0, 2**31 - 2)),
        ("end", "seconds since 1970", pl.col("end").is_between(0, _LATEST_TIME).fill_null(True)),
    ]
    if "is_document" in table.columns:
        folded = pl.col("is_document").str.to_lowercase()
        checks.append(("is_document", "True or False", folded.is_in(["true", "false", "1", "0"])))
    for column, expected, is_right in checks:
        table = cells_that_are(table, column, is_right, expected, path, faults)
    return table, faults


def _swapped(table: pl.DataFrame, path: Path) -> list[Fault]:
    """The fault of a file whose systems are named as Appraise names annotators, while its annotators are not.

    Annotators are named after the languages that they judge: `engdeu1a0f`.
    """
    by_languages = pl.col("source") + pl.col("target")
    tests = [pl.col(name).str.starts_with(by_languages) for name in ("system", "user")]
    is_judged, is_judging = (table.select(test.mean()).item() for test in tests)
    if is_judged is None or is_judged < _MOST_ANNOTATORS or is_judging > 1 - _MOST_ANNOTATORS:
        return []
    found = f"systems with names like annotators', such as {table['system'][0]!r}"
    return [Fault(str(path), 1, found, "columns user, system", "swap the first two columns")]


def _described(table: pl.DataFrame, claim: Claim, *, shift: int) -> pl.DataFrame:
    """Judgements with languages, system, document, rater, time and status."""
    no_documents = "document" not in table.columns
    if no_documents:
        table = table.with_columns(document=pl.lit(None, pl.String), is_document=pl.lit("False"))
    named = pl.col("system").str.extract_groups(_SYSTEM_FILE)
    marked = pl.col("document").str.extract_groups(_MARKS)
    first = marked.struct["first"].cast(pl.Int64).fill_null(0)
    languages = pl.col("source", "target").map_batches(_short_codes, return_dtype=pl.String)
    table = table.with_columns(languages).with_columns(
        *constants(testset=claim.testset, scorer=claim.human, kind="human"),
        lp=pl.concat_str("source", pl.lit("-"), "target"),
        system=pl.coalesce(named.struct["hyp"], pl.lit("ref") + named.struct["ref"], "system"),
        segment=pl.col("item") + shift if "spans" in table.columns or no_documents else pl.lit(None, pl.Int64),
        index=pl.lit(None, pl.Int64) if "spans" in table.columns or no_documents else pl.col("item") + first,
        is_document=pl.col("is_document").str.to_lowercase().is_in(["true", "1"]),
        item=pl.col("document"),
        document=marked.struct["document"],
        marks=marked.struct["marks"].fill_null(""),
        rater=pl.col("user"),
        value=pl.col("score"),
        n=pl.lit(1),
        judgement=pl.col("line"),
        time=(pl.col("end") * 1_000_000).round().cast(pl.Int64).cast(pl.Datetime("us")),
    )
    status = (
        pl.when(pl.col("system").str.contains(r"(?i)tutorial"))
        .then(pl.lit("tutorial"))
        .when(pl.col("document").str.contains(r"(?i)^canary").fill_null(False))
        .then(pl.lit("canary"))
        .when((pl.col("type") == "BAD") | pl.col("marks").str.contains("#bad"))
        .then(pl.lit("bad"))
        .when(pl.col("type") != "TGT")
        .then(pl.lit("check"))
        .when(pl.col("marks").str.contains("#dup"))
        .then(pl.lit("repeat"))
        .when(pl.col("marks").str.contains("#incomplete"))
        .then(pl.lit("filler"))
        .otherwise(pl.lit("valid"))
    )
    table = table.with_columns(status=status)
    at_once = ["status", "lp", "rater", "segment", "index", "item", "is_document", *_TIMES]
    table = table.with_columns(side_by_side=pl.col("system").unique().sort().str.join("+").over(at_once))
    repeated = ["status", "lp", "rater", "system", "segment", "index", "item", "is_document", "side_by_side"]
    is_last = pl.col("line") == pl.col("line").sort_by("time", "line", nulls_last=False).last().over(repeated)
    return table.with_columns(
        status=pl.when((pl.col("status") == "valid") & ~is_last).then(pl.lit("superseded")).otherwise("status")
    )


def _short_codes(languages: pl.Series) -> pl.Series:
    codes = {language: two_letters(language) for language in languages.unique().to_list()}
    return languages.replace(codes)


def _errors(table: pl.DataFrame, path: Path) -> tuple[pl.DataFrame, list[Fault]]:
    """The marked errors of each judgement, in order; text that lists none is a fault.

    The end of a span is its last character; an omission has no position.
    """
    rows: list[Any] = []
    faults = []
    marked = table.filter((pl.col("spans") != "[]") & ~pl.col("is_document"))
    for judgement, spans in marked.select("judgement", "spans").iter_rows():
        try:
            errors = json.loads(spans)
            if not has_whole_characters(spans, errors):
                raise ValueError
            rows += [(judgement, *_span(error)) for error in errors]
        except (ValueError, TypeError, RecursionError):
            found = f"error spans {spans!r}"
            faults.append(Fault(str(path), judgement, found, "a JSON list of spans with severities"))
    schema = {name: kind for name, kind in columns("ratings").items() if name != "weight"}
    return pl.DataFrame(rows, schema=schema, orient="row"), faults


def _span(error: dict[str, Any]) -> Error:
    named = {**error, "category": error.get("error_type")}
    category, severity, start, end, in_source = span_of(named, "place", is_inclusive=True)
    return category or "missing" if start is None else category, severity, start, end, in_source


def _document_scores(table: pl.DataFrame) -> pl.DataFrame | None:
    """Mean score of each document judged as a whole: a separate human score, not a mean over segments."""
    if table.is_empty():
        return None
    key = ["testset", "lp", "kind", "scorer", "system", "document"]
    valid = table.filter(pl.col("status") == "valid").with_columns(scorer=pl.col("scorer") + "-document")
    means = valid.group_by(key, maintain_order=True).agg(
        line=pl.col("line").first(), value=pl.col("value").sort().mean()
    )
    return means.with_columns(level=pl.lit("doc"))


def _unread(table: pl.DataFrame) -> list[str]:
    """Notes on side-by-side judgements, and on content that is not read."""
    notes = []
    if _is_side_by_side(table.columns):
        notes.append("systems were judged side by side; each score counts as a separate judgement")
    if further := [name for name in ("batch", "number", "shown") if name in table.columns]:
        called = {"batch": "batch", "number": "item", "shown": "place among the systems side by side"}
        notes.append(f"columns not read: {', '.join(called[name] for name in further)}")
    if "errors" in table.columns:
        has_remark = pl.any_horizontal(pl.col(name).fill_null("").is_in(["", "None"]).not_() for name in _REMARKS)
        if n_remarks := table.filter(has_remark).height:
            notes.append(f"{counted(n_remarks, 'row')} with comments on errors, which are not read")
    return notes


def _note(table: pl.DataFrame) -> str:
    """Number of rows that count, and of each special kind."""
    is_document = table["is_document"]
    words = {
        "bad": "of quality control (bad)",
        "check": "to check annotators",
        "tutorial": "of tutorials",
        "repeat": "of documents shown again (#dup)",
        "filler": "of documents that fill a task up (#incomplete)",
        "superseded": "superseded by a later one",
        "canary": "of the canary",
    }
    counts = dict(table.filter(~is_document).group_by("status").len().iter_rows())
    parts = [counted(counts.get("valid", 0), "judgement counts", "judgements count")]
    parts += [f"{counts[status]} {meaning}" for status, meaning in words.items() if status in counts]
    if n_documents := int(is_document.sum()):
        parts.append(f"{n_documents} of whole documents")
    n_marked = {
        mark: table.filter(pl.col("marks") == mark).height
        for mark in sorted(set(table["marks"].to_list()) - {"", "#bad"})
    }
    parts += [f"{n} marked {mark}" for mark, n in n_marked.items()]
    return ", ".join(parts)
