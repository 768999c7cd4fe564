-- System scores by people, with the rank of each system among those that the same human score has.
-- No params. One row per evaluation set, human score and system, best first.
SELECT
  s.testset,
  s.year,
  s.lp,
  s.scorer AS human,
  s.system,
  y.canonical_name,
  y.kind,
  y.is_outlier,
  s.score,
  rank() OVER (PARTITION BY s.testset, s.lp, s.scorer ORDER BY s.score DESC) AS rank,
  count(*) OVER (PARTITION BY s.testset, s.lp, s.scorer) AS n_systems
FROM system_scores AS s
JOIN systems AS y ON y.testset = s.testset AND y.lp = s.lp AND y.system = s.system AND y.kind <> 'qc'
WHERE s.kind = 'human' AND s.score IS NOT NULL
ORDER BY s.year, s.testset, s.lp, s.scorer, s.score DESC, s.system;
