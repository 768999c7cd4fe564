-- (system, segment) scores of evaluation sets that a metric does not have.
-- Params: $metric, its full name; $reference, the system that is the reference it used, or NULL.
-- One row per evaluation set that has segment scores of the metric and counts its segments. The reference itself is
-- none of the systems, nor are attention checks.
WITH in_all AS (
  SELECT y.evalset_id, count(*) AS n_systems
  FROM system AS y
  WHERE y.kind <> 'qc' AND y.name IS DISTINCT FROM $reference
  GROUP BY y.evalset_id
), scored AS (
  SELECT v.evalset_id, sum(v.n_values) FILTER (WHERE v.level = 'seg') AS n_scores
  FROM vector AS v
  JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'metric' AND sc.name = $metric
  JOIN system AS y ON y.system_id = v.system_id AND y.kind <> 'qc' AND y.name IS DISTINCT FROM $reference
  GROUP BY v.evalset_id
  HAVING count(*) FILTER (WHERE v.level = 'seg') > 0
)
SELECT t.name, e.lp, (i.n_systems * e.n_segments - s.n_scores)::BIGINT AS n_missing
FROM scored AS s
JOIN in_all AS i ON i.evalset_id = s.evalset_id
JOIN evalset AS e ON e.evalset_id = s.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE e.n_segments IS NOT NULL
ORDER BY t.name, e.lp
