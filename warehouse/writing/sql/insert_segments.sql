-- The staged segments; those that no file declares have no source.
INSERT INTO segment
SELECT
  o.evalset_id, n.segment, n.position, n.domain, n.document, n.index_in_document,
  CASE WHEN n.is_declared THEN o.source_id END, n.phenomenon, n.phenomenon_class
FROM temp.staged_segment AS n
JOIN temp.staged_source AS o ON o.file_no = n.file_no
ORDER BY o.evalset_id, n.segment
