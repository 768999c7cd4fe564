-- Scores of one segment by some scorers; NULL where it is missing.
-- Params: $evalset, $segment, $scorers (identifiers). One row per scorer and system.
SELECT v.scorer_id, y.name AS system, y.kind AS system_kind, s.value
FROM vector AS v
JOIN system AS y ON y.system_id = v.system_id
JOIN score AS s ON s.vector_id = v.vector_id AND s.segment = $segment
WHERE v.evalset_id = $evalset AND v.level = 'seg' AND list_contains($scorers::INTEGER[], v.scorer_id)
ORDER BY v.scorer_id, y.name;
