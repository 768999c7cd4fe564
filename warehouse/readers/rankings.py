"""Human rankings of outputs, published by WMT from 2007 to 2016 as CSV or XML.

In CSV a row has the systems of a ranking with their ranks, `system1Id` to `systemNId` and `system1rank` to
`systemNrank`: five systems, or two with the number of the pair's ranking (`rankingID`). In XML a
`ranking-result` has a `translation` for each output. Rank 1 is best, equal ranks are ties, -1 is blank. An output
of several systems names all of them, joined by commas (in CSV by `+`): they tie. Segments count through the test set.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.parsers import expat

import polars as pl

from warehouse.errors import Fault
from warehouse.facts.languages import language_named
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.records import Records, TextReader
from warehouse.readers.text.quoted import quoted_table
from warehouse.readers.text.tables import cells_that_are, repeated_faults, whole_numbers
from warehouse.readers.vocabulary import published_output, testset_called, testset_of
from warehouse.wording import counted, option

RANKINGS = "rr"  # the human score that rankings make unless the user names another
_COLUMN = re.compile(r"system(?P<n>[1-9][0-9]?)(?P<what>id|rank)", re.IGNORECASE)
_TEST = re.compile(r"(?P<test>(?:newstest|wmt)(?:20)?\d\d)(?!\d)", re.IGNORECASE)
_REFERENCE = re.compile(r"_?ref([-_.].*)?", re.IGNORECASE)
_BLANK = -1
_LANGUAGES = ("source", "target")


class RankingReader(TextReader):
    """Reader of the rankings of WMT's translation task."""

    name = "wmt-rankings/1"

    def parse(self, data: bytes, claim: Claim, given: LoadHints) -> Records:
        return super().parse(data.replace(b"\r\r\n", b"\n"), claim, given)  # as WMT15's programs ended lines

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        is_xml = any(re.match(r"\s*<(WMT\d\d-results|HIT)\b", line) for line in head[:20])
        columns = [] if is_xml or not head else [cell.strip() for cell in head[0].split(",")]
        if not is_xml and (
            len(_systems(columns)) < 2 or not {"srclang", "trglang"} <= {one.lower() for one in columns}
        ):
            return None
        testset = given.testset or _testset_in(head[:50]) or testset_of(path) or _testset_in([path.name])
        if testset is None:
            return f"rankings of an unknown test set; name it with {option('testset')}"
        human = given.human or RANKINGS
        return Claim(path, self.name, f"{testset}/rankings/{path.name}", testset=testset, human=human)

    def read(self, text: str, faults: list[Fault], claim: Claim, given: LoadHints) -> Records:
        notes: list[str] = []
        is_xml = text.lstrip().startswith("<")
        ranked = _of_xml(text, claim.path, faults, notes) if is_xml else _of_table(text, claim.path, faults)
        ranked = _in_codes(ranked, claim.path, faults)
        if ranked.is_empty():
            return Records(faults=faults, notes=notes)
        preferences = _pairs(ranked, notes)
        assert claim.human is not None
        preferences = preferences.with_columns(
            testset=pl.lit(claim.testset), kind=pl.lit("human"), scorer=pl.lit(claim.human)
        )
        return Records(preferences=preferences, faults=faults, notes=notes)


def _systems(columns: Iterable[str]) -> dict[int, dict[str, str]]:
    """The numbers of systems that have a name and a rank in a table, with the columns of both."""
    found: dict[int, dict[str, str]] = {}
    for column in columns:
        if named := _COLUMN.fullmatch(column):
            found.setdefault(int(named["n"]), {})[named["what"].lower()] = column
    return {number: both for number, both in sorted(found.items()) if len(both) == 2}


def _testset_in(lines: Iterable[str]) -> str | None:
    """The first test set named in some lines, such as newstest2015."""
    found = (_TEST.search(line) for line in lines)
    return next((testset_called(named["test"], Path()) for named in found if named), None)


def _of_table(text: str, path: Path, faults: list[Fault]) -> pl.DataFrame:
    """The outputs ranked in CSV rows: one row per output, with the names of its systems unchanged."""
    columns = [cell.strip() for cell in text.split("\n", 1)[0].split(",")]
    table = quoted_table(text, columns, ",", path, faults, n_header=1)
    by_name = {column.lower(): column for column in columns}
    segment = by_name.get("srcindex") or by_name.get("segmentid")
    if segment is None or len(by_name) < len(columns):
        found = "columns that appear twice" if segment else f"the header {','.join(columns)[:80]!r}"
        faults.append(Fault(str(path), 1, found, "srcIndex, and each column once"))
        return pl.DataFrame()
    systems = _systems(columns)
    ranks = [both["rank"] for both in systems.values()]
    for column in (segment, *ranks):
        table = whole_numbers(table.with_columns(pl.col(column).str.strip_chars()), column, path, faults)
    for rank in ranks:
        is_rank = (pl.col(rank) >= 1) | (pl.col(rank) == _BLANK)
        table = cells_that_are(table, rank, is_rank, "a rank from 1, or -1 for blank", path, faults)
    judge, ranking = by_name.get("judgeid"), by_name.get("rankingid")
    table = table.with_row_index("row").select(
        "line",
        pl.col("row").cast(pl.Int64),
        source=by_name["srclang"],
        target=by_name["trglang"],
        segment=segment,
        rater=pl.col(judge) if judge else pl.lit(None, pl.String),
        ranking_id=pl.col(ranking) if ranking else pl.lit(None, pl.String),
        output=pl.concat_list(
            pl.struct(
                outputs=pl.col(both["id"]).str.replace_all("+", ",", literal=True),
                rank=both["rank"],
            )
            for both in systems.values()
        ),
    )
    return table.explode("output").unnest("output")


class _Rankings:
    """The elements of the XML as rows: one per ranking, and one per output with its ranking's number."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self._parser = parser
        self.rankings: list[tuple[str | None, ...]] = []
        self.outputs: list[tuple[int, int, str | None, str | None]] = []
        self.n_skipped = 0
        self._of_hit: tuple[str | None, ...] = (None, None)
        self._segment: str | None = None

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "translation":
            values = attributes.get("system"), attributes.get("rank")
            self.outputs.append((self._parser.CurrentLineNumber, len(self.rankings), *values))
        elif name == "ranking-result":
            self.rankings.append((*self._of_hit, self._segment, attributes.get("user")))
            self.n_skipped += "skipped" in attributes
        elif name == "ranking-task":
            self._segment = attributes.get("id")
        elif name == "HIT":
            self._of_hit = attributes.get("source-language"), attributes.get("target-language")


def _of_xml(text: str, path: Path, faults: list[Fault], notes: list[str]) -> pl.DataFrame:
    """The outputs ranked in XML: one row per output, with the names of its systems unchanged."""
    parser = expat.ParserCreate()
    found = _Rankings(parser)
    parser.StartElementHandler = found.start
    parser.EntityDeclHandler = _refuse_entity
    try:
        parser.Parse(text, True)
    except (expat.ExpatError, _EntityError) as error:
        line = getattr(error, "lineno", parser.CurrentLineNumber)
        faults.append(Fault(str(path), line, f"broken XML ({error})", "complete elements, without custom entities"))
    texts = dict.fromkeys(("source", "target", "segment", "rater"), pl.String)
    rankings = pl.DataFrame(found.rankings, schema=texts, orient="row").with_columns(
        row=pl.int_range(1, pl.len() + 1, dtype=pl.Int64), ranking_id=pl.lit(None, pl.String)
    )
    of_outputs = {"line": pl.Int64, "row": pl.Int64, "outputs": pl.String, "rank": pl.String}
    outputs = pl.DataFrame(found.outputs, schema=of_outputs, orient="row")
    table = outputs.join(rankings, on="row", how="left", maintain_order="left")
    for column in ("segment", "rank"):
        table = whole_numbers(table.with_columns(pl.col(column).fill_null("")), column, path, faults)
    is_rank = (pl.col("rank") >= 1) | (pl.col("rank") == _BLANK)
    if found.n_skipped:
        notes.append(f"{counted(found.n_skipped, 'ranking')} skipped by the annotator")
    return cells_that_are(table, "rank", is_rank, "a rank from 1, or -1 for blank", path, faults)


class _EntityError(ValueError):
    """An XML file declares entities, which the published ones never do and which can grow without end."""


def _refuse_entity(*_: object) -> None:
    raise _EntityError("it declares an entity")


def _in_codes(ranked: pl.DataFrame, path: Path, faults: list[Fault]) -> pl.DataFrame:
    """Rows with their language pair in WMT's codes; unknown languages are faults."""
    if ranked.is_empty():
        return ranked
    for side in _LANGUAGES:
        codes = {name: language_named(name) for name in ranked[side].unique().to_list() if name is not None}
        known = {name: code for name, code in codes.items() if code is not None}
        unknown = ranked.filter(~pl.col(side).is_in(list(known)) | pl.col(side).is_null())
        unknown = unknown.unique("line", keep="first", maintain_order=True)
        faults += repeated_faults(unknown, side, "language {!r}", "a language such as Czech, ces or cs", path)
        code = pl.col(side).replace_strict(known, default=None, return_dtype=pl.String)
        ranked = ranked.with_columns(code.alias(side)).filter(pl.col(side).is_not_null())
    return ranked.with_columns(lp=pl.concat_str("source", pl.lit("-"), "target"))


def _pairs(ranked: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """All pairs of the systems of each ranking, in the order in which they are written.

    Blank ranks, references and a system compared with itself make no pairs and are counted.
    """
    of_one = ("lp", "segment", "rater")
    is_blank = pl.col("rank") == _BLANK
    n_rankings = ranked["row"].n_unique()
    n_blank = ranked.select(is_blank.sum()).item()
    names = (
        ranked.filter(~is_blank)
        .with_columns(pl.col("outputs").str.split(","))
        .with_columns(place=pl.int_range(pl.len()))
    )
    if ranked["ranking_id"].null_count() < ranked.height:
        numbers = ranked.select(*of_one, "ranking_id").unique(maintain_order=True).with_row_index("ranking", 1)
        names = names.join(numbers, on=[*of_one, "ranking_id"], nulls_equal=True, maintain_order="left")
    else:
        numbers = ranked.select("row").unique(maintain_order=True).with_row_index("ranking", 1)
        names = names.join(numbers, on="row", maintain_order="left")
    single = names.explode("outputs").rename({"outputs": "spelling"}).with_columns(pl.col("spelling").str.strip_chars())
    systems = _systems_called(single)
    single = single.join(systems, on=["lp", "spelling"], maintain_order="left")
    is_reference = pl.col("system").str.contains(f"^(?i:{_REFERENCE.pattern})$")
    n_references = single.select(is_reference.sum()).item()
    single = single.filter(~is_reference).with_columns(at=pl.int_range(pl.len()))
    sides = single.select("row", "ranking", "place", "at", "system", "rank", *of_one, "line")
    other = sides.select("row", system_b="system", place_b="place", at_b="at", rank_b="rank")
    pairs = sides.join(other, on="row", maintain_order="left_right").filter(pl.col("at") < pl.col("at_b"))
    n_itself = pairs.filter(pl.col("system") == pl.col("system_b")).height
    pairs = pairs.filter(pl.col("system") != pl.col("system_b")).with_columns(
        answer=pl.when(pl.col("rank") < pl.col("rank_b"))
        .then(pl.lit("a"))
        .when(pl.col("rank") > pl.col("rank_b"))
        .then(pl.lit("b"))
        .otherwise(pl.lit("tie")),
        is_same_output=pl.col("place") == pl.col("place_b"),
    )
    if ranked["ranking_id"].null_count() < ranked.height:  # an output of several systems is in several pairs
        again = pairs.select(pl.struct("ranking", "system", "system_b").is_duplicated() & pl.col("is_same_output"))
        first = pl.struct("ranking", "system", "system_b").is_first_distinct()
        pairs = pairs.filter(~again.to_series() | first)
    n_same = pairs.select(pl.col("is_same_output").sum()).item()
    raters = counted(ranked["rater"].n_unique(), "annotator")
    said = [f"{counted(pairs['ranking'].n_unique(), 'ranking')} by {raters}, {counted(pairs.height, 'pair')}"]
    said += [f"{counted(n_same, 'pair')} of systems with the same output, which tie"] if n_same else []
    said += [f"{counted(n_blank, 'blank rank')} not read"] if n_blank else []
    said += [f"{counted(n_references, 'rank')} of references not read"] if n_references else []
    said += [f"{counted(n_itself, 'pair')} of a system with itself not read"] if n_itself else []
    if n_without := n_rankings - pairs["row"].n_unique():
        said.append(f"{counted(n_without, 'row')} without a pair")
    notes.append("; ".join(said))
    return pairs.select(
        "line",
        *of_one,
        pl.col("ranking").cast(pl.Int64),
        pl.col("system").alias("system_a"),
        "system_b",
        "answer",
        "is_same_output",
    )


def _systems_called(single: pl.DataFrame) -> pl.DataFrame:
    """lp, spelling, system: names without the test set, the language pair and the number of a submission.

    The number is kept if two systems of a language pair differ only in it.
    """
    rows = [
        (lp, spelling, *published_output(spelling))
        for lp, spelling in single.select("lp", "spelling").unique().sort("lp", "spelling").iter_rows()
    ]
    schema = dict.fromkeys(("lp", "spelling", "system", "numbered"), pl.String)
    names = pl.DataFrame(rows, schema=schema, orient="row")
    is_one = pl.col("numbered").n_unique().over("lp", "system") == 1
    return names.select("lp", "spelling", system=pl.when(is_one).then("system").otherwise("numbered"))
