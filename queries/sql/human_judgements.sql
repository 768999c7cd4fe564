-- Single valid judgements behind one human score of an evaluation set.
-- Params: $evalset, $human. One row per judgement, in a fixed order.
SELECT sy.name AS system, j.segment, j.rater, j.value
FROM judgement AS j
JOIN vector AS v ON v.vector_id = j.vector_id AND v.evalset_id = $evalset AND v.level = 'seg'
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'human' AND sc.name = $human
JOIN system AS sy ON sy.system_id = v.system_id
WHERE j.status = 'valid' AND j.value IS NOT NULL
ORDER BY sy.name, j.segment, j.judgement_id
