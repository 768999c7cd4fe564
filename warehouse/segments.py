"""Segments of the evaluation sets of a batch in the warehouse: written, counted, and numbered anew."""

from warehouse.stage import Batch

_RENUMBERED = """
CREATE OR REPLACE TEMP TABLE renumbered_{table} AS
SELECT s.* REPLACE (coalesce(n.new, s.segment) AS segment)
FROM {table} AS s
JOIN vector AS v ON v.vector_id = s.vector_id
JOIN temp.staged_evalset AS e ON e.evalset_id = v.evalset_id
LEFT JOIN temp.staged_renumbering AS n ON n.evalset_no = e.evalset_no AND n.old = s.segment {where}
WHERE e.evalset_no IN (SELECT evalset_no FROM temp.staged_renumbering WHERE new IS NOT NULL)
"""
_SAME_NUMBERS = "AND s.status <> 'tutorial'"  # the texts that teach annotators are no segments


def renumber(batch: Batch) -> None:
    """Give scores and judgements of the warehouse the numbers that their segments have now.

    To be called once what the files brought before is taken away, and before the segments are written.
    """
    if not batch.rows("SELECT 1 FROM temp.staged_renumbering WHERE new IS NOT NULL LIMIT 1"):
        return
    for table, where, order in (
        ("score", "", "vector_id, segment"),
        ("judgement", _SAME_NUMBERS, "vector_id, segment, judgement_id"),
    ):
        renumbered = f"temp.renumbered_{table}"
        batch.connection.execute(_RENUMBERED.format(table=table, where=where))
        batch.connection.execute(
            f"DELETE FROM {table} WHERE vector_id IN (SELECT DISTINCT vector_id FROM {renumbered})"
        )
        batch.connection.execute(f"INSERT INTO {table} SELECT * FROM {renumbered} ORDER BY {order}")
        batch.connection.execute(f"DROP TABLE {renumbered}")


def write_segments(batch: Batch) -> None:
    """Declared segments replace all; others, that scores name, have no source.

    Those come to what there is, or replace it where the numbers changed.
    """
    connection = batch.connection
    if any(stage.segments for stage in batch.stages):
        connection.execute(
            """
            DELETE FROM segment
            WHERE evalset_id IN (
              SELECT o.evalset_id
              FROM temp.staged_segment AS n
              JOIN temp.staged_source AS o ON o.file_no = n.file_no
              WHERE n.is_declared OR o.evalset_no IN (SELECT unnest($replaced::INTEGER[]))
            )
            """,
            {"replaced": [stage.evalset_no for stage in batch.stages if stage.replaces_segments]},
        )
        connection.execute(
            """
            INSERT INTO segment
            SELECT
              o.evalset_id, n.segment, n.position, n.domain, n.document, n.index_in_document,
              CASE WHEN n.is_declared THEN o.source_id END
            FROM temp.staged_segment AS n
            JOIN temp.staged_source AS o ON o.file_no = n.file_no
            ORDER BY o.evalset_id, n.segment
            """
        )
        count_segments(batch)
    connection.execute(
        """
        INSERT INTO segment_text
        SELECT o.evalset_id, n.kind, n.name, n.segment, n.text, o.source_id
        FROM temp.staged_text AS n
        JOIN temp.staged_source AS o ON o.file_no = n.file_no
        ORDER BY o.evalset_id, n.kind, n.name, n.segment
        """
    )


def count_segments(batch: Batch) -> None:
    batch.connection.execute(
        """
        UPDATE evalset
        SET n_segments = n.n
        FROM (
          SELECT e.evalset_id, count(g.segment) AS n
          FROM temp.staged_evalset AS e
          LEFT JOIN segment AS g ON g.evalset_id = e.evalset_id
          GROUP BY e.evalset_id
        ) AS n
        WHERE n.evalset_id = evalset.evalset_id AND n.n IS DISTINCT FROM coalesce(evalset.n_segments, 0)
        """
    )
