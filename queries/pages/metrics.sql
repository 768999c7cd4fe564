-- All metrics. No params. One row per metric.
SELECT base_metric, count(DISTINCT (testset, lp)) AS n_evalsets
FROM metrics
GROUP BY ALL
ORDER BY n_evalsets DESC, base_metric
