-- Status of the metrics of which the organisers' lists decide.
-- Params: $testsets, $lps, as long as each other. One row per evaluation set and metric.
SELECT t.name, e.lp, sc.base_name, n.status
FROM entry AS n
JOIN scorer AS sc ON sc.scorer_id = n.scorer_id
JOIN evalset AS e ON e.evalset_id = n.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE (t.name, e.lp) IN (SELECT (n.testset, n.lp) FROM (SELECT unnest($testsets) AS testset, unnest($lps) AS lp) AS n)
  AND NOT n.is_own
  AND n.status IS DISTINCT FROM 'no entry'
