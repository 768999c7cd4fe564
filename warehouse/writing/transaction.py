"""Writing the evaluation sets of a batch into the warehouse, in one transaction."""

import contextlib
from collections.abc import Collection, Mapping, Sequence
from functools import partial

import duckdb
import polars as pl

from warehouse.database import statement
from warehouse.database.frames import with_frame
from warehouse.database.stage import Batch
from warehouse.errors import Fault
from warehouse.facts.testsets import TestsetFacts
from warehouse.readers.contents import Content
from warehouse.staging.checks import contradictions, note_spans, segment_contradictions
from warehouse.staging.holdings import of_evalsets
from warehouse.staging.slips import unjoined
from warehouse.writing.evalsets import (
    Declared,
    delete_unnamed,
    mark_unsubmitted,
    register,
    remove_vectors,
    write_evalsets,
)

_ORIGIN = {"evalset_id": pl.Int32, "origin": pl.String}
_EARLIER = """
CREATE OR REPLACE TEMP TABLE earlier_source AS
SELECT source_id FROM source WHERE (evalset_id, origin) IN (SELECT (evalset_id, origin) FROM inserted_frame)
"""
_RENAME = """
CREATE OR REPLACE TEMP TABLE staged_rename AS
SELECT y.system_id, n.new FROM inserted_frame AS n JOIN system AS y ON y.evalset_id = n.evalset_id AND y.name = n.old
"""
_REMOVED = """
CREATE OR REPLACE TEMP TABLE removed_vector AS
SELECT vector_id FROM vector WHERE source_id IN (SELECT source_id FROM temp.earlier_source)
"""
_MOST_BITS = 1_000_000  # of one vector, where segments are counted
_sql = partial(statement, __package__)


def write_batch(batch: Batch, declared: Declared, contents: Sequence[Content]) -> dict[int, list[Fault]]:
    """Put the batch into the attached warehouse (see `connection.writing`): all of it, or nothing.

    declared: the organisers' facts of each test set; None keeps those in the warehouse.
    contents: the files that were read, including broken files, which are recorded as refused.
    A file replaces the data of an earlier file of the same origin. If evaluation sets contradict data from other files
    in the warehouse, nothing is written and their faults are returned by number.
    """
    connection = batch.connection
    connection.execute("BEGIN")
    try:
        evalset_ids, known = write_evalsets(batch, declared)
        if known:
            rename_systems(batch, known)
            delete_replaced_sources(batch, contents, known)
        record_sources(batch, contents, evalset_ids)
        faults = segment_contradictions(batch, contents, known)
        if known and not faults:
            renumber(batch)
            faults = contradictions(batch, contents, known)
        if faults:
            connection.execute("ROLLBACK")
            return faults
        write_segments(batch)
        write_systems(batch)
        write_scores(batch)
        first_judgement = write_judgements(batch)
        write_preferences(batch)
        if known or any(stage.faults for stage in batch.stages):
            delete_unnamed(connection)
        connection.execute(_sql("update_canonical_names"))
        mark_outliers(batch, declared, evalset_ids, known)
        write_entries(batch, declared, evalset_ids, known)
        register(connection, list(evalset_ids.values()))
        check_written(batch)
        recorded = {content.file_no for content in contents if content.records is not None}
        chosen = {s.evalset_no: evalset_ids[s.evalset_no] for s in batch.stages if s.file_numbers & recorded}
        unjoined(batch, chosen)
        if first_judgement is not None:
            note_spans(batch, evalset_ids, first_judgement)
        if any(stage.gone for stage in batch.stages):
            connection.execute(_sql("delete_empty"))
        connection.execute("COMMIT")
        report_renamed(batch)
    except BaseException:
        with contextlib.suppress(duckdb.Error):  # a commit that failed has ended the transaction
            connection.execute("ROLLBACK")
        raise
    return {}


def delete_replaced_sources(batch: Batch, contents: Sequence[Content], evalset_ids: Mapping[int, int]) -> None:
    """Delete the data of earlier files of the same origins, except systems; they declare no segments any longer.

    evalset_ids: number on the stage -> evalset_id, of those evaluation sets that the warehouse has.
    """
    files = _evalset_numbers(batch)
    chosen = [content for content in contents if files[content.file_no] in evalset_ids]
    held = [(evalset_ids[files[content.file_no]], content.claim.origin) for content in chosen]
    connection = batch.connection
    with_frame(connection, pl.DataFrame(held, _ORIGIN, orient="row"), _EARLIER)
    if batch.rows("SELECT 1 FROM temp.earlier_source LIMIT 1"):
        connection.execute(_REMOVED)
        remove_vectors(connection)
        for table in ("segment_text", "source"):
            connection.execute(f"DELETE FROM {table} WHERE source_id IN (SELECT source_id FROM temp.earlier_source)")
        connection.execute(
            "UPDATE segment SET source_id = NULL WHERE source_id IN (SELECT source_id FROM temp.earlier_source)"
        )


def _evalset_numbers(batch: Batch) -> dict[int, int]:
    return {file_no: stage.evalset_no for stage in batch.stages for file_no in stage.file_numbers}


def record_sources(batch: Batch, contents: Sequence[Content], evalset_ids: Mapping[int, int]) -> None:
    """Record the files, loaded or refused; temp.staged_source then has number and evaluation set of each.

    Not those that have nothing of their evaluation set any longer.
    """
    ((first,),) = batch.rows("SELECT coalesce(max(source_id), 0) + 1 FROM source")
    files, rows = _evalset_numbers(batch), []
    for source_id, content in enumerate(contents, start=first):
        stage = batch.stage_of(content.file_no)
        faults = stage.faults.get(content.file_no, [])
        if content.file_no in stage.gone and not faults:
            continue
        rows.append(
            {
                "file_no": content.file_no,
                "evalset_no": files[content.file_no],
                "evalset_id": evalset_ids[files[content.file_no]],
                "source_id": source_id,
                "origin": content.claim.origin,
                "path": str(content.claim.path),
                "sha256": content.sha256,
                "n_bytes": content.n_bytes,
                "reader": content.claim.reader,
                "n_rows": 0 if faults else stage.n_rows[content.file_no],
                "n_missing": 0 if faults else stage.n_missing[content.file_no],
                "status": "refused" if faults else "loaded",
                "fault": "; ".join(fault.text for fault in faults) or None,
                "n_evalsets": content.n_evalsets,
                "bundle": content.claim.bundle,
            }
        )
    batch.connection.execute(_sql("staged_source"))
    if rows:
        frame = pl.DataFrame(rows, infer_schema_length=None)
        batch.add("source", frame.with_columns(pl.col("fault", "bundle").cast(pl.String)))
    batch.connection.execute(_sql("insert_sources"))


def rename_systems(batch: Batch, evalset_ids: Mapping[int, int]) -> None:
    """Rename systems for which a better name has come. evalset_ids: by number, for existing evaluation sets."""
    renamed = [
        (evalset_ids[stage.evalset_no], old, new)
        for stage in batch.stages
        if stage.evalset_no in evalset_ids
        for old, new in sorted(stage.renamed.items())
    ]
    if not renamed:
        return
    with_frame(batch.connection, pl.DataFrame(renamed, ["evalset_id", "old", "new"], orient="row"), _RENAME)
    batch.connection.execute(_sql("rename_systems"))


def report_renamed(batch: Batch) -> None:
    """Note the renamed systems."""
    for stage in batch.stages:
        where = f"{stage.evalset.testset} {stage.evalset.lp}"
        stage.notes += [f"{where}: system {old} is now {new}" for old, new in sorted(stage.renamed.items())]


def write_systems(batch: Batch) -> None:
    """Insert the systems and spellings of the files."""
    batch.connection.execute(_sql("insert_systems"))
    if batch.has("spelling"):
        batch.connection.execute(_sql("insert_spellings"))


def mark_outliers(batch: Batch, declared: Declared, evalset_ids: Mapping[int, int], known: Collection[int]) -> None:
    """Mark exactly the systems that the organisers declare as outliers, under any spelling.

    known: numbers of the evaluation sets that may have some marked already.
    """
    stated = [(s, every.evalset(s.evalset.lp)) for s in batch.stages if (every := declared[s.evalset_no]) is not None]
    chosen = [(stage, facts) for stage, facts in stated if facts.outlier_systems or stage.evalset_no in known]
    if not chosen:
        return
    named = of_evalsets(batch.rows, "system_names", [(s.evalset.testset, s.evalset.lp) for s, _ in chosen])
    outliers = []
    for stage, facts in chosen:
        systems = {name: system for name, system, _ in named[stage.evalset.testset, stage.evalset.lp]}
        outliers += [(evalset_ids[stage.evalset_no], system) for system in sorted(facts.outliers(systems))]
    frame = pl.DataFrame(outliers, {"evalset_id": pl.Int32, "name": pl.String}, orient="row")
    with_frame(batch.connection, frame, _sql("update_outliers"))


def renumber(batch: Batch) -> None:
    """Update segment numbers of scores, judgements and preferences in the warehouse.

    Call this after deleting the files' earlier data, and before writing the segments. Empty inserts are skipped: after
    an insert of no rows, DuckDB does not show a later large insert of the same transaction.
    """
    if not batch.rows("SELECT 1 FROM temp.staged_renumbering WHERE new IS NOT NULL LIMIT 1"):
        return
    of_tables = (
        ("score", "vector_id", "vector_id, segment"),
        ("judgement", "vector_id", "vector_id, segment, judgement_id"),
        ("preference", "vector_a", "vector_a, vector_b, ranking"),
    )
    for table, vector, order in of_tables:
        renumbered = f"temp.renumbered_{table}"
        batch.connection.execute(_sql(f"renumbered_{table}"))
        if batch.rows(f"SELECT 1 FROM {renumbered} LIMIT 1"):
            batch.connection.execute(f"DELETE FROM {table} WHERE {vector} IN (SELECT {vector} FROM {renumbered})")
            batch.connection.execute(f"INSERT INTO {table} FROM {renumbered} ORDER BY {order}")
        batch.connection.execute(f"DROP TABLE {renumbered}")


def write_segments(batch: Batch) -> None:
    """Write segments, which replace those in the warehouse, and texts. Segments only named by scores have no source."""
    if any(stage.segments for stage in batch.stages):
        batch.connection.execute(_sql("delete_segments"))
        batch.connection.execute(_sql("insert_segments"))
        batch.connection.execute(_sql("count_segments"))
    if batch.has("text"):
        batch.connection.execute(_sql("insert_texts"))


def write_scores(batch: Batch) -> None:
    """Write scorers, vectors and their scores; vectors of an evaluation set are numbered in the order (kind, scorer,
    level, system)."""
    for name in ("insert_scorers", "staged_id", "insert_vectors", "insert_scores", "insert_aggregates"):
        batch.connection.execute(_sql(name))


def write_judgements(batch: Batch) -> int | None:
    """Write judgements with their marked errors; returns the identifier of the first, None if there are none."""
    if not batch.has("judgement"):
        return None
    ((n_judgements, first),) = batch.rows(_sql("count_judgements"))
    if not n_judgements:
        return None
    for name in ("insert_judgements", "insert_spans"):
        batch.connection.execute(_sql(name), {"first": first})
    return int(first)


def write_preferences(batch: Batch) -> None:
    """Write preferences between outputs, whose vectors exist already."""
    if not batch.has("preference"):
        return
    ((n_staged,),) = batch.rows("SELECT count(*) FROM temp.staged_preference")
    ((n_written,),) = batch.rows(_sql("insert_preferences"))
    assert n_written == n_staged, f"staged {n_staged} preferences, wrote {n_written}"


def check_written(batch: Batch) -> None:
    """Assert that all staged data was written and each key is unique; fact tables have no constraints."""
    ((staged_vectors, staged_scores, last_segment, vectors, scores, repeated),) = batch.rows(_sql("count_written"))
    bits = f"bit_count(bitstring_agg(segment, 1, {last_segment}))"  # one for every number that there can be
    n_segments = bits if last_segment <= _MOST_BITS else "count(DISTINCT segment)"
    ((double,),) = batch.rows(
        f"""
        SELECT coalesce(sum(n_rows - n_segments), 0)
        FROM (SELECT count(*) AS n_rows, {n_segments} AS n_segments FROM temp.staged_score GROUP BY vector_no)
        """
    )
    assert (vectors, scores, repeated, double) == (staged_vectors, staged_scores, 0, 0), (
        f"staged {staged_vectors} vectors and {staged_scores} scores, wrote {vectors} and {scores}; "
        f"{repeated} vectors and {double} segment scores are repeated"
    )


def write_entries(batch: Batch, declared: Declared, evalset_ids: Mapping[int, int], known: Collection[int]) -> None:
    """Give each metric with scores an entry; entries of user metrics are kept.

    known: numbers of the evaluation sets that may have entries already.
    """
    if known:
        for name in ("delete_entries", "delete_unsubmitted"):
            batch.connection.execute(_sql(name))
    metrics = batch.rows(_sql("metrics_without_entry"))
    evalsets = {stage.evalset_no: stage.evalset for stage in batch.stages}
    facts = {number: declared[number] or TestsetFacts(evalset.testset) for number, evalset in evalsets.items()}
    entries = [
        (evalset_ids[number], scorer_id, facts[number].status(evalsets[number].lp, base_name))
        for number, scorer_id, base_name in metrics
    ]
    columns = {"evalset_id": pl.Int32, "scorer_id": pl.Int32, "status": pl.String}
    with_frame(batch.connection, pl.DataFrame(entries, columns, orient="row"), _sql("insert_entries"))
    mark_unsubmitted(batch.connection)
