-- Vectors of one evaluation set with their names, and whether a user added the scorer, or it was no submission to the
-- metrics task. One row per vector.
-- Params: $evalset.
SELECT
  v.vector_id,
  sc.kind,
  sc.name,
  y.name,
  v.level,
  v.is_derived,
  coalesce(n.is_own, false),
  coalesce(n.status = 'no entry', false)
FROM vector AS v
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
JOIN system AS y ON y.system_id = v.system_id
LEFT JOIN entry AS n ON n.evalset_id = v.evalset_id AND n.scorer_id = v.scorer_id
WHERE v.evalset_id = $evalset
ORDER BY v.vector_id
