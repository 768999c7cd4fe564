-- Metrics of an evaluation set. Params: $testset, $lp. One row per metric.
SELECT metric, family, status, n_systems, n_scores
FROM metrics
WHERE testset = $testset AND lp = $lp
ORDER BY metric
