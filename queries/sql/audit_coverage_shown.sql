-- Judged segments of each system, by one human score.
-- Params: $testset, $lp, $human. One row per system.
SELECT h.system, h.n_segments AS n_judged, h.n_segments + h.n_missing AS n_segments
FROM system_scores AS h
WHERE h.testset = $testset AND h.lp = $lp AND h.kind = 'human' AND h.scorer = $human
ORDER BY n_judged, h.system;
