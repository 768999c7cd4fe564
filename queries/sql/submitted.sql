-- System scores as submitted. Params: $evalsets (list of identifiers). One row per scorer and system.
SELECT v.evalset_id, v.scorer_id, v.system_id, a.value
FROM vector AS v
JOIN aggregate_score AS a ON a.vector_id = v.vector_id
WHERE v.level = 'sys' AND v.evalset_id IN (SELECT unnest($evalsets::INTEGER[]))
ORDER BY v.scorer_id, v.system_id;
