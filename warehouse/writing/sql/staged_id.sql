-- Identifiers of the staged vectors, in the order (kind, scorer, level, system) of each evaluation set.
CREATE OR REPLACE TEMP TABLE staged_id AS
SELECT
  n.vector_no,
  ((SELECT coalesce(max(vector_id), 0) FROM vector)
    + row_number() OVER (ORDER BY o.evalset_no, n.kind, n.scorer, n.level, n.system))::INTEGER AS vector_id
FROM temp.staged_vector AS n
JOIN temp.staged_source AS o ON o.file_no = n.file_no
