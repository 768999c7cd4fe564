-- Number of vectors that stand there twice. One row.
-- Params: $evalset.
SELECT count(*)
FROM (
  SELECT 1 FROM vector WHERE evalset_id = $evalset GROUP BY scorer_id, system_id, level HAVING count(*) > 1
)
