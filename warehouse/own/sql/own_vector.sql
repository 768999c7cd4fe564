-- Vectors of a user's own metric. One row per vector.
-- Params: $metric (full or base name), $testset, $lp (null for all).
CREATE OR REPLACE TEMP TABLE own_vector AS
SELECT
  v.vector_id, v.source_id, v.evalset_id, v.scorer_id, v.n_values, e.testset_id, sc.base_name,
  t.name AS testset, e.lp, sc.name AS metric
FROM vector AS v
JOIN entry AS n ON n.evalset_id = v.evalset_id AND n.scorer_id = v.scorer_id AND n.is_own
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
JOIN evalset AS e ON e.evalset_id = v.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE (sc.name = $metric OR sc.base_name = $metric)
  AND ($testset IS NULL OR t.name = $testset) AND ($lp IS NULL OR e.lp = $lp)
