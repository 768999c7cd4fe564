-- Human scores of one evaluation set that differ only by floating-point error (less than 1e-9 of their size), so that ties are lost.
-- Params: $testset, $lp (NULL for all). One row per evaluation set and human score.
WITH distinct_value AS (
  SELECT DISTINCT v.evalset_id, v.scorer_id, s.value
  FROM evalset AS e
  JOIN testset AS t ON t.testset_id = e.testset_id
  JOIN vector AS v ON v.evalset_id = e.evalset_id AND v.level = 'seg'
  JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'human'
  JOIN score AS s ON s.vector_id = v.vector_id
  WHERE ($testset IS NULL OR t.name = $testset) AND ($lp IS NULL OR e.lp = $lp) AND s.value IS NOT NULL
),
neighbour AS (
  SELECT evalset_id, scorer_id, value, value - lag(value) OVER (PARTITION BY evalset_id, scorer_id ORDER BY value) AS gap
  FROM distinct_value
)
SELECT
  t.name AS testset,
  e.lp,
  sc.name AS human,
  count(*) FILTER (WHERE n.gap < 1e-9 * greatest(1, abs(n.value))) AS n,
  count(*) AS n_distinct,
  max(n.gap) FILTER (WHERE n.gap < 1e-9 * greatest(1, abs(n.value))) AS value
FROM neighbour AS n
JOIN evalset AS e ON e.evalset_id = n.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
JOIN scorer AS sc ON sc.scorer_id = n.scorer_id
GROUP BY t.name, e.lp, sc.name
HAVING n > 0
ORDER BY t.name, e.lp, sc.name;
