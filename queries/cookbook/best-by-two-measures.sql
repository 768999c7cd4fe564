-- Is the metric with the best Pearson correlation also the one that orders most pairs of systems as human scores do? Over the
-- official ranking of systems, by the macros for what `rank -m pearson` and `rank -m pa` give.
WITH measured AS (
  SELECT e.testset, e.lp, p.human, p.metric, p.n_systems, p.pearson, a.pairwise_accuracy
  FROM evalsets AS e,
    pearson_by_metric(e.testset, e.lp) AS p,
    pairwise_accuracy_by_metric(e.testset, e.lp) AS a
  WHERE a.metric = p.metric AND p.reason IS NULL AND p.pearson IS NOT NULL
)
SELECT
  testset,
  lp,
  human,
  max(n_systems) AS n_systems,
  first(metric ORDER BY pearson DESC, metric) AS best_by_pearson,
  max(pearson) AS pearson,
  first(pairwise_accuracy ORDER BY pearson DESC, metric) AS its_accuracy,
  first(metric ORDER BY pairwise_accuracy DESC, pearson DESC, metric) AS best_by_accuracy,
  max(pairwise_accuracy) AS accuracy
FROM measured
GROUP BY ALL
ORDER BY testset, lp, human
