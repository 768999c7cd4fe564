-- How much do correlations depend on outliers? With and without the systems on the organisers' list.
WITH paired AS (
  SELECT r.testset, r.lp, r.metric, r.kind, m.system, h.score AS human_score, m.score AS metric_score, y.is_outlier
  FROM (SELECT DISTINCT testset, lp, human, metric, kind FROM ranked_scores) AS r
  JOIN system_scores AS m ON m.testset = r.testset AND m.lp = r.lp AND m.kind = 'metric' AND m.scorer = r.metric
  JOIN system_scores AS h
    ON h.testset = r.testset AND h.lp = r.lp AND h.kind = 'human' AND h.scorer = r.human AND h.system = m.system
  JOIN systems AS y ON y.testset = r.testset AND y.lp = r.lp AND y.system = m.system AND y.kind = 'mt'
),
each AS (
  SELECT
    testset,
    lp,
    metric,
    kind,
    count(*) FILTER (WHERE is_outlier) AS n_outliers,
    corr(human_score, metric_score) AS with_them,
    corr(human_score, metric_score) FILTER (WHERE NOT is_outlier) AS without_them
  FROM paired
  GROUP BY ALL
  HAVING n_outliers > 0 AND isfinite(with_them) AND isfinite(without_them)
)
SELECT
  testset, lp, max(n_outliers) AS n_outliers, count(*) AS n_metrics, median(with_them) AS median_with,
  median(without_them) AS median_without, median_with - median_without AS gain_from_outliers
FROM each
GROUP BY ALL
ORDER BY gain_from_outliers DESC, testset, lp
