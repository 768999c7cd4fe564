-- Files that the warehouse knows, with what tells which to remove. One row per file and evaluation set.
SELECT
  o.source_id, o.evalset_id, t.name AS testset, e.lp, o.origin, o.path, o.bundle, o.status,
  EXISTS (FROM segment AS g WHERE g.source_id = o.source_id) AS declares_segments,
  (
    SELECT list(DISTINCT [sc.name, sc.base_name])
    FROM vector AS v
    JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
    JOIN entry AS n ON n.evalset_id = v.evalset_id AND n.scorer_id = v.scorer_id AND n.is_own
    WHERE v.source_id = o.source_id
  ) AS own_metrics
FROM source AS o
JOIN evalset AS e ON e.evalset_id = o.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
ORDER BY o.source_id
