-- The staged segments, one row each; what one file leaves open, another may tell. Those that no file declares have no
-- source, and those that several declare have the first.
INSERT INTO segment
SELECT
  o.evalset_id,
  n.segment,
  first(n.position ORDER BY n.file_no) FILTER (n.position IS NOT NULL),
  first(n.domain ORDER BY n.file_no) FILTER (n.domain IS NOT NULL),
  first(n.document ORDER BY n.file_no) FILTER (n.document IS NOT NULL),
  first(n.index_in_document ORDER BY n.file_no) FILTER (n.index_in_document IS NOT NULL),
  first(o.source_id ORDER BY n.file_no) FILTER (n.is_declared),
  first(n.phenomenon ORDER BY n.file_no) FILTER (n.phenomenon IS NOT NULL),
  first(n.phenomenon_class ORDER BY n.file_no) FILTER (n.phenomenon_class IS NOT NULL)
FROM temp.staged_segment AS n
JOIN temp.staged_source AS o ON o.file_no = n.file_no
GROUP BY o.evalset_id, n.segment
ORDER BY o.evalset_id, n.segment
