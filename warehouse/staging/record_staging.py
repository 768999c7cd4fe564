"""Records of all files of one evaluation set, laid out on its stage: system names joined, segments found."""

from collections.abc import Mapping, Sequence

import polars as pl

from warehouse.database.stage import Stage
from warehouse.errors import Fault
from warehouse.facts.metrics import describe
from warehouse.readers.contents import Content
from warehouse.staging.damage import report_further_faults
from warehouse.staging.naming import joined, named, names_of, spellings_in
from warehouse.staging.placing import note_beyond, placed, settle_segments, stage_declared
from warehouse.staging.repetition import distinct, report_incomplete
from warehouse.staging.slips import report_slips
from warehouse.staging.vectors import stage_judgements, stage_vectors
from warehouse.wording import counted, option

_ERRORS_AS_WRITTEN = frozenset({"MetricX", "TER"})  # families whose programs write errors, which submissions negate


def stage_records(contents: Sequence[Content], stage: Stage, aliases: Mapping[str, str]) -> None:
    """Lay the records of files out on the stage, after the files of the organisers' layout.

    contents: with their records; of those with faults only further faults are reported. aliases: declared spellings
        of systems.
    """
    sound = [content for content in contents if content.records is not None and not content.faults]
    if sound:
        _lay_out(sound, contents, stage, aliases)
    else:
        _settle(contents, stage, aliases)
    report_further_faults(contents, stage, aliases)


def _lay_out(sound: Sequence[Content], contents: Sequence[Content], stage: Stage, aliases: Mapping[str, str]) -> None:
    judgements, ratings, declared = (_together(sound, name) for name in ("judgements", "ratings", "segments"))
    stage_declared(declared, stage)
    scores = _together(sound, "scores")
    report_slips(sound, scores, judgements, stage)
    names = names_of(contents, spellings_in(scores), judgements, stage, aliases)
    scores, judgements = placed(sound, named(scores, names), named(judgements, names), stage)
    _report_shared(sound, judgements, stage)
    note_beyond(sound, scores, judgements, stage)
    scores = distinct(sound, _with_means(sound, scores, judgements), stage)
    report_incomplete(sound, scores, stage)
    vectors = stage_vectors(sound, scores, judgements, stage)
    stage_judgements(sound, judgements, ratings, vectors, stage)
    _report_empty(sound, stage)
    for content in sound:
        assert content.records is not None
        brought = _rows_of(content)
        stage.n_rows[content.file_no] = brought.height
        stage.n_missing[content.file_no] = brought["value"].null_count() if "value" in brought.columns else 0
        notes = [*content.records.notes, *((*_constant(brought), *_direction(content)) if content.claim.is_own else ())]
        stage.notes += [f"{content.claim.path}: {note}" for note in notes]


def _report_shared(contents: Sequence[Content], judgements: pl.DataFrame, stage: Stage) -> None:
    """A fault of a file that has judgements which another one has, too: they would count twice."""
    timed = judgements.filter(pl.col("time").is_not_null() & (pl.col("status") == "valid"))
    same = timed.group_by("scorer", "system", "number", "value", "time").agg(pl.col("file_no").unique().sort())
    shared = same.filter(pl.col("file_no").list.len() > 1).select(
        first=pl.col("file_no").list.first(), other=pl.col("file_no").list.last()
    )
    paths = {content.file_no: str(content.claim.path) for content in contents}
    for first, other, n in shared.group_by("first", "other").len().sort("first", "other").iter_rows():
        found = f"{counted(n, 'judgement')} that {paths[first]} has, too"
        stage.fault(other, Fault(paths[other], 0, found, "each once", "load one or the other"))


def _report_empty(contents: Sequence[Content], stage: Stage) -> None:
    """A fault for each score of which files have places, and no value at any of them."""
    counts = []
    for content in contents:
        rows = _rows_of(content)
        if "value" in rows.columns:
            of_file = rows.group_by("scorer").agg(pl.col("line").min(), n=pl.len(), n_values=pl.col("value").count())
            counts.append(of_file.with_columns(file_no=pl.lit(content.file_no), path=pl.lit(str(content.claim.path))))
    if not counts:
        return
    first = pl.col("file_no", "path", "line").first()
    scorers = pl.concat(counts).group_by("scorer", maintain_order=True).agg(first, pl.col("n", "n_values").sum())
    empty = scorers.filter(pl.col("n_values") == 0).select("scorer", "file_no", "path", "line", "n")
    for scorer, file_no, path, line, n in empty.iter_rows():
        found = f"every score of {scorer} is missing ({counted(n, 'row')})"
        stage.fault(file_no, Fault(path, line or 0, found, "at least one score"))


def _constant(rows: pl.DataFrame) -> list[str]:
    """A line where every score of an own metric is the same."""
    if "value" not in rows.columns or rows["value"].drop_nulls().n_unique() != 1 or rows.height == 1:
        return []
    return [f"every score is {rows['value'].drop_nulls()[0]:g}"]


def _direction(content: Content) -> list[str]:
    """A line where scores of an own metric are called like one that counts errors, and are stored as they are."""
    assert content.records is not None
    assert content.records.scores is not None
    scores = content.records.scores
    named = [describe(name) for name in scores["scorer"].unique().sort()]
    counts_errors = any(facts.is_error_measure or facts.family in _ERRORS_AS_WRITTEN for facts in named)
    if content.claim.is_negated or not counts_errors or scores.filter(pl.col("value") < 0).height:
        return []
    way_out = f"`scorehouse {option('add.is_error_measure', True)}` stores them negated"
    return [f"a metric that counts errors, none below 0: {way_out}"]


def _settle(contents: Sequence[Content], stage: Stage, aliases: Mapping[str, str]) -> None:
    """Names and numbers of what the warehouse has, where files of the organisers' layout alone come to it."""
    if stage.evalset.names - stage.evalset.fixed:
        joined(contents, pl.DataFrame(schema={"file_no": pl.Int64, "system": pl.String}), stage, aliases)
    settle_segments(stage)


def _together(contents: Sequence[Content], name: str) -> pl.DataFrame:
    """One frame of all files, with `file_no`; scores that count errors are turned round, so that more is better."""
    numbered = []
    for content in contents:
        table: pl.DataFrame = getattr(content.records, name)
        table = table.with_columns(file_no=pl.lit(content.file_no, dtype=pl.Int64))
        if name == "scores" and content.claim.is_negated:
            table = table.with_columns(value=0.0 - pl.col("value"), is_negated=pl.lit(True))
        numbered.append(table)
    return pl.concat(numbered)


def _rows_of(content: Content) -> pl.DataFrame:
    """What the file holds one a row: judgements where they make the scores, else scores, else segments."""
    records = content.records
    assert records is not None
    assert records.scores is not None
    assert records.judgements is not None
    assert records.segments is not None
    if records.scores_from_judgements:
        return records.judgements
    return records.scores if records.scores.height else records.segments


def _with_means(contents: Sequence[Content], scores: pl.DataFrame, judgements: pl.DataFrame) -> pl.DataFrame:
    """The scores, with those of human protocols whose judgements make them: the means of the valid ones."""
    making = [content.file_no for content in contents if content.records and content.records.scores_from_judgements]
    if not making or judgements.is_empty():
        return scores
    valid = judgements.filter(pl.col("file_no").is_in(making) & (pl.col("status") == "valid"))
    means = valid.group_by("scorer", "system", "number", maintain_order=True).agg(
        pl.col("value").sort().mean(), pl.col("file_no").min(), pl.col("line").min(), pl.col("testset", "lp").first()
    )
    means = means.with_columns(kind=pl.lit("human"), level=pl.lit("seg"))
    return pl.concat([scores, means.select(name for name in scores.columns if name in means.columns)], how="diagonal")
