-- The score of each system, and how much its segment scores vary, for one scorer.
-- Params: $testset, $lp, $scorer. One row per system.
WITH one AS (
  SELECT testset, lp, system, metric AS scorer, value FROM scores
  UNION ALL
  SELECT testset, lp, system, human, value FROM human_scores
)
SELECT y.system, y.score, count(one.value) AS n_scores, count(DISTINCT one.value) AS n_distinct,
  min(one.value) AS lowest, max(one.value) AS highest
FROM system_scores AS y
LEFT JOIN one ON one.testset = y.testset AND one.lp = y.lp AND one.scorer = y.scorer AND one.system = y.system
WHERE y.testset = $testset AND y.lp = $lp AND y.scorer = $scorer
GROUP BY y.system, y.score
ORDER BY n_distinct, y.system;
