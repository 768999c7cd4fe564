-- Human scores of an evaluation set in whose judgements people marked errors, and the number of errors.
-- Params: $evalset. One row per human score, by name.
SELECT sc.name AS human, sc.scorer_id, count(*) AS n
FROM span AS r
JOIN judgement AS j ON j.judgement_id = r.judgement_id
JOIN vector AS v ON v.vector_id = j.vector_id AND v.evalset_id = $evalset AND v.level = 'seg'
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'human'
GROUP BY sc.name, sc.scorer_id
ORDER BY human;
