-- Segment scores of one evaluation set at one level, vector by vector. One row per score.
-- Params: $evalset, $level.
SELECT v.scorer_id, y.name, s.segment, s.value
FROM vector AS v
JOIN system AS y ON y.system_id = v.system_id
JOIN score AS s ON s.vector_id = v.vector_id
WHERE v.evalset_id = $evalset AND v.level = $level
ORDER BY v.vector_id, s.segment
