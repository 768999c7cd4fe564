-- Names and further spellings of systems.
-- Params: $testsets, $lps, as long as each other. One row per name: testset, lp, name, system, is_outlier.
SELECT t.name, e.lp, n.name, y.name, y.is_outlier
FROM system AS y
JOIN (
  SELECT system_id, name FROM system
  UNION ALL
  SELECT system_id, spelling FROM system_spelling
) AS n ON n.system_id = y.system_id
JOIN evalset AS e ON e.evalset_id = y.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE (t.name, e.lp) IN (SELECT (n.testset, n.lp) FROM (SELECT unnest($testsets) AS testset, unnest($lps) AS lp) AS n)
