"""Rows of score files in one form for all formats, as record readers return them.

A row names its evaluation set, scorer, system and place in the file's spelling. Spellings are resolved later, for all
files of an evaluation set together.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from warehouse.errors import Fault
from warehouse.facts.human_protocols import HIGHEST, LOWEST, is_from_0_to_100
from warehouse.facts.languages import language_pair_called
from warehouse.names import LEVELS, Numbering, is_language_pair
from warehouse.readers.claims import Claim, EvalsetKey, LoadHints
from warehouse.readers.text.tables import (
    MISSING,
    NORMALISED,
    UNREADABLE,
    line_faults,
    more_lines,
    text_of,
    with_visible_names,
)
from warehouse.wording import counted, option

_EVALSET = ("testset", "lp")
_BY_DOCUMENT = f"load it with {option('numbering', 'document')} if they count within the document"
_EITHER = (
    f"load it with {option('numbering', 'testset')}, or with {option('numbering', 'document')} if they do count within "
    "the document"
)


def numbered(rows: pl.DataFrame, numbering: Numbering | None) -> pl.DataFrame:
    """The rows with the user's numbering of segments in place of the reader's."""
    if numbering is None or rows.is_empty():
        return rows
    is_by_document = pl.col("document").is_not_null() & (
        pl.col("index").is_not_null() | pl.col("segment").is_not_null()
    )
    number = pl.coalesce("index", "segment") if numbering == "document" else pl.coalesce("segment", "index")
    is_changed = is_by_document & pl.col("index" if numbering == "testset" else "segment").is_not_null()
    empty = pl.lit(None, pl.Int64)
    places = {"index": number, "segment": empty} if numbering == "document" else {"index": empty, "segment": number}
    return rows.with_columns(
        pl.when(is_changed).then(place).otherwise(pl.col(name)).alias(name) for name, place in places.items()
    )


def numbering_faults(rows: pl.DataFrame, path: Path, numbering: Numbering | None) -> list[Fault]:
    """Faults of segment numbers that contradict their numbering. numbering: stated by the user."""
    rows = rows.filter(pl.col("document").is_not_null())
    if rows.is_empty():
        return []
    if "status" in rows.columns:
        rows = rows.filter(pl.col("status") == "valid")
    domains = rows.filter(pl.col("domain").is_not_null())
    rows = rows.select("line", *_EVALSET, "document", "segment", "index")
    return (
        _several_domains(domains, path)
        or _several_documents(rows, path)
        or (_without_restart(rows, path) if numbering is None else [])
    )


def _several_domains(rows: pl.DataFrame, path: Path) -> list[Fault]:
    """The fault of the first document in two domains of a file."""
    documents = rows.group_by(*_EVALSET, "document").agg(pl.col("line").min(), pl.col("domain").unique().sort())
    several = documents.filter(pl.col("domain").list.len() > 1).sort("line")
    if several.is_empty():
        return []
    line, document, (one, other, *_) = several.select("line", "document", "domain").row(0)
    way_out = "if these are two documents, include the domain in their names"
    found = f"document {document!r} in domain {one!r} and in {other!r}"
    return [Fault(str(path), line or 0, found, "one domain for each document", way_out)]


def _several_documents(rows: pl.DataFrame, path: Path) -> list[Fault]:
    """The fault of one segment number of the test set in two documents of a file."""
    segments = rows.filter(pl.col("segment").is_not_null())
    several = segments.group_by(*_EVALSET, "segment").agg(
        pl.col("line").min(), pl.col("document").unique().sort(), n=pl.col("document").n_unique()
    )
    several = several.filter(pl.col("n") > 1).sort("line")
    if several.is_empty():
        return []
    first = several.row(0, named=True)
    found = f"segment {first['segment']} of document {first['document'][0]!r} and of {first['document'][1]!r}"
    more = "" if several.height == 1 else f", and {several.height - 1} more such segments"
    return [Fault(str(path), first["line"] or 0, found + more, "numbers that count within the test set", _BY_DOCUMENT)]


def _without_restart(rows: pl.DataFrame, path: Path) -> list[Fault]:
    """The fault of numbers within three or more documents that share none, if at most one document begins at 1."""
    places = rows.filter(pl.col("index").is_not_null() & pl.col("segment").is_null())
    documents = places.group_by(*_EVALSET, "document").agg(
        pl.col("line").min(), least=pl.col("index").min(), n=pl.col("index").n_unique()
    )
    of_evalsets = places.group_by(_EVALSET).agg(n_numbers=pl.col("index").n_unique())
    per_evalset = documents.group_by(_EVALSET).agg(
        pl.len(),
        pl.col("n").sum(),
        pl.col("least").max(),
        pl.col("line", "document").sort_by("least").last(),
        n_begun=(pl.col("least") == 1).sum(),
    )
    wrong = per_evalset.join(of_evalsets, on=_EVALSET).filter(
        (pl.col("len") > 2) & (pl.col("n") == pl.col("n_numbers")) & (pl.col("n_begun") < 2)
    )
    expected = "numbers that restart in each document"
    return [
        Fault(str(path), line or 0, f"document {document!r} begins with segment {least}", expected, _EITHER)
        for line, document, least in wrong.sort("line").select("line", "document", "least").iter_rows()
    ]


Kind = pl.DataType | type[pl.DataType]

MOST_SEGMENTS = 2**31 - 1
FEW_ROWS = 20_000  # scores of one evaluation set that a load keeps in memory, not on disk, until it is written
_NAMES = (
    "testset",
    "lp",
    "scorer",
    "reference",
    "system",
    "system_a",
    "system_b",
    "rater",
    "item",
    "domain",
    "document",
)
_NO_NAMES = (*MISSING, "N/A", "#N/A", "#NAME?", "#REF!", "#VALUE!")  # the last ones are spreadsheets' errors
_ENDING = ".txt"  # of a system's output
_SUMMARIES = ("mean", "average", "avg", "median", "overall", "total", "all systems")
TUTORIAL = "tutorial"  # status of judgements of texts that no system made


@dataclass(eq=False)
class Records:
    """The rows of one file. Optional columns may be missing from frames; `normal` adds them.

    scores: line (in the file, from 1), testset, lp, level (sys, domain, doc, seg), kind (metric, human), scorer
        (base name of a metric, or name of a human score), reference (used by the metric; null if reference-free and
        for human scores), system; at level domain the domain, at level doc the document, at level seg either
        segment (line of the test set, from 1) or document and index (from 1 within the document), or both;
        value (null: missing, with a row of its own), is_negated (the reader negated it, so that higher is better),
        is_derived (computed from marked errors, because the file has no other value).
    judgements: judgement (number within the file), line, testset, lp, kind (null: human), scorer, reference, system,
        the place of the segment, rater, item, value, n (number of judgements in the value), time (UTC), status
        (`valid`, or why it does not count in the score). For a metric, a row is a prediction of error spans without a
        value; an output without a row has no prediction, which differs from a prediction without errors.
    ratings: judgement, category, severity, weight, span_start, span_end, is_source_error; in the file's order.
    segments: testset, lp, segment, domain, document, index: all segments that the file declares.
    preferences: line, testset, lp, kind, scorer, reference, the place of the segment, ranking (number within the file),
        system_a, system_b, rater, answer (a, b, tie), is_same_output; `normal` scores them, see `win_shares`.
    scores_from_judgements: human scores are the means of the valid judgements, even if several files have judgements
        of one system.
    Completed records (see `normal`) also have
    labels: one row for all scores of one system by one scorer: testset, lp, level, kind, scorer, reference, system, the
        first line, n and n_values (rows, and those with a value), least (the lowest value).
    places: one row for all scores of one place by metrics or by people: testset, lp, level, kind, domain, document,
        segment, index, the first line.
    on_disk: the scores of a table that is read in pieces; `scores` is then None.
    """

    scores: pl.DataFrame | None = None
    judgements: pl.DataFrame | None = None
    ratings: pl.DataFrame | None = None
    segments: pl.DataFrame | None = None
    preferences: pl.DataFrame | None = None
    scores_from_judgements: bool = False
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    labels: pl.DataFrame | None = None
    places: pl.DataFrame | None = None
    on_disk: pl.LazyFrame | None = None

    @property
    def rows(self) -> pl.LazyFrame:
        """The scores, in memory or on disk; of completed records."""
        if self.on_disk is not None:
            return self.on_disk
        assert self.scores is not None
        return self.scores.lazy()

    def normal(self, path: Path, numbering: Numbering | None = None, *, is_piece: bool = False) -> "Records":
        """Every frame with all its columns, checked; rows that break the rules become faults.

        numbering: what segment numbers count within, as stated by the user. is_piece: only some of the file's scores,
        which do not show how the file numbers segments.
        """
        faults, notes = list(self.faults), list(self.notes)
        scores, judgements, ratings, segments, preferences = (
            _completed(getattr(self, name), columns(name))
            for name in ("scores", "judgements", "ratings", "segments", "preferences")
        )
        if not preferences.is_empty():
            preferences = _with_pairs(numbered(with_visible_names(preferences, _NAMES)[0], numbering))
            scores = pl.concat([scores, _completed(win_shares(preferences), columns("scores"))])
        if faults:
            scores, judgements, segments = (readable_rows(frame) for frame in (scores, judgements, segments))
        (scores, n_scores), (judgements, n_judgements), (segments, n_segments) = (
            with_visible_names(frame, _NAMES) for frame in (scores, judgements, segments)
        )
        if n_changed := n_scores + n_judgements + n_segments:
            notes.append(f"{counted(n_changed, 'name')} {NORMALISED}")
        scores, judgements, segments = (_with_pairs(frame) for frame in (scores, judgements, segments))
        scores, judgements, more = _of_systems(scores, judgements)
        notes += more
        scores, judgements = (numbered(frame, numbering) for frame in (scores, judgements))
        for frame in (scores, judgements, segments):
            faults += _wrong_rows(frame, path)
        if ratings["weight"].null_count() == ratings.height:  # else scores are sums of marked errors
            for frame in (scores, judgements):
                faults += _beyond_scale(frame, path)
        scores, judgements = (_with_names(frame) for frame in (scores, judgements))
        scores = scores.with_columns(
            _without_negative_zero("value"), pl.col("is_negated", "is_derived").fill_null(False)
        )
        labels, places = labels_of(scores), places_of(scores)
        for frame in () if is_piece else (places, judgements):
            faults += numbering_faults(frame, path, numbering)
        return Records(
            scores=scores,
            judgements=judgements.with_columns(_without_negative_zero("value"), pl.col("kind").fill_null("human")),
            ratings=ratings,
            segments=segments,
            preferences=preferences,
            scores_from_judgements=self.scores_from_judgements,
            faults=faults,
            notes=notes,
            labels=labels,
            places=places,
        )

    def of(self, evalset: EvalsetKey) -> "Records":
        """The rows of one evaluation set, without the faults of the file; of completed records."""
        return self.of_each([evalset])[evalset]

    def of_each(self, evalsets: Sequence[EvalsetKey]) -> dict[EvalsetKey, "Records"]:
        """`of` for some evaluation sets, which takes as long for a hundred small ones as for one."""
        assert self.labels is not None
        assert self.ratings is not None
        names = ("scores", "judgements", "segments", "preferences", "labels", "places")
        frames: dict[str, dict[EvalsetKey, Any]] = {name: _split(getattr(self, name), evalsets) for name in names}
        n_scores = {key: int(labels["n"].sum()) for key, labels in frames["labels"].items()}
        few = [key for key in evalsets if self.on_disk is not None and n_scores[key] <= FEW_ROWS]
        if self.on_disk is not None and few:
            rows = _only(self.on_disk, few).collect(engine="streaming").sort("line", maintain_order=True)
            frames["scores"] |= _split(rows, few)
        found = {}
        for key in evalsets:
            here = {name: frames[name][key] for name in names}
            on_disk = None if self.on_disk is None or key in few else _only(self.on_disk, [key])
            ratings = self.ratings
            if not ratings.is_empty():
                ratings = ratings.join(here["judgements"], on="judgement", how="semi", maintain_order="left")
            found[key] = replace(self, **here, ratings=ratings, faults=[], on_disk=on_disk)
        return found

    @property
    def evalsets(self) -> tuple[EvalsetKey, ...]:
        """The evaluation sets that rows name, sorted; of completed records (see `normal`)."""
        frames = (frame for frame in (self.labels, self.judgements, self.segments) if frame is not None)
        found = {key for frame in frames for key in frame.select("testset", "lp").unique().iter_rows()}
        return tuple(sorted(key for key in found if None not in key))


def _only(rows: pl.LazyFrame, evalsets: Sequence[EvalsetKey]) -> pl.LazyFrame:
    """The rows of evaluation sets. Files on disk are only read where such names can be."""
    keys = pl.LazyFrame(evalsets, dict.fromkeys(_EVALSET, pl.String), orient="row")
    named = zip(_EVALSET, zip(*evalsets, strict=True), strict=True)
    ends = ((pl.col(column), pl.lit(min(names)), pl.lit(max(names))) for column, names in named)
    near = rows.filter(*(column.is_between(first, last) for column, first, last in ends))
    return near if len(evalsets) == 1 else near.join(keys, on=_EVALSET, how="semi", maintain_order="left")


def _split(rows: pl.DataFrame | None, evalsets: Sequence[EvalsetKey]) -> dict[EvalsetKey, pl.DataFrame | None]:
    """The rows of each evaluation set; without any, the empty frame."""
    if rows is None or rows.is_empty():
        return dict.fromkeys(evalsets, rows)
    here = _only(rows.lazy(), evalsets).collect(engine="in-memory")
    parts = here.partition_by(_EVALSET, as_dict=True, maintain_order=True)
    return {key: parts.get(key, rows.clear()) for key in evalsets}


_LABEL = (*_EVALSET, "level", "kind", "scorer", "reference", "system")
_PLACE = (*_EVALSET, "level", "kind", "domain", "document", "segment", "index")


def labels_of(scores: pl.DataFrame) -> pl.DataFrame:
    """The `labels` of completed scores, in the order of their first rows."""
    value = pl.col("value")
    counts = {"n": pl.len(), "n_values": value.count(), "least": value.min()}
    return scores.group_by(_LABEL, maintain_order=True).agg(pl.col("line").min(), **counts)


def places_of(scores: pl.DataFrame) -> pl.DataFrame:
    """The `places` of completed scores, in the order of their first rows."""
    return scores.group_by(_PLACE, maintain_order=True).agg(pl.col("line").min())


class TextReader(ABC):
    """Base class of readers of text files."""

    def parse(self, data: bytes, claim: Claim, given: LoadHints) -> Records:
        """The rows of the whole file; none if all lines are damaged."""
        text, faults = text_of(data, claim.path)
        return self.read(text, faults, claim, given) if text else Records(faults=faults)

    @abstractmethod
    def read(self, text: str, faults: list[Fault], claim: Claim, given: LoadHints) -> Records:
        """The rows of a text with perhaps some damaged lines. faults: of the damaged lines."""


def columns(name: str) -> Mapping[str, Kind]:
    """The columns of one frame of completed records, with their types."""
    texts, numbers = ("testset", "lp", "system", "domain", "document"), ("index", "segment")
    place: Mapping[str, Kind] = {"line": pl.Int64} | dict.fromkeys(texts, pl.String) | dict.fromkeys(numbers, pl.Int64)
    scored = dict.fromkeys(("kind", "scorer", "reference"), pl.String) | {"value": pl.Float64}
    if name == "scores":
        return {**place, "level": pl.String, **scored, "is_negated": pl.Boolean, "is_derived": pl.Boolean}
    if name == "judgements":
        of_one = {"judgement": pl.Int64, **scored, **dict.fromkeys(("rater", "item", "status"), pl.String)}
        return {**place, **of_one, "n": pl.Int64, "time": pl.Datetime("us")}
    if name == "preferences":
        of_pair = dict.fromkeys(("kind", "scorer", "reference", "system_a", "system_b", "rater", "answer"), pl.String)
        numbered_place = {column: kind for column, kind in place.items() if column != "system"}
        return {**numbered_place, **of_pair, "ranking": pl.Int64, "is_same_output": pl.Boolean}
    if name == "segments":
        return {column: kind for column, kind in place.items() if column not in ("line", "system")}
    marks = {"category": pl.String, "severity": pl.String, "weight": pl.Float64}
    return {"judgement": pl.Int64, **marks, "span_start": pl.Int64, "span_end": pl.Int64, "is_source_error": pl.Boolean}


def win_shares(preferences: pl.DataFrame) -> pl.DataFrame:
    """Segment scores from preferences: the share of comparisons that an output won; ties count half."""
    won = pl.col("answer").replace_strict({"a": 1.0, "tie": 0.5, "b": 0.0}, default=None, return_dtype=pl.Float64)
    of_one = ("testset", "lp", "kind", "scorer", "reference", "system", "domain", "document", "segment", "index")
    sides = pl.concat(
        [
            preferences.with_columns(system="system_a", won=won).select("line", *of_one, "won"),
            preferences.with_columns(system="system_b", won=1.0 - won).select("line", *of_one, "won"),
        ]
    )
    shares = sides.group_by(of_one, maintain_order=True).agg(pl.col("line").min(), value=pl.col("won").sort().mean())
    return shares.with_columns(level=pl.lit("seg"))


def _with_pairs(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with language pairs in WMT's codes."""
    pairs = {lp: language_pair_called(lp) for lp in frame["lp"].unique().drop_nulls().to_list()}
    return frame.with_columns(pl.col("lp").replace(pairs))


def _of_systems(scores: pl.DataFrame, judgements: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, list[str]]:
    """The rows with system names without file endings, and notes on changed names."""
    named = pl.concat([scores.select("system"), judgements.select("system")]).drop_nulls().unique()["system"]
    ending = [name for name in named if name.lower().endswith(_ENDING) and len(name) > len(_ENDING)]
    notes = [f"{_ENDING} removed from {counted(len(ending), 'system name')}"] if ending else []
    called = {name: name[: -len(_ENDING)] for name in ending}
    summaries = [name for name in named if name.lower() in _SUMMARIES]
    frames = []
    for frame in (scores, judgements):
        is_summary = pl.col("system").is_in(summaries).fill_null(False)
        if ending:
            frame = frame.with_columns(pl.col("system").replace(called))
        if summaries and (n := frame.filter(is_summary).height):
            notes.append(f"{counted(n, 'row')} of {', '.join(sorted(summaries))} in place of a system not read")
            frame = frame.filter(~is_summary)
        frames.append(frame)
    return frames[0], frames[1], notes


def _without_negative_zero(column: str) -> pl.Expr:
    return pl.when(pl.col(column) == 0).then(0.0).otherwise(pl.col(column)).alias(column)


def _completed(frame: pl.DataFrame | None, schema: Mapping[str, Kind]) -> pl.DataFrame:
    if frame is None:
        return pl.DataFrame(schema=schema)
    return frame.select(
        pl.col(name).cast(kind) if name in frame.columns else pl.lit(None, dtype=kind).alias(name)
        for name, kind in schema.items()
    )


def readable_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of a damaged file whose names are whole."""
    names = [name for name in ("testset", "lp", "system", "scorer") if name in frame.columns]
    is_damaged = pl.any_horizontal(pl.col(name).str.contains(UNREADABLE, literal=True) for name in names)
    return frame.filter(~is_damaged.fill_null(False))


def _beyond_scale(frame: pl.DataFrame, path: Path) -> list[Fault]:
    """The faults of direct assessments outside their scale."""
    scorers = [name for name in frame["scorer"].unique().drop_nulls() if is_from_0_to_100(name)]
    is_human = pl.col("kind").fill_null("human") == "human"
    wrong = frame.filter(pl.col("scorer").is_in(scorers) & is_human & ~pl.col("value").is_between(LOWEST, HIGHEST))
    cells = wrong.unique("line", keep="first", maintain_order=True).with_columns(pl.col("line").fill_null(0))
    expected = "a direct assessment from 0 to 100"
    return line_faults(cells.select("line", "value"), "score {}".format, expected, path, "scale")


def _with_names(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows that name a system and a scorer; the others are faults already."""
    names = pl.col("system", "scorer")
    return frame.filter(pl.all_horizontal(names.is_not_null() & ~names.is_in(_NO_NAMES)))


@dataclass(frozen=True)
class _Check:
    """A check for invalid rows, with the words of its fault; quoted: the column whose value the fault names.

    is_once: one fault for all rows of the file, with the line of the first.
    """

    found: str
    expected: str
    is_wrong: pl.Expr
    quoted: str | None = None
    is_once: bool = False

    def words(self, *cells: object) -> str:
        return " ".join([self.found, *map(repr, cells)])


def _checks(frame: pl.DataFrame) -> list[_Check]:
    """The checks of rows: names, a known level and language pair, and a place if one is needed."""
    checks = []
    for name in ("testset", "lp", "system", "scorer"):
        if name in frame.columns:
            lacks = pl.col(name).is_null() | pl.col(name).is_in(_NO_NAMES)
            checks.append(_Check(f"no {name}", f"a {name}", lacks))
    for name in ("testset", "system", "scorer", "document"):
        if name in frame.columns:
            cell = pl.col(name)
            is_left = cell.str.count_matches('"', literal=True) % 2 == 1  # where quotes were not read as such
            is_left |= cell.str.starts_with('"') & cell.str.ends_with('"')
            checks.append(_Check(name, "a name without an unpaired or enclosing double quote", is_left, name))
    pairs = [lp for lp in frame["lp"].unique().to_list() if lp is not None and not is_language_pair(lp)]
    checks.append(_Check("language pair", "one such as en-de", pl.col("lp").is_in(pairs), "lp"))
    is_unplaced = pl.col("segment").is_null() & (pl.col("document").is_null() | pl.col("index").is_null())
    lacks_place = is_unplaced & pl.col("index").is_null()
    if "level" in frame.columns:
        level = pl.col("level")
        checks.append(_Check("unknown level", f"one of {', '.join(LEVELS)}", ~level.is_in(LEVELS), "level"))
        checks.append(_Check("no segment", "its number, or document and index", lacks_place & (level == "seg")))
        checks.append(_Check("no document", "one", pl.col("document").is_null() & (level == "doc")))
        checks.append(_Check("no domain", "one", pl.col("domain").is_null() & (level == "domain")))
    elif "status" in frame.columns:
        checks.append(_Check("no segment", "its number, or document and index", lacks_place))
    else:
        checks.append(_Check("no segment", "its number", pl.col("segment").is_null()))
    limit = (pl.col("segment") < 0) | (pl.col("segment") > MOST_SEGMENTS) | (pl.col("index") < 0)
    checks.append(_Check("a segment number out of range", "a number from 1", limit))
    is_zero = (pl.col("segment") == 0) | (pl.col("index") == 0)
    checks.append(_Check("segment numbers that begin at 0", "segment numbers from 1", is_zero, is_once=True))
    expected = "a 'document' column, or 'segment' with numbers in the test set"
    found = "an 'index' column without a 'document' column"
    checks.append(_Check(found, expected, is_unplaced & (pl.col("index") > 0), is_once=True))
    return checks


def _wrong_rows(frame: pl.DataFrame, path: Path) -> list[Fault]:
    """The faults of rows that fail a check."""
    if frame.is_empty():
        return []
    checks = _checks(frame)
    if not frame.select(pl.any_horizontal(check.is_wrong.fill_null(False) for check in checks).any()).item():
        return []
    faults: list[Fault] = []
    for check in checks:
        wrong = frame.filter(check.is_wrong.fill_null(False))
        if "line" in wrong.columns:
            wrong = wrong.unique("line", keep="first", maintain_order=True)
        line = pl.col("line").fill_null(0) if "line" in wrong.columns else pl.lit(0)
        cells = wrong.with_columns(line=line).select("line", *([check.quoted] if check.quoted else ()))
        if check.is_once:
            first = cells["line"].head(1)
            found = check.found + more_lines(cells.height - 1)
            faults += [Fault(str(path), line, found, check.expected) for line in first]
            continue
        faults += line_faults(cells, check.words, check.expected, path, check.found)
    return faults
