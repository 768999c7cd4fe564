-- Scorers of one evaluation set and whether the metrics task has them not. One row per scorer.
-- Params: $evalset.
SELECT DISTINCT sc.scorer_id, sc.kind, sc.name, coalesce(n.status = 'no entry' OR n.is_own, false)
FROM vector AS v
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
LEFT JOIN entry AS n ON n.evalset_id = v.evalset_id AND n.scorer_id = v.scorer_id
WHERE v.evalset_id = $evalset
ORDER BY sc.kind, sc.name
