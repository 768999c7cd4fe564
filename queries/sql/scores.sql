-- Scores of segments in evaluation sets that are read at once.
-- Params: $evalsets (list of identifiers). One row per score; NULL where it is missing.
SELECT v.evalset_id, v.scorer_id, v.system_id, s.segment, s.value
FROM vector AS v
JOIN score AS s ON s.vector_id = v.vector_id
WHERE v.level = 'seg' AND v.evalset_id IN (SELECT unnest($evalsets::INTEGER[]));
