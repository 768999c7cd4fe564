-- Which metrics rank the systems of a language pair against human scores?
WITH agreement AS (
  SELECT year, testset, lp, metric, base_metric, kind, count(*) AS n_systems, corr(human_score, metric_score) AS pearson
  FROM ranked_scores
  GROUP BY ALL
  HAVING isfinite(pearson)
)
SELECT year, testset, lp, metric, kind, n_systems, pearson
FROM agreement
WHERE pearson < 0
ORDER BY pearson
LIMIT 20
