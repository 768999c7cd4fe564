-- How large must a difference in BLEU be? Share of system pairs that human scores order the same way, by the size of the
-- difference.
WITH ranked AS MATERIALIZED (
  SELECT testset, lp, system, metric, base_metric, human_score, metric_score
  FROM ranked_scores
),
pair AS (
  SELECT
    a.testset,
    a.lp,
    (a.metric_score - b.metric_score) * CASE WHEN max(a.metric_score) OVER of_set <= 1 THEN 100 ELSE 1 END AS delta,
    a.human_score - b.human_score AS human_delta
  FROM ranked AS a
  JOIN ranked AS b ON b.testset = a.testset AND b.lp = a.lp AND b.metric = a.metric AND b.system > a.system
  WHERE a.base_metric IN ('BLEU', 'simBLEU')
  WINDOW of_set AS (PARTITION BY a.testset, a.lp)
)
SELECT
  CASE
    WHEN abs(delta) < 1 THEN '0 to 1'
    WHEN abs(delta) < 2 THEN '1 to 2'
    WHEN abs(delta) < 5 THEN '2 to 5'
    ELSE '5 and more'
  END AS points,
  count(*) AS n_pairs,
  avg((sign(delta) = sign(human_delta))::INTEGER) AS pairwise_accuracy
FROM pair
GROUP BY ALL
ORDER BY points
