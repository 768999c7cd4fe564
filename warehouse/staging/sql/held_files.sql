-- What the warehouse has from files, over all evaluation sets.
-- Params: $origins. One row per origin.
SELECT
  o.origin, list((o.sha256, o.reader)), list((t.name, e.lp) ORDER BY t.name, e.lp), max(o.n_evalsets),
  bool_or(o.status = 'refused')
FROM source AS o
JOIN evalset AS e ON e.evalset_id = o.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE o.origin IN (SELECT unnest($origins::VARCHAR[]))
GROUP BY o.origin
