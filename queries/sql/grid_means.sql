-- Means of each scorer and system: over all segments, and over those that the human score judged.
-- No params. One row per scorer and system. From grid_score (see queries/engines.py); Spark adds up in any order.
SELECT
  scorer_id,
  system_id,
  AVG(metric ORDER BY segment) AS mean,
  AVG(CASE WHEN human IS NOT NULL THEN metric END ORDER BY segment) AS judged_mean,
  COUNT(metric) AS n_segments,
  COUNT(CASE WHEN human IS NOT NULL THEN metric END) AS n_judged,
  COUNT(*) - COUNT(metric) AS n_missing
FROM grid_score
GROUP BY scorer_id, system_id
ORDER BY scorer_id, system_id;
