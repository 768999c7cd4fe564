-- Are submitted system scores the means of the segment scores? Metrics for which the two order systems differently.
WITH agreed AS (
  SELECT
    testset,
    lp,
    scorer AS metric,
    count(*) AS n_systems,
    corr(submitted, mean) AS pearson,
    pairwise_accuracy(list(submitted ORDER BY system), list(mean ORDER BY system)) AS accuracy
  FROM system_scores
  WHERE kind = 'metric' AND submitted IS NOT NULL AND mean IS NOT NULL
  GROUP BY ALL
)
SELECT *
FROM agreed
WHERE accuracy < 1
ORDER BY accuracy, testset, lp, metric
LIMIT 20
