-- Metrics and human scores of an evaluation set that mark errors, and what the task's table has no place for.
-- Params: $testset, $lp. One row per scorer.
SELECT
  s.scorer,
  bool_or(s.rater IS NOT NULL) AS has_raters,
  count(*) FILTER (s.status = 'valid' AND s.side = 'source') AS n_in_source,
  count(*) FILTER (
    s.status = 'valid' AND s.side = 'target' AND NOT coalesce(regexp_full_match(s.severity, '\S+'), false)
  ) AS n_unnamed,
  count(DISTINCT s.annotation) FILTER (s.status <> 'valid') AS n_not_valid,
  count(*) FILTER (s.status = 'valid' AND s.category IS NOT NULL) AS n_categories
FROM spans AS s
WHERE s.testset = $testset AND s.lp = $lp
GROUP BY s.scorer
ORDER BY s.scorer
