-- Scorers of one evaluation set, whether a user added them, and whether they were not submitted to the metrics task.
-- Params: $evalset. One row per scorer.
SELECT DISTINCT
  sc.scorer_id,
  sc.kind,
  sc.name,
  coalesce(n.is_own, false) AS is_own,
  coalesce(n.status = 'no entry', false) AS is_no_entry
FROM vector AS v
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
LEFT JOIN entry AS n ON n.evalset_id = v.evalset_id AND n.scorer_id = v.scorer_id
WHERE v.evalset_id = $evalset
ORDER BY sc.kind, sc.name
