-- Where do human translations stand among the systems, by the official human score?
WITH placed AS (
  SELECT
    s.testset, s.lp, s.scorer AS human, s.system, y.kind, s.score,
    rank() OVER (PARTITION BY s.testset, s.lp ORDER BY s.score DESC) AS rank,
    count(*) OVER (PARTITION BY s.testset, s.lp) AS n_systems
  FROM system_scores AS s
  JOIN evalsets AS e ON e.testset = s.testset AND e.lp = s.lp AND e.standard_human_sys = s.scorer
  JOIN systems AS y ON y.testset = s.testset AND y.lp = s.lp AND y.system = s.system
  WHERE s.kind = 'human' AND s.score IS NOT NULL
)
SELECT testset, lp, human, system, score, rank, n_systems
FROM placed
WHERE kind = 'human'
ORDER BY testset, lp, rank, system
