-- Number of scores that stand there twice. One row.
-- Params: $evalset.
SELECT count(*)
FROM (
  SELECT 1
  FROM score AS s
  JOIN vector AS v ON v.vector_id = s.vector_id
  WHERE v.evalset_id = $evalset
  GROUP BY s.vector_id, s.segment
  HAVING count(*) > 1
)
