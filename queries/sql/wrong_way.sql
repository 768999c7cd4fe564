-- How system scores of some metrics correlate with human ones over the evaluation sets of a test set. Human scores: the
-- official one of systems or segments, or all where none is official. Outlier systems stay out, as do evaluation sets
-- with fewer than five systems.
-- Params: $testset, $metrics (full names), $threshold. One row per metric: evaluation sets, those whose correlation is
-- below the threshold, and the mean correlation.
WITH chosen AS (
  SELECT e.evalset_id, coalesce(e.standard_human_sys, e.standard_human_seg) AS official
  FROM evalset AS e
  JOIN testset AS t ON t.testset_id = e.testset_id
  WHERE t.name = $testset
),
chosen_scorer AS (
  SELECT DISTINCT v.evalset_id, sc.scorer_id, sc.kind, sc.name
  FROM chosen AS c
  JOIN vector AS v ON v.evalset_id = c.evalset_id
  JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
  WHERE CASE sc.kind
    WHEN 'metric' THEN list_contains($metrics::VARCHAR[], sc.name)
    ELSE c.official IS NULL OR c.official = sc.name
  END
),
system_score AS (
  SELECT
    k.evalset_id, k.scorer_id, k.kind, k.name, v.system_id,
    coalesce(max(a.value), avg(s.value)) AS value
  FROM chosen_scorer AS k
  JOIN vector AS v ON v.evalset_id = k.evalset_id AND v.scorer_id = k.scorer_id AND v.level IN ('sys', 'seg')
  JOIN system AS y ON y.system_id = v.system_id AND NOT y.is_outlier
  LEFT JOIN aggregate_score AS a ON a.vector_id = v.vector_id AND v.level = 'sys'
  LEFT JOIN score AS s ON s.vector_id = v.vector_id AND v.level = 'seg'
  GROUP BY k.evalset_id, k.scorer_id, k.kind, k.name, v.system_id
),
correlation AS (
  SELECT m.evalset_id, m.name AS metric, round(corr(h.value, m.value), 10) AS r
  FROM system_score AS h
  JOIN system_score AS m ON m.evalset_id = h.evalset_id AND m.system_id = h.system_id AND m.kind = 'metric'
  WHERE h.kind = 'human' AND h.value IS NOT NULL AND m.value IS NOT NULL
  GROUP BY m.evalset_id, h.scorer_id, m.name
  HAVING count(*) >= 5 AND isfinite(r)
),
of_evalset AS (
  SELECT evalset_id, metric, avg(r) AS r
  FROM correlation
  GROUP BY evalset_id, metric
)
SELECT metric, count(*) AS n_evalsets, count(*) FILTER (WHERE r < $threshold) AS n_negative, avg(r) AS r
FROM of_evalset
GROUP BY metric
ORDER BY metric;
