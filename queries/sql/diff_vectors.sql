-- What there are scores of in a test set.
-- Params: $testset, $lp (NULL: all). One row per evaluation set, scorer, system and level. what: the kind of scores.
SELECT
  e.lp,
  v.vector_id,
  CASE v.level
    WHEN 'seg' THEN sc.kind || ' scores'
    WHEN 'sys' THEN 'system scores'
    WHEN 'domain' THEN 'domain scores'
    ELSE 'document scores'
  END AS what,
  sc.kind,
  sc.name,
  y.name AS system,
  v.level
FROM testset AS t
JOIN evalset AS e ON e.testset_id = t.testset_id
JOIN vector AS v ON v.evalset_id = e.evalset_id
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
JOIN system AS y ON y.system_id = v.system_id
WHERE t.name = $testset AND ($lp IS NULL OR e.lp = $lp)
ORDER BY e.lp, sc.kind, sc.name, y.name, v.level;
