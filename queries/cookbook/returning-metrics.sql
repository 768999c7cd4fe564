-- Which metrics were submitted in several years?
SELECT
  base_metric, count(DISTINCT year) AS n_years, array_to_string(list(DISTINCT year ORDER BY year), ', ') AS years,
  count(DISTINCT (testset, lp)) AS n_evalsets
FROM metrics
WHERE NOT is_own
GROUP BY ALL
HAVING n_years > 1
ORDER BY n_years DESC, n_evalsets DESC, base_metric
