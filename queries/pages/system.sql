-- Human scores of a system. Params: $system, the canonical name. One row per evaluation set and human score.
SELECT s.testset, s.lp, s.scorer AS human, s.system, s.score
FROM system_scores AS s
JOIN systems AS y ON y.testset = s.testset AND y.lp = s.lp AND y.system = s.system
WHERE s.kind = 'human' AND y.canonical_name = $system
ORDER BY s.testset, s.lp, human
