-- Can metrics tell the best systems apart? Agreement over all systems and over the better half alone.
WITH halved AS (
  SELECT *, human_score >= median(human_score) OVER (PARTITION BY testset, lp, metric) AS is_better
  FROM ranked_scores
),
each AS (
  SELECT
    year, testset, lp, kind, metric, corr(human_score, metric_score) AS over_all,
    corr(human_score, metric_score) FILTER (WHERE is_better) AS over_better,
    count(*) FILTER (WHERE is_better) AS n_better
  FROM halved
  GROUP BY ALL
  HAVING n_better > 3 AND isfinite(over_all) AND isfinite(over_better)
)
SELECT
  year,
  kind,
  count(*) AS n_rankings,
  median(over_all) AS median_over_all,
  median(over_better) AS median_over_better
FROM each
GROUP BY ALL
ORDER BY year, median_over_better DESC
