-- Where a metric is. Params: $metric, without its reference. One row per evaluation set and variant.
SELECT year, testset, lp, metric, status, n_systems, n_scores
FROM metrics
WHERE base_metric = $metric
ORDER BY year, testset, lp, metric
