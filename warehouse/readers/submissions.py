"""Submissions to the metrics tasks: `METRIC.LEVEL.score` of all years, tab-separated, without a header
until WMT23 and with one in WMT25.

The number of columns tells the format's year; if several formats have as many, the content of the columns does.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from warehouse.errors import Fault
from warehouse.facts.languages import language_pair_called
from warehouse.names import is_language_pair
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.records import Records, TextReader
from warehouse.readers.text.tables import MISSING, finite, is_number, repeated_faults, table_of, whole_numbers
from warehouse.readers.vocabulary import (
    is_reference_free,
    reference_called,
    standard_reference,
    testset_called,
    testset_of,
    year_of,
)
from warehouse.wording import option

_FILE = re.compile(r"(?P<name>.+\.(?P<level>sys|domain|doc|seg)\.(?:score|tsv))(?:\.gz)?")
_BACKUP = re.compile(_FILE.pattern + r"\.bk(?:\.gz)?|(?P<other>.+)\.bk(?:\.score)?(?:\.gz)?")
_GROUP = re.compile(r"(baselines?|primary|secondary|contrastive)([-_].*)?")
_HEAD = 20
_COLUMNS = {
    "seg until 2015": ("METRIC", "LP", "TESTSET", "SYSTEM", "SEGNO", "SCORE"),
    "sys until 2019": ("METRIC", "LP", "TESTSET", "SYSTEM", "SCORE", "ENSEMBLE", "AVAILABLE"),
    "seg until 2019": ("METRIC", "LP", "TESTSET", "SYSTEM", "SEGNO", "SCORE", "ENSEMBLE", "AVAILABLE"),
    "sys of 2020": ("METRIC", "LP", "TESTSET", "REFSET", "SYSTEM", "SCORE"),
    "doc of 2020": ("METRIC", "LP", "TESTSET", "REFSET", "SYSTEM", "DOC", "SCORE"),
    "seg of 2020": ("METRIC", "LP", "TESTSET", "REFSET", "SYSTEM", "DOC", "SEGNO", "SCORE"),
    "sys since 2021": ("METRIC", "LP", "TESTSET", "DOMAIN", "REFSET", "SYSTEM", "SCORE"),
    "seg since 2021": ("METRIC", "LP", "TESTSET", "DOMAIN", "DOC", "REFSET", "SYSTEM", "SEGNO", "SCORE"),
}
_NEEDED = {"source_lang", "target_lang", "set_id", "system_id", "method", "overall"}
_PLACES = ("doc_id", "segment_id", "domain_name")
_WITH_HEADER = "2025"
_STATUSES = {  # of metrics on challenge sets, by folder
    "baseline": "baseline",
    "baselines": "baseline",
    "primary": "primary",
    "secondary": "contrastive",
    "contrastive": "contrastive",
}
_WHOLE = "all"  # where a domain, document or segment stands: the score is of all of them
_CHALLENGE = re.compile(r"challenge(?:set)?(?:[_-](?P<name>.+))?")
_REFERENCE_SET = re.compile(r"[a-z]+[A-Z]?20\d\d")


class SubmissionReader(TextReader):
    """Reader of scores submitted to the metrics tasks."""

    name = "wmt-metrics-task/2"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        layout = _layout(head, path)
        if layout is None and not _looks_like_one(head, path):
            return None
        if _BACKUP.fullmatch(path.name):
            return "a backup copy of scores; the file without .bk is read"
        testset: str | None
        if layout is None:
            testset = given.testset or testset_of(path) or "unknown"
        elif layout == _WITH_HEADER:
            testset = _testset_of_2025(_set_id(head), path, given) or _testset_of_2025("official", path, given)
        else:
            rows = [line.split("\t") for line in head]
            named = Counter(row[2] for row in rows if len(row) == len(_COLUMNS[layout]))
            called = named.most_common(1)[0][0]
            testset = testset_called(called, path) or given.testset
            if not testset:
                return f"scores of {called!r}, an unrecognised test set; name it with {option('testset')}"
        folder = path.parent.name if _GROUP.fullmatch(path.parent.name) else "submissions"
        named_file = _FILE.fullmatch(path.name)
        is_challenge = layout == _WITH_HEADER and _CHALLENGE.fullmatch(_set_id(head))
        return Claim(
            path,
            self.name,
            f"{testset}/{folder}/{named_file['name'] if named_file else path.name.removesuffix('.gz')}",
            needs=_details(path) if layout in ("seg of 2020", "doc of 2020") else (),
            status=_STATUSES.get(re.split("[-_]", folder)[0]) if is_challenge else None,
        )

    def read(self, text: str, faults: list[Fault], claim: Claim, given: LoadHints) -> Records:
        layout = _layout(text[: 1 << 16].split("\n")[:_HEAD], claim.path)
        if layout is None:
            expected = "the columns of a submission to a metrics task, such as METRIC LP TESTSET REFSET SYSTEM SCORE"
            return Records(faults=[*faults, Fault(str(claim.path), 1, "unknown columns", expected)])
        if layout == _WITH_HEADER:
            records = _parse_2025(text, claim.path, given)
            return replace(records, faults=[*faults, *records.faults])
        table = table_of(text, _COLUMNS[layout], "\t", claim.path, faults, floats=("SCORE",))
        if "SEGNO" in table.columns:
            table = whole_numbers(table, "SEGNO", claim.path, faults)
        table, more = _named(table, claim.path, given)
        faults += more
        return Records(scores=_placed(table, layout), faults=faults)


def _layout(head: Sequence[str], path: Path) -> str | None:
    """The key of `_COLUMNS` that most lines agree on, or `_WITH_HEADER`; None if the file is not a submission."""
    lines = [line.rstrip("\r").split("\t") for line in head if line.strip()]
    if not lines:
        return None
    first = {cell.strip() for cell in lines[0]}
    if first >= _NEEDED:
        return _WITH_HEADER
    found = Counter(filter(None, (_line_layout(cells, path) for cells in lines)))
    if not found:
        return None
    layout, n = found.most_common(1)[0]
    begins = _is_named_so(path) or _line_layout(lines[0], path) == layout  # a table with a header is another format
    return layout if begins and 2 * n >= len(lines) else None


def _looks_like_one(head: Sequence[str], path: Path) -> bool:
    """Whether name and number of columns fit a submission, even if the file has faults."""
    if not _is_named_so(path):
        return False
    return any(line.count("\t") >= 5 for line in head) or (not head and testset_of(path) is not None)


def _is_named_so(path: Path) -> bool:
    named = _FILE.fullmatch(path.name)
    return named is not None and named["name"].endswith(".score")


def _line_layout(cells: Sequence[str], path: Path) -> str | None:
    """The layout of one line, if its system and reference columns may hold names."""
    layout = _layout_by_columns(cells, path)
    if layout is None:
        return None
    named = dict(zip(_COLUMNS[layout], cells, strict=True))
    is_swapped = finite(named["SYSTEM"]) is not None or _REFERENCE_SET.fullmatch(named["SYSTEM"])
    return None if is_swapped or finite(named.get("REFSET", "")) is not None else layout


def _layout_by_columns(cells: Sequence[str], path: Path) -> str | None:
    """The layout of one line, by the number and content of its columns; None if no layout fits."""
    if len(cells) < 6 or not is_language_pair(cells[1]):
        return None
    n_columns, ends_in_score = len(cells), is_number(cells[-1])
    if n_columns == 6 and ends_in_score:
        is_seg = cells[4].isdecimal() and not _REFERENCE_SET.fullmatch(cells[3])
        return "seg until 2015" if is_seg and ".sys." not in path.name else "sys of 2020"
    if n_columns == 7 and ends_in_score:
        is_doc = ".doc." in path.name or (_REFERENCE_SET.fullmatch(cells[3]) and ".sys." not in path.name)
        return "doc of 2020" if is_doc else "sys since 2021"
    if n_columns == 7 and is_number(cells[4]):
        return "sys until 2019"
    if n_columns == 8 and ends_in_score and cells[6].isdecimal():
        return "seg of 2020"
    if n_columns == 8 and is_number(cells[5]) and cells[4].isdecimal():
        return "seg until 2019"
    return "seg since 2021" if n_columns == 9 and ends_in_score else None


def _details(path: Path) -> tuple[Path, ...]:
    """The files with the lines of documents: `input/details` in a folder above the scores."""
    for folder in path.parents[:4]:
        details = folder / "input" / "details"
        if details.is_dir():
            return tuple(sorted(details.glob("*.txt")))
    return ()


def _named(table: pl.DataFrame, path: Path, given: LoadHints) -> tuple[pl.DataFrame, list[Fault]]:
    """Rows with test set, language pair, metric and reference in the program's names; unknown test sets are faults."""
    table, faults = _with_testsets(table, "TESTSET", lambda name: testset_called(name, path) or given.testset, path)
    table = table.with_columns(
        lp=_replaced(table, "LP", language_pair_called),
        scorer=pl.col("METRIC"),
        system=pl.col("SYSTEM"),
        value=pl.col("SCORE"),
        kind=pl.lit("metric"),
    )
    says_always = "REFSET" in table.columns
    said = _replaced(table, "REFSET", reference_called) if says_always else pl.lit(None, pl.String)
    return with_references(table.with_columns(said=said), says_always=says_always), faults


def with_references(table: pl.DataFrame, *, says_always: bool) -> pl.DataFrame:
    """`reference` of each row: `said`, unless the registry lists the metric as reference-free.

    says_always: a null in `said` means reference-free; otherwise null means the standard reference.
    """
    keys = table.select("scorer", "testset", "lp").unique()
    rows = [
        (scorer, testset, lp, is_reference_free(scorer, testset), standard_reference(scorer, testset, lp))
        for scorer, testset, lp in keys.iter_rows()
    ]
    schema = {"scorer": pl.String, "testset": pl.String, "lp": pl.String, "free": pl.Boolean, "standard": pl.String}
    facts = pl.DataFrame(rows, schema=schema, orient="row")
    said = pl.col("said") if says_always else pl.coalesce("said", "standard")
    return (
        table.join(facts, on=["scorer", "testset", "lp"], how="left", maintain_order="left")
        .with_columns(reference=pl.when(~pl.col("free")).then(said))
        .drop("said", "free", "standard")
    )


def _with_testsets(
    table: pl.DataFrame, column: str, called: Callable[[str], str | None], path: Path
) -> tuple[pl.DataFrame, list[Fault]]:
    """The rows whose test set is known, with `testset`; and one fault for each unknown name."""
    table = table.with_columns(testset=_replaced(table, column, called))
    expected, way_out = "a test set of the shared tasks, such as newstest2020", f"name it with {option('testset')}"
    faults = repeated_faults(
        table.filter(pl.col("testset").is_null()), column, "test set {!r}", expected, path, way_out
    )
    return table.filter(pl.col("testset").is_not_null()), faults


def _replaced(table: pl.DataFrame, column: str, called: Callable[[str], str | None]) -> pl.Expr:
    """The column with each distinct value replaced."""
    names = table[column].unique().to_list()
    return pl.col(column).replace_strict(names, [called(name) for name in names], return_dtype=pl.String)


def _placed(table: pl.DataFrame, layout: str) -> pl.DataFrame:
    """Rows with level, and the layout's domain, document, segment or index."""
    level = layout[:3]
    if level == "seg" and "DOC" not in table.columns:
        return table.with_columns(level=pl.lit("seg"), segment=pl.col("SEGNO"))
    if layout == "sys since 2021":
        is_whole = pl.col("DOMAIN") == _WHOLE
        return table.with_columns(
            level=pl.when(is_whole).then(pl.lit("sys")).otherwise(pl.lit("domain")),
            domain=pl.when(~is_whole).then(pl.col("DOMAIN")),
        )
    if layout == "doc of 2020":
        return table.with_columns(level=pl.lit("doc"), document="DOC")
    if layout == "seg of 2020":
        return table.with_columns(level=pl.lit("seg"), document="DOC", index="SEGNO")
    if layout == "seg since 2021":
        evalset = ["testset", "lp"]
        restarts = pl.struct("DOC", "SEGNO").n_unique().over(evalset) > pl.col("SEGNO").n_unique().over(evalset)
        return table.with_columns(
            level=pl.lit("seg"),
            domain=pl.col("DOMAIN"),
            document=pl.col("DOC"),
            index=pl.when(restarts).then(pl.col("SEGNO")),
            segment=pl.when(~restarts).then(pl.col("SEGNO")),
        )
    return table.with_columns(level=pl.lit("sys"))


def _set_id(head: Sequence[str]) -> str:
    """The set of the first row below a header of 2025."""
    header, *rows = ([cell.strip() for cell in line.split("\t")] for line in head if line.strip())
    return dict(zip(header, rows[0], strict=False)).get("set_id", "official") if rows else "official"


def _testset_of_2025(set_id: str, path: Path, given: LoadHints) -> str | None:
    year = year_of(path) or 2025
    if set_id == "official":
        return given.testset or f"wmt{year % 100:02d}"
    if (challenge := _CHALLENGE.fullmatch(set_id)) is not None:
        return f"challengeset{year}" + (f".{challenge['name']}" if challenge["name"] else "")
    return testset_called(set_id, path)


def _parse_2025(text: str, path: Path, given: LoadHints) -> Records:
    """Rows of WMT25, with columns named by the header. `all` for segment, document and domain means a higher level.

    If no method is named, the metric has the file's name.
    """
    columns = [cell.strip() for cell in text.split("\n", 1)[0].split("\t")]
    if columns == [""]:
        return Records(faults=[Fault(str(path), 1, "a blank line", "the names of the columns")])
    if len(set(columns)) < len(columns):
        return Records(faults=[Fault(str(path), 1, "a column that appears twice", "each column once")])
    known = {*_NEEDED, *_PLACES}
    kept = [name if name in known else f"column {number}" for number, name in enumerate(columns, 1)]
    faults: list[Fault] = []
    table = table_of(text, kept, "\t", path, faults, n_header=1, floats=("overall",))
    table = table.with_columns(pl.lit(_WHOLE).alias(name) for name in _PLACES if name not in kept)
    table, more = _with_testsets(table, "set_id", lambda name: _testset_of_2025(name, path, given), path)
    faults += more
    table = table.with_columns(pl.concat_str("source_lang", pl.lit("-"), "target_lang").alias("LP"))
    has_segment, has_document, has_domain = (pl.col(name) != _WHOLE for name in ("segment_id", "doc_id", "domain_name"))
    method = pl.when(~pl.col("method").is_in(MISSING)).then("method").otherwise(pl.lit(_metric_of(path)))
    table = table.with_columns(
        lp=_replaced(table, "LP", language_pair_called),
        scorer=method,
        system=pl.col("system_id"),
        value=pl.col("overall"),
        kind=pl.lit("metric"),
        said=pl.lit(None, dtype=pl.String),
        level=pl.when(has_segment)
        .then(pl.lit("seg"))
        .when(has_document)
        .then(pl.lit("doc"))
        .when(has_domain)
        .then(pl.lit("domain"))
        .otherwise(pl.lit("sys")),
        domain=pl.when(has_domain).then(pl.col("domain_name")),
        document=pl.when(has_document).then(pl.col("doc_id")),
    )
    table, more = _with_segments(table, path, given)
    return Records(scores=with_references(table, says_always=False), faults=[*faults, *more])


def _metric_of(path: Path) -> str:
    """The metric that a file is called after."""
    return re.sub(r"(\.(sys|domain|doc|seg))?\.(score|tsv)(\.gz)?$", "", path.name)


def _with_segments(table: pl.DataFrame, path: Path, given: LoadHints) -> tuple[pl.DataFrame, list[Fault]]:
    """Rows with segment numbers, which count from 1 within the document or the test set.

    If they do not restart in a second document, they count within the test set; then their places in documents
    follow only if none is missing.
    """
    rest = table.filter(pl.col("level") != "seg").with_columns(pl.lit(None, pl.Int64).alias("number"))
    faults: list[Fault] = []
    table = whole_numbers(table.filter(pl.col("level") == "seg"), "segment_id", path, faults)
    table = table.rename({"segment_id": "number"})
    evalset = ["testset", "lp"]
    number, documents = pl.col("number"), pl.col("doc_id")
    n_places = pl.struct(documents, number).n_unique().over(evalset)
    restarts = (n_places > number.n_unique().over(evalset)) | (documents.n_unique().over(evalset) == 1)
    by_document = restarts if given.numbering is None else pl.lit(given.numbering == "document")
    table = table.with_columns(
        index=pl.when(by_document).then(number).otherwise(number.rank("dense").over([*evalset, "doc_id"])),
        segment=pl.when(~by_document).then(number),
    )
    if given.numbering == "testset":
        table = table.with_columns(index=pl.lit(None, pl.Int64))
    else:
        counted = table.filter(pl.col("segment").is_not_null()).group_by(evalset, maintain_order=True)
        gaps = counted.agg(pl.col("line").min(), pl.col("segment").unique().sort()).iter_rows()
        for testset, lp, line, numbers in gaps:
            missing = next((n for n, there in enumerate(numbers, 1) if n != there), None)
            if missing is not None:
                found = f"{testset} {lp} without segment {missing}"
                expected = "consecutive numbers from 1, as they do not restart in each document"
                way = f"give it a row with NaN, or load the file with {option('numbering')} testset or document"
                faults.append(Fault(str(path), line, found, expected, way))
    return pl.concat([table, rest], how="diagonal_relaxed").sort("line"), faults
