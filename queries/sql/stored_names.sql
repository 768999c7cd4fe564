-- The names of systems, human scores and metrics (with and without their references) in some evaluation sets.
-- Params: $testsets, $lps (lists of names; empty for all). One row per kind and name.
WITH places AS (
  SELECT e.evalset_id
  FROM evalset AS e
  JOIN testset AS t ON t.testset_id = e.testset_id
  WHERE (len($testsets::VARCHAR[]) = 0 OR list_contains($testsets::VARCHAR[], t.name))
    AND (len($lps::VARCHAR[]) = 0 OR list_contains($lps::VARCHAR[], e.lp))
),
scorers AS (
  SELECT DISTINCT sc.kind, sc.name, sc.base_name
  FROM vector AS v
  JOIN places AS p ON p.evalset_id = v.evalset_id
  JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
)
SELECT 'system' AS kind, y.name
FROM system AS y
JOIN places AS p ON p.evalset_id = y.evalset_id
UNION
SELECT c.kind, c.name
FROM scorers AS c
UNION
SELECT c.kind, c.base_name
FROM scorers AS c
WHERE c.kind = 'metric'
ORDER BY 1, 2;
