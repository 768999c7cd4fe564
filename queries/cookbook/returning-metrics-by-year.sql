-- How did the metrics of several years do in each? Mean Pearson correlation over language pairs; other systems and
-- another protocol every year, so compare metrics within a year.
WITH agreement AS (
  SELECT year, testset, lp, metric, base_metric, kind, count(*) AS n_systems, corr(human_score, metric_score) AS pearson
  FROM ranked_scores
  GROUP BY ALL
  HAVING isfinite(pearson)
),
yearly AS (
  SELECT base_metric, year, avg(pearson ORDER BY testset, lp, metric) AS pearson
  FROM agreement
  GROUP BY ALL
)
SELECT
  base_metric,
  count(*) AS n_years,
  array_to_string(list(year || ': ' || format('{:.3f}', pearson) ORDER BY year), '  ') AS mean_pearson
FROM yearly
GROUP BY ALL
HAVING n_years > 1
ORDER BY n_years DESC, base_metric
