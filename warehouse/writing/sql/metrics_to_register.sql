-- Metrics of evaluation sets. One row per test set and metric: testset_id, scorer_id, base_name.
-- Params: $evalsets.
SELECT DISTINCT e.testset_id, sc.scorer_id, sc.base_name
FROM (
  SELECT evalset_id, scorer_id FROM vector
  UNION ALL
  SELECT evalset_id, scorer_id FROM entry
) AS n
JOIN evalset AS e ON e.evalset_id = n.evalset_id
JOIN scorer AS sc ON sc.scorer_id = n.scorer_id AND sc.kind = 'metric'
WHERE n.evalset_id IN (SELECT unnest($evalsets::INTEGER[]))
ORDER BY ALL
