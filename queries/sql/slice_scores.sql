-- Scores of segments by the metrics and the human score of a slice: what blocks and frames are made of.
-- Params: $evalset, $scorers and $systems (lists of identifiers), $segments (list). One row per score.
SELECT v.scorer_id, v.system_id, s.segment, s.value
FROM vector AS v
JOIN score AS s ON s.vector_id = v.vector_id
WHERE v.evalset_id = $evalset AND v.level = 'seg' AND s.value IS NOT NULL
  AND list_contains($scorers::INTEGER[], v.scorer_id)
  AND list_contains($systems::INTEGER[], v.system_id)
  AND s.segment IN (SELECT unnest($segments::INTEGER[]));
