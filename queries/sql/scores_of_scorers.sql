-- Segment scores of some scorers of an evaluation set.
-- Params: $evalset, $scorers (their numbers). One row per scorer, system and segment.
SELECT v.scorer_id, v.system_id, s.segment, s.value AS metric
FROM vector AS v
JOIN score AS s ON s.vector_id = v.vector_id
WHERE v.evalset_id = $evalset AND v.level = 'seg' AND v.scorer_id IN (SELECT unnest($scorers::INTEGER[]))
ORDER BY v.scorer_id, v.system_id, s.segment;
