-- Scores of systems, documents or domains, vector by vector. One row per score.
-- Params: $evalset, $level.
SELECT v.scorer_id, y.name, a.unit, a.value
FROM vector AS v
JOIN system AS y ON y.system_id = v.system_id
JOIN aggregate_score AS a ON a.vector_id = v.vector_id
WHERE v.evalset_id = $evalset AND v.level = $level
ORDER BY v.vector_id, a.unit
