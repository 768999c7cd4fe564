-- Single judgements of one evaluation set. One row per judgement.
-- Params: $evalset.
SELECT v.scorer_id, sc.kind, sc.name, v.is_derived, y.name, j.segment, j.judgement_id, j.rater, j.status, j.value
FROM judgement AS j
JOIN vector AS v ON v.vector_id = j.vector_id
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
JOIN system AS y ON y.system_id = v.system_id
WHERE v.evalset_id = $evalset
ORDER BY v.vector_id, j.segment, j.judgement_id
