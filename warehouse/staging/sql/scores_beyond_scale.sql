-- Human scores of some files on the stage that lie beyond the scale of their protocol.
-- Params: $files, $scorers, $lowest, $highest. One row per file and scorer: file_no, scorer, n, first system and its value.
WITH beyond AS (
  SELECT vector_no, value
  FROM temp.staged_score
  WHERE value NOT BETWEEN $lowest AND $highest
  UNION ALL
  SELECT vector_no, value
  FROM temp.staged_aggregate
  WHERE value NOT BETWEEN $lowest AND $highest
)
SELECT v.file_no, v.scorer, count(*), min(v.system), arg_min(b.value, v.system)
FROM beyond AS b
JOIN temp.staged_vector AS v ON v.vector_no = b.vector_no
WHERE v.kind = 'human' AND list_contains($files::INTEGER[], v.file_no) AND list_contains($scorers::VARCHAR[], v.scorer)
GROUP BY v.file_no, v.scorer
ORDER BY v.file_no, v.scorer
