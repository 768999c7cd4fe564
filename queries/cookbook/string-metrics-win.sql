-- In which language pairs does a string metric beat every metric of another kind?
WITH agreement AS (
  SELECT year, testset, lp, metric, base_metric, kind, count(*) AS n_systems, corr(human_score, metric_score) AS pearson
  FROM ranked_scores
  GROUP BY ALL
  HAVING isfinite(pearson)
),
best AS (
  SELECT
    year,
    testset,
    lp,
    arg_max(metric, pearson) FILTER (WHERE kind = 'string') AS string_metric,
    max(pearson) FILTER (WHERE kind = 'string') AS string_pearson,
    arg_max(metric, pearson) FILTER (WHERE kind <> 'string') AS other_metric,
    max(pearson) FILTER (WHERE kind <> 'string') AS other_pearson,
    max(n_systems) AS n_systems
  FROM agreement
  GROUP BY ALL
)
SELECT *, string_pearson - other_pearson AS gap
FROM best
WHERE string_pearson > other_pearson
ORDER BY gap DESC
