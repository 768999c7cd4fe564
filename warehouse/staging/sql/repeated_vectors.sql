-- Pairs of staged vectors that are one and the same: of two files, or twice of one. One row per pair.
-- Params: $files, $evalsets, as long as each other.
WITH of_file AS (SELECT unnest($files::INTEGER[]) AS file_no, unnest($evalsets::INTEGER[]) AS evalset_no),
here AS (
  SELECT v.*, o.evalset_no
  FROM temp.staged_vector AS v
  JOIN of_file AS o ON o.file_no = v.file_no
)
SELECT a.vector_no, a.file_no, b.vector_no, b.file_no, a.kind, a.scorer, a.system, a.level
FROM here AS a
JOIN here AS b
  ON b.evalset_no = a.evalset_no
  AND b.kind = a.kind AND b.scorer = a.scorer AND b.system = a.system AND b.level = a.level
  AND b.vector_no > a.vector_no
ORDER BY a.vector_no, b.vector_no
