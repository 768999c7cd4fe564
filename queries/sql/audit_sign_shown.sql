-- How scores of a metric correlate with what all others together say (mean z-score): over the segments of each system, and over
-- submitted system scores (no system).
-- Params: $testset, $lp, $metric. One row per system, and one for system scores.
WITH value AS (
  SELECT metric, system, CAST(segment AS VARCHAR) AS item, value
  FROM scores
  WHERE testset = $testset AND lp = $lp AND value IS NOT NULL
  UNION ALL
  SELECT scorer, NULL, system, submitted
  FROM system_scores
  WHERE testset = $testset AND lp = $lp AND kind = 'metric' AND submitted IS NOT NULL
),
cell AS (
  SELECT metric, system, item, (value - avg(value) OVER w) / nullif(stddev_pop(value) OVER w, 0) AS z
  FROM value
  WINDOW w AS (PARTITION BY metric, system)
),
beside AS (
  SELECT metric, system, z AS own, (sum(z) OVER w - z) / (count(z) OVER w - 1) AS others
  FROM cell
  WHERE z IS NOT NULL
  WINDOW w AS (PARTITION BY system IS NULL, item)
)
SELECT system, count(*) AS n, round(corr(own, others), 10) AS correlation
FROM beside
WHERE metric = $metric
GROUP BY system
ORDER BY system NULLS LAST;
