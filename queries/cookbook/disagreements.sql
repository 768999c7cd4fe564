-- On which segments do human scores and the best metric disagree most? With the texts, newest test sets first among equals.
WITH agreement AS (
  SELECT year, testset, lp, metric, base_metric, kind, count(*) AS n_systems, corr(human_score, metric_score) AS pearson
  FROM ranked_scores
  GROUP BY ALL
  HAVING isfinite(pearson)
),
best AS (
  SELECT a.testset, a.lp, e.standard_human_seg AS human, arg_max(a.metric, a.pearson) AS metric
  FROM agreement AS a
  JOIN evalsets AS e ON e.testset = a.testset AND e.lp = a.lp AND e.is_standard_human_seg_loaded
  JOIN metrics AS m ON m.testset = a.testset AND m.lp = a.lp AND m.metric = a.metric AND m.n_scores > 0
  GROUP BY ALL
),
worst AS (
  SELECT s.testset, s.lp, s.metric, s.system, s.segment, s.human_score, s.human_z, s.metric_z
  FROM best AS b
  JOIN scored_segments AS s ON s.testset = b.testset AND s.lp = b.lp AND s.human = b.human AND s.metric = b.metric
  WHERE s.length IS NOT NULL
  ORDER BY abs(s.human_z - s.metric_z) DESC, s.testset DESC, s.lp, s.system, s.segment
  LIMIT 10
)
SELECT
  w.testset,
  w.lp,
  w.metric,
  w.system,
  w.segment,
  w.human_score,
  w.human_z,
  w.metric_z,
  left(g.source_text, 40) AS source,
  left(x.text, 40) AS output
FROM worst AS w
JOIN segments AS g ON g.testset = w.testset AND g.lp = w.lp AND g.segment = w.segment
LEFT JOIN texts AS x
  ON x.testset = w.testset AND x.lp = w.lp AND x.segment = w.segment AND x.kind = 'output' AND x.name = w.system
ORDER BY abs(w.human_z - w.metric_z) DESC, w.testset DESC, w.lp, w.system, w.segment
