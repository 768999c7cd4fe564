-- Do metrics agree better with human scores in some domains? Mean correlation of segment scores over the language pairs and
-- the metrics of a kind.
WITH each AS (
  SELECT s.testset, s.lp, s.domain, s.kind, s.metric, corr(s.human_score, s.metric_score) AS pearson
  FROM scored_segments AS s
  JOIN evalsets AS e ON e.testset = s.testset AND e.lp = s.lp AND e.standard_human_seg = s.human
  WHERE s.domain IS NOT NULL
  GROUP BY ALL
  HAVING isfinite(pearson)
)
SELECT testset, kind, domain, count(*) AS n_correlations, avg(pearson ORDER BY lp, metric) AS mean_pearson
FROM each
GROUP BY ALL
ORDER BY testset, kind, mean_pearson DESC
