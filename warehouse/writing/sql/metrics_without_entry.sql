-- Metrics with scores and without an entry. One row per evaluation set and metric: evalset_no, scorer_id, base_name.
SELECT DISTINCT e.evalset_no, sc.scorer_id, sc.base_name
FROM temp.staged_evalset AS e
JOIN vector AS v ON v.evalset_id = e.evalset_id
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'metric'
ANTI JOIN entry AS n ON n.evalset_id = e.evalset_id AND n.scorer_id = sc.scorer_id
ORDER BY e.evalset_no, sc.scorer_id
