"""A user's scores in a long table: one score per row, with named columns."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from warehouse.errors import Fault
from warehouse.facts.languages import language_pair, language_pair_called
from warehouse.facts.metrics import describe
from warehouse.facts.testsets import TestsetFacts, facts, facts_beside
from warehouse.names import REFERENCE_FREE
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.records import Records
from warehouse.readers.text.bytes import PARQUET
from warehouse.readers.text.named_columns import (
    ERRORS,
    Header,
    has_reference_texts,
    header_of,
    is_large,
    placed,
    table_under,
    tables_under,
    unread,
    without_reference_texts,
)
from warehouse.readers.text.tables import cells_that_are, numbers
from warehouse.readers.vocabulary import published_testset, reference_called, standard_reference, testset_of
from warehouse.wording import NO_LP, counted, option

_PARTITION = re.compile(r"(?P<key>testset|lp)=(?P<value>.+)")
_HUMAN = re.compile(r"(mqm|esa|da|sqm|da-sqm|wmt|wmt-.+|appraise|wmt-appraise.*|human|humans)([-_].*)?", re.IGNORECASE)
_OF_METRICS = re.compile(r"gemba|comet|bleu|chrf|metricx|kiwi|yisi|bertscore|gpt|llm", re.IGNORECASE)
_VARIANT = re.compile(r"(?P<base>.+)-(?P<reference>src|ref[A-Z]?(\.ref[A-Z])*|all|synthetic_ref|postedit[A-Z]?)")
_SAYS_WHAT = ("scorer", "metric", "human")


class LongTableReader:
    """Reader of tables with a column of systems, a column of scores, and columns that describe the scores."""

    name = "long-table/3"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        header = header_of(path, head, given.system)
        if header is None or "value" not in header.known:
            return None
        if header.form == "text" and not any(head[1:]):
            return "column names but no scores"
        way_out = f"add a column 'metric', or name a human score with {option('human')}"
        return claim_of_named(path, self.name, header, given, _SAYS_WHAT, f"scores of an unnamed metric; {way_out}")

    def parse(self, data: bytes, claim: Claim, given: LoadHints) -> Records:
        header, table, faults = opened(data, claim)
        if header is None or table.is_empty():
            return Records(faults=faults)
        table, more = _named(table, given, claim.path)
        faults += more
        scores, notes = self._scores(table, set(table["named"].unique().drop_nulls()), header, claim, given, faults)
        return records_of(scores, header, claim.path, faults, notes)

    def pieces(self, claim: Claim, given: LoadHints) -> Iterator[Records] | None:
        """The scores of a large table, piece by piece; None for one that `parse` reads whole.

        That is a small one, and one whose scores are means over annotators or runs. Scorers without any score in an
        evaluation set keep their rows, see `where_scored`. Raises OSError.
        """
        with claim.path.open("rb") as file:
            header = _header(file.read(65536), claim)
        if header is None or {"rater", "run"}.intersection(header.known) or not is_large(header, claim.path):
            return None
        return self._pieces(header, claim, given)

    def _pieces(self, header: Header, claim: Claim, given: LoadHints) -> Iterator[Records]:
        all_names: set[str] = set()
        is_of_texts = False
        if given.metric is not None or "reference" in header.known:
            for table, _ in tables_under(header, claim.path):
                names = (table[name].unique().drop_nulls() for name in _SAYS_WHAT if name in table.columns)
                all_names.update(*names)
                is_of_texts |= has_reference_texts(table)
        for table, faults in tables_under(header, claim.path):
            table = without_reference_texts(table) if is_of_texts else table
            table = of_one_system(table, claim, faults)
            if table.is_empty():
                yield Records(faults=faults)
                continue
            table, more = _named(table, given, claim.path)
            faults += more
            here = set(table["named"].unique().drop_nulls())
            scores, notes = self._scores(table, all_names or here, header, claim, given, faults)
            scores, _ = with_runs(scores)
            yield Records(scores=scores, faults=faults, notes=notes)

    def _scores(
        self,
        table: pl.DataFrame,
        all_names: Collection[str],
        header: Header,
        claim: Claim,
        given: LoadHints,
        faults: list[Fault],
    ) -> tuple[pl.DataFrame, list[str]]:
        """The selected rows of a table, and notes on columns and rows that are not read; further faults go to `faults`.

        all_names: of all rows of the file.
        """
        scores, chosen = _chosen(table, all_names, with_place(given, claim.path), claim.path)
        faults += chosen
        notes = unread(header.unknown, header.columns)
        return scores, notes if faults else notes + _of_others(table.height - scores.height)


def records_of(scores: pl.DataFrame, header: Header, path: Path, faults: list[Fault], notes: Sequence[str]) -> Records:
    """Records of the rows of a table; human scores of annotators (`rater`) are judgements; scores are their means."""
    scores, of_runs = with_runs(scores)
    notes = [*notes, *of_runs]
    scores, of_gaps = where_scored(scores)
    notes = [*notes, *of_gaps]
    is_judged = (pl.col("kind") == "human") & pl.col("rater").is_not_null().any().over("kind", "scorer")
    if "rater" not in scores.columns or not scores.select(is_judged.any()).item():
        no_humans = [
            f"{unread([name], header.columns)[0]} (no human scores)" for name in [header.known.get("rater")] if name
        ]
        return Records(scores=scores, faults=faults, notes=[*notes, *no_humans])
    judged = cells_that_are(
        scores.filter(is_judged), "rater", pl.col("rater").is_not_null(), "an annotator in each row", path, faults
    )
    once = judged.unique([name for name in judged.columns if name != "line"], keep="first", maintain_order=True)
    if n_repeated := judged.height - once.height:
        notes.append(f"{counted(n_repeated, 'repeated row')}, loaded once")
    of_one = ["testset", "lp", "scorer", "system", "document", "segment", "index", "rater"]
    if n_again := once.height - once.select(of_one).unique().height:
        notes.append(f"{counted(n_again, 'judgement')} of outputs that the annotator had judged before; both count")
    judgements = once.with_columns(judgement=pl.int_range(1, pl.len() + 1), n=pl.lit(1), status=pl.lit("valid"))
    return Records(
        scores=scores.filter(~is_judged),
        judgements=judgements,
        scores_from_judgements=True,
        faults=faults,
        notes=[*notes, f"{counted(once.height, 'judgement')} by {counted(once['rater'].n_unique(), 'annotator')}"],
    )


def with_runs(scores: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The rows with versions and runs in their metrics' names, rows with a metric's mean over its runs, and a note.

    scores: optionally with columns version and run, which apply to metrics only.
    """
    is_metric = pl.col("kind") == "metric"
    if "version" in scores.columns:
        versioned = pl.format("{}:{}", "scorer", "version")
        is_versioned = is_metric & pl.col("version").is_not_null()
        scores = scores.with_columns(scorer=pl.when(is_versioned).then(versioned).otherwise("scorer"))
    if "run" not in scores.columns:
        return scores, []
    is_run = is_metric & pl.col("run").is_not_null()
    runs = scores.filter(is_run)
    if runs.is_empty():
        return scores, []
    place = (
        "testset",
        "lp",
        "level",
        "kind",
        "scorer",
        "reference",
        "system",
        "domain",
        "document",
        "segment",
        "index",
    )
    keys = [name for name in place if name in runs.columns]
    means = runs.group_by(keys, maintain_order=True).agg(pl.col("line").min(), pl.col("value").mean())
    named = scores.with_columns(scorer=pl.when(is_run).then(pl.format("{}@{}", "scorer", "run")).otherwise("scorer"))
    n_runs = runs.group_by("scorer", maintain_order=True).agg(pl.col("run").n_unique())
    said = ", ".join(f"{name} ({counted(n, 'run')})" for name, n in n_runs.iter_rows())
    return pl.concat([named, means], how="diagonal"), [f"means over runs, and single runs as NAME@RUN: {said}"]


def _of_others(n_rows: int) -> list[str]:
    """The note on rows that were not selected."""
    return [f"{counted(n_rows, 'row')} of other metrics and human scores not read"] if n_rows else []


def where_scored(scores: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The rows of scorers in evaluation sets where they have a score, and notes on those where they have none.

    A scorer without any score in the whole table keeps its rows, because that is a fault.
    """
    has_value, of_scorer = pl.col("value").is_not_null(), ("kind", "scorer", "reference")
    is_empty = has_value.any().over(of_scorer) & ~has_value.any().over(*of_scorer, "testset", "lp", "level")
    empty = scores.filter(is_empty)
    if empty.is_empty():
        return scores, []
    where = empty.group_by("scorer", maintain_order=True).agg(
        pl.format("{} {}", "testset", "lp").unique(maintain_order=True)
    )
    notes = [f"{scorer} has no scores on {', '.join(places)}" for scorer, places in where.iter_rows()]
    return scores.filter(~is_empty), notes


def with_place(given: LoadHints, path: Path) -> LoadHints:
    """The user's hints, completed with the test set and language pair in the path.

    The language pair comes from a folder `lp=en-de`, from the file's folder `en-de`, or from `en-de.` before its name.
    """
    parts = {found["key"]: found["value"] for part in path.parts if (found := _PARTITION.fullmatch(part)) is not None}
    testset = given.testset or parts.get("testset") or testset_of(path)
    lps = (name for name in (path.name.split(".")[0], path.parent.name) if _is_pair(name))
    return replace(given, testset=testset, lp=given.lp or parts.get("lp") or next(lps, None))


def _is_pair(name: str) -> bool:
    """Whether a name is a pair of languages of the shared tasks."""
    try:
        return language_pair(name) is not None
    except ValueError:
        return False


def missing_place(header: Header, given: LoadHints) -> str | None:
    """A request for what neither the table nor the user states; None if nothing is missing."""
    known = header.known.keys()
    if "testset" not in known and given.testset is None:
        return f"scores of an unknown test set; name it in a column 'testset' or with {option('testset')}"
    if not ("lp" in known or {"source", "target"} <= known) and lp_of(given) is None:
        return f"scores of an unknown language pair; name it in a column 'lp' or with {option('lp')}"
    return None


def lp_of(given: LoadHints) -> str | None:
    """The language pair named by the user; by default that of test sets without one.

    None if no test set or a shared task's is named, and for the user's own metrics.
    """
    is_of_pairs = given.is_own or given.testset is None or bool(facts(given.testset).lps)
    return given.lp or (None if is_of_pairs else NO_LP)


def claim_of_named(
    path: Path, reader: str, header: Header, given: LoadHints, names: Collection[str], unnamed: str
) -> Claim | str:
    """The claim of a table, or a request for what neither the table nor the user states.

    names: columns that name the scorer. unnamed: the request if there are none.
    """
    given = with_place(given, path)
    if not header.known.keys() & set(names) and not (given.metric or given.human):
        return unnamed
    return missing_place(header, given) or claim_of(path, reader, header, given)


def claim_of(path: Path, reader: str, header: Header, given: LoadHints) -> Claim:
    """The claim of a table. All scores of a user's own metric may be of one system. MetricX's errors are negated if
    no other column is the metric's."""
    is_of_errors = ERRORS in header.columns and "value" not in header.known and given.metric not in header.columns
    variant = f"{given.metric}-{given.reference or REFERENCE_FREE}"
    of_system = "" if given.system is None else f"{given.system}/"
    return Claim(
        path,
        reader,
        f"own/{variant}/{given.testset}/{given.lp}/{of_system}{path.name}" if given.is_own else f"table/{path}",
        system=given.system,
        status="no entry" if given.is_own else None,
        is_own=given.is_own,
        is_table=True,
        is_negated=given.is_own and (given.is_error_measure or is_of_errors),
    )


def opened(data: bytes, claim: Claim) -> tuple[Header | None, pl.DataFrame, list[Fault]]:
    """The header, the table under our names (unknown columns begin with `_`), and faults of its format."""
    header = _header(data, claim)
    if header is None:
        return None, pl.DataFrame(), [Fault(str(claim.path), 1, "no system column", "one named 'system'")]
    header, table, faults = table_under(header, data, claim.path)
    if table.is_empty() and not faults:
        faults = [Fault(str(claim.path), 0, "no rows", "scores below the header")]
    return header, of_one_system(table, claim, faults), faults


def of_one_system(table: pl.DataFrame, claim: Claim, faults: list[Fault]) -> pl.DataFrame:
    """The rows with the system that the user named; rows of other systems are faults."""
    if claim.system is None or "line" not in table.columns:
        return table
    if "system" not in table.columns:
        return table.with_columns(system=pl.lit(claim.system))
    is_said = pl.col("system") == claim.system
    return cells_that_are(table, "system", is_said, f"{claim.system}, as specified", claim.path, faults)


def _header(data: bytes, claim: Claim) -> Header | None:
    """The header of a table from its first bytes."""
    head = data[:65536].decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    is_parquet = data.startswith(PARQUET)
    return header_of(claim.path, [] if is_parquet else head, claim.system)


def with_evalset(table: pl.DataFrame, given: LoadHints, root: Path) -> pl.DataFrame:
    """The table with test set and language pair in each row, and a reference for metrics that name none.

    root: the folder of the table, which may hold facts of the test set.
    """
    if {"source", "target"} <= set(table.columns) and "lp" not in table.columns:
        table = table.with_columns(lp=pl.concat_str("source", pl.lit("-"), "target"))
    for column, said in (("testset", given.testset), ("lp", given.lp if "lp" in table.columns else lp_of(given))):
        written = pl.col(column) if column in table.columns else pl.lit(None, pl.String)
        table = table.with_columns(pl.coalesce(written, pl.lit(said, pl.String)).alias(column))
    called = {name: published_testset(name) or name for name in table["testset"].unique().drop_nulls().to_list()}
    table = table.with_columns(testset=pl.col("testset").replace_strict(called, default=None, return_dtype=pl.String))
    pairs = {lp: language_pair_called(lp) for lp in table["lp"].unique().drop_nulls().to_list()}
    table = table.with_columns(lp=pl.col("lp").replace_strict(pairs, default=None, return_dtype=pl.String))
    named = table.select("scorer", "testset", "lp").unique().drop_nulls()
    declared = {testset: facts_beside(testset, root) for testset in named["testset"].unique()}
    standard = [
        (scorer, testset, lp, _standard(scorer, testset, lp, declared[testset]))
        for scorer, testset, lp in named.iter_rows()
    ]
    names = ("scorer", "testset", "lp", "standard")
    facts = pl.DataFrame(standard, schema=dict.fromkeys(names, pl.String), orient="row")
    table = table.join(facts, on=["scorer", "testset", "lp"], how="left", maintain_order="left")
    needs = (pl.col("kind") == "metric") & ~pl.col("is_reference_stated")
    return table.with_columns(reference=pl.when(needs).then("standard").otherwise("reference"))


def _standard(scorer: str, testset: str, lp: str, declared: TestsetFacts) -> str | None:
    """The reference of a metric that names none; tasks other than translation have one only if it is declared."""
    if lp == NO_LP and declared.evalset(lp).standard_reference is None:
        return None
    return standard_reference(scorer, testset, lp, declared)


def is_human_score(name: str, given: LoadHints) -> bool:
    """Whether a name is a human score's: named by the user (separated by commas), or of a kind in the shared tasks.

    >>> [is_human_score(name, LoadHints()) for name in ("MQM", "da-sqm", "esa-human1", "HUMAN", "MyMetric")]
    [True, True, True, True, False]
    """
    return name in (given.human or "").split(",") or (
        _HUMAN.fullmatch(name) is not None and _OF_METRICS.search(name) is None
    )


def variant(name: str) -> tuple[str, str | None, bool]:
    """Base name and reference of a metric, and whether the name states the reference.

    >>> variant("BLEU-refA"), variant("MyQE-src"), variant("COMET-22")
    (('BLEU', 'refA', True), ('MyQE', None, True), ('COMET-22', None, False))
    """
    found = _VARIANT.fullmatch(name)
    if found is None or describe(name).is_known:
        return name, None, False
    return found["base"], reference_called(found["reference"]), True


def _named(table: pl.DataFrame, given: LoadHints, path: Path) -> tuple[pl.DataFrame, list[Fault]]:
    """Rows with place, value and scorer names, from the columns or from the user."""
    table, faults = placed(table, path, given.first_segment)
    table = numbers(table.with_columns(pl.col("value").fill_null("")), "value", path, faults)
    for column in ("scorer", "metric", "human", "kind", "reference"):
        if column not in table.columns:
            table = table.with_columns(pl.lit(None, pl.String).alias(column))
    is_one = pl.sum_horizontal(pl.col(*_SAYS_WHAT).is_not_null()) <= 1
    is_number = (pl.col("named") != "") & pl.col("named").cast(pl.Float64, strict=False).is_not_null()
    table = table.with_columns(named=pl.concat_str(*_SAYS_WHAT, separator=" and ", ignore_nulls=True))
    table = cells_that_are(table, "named", is_one, "a metric or a human score, not both", path, faults)
    table = cells_that_are(table, "named", ~is_number, "the name of a metric or human score", path, faults)
    return table.with_columns(named=pl.coalesce(*_SAYS_WHAT, pl.lit(given.metric or given.human, pl.String))), faults


def _chosen(
    table: pl.DataFrame, all_names: Collection[str], given: LoadHints, path: Path
) -> tuple[pl.DataFrame, list[Fault]]:
    """Rows with kind, scorer and reference; only those of the metric that the user named, if any.

    all_names: of all rows of the file.
    """
    faults: list[Fault] = []
    names = sorted(all_names)
    if given.metric is not None and names != [given.metric]:
        metrics = sorted(name for name in names if not is_human_score(name, given))
        if given.metric in metrics:
            table = table.filter(~pl.col("named").is_in([name for name in metrics if name != given.metric]))
        elif len(metrics) > 1:
            found = f"metrics {', '.join(metrics[:5])}"
            faults.append(Fault(str(path), 0, found, f"one metric, or {given.metric} among them"))
            table = table.clear()
        table = table.with_columns(named=pl.col("named").replace(dict.fromkeys(metrics, given.metric)))
        names = table["named"].drop_nulls().unique().to_list()
    humans = [name for name in names if is_human_score(name, given)]
    kind = (
        pl.when(pl.col("human").is_not_null())
        .then(pl.lit("human"))
        .when(pl.col("metric").is_not_null())
        .then(pl.lit("metric"))
        .when(pl.col("named").is_in(humans))
        .then(pl.lit("human"))
        .otherwise(pl.lit("metric"))
    )
    table = table.with_columns(kind=pl.coalesce(pl.col("kind").str.to_lowercase(), kind))
    table = cells_that_are(table, "kind", pl.col("kind").is_in(["metric", "human"]), "metric or human", path, faults)
    if given.is_own:
        table = table.filter(pl.col("kind") == "metric")
    return with_evalset(with_references(table, given), given, path.parent), faults


def with_references(table: pl.DataFrame, given: LoadHints) -> pl.DataFrame:
    """scorer and reference of each row, and whether the row, its metric's name or the user states the reference.

    table: with `named`, `kind`, and `reference` as written in the row.
    """
    variants = [(name, *variant(name)) for name in table["named"].drop_nulls().unique().to_list()]
    schema = {"named": pl.String, "base": pl.String, "by_name": pl.String, "is_by_name": pl.Boolean}
    written = {name: reference_called(name) for name in table["reference"].drop_nulls().unique().to_list()}
    said = None if given.reference is None else reference_called(given.reference)
    table = table.join(
        pl.DataFrame(variants, schema=schema, orient="row"), on="named", how="left", maintain_order="left"
    )
    is_metric = pl.col("kind") == "metric"
    is_written = pl.col("reference").is_not_null()
    by_row = pl.col("reference").replace_strict(written, default=None, return_dtype=pl.String)
    is_by_name = pl.col("is_by_name") & ~is_written
    return table.with_columns(
        scorer=pl.when(is_metric & is_by_name).then("base").otherwise("named"),
        reference=pl.when(~is_metric)
        .then(None)
        .when(is_written)
        .then(by_row)
        .when(is_by_name)
        .then("by_name")
        .otherwise(pl.lit(said, pl.String)),
        is_reference_stated=is_written | is_by_name | (given.reference is not None) | given.is_own,
    )
