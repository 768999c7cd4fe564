-- Which metrics changed their scale from one test set to another?
SELECT
  base_metric, count(DISTINCT scale) AS n_scales,
  array_to_string(list(DISTINCT scale || ' in ' || testset ORDER BY scale || ' in ' || testset), ', ') AS scales
FROM system_scores
WHERE kind = 'metric' AND scale IS NOT NULL
GROUP BY ALL
HAVING n_scales > 1
ORDER BY base_metric
