-- Which metrics say nearly the same? Pairs by their mean correlation over system scores.
WITH ranked AS MATERIALIZED (
  SELECT testset, lp, system, metric, base_metric, metric_score
  FROM ranked_scores
),
pair AS (
  SELECT a.testset, a.lp, a.base_metric AS one, b.base_metric AS other, corr(a.metric_score, b.metric_score) AS pearson
  FROM ranked AS a
  JOIN ranked AS b ON b.testset = a.testset AND b.lp = a.lp AND b.system = a.system AND b.base_metric > a.base_metric
  GROUP BY a.testset, a.lp, a.metric, b.metric, one, other
  HAVING isfinite(pearson)
)
SELECT
  one,
  other,
  count(DISTINCT (testset, lp)) AS n_evalsets,
  avg(pearson ORDER BY testset, lp) AS mean_pearson,
  min(pearson) AS least
FROM pair
GROUP BY ALL
HAVING n_evalsets >= 3
ORDER BY mean_pearson DESC, one, other
LIMIT 20
