-- How far behind are metrics without a reference? The best of both sorts in each evaluation set.
WITH agreement AS (
  SELECT year, testset, lp, metric, base_metric, kind, count(*) AS n_systems, corr(human_score, metric_score) AS pearson
  FROM ranked_scores
  GROUP BY ALL
  HAVING isfinite(pearson)
),
best AS (
  SELECT
    a.year,
    a.testset,
    a.lp,
    arg_max(a.metric, a.pearson) FILTER (WHERE NOT m.is_reference_free) AS reference_based,
    max(a.pearson) FILTER (WHERE NOT m.is_reference_free) AS pearson_based,
    arg_max(a.metric, a.pearson) FILTER (WHERE m.is_reference_free) AS reference_free,
    max(a.pearson) FILTER (WHERE m.is_reference_free) AS pearson_free
  FROM agreement AS a
  JOIN metrics AS m ON m.testset = a.testset AND m.lp = a.lp AND m.metric = a.metric
  GROUP BY ALL
)
SELECT
  year,
  testset,
  lp,
  pearson_free - pearson_based AS gap,
  reference_based,
  pearson_based,
  reference_free,
  pearson_free
FROM best
WHERE gap IS NOT NULL
ORDER BY year, gap DESC, lp
