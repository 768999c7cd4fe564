"""Where scores came from: the files of a load, recorded; and what earlier files of the same origins brought."""

from collections.abc import Mapping, Sequence

from warehouse.readers.base import Content
from warehouse.stage import Batch

_OLD = """
SELECT source_id
FROM source
WHERE (evalset_id, origin) IN (
  SELECT (n.evalset_id, n.origin)
  FROM (SELECT unnest($evalsets::INTEGER[]) AS evalset_id, unnest($origins::VARCHAR[]) AS origin) AS n
)
"""
_OLD_VECTORS = "SELECT vector_id FROM vector WHERE source_id IN (SELECT unnest($old::INTEGER[]))"
_OLD_JUDGEMENTS = f"SELECT judgement_id FROM judgement WHERE vector_id IN ({_OLD_VECTORS})"
_TAKE_AWAY = (
    f"DELETE FROM rating WHERE judgement_id IN ({_OLD_JUDGEMENTS})",
    f"DELETE FROM judgement WHERE vector_id IN ({_OLD_VECTORS})",
    f"DELETE FROM score WHERE vector_id IN ({_OLD_VECTORS})",
    f"DELETE FROM aggregate_score WHERE vector_id IN ({_OLD_VECTORS})",
    "DELETE FROM vector WHERE source_id IN (SELECT unnest($old::INTEGER[]))",
    "DELETE FROM segment_text WHERE source_id IN (SELECT unnest($old::INTEGER[]))",
    "DELETE FROM source WHERE source_id IN (SELECT unnest($old::INTEGER[]))",
)


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
    old = [source_id for (source_id,) in batch.rows(_OLD, held)]
    for statement in _TAKE_AWAY if old else ():
        batch.connection.execute(statement, {"old": old})


def _evalset_numbers(batch: Batch) -> dict[int, int]:
    return {file_no: stage.evalset_no for stage in batch.stages for file_no in stage.file_numbers}


def record_sources(batch: Batch, contents: Sequence[Content], evalset_ids: Mapping[int, int]) -> None:
    """Record the files, loaded or refused; temp.staged_source tells number and evaluation set of each afterwards."""
    import polars as pl

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
            }
        )
    batch.connection.execute(
        """
        CREATE OR REPLACE TEMP TABLE staged_source (
          file_no INTEGER, evalset_no INTEGER, evalset_id INTEGER, source_id INTEGER, origin VARCHAR, path VARCHAR,
          sha256 VARCHAR, n_bytes BIGINT, reader VARCHAR, n_rows BIGINT, n_missing BIGINT, status VARCHAR,
          fault VARCHAR, n_evalsets INTEGER
        )
        """
    )
    if rows:
        frame = pl.DataFrame(rows, infer_schema_length=None)
        batch.add("source", frame.with_columns(pl.col("fault").cast(pl.String)))
    batch.connection.execute(
        """
        INSERT INTO source
        SELECT
          n.source_id, n.evalset_id, n.origin, n.path, n.sha256, n.n_bytes, n.reader, n.n_rows, n.n_missing,
          (now() AT TIME ZONE 'UTC')::TIMESTAMP, n.status, n.fault, n.n_evalsets
        FROM temp.staged_source AS n
        ORDER BY n.source_id
        """
    )
