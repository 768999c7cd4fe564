-- Names and further spellings of the systems of an evaluation set.
-- Params: $testset, $lp. One row per name: name, system.
SELECT n.name, y.name
FROM system AS y
JOIN (
  SELECT system_id, name FROM system
  UNION ALL
  SELECT system_id, spelling FROM system_spelling
) AS n ON n.system_id = y.system_id
JOIN evalset AS e ON e.evalset_id = y.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE t.name = $testset AND e.lp = $lp
ORDER BY n.name
