"""Where scores came from: the files of a load, recorded; and what earlier files of the same origins brought."""

from collections.abc import Mapping, Sequence
from functools import partial

import polars as pl

from warehouse.database.stage import Batch
from warehouse.database.statements import statement
from warehouse.readers.contents import Content
from warehouse.writing.removal import remove_vectors

_REMOVED = """
CREATE OR REPLACE TEMP TABLE removed_vector AS
SELECT vector_id FROM vector WHERE source_id IN (SELECT source_id FROM temp.earlier_source)
"""
_sql = partial(statement, __package__)


def take_away(batch: Batch, contents: Sequence[Content], evalset_ids: Mapping[int, int]) -> None:
    """Delete what earlier files of the same origins brought, segments and systems apart.

    evalset_ids: number on the stage -> evalset_id, of those evaluation sets that the warehouse has.
    """
    files = _evalset_numbers(batch)
    chosen = [content for content in contents if files[content.file_no] in evalset_ids]
    held = {
        "evalsets": [evalset_ids[files[content.file_no]] for content in chosen],
        "origins": [content.claim.origin for content in chosen],
    }
    connection = batch.connection
    connection.execute(_sql("earlier_source"), held)
    if batch.rows("SELECT 1 FROM temp.earlier_source LIMIT 1"):
        connection.execute(_REMOVED)
        remove_vectors(connection)
        for table in ("segment_text", "source"):
            connection.execute(f"DELETE FROM {table} WHERE source_id IN (SELECT source_id FROM temp.earlier_source)")


def _evalset_numbers(batch: Batch) -> dict[int, int]:
    return {file_no: stage.evalset_no for stage in batch.stages for file_no in stage.file_numbers}


def record_sources(batch: Batch, contents: Sequence[Content], evalset_ids: Mapping[int, int]) -> None:
    """Record the files, loaded or refused; temp.staged_source tells number and evaluation set of each afterwards."""
    ((first,),) = batch.rows("SELECT coalesce(max(source_id), 0) + 1 FROM source")
    files, rows = _evalset_numbers(batch), []
    for source_id, content in enumerate(contents, start=first):
        stage = batch.stage_of(content.file_no)
        faults = stage.faults.get(content.file_no, [])
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
                "fault": "; ".join(map(str, faults)) or None,
                "n_evalsets": content.n_evalsets,
                "bundle": content.claim.bundle,
            }
        )
    batch.connection.execute(_sql("staged_source"))
    if rows:
        frame = pl.DataFrame(rows, infer_schema_length=None)
        batch.add("source", frame.with_columns(pl.col("fault", "bundle").cast(pl.String)))
    batch.connection.execute(_sql("insert_sources"))
