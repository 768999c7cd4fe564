-- Which two metrics are better together? Standardised system scores of two metrics are added up; the best pair of each
-- evaluation set beside the best single metric.
WITH standardised AS (
  SELECT
    testset,
    lp,
    metric,
    system,
    human_score,
    (metric_score - avg(metric_score) OVER of_metric) / nullif(stddev_samp(metric_score) OVER of_metric, 0) AS z
  FROM ranked_scores
  WINDOW of_metric AS (PARTITION BY testset, lp, metric)
),
single AS (
  SELECT testset, lp, metric, corr(human_score, z) AS pearson
  FROM standardised
  GROUP BY ALL
  HAVING isfinite(pearson)
),
strong AS (
  SELECT testset, lp, metric, pearson
  FROM single
  QUALIFY row_number() OVER (PARTITION BY testset, lp ORDER BY pearson DESC, metric) <= 12
),
pair AS (
  SELECT a.testset, a.lp, a.metric AS one, b.metric AS other, corr(a.human_score, a.z + b.z) AS pearson
  FROM standardised AS a
  JOIN strong AS s ON s.testset = a.testset AND s.lp = a.lp AND s.metric = a.metric
  JOIN standardised AS b ON b.testset = a.testset AND b.lp = a.lp AND b.system = a.system AND b.metric > a.metric
  JOIN strong AS t ON t.testset = b.testset AND t.lp = b.lp AND t.metric = b.metric
  GROUP BY ALL
)
SELECT
  p.testset, p.lp, arg_max(p.one || ' + ' || p.other, p.pearson) AS best_pair, max(p.pearson) AS pearson_of_pair,
  any_value(s.best) AS best_single,
  any_value(s.pearson) AS pearson_of_single,
  pearson_of_pair - pearson_of_single AS gain
FROM pair AS p
JOIN (SELECT testset, lp, arg_max(metric, pearson) AS best, max(pearson) AS pearson FROM strong GROUP BY ALL) AS s
  ON s.testset = p.testset AND s.lp = p.lp
WHERE isfinite(p.pearson)
GROUP BY p.testset, p.lp
ORDER BY gain DESC, p.testset, p.lp
