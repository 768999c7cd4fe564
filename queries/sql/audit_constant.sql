-- Scorers with systems whose segment scores are all the same, or all but one in a hundred, or whose scores of MT systems are.
-- Params: $testset, $lp (NULL for all). One row per evaluation set and scorer; n_alike: MT systems, three or more, that have
-- one score in common, submitted or the mean of their segments; NULL where they do not.
WITH chosen AS (
  SELECT e.evalset_id, t.name AS testset, e.lp
  FROM evalset AS e
  JOIN testset AS t ON t.testset_id = e.testset_id
  WHERE ($testset IS NULL OR t.name = $testset) AND ($lp IS NULL OR e.lp = $lp)
),
profile AS (
  SELECT v.evalset_id, v.scorer_id, v.system_id, count(s.value) AS n, min(s.value) AS low, max(s.value) AS high,
    quantile_disc(s.value, 0.005) AS nearly_low, quantile_disc(s.value, 0.995) AS nearly_high, avg(s.value) AS mean
  FROM chosen AS c
  JOIN vector AS v ON v.evalset_id = c.evalset_id AND v.level = 'seg'
  JOIN score AS s ON s.vector_id = v.vector_id
  GROUP BY v.evalset_id, v.scorer_id, v.system_id
),
submitted AS (
  SELECT v.evalset_id, v.scorer_id, v.system_id, a.value
  FROM chosen AS c
  JOIN vector AS v ON v.evalset_id = c.evalset_id AND v.level = 'sys'
  JOIN aggregate_score AS a ON a.vector_id = v.vector_id
),
scored AS (
  SELECT evalset_id, scorer_id, system_id, p.n, low, high, nearly_low, nearly_high,
    CASE WHEN y.kind = 'mt' THEN coalesce(u.value, p.mean) END AS score
  FROM profile AS p
  FULL JOIN submitted AS u USING (evalset_id, scorer_id, system_id)
  JOIN system AS y USING (system_id)
)
SELECT
  c.testset,
  c.lp,
  sc.kind,
  sc.name AS scorer,
  sc.base_name AS base_metric,
  count(*) FILTER (WHERE s.n > 1 AND s.low = s.high) AS n_constant,
  count(*) FILTER (WHERE s.n > 1 AND s.low < s.high AND s.nearly_low = s.nearly_high) AS n_nearly,
  count(*) FILTER (WHERE s.n > 1) AS n_systems,
  CASE WHEN count(s.score) > 2 AND max(s.score) - min(s.score) <= 1e-9 * max(abs(s.score)) THEN count(s.score) END AS n_alike,
  greatest(n_alike, n_constant + n_nearly) AS n
FROM scored AS s
JOIN chosen AS c ON c.evalset_id = s.evalset_id
JOIN scorer AS sc ON sc.scorer_id = s.scorer_id
GROUP BY c.testset, c.lp, sc.kind, sc.name, sc.base_name
HAVING n > 0
ORDER BY c.testset, c.lp, sc.kind, sc.name;
