-- Files that the warehouse knows, with what tells which to remove. One row per file and evaluation set.
SELECT
  o.source_id, o.evalset_id, t.name AS testset, e.lp, o.origin, o.path, o.bundle, o.status,
  EXISTS (FROM segment AS g WHERE g.source_id = o.source_id) AS declares_segments
FROM source AS o
JOIN evalset AS e ON e.evalset_id = o.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
ORDER BY o.source_id
