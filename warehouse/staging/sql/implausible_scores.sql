-- Scores on the stage that are no finite numbers, or too large in size.
-- Params: $largest. One row per file, for segment scores and for others: file_no, is_aggregate, n, first system.
WITH implausible AS (
  SELECT vector_no, false AS is_aggregate
  FROM temp.staged_score
  WHERE NOT isfinite(value) OR abs(value) > $largest
  UNION ALL
  SELECT vector_no, true
  FROM temp.staged_aggregate
  WHERE NOT isfinite(value) OR abs(value) > $largest
)
SELECT v.file_no, i.is_aggregate, count(*), min(v.system)
FROM implausible AS i
JOIN temp.staged_vector AS v ON v.vector_no = i.vector_no
GROUP BY v.file_no, i.is_aggregate
ORDER BY i.is_aggregate, v.file_no
