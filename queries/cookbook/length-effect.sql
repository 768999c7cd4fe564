-- Do metrics agree less with human scores on long sources? Mean correlation of segment scores by quarter of source length,
-- over the language pairs and the metrics of a kind.
WITH quarter AS (
  SELECT testset, lp, segment, ntile(4) OVER (PARTITION BY testset, lp ORDER BY length(source_text), segment) AS quarter
  FROM segments
  WHERE source_text IS NOT NULL
),
each AS (
  SELECT
    s.testset, s.lp, s.kind, s.metric, q.quarter, min(s.length) AS shortest, max(s.length) AS longest,
    corr(s.human_score, s.metric_score) AS pearson
  FROM scored_segments AS s
  JOIN evalsets AS e ON e.testset = s.testset AND e.lp = s.lp AND e.standard_human_seg = s.human
  JOIN quarter AS q ON q.testset = s.testset AND q.lp = s.lp AND q.segment = s.segment
  GROUP BY ALL
  HAVING isfinite(pearson)
)
SELECT
  testset,
  kind,
  quarter,
  min(shortest) AS shortest,
  max(longest) AS longest,
  count(*) AS n_correlations,
  avg(pearson ORDER BY lp, metric) AS mean_pearson
FROM each
GROUP BY ALL
ORDER BY testset, kind, quarter
