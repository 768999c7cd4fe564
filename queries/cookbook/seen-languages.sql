-- Do metrics agree better with human scores on languages that most trained metrics were trained on?
WITH agreement AS (
  SELECT year, testset, lp, metric, base_metric, kind, count(*) AS n_systems, corr(human_score, metric_score) AS pearson
  FROM ranked_scores
  GROUP BY ALL
  HAVING isfinite(pearson)
)
SELECT
  a.year,
  a.kind,
  l.in_da_training AS is_target_seen,
  count(DISTINCT (a.testset, a.lp)) AS n_evalsets,
  count(*) AS n_rankings,
  median(a.pearson) AS median_pearson
FROM agreement AS a
JOIN evalsets AS e ON e.testset = a.testset AND e.lp = a.lp
JOIN languages AS l ON l.code = e.target_language
GROUP BY ALL
ORDER BY a.year, a.kind, is_target_seen
