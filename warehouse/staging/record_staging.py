"""Records of all files of one evaluation set, laid out on its stage: system names joined, segments found."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from warehouse.database.stage import Stage
from warehouse.names import REFERENCE_FREE
from warehouse.readers.compact import plain
from warehouse.readers.contents import Content
from warehouse.readers.records import columns
from warehouse.staging.damage import tell_further_faults
from warehouse.staging.naming import joined, named, systems_there
from warehouse.staging.placing import place_rows, settle_segments, stage_declared
from warehouse.staging.row_faults import tell_rows
from warehouse.staging.vectors import VECTOR_KEY, stage_judgements, stage_vectors

if TYPE_CHECKING:
    import polars as pl


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
    tell_further_faults(contents, stage, aliases)


def _lay_out(sound: Sequence[Content], contents: Sequence[Content], stage: Stage, aliases: Mapping[str, str]) -> None:
    scores, judgements, declared = (_together(sound, name) for name in ("scores", "judgements", "segments"))
    negated = [content.file_no for content in sound if content.claim.is_negated]
    if negated:
        scores = _negated(scores, negated)
    scores, judgements = named(contents, scores, judgements, stage, aliases)
    stage_declared(declared, stage)
    scores, judgements = place_rows(sound, scores, judgements, stage)
    scores = _with_means(sound, scores, judgements)
    scores = _distinct(sound, scores, stage)
    _check_complete(sound, scores, stage)
    vectors = stage_vectors(sound, scores, judgements, stage)
    stage_judgements(sound, judgements, _together(sound, "ratings"), vectors, stage)
    for content in sound:
        assert content.records is not None
        brought = _rows_of(content)
        stage.n_rows[content.file_no] = brought.height
        stage.n_missing[content.file_no] = brought["value"].null_count() if "value" in brought.columns else 0
        stage.notes += [f"{content.claim.path}: {note}" for note in content.records.notes]


def _settle(contents: Sequence[Content], stage: Stage, aliases: Mapping[str, str]) -> None:
    """Names and numbers of what the warehouse has, where files of the organisers' layout alone come to it."""
    import polars as pl

    if stage.evalset.names - stage.evalset.fixed:
        joined(contents, pl.DataFrame(schema={"file_no": pl.Int64, "system": pl.String}), stage, aliases)
    settle_segments(stage)


def _together(contents: Sequence[Content], name: str) -> "pl.DataFrame":
    """One frame of all files, with `file_no`."""
    import numpy as np
    import polars as pl

    frames: list[pl.DataFrame] = [getattr(content.records, name) for content in contents]
    heights = [table.height for table in frames]
    numbers = np.repeat([content.file_no for content in contents], heights)
    filled = [table for table in frames if table.height] or frames[:1]
    rows = pl.concat([plain(table, columns(name)) for table in filled])
    return rows.with_columns(pl.Series("file_no", numbers, dtype=pl.Int64))


def _negated(scores: "pl.DataFrame", files: Sequence[int]) -> "pl.DataFrame":
    """Scores of errors turned around, so that more is better."""
    import polars as pl

    is_theirs = pl.col("file_no").is_in(files)
    value = pl.when(is_theirs).then(0.0 - pl.col("value")).otherwise("value")
    return scores.with_columns(value=value, is_negated=is_theirs | pl.col("is_negated"))


def _rows_of(content: Content) -> "pl.DataFrame":
    """What the file holds one a row: judgements where they make the scores, else scores, else segments."""
    records = content.records
    assert records is not None
    assert records.scores is not None
    assert records.judgements is not None
    assert records.segments is not None
    if records.scores_from_judgements:
        return records.judgements
    return records.scores if records.scores.height else records.segments


def _with_means(contents: Sequence[Content], scores: "pl.DataFrame", judgements: "pl.DataFrame") -> "pl.DataFrame":
    """The scores, with those of human protocols whose judgements make them: the means of the valid ones."""
    import polars as pl

    making = [content.file_no for content in contents if content.records and content.records.scores_from_judgements]
    if not making or judgements.is_empty():
        return scores
    valid = judgements.filter(pl.col("file_no").is_in(making) & (pl.col("status") == "valid"))
    means = valid.group_by("scorer", "system", "number", maintain_order=True).agg(
        pl.col("value").sort().mean(), pl.col("file_no").min(), pl.col("line").min(), pl.col("testset", "lp").first()
    )
    means = means.with_columns(kind=pl.lit("human"), level=pl.lit("seg"))
    return pl.concat([scores, means.select(name for name in scores.columns if name in means.columns)], how="diagonal")


def _distinct(contents: Sequence[Content], scores: "pl.DataFrame", stage: Stage) -> "pl.DataFrame":
    """Each cell of a file once: equal rows are taken once, with a note; rows that differ are faults."""
    import polars as pl

    scores = scores.with_columns(
        unit=pl.when(pl.col("level") == "doc").then("document").when(pl.col("level") == "domain").then("domain"),
        base_name=pl.col("scorer"),
        scorer=pl.when(pl.col("kind") == "metric")
        .then(pl.format("{}-{}", "scorer", pl.col("reference").fill_null(REFERENCE_FREE)))
        .otherwise("scorer"),
        number=pl.when(pl.col("level") == "seg").then("number"),
    )
    cell = ["file_no", *VECTOR_KEY, "unit", "number"]
    if not scores.select(cell).is_duplicated().any():
        return scores
    groups = scores.group_by(cell, maintain_order=True).agg(
        pl.len().alias("n"), (pl.col("value").n_unique() > 1).alias("differs"), pl.col("line").max()
    )
    wrong = groups.filter("differs").with_columns(
        found=pl.format("another score of {}, system '{}'", "scorer", "system")
    )
    tell_rows(contents, stage, wrong, "one score each")
    paths = {content.file_no: content.claim.path for content in contents}
    again = groups.filter((pl.col("n") > 1) & ~pl.col("differs")).group_by("file_no").agg((pl.col("n") - 1).sum())
    stage.notes += [f"{paths[file_no]}: {n} repeated rows, loaded once" for file_no, n in again.iter_rows()]
    return scores.unique(cell, keep="first", maintain_order=True)


def _check_complete(contents: Sequence[Content], scores: "pl.DataFrame", stage: Stage) -> None:
    """Files whose lines count the segments must have all of them for every system; of own metrics it is told."""
    import polars as pl

    own = [content for content in contents if content.claim.is_own]
    positional = [content.file_no for content in contents if content.claim.is_positional]
    if not own and not positional:
        return
    n_segments = stage.n_segments
    _tell_gaps(own, scores, n_segments, stage)
    if not positional or not n_segments:
        return
    blocks = scores.filter(pl.col("file_no").is_in(positional) & (pl.col("level") == "seg"))
    short = blocks.group_by("file_no", "system").agg(pl.len().alias("n"), pl.col("line").min())
    short = short.filter(pl.col("n") != n_segments).with_columns(found=pl.format("{} lines of '{}'", "n", "system"))
    tell_rows(contents, stage, short, f"{n_segments}, one per segment of {stage.evalset.testset} {stage.evalset.lp}")


def _tell_gaps(own: Sequence[Content], scores: "pl.DataFrame", n_segments: int, stage: Stage) -> None:
    """Notes on own metrics that lack systems or segments: such metrics stand in no ranking of whole evaluation sets."""
    import polars as pl

    there = systems_there(stage)
    for content in own:
        brought = scores.filter((pl.col("file_no") == content.file_no) & (pl.col("level") == "seg"))
        for (scorer,), cells in brought.group_by("scorer", maintain_order=True):
            n_systems = cells["system"].n_unique()
            n_lacking = n_systems * n_segments - cells["value"].is_not_null().sum()
            if n_lacking > 0:
                stage.notes.append(f"{scorer}: {n_lacking} of {n_systems * n_segments} segment scores are missing")
            if n_systems < len(there):
                stage.notes.append(f"{scorer}: scores of {n_systems} of the {len(there)} systems")
