-- References that metrics or texts name.
-- Params: $testset, $lp (null for all).
SELECT DISTINCT n.reference
FROM (
  SELECT v.evalset_id, sc.reference
  FROM vector AS v JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
  UNION ALL
  SELECT evalset_id, name FROM segment_text WHERE kind = 'reference'
) AS n
JOIN evalset AS e ON e.evalset_id = n.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE n.reference IS NOT NULL AND ($testset IS NULL OR t.name = $testset) AND ($lp IS NULL OR e.lp = $lp)
