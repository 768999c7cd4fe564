"""Segments of the evaluation sets of a batch in the warehouse: written, counted, numbered anew, removed."""

from collections.abc import Mapping
from functools import partial

from warehouse.database.stage import Batch
from warehouse.database.statements import statement

_LOOSE = """
SELECT 1 FROM segment
WHERE evalset_id IN (SELECT evalset_id FROM temp.staged_evalset) AND source_id IS NULL
LIMIT 1
"""
_sql = partial(statement, __package__)


def renumber(batch: Batch) -> None:
    """Give scores and judgements of the warehouse the numbers that their segments have now.

    To be called once what the files brought before is taken away, and before the segments are written. What nothing is
    left of gets no insert: after one of no rows, DuckDB shows a later large one of the same transaction to nobody.
    """
    if not batch.rows("SELECT 1 FROM temp.staged_renumbering WHERE new IS NOT NULL LIMIT 1"):
        return
    for table, order in (("score", "vector_id, segment"), ("judgement", "vector_id, segment, judgement_id")):
        renumbered = f"temp.renumbered_{table}"
        batch.connection.execute(_sql(f"renumbered_{table}"))
        if batch.rows(f"SELECT 1 FROM {renumbered} LIMIT 1"):
            batch.connection.execute(f"DELETE FROM {table} WHERE vector_id IN (SELECT vector_id FROM {renumbered})")
            batch.connection.execute(f"INSERT INTO {table} FROM {renumbered} ORDER BY {order}")
        batch.connection.execute(f"DROP TABLE {renumbered}")


def write_segments(batch: Batch, evalset_ids: Mapping[int, int]) -> None:
    """Segments and texts. Declared segments replace all; others, that scores name, have no source.

    Those come to what there is, or replace it where the numbers changed. evalset_ids: by number, of those evaluation
    sets that the warehouse has.
    """
    if any(stage.segments for stage in batch.stages):
        if evalset_ids:
            replaced = [stage.evalset_no for stage in batch.stages if stage.replaces_segments]
            batch.connection.execute(_sql("delete_segments"), {"replaced": replaced})
        batch.connection.execute(_sql("insert_segments"))
        batch.connection.execute(_sql("count_segments"))
    if batch.has("text"):
        batch.connection.execute(_sql("insert_texts"))


def remove_nameless_segments(batch: Batch) -> None:
    """Delete segments that nothing declares and no file names any more."""
    if batch.rows(_LOOSE):
        batch.connection.execute(_sql("delete_nameless_segments"))
        batch.connection.execute(_sql("count_segments"))
