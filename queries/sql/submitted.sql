-- System scores as submitted. Params: $evalset, $scorers and $systems (lists of identifiers). One row per scorer and system.
SELECT v.scorer_id, v.system_id, a.value
FROM vector AS v
JOIN aggregate_score AS a ON a.vector_id = v.vector_id
WHERE v.evalset_id = $evalset AND v.level = 'sys'
  AND list_contains($scorers::INTEGER[], v.scorer_id)
  AND list_contains($systems::INTEGER[], v.system_id)
ORDER BY v.scorer_id, v.system_id;
