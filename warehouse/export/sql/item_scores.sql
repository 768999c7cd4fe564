-- Segment scores of MT systems: one human score, and the metrics with one reference or none. One row per score.
-- Params: $evalset, $human, $reference.
SELECT CASE sc.kind WHEN 'human' THEN 'human' ELSE sc.base_name END, y.name, s.segment, s.value
FROM vector AS v
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
JOIN system AS y ON y.system_id = v.system_id AND y.kind = 'mt'
JOIN score AS s ON s.vector_id = v.vector_id AND s.value IS NOT NULL
WHERE v.evalset_id = $evalset AND v.level = 'seg'
  AND CASE sc.kind
    WHEN 'human' THEN sc.name = $human
    ELSE sc.is_reference_free OR sc.reference IS NULL OR sc.reference = $reference
  END
ORDER BY v.vector_id
