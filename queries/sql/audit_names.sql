-- Metrics whose name the registry does not have, so that a rule gave them their family; users' own apart.
-- Params: $testset, $lp (NULL for all). One row per evaluation set and base name.
SELECT m.testset, m.lp, m.base_metric AS metric, f.family
FROM metrics AS m
JOIN metric_facts AS f ON f.testset = m.testset AND f.base_metric = m.base_metric AND NOT f.is_known
WHERE ($testset IS NULL OR m.testset = $testset) AND ($lp IS NULL OR m.lp = $lp)
GROUP BY m.testset, m.lp, m.base_metric, f.family
HAVING NOT bool_and(m.is_own)
ORDER BY m.testset, m.lp, metric;
