-- How does a metric fare under two protocols on the same systems? A difference is one of protocol, not of the metric.
WITH paired AS (
  SELECT
    p.testset,
    p.lp,
    r.base_metric,
    p.human_a,
    p.human_b,
    count(*) AS n_systems,
    pairwise_accuracy(list(p.score_a ORDER BY p.system), list(r.metric_score ORDER BY p.system)) AS accuracy_a,
    pairwise_accuracy(list(p.score_b ORDER BY p.system), list(r.metric_score ORDER BY p.system)) AS accuracy_b
  FROM human_pairs AS p
  JOIN ranked_scores AS r ON r.testset = p.testset AND r.lp = p.lp AND r.system = p.system
  WHERE p.system_kind = 'mt' AND p.human_b <> 'wmt-raw'
  GROUP BY p.testset, p.lp, r.metric, r.base_metric, p.human_a, p.human_b
)
SELECT *, accuracy_b - accuracy_a AS change
FROM paired
ORDER BY abs(change) DESC, testset, lp, base_metric, human_b
LIMIT 20
