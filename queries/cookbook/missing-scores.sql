-- Which metrics left segments without a score?
SELECT
  testset,
  scorer AS metric,
  count(DISTINCT lp) AS n_lps,
  sum(n_missing) AS n_missing,
  sum(n_missing) / sum(n_segments + n_missing) AS share
FROM system_scores
WHERE kind = 'metric' AND n_segments > 0
GROUP BY ALL
HAVING n_missing > 0
ORDER BY share DESC, testset, metric
LIMIT 20
