"""MQM: annotations, `mqm_*.tsv`, one row per error, in the formats until 2022 and since 2023; and averages.

Annotations are separated by tabs without quoting. Segments are numbered by their line in the test set or, without such
a column, within their document. The score of an annotator for a segment is minus the weights of the errors that
they marked; a segment's score is the mean over its annotators.

Averages, `mqm_TESTSET_LP.avg_seg_scores.tsv`, have system, mean score and line of the test set. The header has blanks
between its names; below it the score follows the system after a blank or a tab, and the segment after a blank. `None`
stands for unannotated segments.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from warehouse.errors import Fault
from warehouse.facts.languages import language_pair_called
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.judgements import DECIMALS
from warehouse.readers.records import Records, TextReader
from warehouse.readers.text.named_columns import twice
from warehouse.readers.text.tables import (
    NORMALISED,
    cells_that_are,
    columns_found,
    constants,
    line_faults,
    table_of,
    visible,
    whole_numbers,
    with_visible_names,
)
from warehouse.readers.vocabulary import testset_called, testset_of, year_of_testset
from warehouse.wording import counted, option

_HUMAN = "mqm"
_SOURCE_ERRORS = "source-errors"
_FOLDER = re.compile(r"[a-z]{4}|[a-z]{2,3}-[a-z]{2,3}")


def claim_mqm(
    path: Path, reader: str, named: re.Match[str] | None, given: LoadHints, *, is_annotation: bool
) -> Claim | str:
    """The claim, or why nothing is read. named: test set and language pair in the file's name; None without them.

    The file's name takes precedence over the user's hints, and these over the folders. Further words in the name
    (`no-postedits`, `3ratingsPerSegment`) make a separate human score: a part never replaces the whole.
    """
    what = "MQM annotations" if is_annotation else "MQM averages"
    words = {} if named is None else named.groupdict()
    is_whole = named is not None and not words.get("before")  # other words before the name: the test set may be another
    testset = (testset_called(words["testset"], path) if is_whole else None) or given.testset or testset_of(path)
    folder = path.parent.name if _FOLDER.fullmatch(path.parent.name) else None
    lp = words.get("lp") or given.lp or folder
    if testset is None or lp is None:
        unknown, name = ("test set", "testset") if testset is None else ("language pair", "lp")
        return f"{what} of an unknown {unknown}; name it with {option(name)}"
    lp = language_pair_called(lp)
    part = re.findall(r"[\w-]+", (words.get("before") or "") + (words.get("part") or ""))
    if _SOURCE_ERRORS in part:
        return "errors in source texts only, which do not score translations"
    human = given.human or "-".join([_HUMAN, *(word.strip("_") for word in part)])
    annotations, averages = f"{testset}/{lp}/{human}.annotations", f"{testset}/{lp}/{human}.avg_seg_scores"
    return Claim(
        path,
        reader,
        annotations if is_annotation else averages,
        ((testset, lp),),
        human=human,
        companion=averages if is_annotation else annotations,
        is_annotation=is_annotation,
    )


_REQUIRED = ("system", "rater", "category", "severity")
_NAMES = {name: name for name in (*_REQUIRED, "source", "target")} | {  # of columns in both generations
    "doc": "document",
    "seg_id": "segment",
    "globalsegid": "segment",
    "docsegid": "index",
}
_NUMBERS = ("document", "segment", "index")
_FILE = re.compile(
    r"(?P<before>[a-z]+_)?mqm[_-](?P<testset>[A-Za-z0-9]+)_(?P<lp>[a-z]{4}|[a-z]{2,3}-[a-z]{2,3})\b(?P<part>.*)\.tsv"
)
_NO_ERROR = ("no-error", "no error", "none")
_CATEGORIES = (  # the first part of a category's path, folded: Google's, and those of MQM's core typology
    *("accuracy", "fluency", "terminology", "style", "locale convention", "locale conventions", "other", "verity"),
    *("source error", "source issue", "reinterpretation", "creative reinterpretation", "non translation"),
    *("linguistic conventions", "audience appropriateness", "design", "design and markup", "internationalization"),
    *("addition", "omission", "mistranslation", "untranslated", "untranslated text", "hallucination"),
    *("punctuation", "spelling", "grammar", "register", "inconsistency", "awkward", "unintelligible", "markup"),
)
_TEST = "hotw-test"  # planted by the tool to test whether annotators pay attention


_WEIGHTS = "google-mqm"  # what an error costs, as follows, in signatures
_SEVERITIES = {"critical": 5.0, "major": 5.0, "minor": 1.0, "neutral": 0.0}
_MINOR_PUNCTUATION = 0.1
_NON_TRANSLATION = 25.0  # of a segment that is none at all, in the place of all other errors that the annotator marked
_FREE = {"source error": 2022, "source issue": 2020, "reinterpretation": 2020}
"""Words of categories that cost nothing wherever they stand in the path, and from which year on; WMT21 counts source
errors."""


class MqmAnnotationsReader(TextReader):
    """Reader of MQM error annotations."""

    name = f"mqm-annotations/4 ({_WEIGHTS})"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        found = set(_columns(head[0])) if head else set()
        if not set(_REQUIRED) <= found or not ("segment" in found or {"document", "index"} <= found):
            return None
        return claim_mqm(path, self.name, _FILE.match(path.name), given, is_annotation=True)

    def read(self, text: str, faults: list[Fault], claim: Claim, given: LoadHints) -> Records:
        names = [cell.strip().lower() for cell in text.split("\n", 1)[0].split("\t")]
        if again := twice([name for name in names if name], claim.path):
            return Records(faults=[*faults, *again])
        errors, more, n_repeated = _rows(text, claim.path)
        faults += more
        errors, n_names = with_visible_names(errors, ("system", "document", "rater"))
        for number in ("segment", "index"):
            errors = whole_numbers(errors, number, claim.path, faults) if number in errors.columns else errors
        faults += _source_faults(errors, claim.path)
        errors = errors.with_columns(
            severity_folded=pl.col("severity").str.to_lowercase().str.strip_chars(), category_folded=_folded("category")
        )
        known = (*_SEVERITIES, *_NO_ERROR, _TEST)
        errors = cells_that_are(
            errors, "severity", pl.col("severity_folded").is_in(known), "one of " + ", ".join(known), claim.path, faults
        )
        n_tests = errors.filter(pl.col("severity_folded") == _TEST).height
        errors = errors.filter(pl.col("severity_folded") != _TEST)
        is_known = _is_no_error() | pl.col("category_folded").str.split("/").list.first().is_in(_CATEGORIES)
        expected = "a path that begins with a category of MQM, such as Accuracy, Fluency, Style or Other"
        errors = cells_that_are(errors, "category", is_known, expected, claim.path, faults)
        ((testset, lp),) = claim.evalsets
        errors = _weighted(errors, year_of_testset(testset))
        judgements = _judgements(errors).with_columns(constants(testset=testset, lp=lp, scorer=claim.human))
        marked = errors.filter(~pl.col("is_no_error"))
        of_errors = f"{counted(judgements.height, 'judgement')} with {counted(marked.height, 'error')}"
        notes = [f"{of_errors}, weights {_WEIGHTS}"]
        if n_again := marked.height - marked.select(pl.exclude("line")).unique().height:
            notes.append(f"{counted(n_again, 'error')} listed again, each counted as a separate error")
        if n_tests:
            notes[0] += f", {counted(n_tests, 'planted error')} excluded"
        if n_names:
            notes.append(f"{counted(n_names, 'name')} {NORMALISED}")
        if n_repeated:
            notes.append(f"{counted(n_repeated, 'repeated line')}, counted once")
        return Records(
            judgements=judgements, ratings=_ratings(marked), scores_from_judgements=True, faults=faults, notes=notes
        )


def _columns(header: str) -> list[str]:
    """Our names of a header's columns; unknown and repeated columns are `_0`, `_1` …"""
    columns: list[str] = []
    for number, cell in enumerate(header.split("\t")):
        name = _NAMES.get(cell.strip().lower())
        columns.append(name if name is not None and name not in columns else f"_{number}")
    return columns


def _rows(text: str, path: Path) -> tuple[pl.DataFrame, list[Fault], int]:
    """Rows under our column names, with `line`; faults; and the number of lines that repeat another exactly.

    Columns after the required ones may be missing or added. A repeated line that marks its span is read
    once. Without a mark, equal lines are errors of one kind at several places, and each counts.
    """
    header, *lines = text.removesuffix("\n").split("\n")
    columns = _columns(header)
    n_needed = 1 + max((columns.index(name) for name in columns if not name.startswith("_")), default=0)
    frame = pl.DataFrame({"text": lines}, schema={"text": pl.String}).with_row_index("line", 2)
    n_found = pl.col("text").str.count_matches("\t", literal=True) + 1
    wrong = frame.filter(n_found < n_needed).with_columns(n=n_found)
    expected = f"at least {n_needed}, separated by tabs"
    faults = line_faults(wrong, columns_found, expected, path, "columns")
    cells = pl.col("text").str.splitn("\t", n_needed + 1).struct.rename_fields([*columns[:n_needed], "_rest"])
    sound = frame.filter(n_found >= n_needed)
    is_again = pl.col("text").str.contains("<v>", literal=True) & ~pl.col("text").is_first_distinct()
    once = sound.filter(~is_again)
    rows = once.select(pl.col("line").cast(pl.Int64), cells).unnest("text")
    named = rows.select("line", *(name for name in columns if not name.startswith("_")))
    return named, faults, sound.height - once.height


def _place(errors: pl.DataFrame) -> list[str]:
    """The columns that identify a segment."""
    number = "segment" if "segment" in errors.columns else "index"
    return [name for name in ("document", number) if name in errors.columns]


def _source_faults(errors: pl.DataFrame, path: Path) -> list[Fault]:
    """The fault of the first segment with two source texts: numbers may count within something smaller."""
    if "source" not in errors.columns:
        return []
    texts = errors.with_columns(visible(pl.col("source").str.replace_all(r"</?v>", "")))
    several = (
        texts.group_by(_place(errors)).agg(pl.col("line").min(), n=pl.col("source").n_unique()).filter(pl.col("n") > 1)
    )
    if several.is_empty():
        return []
    line, segment = several.sort("line").select("line", _place(errors)[-1]).row(0)
    more = "" if several.height == 1 else f", and {counted(several.height - 1, 'more such segment')}"
    way_out = f"load it with {option('numbering', 'document')} and a column doc if numbers count within the document"
    return [Fault(str(path), line, f"segment {segment} has several source texts{more}", "one for each number", way_out)]


def _weighted(errors: pl.DataFrame, year: int | None) -> pl.DataFrame:
    """Each error with its weight, and whether its row means that there is no error.

    If an annotator marked a non-translation, only that error (the first of several) has a weight.
    """
    category = pl.col("category_folded")
    free = [word for word, since in _FREE.items() if year is None or year >= since]
    is_free = category.str.contains(rf"\b(?:{'|'.join(free)})\b") if free else pl.lit(value=False)
    by_severity = pl.col("severity_folded").replace_strict(_SEVERITIES, default=0.0, return_dtype=pl.Float64)
    is_minor_punctuation = (pl.col("severity_folded") == "minor") & category.str.contains(r"^(fluency/)?punctuation")
    errors = errors.with_columns(
        is_no_error=_is_no_error(),
        is_non_translation=category.str.contains(r"(?:^|/)non ?translation\b") & (by_severity > 0),
    )
    group = ["system", *_place(errors), "rater"]
    weight = (
        pl.when(pl.col("is_no_error") | is_free)
        .then(0.0)
        .when(is_minor_punctuation)
        .then(_MINOR_PUNCTUATION)
        .otherwise(by_severity)
    )
    of_none = (
        pl.when(pl.col("is_non_translation") & (pl.col("is_non_translation").cum_sum().over(group) == 1))
        .then(_NON_TRANSLATION)
        .otherwise(0.0)
    )
    return errors.with_columns(
        weight=pl.when(pl.col("is_non_translation").any().over(group)).then(of_none).otherwise(weight),
        judgement=pl.col("line").first().over(group),
    )


def _folded(column: str) -> pl.Expr:
    """A category's path in one spelling: lower case, blanks for hyphens and underscores, no blanks around slashes."""
    return (
        pl.col(column)
        .str.to_lowercase()
        .str.replace_all(r"[\s_\-!]+", " ")
        .str.replace_all(r" */ *", "/")
        .str.strip_chars()
    )


def _is_no_error() -> pl.Expr:
    return pl.col("severity_folded").is_in(_NO_ERROR) | pl.col("category_folded").is_in(["no error", "none"])


def _judgements(errors: pl.DataFrame) -> pl.DataFrame:
    """One judgement for each annotator of a system's segment, named by the line of its first error."""
    return errors.group_by("judgement", maintain_order=True).agg(
        pl.col("line", "system", "rater", *(name for name in _NUMBERS if name in errors.columns)).first(),
        value=0.0 - pl.col("weight").sum().round(DECIMALS),
        n=pl.lit(1),
        status=pl.lit("valid"),
    )


def _ratings(marked: pl.DataFrame) -> pl.DataFrame:
    """Errors in the file's order; spans count characters of the text without its marks, with an exclusive end."""
    marked = marked.with_columns(
        *(pl.lit(None, pl.String).alias(side) for side in ("source", "target") if side not in marked.columns)
    )
    in_source = pl.col("source").str.contains("<v>", literal=True).fill_null(False)
    text = pl.when(in_source).then("source").otherwise("target")
    spans = text.str.extract_groups(r"^(?<before>.*?)<v>(?<inside>.*?)</v>")
    start = spans.struct["before"].str.len_chars()
    has_mark = text.str.contains("<v>", literal=True)
    return marked.select(
        "judgement",
        "category",
        "severity",
        "weight",
        span_start=start,
        span_end=start + spans.struct["inside"].str.len_chars(),
        is_source_error=pl.when(has_mark).then(in_source),
    )


_AVERAGES_FILE = re.compile(
    r"mqm_(?P<testset>[A-Za-z0-9]+)_(?P<lp>[a-z]{4}|[a-z]{2,3}-[a-z]{2,3})\.avg_seg_scores\.tsv"
)
_AVERAGES = ("system", "mqm_avg_score", "seg_id")


class MqmAverageReader(TextReader):
    """Reader of MQM scores of segments, means over their annotators."""

    name = "mqm-averages/1"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        named = _AVERAGES_FILE.fullmatch(path.name)
        if named is None and (not head or tuple(head[0].split()) != _AVERAGES):
            return None
        return claim_mqm(path, self.name, named, given, is_annotation=False)

    def read(self, text: str, faults: list[Fault], claim: Claim, given: LoadHints) -> Records:
        header = text.split("\n", 1)[0]
        if tuple(header.split()) != _AVERAGES:
            found = f"the header {header[:80]!r}"
            return Records(faults=[*faults, Fault(str(claim.path), 1, found, " ".join(_AVERAGES))])
        text = text.replace("\t", " ")
        floats, integers = ("mqm_avg_score",), ("seg_id",)
        table = table_of(text, _AVERAGES, " ", claim.path, faults, n_header=1, floats=floats, integers=integers)
        ((testset, lp),) = claim.evalsets
        scores = table.with_columns(
            *constants(testset=testset, lp=lp, level="seg", kind="human", scorer=claim.human),
            segment="seg_id",
            value="mqm_avg_score",
        )
        return Records(scores=scores, faults=faults)
