-- References that metrics used.
-- Params: $testset, $lp.
SELECT DISTINCT sc.reference
FROM vector AS v
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
JOIN evalset AS e ON e.evalset_id = v.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE sc.kind = 'metric' AND sc.reference IS NOT NULL AND t.name = $testset AND e.lp = $lp
