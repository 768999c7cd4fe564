-- Metrics whose system or segment scores fall where the human ones rise: perhaps stored with the wrong sign.
-- Human scores: the official ones, or all where none is official. Systems that the organisers call outliers stay out.
-- Correlations are rounded to ten decimals: their sums are added up in any order, and an answer must not depend on it.
-- Params: $testset, $lp (NULL for all). One row per evaluation set, human score and metric.
WITH chosen AS (
  SELECT e.evalset_id, t.name AS testset, t.year, e.lp,
    list_filter([e.standard_human_seg, e.standard_human_sys], lambda name: name IS NOT NULL) AS official
  FROM evalset AS e
  JOIN testset AS t ON t.testset_id = e.testset_id
  WHERE ($testset IS NULL OR t.name = $testset) AND ($lp IS NULL OR e.lp = $lp)
),
chosen_scorer AS (
  SELECT DISTINCT v.evalset_id, sc.scorer_id, sc.kind, sc.name
  FROM chosen AS c
  JOIN vector AS v ON v.evalset_id = c.evalset_id
  JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
  WHERE sc.kind = 'metric' OR len(c.official) = 0 OR list_contains(c.official, sc.name)
),
total AS (
  SELECT k.evalset_id, k.scorer_id, v.system_id, avg(s.value ORDER BY s.segment) AS mean
  FROM chosen_scorer AS k
  JOIN vector AS v ON v.evalset_id = k.evalset_id AND v.scorer_id = k.scorer_id AND v.level = 'seg'
  JOIN score AS s ON s.vector_id = v.vector_id
  GROUP BY k.evalset_id, k.scorer_id, v.system_id
),
submitted AS (
  SELECT k.evalset_id, k.scorer_id, v.system_id, a.value
  FROM chosen_scorer AS k
  JOIN vector AS v ON v.evalset_id = k.evalset_id AND v.scorer_id = k.scorer_id AND v.level = 'sys'
  JOIN aggregate_score AS a ON a.vector_id = v.vector_id
),
system_score AS (
  SELECT
    coalesce(u.evalset_id, m.evalset_id) AS evalset_id,
    coalesce(u.scorer_id, m.scorer_id) AS scorer_id,
    coalesce(u.system_id, m.system_id) AS system_id,
    coalesce(u.value, m.mean) AS value
  FROM submitted AS u
  FULL JOIN total AS m ON m.evalset_id = u.evalset_id AND m.scorer_id = u.scorer_id AND m.system_id = u.system_id
),
by_system AS (
  SELECT h.evalset_id, h.scorer_id AS human_id, m.scorer_id AS metric_id, count(*) AS n, round(corr(h.value, m.value), 10) AS r
  FROM system_score AS h
  JOIN chosen_scorer AS hk ON hk.evalset_id = h.evalset_id AND hk.scorer_id = h.scorer_id AND hk.kind = 'human'
  JOIN system AS y ON y.system_id = h.system_id AND NOT y.is_outlier
  JOIN system_score AS m ON m.evalset_id = h.evalset_id AND m.system_id = h.system_id
  JOIN chosen_scorer AS mk ON mk.evalset_id = m.evalset_id AND mk.scorer_id = m.scorer_id AND mk.kind = 'metric'
  WHERE h.value IS NOT NULL AND m.value IS NOT NULL
  GROUP BY h.evalset_id, h.scorer_id, m.scorer_id
),
judged AS (
  SELECT k.evalset_id, k.scorer_id, v.system_id, s.segment, s.value
  FROM chosen_scorer AS k
  JOIN vector AS v ON v.evalset_id = k.evalset_id AND v.scorer_id = k.scorer_id AND v.level = 'seg'
  JOIN system AS y ON y.system_id = v.system_id AND NOT y.is_outlier
  JOIN score AS s ON s.vector_id = v.vector_id
  WHERE k.kind = 'human' AND s.value IS NOT NULL
),
by_segment AS (
  SELECT j.evalset_id, j.scorer_id AS human_id, v.scorer_id AS metric_id, count(s.value) AS n, round(corr(j.value, s.value), 10) AS r
  FROM judged AS j
  JOIN vector AS v ON v.evalset_id = j.evalset_id AND v.system_id = j.system_id AND v.level = 'seg'
  JOIN chosen_scorer AS k ON k.evalset_id = v.evalset_id AND k.scorer_id = v.scorer_id AND k.kind = 'metric'
  JOIN score AS s ON s.vector_id = v.vector_id AND s.segment = j.segment
  GROUP BY j.evalset_id, j.scorer_id, v.scorer_id
)
SELECT
  c.testset,
  c.year,
  c.lp,
  h.name AS human,
  m.name AS metric,
  m.base_name AS base_metric,
  a.n AS n_systems,
  CASE WHEN a.n >= 4 AND isfinite(a.r) THEN a.r END AS r_systems,
  coalesce(b.n, 0) AS n_scores,
  CASE WHEN b.n >= 30 AND isfinite(b.r) THEN b.r END AS r_segments
FROM by_system AS a
LEFT JOIN by_segment AS b
  ON b.evalset_id = a.evalset_id AND b.human_id = a.human_id AND b.metric_id = a.metric_id
JOIN chosen AS c ON c.evalset_id = a.evalset_id
JOIN scorer AS h ON h.scorer_id = a.human_id
JOIN scorer AS m ON m.scorer_id = a.metric_id
WHERE r_systems < 0 OR r_segments < 0
ORDER BY c.testset, c.lp, human, metric;
