-- Systems with a vector of segment scores by one scorer. One row per system.
-- Params: $evalset, $scorer.
SELECT y.name
FROM vector AS v
JOIN system AS y ON y.system_id = v.system_id
WHERE v.evalset_id = $evalset AND v.scorer_id = $scorer AND v.level = 'seg'
ORDER BY v.vector_id
