"""Writing the evaluation sets of a batch into the warehouse, in one transaction."""

import contextlib
from collections.abc import Sequence

import duckdb

from warehouse.database.stage import Batch
from warehouse.errors import Fault
from warehouse.readers.contents import Content
from warehouse.staging.contradictions import contradictions, segment_contradictions
from warehouse.staging.unjoined import unjoined
from warehouse.writing.entries import write_entries
from warehouse.writing.evalsets import Declared, write_evalsets
from warehouse.writing.registration import register
from warehouse.writing.scores import check_written, write_judgements, write_scores
from warehouse.writing.segments import remove_nameless_segments, renumber, write_segments
from warehouse.writing.sources import record_sources, take_away
from warehouse.writing.systems import (
    mark_outliers,
    remove_nameless_systems,
    rename_systems,
    report_renamed,
    write_systems,
)


def write_batch(batch: Batch, declared: Declared, contents: Sequence[Content]) -> dict[int, list[Fault]]:
    """Put the batch into the attached warehouse (see `connection.writing`): all of it, or nothing.

    declared: the organisers' facts of each test set; None leaves those that the warehouse has.
    contents: the files that were read, broken ones included: those are recorded as refused.
    A file replaces what an earlier file of the same origin brought. Returns faults where evaluation sets contradict
    what the warehouse holds from other files, by their numbers; then nothing was written.
    """
    connection = batch.connection
    connection.execute("BEGIN")
    try:
        evalset_ids, known = write_evalsets(batch, declared)
        if known:
            rename_systems(batch, known)
            take_away(batch, contents, known)
        record_sources(batch, contents, evalset_ids)
        faults = segment_contradictions(batch, contents, known)
        if known and not faults:
            renumber(batch)
            faults = contradictions(batch, contents, known)
        if faults:
            connection.execute("ROLLBACK")
            return faults
        write_segments(batch, known)
        write_systems(batch)
        write_scores(batch)
        write_judgements(batch)
        if known or any(stage.faults for stage in batch.stages):
            remove_nameless_systems(batch)
            remove_nameless_segments(batch)
        mark_outliers(batch, declared, evalset_ids, known)
        write_entries(batch, declared, evalset_ids, known)
        register(connection, list(evalset_ids.values()))
        check_written(batch)
        recorded = {content.file_no for content in contents if content.records is not None}
        chosen = {s.evalset_no: evalset_ids[s.evalset_no] for s in batch.stages if s.file_numbers & recorded}
        unjoined(batch, chosen)
        connection.execute("COMMIT")
        report_renamed(batch)
    except BaseException:
        with contextlib.suppress(duckdb.Error):  # a commit that failed has ended the transaction
            connection.execute("ROLLBACK")
        raise
    return {}
