-- Scores of two systems whose names are nearly the same.
-- Params: $testset, $lp, $system, $other. One row per system and scorer.
SELECT s.system, s.kind, s.scorer, s.n_segments
FROM system_scores AS s
WHERE s.testset = $testset AND s.lp = $lp AND s.system IN ($system, $other)
ORDER BY s.system, s.kind, s.scorer;
