-- Which metric is best for each language pair and year?
WITH agreement AS (
  SELECT year, testset, lp, metric, base_metric, kind, count(*) AS n_systems, corr(human_score, metric_score) AS pearson
  FROM ranked_scores
  GROUP BY ALL
  HAVING isfinite(pearson)
)
SELECT
  year,
  testset,
  lp,
  max(n_systems) AS n_systems,
  count(*) AS n_metrics,
  arg_max(metric, pearson) AS best,
  max(pearson) AS pearson
FROM agreement
GROUP BY ALL
ORDER BY year, testset, lp
