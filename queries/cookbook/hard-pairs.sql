-- Which pairs of systems does hardly any metric order correctly, although human scores clearly differ?
WITH ranked AS MATERIALIZED (
  SELECT testset, lp, system, metric, human_score, metric_score
  FROM ranked_scores
),
spread AS (
  SELECT testset, lp, stddev_samp(human_score) AS deviation
  FROM (SELECT DISTINCT testset, lp, system, human_score FROM ranked)
  GROUP BY ALL
)
SELECT
  a.testset,
  a.lp,
  a.system AS better,
  b.system AS worse,
  any_value((a.human_score - b.human_score) / s.deviation) AS human_difference,
  count(*) AS n_metrics, avg((a.metric_score > b.metric_score)::INTEGER) AS share_right
FROM ranked AS a
JOIN ranked AS b ON b.testset = a.testset AND b.lp = a.lp AND b.metric = a.metric AND b.human_score < a.human_score
JOIN spread AS s ON s.testset = a.testset AND s.lp = a.lp
GROUP BY ALL
HAVING human_difference > 0.5 AND n_metrics > 5
ORDER BY share_right, human_difference DESC, a.testset, a.lp, better, worse
LIMIT 20
